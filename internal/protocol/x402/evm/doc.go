// Package evm implements x402 payments on Ethereum-like chains, without a chain connection:
// addresses, the digest that a payer signs, and the signature.
//
//	EIP-55    checksums of addresses   https://eips.ethereum.org/EIPS/eip-55
//	EIP-712   typed data               https://eips.ethereum.org/EIPS/eip-712
//	EIP-3009  signed transfers         https://eips.ethereum.org/EIPS/eip-3009
//	CAIP-2    names of chains          https://chainagnostic.org/CAIPs/caip-2
//
//	payee:  Check    terms, amounts and times of a payment -> reason, or ""
//	        Signed   the payer's own key signed
//	payer:  Key.Pay  terms -> a signed payment
//
// A payment that is not Signed is not necessarily invalid: the payer may be a contract wallet,
// whose signature only the chain can verify.
package evm
