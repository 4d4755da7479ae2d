package acp

import (
	"strings"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/money"
)

// Limits of requests.
const (
	MaxLineItems = 100
	MaxQuantity  = 9007199254740991 // the largest whole number that JSON readers agree on

	maxID        = 255
	maxText      = 1000
	maxMail      = 320
	maxNotes     = 5000
	maxSummary   = 500
	maxTrace     = 50  // members of an intent trace's metadata
	maxTraceText = 500 // characters of each
)

// SessionRequest is what an agent sends to create or update a session.
type SessionRequest struct {
	LineItems []RequestLine // nil in an update that leaves them
	Currency  string        // lower case; "" if not sent
	Buyer     *Buyer        // nil if not sent
	Locale    string
	QuoteID   string
	// Affiliate is the affiliate_attribution: provider, token, publisher_id, …
	Affiliate  map[string]any
	OrderNotes string
	// PaymentSent tells that payment data came. It was dropped.
	PaymentSent bool
}

// RequestLine asks for an item.
type RequestLine struct {
	LineID   string // of the line, where it was sent beside the item's
	ItemID   string
	Quantity int64  // 0 in an update that leaves it
	Path     string // JSONPath of the line in the request
	ItemPath string // JSONPath of what names the item
}

// Buyer is what is known of the person who buys.
type Buyer struct {
	FirstName, LastName, FullName, Email, PhoneNumber string
}

// CompleteRequest is what is kept of a request to complete a session.
type CompleteRequest struct {
	// PaymentSent tells that payment data came. It was dropped.
	PaymentSent bool
	Affiliate   map[string]any
}

// IntentTrace says why a buyer did not buy.
type IntentTrace struct {
	ReasonCode string // one of ten words of the protocol, or another
	Summary    string // up to 500 characters
	Metadata   map[string]any
}

// ReadCreate reads the body that creates a session. Its problems are
// invalid_json and, with an item per fault, missing_field, invalid_type,
// invalid_value, too_long and too_many. Items are named in any of these forms;
// a missing quantity is 1:
//
//	{"line_items":[{"id":"…"}]}    {"line_items":[{"item":{"id":"…"},"quantity":2}]}    {"items":[{"id":"…"}]}
//
// and in a plain exchange, where neither currency nor capabilities is asked for,
// also {"offer_id":"…","quantity":1} and {"item":{"id":"…"}}.
func ReadCreate(body []byte, x Exchange) (*SessionRequest, error) {
	o, err := jsonread.Read(body)
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
		o.Need("currency", "Name the currency, for example usd.")
		if o.Need("capabilities", "Send the capabilities of the agent; {} will do.") {
			o.Object("capabilities")
		}
	}
	return done(o, r)
}

// ReadUpdate reads the body that updates a session, by the rules of ReadCreate;
// what is left out stays as it is, also the quantity of a line.
func ReadUpdate(body []byte, x Exchange) (*SessionRequest, error) {
	o, err := jsonread.Read(body)
	if err != nil {
		return nil, err
	}
	return done(o, readSession(o, x))
}

// ReadComplete reads the body that completes a session: empty or an object.
// payment_data, though required by the specification, is not asked for, since
// it is not taken.
func ReadComplete(body []byte) (*CompleteRequest, error) {
	o, err := jsonread.ReadOptional(body)
	if err != nil {
		return nil, err
	}
	return done(o, &CompleteRequest{PaymentSent: paymentSent(o), Affiliate: readAffiliate(o)})
}

// ReadCancel reads the body that cancels a session: empty or an object. The
// trace is nil if none was sent.
func ReadCancel(body []byte) (*IntentTrace, error) {
	o, err := jsonread.ReadOptional(body)
	if err != nil {
		return nil, err
	}
	trace := o.Object("intent_trace")
	if !trace.Present() {
		return nil, o.Err()
	}
	trace.Need("reason_code", "Say why, for example shipping_cost, or leave intent_trace out.")
	return done(o, &IntentTrace{
		ReasonCode: trace.Text("reason_code", maxID), Summary: trace.Text("trace_summary", maxSummary),
		Metadata: trace.Scalars("metadata", maxTrace, maxTraceText),
	})
}

// done answers what was read, or the faults noted on the way.
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

// paymentSent looks only whether something is there; payment is UCP's name.
func paymentSent(o jsonread.Object) bool { return o.Filled("payment_data") || o.Filled("payment") }

func readAffiliate(o jsonread.Object) map[string]any {
	inner := o.Object("affiliate_attribution")
	if !inner.Present() {
		return nil
	}
	kept := map[string]any{}
	for _, name := range []string{"provider", "token", "publisher_id", "campaign_id", "creative_id", "sub_id", "touchpoint"} {
		if text := inner.Text(name, maxText); text != "" {
			kept[name] = text
		}
	}
	return kept
}

func readLines(o jsonread.Object, x Exchange) []RequestLine {
	member := "line_items"
	if !o.Has(member) && o.Has("items") {
		member = "items"
	}
	if !o.Has(member) {
		if x.Plain && (o.Has("offer_id") || o.Has("item")) {
			return []RequestLine{readLine(o, false)}
		}
		return nil
	}
	var lines []RequestLine
	sent := o.Objects(member, MaxLineItems)
	for _, line := range sent {
		lines = append(lines, readLine(line, true))
	}
	if len(sent) == 0 && o.Err() == nil {
		o.Fault(member, "missing_field", "Name at least one item, or leave "+member+" out.")
	}
	return lines
}

// readLine reads a line, or, in the bare form, the request itself: then id
// names nothing.
func readLine(o jsonread.Object, isLine bool) RequestLine {
	line := RequestLine{Path: jsonread.Path(o.Place(""))}
	switch {
	case o.Has("item"):
		item := o.Object("item")
		item.Need("id", "Name the item by its id, as the feed gives it.")
		line.ItemID, line.ItemPath = item.Text("id", maxID), jsonread.Path(item.Place("id"))
		if isLine {
			line.LineID = o.Text("id", maxID)
		}
	case o.Has("offer_id"):
		line.ItemID, line.ItemPath = o.Text("offer_id", maxID), jsonread.Path(o.Place("offer_id"))
	default:
		o.Need("id", "Name the item by its id, as the feed gives it.")
		line.ItemID, line.ItemPath = o.Text("id", maxID), jsonread.Path(o.Place("id"))
	}
	if quantity, ok := o.Int("quantity", 1, MaxQuantity); ok {
		line.Quantity = quantity
	}
	if line.ItemID == "" && o.Err() == nil {
		o.Fault("id", "invalid_value", "The id of an item is not empty.")
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
		b.Need("email", "A buyer has an e-mail address; leave buyer out if it is not known.")
	}
	buyer := &Buyer{
		FirstName: b.Text("first_name", maxID), LastName: b.Text("last_name", maxID), FullName: b.Text("full_name", maxID),
		Email: b.Text("email", maxMail), PhoneNumber: b.Text("phone_number", maxID),
	}
	local, domain, found := strings.Cut(buyer.Email, "@")
	if buyer.Email != "" && (!found || local == "" || domain == "" || strings.ContainsAny(buyer.Email, " \t\r\n<>,")) {
		b.Fault("email", "invalid_value", "This is not an e-mail address.")
	}
	return buyer
}
