# "make run" and "make test" do everything on a fresh machine with Go and make.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run build test check lint conformance readiness services-eval load bench bench-goals bench-jobs search-eval fuzz mutants alerts catalog catalog-verify catalog-requests docs clean

# A version from the tags where there is a repository, "dev" where there is none.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 10s
# Where API descriptions are, for "make catalog"; the repository builds without.
SPECS ?= ../shared/catalog/specs
# Which changes "make mutants" draws, how many, and where.
SEED ?= 1
MUTANTS ?= 300
CRITICAL ?= ./internal/foundation/... ./internal/storage/... ./internal/storefront/checkout/... \
	./internal/storefront/paidservice/... ./internal/platform/...

# A clone may belong to another user than the one who builds: the build asks
# nobody for its revision.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false)

help: ## Print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Build and serve; no configuration is needed
	@exec bin/ace serve

build: ## Build bin/ace
	@go build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/ace ./cmd/ace

test: ## Install what the tests need and run them all
	@scripts/test

check: lint ## The quick part, offline: format, vet, lint, unit tests, documents
	ACE_TEST_ENGINES=sqlite go test -short $$(go list ./... | grep -v '^ace/test/')

lint: ## Format, vet and lint alone
	go vet ./...
	go vet -tags faults ./cmd/...
	go tool -modfile=tools/go.mod golangci-lint run --allow-parallel-runners ./...

conformance: ## Suites, schemas and clients of others
	@scripts/conformance

readiness: ## What scanners say about how ready the store is for agents
	@scripts/install-test-needs node
	@set -a && . .cache/test.env && set +a && go test -count=1 -v ./test/readiness

services-eval: ## The website services on published websites, compared with judgements by hand
	@scripts/services-eval

load: build ## Many agents at once against a store on this machine
	go run ./test/load

bench-goals: ## The goals of speed, measured in one run, each with its ratio
	ACE_GOALS=1 ACE_TEST_ENGINES=sqlite go test -count=1 -run '^TestGoals$$' -v ./internal/storefront/storehttp | \
		grep -E '^(goal|ok|FAIL|---)'; status=$${PIPESTATUS[0]}; \
	go test -run '^$$' -bench 'Call/(ace|go-sdk)' -benchtime 2s ./test/overhead | scripts/overhead-goal && exit $$status

bench: ## Benchmarks of all packages
	go test -run '^$$' -bench . -benchmem ./...

bench-jobs: ## Jobs beside River, on the same PostgreSQL (needs the network once, and PostgreSQL)
	cd test/bench && go test -mod=mod -run '^$$' -bench BenchmarkJobs -benchtime 3x -timeout 30m .

mutants: ## Change a line at a time of the critical packages and count what the tests notice
	ACE_TEST_ENGINES=sqlite go run ./internal/tools/mutants -seed $(SEED) -n $(MUTANTS) $(CRITICAL)

catalog-requests: ## Requests of derived tools, checked against the descriptions by kin-openapi (needs zstd and the network once)
	cd test/bench && ACE_SHARED_DIR=$(abspath $(or $(ACE_SHARED_DIR),../shared)) go test -mod=mod -count=1 -timeout 60m -run '^TestDerivedRequests$$' .

search-eval: ## How well tools are found beside bleve, on the labelled sets of ACE_SHARED_DIR (needs the network once)
	cd test/bench && ACE_SHARED_DIR=$(abspath $(or $(ACE_SHARED_DIR),../shared)) go test -mod=mod -count=1 -run '^TestSearch$$' -v .

alerts: ## Rules and alerts, evaluated by the engine of Prometheus (needs the network once)
	cd test/bench/alerts && go test -mod=mod -count=1 .

fuzz: ## Each fuzz test for FUZZTIME (10s)
	@scripts/fuzz $(FUZZTIME)

catalog: ## Derive tools from the API descriptions in SPECS
	go run ./internal/tools/toolpack -specs $(SPECS)

catalog-verify: ## Derive them again and compare with what is committed
	go run ./internal/tools/toolpack -specs $(SPECS) -verify

docs: ## Write the documents that follow from the code
	go run ./internal/tools/docs

clean: ## Remove what was built and installed here; data stays
	rm -rf bin .cache
