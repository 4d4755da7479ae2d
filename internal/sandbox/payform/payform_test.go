package payform

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

var monday = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func TestCardCheck(t *testing.T) {
	t.Parallel()
	good := Card{Number: "4242 4242 4242 4242", Expiry: "12/26", CVC: "123"}
	tests := []struct {
		name   string
		change func(*Card)
		field  string // at fault; empty: none
	}{
		{"good", func(*Card) {}, ""},
		{"dashes", func(c *Card) { c.Number = "4242-4242-4242-4242" }, ""},
		{"expires this month", func(c *Card) { c.Expiry = "11 / 26" }, ""},
		{"expired last month", func(c *Card) { c.Expiry = "10/26" }, FieldCardExpiry},
		{"four digits", func(c *Card) { c.Expiry = "1226" }, ""},
		{"long year", func(c *Card) { c.Expiry = "12/2026" }, ""},
		{"thirteenth month", func(c *Card) { c.Expiry = "13/30" }, FieldCardExpiry},
		{"month zero", func(c *Card) { c.Expiry = "00/30" }, FieldCardExpiry},
		{"year of three digits", func(c *Card) { c.Expiry = "12/202" }, FieldCardExpiry},
		{"words", func(c *Card) { c.Expiry = "soon" }, FieldCardExpiry},
		{"far ahead", func(c *Card) { c.Expiry = "12/99" }, FieldCardExpiry},
		{"no number", func(c *Card) { c.Number = " " }, FieldCardNumber},
		{"one digit wrong", func(c *Card) { c.Number = "4242424242424241" }, FieldCardNumber},
		{"letters", func(c *Card) { c.Number = "4242424242424x42" }, FieldCardNumber},
		{"too short", func(c *Card) { c.Number = "42424242424" }, FieldCardNumber},
		{"too long", func(c *Card) { c.Number = strings.Repeat("0", 20) }, FieldCardNumber},
		{"other digits", func(c *Card) { c.Number = "४२४२४२४२४२४२४२४२" }, FieldCardNumber},
		{"no code", func(c *Card) { c.CVC = "" }, FieldCardCVC},
		{"short code", func(c *Card) { c.CVC = "12" }, FieldCardCVC},
		{"code of letters", func(c *Card) { c.CVC = "12a" }, FieldCardCVC},
		{"amex code", func(c *Card) { c.Number, c.CVC = "378282246310005", "1234" }, ""},
		{"amex with three", func(c *Card) { c.Number = "378282246310005" }, FieldCardCVC},
	}
	for _, tt := range tests {
		c := good
		tt.change(&c)
		got := c.check(monday)
		if tt.field == "" && len(got) > 0 || tt.field != "" && (len(got) != 1 || got[0].Field != tt.field) {
			t.Errorf("%s: faults = %v, want one of %q", tt.name, got, tt.field)
		}
	}
}

func TestTestCards(t *testing.T) {
	t.Parallel()
	for number := range testCards() {
		if !luhn(number) {
			t.Errorf("test number %s has a wrong check digit", number)
		}
	}
	for _, c := range TestCards() {
		if _, ok := testCards()[digits(c.Number)]; !ok {
			t.Errorf("the page names %s, which is no test number", c.Number)
		}
	}
	real := Card{Number: "4111111111111111", Expiry: "12/30", CVC: "123"}
	says, kept := real.Check()
	if says.DeclineCode != "test_mode_live_card" || kept.Card.Last4 != "" {
		t.Errorf("a number outside the list = %+v, kept %+v; want it declined and nothing kept", says, kept.Card)
	}
}

func TestCardIsNotPrinted(t *testing.T) {
	t.Parallel()
	c := Card{Number: "4242424242424242", Expiry: "12/30", CVC: "987"}
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "card", c, "form", fmt.Sprintf("%v %+v %#v %s", c, c, c, c))
	if strings.Contains(b.String(), "4242") || strings.Contains(b.String(), "987") {
		t.Errorf("a card was printed: %s", b.String())
	}
}

func TestValidEmail(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"ada@example.com": true, "a.b+c@sub.example.co": true, "ada": false, "ada@host": false,
		"Ada <ada@example.com>": false,
		"ada@example.com ":      false, "ada@.com": false, "a@b.c\nd": false, "": false,
	}
	for in, want := range tests {
		if got := ValidEmail(in); got != want {
			t.Errorf("ValidEmail(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestCountries(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range Countries() {
		if !KnownCountry(c.Code) || c.Name == "" || seen[c.Code] {
			t.Errorf("country %+v is unknown, nameless or twice in the list", c)
		}
		seen[c.Code] = true
	}
	for _, code := range []string{"", "us", "XX", "U", "US "} {
		if KnownCountry(code) {
			t.Errorf("knownCountry(%q) = true", code)
		}
	}
}

func TestPostalCode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		country, code string
		want          bool
	}{
		{"US", "94107", true},
		{"US", "94107-1234", true},
		{"US", "9410", false},
		{"DE", "10117", true},
		{"DE", "1011", false},
		{"GB", "SW1A 1AA", true},
		{"GB", "", false},
		{"HK", "", true},
		{"JP", "100-0001", true},
		{"FR", "<script>", false},
		{"", "", false},
	}
	for _, tt := range tests {
		if got := postalCode(tt.country, tt.code); got != tt.want {
			t.Errorf("postalCode(%q, %q) = %v, want %v", tt.country, tt.code, got, tt.want)
		}
	}
}
