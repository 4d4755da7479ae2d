package paidservice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"ace/internal/protocol/x402"
)

func sameAddress(a, b string) bool { return strings.EqualFold(a, b) }

// charge settles an order: it is put on record before the first byte goes to
// the facilitator, and ends as settled, unpaid or unknown.
func (s *Service) charge(ctx context.Context, o *Order, evidence string) error {
	ctx = context.WithoutCancel(ctx) // once started, the outcome must be recorded
	p, err := s.openPayment(o)
	if err != nil {
		return err
	}
	// Money is never taken for work that is not there.
	if _, err := s.storedWork(ctx, o); err != nil {
		return err
	}
	next := o.clone()
	if err := next.move(Settling, now()); err != nil {
		return err
	}
	next.Lease = Lease{Owner: newOwner(), Until: next.UpdatedAt.Add(s.opts.SettleBudget + s.opts.Slack)}
	next.SettleAttempts++
	if err := s.save(ctx, o, Change{Order: next, Evidence: evidence}, nil); err != nil {
		return err
	}
	s.opts.Step("settling")
	bound, cancel := context.WithTimeout(ctx, s.opts.SettleBudget)
	defer cancel()
	v := s.ask(bound, next, p)
	s.opts.Step("asked")
	return s.conclude(ctx, next, v)
}

// verdict is what one attempt to settle came to.
type verdict struct {
	class    x402.Class
	answer   *x402.SettleResponse // nil: none
	evidence string
	alarm    string // a person has to look at it
}

// ask calls the facilitator, again and again as long as it surely did nothing.
func (s *Service) ask(ctx context.Context, o *Order, p *sealedPayment) verdict {
	v := verdict{class: x402.Transient, evidence: "the facilitator was not reached"}
	for try := range settleTries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return v
			case <-time.After(time.Duration(100+rand.Int64N(400)) * time.Millisecond):
			}
		}
		if v = s.askOnce(ctx, o, p); v.class != x402.Transient {
			return v
		}
	}
	return v
}

func (s *Service) askOnce(ctx context.Context, o *Order, p *sealedPayment) verdict {
	if s.facilitator == nil {
		return verdict{class: x402.Transient, evidence: "no facilitator is set up"}
	}
	answer, err := s.facilitator.Settle(ctx, p.Payment, p.Terms)
	switch {
	case errors.Is(err, ErrNotSent):
		return verdict{class: x402.Transient, evidence: "the facilitator was not reached"}
	case err != nil:
		s.log.WarnContext(ctx, "settling a payment", "order_id", o.ID, "error", err)
		return verdict{class: x402.Ambiguous, evidence: "the facilitator gave no answer"}
	}
	v := verdict{
		class: answer.Class(p.Terms), answer: &answer,
		evidence: "facilitator: " + orText(string(answer.ErrorReason), "success"),
	}
	if v.class == x402.Accepted {
		return s.believe(ctx, o, v)
	}
	return v
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// believe looks behind a facilitator's success: at the chain where there is a
// prover, and otherwise at whether the transaction already paid something else.
func (s *Service) believe(ctx context.Context, o *Order, v verdict) verdict {
	if v.answer.Payer != "" && !sameAddress(v.answer.Payer, o.Auth.Payer) {
		return verdict{
			class: x402.Ambiguous, answer: v.answer, evidence: "facilitator: success for another payer",
			alarm: alarmContradiction,
		}
	}
	if s.prover == nil {
		// The money has moved by now: the budget of the attempt must not decide
		// what becomes of it.
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
		defer cancel()
		used, err := s.store.TxUsed(bound, o.Auth.Network, strings.ToLower(v.answer.Transaction), o.ID)
		if err != nil {
			s.log.ErrorContext(ctx, "comparing a transaction with the ledger", "order_id", o.ID, "error", err)
			return v // the facilitator's word counts, as where the chain says nothing
		}
		if used {
			return verdict{
				class: x402.Ambiguous, answer: v.answer,
				evidence: "facilitator: success with the transaction of another order", alarm: alarmContradiction,
			}
		}
		return v
	}
	for wait := 250 * time.Millisecond; ; wait *= 2 {
		proof, err := s.find(ctx, o)
		switch {
		case err != nil:
			return v // the chain says nothing: the facilitator's response counts, and the watch continues
		case proof.Verdict == ProofPaid:
			v.answer.Transaction = proof.Tx
			return v
		case proof.Verdict == ProofVoid:
			return verdict{
				class: x402.Ambiguous, answer: v.answer, evidence: "facilitator: success; chain: void",
				alarm: alarmContradiction,
			}
		}
		select { // the node may be behind
		case <-time.After(wait):
		case <-ctx.Done():
			return verdict{
				class: x402.Ambiguous, answer: v.answer,
				evidence: "facilitator: success; chain: not seen yet",
			}
		}
	}
}

// recordTime bounds what has to be written or read although time is up.
const recordTime = 10 * time.Second

// Why a person has to look at an order.
const (
	alarmContradiction = "facilitator_contradicts_ledger"
	alarmUnknown       = "settlement_unknown"
	alarmLoss          = "payment_lost_by_reorganization"
)

// conclude puts the outcome of an attempt on record.
func (s *Service) conclude(ctx context.Context, o *Order, v verdict) error {
	if v.answer != nil && v.class == x402.Accepted {
		return s.settledBy(ctx, o, *v.answer, v.evidence)
	}
	refused := v.class == x402.PayerFinal || v.class == x402.PayerCanFix
	if refused && o.DoubtAt.IsZero() {
		return s.unpaid(ctx, o, v.answer, string(v.answer.ErrorReason), v.evidence)
	}
	next := o.clone()
	if err := next.move(Unknown, now()); err != nil {
		return err
	}
	if v.class == x402.Ambiguous && next.DoubtAt.IsZero() {
		next.DoubtAt = next.UpdatedAt
	}
	next.Lease, next.Attention = Lease{}, v.alarm
	if v.answer != nil && v.answer.Transaction != "" {
		next.Tx = strings.ToLower(v.answer.Transaction)
	}
	if err := s.save(ctx, o, Change{Order: next, Evidence: v.evidence}, nil); err != nil {
		return err
	}
	s.opts.Step("unknown")
	return nil
}

// settledBy records that the money is here.
func (s *Service) settledBy(ctx context.Context, o *Order, answer x402.SettleResponse, evidence string) error {
	next := o.clone()
	if err := next.move(Settled, now()); err != nil {
		return err
	}
	answer.Success, answer.ErrorReason, answer.ErrorMessage, answer.Extra = true, "", "", nil
	text, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("encoding a settlement: %w", err)
	}
	next.Settlement, next.Tx, next.SettledAt, next.DoubtAt = text, strings.ToLower(
		answer.Transaction), next.UpdatedAt, time.Time{}
	next.Lease, next.Reason, next.Detail, next.Attention = Lease{}, "", "", ""
	if err := s.save(ctx, o, Change{Order: next, Evidence: evidence}, nil); err != nil {
		return err
	}
	s.opts.Step("settled")
	return nil
}

// unpaid records that the money did not and cannot come by what was done.
func (s *Service) unpaid(ctx context.Context, o *Order, answer *x402.SettleResponse, reason, evidence string) error {
	next := o.clone()
	if err := next.move(Unpaid, now()); err != nil {
		return err
	}
	next.Reason, next.Lease, next.DoubtAt, next.Tx, next.Attention = reason, Lease{}, time.Time{}, "", ""
	next.Settlement = nil
	if answer != nil {
		answer.ErrorMessage, answer.Extra = "", nil
		text, err := json.Marshal(answer)
		if err != nil {
			return fmt.Errorf("encoding a settlement: %w", err)
		}
		next.Settlement = text
	}
	if err := s.save(ctx, o, Change{Order: next, Evidence: evidence}, nil); err != nil {
		return err
	}
	s.opts.Step("unpaid")
	return nil
}

// collect is what a call does about an order whose work is done: it settles
// while the caller is there, and otherwise waits for the caller that settles.
func (s *Service) collect(ctx context.Context, o *Order, c *claim, t *trip) (*Outcome, time.Duration, error) {
	if t.settled.IsZero() {
		t.settled = time.Now().Add(s.opts.SettleBudget + 2*s.opts.Slack)
	}
	switch o.State {
	case Ran:
		if ctx.Err() != nil { // the gate: the caller has gone
			return nil, 0, context.Cause(ctx)
		}
		t.charged = true
		return nil, 0, s.charge(ctx, o, "a caller waits")
	case Settling:
		if !o.leased(time.Now()) {
			return nil, 0, s.doubt(ctx, o)
		}
		if time.Now().After(t.settled) {
			return pending(o), 0, nil
		}
		return nil, s.opts.Poll, nil
	case Unknown, Reorged:
		return s.pursue(ctx, o, t)
	case Unpaid:
		if !t.charged && t.looks == 0 && o.Sealed() && o.Auth.lasts(s.needs(true)) {
			t.charged = true
			return nil, 0, s.charge(ctx, o, "presented again")
		}
		return s.due(o, c.def, c.transport, x402.Reason(o.Reason), settlement(o)), 0, nil
	case Loss:
		return s.due(o, c.def, c.transport, "payment_lost", nil), 0, nil
	default: // advance takes care of those
	}
	return nil, 0, fmt.Errorf("order %s is in the state %q, which nobody knows", o.ID, o.State)
}

// pursue looks for what became of the money, a few times while the caller
// waits.
func (s *Service) pursue(ctx context.Context, o *Order, t *trip) (*Outcome, time.Duration, error) {
	tries := 2 // without a chain, the payment is sent again once or twice
	if s.prover != nil {
		tries = 6
	}
	if t.resolved >= tries || t.resolved > 0 && time.Now().After(t.settled) {
		return pending(o), 0, nil
	}
	if t.resolved > 0 {
		wait := time.Duration(250<<t.resolved) * time.Millisecond
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
	}
	t.resolved++
	return nil, 0, s.resolve(ctx, o)
}

// pending is the outcome while it is unknown whether the money moved. It never
// asks for another payment.
func pending(o *Order) *Outcome {
	answer := &x402.SettleResponse{
		ErrorReason: x402.ReasonSettlementPending, Transaction: o.Tx,
		Network: o.Auth.Network, Payer: o.Auth.Payer,
	}
	return &Outcome{Status: StatusPending, Order: o, Settlement: answer, RetryAfter: 5 * time.Second}
}

// settlement is what the facilitator said about an order.
func settlement(o *Order) *x402.SettleResponse {
	if len(o.Settlement) == 0 {
		return nil
	}
	answer, err := x402.ReadSettle(o.Settlement)
	if err != nil {
		return nil
	}
	return &answer
}

// doubt records that the outcome of an order's settlement is unknown: its
// caller has not reported back.
func (s *Service) doubt(ctx context.Context, o *Order) error {
	return s.conclude(ctx, o, verdict{class: x402.Ambiguous, evidence: "the process that settled did not come back"})
}

func (s *Service) find(ctx context.Context, o *Order) (Proof, error) {
	bound, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return s.prover.Find(bound, o.Auth, o.Head)
}

// repeatFor is how long after its end an authorization is still presented where
// no chain can be asked: the facilitator's clock may be behind, and one that
// remembers its settlements reports them.
const repeatFor = 5 * time.Minute

// resolve finds out what became of an unknown or dropped payment: by the chain,
// and by presenting it again, which never charges twice.
func (s *Service) resolve(ctx context.Context, o *Order) error {
	ctx = context.WithoutCancel(ctx)
	if s.prover != nil && o.State == Unknown {
		proof, err := s.find(ctx, o)
		if err != nil {
			s.log.WarnContext(ctx, "looking for a payment on the chain", "order_id", o.ID, "error", err)
		}
		switch {
		case err == nil && proof.Verdict == ProofPaid:
			return s.settledBy(ctx, o, x402.SettleResponse{
				Transaction: proof.Tx, Network: o.Auth.Network,
				Payer: o.Auth.Payer,
			}, "chain: paid")
		case err == nil && proof.Verdict == ProofVoid:
			return s.unpaid(ctx, o, nil, "authorization_void", "chain: void")
		}
	}
	end := time.Unix(o.Auth.ValidBefore, 0)
	if s.prover == nil {
		end = end.Add(repeatFor)
	}
	switch {
	case time.Now().Before(end) && o.Payload != "":
		return s.charge(ctx, o, "the same payment again")
	case o.State == Reorged:
		return s.lose(ctx, o)
	case s.prover == nil && o.Attention == "":
		next := o.clone()
		next.Attention = alarmUnknown
		s.log.ErrorContext(ctx, "nobody can tell whether a payment arrived", "order_id", o.ID, "network",
			o.Auth.Network, "payer", o.Auth.Payer)
		return s.save(ctx, o, Change{Order: next, Evidence: "parked for the operator"}, nil)
	}
	return nil
}

// lose records that a delivered order's money is gone for good.
func (s *Service) lose(ctx context.Context, o *Order) error {
	next := o.clone()
	if err := next.move(Loss, now()); err != nil {
		return err
	}
	next.Attention, next.Payload = alarmLoss, ""
	s.log.ErrorContext(ctx, "a payment was lost by a reorganization of the chain", "order_id", o.ID, "network",
		o.Auth.Network, "tx", o.Tx)
	return s.save(ctx, o, Change{Order: next, Evidence: "the authorization has ended"}, nil)
}
