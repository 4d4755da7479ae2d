package payments

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/typeid"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payform"
)

// Bounds of a session's life.
const (
	MinSessionLife     = 30 * time.Minute
	MaxSessionLife     = 24 * time.Hour
	maxLineItems       = 100
	maxShippingOptions = 5
)

// SessionParams opens a session.
type SessionParams struct {
	Mode                   string
	Lines                  []LineParams
	SuccessURL, CancelURL  string
	ClientReferenceID      string
	CustomerEmail          string
	CustomerCreation       string // empty: if_required
	DisplayName            string // of the store; empty: its host
	Locale                 string
	Currency               string // empty: that of the prices
	UIMode                 string // empty: hosted_page
	BillingAddress         string // empty: auto
	MethodCollection       string // empty: always
	MethodTypes            []string
	ExpiresAt              int64 // Unix seconds; zero: in 24 hours
	AutomaticTax           bool
	Metadata               map[string]string
	IntentMetadata         map[string]string
	IntentText             *string
	IntentGiven            bool
	SubscriptionMetadata   map[string]string
	SubscriptionText       *string
	SubscriptionGiven      bool
	TrialDays              int64
	MissingMethodEnd       string
	ShippingCountries      []string
	ShippingCountriesGiven bool
	ShippingOptions        []ShippingOptionParams
	PageURL                func(id string) string // address of the hosted page
}

// LineParams is one price and how often it is bought.
type LineParams struct {
	Price    string
	Quantity int64
	Metadata map[string]string
}

// ShippingOptionParams names a shipping rate or describes a new one.
type ShippingOptionParams struct {
	Rate string
	Data *ShippingRateParams
}

// CreateSession opens a session. It charges nothing.
func (tx *Tx) CreateSession(ctx context.Context, in SessionParams) (*object.Session, error) {
	if err := in.check(tx.now); err != nil {
		return nil, err
	}
	id := typeid.New("cs_test")
	url := in.PageURL(id)
	o := &object.Session{
		ID: id, Object: object.KindSession, AutomaticTax: object.AutomaticTax{Enabled: in.AutomaticTax},
		AdaptivePricing: &object.Enabled{}, BillingAddress: or(in.BillingAddress, "auto"),
		CancelURL: orNil(in.CancelURL), Branding: &object.Branding{DisplayName: in.DisplayName},
		ClientReferenceID: orNil(in.ClientReferenceID), Created: tx.now.Unix(), CustomerEmail: orNil(in.CustomerEmail),
		ExpiresAt: in.ExpiresAt, Locale: orNil(in.Locale), Metadata: map[string]string{}, Mode: in.Mode,
		MethodCollection: or(in.MethodCollection, "always"), MethodTypes: in.methods(),
		PaymentStatus:   object.PaymentUnpaid,
		ShippingOptions: []object.ShippingOption{}, Status: object.SessionOpen, SuccessURL: in.SuccessURL,
		UIMode: or(in.UIMode, "hosted_page"), URL: &url,
		Private: object.SessionPrivate{
			IntentText: in.IntentText, SubText: in.SubscriptionText, TrialDays: in.TrialDays,
			MissingMethodEnd: in.MissingMethodEnd,
		},
	}
	if o.ExpiresAt == 0 {
		o.ExpiresAt = tx.now.Add(MaxSessionLife).Unix()
	}
	if in.Mode == object.ModePayment {
		o.CustomerCreation = new(or(in.CustomerCreation, "if_required"))
	}
	if err := in.metadata(o); err != nil {
		return nil, err
	}
	if err := tx.addLines(ctx, o, in); err != nil {
		return nil, err
	}
	if err := tx.addShipping(ctx, o, in); err != nil {
		return nil, err
	}
	if err := o.Total(); err != nil {
		return nil, err
	}
	return o, tx.insert(ctx, o)
}

func (in SessionParams) metadata(o *object.Session) error {
	if err := mergeMetadata(&o.Metadata, in.Metadata, "metadata"); err != nil {
		return err
	}
	if err := mergeMetadata(&o.Private.IntentMetadata, in.IntentMetadata, "payment_intent_data[metadata]"); err != nil {
		return err
	}
	return mergeMetadata(&o.Private.SubMetadata, in.SubscriptionMetadata, "subscription_data[metadata]")
}

func (in SessionParams) methods() []string {
	if len(in.MethodTypes) > 0 {
		return in.MethodTypes
	}
	if in.Mode == object.ModePayment {
		return []string{object.MethodCard, object.MethodDebit}
	}
	return []string{object.MethodCard}
}

var localeTag = regexp.MustCompile(`^(auto|[a-z]{2,3}(-[A-Z0-9]{2,3})?)$`)

// check holds the rules that need no look at the catalog.
func (in SessionParams) check(now time.Time) error {
	if err := in.checkMode(); err != nil {
		return err
	}
	for _, u := range []struct{ param, url string }{{"success_url", in.SuccessURL}, {"cancel_url", in.CancelURL}} {
		if u.url != "" && !webURL(u.url) {
			return object.Invalid(u.param, "url_invalid", "Not a valid URL")
		}
	}
	if in.ExpiresAt != 0 {
		life := time.Unix(in.ExpiresAt, 0).Sub(now.Truncate(time.Second))
		if life < MinSessionLife {
			return object.Invalid("expires_at", "",
				"The `expires_at` timestamp must be at least 30 minutes from Checkout Session creation.")
		}
		if life > MaxSessionLife {
			return object.Invalid("expires_at", "",
				"The `expires_at` timestamp must be less than 24 hours from Checkout Session creation.")
		}
	}
	if in.CustomerEmail != "" && !payform.ValidEmail(in.CustomerEmail) {
		return object.Invalid("customer_email", "email_invalid", "Invalid email address: %s", in.CustomerEmail)
	}
	if len(in.ClientReferenceID) > 200 {
		return object.Invalid("client_reference_id", "", "A client reference has at most 200 characters.")
	}
	if in.Locale != "" && !localeTag.MatchString(in.Locale) {
		return object.Invalid("locale", "", "Invalid locale: %s", in.Locale)
	}
	return in.checkChoices()
}

func (in SessionParams) checkMode() error {
	switch {
	case in.Mode == "":
		return object.Missing("mode")
	case in.Mode != object.ModePayment && in.Mode != object.ModeSubscription:
		return object.Invalid("mode", "", "Invalid mode: the sandbox takes payment and subscription")
	case in.SuccessURL == "":
		return object.Missing("success_url")
	case len(in.Lines) == 0:
		return object.Missing("line_items")
	case len(in.Lines) > maxLineItems:
		return object.Invalid("line_items", "", "A session has at most %d line items.", maxLineItems)
	case in.Mode != object.ModePayment && in.IntentGiven:
		return object.Invalid("payment_intent_data",
			"", "You can not pass `payment_intent_data` in `subscription` mode.")
	case in.Mode != object.ModeSubscription && in.SubscriptionGiven:
		return object.Invalid("subscription_data", "", "You can not pass `subscription_data` in `payment` mode.")
	case in.Mode != object.ModeSubscription && in.MethodCollection != "":
		return object.Invalid("payment_method_collection",
			"", "You can only set `payment_method_collection` if there are recurring prices.")
	case in.Mode != object.ModePayment && in.CustomerCreation != "":
		return object.Invalid("customer_creation", "", "You can only pass `customer_creation` in `payment` mode.")
	case in.TrialDays < 0 || in.TrialDays > 730:
		return object.Invalid("subscription_data[trial_period_days]", "", "A trial lasts 1 to 730 days.")
	}
	return nil
}

// checkChoices holds the parameters that take one of a few words.
func (in SessionParams) checkChoices() error {
	choices := []struct {
		param, value string
		allowed      []string
	}{
		{"ui_mode", in.UIMode, []string{"hosted_page", "hosted"}},
		{"billing_address_collection", in.BillingAddress, []string{"auto", "required"}},
		{"payment_method_collection", in.MethodCollection, []string{"always", "if_required"}},
		{"customer_creation", in.CustomerCreation, []string{"always", "if_required"}},
		{
			"subscription_data[trial_settings][end_behavior][missing_payment_method]", in.MissingMethodEnd,
			[]string{"cancel", "create_invoice", "pause"},
		},
	}
	for _, t := range in.MethodTypes {
		choices = append(choices, struct {
			param, value string
			allowed      []string
		}{"payment_method_types", t, []string{object.MethodCard, object.MethodDebit}})
	}
	for _, c := range choices {
		if c.value != "" && !slices.Contains(c.allowed, c.value) {
			return object.Invalid(c.param, "", "Invalid %s: must be one of %s", c.param, strings.Join(c.allowed, ", "))
		}
	}
	if in.Mode == object.ModeSubscription && slices.Contains(in.MethodTypes, object.MethodDebit) {
		return object.Invalid("payment_method_types", "", "The sandbox takes bank debits in `payment` mode only.")
	}
	return nil
}

// session reads a session for change. One whose time is over becomes expired
// on the way, so that no other code has to think of it.
func (tx *Tx) session(ctx context.Context, id, param string) (*object.Session, error) {
	o, err := load[object.Session](ctx, tx.View, id, param)
	if err != nil || o.Status != object.SessionOpen || tx.now.Unix() < o.ExpiresAt {
		return o, err
	}
	return o, tx.expire(ctx, o)
}

// ExpireSession ends an open session. It returns an error of status 400 for
// one that is paid or expired already.
func (tx *Tx) ExpireSession(ctx context.Context, id string) (*object.Session, error) {
	o, err := load[object.Session](ctx, tx.View, id, "session")
	if err != nil {
		return nil, err
	}
	if o.Status != object.SessionOpen {
		return nil, object.RefusedByState("session", "",
			"Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout Session has a status "+
				"of \"%s\".", o.Status)
	}
	return o, tx.expire(ctx, o)
}

func (tx *Tx) expire(ctx context.Context, o *object.Session) error {
	o.Status, o.URL = object.SessionExpired, nil
	if err := tx.update(ctx, o); err != nil {
		return err
	}
	return tx.emit(ctx, "checkout.session.expired", o)
}

// Session returns a session as it is stored.
func (v View) Session(ctx context.Context, id string) (*object.Session, error) {
	return load[object.Session](ctx, v, id, "session")
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
