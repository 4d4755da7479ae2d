package generate

import (
	"regexp"
	"strconv"
	"strings"
)

// amount is a price as a page writes it.
type amount struct {
	value    string // "1249.00"
	currency string // ISO 4217; empty: the sign stands for several
	sign     string // as written: "$"
	from     bool   // "from £24": the least of several
	spread   bool   // "£24 - £30": a range
}

// signs are the currency signs that mean one currency alone.
var signs = map[string]string{
	"€": "EUR", "£": "GBP", "US$": "USD", "CA$": "CAD", "C$": "CAD", "A$": "AUD", "AU$": "AUD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD", "R$": "BRL", "₹": "INR", "₩": "KRW",
	"₺": "TRY", "₽": "RUB", "₪": "ILS", "₴": "UAH", "zł": "PLN", "Kč": "CZK", "฿": "THB", "₫": "VND", "₱": "PHP", "Fr.": "CHF", "Ft": "HUF", "лв": "BGN",
}

// doubtful signs are used by several currencies; the region of the page's
// language may decide.
var doubtful = map[string]map[string]string{
	"$":  {"US": "USD", "CA": "CAD", "AU": "AUD", "NZ": "NZD", "MX": "MXN", "SG": "SGD", "HK": "HKD"},
	"¥":  {"JP": "JPY", "CN": "CNY"},
	"kr": {"SE": "SEK", "NO": "NOK", "DK": "DKK", "IS": "ISK"},
}

// allCodes are the currencies that are read by their code.
const allCodes = "USD|EUR|GBP|CHF|CAD|AUD|NZD|JPY|CNY|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|ISK|TRY|INR|KRW|SGD|HKD|TWD|THB|MYR|IDR|PHP|VND|BRL|MXN|ARS|CLP|COP|PEN|ZAR|ILS|AED|SAR|UAH|EGP|NGN|KES|RUB"

const (
	signPattern   = `US\$|CA\$|AU\$|NZ\$|HK\$|C\$|A\$|S\$|R\$|€|£|\$|¥|₹|₩|₺|₽|₪|₴|฿|₫|₱|zł|Kč|Fr\.|Ft|лв|kr\.?`
	numberPattern = `\d{1,3}(?:[.,'’ \x{00a0}\x{202f}]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?`
)

var (
	pricePattern = regexp.MustCompile(`(?:(` + signPattern + `|\b(?:` + allCodes + `)\b)[\s\x{00a0}]?(` + numberPattern + `)(?:,-|\.-)?)|(?:(` + numberPattern + `)(?:,-|\.-)?[\s\x{00a0}]?(` + signPattern + `|\b(?:` + allCodes + `)\b))`)
	fromWords    = regexp.MustCompile(`(?i)\b(from|starting at|as low as|ab|à partir de|desde|da|vanaf)\s*$`)
	spreadWords  = regexp.MustCompile(`^\s*(-|–|—|to|bis)\s*(?:` + signPattern + `)?\s*\d`)
)

// amounts finds the prices that a text names.
func amounts(text string) []amount {
	var all []amount
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
		value := plainNumber(number)
		if value == "" {
			continue
		}
		a := amount{value: value, sign: sign}
		switch {
		case len(sign) == 3 && strings.Contains(allCodes, sign):
			a.currency = sign
		default:
			a.currency = signs[sign]
		}
		a.from = fromWords.MatchString(text[:m[0]])
		a.spread = spreadWords.MatchString(text[m[1]:])
		all = append(all, a)
	}
	return all
}

// plainNumber writes a number with a point and without marks between
// thousands: "1.249,00" and "1,249.00" are 1249.00.
func plainNumber(s string) string {
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

// settle finds the currency of a sign that several use: the region of the
// page's language decides. It answers empty where that says nothing.
func settle(sign, lang string) string {
	_, region, ok := strings.Cut(lang, "-")
	if !ok {
		return ""
	}
	return doubtful[strings.TrimSuffix(sign, ".")][strings.ToUpper(region)]
}
