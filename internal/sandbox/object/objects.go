package object

// The objects of the API, in the shape of https://docs.stripe.com/api. Fields
// that the sandbox never fills are left out, except where a client expects
// an explicit null.

// Kinds of objects, as the API names them.
const (
	KindProduct       = "product"
	KindPrice         = "price"
	KindSession       = "checkout.session"
	KindIntent        = "payment_intent"
	KindCharge        = "charge"
	KindRefund        = "refund"
	KindCustomer      = "customer"
	KindSubscription  = "subscription"
	KindInvoice       = "invoice"
	KindEvent         = "event"
	KindEndpoint      = "webhook_endpoint"
	KindShippingRate  = "shipping_rate"
	KindAttempt       = "sandbox.attempt" // a card payment that waits for the buyer's bank
	KindDebit         = "sandbox.debit"   // a bank debit that is on its way
	ObjectItem        = "item"
	objectList        = "list"
	BillingSchemeUnit = "per_unit"
)

// Product is a thing that is sold.
type Product struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	Active      bool              `json:"active"`
	Created     int64             `json:"created"`
	Default     *string           `json:"default_price"`
	Description *string           `json:"description"`
	Images      []string          `json:"images"`
	Livemode    bool              `json:"livemode"`
	Features    []string          `json:"marketing_features"`
	Metadata    map[string]string `json:"metadata"`
	Name        string            `json:"name"`
	Shippable   *bool             `json:"shippable"`
	Descriptor  *string           `json:"statement_descriptor"`
	TaxCode     *string           `json:"tax_code"`
	Type        string            `json:"type"`
	UnitLabel   *string           `json:"unit_label"`
	Updated     int64             `json:"updated"`
	URL         *string           `json:"url"`
}

// Price is one way to pay for a product. Its amount never changes.
type Price struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"`
	Active       bool              `json:"active"`
	Scheme       string            `json:"billing_scheme"`
	Created      int64             `json:"created"`
	Currency     string            `json:"currency"`
	CustomAmount *string           `json:"custom_unit_amount"`
	Livemode     bool              `json:"livemode"`
	LookupKey    *string           `json:"lookup_key"`
	Metadata     map[string]string `json:"metadata"`
	Nickname     *string           `json:"nickname"`
	Product      string            `json:"product"`
	Recurring    *Recurring        `json:"recurring"`
	TaxBehavior  string            `json:"tax_behavior"`
	TiersMode    *string           `json:"tiers_mode"`
	Transform    *string           `json:"transform_quantity"`
	Type         string            `json:"type"`
	Amount       int64             `json:"unit_amount"`
	AmountText   string            `json:"unit_amount_decimal"`
}

// Recurring is how often a price is billed.
type Recurring struct {
	Interval      string  `json:"interval"`
	IntervalCount int64   `json:"interval_count"`
	Meter         *string `json:"meter"`
	TrialDays     *int64  `json:"trial_period_days"`
	UsageType     string  `json:"usage_type"`
}

// List is one page of objects.
type List struct {
	Object  string `json:"object"`
	Data    []any  `json:"data"`
	HasMore bool   `json:"has_more"`
	URL     string `json:"url"`
}

// NewList returns a page of the list at url.
func NewList(url string, data []any, more bool) *List {
	if data == nil {
		data = []any{}
	}
	return &List{Object: objectList, Data: data, HasMore: more, URL: url}
}

// Branding is how the hosted page presents the store.
type Branding struct {
	DisplayName string `json:"display_name"`
}

// Session is one visit to the hosted page.
type Session struct {
	ID                string              `json:"id"`
	Object            string              `json:"object"`
	AdaptivePricing   *Enabled            `json:"adaptive_pricing"`
	AmountSubtotal    int64               `json:"amount_subtotal"`
	AmountTotal       int64               `json:"amount_total"`
	AutomaticTax      AutomaticTax        `json:"automatic_tax"`
	BillingAddress    string              `json:"billing_address_collection"`
	Branding          *Branding           `json:"branding_settings"`
	CancelURL         *string             `json:"cancel_url"`
	ClientReferenceID *string             `json:"client_reference_id"`
	Collected         *Collected          `json:"collected_information"`
	Created           int64               `json:"created"`
	Currency          string              `json:"currency"`
	Customer          *string             `json:"customer"`
	CustomerCreation  *string             `json:"customer_creation"`
	CustomerDetails   *CustomerDetails    `json:"customer_details"`
	CustomerEmail     *string             `json:"customer_email"`
	ExpiresAt         int64               `json:"expires_at"`
	Invoice           *string             `json:"invoice"`
	Livemode          bool                `json:"livemode"`
	Locale            *string             `json:"locale"`
	Metadata          map[string]string   `json:"metadata"`
	Mode              string              `json:"mode"`
	PaymentIntent     *string             `json:"payment_intent"`
	MethodCollection  string              `json:"payment_method_collection"`
	MethodTypes       []string            `json:"payment_method_types"`
	PaymentStatus     string              `json:"payment_status"`
	SetupIntent       *string             `json:"setup_intent"`
	ShippingAddress   *ShippingCollection `json:"shipping_address_collection"`
	ShippingCost      *ShippingCost       `json:"shipping_cost"`
	ShippingOptions   []ShippingOption    `json:"shipping_options"`
	Status            string              `json:"status"`
	Subscription      *string             `json:"subscription"`
	SuccessURL        string              `json:"success_url"`
	TotalDetails      TotalDetails        `json:"total_details"`
	UIMode            string              `json:"ui_mode"`
	URL               *string             `json:"url"`

	Private SessionPrivate `json:"-"`
}

// SessionPrivate is what the page needs and the API does not show.
type SessionPrivate struct {
	Lines            []*LineItem       `json:"lines"`
	IntentMetadata   map[string]string `json:"intent_metadata,omitempty"`
	IntentText       *string           `json:"intent_text,omitempty"`
	SubMetadata      map[string]string `json:"subscription_metadata,omitempty"`
	SubText          *string           `json:"subscription_text,omitempty"`
	TrialDays        int64             `json:"trial_days,omitempty"`
	Intent           string            `json:"intent,omitempty"` // made at the first attempt, also a declined one
	PaidBy           string            `json:"paid_by,omitempty"`
	PaymentMethod    string            `json:"payment_method,omitempty"`
	MissingMethodEnd string            `json:"missing_method_end,omitempty"`
}

// Enabled is a switch.
type Enabled struct {
	Enabled bool `json:"enabled"`
}

// AutomaticTax says whether the sandbox adds its tax.
type AutomaticTax struct {
	Enabled bool    `json:"enabled"`
	Status  *string `json:"status"`
}

// TotalDetails splits a total.
type TotalDetails struct {
	Discount int64 `json:"amount_discount"`
	Shipping int64 `json:"amount_shipping"`
	Tax      int64 `json:"amount_tax"`
}

// Address is a postal address. Country is an ISO 3166 code of two letters.
type Address struct {
	City       string `json:"city"`
	Country    string `json:"country"`
	Line1      string `json:"line1"`
	Line2      string `json:"line2"`
	PostalCode string `json:"postal_code"`
	State      string `json:"state"`
}

// CustomerDetails is what the buyer entered.
type CustomerDetails struct {
	Address   *Address `json:"address"`
	Email     string   `json:"email"`
	Name      string   `json:"name"`
	Phone     *string  `json:"phone"`
	TaxExempt string   `json:"tax_exempt"`
	TaxIDs    []string `json:"tax_ids"`
}

// Collected holds the address that goods are sent to.
type Collected struct {
	Shipping *ShippingDetails `json:"shipping_details"`
}

// ShippingDetails is a name and an address.
type ShippingDetails struct {
	Address *Address `json:"address"`
	Name    string   `json:"name"`
}

// ShippingCollection names the countries that goods are sent to.
type ShippingCollection struct {
	Countries []string `json:"allowed_countries"`
}

// ShippingCost is the chosen way of shipping.
type ShippingCost struct {
	Subtotal int64   `json:"amount_subtotal"`
	Tax      int64   `json:"amount_tax"`
	Total    int64   `json:"amount_total"`
	Rate     *string `json:"shipping_rate"`
}

// ShippingOption is one way of shipping that the buyer may choose.
type ShippingOption struct {
	Amount int64  `json:"shipping_amount"`
	Rate   string `json:"shipping_rate"`
}

// ShippingRate is a way of shipping and its price.
type ShippingRate struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	Active      bool              `json:"active"`
	Created     int64             `json:"created"`
	Estimate    *Estimate         `json:"delivery_estimate"`
	DisplayName string            `json:"display_name"`
	Fixed       *Money            `json:"fixed_amount"`
	Livemode    bool              `json:"livemode"`
	Metadata    map[string]string `json:"metadata"`
	TaxBehavior string            `json:"tax_behavior"`
	TaxCode     *string           `json:"tax_code"`
	Type        string            `json:"type"`
}

// Money is an amount as the API sends it; see currency.go for its unit.
type Money struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// Estimate says how long shipping takes.
type Estimate struct {
	Maximum *EstimateBound `json:"maximum"`
	Minimum *EstimateBound `json:"minimum"`
}

// EstimateBound is a number of hours, days, business days, weeks or months.
type EstimateBound struct {
	Unit  string `json:"unit"`
	Value int64  `json:"value"`
}

// LineItem is a price and how often it is bought.
type LineItem struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	Discount    int64             `json:"amount_discount"`
	Subtotal    int64             `json:"amount_subtotal"`
	Tax         int64             `json:"amount_tax"`
	Total       int64             `json:"amount_total"`
	Currency    string            `json:"currency"`
	Description string            `json:"description"`
	Metadata    map[string]string `json:"metadata"`
	Price       *Price            `json:"price"`
	Quantity    int64             `json:"quantity"`
}
