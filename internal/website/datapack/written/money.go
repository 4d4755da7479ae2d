package written

import (
	"regexp"
	"strconv"
	"strings"
)

// Amount is a price as a page writes it.
type Amount struct {
	Value    string // "1249.00"
	Currency string // ISO 4217; empty: the sign stands for several
	Sign     string // as written: "$"
	From     bool   // "from £24": the least of several
	Spread   bool   // "£24 - £30": a range
}

// signs are the currency signs that mean one currency alone.
var signs = map[string]string{
	"€": "EUR", "£": "GBP", "US$": "USD", "CA$": "CAD", "C$": "CAD", "A$": "AUD", "AU$": "AUD", "NZ$": "NZD",
	"HK$": "HKD", "S$": "SGD", "R$": "BRL", "₹": "INR", "₩": "KRW",
	"₺": "TRY", "₽": "RUB", "₪": "ILS", "₴": "UAH", "zł": "PLN", "Kč": "CZK", "฿": "THB", "₫": "VND", "₱": "PHP",
	"Fr.": "CHF", "Ft": "HUF", "лв": "BGN",
}

// doubtful signs are used by several currencies; the region of the page's
// language may decide.
var doubtful = map[string]map[string]string{
	"$":  {"US": "USD", "CA": "CAD", "AU": "AUD", "NZ": "NZD", "MX": "MXN", "SG": "SGD", "HK": "HKD"},
	"¥":  {"JP": "JPY", "CN": "CNY"},
	"kr": {"SE": "SEK", "NO": "NOK", "DK": "DKK", "IS": "ISK"},
}

// allCodes are the currencies that are read by their code.
const allCodes = "USD|EUR|GBP|CHF|CAD|AUD|NZD|JPY|CNY|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|ISK|TRY|INR|KRW|SGD|HKD|TWD" +
	"|THB|MYR|IDR|PHP|VND|BRL|MXN|ARS|CLP|COP|PEN|ZAR|ILS|AED|SAR|UAH|EGP|NGN|KES|RUB"

const (
	signPattern   = `US\$|CA\$|AU\$|NZ\$|HK\$|C\$|A\$|S\$|R\$|€|£|\$|¥|₹|₩|₺|₽|₪|₴|฿|₫|₱|zł|Kč|Fr\.|Ft|лв|kr\.?`
	numberPattern = `\d{1,3}(?:[.,'’ \x{00a0}\x{202f}]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?`
)

var (
	pricePattern = regexp.MustCompile(`(?:(` + signPattern + `|\b(?:` + allCodes + `)\b)[\s\x{00a0}]?(` +
		numberPattern + `)(?:,-|\.-)?)|(?:(` + numberPattern + `)(?:,-|\.-)?[\s\x{00a0}]?(` + signPattern + `|\b(?:` +
		allCodes + `)\b))`)
	fromWords   = regexp.MustCompile(`(?i)\b(from|starting at|as low as|ab|à partir de|desde|da|vanaf)\s*$`)
	spreadWords = regexp.MustCompile(`^\s*(-|–|—|to|bis)\s*(?:` + signPattern + `)?\s*\d`)
)

// Amounts finds the prices that a text names.
func Amounts(text string) []Amount {
	var all []Amount
	for _, m := range pricePattern.FindAllStringSubmatchIndex(text, 50) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		sign, number := group(1), group(2)
		if sign == "" {
			sign, number = group(4), group(3)
		}
		if m[0] > 0 && (text[m[0]-1] >= '0' && text[m[0]-1] <= '9' || text[m[0]-1] == '.') {
			continue // the tail of another number
		}
		value := Number(number)
		if value == "" {
			continue
		}
		a := Amount{Value: value, Sign: sign}
		switch {
		case len(sign) == 3 && strings.Contains(allCodes, sign):
			a.Currency = sign
		default:
			a.Currency = signs[sign]
		}
		a.From = fromWords.MatchString(text[:m[0]])
		a.Spread = spreadWords.MatchString(text[m[1]:])
		all = append(all, a)
	}
	return all
}

// Number writes a number with a point and without marks between
// thousands: "1.249,00" and "1,249.00" are 1249.00.
func Number(s string) string {
	s = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "'", "", "’", "").Replace(s)
	last := strings.LastIndexAny(s, ".,")
	if last >= 0 && len(s)-last-1 == 3 { // a mark before three digits parts thousands
		s = strings.NewReplacer(".", "", ",", "").Replace(s)
		last = -1
	}
	if last >= 0 {
		s = strings.NewReplacer(".", "", ",", "").Replace(s[:last]) + "." + s[last+1:]
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return ""
	}
	return s
}

// Settle finds the currency of a sign that several use: the region of the
// page's language decides. It returns empty where that says nothing.
func Settle(sign, lang string) string {
	_, region, ok := strings.Cut(lang, "-")
	if !ok {
		return ""
	}
	return doubtful[strings.TrimSuffix(sign, ".")][strings.ToUpper(region)]
}

// Same reports whether two numbers are the same: 49 and 49.00.
func Same(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && x == y
}
