// Package payer buys website services from a store over x402, as an agent
// does. It knows the store by its public interface alone; ace pay is a thin
// shell around it.
//
//	POST /v1/services/{service}/run   402: the quote
//	choose                            a token and a network that are known, a price within the bound
//	say what it costs                 the caller may still stop
//	sign                              one payment, whatever happens from here on
//	POST … with PAYMENT-SIGNATURE     200: the result
//	  202, and meanwhile GET /v1/orders/{id} reports its progress
//	  no response, 429, 5xx             the same payment again: it is charged once
//
// Nothing is ever signed twice: a second signature could be charged beside the
// first.
package payer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
)

// Options tunes a Payer; the zero value is the careful one.
type Options struct {
	// Client makes the calls. Nil: one that waits 100 seconds for a response.
	Client *http.Client
	// Live lets the payer spend on networks whose money is worth something.
	Live bool
	// Notice receives what happens, in order. Nil: no notices. An error of it ends
	// a purchase that is not signed yet.
	Notice func(Notice) error
	// Pause is how long it waits between two looks at a running order, unless
	// the store says otherwise. Zero: two seconds.
	Pause time.Duration
}

// Notice is one step of a purchase.
type Notice struct {
	Step     Step
	Quote    *Quote // of Quoted
	Progress string // of Running: what the store says
	OrderURL string // of Running and Pending
	Cause    string // of Retrying
}

// Step names a notice.
type Step string

// The steps.
const (
	Quoted   Step = "quoted"   // the price is known; nothing is signed
	Paying   Step = "paying"   // the payment is signed and goes out
	Running  Step = "running"  // the store works
	Pending  Step = "pending"  // unknown whether the money moved
	Retrying Step = "retrying" // the same payment again
)

// Quote is what a run costs.
type Quote struct {
	Service string
	Price   string // in units of the token, for example 0.10
	Symbol  string
	Terms   x402.PaymentRequirements
}

// Payer buys with one key. It is safe for concurrent use.
type Payer struct {
	key  evm.Key
	opts Options
}

// New returns a payer.
func New(key evm.Key, o *Options) *Payer {
	p := &Payer{key: key}
	if o != nil {
		p.opts = *o
	}
	if p.opts.Client == nil {
		p.opts.Client = &http.Client{Timeout: 100 * time.Second}
	}
	if p.opts.Pause == 0 {
		p.opts.Pause = 2 * time.Second
	}
	return p
}

// Purchase is what to buy.
type Purchase struct {
	Store     string // address of the store, without a path
	Service   string // ai-search-audit, or run_ai_search_audit
	Arguments any    // of the service; becomes JSON
	Max       string // most that a run may cost, in units of the token; empty: 0.10
}

// DefaultMax is the most that is paid unless the buyer says otherwise.
const DefaultMax = "0.10"

// Receipt is what was bought.
type Receipt struct {
	Quote       Quote
	Payer       string
	Transaction string
	OrderURL    string
	Order       json.RawMessage // the store's response, with the result
	Result      json.RawMessage
	Files       []File
}

// File is a file of the result.
type File struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	URL       string `json:"url"`
}

// Text reads a text file of the result, up to a megabyte.
func (p *Payer) Text(ctx context.Context, f File) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", f.Name, err)
	}
	res, err := p.opts.Client.Do(req)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", f.Name, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil || res.StatusCode != http.StatusOK {
		return "", errors.Join(fmt.Errorf("reading %s: status %d", f.Name, res.StatusCode), err)
	}
	return string(text), nil
}

// ServiceID is the name of a service in addresses: run_ai_search_audit is
// ai-search-audit.
func ServiceID(name string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "run_"), "_", "-")
}

// Buy buys one run and waits for its result until ctx ends. It signs one
// payment at most. An error after that names the order, if there is one: the
// store returns it to a caller who sends the same payment again.
func (p *Payer) Buy(ctx context.Context, what Purchase) (*Receipt, error) {
	if what.Max == "" {
		what.Max = DefaultMax
	}
	body, err := json.Marshal(what.Arguments)
	if err != nil {
		return nil, fmt.Errorf("encoding the arguments: %w", err)
	}
	address, err := url.JoinPath(what.Store, "/v1/services", ServiceID(what.Service), "run")
	if err != nil {
		return nil, fmt.Errorf("the address of the store cannot be used: %w", err)
	}
	t := &trip{p: p, address: address, body: body}
	required, err := t.ask(ctx)
	if err != nil {
		return nil, err
	}
	quote, err := p.choose(required, what)
	if err != nil {
		return nil, err
	}
	if err := p.tell(Notice{Step: Quoted, Quote: quote}); err != nil {
		return nil, err
	}
	payment, err := p.key.Pay(quote.Terms, &required.Resource, time.Now())
	if err != nil {
		return nil, err
	}
	if t.payment, err = payment.Header(); err != nil {
		return nil, err
	}
	t.until = payment.Authorization.Deadline()
	if err := p.tell(Notice{Step: Paying, Quote: quote}); err != nil {
		return nil, err
	}
	order, err := t.collect(ctx)
	if err != nil {
		if t.order != "" {
			err = fmt.Errorf("%w\nthe order is %s", err, t.order)
		}
		return nil, err
	}
	return &Receipt{
		Quote: *quote, Payer: p.key.Address().String(), Transaction: order.Payment.Transaction, OrderURL: order.URL,
		Order:  order.whole,
		Result: order.Result, Files: order.Files,
	}, nil
}

func (p *Payer) tell(n Notice) error {
	if p.opts.Notice == nil {
		return nil
	}
	return p.opts.Notice(n)
}

// testNetworks are those whose money is worth nothing.
var testNetworks = []string{evm.DevNetwork, "eip155:84532"}

// choose picks the first way to pay that is understood, allowed and within the
// bound.
func (p *Payer) choose(required *x402.PaymentRequired, what Purchase) (*Quote, error) {
	var reasons []error
	for _, terms := range required.Accepts {
		token, known := evm.TokenOf(terms.Network)
		if !known || !token.Is(terms) || terms.Check() != nil {
			reasons = append(reasons,
				fmt.Errorf("%s of %s on %s is not known here", terms.Asset, required.Resource.URL, terms.Network))
			continue
		}
		quote := &Quote{
			Service: ServiceID(what.Service), Price: x402.FormatUnits(terms.Amount, token.Decimals),
			Symbol: token.Symbol, Terms: terms,
		}
		most, err := x402.ParseUnits(what.Max, token.Decimals)
		if err != nil {
			return nil, err
		}
		switch {
		case over(terms.Amount, most):
			reasons = append(reasons, fmt.Errorf("it costs %s %s on %s, more than %s; allow more with --max",
				quote.Price, quote.Symbol, terms.Network, what.Max))
		case !p.opts.Live && !slices.Contains(testNetworks, terms.Network):
			reasons = append(reasons, fmt.Errorf("it costs real money, %s %s on %s; add --live to spend it",
				quote.Price, quote.Symbol, terms.Network))
		default:
			return quote, nil
		}
	}
	return nil, errors.Join(reasons...)
}

func over(amount, most string) bool {
	a, errA := x402.ParseAmount(amount)
	b, errB := x402.ParseAmount(most)
	return errA != nil || errB != nil || a.Cmp(b) > 0 || a.Cmp(new(big.Int)) <= 0
}

// Balance is what an account of the sandbox's ledger holds.
type Balance struct {
	Address string `json:"address"`
	Network string `json:"network"`
	Symbol  string `json:"symbol"`
	Balance string `json:"balance"`
}

// Balance asks the sandbox at an address what the account of the key holds.
func (p *Payer) Balance(ctx context.Context, sandbox string) (*Balance, error) {
	address, err := url.JoinPath(sandbox, "/x402/accounts", p.key.Address().String())
	if err != nil {
		return nil, fmt.Errorf("the address of the sandbox cannot be used: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("the address of the sandbox cannot be used: %w", err)
	}
	res, err := p.opts.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no answer from the sandbox: is it running? %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	var b Balance
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&b); err != nil ||
		res.StatusCode != http.StatusOK || b.Balance == "" {
		return nil, fmt.Errorf("the sandbox answered %s to a question about an account", res.Status)
	}
	return &b, nil
}
