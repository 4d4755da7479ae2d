// Package payform is what a buyer types on the pay page and what is right and
// wrong with it: the card and its test numbers, addresses, postcodes, the
// choices that a session offers.
//
//	typed form -> Form.Check: faults, field by field, in words for the buyer
//	           -> Card.Judge: what the sandbox's bank says of a card
//
// A Card lives for one request. Nothing here stores, logs or prints it.
package payform

import (
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"

	"ace/internal/sandbox/object"
)

// Names of the fields of the pay page.
const (
	FieldEmail       = "email"
	FieldMethod      = "method"
	FieldCardNumber  = "card_number"
	FieldCardExpiry  = "card_expiry"
	FieldCardCVC     = "card_cvc"
	FieldName        = "name"
	FieldCountry     = "country"
	FieldPostalCode  = "postal_code"
	FieldLine1       = "line1"
	FieldCity        = "city"
	FieldShipName    = "shipping_name"
	FieldShipLine1   = "shipping_line1"
	FieldShipLine2   = "shipping_line2"
	FieldShipCity    = "shipping_city"
	FieldShipState   = "shipping_state"
	FieldShipPostal  = "shipping_postal_code"
	FieldShipCountry = "shipping_country"
	FieldShipRate    = "shipping_rate"
	FieldDebit       = "debit_outcome"
	FieldDebitAfter  = "debit_after"
)

// FieldError is one fault of the form, in words for the buyer.
type FieldError struct{ Field, Message string }

// Form is what the buyer typed.
type Form struct {
	Email        string
	Method       string // MethodCard or MethodDebit
	Card         Card
	Name         string
	Address      object.Address
	Shipping     *object.ShippingDetails // nil unless the session asks for it
	ShippingRate string                  // id of the chosen option; empty: the first
	DebitFails   bool
	DebitAfter   time.Duration // how long the bank debit takes
}

// MaxDebitAfter is the longest a test bank debit may take.
const MaxDebitAfter = 14 * 24 * time.Hour

// Check returns all that is wrong with the form, in the order of the page.
func (f *Form) Check(o *object.Session, now time.Time) (faults []FieldError) {
	add := func(bad bool, field, message string) {
		if bad {
			faults = append(faults, FieldError{field, message})
		}
	}
	add(f.Email == "", FieldEmail, "Enter your email address.")
	add(f.Email != "" && !ValidEmail(f.Email), FieldEmail, "Enter an email address like name@example.com.")
	if o.NeedsShipping() {
		faults = append(faults, f.checkShipping(o)...)
	}
	if o.NeedsMethod() {
		faults = append(faults, f.checkMethod(o, now)...)
	}
	add(f.Name == "", FieldName, "Enter the name of the payer.")
	add(len(f.Name) > 200, FieldName, "This name is too long.")
	add(!KnownCountry(f.Address.Country), FieldCountry, "Choose a country or region.")
	add(!postalCode(f.Address.Country, f.Address.PostalCode), FieldPostalCode,
		postalAdvice("billing", f.Address.Country))
	if o.BillingAddress == "required" {
		add(f.Address.Line1 == "", FieldLine1, "Enter the street and number of the billing address.")
		add(f.Address.City == "", FieldCity, "Enter the town or city of the billing address.")
	}
	return faults
}

func (f *Form) checkMethod(o *object.Session, now time.Time) []FieldError {
	if !slices.Contains(o.MethodTypes, f.Method) {
		return []FieldError{{FieldMethod, "Choose how to pay."}}
	}
	if f.Method == object.MethodCard {
		return f.Card.check(now)
	}
	if f.DebitAfter < 0 || f.DebitAfter > MaxDebitAfter {
		return []FieldError{{FieldDebitAfter, "Choose when the bank answers."}}
	}
	return nil
}

func (f *Form) checkShipping(o *object.Session) (faults []FieldError) {
	add := func(bad bool, field, message string) {
		if bad {
			faults = append(faults, FieldError{field, message})
		}
	}
	ship := object.ShippingDetails{Address: &object.Address{}}
	if f.Shipping != nil && f.Shipping.Address != nil {
		ship = *f.Shipping
	}
	add(ship.Name == "", FieldShipName, "Enter who receives the parcel.")
	add(ship.Address.Line1 == "", FieldShipLine1, "Enter the street and number.")
	add(ship.Address.City == "", FieldShipCity, "Enter the town or city.")
	add(!slices.Contains(o.ShippingAddress.Countries, ship.Address.Country), FieldShipCountry,
		"Choose one of the countries that this shop ships to.")
	add(ship.Address.Country == "US" && ship.Address.State == "", FieldShipState, "Enter the state.")
	add(!postalCode(ship.Address.Country, ship.Address.PostalCode), FieldShipPostal,
		postalAdvice("shipping", ship.Address.Country))
	add(o.Option(f.ShippingRate) == nil && len(o.ShippingOptions) > 0, FieldShipRate, "Choose a way of shipping.")
	for _, v := range []string{
		ship.Name, ship.Address.Line1, ship.Address.Line2, ship.Address.City,
		ship.Address.State,
	} {
		if len(v) > 500 {
			add(true, FieldShipLine1, "A line of the address is too long.")
		}
	}
	return faults
}

// ValidEmail reports whether s is one plain e-mail address.
func ValidEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > 254 {
		return false
	}
	_, host, _ := strings.Cut(s, "@")
	return strings.Contains(host, ".") && !strings.HasPrefix(host, ".") && !strings.HasSuffix(host, ".")
}

var (
	postalUS  = regexp.MustCompile(`^\d{5}(-\d{4})?$`)
	postalDE  = regexp.MustCompile(`^\d{5}$`)
	postalJP  = regexp.MustCompile(`^\d{3}-?\d{4}$`)
	postalAny = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 -]{1,9}$`)
)

// withoutPostcode lists countries that have no postcodes in daily use.
const withoutPostcode = "AE AG AO BF BJ BO BS BW BZ CD CF CG CI CK CM DJ DM ER FJ GD GM GN GQ GY HK IE JM KI KM KN " +
	"KP LC ML MO MR MS MW NR NU PA QA RW SB SC SL SR ST SY TD TG TK TL TO TT TV UG VC VU YE ZW"

func postalCode(country, code string) bool {
	switch {
	case strings.Contains(withoutPostcode, country) && country != "":
		return code == "" || postalAny.MatchString(code)
	case country == "US":
		return postalUS.MatchString(code)
	case country == "DE":
		return postalDE.MatchString(code)
	case country == "JP":
		return postalJP.MatchString(code)
	default:
		return postalAny.MatchString(code)
	}
}

func postalAdvice(address, country string) string {
	switch country {
	case "US":
		return "Enter the five digits of the " + address + " ZIP code."
	case "DE":
		return "Enter the five digits of the " + address + " postcode."
	default:
		return "Enter the " + address + " postcode."
	}
}
