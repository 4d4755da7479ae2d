package x402_test

import (
	"errors"
	"strings"
	"testing"

	"ace/internal/protocol/x402"
	"ace/internal/storefront/paidservice"
)

// authorization names a payment as the service does.
func authorization(p *x402.PaymentPayload) paidservice.Authorization {
	k := p.Key()
	return paidservice.Authorization{
		Network: k.Network, Asset: k.Asset, Payer: k.Payer, Nonce: k.Nonce, PayTo: strings.ToLower(p.Accepted.PayTo),
		Amount:      p.Accepted.Amount,
		ValidBefore: p.Authorization.Deadline().Unix(),
	}
}

// find asks the chain what became of a payment.
func (r *rig) find(p *x402.PaymentPayload) paidservice.Proof {
	r.t.Helper()
	proof, err := r.chains.Find(r.t.Context(), authorization(p), 1)
	if err != nil {
		r.t.Fatalf("Find(%s) = %v", p, err)
	}
	return proof
}

// TestProofs follows payments through a chain.
func TestProofs(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	terms := r.terms("90000")
	check := func(t *testing.T, name string, p *x402.PaymentPayload, want paidservice.Verdict,
		final bool,
	) paidservice.Proof {
		t.Helper()
		proof := r.find(p)
		if proof.Verdict != want || proof.Final != final {
			t.Errorf("%s: proof = %+v, want %s, final %v", name, proof, want, final)
		}
		return proof
	}

	settled := r.pay(r.payer("900000"), terms)
	check(t, "before", settled, paidservice.ProofOpen, false)
	answer, err := r.facilitator.Settle(t.Context(), settled, terms)
	if err != nil || !answer.Success {
		t.Fatalf("Settle = %+v, %v", answer, err)
	}
	if proof := check(t, "settled", settled, paidservice.ProofPaid,
		false); proof.Tx != strings.ToLower(answer.Transaction) {
		t.Errorf("transaction = %s, want %s", proof.Tx, answer.Transaction)
	}
	r.mine(3)
	check(t, "settled, three blocks later", settled, paidservice.ProofPaid, true)

	early := r.pay(r.payer("90000"), terms)
	r.do("submit", map[string]any{"payments": []any{early}}, nil)
	check(t, "put on the chain by a stranger", early, paidservice.ProofPaid, false)
	refused, err := r.facilitator.Settle(t.Context(), early, terms)
	if err != nil || refused.Class(terms) != x402.Ambiguous {
		t.Errorf("settling what a stranger settled = %+v, %v, want it ambiguous", refused, err)
	}

	key := r.payer("90000")
	canceled := r.pay(key, terms)
	r.do("cancel", map[string]string{"privateKey": key.Secret(), "nonce": canceled.Authorization.Nonce}, nil)
	check(t, "canceled", canceled, paidservice.ProofVoid, false)

	// One payer shows two payments and puts one transaction on the chain: the
	// first is used as it should, the second's nonce for a transfer to itself.
	key = r.payer("180000")
	honest, shown := r.pay(key, terms), r.pay(key, terms)
	a := shown.Authorization
	a.To, a.Value = a.From, "0"
	diverted, err := key.Authorize(terms, nil, a)
	if err != nil {
		t.Fatal(err)
	}
	r.do("submit", map[string]any{"payments": []any{honest, diverted}}, nil)
	check(t, "the honest one of two", honest, paidservice.ProofPaid, false)
	check(t, "the diverted one of two", shown, paidservice.ProofVoid, false)

	both := []*x402.PaymentPayload{r.pay(r.payer("90000"), terms), r.pay(r.payer("90000"), terms)}
	r.do("submit", map[string]any{"payments": []any{both[0], both[1]}}, nil)
	for _, p := range both {
		check(t, "one of two payers in one transaction", p, paidservice.ProofPaid, false)
	}
}

// TestProofOfExpiry waits until a payment can no longer be used, and until that
// cannot be undone.
func TestProofOfExpiry(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	p := r.pay(r.payer("90000"), r.terms("90000"))
	if proof := r.find(p); proof.Verdict != paidservice.ProofOpen {
		t.Errorf("proof = %+v, want open", proof)
	}
	r.node("evm_increaseTime", 301)
	r.mine(1)
	if proof := r.find(p); proof.Verdict != paidservice.ProofOpen {
		t.Errorf("just expired: proof = %+v, want open, because the block may be reorganized", proof)
	}
	r.mine(100) // the chain calls a block safe that many follow
	if proof := r.find(p); proof.Verdict != paidservice.ProofVoid || !proof.Final {
		t.Errorf("expired for long: proof = %+v, want void for good", proof)
	}
}

// TestReorganization takes a block with a payment back.
func TestReorganization(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	terms := r.terms("90000")
	p := r.pay(r.payer("90000"), terms)
	r.mine(3)
	if answer, err := r.facilitator.Settle(t.Context(), p, terms); err != nil || !answer.Success {
		t.Fatalf("Settle = %+v, %v", answer, err)
	}
	if proof := r.find(p); proof.Verdict != paidservice.ProofPaid || proof.Final {
		t.Errorf("proof = %+v, want paid and not final", proof)
	}
	r.node("anvil_reorg", 1, []any{})
	if proof := r.find(p); proof.Verdict != paidservice.ProofOpen {
		t.Errorf("reorganized: proof = %+v, want open", proof)
	}
	again, err := r.facilitator.Settle(t.Context(), p, terms)
	if err != nil || !again.Success {
		t.Fatalf("settling the same payment again = %+v, %v", again, err)
	}
	if proof := r.find(p); proof.Verdict != paidservice.ProofPaid || r.balance(r.receiver) != "90000" {
		t.Errorf("settled again: proof = %+v with %s, want paid once", proof, r.balance(r.receiver))
	}
}

// TestLostAnswers loses the responses of settlements that went through: only the
// chain tells.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	terms := r.terms("90000")
	for mode, want := range map[string]string{
		"500_after": "error", "no_answer_after": "error",
		"pending_after": "ambiguous", "429": "not sent",
	} {
		p := r.pay(r.payer("90000"), terms)
		r.do("fault", map[string]any{"mode": mode}, nil)
		answer, err := r.facilitator.Settle(t.Context(), p, terms)
		got := string(answer.Class(terms))
		switch {
		case errors.Is(err, paidservice.ErrNotSent):
			got = "not sent"
		case err != nil:
			got = "error"
		}
		if got != want {
			t.Errorf("%s: Settle = %+v, %v, want %s", mode, answer, err, want)
		}
		verdict := paidservice.ProofPaid
		if want == "not sent" {
			verdict = paidservice.ProofOpen
		}
		if proof := r.find(p); proof.Verdict != verdict {
			t.Errorf("%s: proof = %+v, want %s", mode, proof, verdict)
		}
	}
}

// TestNotMined sends a settlement that no block takes for a while: the
// facilitator calls it pending, and the chain open until it is mined.
func TestNotMined(t *testing.T) {
	t.Parallel()
	r := start(t, settings{ConfirmationTimeoutMS: 500})
	terms := r.terms("90000")
	p := r.pay(r.payer("90000"), terms)
	r.node("evm_setAutomine", false)
	answer, err := r.facilitator.Settle(t.Context(), p, terms)
	if err != nil || answer.Class(terms) != x402.Ambiguous || answer.Transaction == "" {
		t.Errorf("Settle = %+v, %v, want it pending with a transaction", answer, err)
	}
	if proof := r.find(p); proof.Verdict != paidservice.ProofOpen {
		t.Errorf("proof = %+v, want open", proof)
	}
	r.mine(1)
	if proof := r.find(p); proof.Verdict != paidservice.ProofPaid || proof.Tx != strings.ToLower(answer.Transaction) {
		t.Errorf("proof = %+v, want paid by %s", proof, answer.Transaction)
	}
}

// TestTokenOnTheChain compares settings with the token.
func TestTokenOnTheChain(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	tests := []struct {
		name   string
		change func(terms *x402.PaymentRequirements, decimals *int)
		want   string
	}{
		{"right", func(*x402.PaymentRequirements, *int) {}, ""},
		{"the name that the token has elsewhere", func(terms *x402.PaymentRequirements, _ *int) {
			terms.Extra = map[string]any{"name": "USD Coin", "version": "2"}
		}, `"USDC"`},
		{"another version", func(terms *x402.PaymentRequirements, _ *int) {
			terms.Extra = map[string]any{"name": "USDC", "version": "1"}
		}, "version"},
		{"another address", func(terms *x402.PaymentRequirements, _ *int) { terms.Asset = r.receiver }, "no contract"},
		{"other decimals", func(_ *x402.PaymentRequirements, decimals *int) { *decimals = 18 }, "decimals"},
	}
	for _, tt := range tests {
		terms, decimals := r.terms("90000"), 6
		tt.change(&terms, &decimals)
		err := r.chains.CheckAsset(t.Context(), terms, decimals)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("CheckAsset(%s) = %v, want %q", tt.name, err, tt.want)
		}
	}
	if head, err := r.chains.Head(t.Context(), r.Network); err != nil || head <= 0 {
		t.Errorf("Head = %d, %v", head, err)
	}
}
