// Package money holds amounts in the minor unit of their currency.
//
// The exponent (how many decimals a currency has) is the one of ISO 4217
// (https://www.six-group.com/en/products-services/financial-information/data-standards.html):
// JPY has none, KWD has three, four currencies have four, all others two. A
// processor that counts otherwise is translated in its adapter, never here.
package money

import (
	"strconv"
	"strings"
)

// Amount is a number of minor units of a currency.
type Amount struct {
	Minor    int64  // 1900 is USD 19.00 and JPY 1900
	Currency string // ISO 4217, upper case
}

var exponents = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0,
	"UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"CLF": 4, "UYW": 4,
}

// Exponent is the number of decimals of a currency (upper case).
func Exponent(currency string) int {
	if e, ok := exponents[currency]; ok {
		return e
	}
	return 2
}

// ValidCurrency reports whether s looks like an ISO 4217 code in upper case.
func ValidCurrency(s string) bool {
	if len(s) != 3 {
		return false
	}
	for _, c := range []byte(s) {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

// Decimal is the amount as a plain decimal number: "19.00", "1900", "-0.005".
func (a Amount) Decimal() string {
	exponent := Exponent(a.Currency)
	digits := strconv.FormatInt(a.Minor, 10)
	digits, negative := strings.CutPrefix(digits, "-")
	if exponent > 0 {
		if missing := exponent + 1 - len(digits); missing > 0 {
			digits = strings.Repeat("0", missing) + digits
		}
		point := len(digits) - exponent
		digits = digits[:point] + "." + digits[point:]
	}
	if negative {
		return "-" + digits
	}
	return digits
}

// String is the amount for people and models: "USD 19.00".
func (a Amount) String() string { return a.Currency + " " + a.Decimal() }

// Times is n times the amount; ok is false where the product does not fit.
func (a Amount) Times(n int64) (product Amount, ok bool) {
	minor := a.Minor * n
	if n != 0 && (minor/n != a.Minor || (n == -1 && minor == a.Minor && minor != 0)) {
		return Amount{}, false
	}
	return Amount{Minor: minor, Currency: a.Currency}, true
}
