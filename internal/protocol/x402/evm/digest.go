package evm

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"ace/internal/protocol/x402"
)

// The types whose hashes prefix the signed data.
const (
	domainType   = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
	transferType = "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 " +
		"validBefore,bytes32 nonce)"
)

// Domain is the EIP-712 domain of a token: a signature is valid only for it.
type Domain struct {
	Name, Version string
	ChainID       uint64
	Contract      Address
}

// DomainOf returns the domain of the terms.
func DomainOf(terms x402.PaymentRequirements) (Domain, error) {
	var d Domain
	var err error
	if d.Name, d.Version = terms.Domain(); d.Name == "" || d.Version == "" {
		return d, errors.New("the terms have no EIP-712 domain: extra.name and extra.version")
	}
	if d.ChainID, err = ChainID(terms.Network); err != nil {
		return d, err
	}
	contract, ok := readAddress(terms.Asset)
	if !ok {
		return d, fmt.Errorf("the token %q is not an address", terms.Asset)
	}
	d.Contract = contract
	return d, nil
}

// Separator returns the hash of the domain, which equals the token's DOMAIN_SEPARATOR.
func (d Domain) Separator() Hash {
	kind, name, version := Keccak([]byte(domainType)), Keccak([]byte(d.Name)), Keccak([]byte(d.Version))
	var chain Hash
	binary.BigEndian.PutUint64(chain[24:], d.ChainID)
	contract := d.Contract.word()
	return Keccak(kind[:], name[:], version[:], chain[:], contract[:])
}

// word returns the address as a word of 32 bytes.
func (a Address) word() (w Hash) {
	copy(w[12:], a[:])
	return w
}

// number parses digits as a word.
func number(text string) (w Hash, err error) {
	n, err := x402.ParseAmount(text)
	if err != nil {
		return w, err
	}
	n.FillBytes(w[:])
	return w, nil
}

// Digest returns the hash that the payer of an authorization signs, for the domain of a token.
func (d Domain) Digest(a x402.Authorization) (Hash, error) {
	from, okFrom := readAddress(a.From)
	to, okTo := readAddress(a.To)
	nonce, errNonce := hex.DecodeString(strings.TrimPrefix(a.Nonce, "0x"))
	if !okFrom || !okTo || errNonce != nil || len(nonce) != len(Hash{}) {
		return Hash{}, errors.New("the authorization has an address or a nonce that cannot be parsed")
	}
	var words [3]Hash
	for i, text := range []string{a.Value, a.ValidAfter, a.ValidBefore} {
		w, err := number(text)
		if err != nil {
			return Hash{}, err
		}
		words[i] = w
	}
	kind, fromWord, toWord := Keccak([]byte(transferType)), from.word(), to.word()
	message := Keccak(kind[:], fromWord[:], toWord[:], words[0][:], words[1][:], words[2][:], nonce)
	separator := d.Separator()
	return Keccak([]byte{0x19, 0x01}, separator[:], message[:]), nil
}
