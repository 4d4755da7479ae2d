package written

import (
	"regexp"
	"strings"
)

// Address is a postal address as far as it could be taken apart.
type Address struct {
	Whole                               string
	Street, Code, City, Region, Country string // empty: not sure
}

// Forms of addresses whose parts are sure. Everything else stays one text.
var (
	ukAddress = regexp.MustCompile(
		`^(\d+[A-Za-z]?(?:-\d+)? [\p{L}'’. -]+),\s*([\p{L}'’ -]+?),?(?:\s*[\p{L} ]+,)?\s+([A-Z]{1,` +
			`2}\d[A-Z\d]? \d[A-Z]{2})\b`,
	)
	usAddress = regexp.MustCompile(
		`^(\d+ [\p{L}\d'’.# -]+?(?:, (?:Suite|Ste|Apt|Unit|Floor)\.? ?[\w-]+)?),\s*([\p{L}'’. -]+),` +
			`\s*([A-Z]{2})\s+(\d{5}(?:-\d{4})?)\b`,
	)
	deAddress = regexp.MustCompile(
		`^([\p{L}'’. -]+? \d+\s?[a-zA-Z]?(?:\s?[-/]\s?\d+\s?[a-zA-Z]?)?),?\s+(?:D-|A-|CH-)?(\d{4,` +
			`5})\s+([\p{L}'’ ./()-]{2,40}?)$`,
	)
	roadWords = regexp.MustCompile(
		`(?i)\b(street|st\.?|road|rd\.?|lane|avenue|ave\.?|drive|way|square|place|boulevard|blvd|court|close|mews` +
			`|terrace|hill|quay|row|straße|strasse|str\.|weg|platz|allee|gasse|rue|place|calle|via|plaza|straat)\b`,
	)
)

// ParseAddress reads an address. ok is false for what is none; without parts
// it is one text.
func ParseAddress(text string) (a Address, ok bool) {
	text = strings.Trim(strings.Join(strings.Fields(text), " "), " ,.")
	a.Whole = text
	if m := ukAddress.FindStringSubmatch(text); m != nil {
		a.Street, a.City, a.Code, a.Country = m[1], strings.TrimSpace(m[2]), m[3], "GB"
		return a, true
	}
	if m := usAddress.FindStringSubmatch(text); m != nil {
		a.Street, a.City, a.Region, a.Code, a.Country = m[1], m[2], m[3], m[4], "US"
		return a, true
	}
	if m := deAddress.FindStringSubmatch(text); m != nil {
		a.Street, a.Code, a.City = m[1], m[2], m[3]
		return a, true
	}
	digits := strings.ContainsAny(text, "0123456789")
	return a, digits && roadWords.MatchString(text) && strings.Contains(text, ",") && len(text) <= 160
}
