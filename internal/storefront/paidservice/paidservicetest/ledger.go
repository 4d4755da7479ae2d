// Package paidservicetest is for tests of paid services: a ledger that is the
// facilitator and the chain at once, a runner that counts, and the suites that
// every implementation of the ports passes.
//
//	Ledger.Fail(fault)  -> the next settlement goes wrong like that
//	Ledger.Received     -> what really arrived, whatever anybody says
//	RunStore            -> the promises of Store, Results and Prices
//	RunFacilitator      -> the promises of Facilitator
package paidservicetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/storefront/paidservice"
)

// Fault is how a call of the ledger goes wrong.
type Fault string

// The faults.
const (
	// NotSent: the facilitator is not reached.
	NotSent Fault = "not sent"
	// Lost: no response, and nothing was done.
	Lost Fault = "lost"
	// LostAfter: no response, although the money moved.
	LostAfter Fault = "lost after broadcast"
	// PendingAfter: settlement_pending with the hash, although the money moved.
	PendingAfter Fault = "pending after broadcast"
	// Busy: the facilitator's own wallet stumbled; nothing was done.
	Busy Fault = "busy"
	// NoTx: success without a transaction; nothing was done.
	NoTx Fault = "success without a transaction"
	// OtherNetwork: success on another network; nothing was done.
	OtherNetwork Fault = "success on another network"
	// OtherTx: success with the last transaction of somebody else; nothing was
	// done.
	OtherTx Fault = "success with another transaction"
	// Nonsense: an unknown refusal; nothing was done.
	Nonsense Fault = "unknown refusal"
	// Hang: no response before the caller gives up, and nothing was done.
	Hang Fault = "hang"
	// HangAfter: the same, although the money moved.
	HangAfter Fault = "hang after broadcast"
)

var errBroken = errors.New("the connection broke")

// Ledger is a facilitator and the chain behind it.
type Ledger struct {
	// Terms it settles; the network and asset of all others are refused.
	Network, Asset string
	// Forgetful makes it respond to a settled payment as facilitators do that keep
	// nothing: the nonce is used. Otherwise it repeats its first response.
	Forgetful bool
	// Grace is the time that an authorization must have left.
	Grace time.Duration

	mu       sync.Mutex
	balances map[string]int64
	spent    map[string]*Transfer // by key
	faults   map[string][]Fault   // by method
	head     int64
	chainOff bool
	verifies int
	settles  int
	last     string
}

// Transfer is money that moved.
type Transfer struct {
	Tx, Payer, PayTo, Amount, Nonce string
	Block                           int64
	Void                            bool // the authorization was canceled
}

// NewLedger returns a ledger for a network and an asset.
func NewLedger(network, asset string) *Ledger {
	return &Ledger{
		Network: network, Asset: asset, Grace: 6 * time.Second, head: 100,
		balances: map[string]int64{}, spent: map[string]*Transfer{}, faults: map[string][]Fault{},
	}
}

// Fund gives a payer money.
func (l *Ledger) Fund(payer string, amount int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.balances[strings.ToLower(payer)] += amount
}

// Drain takes all the money of a payer.
func (l *Ledger) Drain(payer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.balances[strings.ToLower(payer)] = 0
}

// Fail makes the next calls of a method ("verify", "settle", "supported", "find") go wrong, one
// after the other.
func (l *Ledger) Fail(method string, faults ...Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults[method] = append(l.faults[method], faults...)
}

// Chain turns the chain's responses on or off.
func (l *Ledger) Chain(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chainOff = !on
}

// Mine adds blocks.
func (l *Ledger) Mine(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head += n
}

// Submit moves the money as anybody may who has seen the payment.
func (l *Ledger) Submit(p *x402.PaymentPayload) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.move(p)
}

// Cancel makes an authorization void, as its payer may.
func (l *Ledger) Cancel(p *x402.PaymentPayload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head++
	l.spent[key(p)] = &Transfer{Tx: hash(l.head), Block: l.head, Void: true}
}

// Reorg drops the transfer of a payment, as if it had never been.
func (l *Ledger) Reorg(p *x402.PaymentPayload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.spent[key(p)]
	if t == nil {
		return
	}
	delete(l.spent, key(p))
	var n int64
	_, _ = fmt.Sscan(t.Amount, &n)
	l.balances[t.Payer] += n
}

// Received returns the transfers, of which each is real money.
func (l *Ledger) Received() []Transfer {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Transfer
	for _, t := range l.spent {
		if !t.Void {
			all = append(all, *t)
		}
	}
	return all
}

// Calls returns how often the ledger was asked to verify and to settle.
func (l *Ledger) Calls() (verifies, settles int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.verifies, l.settles
}

func key(p *x402.PaymentPayload) string {
	k := p.Key()
	return k.Network + "|" + k.Asset + "|" + k.Payer + "|" + k.Nonce
}

func hash(n int64) string { return fmt.Sprintf("0x%064x", n) }

// nextFault returns the fault that the next call of a method has.
func (l *Ledger) nextFault(method string) Fault {
	queue := l.faults[method]
	if len(queue) == 0 {
		return ""
	}
	l.faults[method] = queue[1:]
	return queue[0]
}

func (l *Ledger) checkPayment(p *x402.PaymentPayload, terms x402.PaymentRequirements) x402.Reason {
	switch {
	case terms.Network != l.Network || !strings.EqualFold(terms.Asset, l.Asset):
		return "invalid_network"
	case l.spent[key(p)] != nil:
		return x402.ReasonNonceUsed
	}
	if reason := evm.Check(p, terms, time.Now(), l.Grace); reason != "" {
		return reason
	}
	if !evm.Signed(p, terms) {
		return x402.ReasonSignature
	}
	var amount int64
	if _, err := fmt.Sscan(terms.Amount, &amount); err != nil || l.balances[p.Key().Payer] < amount {
		return x402.ReasonInsufficientBalance
	}
	return ""
}

func (l *Ledger) move(p *x402.PaymentPayload) error {
	if reason := l.checkPayment(p, p.Accepted); reason != "" {
		return errors.New(string(reason))
	}
	var amount int64
	if _, err := fmt.Sscan(p.Authorization.Value, &amount); err != nil {
		return err
	}
	l.head++
	l.balances[p.Key().Payer] -= amount
	l.spent[key(p)] = &Transfer{
		Tx: hash(l.head), Payer: p.Key().Payer, PayTo: strings.ToLower(p.Authorization.To),
		Amount: p.Authorization.Value, Nonce: p.Key().Nonce, Block: l.head,
	}
	return nil
}

// Verify implements paidservice.Facilitator.
func (l *Ledger) Verify(ctx context.Context, p *x402.PaymentPayload,
	terms x402.PaymentRequirements,
) (x402.VerifyResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.verifies++
	if fault := l.nextFault("verify"); fault != "" {
		return x402.VerifyResponse{}, l.broken(ctx, fault)
	}
	if reason := l.checkPayment(p, terms); reason != "" {
		return x402.VerifyResponse{InvalidReason: reason, Payer: p.Authorization.From}, nil
	}
	return x402.VerifyResponse{IsValid: true, Payer: p.Authorization.From}, nil
}

// broken waits where the fault says so.
func (l *Ledger) broken(ctx context.Context, fault Fault) error {
	if fault == Hang || fault == HangAfter {
		l.mu.Unlock()
		<-ctx.Done()
		l.mu.Lock()
		return ctx.Err()
	}
	if fault == NotSent {
		return fmt.Errorf("dialling: %w", paidservice.ErrNotSent)
	}
	return errBroken
}

// Settle implements paidservice.Facilitator.
func (l *Ledger) Settle(ctx context.Context, p *x402.PaymentPayload,
	terms x402.PaymentRequirements,
) (x402.SettleResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settles++
	refusal := func(reason x402.Reason) x402.SettleResponse {
		return x402.SettleResponse{ErrorReason: reason, Network: terms.Network, Payer: p.Authorization.From}
	}
	fault := l.nextFault("settle")
	switch fault {
	case NotSent, Lost, Hang:
		return x402.SettleResponse{}, l.broken(ctx, fault)
	case Busy:
		return refusal(x402.ReasonTransactionFailed), nil
	case Nonsense:
		return refusal("the_moon_is_full"), nil
	case NoTx:
		return x402.SettleResponse{Success: true, Network: terms.Network}, nil
	case OtherNetwork:
		return x402.SettleResponse{Success: true, Network: "eip155:1", Transaction: hash(1)}, nil
	case OtherTx:
		return x402.SettleResponse{Success: true, Network: terms.Network, Transaction: l.last}, nil
	}
	if t := l.spent[key(p)]; t != nil && !t.Void && !l.Forgetful {
		return x402.SettleResponse{Success: true, Transaction: t.Tx, Network: terms.Network, Payer: t.Payer}, nil
	}
	if reason := l.checkPayment(p, terms); reason != "" {
		return refusal(reason), nil
	}
	if err := l.move(p); err != nil {
		return refusal(x402.Reason(err.Error())), nil
	}
	t := l.spent[key(p)]
	l.last = t.Tx
	switch fault {
	case LostAfter, HangAfter:
		return x402.SettleResponse{}, l.broken(ctx, fault)
	case PendingAfter:
		r := refusal(x402.ReasonSettlementPending)
		r.Transaction = t.Tx
		return r, nil
	}
	return x402.SettleResponse{
		Success: true, Transaction: t.Tx, Network: terms.Network,
		Payer: p.Authorization.From,
	}, nil
}

// Supported implements paidservice.Facilitator.
func (l *Ledger) Supported(ctx context.Context) (x402.SupportedResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if fault := l.nextFault("supported"); fault != "" {
		return x402.SupportedResponse{}, l.broken(ctx, fault)
	}
	return x402.SupportedResponse{
		Kinds: []x402.SupportedKind{{X402Version: x402.Version, Scheme: x402.SchemeExact, Network: l.Network}},
	}, nil
}

// Chain is the ledger as a paidservice.Prover.
type Chain struct{ *Ledger }

// Head implements paidservice.Prover.
func (c Chain) Head(context.Context, string) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.chainOff {
		return 0, errBroken
	}
	return c.head, nil
}

// Confirmations after which nothing is dropped any more.
const Confirmations = 5

// Find implements paidservice.Prover.
func (c Chain) Find(ctx context.Context, auth paidservice.Authorization, from int64) (paidservice.Proof, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if fault := c.nextFault("find"); fault != "" {
		return paidservice.Proof{}, c.broken(ctx, fault)
	}
	if c.chainOff {
		return paidservice.Proof{}, errBroken
	}
	t := c.spent[auth.Network+"|"+auth.Asset+"|"+auth.Payer+"|"+auth.Nonce]
	switch {
	case t == nil && auth.Expired(time.Now().Add(-time.Second)):
		return paidservice.Proof{Verdict: paidservice.ProofVoid, Final: true}, nil
	case t == nil:
		return paidservice.Proof{Verdict: paidservice.ProofOpen}, nil
	case t.Void, t.Block < from, t.PayTo != auth.PayTo, t.Amount != auth.Amount:
		return paidservice.Proof{Verdict: paidservice.ProofVoid, Tx: t.Tx, Block: t.Block}, nil
	}
	return paidservice.Proof{
		Verdict: paidservice.ProofPaid, Tx: t.Tx, Block: t.Block,
		Final: c.head-t.Block >= Confirmations,
	}, nil
}

// CheckAsset implements paidservice.Prover.
func (c Chain) CheckAsset(_ context.Context, terms x402.PaymentRequirements, _ int) error {
	if !strings.EqualFold(terms.Asset, c.Asset) {
		return fmt.Errorf("no token at %s", terms.Asset)
	}
	return nil
}
