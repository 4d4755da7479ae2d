package evm

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"ace/internal/protocol/x402"
)

// signatureSize is the length of an account's signature: r, s and v.
const signatureSize = 65

var errSignature = errors.New(
	"the signature is not an account signature: 65 bytes, s in the lower half, v 0, 1, 27 or 28",
)

// Recover returns the address whose key created an account signature (r, s, v). Like token
// contracts, it refuses the malleable form with s in the upper half.
func Recover(digest Hash, signature []byte) (Address, error) {
	if len(signature) != signatureSize {
		return Address{}, errSignature
	}
	v := signature[64]
	if v < 27 {
		v += 27
	}
	var s secp256k1.ModNScalar
	if overflow := s.SetByteSlice(signature[32:64]); overflow || s.IsOverHalfOrder() || v != 27 && v != 28 ||
		signature[64] > 1 && signature[64] < 27 {
		return Address{}, errSignature
	}
	var compact [signatureSize]byte
	compact[0] = v
	copy(compact[1:], signature[:64])
	public, _, err := ecdsa.RecoverCompact(compact[:], digest[:])
	if err != nil {
		return Address{}, errSignature
	}
	return addressOf(public), nil
}

func addressOf(public *secp256k1.PublicKey) (a Address) {
	sum := Keccak(public.SerializeUncompressed()[1:])
	copy(a[:], sum[12:])
	return a
}

// Key is the private key of an account. Formatting never shows it.
type Key struct{ private *secp256k1.PrivateKey }

// NewKey creates a random key.
func NewKey() (Key, error) {
	private, err := secp256k1.GeneratePrivateKeyFromRand(rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("creating a key: %w", err)
	}
	return Key{private}, nil
}

// ParseKey parses a key: 64 hex digits, with or without 0x.
func ParseKey(text string) (Key, error) {
	data, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(text), "0x"))
	var scalar secp256k1.ModNScalar
	if err != nil || len(data) != 32 || scalar.SetByteSlice(data) || scalar.IsZero() {
		return Key{}, errors.New("a private key must have 64 hex digits and be smaller than the order of the curve")
	}
	return Key{secp256k1.NewPrivateKey(&scalar)}, nil
}

// Secret returns the key as 0x and 64 hex digits, to be written to its file only.
func (k Key) Secret() string { return "0x" + hex.EncodeToString(k.private.Serialize()) }

// String describes the account, not the key.
func (k Key) String() string { return "key of " + k.Address().String() }

// Format prints String for every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.String())) }

// LogValue keeps the key out of logs.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// Address returns the account of the key.
func (k Key) Address() Address { return addressOf(k.private.PubKey()) }

// Sign signs a digest: r, s in the lower half, v 27 or 28.
func (k Key) Sign(digest Hash) []byte {
	compact := ecdsa.SignCompact(k.private, digest[:], false)
	return append(compact[1:], compact[0])
}

// Pay signs a payment of terms, valid from now for the requested time. The nonce is random: two
// payments of one quote are different payments.
func (k Key) Pay(terms x402.PaymentRequirements, resource *x402.ResourceInfo,
	now time.Time,
) (*x402.PaymentPayload, error) {
	var nonce Hash
	_, _ = rand.Read(nonce[:]) // never fails
	return k.Authorize(terms, resource, x402.Authorization{
		From: k.Address().String(), To: terms.PayTo, Value: terms.Amount, ValidAfter: "0",
		ValidBefore: strconv.FormatInt(now.Unix()+int64(terms.MaxTimeoutSeconds), 10), Nonce: nonce.String(),
	})
}

// Authorize signs an authorization unchanged, for the token of the terms.
func (k Key) Authorize(terms x402.PaymentRequirements, resource *x402.ResourceInfo,
	a x402.Authorization,
) (*x402.PaymentPayload, error) {
	domain, err := DomainOf(terms)
	if err != nil {
		return nil, fmt.Errorf("signing a payment: %w", err)
	}
	digest, err := domain.Digest(a)
	if err != nil {
		return nil, fmt.Errorf("signing a payment: %w", err)
	}
	return &x402.PaymentPayload{
		Resource: resource, Accepted: terms, Authorization: a, Signature: "0x" + hex.EncodeToString(k.Sign(digest)),
	}, nil
}
