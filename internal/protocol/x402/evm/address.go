package evm

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/sha3"
)

// Hash is a Keccak-256 hash.
type Hash [32]byte

// String returns the hash as 0x and 64 hex digits.
func (h Hash) String() string { return "0x" + hex.EncodeToString(h[:]) }

// Keccak returns the Keccak-256 hash of the concatenated parts. It is the hash of Ethereum, which
// differs from SHA3-256 in its padding.
func Keccak(parts ...[]byte) (sum Hash) {
	h := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		_, _ = h.Write(p) // never fails
	}
	h.Sum(sum[:0])
	return sum
}

// Address is an account or a contract.
type Address [20]byte

// ParseAddress parses 0x and 40 hex digits. Mixed-case digits must have a valid EIP-55 checksum;
// single-case digits have none.
func ParseAddress(text string) (a Address, err error) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok || len(digits) != 40 {
		return Address{}, fmt.Errorf("%q is not an address: use 0x and 40 hex digits", text)
	}
	if _, err := hex.Decode(a[:], []byte(digits)); err != nil {
		return Address{}, fmt.Errorf("%q is not an address: use 0x and 40 hex digits", text)
	}
	mixed := strings.ToLower(digits) != digits && strings.ToUpper(digits) != digits
	if mixed && a.String() != text {
		return Address{}, fmt.Errorf("the address %q has a typo: its checksum is wrong", text)
	}
	return a, nil
}

// readAddress parses an address whose checksum does not matter: a payer's, or one that is compared
// with another.
func readAddress(text string) (Address, bool) {
	a, err := ParseAddress(strings.ToLower(text))
	return a, err == nil
}

// String returns the address with its EIP-55 checksum.
func (a Address) String() string {
	text := []byte(hex.EncodeToString(a[:]))
	sum := Keccak(text)
	for i, c := range text {
		if half := sum[i/2] >> (4 * (1 - i%2)) & 0xf; c >= 'a' && half >= 8 {
			text[i] = c - 'a' + 'A'
		}
	}
	return "0x" + string(text)
}

// IsZero reports whether this is the zero address.
func (a Address) IsZero() bool { return a == Address{} }

// ChainID returns the number of a chain from its CAIP-2 name: 8453 for eip155:8453.
func ChainID(network string) (uint64, error) {
	digits, ok := strings.CutPrefix(network, "eip155:")
	id, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || id == 0 || digits[0] == '0' {
		return 0, fmt.Errorf("%q is not a supported chain: use a name such as eip155:8453", network)
	}
	return id, nil
}
