// Package ace_test holds the rules that bind the whole module: which way
// imports run, which modules are used where, and what no package may hold. It
// reads the sources with go/parser; the result of go list would be kept by the
// test cache.
//
//	arch_test.go      directions, standard library, modules
//	deploy_test.go    files of deploy
//	ci_test.go        workflows of continuous integration, security policy
//	habits_test.go    package comments, init, package state
//	language_test.go  words and names
//	tree_test.go      the sources, parsed once
package ace_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// layers lists the rooms of the module from the bottom up. A package may
// import packages of lower layers and of its own room. Rooms on one layer
// never import each other: the sandbox is reached over HTTP only.
var layers = [][]string{
	{"catalog", "content", "docs", "internal/config", "internal/foundation", "sdk"},
	{"internal/protocol"},
	{"internal/website"}, // websites read and described: no checkout, no payment
	{"internal/storefront", "internal/platform", "internal/sandbox"},
	{"internal/storage"},
	{"internal/server"},
	{"cmd", "examples"}, // examples stand alone: a newcomer copies a file
}

// domain lists the domain packages and the domain packages of the same host
// that each may import. They know no HTTP, no SQL and no module but those that
// the table of modules grants them by name.
var domain = map[string][]string{
	"internal/storefront/offer":       {},
	"internal/storefront/order":       {"internal/storefront/offer"},
	"internal/storefront/checkout":    {"internal/storefront/offer", "internal/storefront/order"},
	"internal/storefront/site":        {"internal/storefront/offer"}, // pages name what is for sale
	"internal/storefront/paidservice": {},

	"internal/website/dom":    {},                       // the one reader of HTML trees
	"internal/website/naming": {"internal/website/dom"}, // names, openings and descriptions of pages
	"internal/website/crawl":  {"internal/website/dom"}, // reads foreign websites
	"internal/website/datapack": {
		"internal/website/crawl", "internal/website/dom", "internal/website/naming",
	}, // the data of pages that were read
	"internal/website/readiness": {"internal/website/crawl", "internal/website/dom"}, // evaluates what was read
	"internal/website/llmsdraft": {
		"internal/website/crawl", "internal/website/dom", "internal/website/naming",
	}, // which pages an agent should know

	"internal/platform/app":       {},
	"internal/platform/toolindex": {"internal/platform/app"},
	"internal/platform/library":   {"internal/platform/app", "internal/platform/toolindex"},
	"internal/platform/tool": {
		"internal/platform/apikey", "internal/platform/app",
		"internal/platform/audit", "internal/platform/connection",
	},
	"internal/platform/connection": {
		"internal/platform/app", "internal/platform/audit",
		"internal/platform/connection/grant", "internal/platform/connection/landing",
	},
	"internal/platform/connector": {
		"internal/platform/app", "internal/platform/audit",
		"internal/platform/connection", "internal/platform/openapiimport",
	},
	"internal/platform/openapiimport": {"internal/platform/app"},
	"internal/platform/toolpack":      {"internal/platform/app"},
	"internal/platform/toolpack/derive": {
		"internal/platform/app", "internal/platform/openapiimport", "internal/platform/toolpack",
	},
	"internal/platform/connection/clients": {"internal/platform/audit", "internal/platform/connection"},
	"internal/platform/connection/grant":   {},
	"internal/platform/connection/landing": {},
	"internal/platform/audit":              {},
	"internal/platform/sdkfiles":           {}, // the clients as files to serve
	"internal/platform/mcpclients":         {}, // how MCP clients are set up
	"internal/platform/usage":              {"internal/platform/apikey"},
	"internal/platform/trigger": {
		"internal/platform/app", "internal/platform/audit", "internal/platform/connection", "internal/platform/tool",
		"internal/platform/trigger/filter", "internal/platform/trigger/inbound",
	},
	"internal/platform/trigger/filter":  {},                        // which events are posted
	"internal/platform/trigger/inbound": {"internal/platform/app"}, // what apps send, read and verified
	"internal/platform/operation": { // composes them for every transport
		"internal/platform/account", "internal/platform/apikey", "internal/platform/audit",
		"internal/platform/connection", "internal/platform/connection/clients", "internal/platform/connector",
		"internal/platform/app", "internal/platform/library", "internal/platform/tool",
		"internal/platform/tool/definition", "internal/platform/tool/file", "internal/platform/toolindex",
		"internal/platform/trigger", "internal/platform/trigger/inbound",
		"internal/platform/usage",
	},
	"internal/platform/account": {"internal/platform/audit", "internal/platform/connection/landing"},
	"internal/platform/apikey":  {"internal/platform/audit"},
	// lets MCP clients in: their grants are keys
	"internal/platform/authserver": {"internal/platform/apikey", "internal/platform/audit"},
}

// wired are the transports and adapters, each with whom else but internal/server
// imports it, and why. They never import one another.
var wired = map[string][]string{
	"internal/platform/accounthttp": {"cmd/ace"}, // the operator's commands decode its answers
	"internal/platform/clientdoc":   {},
	"internal/platform/console":     {},
	"internal/platform/httptool":    {},
	"internal/platform/mcptool":     {},
	"internal/platform/oauthclient": {},
	"internal/platform/notifier":    {},
	"internal/platform/openid":      {},
	// one gate protects the API and the pages
	"internal/platform/platformhttp": {"internal/platform/console"},
	"internal/sandbox":               {},
	// metrics show what waits in it
	"internal/storage":                    {"internal/server/metrics"},
	"internal/storefront/operatorhttp":    {"cmd/ace"}, // the operator's command decodes its answers
	"internal/storefront/ordersink":       {},
	"internal/storefront/storehttp":       {},
	"internal/storefront/stripe":          {},
	"internal/storefront/ucpprofile":      {},
	"internal/storefront/upstream":        {},
	"internal/storefront/x402facilitator": {},
	"internal/website/webfetch":           {},
}

// testSupport is for tests and for work on the repository, no part of the
// product; so is every package whose name ends in "test". It may import what
// it supports, also a transport or an adapter.
var testSupport = []string{
	"internal/browsertest", "internal/schematest", "internal/testsites", "internal/tools",
	"test",
}

// standard lists packages of the standard library that only some rooms may
// import, and why.
var standard = map[string]struct {
	why     string
	allowed []string
}{
	"net/http": {"domain packages know no HTTP", []string{
		"cmd", "examples", "internal/foundation", "internal/platform/accounthttp", "internal/platform/clientdoc",
		"internal/platform/console", "internal/platform/httptool", "internal/platform/mcptool",
		"internal/platform/notifier",
		"internal/platform/oauthclient", "internal/platform/openid", "internal/platform/platformhttp",
		"internal/protocol", "internal/sandbox", "internal/server",
		"internal/storefront/operatorhttp", "internal/storefront/ordersink", "internal/storefront/storehttp",
		"internal/storefront/stripe", "internal/storefront/ucpprofile", "internal/storefront/upstream",
		"internal/website/webfetch", "internal/storefront/x402facilitator",
	}},
	"database/sql": {"internal/storage alone speaks SQL, and the sandbox for itself", []string{
		"internal/foundation/sqldb", "internal/sandbox", "internal/storage",
	}},
	"html/template": {"only transports write pages", []string{
		"internal/platform/console", "internal/sandbox", "internal/storefront/storehttp",
		"internal/website/readiness/reportpage", // the audit as one page that the customer keeps
	}},
	"os/exec":   {"the product starts no processes", nil},
	"log":       {"use log/slog, injected", nil},
	"math/rand": {"use crypto/rand for ids and math/rand/v2 for jitter", nil},
	"plugin":    {"everything is wired by hand", nil},
	"unsafe":    {"nothing here needs it", nil},
	"testing":   {"for tests and their support", nil},
}

// inTests marks a module that only tests and their support import.
const inTests = "_test"

// modules lists every module that may be required, what it is for, and which
// rooms import it. A new line needs a decision record in docs/adr.
var modules = map[string]struct {
	why     string
	allowed []string
}{
	"code.dny.dev/ssrf": {
		"tables of special-purpose networks, refused at dial time", []string{"internal/foundation/egress"},
	},
	"github.com/alecthomas/kong": {
		"one struct is flag, variable, help and page",
		[]string{"cmd/ace", inTests},
	},
	"github.com/danielgtaylor/huma/v2": {
		"OpenAPI and validation of our own REST, behind one door", []string{"internal/foundation/openapi"},
	},
	"github.com/decred/dcrd/dcrec/secp256k1/v4": {
		"signatures of payers, on the curve of Ethereum",
		[]string{"internal/protocol/x402/evm"},
	},
	"github.com/dunglas/httpsfv": {
		"structured fields of RFC 9651",
		[]string{"internal/foundation/httpsig", "internal/protocol"},
	},
	"github.com/go-jose/go-jose/v4": {
		"JSON Web Signatures and Tokens",
		[]string{"internal/foundation/jws"},
	},
	"github.com/jackc/pgx/v5": {
		"driver of PostgreSQL",
		[]string{"internal/foundation/sqldb"},
	},
	"github.com/kljensen/snowball": {
		"stems of English words",
		[]string{"internal/platform/toolindex"},
	},
	"github.com/prometheus/client_golang": {
		"metrics for the operator",
		[]string{"internal/server/metrics"},
	},
	"github.com/pressly/goose/v3": {"migrations", []string{"internal/foundation/sqldb"}},
	"github.com/santhosh-tekuri/jsonschema/v6": {
		"JSON Schema 2020-12 of tool arguments",
		[]string{"internal/foundation/jsonschema", inTests},
	},
	"github.com/stripe/stripe-go/v85": {
		"one client for Stripe and the sandbox",
		[]string{"internal/storefront/stripe", inTests},
	},
	"cel.dev/cel-go": {"filters of triggers", []string{"internal/platform/trigger/filter"}},
	"github.com/tink-crypto/tink-go/v2": {
		"encryption at rest",
		[]string{"internal/foundation/seal"},
	},
	"github.com/coreos/go-oidc/v3": {
		"people sign in by the operator's OpenID provider",
		[]string{"internal/platform/openid"},
	},
	"golang.org/x/oauth2": {
		"the code of such a sign-in",
		[]string{"internal/platform/openid"},
	},
	"golang.org/x/sync": {
		"one outbound read for many callers",
		[]string{
			"internal/platform/connection", "internal/storefront/checkout", "internal/storefront/ucpprofile",
			"internal/storefront/upstream",
		},
	},
	"github.com/redis/go-redis/v9": {
		"rate limits that replicas share",
		[]string{"internal/foundation/ratelimit/redislimit"},
	},
	"github.com/yuin/goldmark": {
		"pages written in Markdown",
		[]string{"internal/foundation/markdown"},
	},
	"golang.org/x/crypto": {
		"Keccak-256, the hash of Ethereum; argon2id for passwords", []string{
			"internal/foundation/password",
			"internal/protocol/x402/evm",
		},
	},
	"golang.org/x/net": {
		"HTML as browsers parse it",
		[]string{
			"internal/foundation/htmltext", "internal/website", "internal/storefront/upstream",
		},
	},
	"go.yaml.in/yaml/v3": {
		"definitions of apps and descriptions of APIs, written by people", []string{
			"internal/platform/app",
			"internal/platform/openapiimport",
			inTests,
		},
	},
	"golang.org/x/text": {
		"Unicode normal forms of words",
		[]string{"internal/foundation/textindex", "internal/platform/toolindex"},
	},
	"modernc.org/sqlite": {
		"SQLite without cgo",
		[]string{"internal/foundation/sqldb"},
	},
	"github.com/a2aproject/a2a-go/v2": {"peer of our A2A agent", []string{inTests}},
	"github.com/chromedp/cdproto":     {"drives Chromium in tests", []string{inTests}},
	"github.com/chromedp/chromedp":    {"drives Chromium in tests", []string{inTests}},
	"github.com/google/go-cmp":        {"differences of structures", []string{inTests}},
	"github.com/jba/templatecheck":    {"types of pages, checked in tests", []string{inTests}},
	"github.com/modelcontextprotocol/go-sdk": {
		"client of accounts' MCP servers; peer of our MCP server", []string{"internal/platform/mcptool", inTests},
	},
	"github.com/standard-webhooks/standard-webhooks/libraries": {"peer of our webhook signatures", []string{inTests}},
	"github.com/yaronf/httpsign":                               {"peer of our HTTP signatures", []string{inTests}},
	"golang.org/x/tools":                                       {"transcripts in txtar", []string{inTests}},
}

func TestImportDirections(t *testing.T) {
	t.Parallel()
	eachImport(t, func(f *file, target string) {
		to, ok := strings.CutPrefix(target, module)
		if !ok || f.forTests() {
			return
		}
		if supportsTests(to) {
			t.Errorf("%s imports %s: it is for tests alone", f.path, to)
			return
		}
		checkLayers(t, f, to)
		checkHost(t, f, to)
	})
}

func checkLayers(t *testing.T, f *file, to string) {
	t.Helper()
	fromLevel, fromRoom := room(t, f.dir)
	toLevel, toRoom := room(t, to)
	if toLevel > fromLevel || toLevel == fromLevel && toRoom != fromRoom {
		t.Errorf("%s imports %s: imports run down, never up or across", f.path, to)
	}
	if within(f.dir, "cmd") && !within(to, "internal/server") && !within(to, "internal/config") &&
		!within(to, "internal/foundation") && wiredFor(to) != f.dir {
		t.Errorf("%s imports %s: commands know the server and the settings", f.path, to)
	}
}

// checkHost holds the directions among the packages of one host.
func checkHost(t *testing.T, f *file, to string) {
	t.Helper()
	if siblings, ok := domain[f.dir]; ok {
		if _, sibling := domain[to]; sibling && !slices.Contains(siblings, to) {
			t.Errorf("%s imports %s: this direction is not in the table of domain packages", f.path, to)
		}
	}
	for outer, others := range wired {
		if within(to, outer) && !within(f.dir, outer) && f.dir != "internal/server" && !slices.Contains(others, f.dir) {
			t.Errorf("%s imports %s: only internal/server wires transports and adapters", f.path, to)
		}
	}
}

func wiredFor(pkg string) string {
	if others := wired[pkg]; len(others) > 0 {
		return others[0]
	}
	return ""
}

// TestEveryPackageHasAPlace fails on a package that the tables do not know: it
// must be added on purpose.
func TestEveryPackageHasAPlace(t *testing.T) {
	t.Parallel()
	known := slices.Concat(slices.Collect(maps.Keys(domain)), slices.Collect(maps.Keys(wired)))
	for _, dir := range packages(t) {
		if supportsTests(dir) || dir == "." {
			continue
		}
		room(t, dir)
		host := within(dir, "internal/storefront") || within(dir, "internal/website")
		if host && !slices.ContainsFunc(known, func(p string) bool { return within(dir, p) }) {
			t.Errorf("%s is neither in the table of domain packages nor in the one of transports and adapters", dir)
		}
	}
	for _, p := range known {
		if _, err := os.Stat(p); err != nil {
			t.Errorf("the tables name %s, which is not there", p)
		}
	}
}

func TestStandardLibrary(t *testing.T) {
	t.Parallel()
	eachImport(t, func(f *file, target string) {
		rule, ok := standard[target]
		if ok && !f.forTests() && !withinAny(f.dir, rule.allowed) {
			t.Errorf("%s imports %s: %s", f.path, target, rule.why)
		}
	})
}

func TestModules(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	eachImport(t, func(f *file, target string) {
		first, _, _ := strings.Cut(target, "/")
		if !strings.Contains(first, ".") {
			return
		}
		name := moduleOf(target)
		if name == "" {
			t.Errorf("%s imports %s, whose module is not in the table: see docs/adr", f.path, target)
			return
		}
		rule := modules[name]
		used[name] = true
		testsToo := f.forTests() && slices.Contains(rule.allowed, inTests)
		if !withinAny(f.dir, rule.allowed) && !testsToo {
			t.Errorf("%s imports %s, which is for %v: %s", f.path, target, rule.allowed, rule.why)
		}
	})
	for name := range modules {
		if !used[name] {
			t.Errorf("%s is in the table of modules and no longer used: take it out", name)
		}
	}
}

// TestDirectRequirements reads go.mod: what is required directly is in the
// table.
func TestDirectRequirements(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) < 2 || !strings.HasPrefix(fields[1], "v") || strings.HasSuffix(line, "// indirect") {
			continue
		}
		if _, ok := modules[fields[0]]; !ok {
			t.Errorf("go.mod requires %s, which is not in the table of modules", fields[0])
		}
	}
}

// moduleOf returns the module of the table that an import path belongs to.
func moduleOf(target string) string {
	for name := range modules {
		if within(target, name) {
			return name
		}
	}
	return ""
}

func room(t *testing.T, pkg string) (level int, name string) {
	t.Helper()
	for level, rooms := range layers {
		for _, r := range rooms {
			if within(pkg, r) {
				return level, r
			}
		}
	}
	t.Fatalf("%s is in no layer: move it or extend the table", pkg)
	return 0, ""
}

func supportsTests(dir string) bool {
	return withinAny(dir, testSupport) || strings.HasSuffix(dir, "test")
}

func withinAny(dir string, rooms []string) bool {
	return slices.ContainsFunc(rooms, func(r string) bool { return within(dir, r) })
}

func within(pkg, room string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") }
