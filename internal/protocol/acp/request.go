package acp

import (
	"strings"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/money"
)

// The limits of requests.
const (
	MaxLineItems = 100
	MaxQuantity  = 9007199254740991 // the largest integer that all JSON parsers represent exactly

	maxID        = 255
	maxText      = 1000
	maxMail      = 320
	maxNotes     = 5000
	maxSummary   = 500
	maxTrace     = 50  // fields of an intent trace's metadata
	maxTraceText = 500 // characters of each
)

// SessionRequest is what an agent sends to create or update a session.
type SessionRequest struct {
	LineItems []RequestLine // nil if an update does not change them
	Currency  string        // lower case; "" if not sent
	Buyer     *Buyer        // nil if not sent
	Locale    string
	QuoteID   string
	// Affiliate is the affiliate_attribution: provider, token, publisher_id, …
	Affiliate  map[string]any
	OrderNotes string
	// PaymentSent reports whether payment data was sent. It was dropped.
	PaymentSent bool
}

// RequestLine is a requested item.
type RequestLine struct {
	LineID   string // of the line, if sent in addition to the item's id
	ItemID   string
	Quantity int64  // 0 if an update does not change it
	Path     string // JSONPath of the line in the request
	ItemPath string // JSONPath of the item id
}

// Buyer is the known data of the buyer.
type Buyer struct {
	FirstName, LastName, FullName, Email, PhoneNumber string
}

// CompleteRequest is the relevant part of a request to complete a session.
type CompleteRequest struct {
	// PaymentSent reports whether payment data was sent. It was dropped.
	PaymentSent bool
	Affiliate   map[string]any
}

// IntentTrace is the reason why a buyer did not buy.
type IntentTrace struct {
	ReasonCode string // one of ten values of the protocol, or another
	Summary    string // up to 500 characters
	Metadata   map[string]any
}

// ReadCreate reads the body that creates a session. Its problems are invalid_json and, with an item
// per error, missing_field, invalid_type, invalid_value, too_long and too_many. Items are named in
// any of these forms; a missing quantity is 1:
//
//	{"line_items":[{"id":"…"}]}    {"line_items":[{"item":{"id":"…"},"quantity":2}]}    {"items":[{"id":"…"}]}
//
// and in a plain exchange, where currency and capabilities are optional, also
// {"offer_id":"…","quantity":1} and {"item":{"id":"…"}}.
func ReadCreate(body *jsonread.Value, x Exchange) (*SessionRequest, error) {
	o, err := body.Object()
	if err != nil {
		return nil, err
	}
	r := readSession(o, x)
	if len(r.LineItems) == 0 && !o.Has("line_items") && !o.Has("items") {
		o.Need("line_items", `Name what to buy: {"line_items":[{"id":"…"}]}.`)
	}
	for i := range r.LineItems {
		r.LineItems[i].Quantity = max(1, r.LineItems[i].Quantity)
	}
	if !x.Plain {
		o.Need("currency", "Send the currency, for example usd.")
		if o.Need("capabilities", "Send the capabilities of the agent; {} is enough.") {
			o.Object("capabilities")
		}
	}
	return done(o, r)
}

// ReadUpdate parses the body that updates a session, by the rules of ReadCreate; omitted fields do
// not change, including the quantity of a line. In a plain exchange {"quantity":2} alone changes the
// quantity of the session's line; elsewhere a quantity outside a line is the problem invalid_value.
func ReadUpdate(body *jsonread.Value, x Exchange) (*SessionRequest, error) {
	o, err := body.Object()
	if err != nil {
		return nil, err
	}
	r := readSession(o, x)
	if r.LineItems == nil && o.Has("quantity") {
		r.LineItems = readBareQuantity(o, x)
	}
	return done(o, r)
}

// readBareQuantity reads a quantity without an item: a line that changes nothing else.
func readBareQuantity(o jsonread.Object, x Exchange) []RequestLine {
	if !x.Plain {
		o.Fault("quantity", "invalid_value", looseField("quantity"))
		return nil
	}
	quantity, _ := o.Int("quantity", 1, MaxQuantity)
	return []RequestLine{{Quantity: quantity, Path: jsonread.Path(o.Place(""))}}
}

// looseField says where a field belongs that would be ignored where it was sent.
func looseField(name string) string {
	return "Send " + name + " inside the line of line_items that it is about."
}

// ReadComplete parses the body that completes a session: empty or an object. payment_data, though
// required by the specification, is optional, since it is not accepted.
func ReadComplete(body *jsonread.Value) (*CompleteRequest, error) {
	o, err := body.OptionalObject()
	if err != nil {
		return nil, err
	}
	return done(o, &CompleteRequest{PaymentSent: paymentSent(o), Affiliate: readAffiliate(o)})
}

// ReadCancel parses the body that cancels a session: empty or an object. The trace is nil if none
// was sent.
func ReadCancel(body *jsonread.Value) (*IntentTrace, error) {
	o, err := body.OptionalObject()
	if err != nil {
		return nil, err
	}
	trace := o.Object("intent_trace")
	if !trace.Present() {
		return nil, o.Err()
	}
	trace.Need("reason_code", "Send a reason, for example shipping_cost, or omit intent_trace.")
	return done(o, &IntentTrace{
		ReasonCode: trace.Text("reason_code", maxID), Summary: trace.Text("trace_summary", maxSummary),
		Metadata: trace.Scalars("metadata", maxTrace, maxTraceText),
	})
}

// done returns the request, or the recorded errors.
func done[T any](o jsonread.Object, request *T) (*T, error) {
	if err := o.Err(); err != nil {
		return nil, err
	}
	return request, nil
}

func readSession(o jsonread.Object, x Exchange) *SessionRequest {
	return &SessionRequest{
		LineItems: readLines(o, x), Currency: readCurrency(o), Buyer: readBuyer(o, x), Locale: o.Text("locale", maxID),
		QuoteID: o.Text("quote_id", maxID), Affiliate: readAffiliate(o), OrderNotes: o.Text("order_notes", maxNotes),
		PaymentSent: paymentSent(o),
	}
}

// paymentSent only checks whether a value is present; payment is UCP's name.
func paymentSent(o jsonread.Object) bool { return o.Filled("payment_data") || o.Filled("payment") }

func readAffiliate(o jsonread.Object) map[string]any {
	inner := o.Object("affiliate_attribution")
	if !inner.Present() {
		return nil
	}
	affiliate := map[string]any{}
	for _, name := range []string{
		"provider", "token", "publisher_id", "campaign_id", "creative_id", "sub_id",
		"touchpoint",
	} {
		if text := inner.Text(name, maxText); text != "" {
			affiliate[name] = text
		}
	}
	return affiliate
}

func readLines(o jsonread.Object, x Exchange) []RequestLine {
	field := "line_items"
	if !o.Has(field) && o.Has("items") {
		field = "items"
	}
	if !o.Has(field) {
		if x.Plain && (o.Has("offer_id") || o.Has("item")) {
			return []RequestLine{readLine(o, false)}
		}
		return nil
	}
	for _, name := range []string{"quantity", "offer_id", "item"} {
		if o.Has(name) {
			o.Fault(name, "invalid_value", looseField(name))
		}
	}
	var lines []RequestLine
	sent := o.Objects(field, MaxLineItems)
	for _, line := range sent {
		lines = append(lines, readLine(line, true))
	}
	if len(sent) == 0 && o.Err() == nil {
		o.Fault(field, "missing_field", "Send at least one item, or omit "+field+".")
	}
	return lines
}

// readLine reads a line, or, in the bare form, the request itself, where id is not the id of an
// item.
func readLine(o jsonread.Object, isLine bool) RequestLine {
	line := RequestLine{Path: jsonread.Path(o.Place(""))}
	switch {
	case o.Has("item"):
		item := o.Object("item")
		item.Need("id", "Send the id of the item as in the feed.")
		line.ItemID, line.ItemPath = item.Text("id", maxID), jsonread.Path(item.Place("id"))
		if isLine {
			line.LineID = o.Text("id", maxID)
		}
	case o.Has("offer_id"):
		line.ItemID, line.ItemPath = o.Text("offer_id", maxID), jsonread.Path(o.Place("offer_id"))
	default:
		o.Need("id", "Send the id of the item as in the feed.")
		line.ItemID, line.ItemPath = o.Text("id", maxID), jsonread.Path(o.Place("id"))
	}
	if quantity, ok := o.Int("quantity", 1, MaxQuantity); ok {
		line.Quantity = quantity
	}
	if line.ItemID == "" && o.Err() == nil {
		o.Fault("id", "invalid_value", "The id of an item must not be empty.")
	}
	return line
}

func readCurrency(o jsonread.Object) string {
	currency := o.Text("currency", maxID)
	if o.Has("currency") && o.IsText("currency") && !money.ValidCurrency(strings.ToUpper(currency)) {
		o.Fault("currency", "invalid_value", "Send an ISO 4217 code in lower case, for example usd.")
		return ""
	}
	return strings.ToLower(currency)
}

func readBuyer(o jsonread.Object, x Exchange) *Buyer {
	b := o.Object("buyer")
	if !b.Present() {
		return nil
	}
	if !x.Plain {
		b.Need("email", "A buyer needs an e-mail address; omit buyer if it is not known.")
	}
	buyer := &Buyer{
		FirstName: b.Text("first_name", maxID), LastName: b.Text("last_name", maxID), FullName: b.Text("full_name",
			maxID),
		Email: b.Text("email", maxMail), PhoneNumber: b.Text("phone_number", maxID),
	}
	local, domain, found := strings.Cut(buyer.Email, "@")
	if buyer.Email != "" && (!found || local == "" || domain == "" || strings.ContainsAny(buyer.Email, " \t\r\n<>,")) {
		b.Fault("email", "invalid_value", "This is not an e-mail address.")
	}
	return buyer
}
