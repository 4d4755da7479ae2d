package paypage

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payform"
)

// maxField is the longest value of one input.
const maxField = 500

// typed reads what the buyer sent. Values are cut to what the inputs take.
func typed(v url.Values, o *object.Session) *payform.Form {
	get := func(name string) string {
		s := strings.ToValidUTF8(strings.TrimSpace(v.Get(name)), "")
		s = strings.ReplaceAll(s, "\x00", "")
		if r := []rune(s); len(r) > maxField {
			s = string(r[:maxField])
		}
		return s
	}
	f := &payform.Form{
		Email: get(payform.FieldEmail), Method: get(payform.FieldMethod), Name: get(payform.FieldName),
		Card: payform.Card{
			Number: get(payform.FieldCardNumber), Expiry: get(payform.FieldCardExpiry),
			CVC: get(payform.FieldCardCVC),
		},
		Address: object.Address{
			Country: get(payform.FieldCountry), PostalCode: get(payform.FieldPostalCode),
			Line1: get(payform.FieldLine1), City: get(payform.FieldCity),
		},
		ShippingRate: get(payform.FieldShipRate), DebitFails: get(payform.FieldDebit) == "fails", DebitAfter: -1,
	}
	if d, ok := debitAfter()[get(payform.FieldDebitAfter)]; ok {
		f.DebitAfter = d
	}
	if o.NeedsShipping() {
		f.Shipping = &object.ShippingDetails{Name: get(payform.FieldShipName), Address: &object.Address{
			Line1: get(payform.FieldShipLine1), Line2: get(payform.FieldShipLine2), City: get(payform.FieldShipCity),
			State: get(payform.FieldShipState), PostalCode: get(payform.FieldShipPostal),
			Country: get(payform.FieldShipCountry),
		}}
	}
	return f
}

// debitAfter says how long a test bank debit may be chosen to take.
func debitAfter() map[string]time.Duration {
	return map[string]time.Duration{
		"now": 0, "10s": 10 * time.Second, "1m": time.Minute, "1h": time.Hour,
		"3d": 72 * time.Hour,
	}
}

// blank is the form of a first visit.
func blank(o *object.Session) *payform.Form {
	f := &payform.Form{Method: object.MethodCard, DebitAfter: 10 * time.Second, Address: object.Address{Country: "US"}}
	if o.CustomerEmail != nil {
		f.Email = *o.CustomerEmail
	}
	if o.NeedsShipping() {
		f.Shipping = &object.ShippingDetails{Address: &object.Address{Country: o.ShippingAddress.Countries[0]}}
		f.Address.Country = o.ShippingAddress.Countries[0]
	}
	return f
}

// builder fills a payView.
type builder struct {
	faults map[string]string
}

func (b builder) text(id, label, value, autocomplete string) field {
	return field{
		ID: id, Label: label, Type: "text", Value: value, Autocomplete: autocomplete, MaxLength: maxField,
		Error: b.faults[id],
	}
}

func (b builder) countries(id, label, chosen, autocomplete string, allowed []string) field {
	f := field{ID: id, Label: label, Autocomplete: autocomplete, Error: b.faults[id]}
	for _, c := range payform.Countries() {
		if allowed == nil || slices.Contains(allowed, c.Code) {
			f.Options = append(f.Options, option{Value: c.Code, Text: c.Name, Chosen: c.Code == chosen})
		}
	}
	slices.SortFunc(f.Options, func(a, c option) int { return strings.Compare(a.Text, c.Text) })
	return f
}

// show makes the page of a session from what was typed. It never repeats a
// card number or a security code.
func (h *handler) show(ctx context.Context, o *object.Session, f *payform.Form,
	faults []payform.FieldError,
) (*payView, error) {
	b := builder{faults: map[string]string{}}
	for _, fault := range faults {
		if b.faults[fault.Field] == "" {
			b.faults[fault.Field] = fault.Message
		}
	}
	v := &payView{
		Terms: terms(o), Lines: lines(o), Subtotal: object.Display(o.AmountSubtotal, o.Currency), TaxLabel: taxLabel(o),
		Total: object.Display(o.AmountTotal, o.Currency), TestCards: payform.TestCards(),
		NeedsMethod: o.NeedsMethod(), OffersDebit: slices.Contains(o.MethodTypes, object.MethodDebit),
		DebitChosen: f.Method == object.MethodDebit, RateError: b.faults[payform.FieldShipRate],
	}
	if o.AutomaticTax.Enabled {
		v.Tax = object.Display(o.TotalDetails.Tax, o.Currency)
	}
	if o.TrialDays() > 0 {
		v.Later = object.Display(o.DueLater(), o.Currency)
	}
	if o.CancelURL != nil {
		v.BackLink = *o.CancelURL
	}
	v.words(o)
	b.contact(v, f)
	b.card(v, f)
	b.addresses(v, o, f)
	if err := h.rates(ctx, v, o, f); err != nil {
		return nil, err
	}
	for _, fault := range faults {
		v.Problems = append(v.Problems, problemView{Target: target(fault.Field), Message: fault.Message})
	}
	v.ProblemsHeading = "Please check " + plural(int64(len(faults)), "field")
	return v, nil
}

// target is the input that a fault is about.
func target(name string) string {
	switch name {
	case payform.FieldMethod:
		return "method-card"
	case payform.FieldShipRate:
		return "rate-0"
	default:
		return name
	}
}

func (b builder) contact(v *payView, f *payform.Form) {
	v.Email = b.text(payform.FieldEmail, "Email", f.Email, "email")
	v.Email.Type, v.Email.InputMode, v.Email.Placeholder = "email", "email", "name@example.com"
}

func (b builder) card(v *payView, f *payform.Form) {
	v.CardNumber = b.text(payform.FieldCardNumber, "Card number", "", "cc-number")
	v.CardNumber.InputMode, v.CardNumber.Placeholder, v.CardNumber.MaxLength = "numeric", "4242 4242 4242 4242", 30
	v.CardExpiry = b.text(payform.FieldCardExpiry, "Expiry date", f.Card.Expiry, "cc-exp")
	v.CardExpiry.InputMode, v.CardExpiry.Placeholder, v.CardExpiry.MaxLength = "numeric", "MM / YY", 9
	v.CardCVC = b.text(payform.FieldCardCVC, "Security code", "", "cc-csc")
	v.CardCVC.InputMode, v.CardCVC.Placeholder, v.CardCVC.MaxLength = "numeric", "CVC", 4
	v.DebitOutcome = field{
		ID: payform.FieldDebit, Label: "What shall the bank answer?", Error: b.faults[payform.FieldDebit],
		Options: []option{
			{Value: "succeeds", Text: "The debit succeeds", Chosen: !f.DebitFails},
			{Value: "fails", Text: "The debit fails", Chosen: f.DebitFails},
		},
	}
	v.DebitAfter = field{
		ID: payform.FieldDebitAfter, Label: "When shall it answer?",
		Error: b.faults[payform.FieldDebitAfter],
	}
	for _, choice := range []option{
		{Value: "now", Text: "At once"},
		{Value: "10s", Text: "After 10 seconds"},
		{Value: "1m", Text: "After a minute"},
		{Value: "1h", Text: "After an hour"},
		{Value: "3d", Text: "After three days"},
	} {
		choice.Chosen = debitAfter()[choice.Value] == f.DebitAfter
		v.DebitAfter.Options = append(v.DebitAfter.Options, choice)
	}
}

func (b builder) addresses(v *payView, o *object.Session, f *payform.Form) {
	v.Billing = []field{b.text(payform.FieldName, "Name", f.Name, "billing name")}
	if v.NeedsMethod && !v.OffersDebit {
		v.Billing[0].Label = "Name on card"
	}
	if o.BillingAddress == "required" {
		v.Billing = append(v.Billing,
			b.text(payform.FieldLine1, "Address", f.Address.Line1, "billing address-line1"),
			b.text(payform.FieldCity, "Town or city", f.Address.City, "billing address-level2"))
	}
	v.Billing = append(v.Billing,
		b.countries(payform.FieldCountry, "Country or region", f.Address.Country, "billing country", nil),
		b.text(payform.FieldPostalCode, "ZIP or postcode", f.Address.PostalCode, "billing postal-code"))
	if !o.NeedsShipping() {
		return
	}
	to := object.ShippingDetails{Address: &object.Address{}}
	if f.Shipping != nil && f.Shipping.Address != nil {
		to = *f.Shipping
	}
	line2 := b.text(payform.FieldShipLine2, "Apartment, floor", to.Address.Line2, "shipping address-line2")
	line2.Optional = true
	state := b.text(payform.FieldShipState, "State or province", to.Address.State, "shipping address-level1")
	state.Optional = !slices.Contains(o.ShippingAddress.Countries, "US")
	if !state.Optional && len(o.ShippingAddress.Countries) > 1 {
		state.Label, state.Optional = "State (needed in the United States)", true
	}
	v.Shipping = []field{
		b.text(payform.FieldShipName, "Name of the recipient", to.Name, "shipping name"),
		b.countries(payform.FieldShipCountry, "Country", to.Address.Country, "shipping country",
			o.ShippingAddress.Countries),
		b.text(payform.FieldShipLine1, "Street and number", to.Address.Line1, "shipping address-line1"),
		line2,
		b.text(payform.FieldShipCity, "Town or city", to.Address.City, "shipping address-level2"),
		state,
		b.text(payform.FieldShipPostal, "ZIP or postcode", to.Address.PostalCode, "shipping postal-code"),
	}
}

// rates shows the ways of shipping, each with the total it leads to.
func (h *handler) rates(ctx context.Context, v *payView, o *object.Session, f *payform.Form) error {
	view := h.p.View()
	for i, choice := range o.ShippingOptions {
		got, err := view.Get(ctx, object.KindShippingRate, choice.Rate, "shipping_rate")
		if err != nil {
			return err
		}
		rate, ok := got.(*object.ShippingRate)
		if !ok {
			continue
		}
		v.Rates = append(v.Rates, rateView{
			ID: choice.Rate, Name: rate.DisplayName, Estimate: estimate(rate.Estimate),
			Amount: object.Display(choice.Amount, o.Currency),
			Total:  object.Display(o.AmountTotal-o.TotalDetails.Shipping+choice.Amount, o.Currency),
			Chosen: choice.Rate == f.ShippingRate || (f.ShippingRate == "" && i == 0),
		})
	}
	return nil
}
