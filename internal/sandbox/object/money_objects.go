package object

// PaymentIntent is the wish to take one amount once.
type PaymentIntent struct {
	ID             string            `json:"id"`
	Object         string            `json:"object"`
	Amount         int64             `json:"amount"`
	Capturable     int64             `json:"amount_capturable"`
	Received       int64             `json:"amount_received"`
	CanceledAt     *int64            `json:"canceled_at"`
	CaptureMethod  string            `json:"capture_method"`
	Created        int64             `json:"created"`
	Currency       string            `json:"currency"`
	Customer       *string           `json:"customer"`
	Description    *string           `json:"description"`
	LastError      *LastError        `json:"last_payment_error"`
	LatestCharge   *string           `json:"latest_charge"`
	Livemode       bool              `json:"livemode"`
	Metadata       map[string]string `json:"metadata"`
	PaymentMethod  *string           `json:"payment_method"`
	MethodTypes    []string          `json:"payment_method_types"`
	ReceiptEmail   *string           `json:"receipt_email"`
	Shipping       *ShippingDetails  `json:"shipping"`
	Status         string            `json:"status"`
	StatementShort *string           `json:"statement_descriptor"`

	Private IntentPrivate `json:"-"`
}

// IntentPrivate is what the API does not show of a payment intent.
type IntentPrivate struct {
	For string `json:"for"` // the session or invoice that is paid
}

// LastError is why the last attempt of a payment failed.
type LastError struct {
	Code        string `json:"code"`
	DeclineCode string `json:"decline_code,omitempty"`
	Message     string `json:"message"`
	Type        string `json:"type"`
}

// Charge is money taken, or on its way.
type Charge struct {
	ID             string            `json:"id"`
	Object         string            `json:"object"`
	Amount         int64             `json:"amount"`
	Captured       int64             `json:"amount_captured"`
	AmountRefunded int64             `json:"amount_refunded"`
	Billing        BillingDetails    `json:"billing_details"`
	IsCaptured     bool              `json:"captured"`
	Created        int64             `json:"created"`
	Currency       string            `json:"currency"`
	Customer       *string           `json:"customer"`
	Description    *string           `json:"description"`
	Disputed       bool              `json:"disputed"`
	FailureCode    *string           `json:"failure_code"`
	FailureMessage *string           `json:"failure_message"`
	Livemode       bool              `json:"livemode"`
	Metadata       map[string]string `json:"metadata"`
	Outcome        *Outcome          `json:"outcome"`
	Paid           bool              `json:"paid"`
	PaymentIntent  string            `json:"payment_intent"`
	PaymentMethod  *string           `json:"payment_method"`
	MethodDetails  MethodDetails     `json:"payment_method_details"`
	ReceiptEmail   *string           `json:"receipt_email"`
	Refunded       bool              `json:"refunded"`
	Shipping       *ShippingDetails  `json:"shipping"`
	Status         string            `json:"status"`
}

// Outcome is what the networks said of a charge.
type Outcome struct {
	NetworkStatus string `json:"network_status"`
	SellerMessage string `json:"seller_message"`
	Type          string `json:"type"`
}

// BillingDetails is who pays.
type BillingDetails struct {
	Address *Address `json:"address"`
	Email   string   `json:"email"`
	Name    string   `json:"name"`
	Phone   *string  `json:"phone"`
}

// MethodDetails is how a charge was paid. Of a card it holds the brand and the
// last four digits, nothing else.
type MethodDetails struct {
	Type string      `json:"type"`
	Card *CardFacts  `json:"card,omitempty"`
	Bank *BankDetail `json:"us_bank_account,omitempty"`
}

// CardFacts is all that is kept of a card.
type CardFacts struct {
	Brand    string `json:"brand"`
	Last4    string `json:"last4"`
	ExpMonth int    `json:"exp_month"`
	ExpYear  int    `json:"exp_year"`
	Funding  string `json:"funding"`
	Country  string `json:"country"`
}

// BankDetail is all that is kept of a test bank debit.
type BankDetail struct {
	BankName string `json:"bank_name"`
	Last4    string `json:"last4"`
}

// Refund is money given back.
type Refund struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	Amount        int64             `json:"amount"`
	Charge        string            `json:"charge"`
	Created       int64             `json:"created"`
	Currency      string            `json:"currency"`
	Metadata      map[string]string `json:"metadata"`
	PaymentIntent string            `json:"payment_intent"`
	Reason        *string           `json:"reason"`
	ReceiptNumber *string           `json:"receipt_number"`
	Status        string            `json:"status"`
}

// Customer is who subscribed.
type Customer struct {
	ID       string            `json:"id"`
	Object   string            `json:"object"`
	Address  *Address          `json:"address"`
	Balance  int64             `json:"balance"`
	Created  int64             `json:"created"`
	Currency *string           `json:"currency"`
	Email    string            `json:"email"`
	Livemode bool              `json:"livemode"`
	Metadata map[string]string `json:"metadata"`
	Name     string            `json:"name"`
	Phone    *string           `json:"phone"`
	Shipping *ShippingDetails  `json:"shipping"`
}

// Subscription is a price that is billed again and again.
type Subscription struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"`
	AutomaticTax     AutomaticTax      `json:"automatic_tax"`
	BillingAnchor    int64             `json:"billing_cycle_anchor"`
	CancelAt         *int64            `json:"cancel_at"`
	CancelAtEnd      bool              `json:"cancel_at_period_end"`
	CanceledAt       *int64            `json:"canceled_at"`
	CollectionMethod string            `json:"collection_method"`
	Created          int64             `json:"created"`
	Currency         string            `json:"currency"`
	Customer         string            `json:"customer"`
	DefaultMethod    *string           `json:"default_payment_method"`
	Description      *string           `json:"description"`
	EndedAt          *int64            `json:"ended_at"`
	Items            *List             `json:"items"`
	LatestInvoice    *string           `json:"latest_invoice"`
	Livemode         bool              `json:"livemode"`
	Metadata         map[string]string `json:"metadata"`
	StartDate        int64             `json:"start_date"`
	Status           string            `json:"status"`
	TrialEnd         *int64            `json:"trial_end"`
	TrialStart       *int64            `json:"trial_start"`

	Private SubscriptionPrivate `json:"-"`
}

// SubscriptionPrivate is what billing needs and the API does not show.
type SubscriptionPrivate struct {
	Session   string         `json:"session"`
	Items     []*SubItem     `json:"items"`
	TaxOn     bool           `json:"tax_on"`
	Method    *MethodDetails `json:"method,omitempty"` // nil: none was collected
	FailsOff  bool           `json:"fails_later"`      // the card refuses later charges
	Billing   BillingDetails `json:"billing"`
	EndAction string         `json:"end_action,omitempty"`
}

// SubItem is one price of a subscription and its current period.
type SubItem struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"`
	Created      int64             `json:"created"`
	PeriodEnd    int64             `json:"current_period_end"`
	PeriodStart  int64             `json:"current_period_start"`
	Metadata     map[string]string `json:"metadata"`
	Price        *Price            `json:"price"`
	Quantity     int64             `json:"quantity"`
	Subscription string            `json:"subscription"`
}

// Invoice is one bill of a subscription.
type Invoice struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	AmountDue     int64             `json:"amount_due"`
	AmountPaid    int64             `json:"amount_paid"`
	AmountLeft    int64             `json:"amount_remaining"`
	AttemptCount  int64             `json:"attempt_count"`
	Attempted     bool              `json:"attempted"`
	BillingReason string            `json:"billing_reason"`
	Collection    string            `json:"collection_method"`
	Created       int64             `json:"created"`
	Currency      string            `json:"currency"`
	Customer      string            `json:"customer"`
	CustomerEmail string            `json:"customer_email"`
	CustomerName  string            `json:"customer_name"`
	Lines         *List             `json:"lines"`
	Livemode      bool              `json:"livemode"`
	Metadata      map[string]string `json:"metadata"`
	Number        string            `json:"number"`
	Parent        InvoiceParent     `json:"parent"`
	Payments      *List             `json:"payments"`
	PeriodEnd     int64             `json:"period_end"`
	PeriodStart   int64             `json:"period_start"`
	Status        string            `json:"status"`
	Subtotal      int64             `json:"subtotal"`
	Total         int64             `json:"total"`
}

// InvoiceParent says which subscription an invoice bills.
type InvoiceParent struct {
	Type    string `json:"type"`
	Details struct {
		Subscription string `json:"subscription"`
	} `json:"subscription_details"`
}

// Event is a change for webhook receivers.
type Event struct {
	ID         string       `json:"id"`
	Object     string       `json:"object"`
	APIVersion string       `json:"api_version"`
	Created    int64        `json:"created"`
	Data       EventData    `json:"data"`
	Livemode   bool         `json:"livemode"`
	Pending    int64        `json:"pending_webhooks"`
	Request    EventRequest `json:"request"`
	Type       string       `json:"type"`
}

// EventData holds the object as it was when the event happened.
type EventData struct {
	Object any `json:"object"`
}

// EventRequest is the call that caused an event; both are null when no call did.
type EventRequest struct {
	ID  *string `json:"id"`
	Key *string `json:"idempotency_key"`
}

// Endpoint is an address that events are posted to.
type Endpoint struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	APIVersion  *string           `json:"api_version"`
	Created     int64             `json:"created"`
	Description *string           `json:"description"`
	Events      []string          `json:"enabled_events"`
	Livemode    bool              `json:"livemode"`
	Metadata    map[string]string `json:"metadata"`
	Secret      string            `json:"secret,omitempty"` // shown once, in the response to its making
	Status      string            `json:"status"`
	URL         string            `json:"url"`

	Private EndpointPrivate `json:"-"`
}

// EndpointPrivate holds the secret that is shown once.
type EndpointPrivate struct {
	Secret string `json:"secret"`
}
