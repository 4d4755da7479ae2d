package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"
)

// Shape of a key: ^ace_[0-9A-Za-z]{36}$. The checksum lets scanners for lost
// secrets, and us, distinguish a key from a look-alike without a request.
const (
	keyPrefix    = "ace_"
	randomLength = 30 // 178 bits
	sumLength    = 6
	alphabet     = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// newSecret creates a key.
func newSecret() string {
	var b strings.Builder
	b.WriteString(keyPrefix)
	for range randomLength {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			panic(err) // crypto/rand does not fail
		}
		b.WriteByte(alphabet[n.Int64()])
	}
	return b.String() + checksum(b.String())
}

// Derive returns the secret that follows from a seed of at least 32 random bytes,
// always the same.
func Derive(seed []byte) string {
	sum := sha256.Sum256(seed)
	n, base, digit := new(big.Int).SetBytes(sum[:]), big.NewInt(int64(len(alphabet))), new(big.Int)
	var b strings.Builder
	b.WriteString(keyPrefix)
	for range randomLength {
		n.DivMod(n, base, digit)
		b.WriteByte(alphabet[digit.Int64()])
	}
	return b.String() + checksum(b.String())
}

// Digest is what a secret is stored as. mac is the one of New.
func Digest(mac func(label string, parts ...[]byte) string, secret string) string {
	return mac("api key", []byte(secret))
}

// checksum is CRC-32 (IEEE) of text, in base 62.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	digits := make([]byte, sumLength)
	for i := range digits {
		digits[sumLength-1-i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return string(digits)
}

// WellFormed reports whether text has the shape of a key and a right checksum.
// It says nothing about whether there is such a key.
func WellFormed(text string) bool {
	const length = len(keyPrefix) + randomLength + sumLength
	if len(text) != length || !strings.HasPrefix(text, keyPrefix) {
		return false
	}
	for _, c := range []byte(text[len(keyPrefix):]) {
		if strings.IndexByte(alphabet, c) < 0 {
			return false
		}
	}
	return checksum(text[:length-sumLength]) == text[length-sumLength:]
}
