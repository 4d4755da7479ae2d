package paidservice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/protocol/x402"
)

// Ids of the services.
const (
	AISearchAudit      = "ai-search-audit"
	StructuredDataPack = "structured-data-pack"
	LLMsTxtDraft       = "llms-txt-draft"
)

// Definition is one service that is sold.
type Definition struct {
	ID          string // in REST
	Tool        string // in MCP
	Name        string
	Description string // at most 500 characters, a limit of facilitators
	Price       string // US dollars, for example "0.10"
	// InputSchema and OutputSchema are JSON Schemas of arguments and report.
	InputSchema, OutputSchema json.RawMessage
	Runner                    Runner // nil: listed, but not available
}

// Definitions returns the three services at their default prices, without
// schemas and runners.
func Definitions() []Definition {
	return []Definition{
		{
			ID: AISearchAudit, Tool: "run_ai_search_audit", Name: "AI search readiness audit", Price: "0.10",
			Description: "Reads a sample of a public website and judges how well AI search can reach, render, " +
				"understand and trust it: a score by category, evidence and advice for each check, as JSON, Markdown " +
				"and HTML.",
		},
		{
			ID: StructuredDataPack, Tool: "run_structured_data_pack", Name: "Structured data pack", Price: "0.08",
			Description: "Finds and validates the structured data of a public website, and writes new JSON-LD for " +
				"each page from its own content, ready to paste.",
		},
		{
			ID: LLMsTxtDraft, Tool: "run_llms_txt_draft", Name: "llms.txt draft", Price: "0.05",
			Description: "Drafts the llms.txt of a public website: chosen and grouped pages, described in the pages' " +
				"own words, validated.",
		},
	}
}

// Network is a token on a chain that payments are taken in.
type Network struct {
	ID       string // CAIP-2, for example eip155:8453
	Asset    string // address of the token
	Name     string // of the token's EIP-712 domain
	Version  string // the same
	Symbol   string // for people
	Decimals int    // one dollar is 10 to this power
	PayTo    string // address that receives
}

// Price is what a service cost from some time on.
type Price struct {
	Service string
	Version int64
	Terms   []x402.PaymentRequirements
	Since   time.Time
}

// book knows what things cost and used to cost.
type book struct {
	definitions []Definition
	networks    []Network
	timeout     time.Duration
	grace       time.Duration
	prices      Prices

	mu      sync.Mutex
	current map[string]Price
}

func (b *book) find(service string) (*Definition, error) {
	for i := range b.definitions {
		if d := &b.definitions[i]; d.ID == service || d.Tool == service {
			return d, nil
		}
	}
	return nil, problem.New(problem.NotFound, "service_not_found", "No such service. GET /v1/services lists them.")
}

// terms are the ways to pay for a service, in the order of the networks.
func (b *book) terms(d *Definition) ([]x402.PaymentRequirements, error) {
	var terms []x402.PaymentRequirements
	for _, n := range b.networks {
		amount, err := units(d.Price, n.Decimals)
		if err != nil {
			return nil, fmt.Errorf("price of %s: %w", d.ID, err)
		}
		terms = append(terms, x402.PaymentRequirements{
			Scheme: x402.SchemeExact, Network: n.ID, Amount: amount, Asset: n.Asset, PayTo: n.PayTo,
			MaxTimeoutSeconds: int(b.timeout / time.Second),
			Extra:             map[string]any{"name": n.Name, "version": n.Version},
		})
	}
	return terms, nil
}

// units turns a decimal amount into atomic units of a token.
func units(decimal string, decimals int) (string, error) {
	r, ok := new(big.Rat).SetString(decimal)
	if !ok || r.Sign() <= 0 || strings.ContainsAny(decimal, "eE/_+") {
		return "", fmt.Errorf("%q is no amount above zero: write dollars, such as 0.10", decimal)
	}
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)))
	if !r.IsInt() {
		return "", fmt.Errorf("%q has more than %d decimals", decimal, decimals)
	}
	return r.Num().String(), nil
}

// open puts the current prices on record, so that replicas and the next
// process know until when the former ones are honored.
func (b *book) open(ctx context.Context) error {
	current := map[string]Price{}
	for i := range b.definitions {
		d := &b.definitions[i]
		terms, err := b.terms(d)
		if err != nil {
			return err
		}
		if len(terms) == 0 {
			continue
		}
		price, err := b.record(ctx, d.ID, terms)
		if err != nil {
			return fmt.Errorf("recording the price of %s: %w", d.ID, err)
		}
		current[d.ID] = price
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current = current
	return nil
}

func (b *book) record(ctx context.Context, service string, terms []x402.PaymentRequirements) (Price, error) {
	for {
		known, err := b.prices.Prices(ctx, service)
		if err != nil {
			return Price{}, err
		}
		next := Price{Service: service, Version: 1, Terms: terms, Since: time.Now().UTC().Truncate(time.Millisecond)}
		if len(known) > 0 {
			if equalTerms(known[0].Terms, terms) {
				return known[0], nil
			}
			next.Version = known[0].Version + 1
		}
		err = b.prices.AddPrice(ctx, next)
		if !errors.Is(err, ErrExists) { // another replica was faster: look again
			return next, err
		}
	}
}

func equalTerms(a, b []x402.PaymentRequirements) bool { return reflect.DeepEqual(a, b) }

// now returns the price that is quoted.
func (b *book) now(service string) (Price, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.current[service]
	return p, ok
}

// honored returns the terms that a payer accepted, if they are what is asked
// now or was asked a short while ago, here or by another replica, and nil if
// they are not.
func (b *book) honoured(ctx context.Context, service string,
	accepted x402.PaymentRequirements,
) (*x402.PaymentRequirements, int64, error) {
	if price, ok := b.now(service); ok {
		if n, ok := x402.Match(accepted, price.Terms); ok {
			return &price.Terms[n], price.Version, nil
		}
	}
	versions, err := b.prices.Prices(ctx, service)
	if err != nil {
		return nil, 0, err
	}
	for i, price := range versions {
		if i > 0 && time.Since(versions[i-1].Since) > b.grace {
			break // this one and all before it ended too long ago
		}
		if n, ok := x402.Match(accepted, price.Terms); ok {
			return &price.Terms[n], price.Version, nil
		}
	}
	return nil, 0, nil
}

// network returns the settings of a network.
func (b *book) network(id string) (Network, bool) {
	for _, n := range b.networks {
		if strings.EqualFold(n.ID, id) {
			return n, true
		}
	}
	return Network{}, false
}
