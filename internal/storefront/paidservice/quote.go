package paidservice

import (
	"regexp"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/protocol/x402"
)

const mcpPath = "/mcp"

func (s *Service) runPath(d *Definition) string { return "/v1/services/" + d.ID + "/run" }

var label = regexp.MustCompile(`^[ -~]{1,32}$`)

// quote says what a run costs, for one transport. reason is why it is asked
// for.
func (s *Service) quote(d *Definition, t Transport, reason x402.Reason) *x402.PaymentRequired {
	price, _ := s.book.now(d.ID)
	q := &x402.PaymentRequired{
		X402Version: x402.Version, Error: string(reason), Accepts: price.Terms,
		Resource: x402.ResourceInfo{
			URL: s.opts.BaseURL + s.runPath(d), Description: d.Description,
			MimeType: "application/json",
		},
		Extensions: map[string]x402.Extension{x402.ExtensionIdentifier: x402.Identifier()},
	}
	if t == MCP {
		q.Resource.URL = s.opts.BaseURL + mcpPath
	}
	if label.MatchString(s.opts.Name) {
		q.Resource.ServiceName = s.opts.Name
	}
	return q
}

// Quote returns what a run of a service costs now. The problems are
// service_not_found, payments_not_configured and service_not_installed.
func (s *Service) Quote(service string, t Transport, reason x402.Reason) (*x402.PaymentRequired, error) {
	d, err := s.book.find(service)
	if err != nil {
		return nil, err
	}
	if err := s.sellable(d); err != nil {
		return nil, err
	}
	return s.quote(d, t, reason), nil
}

// sellable returns the problem of a service that no payment could lead to.
func (s *Service) sellable(d *Definition) error {
	switch s.impossible(d) {
	case NotConfigured:
		return problem.New(problem.Unavailable, "payments_not_configured",
			"Payments are not set up on this store, so that nothing can be bought here. Operators: set "+
				"ACE_X402_PAY_TO and ACE_X402_FACILITATOR_URL.")
	case NotBuilt:
		return problem.New(problem.Unavailable, "service_not_installed", "This service is not installed on this store.")
	}
	return nil
}

// Reasons why a service is not available.
const (
	NotConfigured   = "payments_not_configured"
	NotBuilt        = "service_not_installed"
	FacilitatorAway = "facilitator_unavailable"
	NotSupported    = "network_not_supported"
	AssetDiffers    = "asset_differs"
)

// impossible names what keeps a service from being sold for good.
func (s *Service) impossible(d *Definition) string {
	if _, ok := s.book.now(d.ID); !ok || s.facilitator == nil {
		return NotConfigured
	}
	if d.Runner == nil {
		return NotBuilt
	}
	return ""
}

// due is the outcome that asks for a payment.
func (s *Service) due(o *Order, d *Definition, t Transport, reason x402.Reason, settled *x402.SettleResponse) *Outcome {
	return &Outcome{Status: StatusDue, Order: o, Quote: s.quote(d, t, reason), Settlement: settled}
}

// refused is due for a claim that has no order.
func (s *Service) refused(c *claim, reason x402.Reason) *Outcome {
	return s.due(nil, c.def, c.transport, reason, nil)
}

// away is the outcome while the facilitator does not respond.
func (s *Service) away(o *Order) *Outcome {
	p := problem.New(problem.Unavailable, "facilitator_unavailable",
		"The payment facilitator does not answer. Nothing was charged: repeat the request in a moment with the same "+
			"payment.").After(5 * time.Second)
	return &Outcome{Status: StatusFailed, Order: o, Problem: p, RetryAfter: p.RetryAfter}
}

// Listed is a service as buyers see it.
type Listed struct {
	Definition
	Available bool
	Reason    string // why not
	Price     *Cost  // nil: nothing is quoted
	Quote     *x402.PaymentRequired
}

// Cost is the price on the preferred network.
type Cost struct {
	Dollars  string // "0.10"
	Amount   string // atomic units
	Decimals int
	Symbol   string
	Network  string
}

// List is everything that is sold.
type List struct {
	Mode      string // Options.Mode; "none" if nothing can be paid
	Available bool   // any service is
	Networks  []string
	RunWait   time.Duration
	Retention time.Duration
	Services  []Listed
}

// Retention is how long the result of a paid run is returned again.
const Retention = 30 * 24 * time.Hour

// List returns the services with their prices, and whether each can be paid and
// run right now.
func (s *Service) List() List {
	l := List{Mode: s.opts.Mode, RunWait: s.opts.RunWait, Retention: Retention, Networks: []string{}}
	state := s.health.get()
	for i := range s.book.definitions {
		d := &s.book.definitions[i]
		one := Listed{Definition: *d, Reason: s.impossible(d)}
		if one.Reason == "" && !state.ok {
			one.Reason = state.reason
		}
		one.Available = one.Reason == ""
		if price, ok := s.book.now(d.ID); ok {
			first := price.Terms[0]
			n, _ := s.book.network(first.Network)
			one.Price = &Cost{
				Dollars: d.Price, Amount: first.Amount, Decimals: n.Decimals, Symbol: n.Symbol,
				Network: n.ID,
			}
			one.Quote = s.quote(d, HTTP, x402.ReasonPaymentRequired)
		}
		l.Available = l.Available || one.Available
		l.Services = append(l.Services, one)
	}
	for _, n := range s.book.networks {
		l.Networks = append(l.Networks, n.ID)
	}
	if s.facilitator == nil || len(l.Networks) == 0 {
		l.Mode = "none"
	}
	return l
}
