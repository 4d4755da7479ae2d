package x402

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// maxBits limits every number of the protocol.
const maxBits = 256

var errAmount = errors.New("an amount must be decimal digits, without sign or leading zeros, below 2^256")

// ParseAmount parses a number of the protocol: decimal digits, no sign, no leading zeros, below
// 2^256.
func ParseAmount(text string) (*big.Int, error) {
	if text == "" || len(text) > 78 || text[0] == '0' && text != "0" {
		return nil, errAmount
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return nil, errAmount
		}
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || n.BitLen() > maxBits {
		return nil, errAmount
	}
	return n, nil
}

// maxDecimals limits the decimals of a token; common ones have 6 or 18.
const maxDecimals = 36

// ParseUnits converts a price such as "0.10" to atomic units of a token with that many decimals,
// "100000" for six.
func ParseUnits(price string, decimals int) (string, error) {
	whole, fraction, _ := strings.Cut(price, ".")
	if decimals < 0 || decimals > maxDecimals || len(fraction) > decimals || strings.HasSuffix(price, ".") {
		return "", fmt.Errorf("a price needs digits and at most %d decimals, for example 0.10; got %q", decimals,
			price)
	}
	digits := whole + fraction + strings.Repeat("0", decimals-len(fraction))
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		digits = "0"
	}
	if _, err := ParseAmount(digits); err != nil || whole == "" {
		return "", fmt.Errorf("a price needs digits and at most %d decimals, for example 0.10; got %q", decimals,
			price)
	}
	return digits, nil
}

// FormatUnits formats atomic units of a token for display, with at least two decimals: "100000"
// with six decimals is "0.10". A string that is not an amount is returned unchanged.
func FormatUnits(amount string, decimals int) string {
	if _, err := ParseAmount(amount); err != nil || decimals <= 0 || decimals > maxDecimals {
		return amount
	}
	if short := decimals + 1 - len(amount); short > 0 {
		amount = strings.Repeat("0", short) + amount
	}
	whole, fraction := amount[:len(amount)-decimals], strings.TrimRight(amount[len(amount)-decimals:], "0")
	if short := min(2, decimals) - len(fraction); short > 0 {
		fraction += strings.Repeat("0", short)
	}
	return whole + "." + fraction
}

// The formats of the protocol's strings.
var (
	addressShape = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
	wordShape    = regexp.MustCompile(`^0x[0-9a-fA-F]{64}$`)
	hexShape     = regexp.MustCompile(`^0x(?:[0-9a-fA-F]{2})+$`)
	networkShape = regexp.MustCompile(`^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$`)
	bareShape    = regexp.MustCompile(`^0x[0-9a-fA-F]{40,}$`)
	labelShape   = regexp.MustCompile(`^[ -~]{1,32}$`)
)
