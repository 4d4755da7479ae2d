package evm

import (
	"encoding/hex"
	"strings"
	"time"

	"ace/internal/protocol/x402"
)

// Check checks everything about a payment but its signature, without a chain: that it has the
// scheme, pays exactly the amount to the receiver of the terms, and is valid now and for at least
// left. It returns "" for a valid payment. The token contract accepts an authorization only in
// blocks before validBefore; leave time for them.
func Check(p *x402.PaymentPayload, terms x402.PaymentRequirements, now time.Time, left time.Duration) x402.Reason {
	if terms.Scheme != x402.SchemeExact || p.Accepted.Scheme != terms.Scheme {
		return x402.ReasonUnsupportedScheme
	}
	if _, err := ChainID(terms.Network); err != nil || p.Accepted.Network != terms.Network {
		return x402.ReasonNetworkMismatch
	}
	if name, version := terms.Domain(); name == "" || version == "" {
		return x402.ReasonMissingDomain
	}
	a := p.Authorization
	to, ok := readAddress(a.To)
	if receiver, okTerms := readAddress(terms.PayTo); !ok || !okTerms || to != receiver {
		return x402.ReasonRecipient
	}
	value, err := x402.ParseAmount(a.Value)
	if asked, errTerms := x402.ParseAmount(terms.Amount); err != nil || errTerms != nil || value.Cmp(asked) != 0 {
		return x402.ReasonValue
	}
	return checkTimes(a, now, left)
}

func checkTimes(a x402.Authorization, now time.Time, left time.Duration) x402.Reason {
	before, err := x402.ParseAmount(a.ValidBefore)
	if err != nil || before.IsInt64() && before.Int64() < now.Add(left).Unix() {
		return x402.ReasonValidBefore
	}
	after, err := x402.ParseAmount(a.ValidAfter)
	if err != nil || !after.IsInt64() || after.Int64() > now.Unix() {
		return x402.ReasonValidAfter
	}
	return ""
}

// Signed reports whether the payer's own key signed exactly this payment for the token of the
// terms. It is false for contract wallets: see the package comment.
func Signed(p *x402.PaymentPayload, terms x402.PaymentRequirements) bool {
	signature, err := hex.DecodeString(strings.TrimPrefix(p.Signature, "0x"))
	if err != nil {
		return false
	}
	domain, err := DomainOf(terms)
	if err != nil {
		return false
	}
	digest, err := domain.Digest(p.Authorization)
	if err != nil {
		return false
	}
	signer, err := Recover(digest, signature)
	from, ok := readAddress(p.Authorization.From)
	return err == nil && ok && signer == from
}
