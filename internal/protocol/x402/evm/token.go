package evm

import (
	"strings"

	"ace/internal/protocol/x402"
)

// Token is a stablecoin whose holders can sign transfers (EIP-3009).
type Token struct {
	Network, Asset string
	Name, Version  string // of its EIP-712 domain; they differ between chains
	Symbol         string
	Decimals       int
}

// DevNetwork is the network of the sandbox's ledger: the chain id of local chains, whose tokens
// have no value.
const DevNetwork = "eip155:31337"

// tokens are those of https://developers.circle.com/stablecoins/usdc-contract-addresses
// that x402 facilitators settle, and the sandbox's.
var tokens = []Token{
	{DevNetwork, "0xDE00000000000000000000000000000000000402", "Dev USD", "1", "Dev USD", 6},
	{"eip155:8453", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin", "2", "USDC", 6},
	{"eip155:84532", "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC", "2", "USDC", 6},
	{"eip155:1", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "USD Coin", "2", "USDC", 6},
	{"eip155:137", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", "USD Coin", "2", "USDC", 6},
	{"eip155:42161", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831", "USD Coin", "2", "USDC", 6},
}

// TokenOf returns the default token of a network; ok is false for unknown networks.
func TokenOf(network string) (t Token, ok bool) {
	for _, t := range tokens {
		if t.Network == network {
			return t, true
		}
	}
	return Token{}, false
}

// DevToken returns the token of the sandbox's ledger.
func DevToken() Token {
	t, _ := TokenOf(DevNetwork)
	return t
}

// Is reports whether the terms use this token with its own domain.
func (t Token) Is(terms x402.PaymentRequirements) bool {
	name, version := terms.Domain()
	return t.Network == terms.Network && strings.EqualFold(t.Asset, terms.Asset) && t.Name == name &&
		t.Version == version
}

// Terms returns the requirements of a payment of amount atomic units to an address, valid for the
// given number of seconds.
func (t Token) Terms(amount, payTo string, seconds int) x402.PaymentRequirements {
	return x402.PaymentRequirements{
		Scheme: x402.SchemeExact, Network: t.Network, Amount: amount, Asset: t.Asset, PayTo: payTo,
		MaxTimeoutSeconds: seconds,
		Extra:             map[string]any{"name": t.Name, "version": t.Version},
	}
}
