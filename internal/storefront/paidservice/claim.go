package paidservice

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ace/internal/foundation/jcs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
)

// claim is one call with a payment.
type claim struct {
	def         *Definition
	arguments   json.RawMessage // canonical
	fingerprint string
	payment     *x402.PaymentPayload
	auth        Authorization
	sum         string // of the signed authorization
	aliases     []Alias
	transport   Transport
	wait        time.Duration
	leave       <-chan struct{}
	owner       string // of the leases that this call takes

	terms    *x402.PaymentRequirements // once matched
	price    int64
	verified bool // the facilitator has just said yes
}

// Fingerprint identifies the request, independent of the payer: SHA-256 of the canonical
// JSON of service and arguments, in hex.
func Fingerprint(service string, arguments []byte) (string, error) {
	text, err := json.Marshal(map[string]json.RawMessage{"service": quoted(service), "arguments": arguments})
	if err != nil {
		return "", errArguments()
	}
	canonical, err := jcs.Canonical(text)
	if err != nil {
		return "", errArguments()
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

func quoted(text string) json.RawMessage {
	out, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`) // unreachable: text always marshals
	}
	return out
}

func errArguments() error {
	return problem.New(problem.Invalid, "invalid_json", "The arguments are not a plain JSON object.")
}

func (s *Service) newClaim(d *Definition, call Call) (*claim, error) {
	c := &claim{
		def: d, payment: call.Payment, transport: call.Transport, owner: newOwner(), wait: call.Wait,
		leave: call.Leave,
	}
	if c.wait == 0 || c.wait > s.opts.RunWait {
		c.wait = s.opts.RunWait
	}
	canonical, err := jcs.Canonical(call.Arguments)
	if err != nil {
		return nil, errArguments()
	}
	c.arguments = canonical
	if c.fingerprint, err = Fingerprint(d.ID, canonical); err != nil {
		return nil, err
	}
	key, a := call.Payment.Key(), call.Payment.Authorization
	c.auth = Authorization{
		Network: key.Network, Asset: key.Asset, Payer: key.Payer, Nonce: key.Nonce, PayTo: strings.ToLower(a.To),
		Amount: a.Value, ValidBefore: a.Deadline().Unix(),
	}
	c.sum = signatureSum(call.Payment)
	identifier, err := call.Payment.Identifier()
	if err != nil {
		return nil, err
	}
	for kind, value := range map[AliasKind]string{
		AliasPaymentID:      identifier,
		AliasIdempotencyKey: call.IdempotencyKey,
	} {
		if value != "" {
			c.aliases = append(c.aliases, Alias{Service: d.ID, Payer: c.auth.Payer, Kind: kind, Value: value})
		}
	}
	return c, nil
}

// signatureSum identifies a signed authorization without storing it.
func signatureSum(p *x402.PaymentPayload) string {
	a := p.Authorization
	sum := sha256.Sum256(
		[]byte(
			strings.ToLower(
				strings.Join([]string{a.From, a.To, a.Value, a.ValidAfter, a.ValidBefore, a.Nonce, p.Signature}, "|"))))
	return hex.EncodeToString(sum[:])
}

// check is match, bind and precheck: everything that is refused before
// anything is kept.
func (s *Service) check(ctx context.Context, c *claim, sealed bool) (*Outcome, error) {
	if err := s.sellable(c.def); err != nil {
		return nil, err
	}
	if err := c.def.Runner.Check(c.arguments); err != nil {
		return nil, err
	}
	var err error
	if c.terms, c.price, err = s.book.honoured(ctx, c.def.ID, c.payment.Accepted); err != nil {
		return nil, err
	}
	target := x402.Target{Paths: []string{s.runPath(c.def), mcpPath}, Names: []string{c.def.ID, c.def.Tool}}
	switch {
	case c.terms == nil:
		return s.refused(c, x402.ReasonNoMatch), nil
	case !target.Fits(c.payment.Resource):
		return s.refused(c, x402.ReasonResourceMismatch), nil
	}
	if reason := evm.Check(c.payment, *c.terms, time.Now(), s.needs(sealed)); reason != "" {
		return s.refused(c, reason), nil
	}
	return s.prove(ctx, c)
}

// needs is how long an authorization must be valid, so that it still is
// when the work is done and settled as slowly as it may.
func (s *Service) needs(sealed bool) time.Duration {
	if sealed {
		return s.opts.SettleBudget + s.opts.Margin
	}
	return s.opts.RunWait + s.opts.SettleBudget + s.opts.Margin
}

// prove makes sure that the payer has signed, before anything is kept in the
// payer's name. Accounts are recovered from the signature; only a facilitator
// can determine for contract wallets.
func (s *Service) prove(ctx context.Context, c *claim) (*Outcome, error) {
	if evm.Signed(c.payment, *c.terms) {
		return nil, nil //nolint:nilnil // no outcome yet
	}
	v, err := s.verify(ctx, c.payment, *c.terms)
	if err != nil {
		return s.away(nil), nil //nolint:nilerr // it is the outcome
	}
	if !v.IsValid {
		return s.refused(c, v.InvalidReason), nil
	}
	c.verified = true
	return nil, nil //nolint:nilnil // no outcome yet
}

// admit reserves an order for a claim that has none, or returns the one that
// the payer named by an alias.
func (s *Service) admit(ctx context.Context, c *claim) (*Order, *Outcome, error) {
	sealed, err := s.sealedFor(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if out, err := s.check(ctx, c, sealed != nil); out != nil || err != nil {
		return nil, out, err
	}
	old, err := s.named(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if old != nil && !old.State.Dead() {
		return old, nil, nil
	}
	if old == nil {
		old = sealed
	}
	o, err := s.reserve(ctx, c, old)
	return o, nil, err
}

// named returns the order that the payer gave the same name before.
func (s *Service) named(ctx context.Context, c *claim) (*Order, error) {
	var found *Order
	for _, alias := range c.aliases {
		o, err := s.store.Aliased(ctx, alias)
		if problem.Is(err, codeOrderNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if o, err = s.follow(ctx, o); err != nil {
			return nil, err
		}
		if o.Fingerprint != c.fingerprint || found != nil && found.ID != o.ID {
			return nil, problem.New(problem.Conflict, "payment_identifier_in_use",
				"This payment identifier or idempotency key stands for another request. Use a new one, or repeat "+
					"that request unchanged.")
		}
		found = o
	}
	return found, nil
}

// sealedFor returns an order of the payer whose work was done for this request
// and waits for its payment.
func (s *Service) sealedFor(ctx context.Context, c *claim) (*Order, error) {
	o, err := s.store.SealedFor(ctx, c.auth.Payer, c.fingerprint, time.Now().Add(-unsealed))
	if problem.Is(err, codeOrderNotFound) {
		return nil, nil //nolint:nilnil // no order is a valid result
	}
	return o, err
}

// reserve keeps a new order. It takes the place of old, whose sealed work it
// inherits; old may be nil.
func (s *Service) reserve(ctx context.Context, c *claim, old *Order) (*Order, error) {
	at := now()
	o := &Order{ID: typeid.New("svo"), State: Reserved, CreatedAt: at, UpdatedAt: at}
	if old != nil && old.Sealed() && old.SealedAt.After(at.Add(-unsealed)) {
		o.ResultID, o.ResultSum, o.SealedAt, o.RunAttempts = old.ResultID, old.ResultSum, old.SealedAt, old.RunAttempts
	}
	if err := s.bind(ctx, o, c); err != nil {
		return nil, err
	}
	change := Change{Order: o, Evidence: "presented", Aliases: c.aliases, Supersede: old, Schedule: s.tendLater(o)}
	if err := s.store.Insert(ctx, change, s.limits(o)); err != nil {
		return nil, err
	}
	o.Version = 1
	s.opts.Step("reserved")
	return o, nil
}

// rebind gives an order that never led to anything to the request that its
// payment comes with now.
func (s *Service) rebind(ctx context.Context, c *claim, o *Order) (*Order, *Outcome, error) {
	if out, err := s.check(ctx, c, false); out != nil || err != nil {
		return nil, out, err
	}
	named, err := s.named(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if named != nil && named.ID != o.ID && !named.State.Dead() {
		return named, nil, nil
	}
	next := o.clone()
	if err := next.move(Reserved, now()); err != nil {
		return nil, nil, err
	}
	next.Reason, next.Detail = "", ""
	if err := s.bind(ctx, next, c); err != nil {
		return nil, nil, err
	}
	change := Change{Order: next, Evidence: "presented again", Aliases: c.aliases}
	if named != nil && named.ID != o.ID {
		change.Supersede = named
	}
	if err := s.save(ctx, o, change, s.limits(next)); err != nil {
		return nil, nil, err
	}
	s.opts.Step("reserved")
	return next, nil, nil
}

// bind writes what a claim is about into an order, and takes the lease.
func (s *Service) bind(ctx context.Context, o *Order, c *claim) error {
	o.Service, o.PriceVersion, o.Auth, o.Fingerprint, o.SignatureSum = c.def.ID, c.price, c.auth, c.fingerprint, c.sum
	o.Transport, o.Arguments, o.Head = c.transport, c.arguments, s.head(ctx, c.auth.Network)
	o.Lease = s.shortLease(c.owner)
	var err error
	o.Payload, err = s.sealPayment(o.ID, c.payment, *c.terms)
	return err
}

// head is where a proof starts to look: a little before the newest block.
func (s *Service) head(ctx context.Context, network string) int64 {
	if s.prover == nil {
		return 0
	}
	bound, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	n, err := s.prover.Head(bound, network)
	if err != nil {
		return 0
	}
	return max(1, n-2)
}

func (s *Service) shortLease(owner string) Lease {
	return Lease{Owner: owner, Until: now().Add(s.opts.VerifyTimeout + 2*s.opts.Slack)}
}

// limits bounds the work that a payer can have done for nothing. An order that
// only has to be paid is always welcome.
func (s *Service) limits(o *Order) func(Holds) error {
	if o.Sealed() {
		return nil
	}
	return func(h Holds) error {
		switch {
		case h.Running > 0:
			return problem.New(problem.RateLimited, "payer_busy",
				"A run of this payer goes on. Wait for it, then repeat the request with the same payment.").After(5 *
				time.Second)
		case h.Sealed >= s.opts.MaxSealed:
			return problem.New(problem.RateLimited, "unsettled_work",
				fmt.Sprintf(
					"%d results of this payer wait to be paid. Repeat one of those requests with a payment, or come "+
						"back in a day.", h.Sealed)).After(time.Hour)
		}
		return nil
	}
}
