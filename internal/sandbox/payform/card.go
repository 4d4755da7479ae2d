package payform

import (
	"log/slog"
	"strconv"
	"strings"
	"time"

	"ace/internal/sandbox/object"
)

// Card is a card as it was typed. It lives for one request: it is never
// stored, and a logger or formatter sees nothing of it.
type Card struct {
	Number, Expiry, CVC string
}

// LogValue keeps a card out of logs.
func (Card) LogValue() slog.Value { return slog.StringValue("card") }

// String keeps a card out of formatted text.
func (Card) String() string { return "card" }

// GoString keeps a card out of formatted text.
func (Card) GoString() string { return "card" }

// Verdict is what the sandbox's bank says of a card: the published test
// numbers decide
// (https://docs.stripe.com/testing).
type Verdict struct {
	DeclineCode, Code string // both empty: accepted
	Message           string
	Authenticate      bool // the buyer's bank asks first
	FailsLater        bool // can be saved; every charge is declined
}

var accepted = Verdict{}

// testCards are the only numbers that the sandbox takes: a real card must not
// be typed into it.
func testCards() map[string]Verdict {
	return map[string]Verdict{
		"4242424242424242": accepted,
		"4000056655665556": accepted,
		"5555555555554444": accepted,
		"2223003122003222": accepted,
		"378282246310005":  accepted,
		"6011111111111117": accepted,
		"4000000000000002": {
			Code: "card_declined", DeclineCode: "generic_decline",
			Message: "Your card was declined. Use another card, or ask your bank why.",
		},
		"4000000000009995": {
			Code: "card_declined", DeclineCode: "insufficient_funds",
			Message: "Your card has insufficient funds. Use another card.",
		},
		"4000000000000069": {Code: "expired_card", Message: "Your card has expired. Use another card."},
		"4000000000000127": {
			Code:    "incorrect_cvc",
			Message: "Your card's security code is incorrect. Check the code on the card.",
		},
		"4000000000000119": {
			Code:    "processing_error",
			Message: "An error occurred while processing your card. Nothing was charged; try again in a little bit.",
		},
		"4000002500003155": {Authenticate: true},
		"4000000000000341": {FailsLater: true},
	}
}

// GenericDecline is what the bank says without a reason.
func GenericDecline() Verdict { return testCards()["4000000000000002"] }

// TestCard is a number for the page's list of test numbers.
type TestCard struct{ Number, Effect string }

// TestCards lists numbers that a newcomer can pay with.
func TestCards() []TestCard {
	return []TestCard{
		{"4242 4242 4242 4242", "is paid"},
		{"4000 0025 0000 3155", "asks for 3-D Secure first"},
		{"4000 0000 0000 0002", "is declined"},
		{"4000 0000 0000 9995", "has insufficient funds"},
		{"4000 0000 0000 0069", "is expired"},
		{"4000 0000 0000 0127", "has a wrong security code"},
		{"4000 0000 0000 0119", "fails while processing"},
		{"4000 0000 0000 0341", "can be saved for a trial, but no charge succeeds"},
	}
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\u00a0' {
			return -1
		}
		return r
	}, s)
}

func allDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// luhn reports whether the check digit of a number is right.
func luhn(number string) bool {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

func brand(number string) string {
	switch {
	case strings.HasPrefix(number, "4"):
		return "visa"
	case strings.HasPrefix(number, "34"), strings.HasPrefix(number, "37"):
		return "amex"
	case strings.HasPrefix(number, "5"), strings.HasPrefix(number, "2"):
		return "mastercard"
	case strings.HasPrefix(number, "6"):
		return "discover"
	default:
		return "unknown"
	}
}

// expiry reads MM/YY, MM / YY, MMYY or MM/YYYY.
func expiry(s string) (month, year int, ok bool) {
	s = digits(s)
	m, y, cut := strings.Cut(s, "/")
	if !cut && len(s) == 4 {
		m, y = s[:2], s[2:]
	}
	if !allDigits(m) || !allDigits(y) || len(m) > 2 {
		return 0, 0, false
	}
	month, _ = strconv.Atoi(m)
	year, _ = strconv.Atoi(y)
	switch len(y) {
	case 2:
		year += 2000
	case 4:
	default:
		return 0, 0, false
	}
	return month, year, month >= 1 && month <= 12
}

// check returns what is wrong with the typed card, field by field.
func (c Card) check(now time.Time) (faults []FieldError) {
	number := digits(c.Number)
	switch {
	case number == "":
		faults = append(faults, FieldError{FieldCardNumber, "Enter the card number."})
	case !allDigits(number) || len(number) < 12 || len(number) > 19 || !luhn(number):
		faults = append(faults, FieldError{FieldCardNumber, "This card number is not valid. Check each digit."})
	}
	month, year, ok := expiry(c.Expiry)
	switch {
	case digits(c.Expiry) == "":
		faults = append(faults, FieldError{FieldCardExpiry, "Enter the expiry date."})
	case !ok:
		faults = append(faults,
			FieldError{FieldCardExpiry, "Enter the expiry date as month and year, for example 04/34."})
	case time.Date(year, time.Month(month)+1, 1, 0, 0, 0, 0, time.UTC).Before(now):
		faults = append(faults, FieldError{FieldCardExpiry, "This card has expired. Use another card."})
	case year > now.Year()+50:
		faults = append(faults, FieldError{FieldCardExpiry, "This year is too far ahead. Check the expiry date."})
	}
	cvc := digits(c.CVC)
	want := 3
	if brand(number) == "amex" {
		want = 4
	}
	switch {
	case cvc == "":
		faults = append(faults, FieldError{FieldCardCVC, "Enter the security code."})
	case !allDigits(cvc) || len(cvc) != want:
		faults = append(faults,
			FieldError{FieldCardCVC, "The security code of this card has " + strconv.Itoa(want) + " digits."})
	}
	return faults
}

// Check returns what the sandbox's bank says, and all that is kept of the card.
func (c Card) Check() (Verdict, *object.MethodDetails) {
	number := digits(c.Number)
	month, year, _ := expiry(c.Expiry)
	v, known := testCards()[number]
	if !known {
		v = Verdict{
			Code: "card_declined", DeclineCode: "test_mode_live_card",
			Message: "This is a sandbox: it takes test cards only. Never type a real card number here; use 4242 4242 " +
				"4242 4242.",
		}
	}
	facts := &object.CardFacts{Brand: brand(number), ExpMonth: month, ExpYear: year, Funding: "credit", Country: "US"}
	if known {
		facts.Last4 = number[len(number)-4:]
	}
	return v, &object.MethodDetails{Type: object.MethodCard, Card: facts}
}
