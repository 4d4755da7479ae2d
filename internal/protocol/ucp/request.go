package ucp

import (
	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
)

// HeaderIdempotencyKey is the header that makes a repeated request return the first response.
const HeaderIdempotencyKey = "Idempotency-Key"

// Limits of requests.
const (
	MaxLineItems      = 100
	MaxQuantity       = 9007199254740991 // the largest integer that all JSON parsers represent exactly
	MaxIdempotencyKey = 255              // characters

	maxID   = 255
	maxText = 1000
	maxMail = 320
	maxList = 50
)

// Reading holds the rules for parsing a request.
type Reading struct {
	Version Version
	// Plain allows the bare forms of callers that do not use UCP.
	Plain bool
}

// CheckoutRequest is the request of a platform to create, update or complete a checkout.
// Response-only fields are ignored.
type CheckoutRequest struct {
	LineItems   []RequestLine
	Buyer       *Buyer // nil if not sent
	Context     Context
	Signals     Signals
	Attribution map[string]string
	// PaymentSent reports whether a payment instrument was sent. It was dropped.
	PaymentSent bool
}

// RequestLine is a requested item.
type RequestLine struct {
	ID, ParentID string // of the line, in updates
	ItemID       string
	Quantity     int64
	Unit         *QuantityUnit // nil: the store's own
	Path         string        // JSONPath of the line in the request
	ItemPath     string        // JSONPath of the id of the item, as it was sent
}

// QuantityUnit is the unit of an item as the platform assumes it.
type QuantityUnit struct {
	Unit  string // UN/CEFACT Recommendation 20; C62 is each
	Scale int64  // decimals
}

// Each reports whether the unit is whole items.
func (u *QuantityUnit) Each() bool { return u == nil || u.Unit == "C62" && u.Scale == 0 }

// Buyer is the known data of the buyer.
type Buyer struct {
	FirstName, LastName, Email, PhoneNumber string
}

// Context contains hints about the buyer.
type Context struct {
	AddressCountry, AddressRegion, PostalCode string
	Intent, Language, Currency                string
	Eligibility                               []string // claims; unknown ones must not block
}

// Signals are the platform's observations about the buyer.
type Signals struct {
	BuyerIP, UserAgent string
}

// ReadCreate parses the body of create_checkout. Its problems are invalid_json and, with an item
// per error, missing_field, invalid_type, invalid_value, too_long and too_many. In plain mode these
// are accepted as well:
//
//	{"line_items":[{"id":"…"}]}            {"offer_id":"…","quantity":1}
//	{"line_items":[{"offer_id":"…"}]}      {"item":{"id":"…"},"quantity":1}
//
// and a missing quantity is 1.
func ReadCreate(body *jsonread.Value, rd Reading) (*CheckoutRequest, error) {
	o, err := body.Object()
	if err != nil {
		return nil, err
	}
	return readChange(o, rd)
}

// ReadUpdate parses the body of update_checkout, which replaces the whole request, by the rules of
// ReadCreate.
func ReadUpdate(body *jsonread.Value, rd Reading) (*CheckoutRequest, error) {
	return ReadCreate(body, rd)
}

// ReadComplete reads the body of complete_checkout. It is empty or an object;
// line items and buyer are ignored in it, and payment, though required by the
// specification, is not asked for, since it is not taken.
func ReadComplete(body *jsonread.Value) (*CheckoutRequest, error) {
	o, err := body.OptionalObject()
	if err != nil {
		return nil, err
	}
	return readCompletion(o)
}

// ReadCancel checks the body of cancel_checkout: empty or any object.
func ReadCancel(body *jsonread.Value) error {
	_, err := body.OptionalObject()
	return err
}

// CheckIdempotencyKey refuses keys that are empty, longer than MaxIdempotencyKey or not printable
// ASCII. The specification requires a UUID; we accept other keys as well.
func CheckIdempotencyKey(key string) error {
	ok := key != "" && len(key) <= MaxIdempotencyKey
	for _, c := range []byte(key) {
		ok = ok && c > ' ' && c < 0x7f
	}
	if !ok {
		return problem.New(
			problem.Invalid,
			string(InvalidRequest),
			"The header Idempotency-Key needs 1 to 255 printable characters, for example a UUID.",
		).Advise("fix_arguments")
	}
	return nil
}

func readChange(o jsonread.Object, rd Reading) (*CheckoutRequest, error) {
	return done(o, &CheckoutRequest{
		LineItems: readLines(o, rd), Buyer: readBuyer(o.Object("buyer")), Context: readContext(o.Object("context")),
		Signals: readSignals(o), Attribution: o.TextMap("attribution", maxList, maxText), PaymentSent: paymentSent(o),
	})
}

func readCompletion(o jsonread.Object) (*CheckoutRequest, error) {
	return done(o, &CheckoutRequest{
		Signals: readSignals(o), Attribution: o.TextMap("attribution", maxList, maxText), PaymentSent: paymentSent(o),
	})
}

// done returns the request, or the recorded errors.
func done[T any](o jsonread.Object, request *T) (*T, error) {
	if err := o.Err(); err != nil {
		return nil, err
	}
	return request, nil
}

// paymentSent only checks whether a value is present. payment_data is the name in releases before
// 2026-01-23.
func paymentSent(o jsonread.Object) bool { return o.Filled("payment") || o.Filled("payment_data") }

func readLines(o jsonread.Object, rd Reading) []RequestLine {
	const detail = `Name what to buy: {"line_items":[{"item":{"id":"…"},"quantity":1}]}.`
	if !o.Has("line_items") {
		if rd.Plain && (o.Has("offer_id") || o.Has("item")) {
			return []RequestLine{readLine(o, rd, false)}
		}
		o.Need("line_items", detail)
		return nil
	}
	if rd.Plain {
		refuseLoose(o)
	}
	var lines []RequestLine
	sent := o.Objects("line_items", MaxLineItems)
	for _, line := range sent {
		lines = append(lines, readLine(line, rd, true))
	}
	if len(sent) == 0 && o.Err() == nil {
		o.Fault("line_items", "missing_field", detail)
	}
	return lines
}

// refuseLoose refuses a quantity or an item beside the lines, where it would be ignored.
func refuseLoose(o jsonread.Object) {
	for _, name := range []string{"quantity", "offer_id", "item"} {
		if o.Has(name) {
			o.Fault(name, "invalid_value", "Send "+name+" inside the line of line_items that it is about.")
		}
	}
}

// readLine reads a line, or, in the bare form, the request itself, where id is the id of the
// checkout and is ignored.
func readLine(o jsonread.Object, rd Reading, isLine bool) RequestLine {
	line := RequestLine{Quantity: 1, Path: jsonread.Path(o.Place(""))}
	switch {
	case o.Has("item"):
		item := o.Object("item")
		item.Need("id", "Send the id of the item as in the catalog.")
		line.ItemID, line.ItemPath = item.Text("id", maxID), jsonread.Path(item.Place("id"))
		line.Unit = readUnit(item, rd)
		if isLine {
			line.ID, line.ParentID = o.Text("id", maxID), o.Text("parent_id", maxID)
		}
	case rd.Plain && o.Has("offer_id"):
		line.ItemID, line.ItemPath = o.Text("offer_id", maxID), jsonread.Path(o.Place("offer_id"))
	case rd.Plain && isLine && o.Has("id"):
		line.ItemID, line.ItemPath = o.Text("id", maxID), jsonread.Path(o.Place("id"))
	default:
		o.Need("item", `Name the item: "item":{"id":"…"}.`)
	}
	if quantity, ok := o.Int("quantity", 1, MaxQuantity); ok {
		line.Quantity = quantity
	} else if !rd.Plain {
		o.Need("quantity", "Send the quantity, a whole number from 1.")
	}
	if line.ItemID == "" && o.Err() == nil {
		o.Fault("item", "invalid_value", "The id of an item must not be empty.")
	}
	return line
}

// readUnit reads quantity_unit, which 2026-08-25 introduced.
func readUnit(item jsonread.Object, rd Reading) *QuantityUnit {
	if rd.Version == Version20260408 || !item.Has("quantity_unit") {
		return nil
	}
	o := item.Object("quantity_unit")
	o.Need("unit", "Send the unit, C62 for whole items, or omit quantity_unit.")
	scale, _ := o.Int("scale", 0, 15)
	return &QuantityUnit{Unit: o.Text("unit", maxID), Scale: scale}
}

// UnitMismatch returns the outcome for the first line with a unit other than whole items, the only
// supported one.
func (r *CheckoutRequest) UnitMismatch() (Message, bool) {
	for _, line := range r.LineItems {
		if !line.Unit.Each() {
			return Error(QuantityUnitMismatch, QuantityUnitMismatch.Severity(), line.Path+".item.quantity_unit",
				"This item is sold in whole items. Omit quantity_unit, or send unit C62 with scale 0."), true
		}
	}
	return Message{}, false
}

func readBuyer(o jsonread.Object) *Buyer {
	if !o.Present() {
		return nil
	}
	return &Buyer{
		FirstName: o.Text("first_name", maxID), LastName: o.Text("last_name", maxID),
		Email: o.Text("email", maxMail), PhoneNumber: o.Text("phone_number", maxID),
	}
}

func readContext(o jsonread.Object) Context {
	return Context{
		AddressCountry: o.Text("address_country", maxID), AddressRegion: o.Text("address_region", maxID),
		PostalCode: o.Text("postal_code", maxID), Intent: o.Text("intent", maxText), Language: o.Text("language",
			maxID),
		Currency: o.Text("currency", maxID), Eligibility: o.Texts("eligibility", maxList, maxID),
	}
}

func readSignals(o jsonread.Object) Signals {
	s := o.Object("signals")
	return Signals{BuyerIP: s.Text("dev.ucp.buyer_ip", maxID), UserAgent: s.Text("dev.ucp.user_agent", maxText)}
}
