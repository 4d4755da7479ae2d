package payments

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
	says, kept := real.judge()
	if says.declineCode != "test_mode_live_card" || kept.Card.Last4 != "" {
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

func TestDisplay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		amount   int64
		currency string
		want     string
	}{
		{1900, "usd", "USD 19.00"},
		{5, "usd", "USD 0.05"},
		{0, "eur", "EUR 0.00"},
		{-1234, "eur", "EUR -12.34"},
		{4200, "jpy", "JPY 4200"},
		{1230, "kwd", "KWD 1.230"},
		{50000, "isk", "ISK 500"},
		{50000, "ugx", "UGX 500"},
		{5, "kwd", "KWD 0.005"},
	}
	for _, tt := range tests {
		if got := Display(tt.amount, tt.currency); got != tt.want {
			t.Errorf("Display(%d, %s) = %q, want %q", tt.amount, tt.currency, got, tt.want)
		}
	}
}

func TestLineAmounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                 string
		price                Price
		quantity             int64
		taxed                bool
		subtotal, tax, total int64
	}{
		{"untaxed", Price{Amount: 999, Currency: "usd"}, 3, false, 2997, 0, 2997},
		{"added, rounded half up", Price{Amount: 1905, Currency: "usd", TaxBehavior: "exclusive"}, 1, true, 1905, 191, 2096},
		{"unspecified is added", Price{Amount: 1000, Currency: "usd", TaxBehavior: "unspecified"}, 1, true, 1000, 100, 1100},
		{"contained", Price{Amount: 1100, Currency: "usd", TaxBehavior: "inclusive"}, 1, true, 1100, 100, 1100},
		{"no decimals", Price{Amount: 4200, Currency: "jpy", TaxBehavior: "exclusive"}, 1, true, 4200, 420, 4620},
		{"multiples of ten", Price{Amount: 1230, Currency: "kwd", TaxBehavior: "exclusive"}, 1, true, 1230, 120, 1350},
		{"multiples of a hundred", Price{Amount: 50500, Currency: "isk", TaxBehavior: "exclusive"}, 1, true, 50500, 5100, 55600},
	}
	for _, tt := range tests {
		subtotal, tax, total := lineAmounts(&tt.price, tt.quantity, tt.taxed)
		if subtotal != tt.subtotal || tax != tt.tax || total != tt.total {
			t.Errorf("%s: lineAmounts = %d, %d, %d, want %d, %d, %d", tt.name, subtotal, tax, total, tt.subtotal, tt.tax, tt.total)
		}
		if checkAmount("x", tt.price.Currency, total) != nil {
			t.Errorf("%s: the total %d cannot be charged in %s", tt.name, total, tt.price.Currency)
		}
	}
}

func TestNextPeriod(t *testing.T) {
	t.Parallel()
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 9, 30, 0, 0, time.UTC) }
	tests := []struct {
		name         string
		anchor, from time.Time
		r            Recurring
		want         time.Time
	}{
		{"day", day(2026, 2, 28), day(2026, 2, 28), Recurring{Interval: "day", IntervalCount: 3}, day(2026, 3, 3)},
		{"week", day(2026, 12, 28), day(2026, 12, 28), Recurring{Interval: "week", IntervalCount: 1}, day(2027, 1, 4)},
		{"month", day(2026, 1, 15), day(2026, 1, 15), Recurring{Interval: "month", IntervalCount: 1}, day(2026, 2, 15)},
		{"into a short month", day(2026, 1, 31), day(2026, 1, 31), Recurring{Interval: "month", IntervalCount: 1}, day(2026, 2, 28)},
		{"out of a short month", day(2026, 1, 31), day(2026, 2, 28), Recurring{Interval: "month", IntervalCount: 1}, day(2026, 3, 31)},
		{"over the year", day(2026, 11, 30), day(2026, 11, 30), Recurring{Interval: "month", IntervalCount: 3}, day(2027, 2, 28)},
		{"leap day", day(2028, 2, 29), day(2028, 2, 29), Recurring{Interval: "year", IntervalCount: 1}, day(2029, 2, 28)},
		{"back to the leap day", day(2028, 2, 29), day(2031, 2, 28), Recurring{Interval: "year", IntervalCount: 1}, day(2032, 2, 29)},
	}
	for _, tt := range tests {
		if got := nextPeriod(tt.anchor, tt.from, &tt.r); !got.Equal(tt.want) {
			t.Errorf("%s: nextPeriod = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	attempts := 1
	for ; ; attempts++ {
		pause, more := retryAfter(int64(attempts))
		if !more {
			break
		}
		if pause < 5*time.Second || pause > 24*time.Hour {
			t.Errorf("retryAfter(%d) = %v", attempts, pause)
		}
	}
	if attempts != 12 {
		t.Errorf("attempts in all = %d, want 12", attempts)
	}
}

func TestValidEmail(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"ada@example.com": true, "a.b+c@sub.example.co": true, "ada": false, "ada@host": false, "Ada <ada@example.com>": false,
		"ada@example.com ": false, "ada@.com": false, "a@b.c\nd": false, "": false,
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
		if !knownCountry(c.Code) || c.Name == "" || seen[c.Code] {
			t.Errorf("country %+v is unknown, nameless or twice in the list", c)
		}
		seen[c.Code] = true
	}
	for _, code := range []string{"", "us", "XX", "U", "US "} {
		if knownCountry(code) {
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
