package stripeapi

import (
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payments"
	"ace/internal/sandbox/stripeform"
)

// What the forms of the API mean. Each function reads every name that it
// knows; Err then refuses the rest.

func productParams(f *stripeform.Reader) payments.ProductParams {
	in := payments.ProductParams{
		Name: f.Text("name"), Description: f.Text("description"), TaxCode: f.Text("tax_code"), URL: f.Text("url"),
		UnitLabel: f.Text("unit_label"), Descriptor: f.Text("statement_descriptor"),
		Active: f.Bool("active"), Shippable: f.Bool("shippable"), Metadata: f.Map("metadata"),
	}
	in.Images, _ = f.Strings("images")
	return in
}

func priceParams(f *stripeform.Reader) payments.PriceParams {
	in := payments.PriceParams{
		Nickname: f.Text("nickname"), LookupKey: f.Text("lookup_key"), TaxBehavior: f.Text("tax_behavior"),
		Active: f.Bool("active"), Metadata: f.Map("metadata"),
	}
	if move := f.Bool("transfer_lookup_key"); move != nil {
		in.TransferLookupKey = *move
	}
	return in
}

func newPriceParams(f *stripeform.Reader) (payments.PriceParams, error) {
	in := priceParams(f)
	in.Currency, in.Product, in.Amount = f.String("currency"), f.String("product"), f.Int("unit_amount")
	if data := f.Object("product_data"); data != nil {
		p := payments.ProductParams{
			ID: data.String("id"), Name: data.Text("name"), Active: data.Bool("active"), TaxCode: data.Text("tax_code"),
			UnitLabel: data.Text("unit_label"), Descriptor: data.Text("statement_descriptor"),
			Metadata: data.Map("metadata"),
		}
		in.ProductData = &p
	}
	if r := f.Object("recurring"); r != nil {
		in.Recurring = &object.Recurring{
			Interval: r.String("interval"), IntervalCount: r.IntOr("interval_count", 1), UsageType: "licensed",
			TrialDays: r.Int("trial_period_days"),
		}
		if usage := r.String("usage_type"); usage != "" {
			in.Recurring.UsageType = usage
		}
	}
	if scheme := f.String("billing_scheme"); scheme != "" && scheme != "per_unit" {
		return in, object.Invalid("billing_scheme", "", "The sandbox sells per_unit prices only.")
	}
	return in, f.Err()
}

func sessionParams(f *stripeform.Reader) payments.SessionParams {
	in := payments.SessionParams{
		Mode: f.String("mode"), SuccessURL: f.String("success_url"), CancelURL: f.String("cancel_url"),
		ClientReferenceID: f.String("client_reference_id"), CustomerEmail: f.String("customer_email"),
		CustomerCreation: f.String("customer_creation"), Locale: f.String("locale"), Currency: f.String("currency"),
		UIMode: f.String("ui_mode"), BillingAddress: f.String("billing_address_collection"),
		MethodCollection: f.String("payment_method_collection"), ExpiresAt: f.IntOr("expires_at", 0),
		Metadata: f.Map("metadata"),
	}
	in.MethodTypes, _ = f.Strings("payment_method_types")
	for _, l := range f.Objects("line_items") {
		in.Lines = append(in.Lines, payments.LineParams{
			Price: l.String("price"), Quantity: l.IntOr("quantity", 0),
			Metadata: l.Map("metadata"),
		})
	}
	if b := f.Object("branding_settings"); b != nil {
		in.DisplayName = b.String("display_name")
	}
	if tax := f.Object("automatic_tax"); tax != nil {
		enabled := tax.Bool("enabled")
		in.AutomaticTax = enabled != nil && *enabled
	}
	if d := f.Object("payment_intent_data"); d != nil {
		in.IntentGiven, in.IntentMetadata, in.IntentText = true, d.Map("metadata"), d.Text("description")
	}
	if d := f.Object("subscription_data"); d != nil {
		in.SubscriptionGiven, in.SubscriptionMetadata, in.SubscriptionText = true, d.Map("metadata"), d.Text(
			"description")
		if in.TrialDays = d.IntOr("trial_period_days", 0); d.Has("trial_period_days") && in.TrialDays == 0 {
			in.TrialDays = -1 // zero days are no trial, and no valid value either
		}
		if trial := d.Object("trial_settings"); trial != nil {
			if end := trial.Object("end_behavior"); end != nil {
				in.MissingMethodEnd = end.String("missing_payment_method")
			}
		}
	}
	if ship := f.Object("shipping_address_collection"); ship != nil {
		in.ShippingCountriesGiven = true
		in.ShippingCountries, _ = ship.Strings("allowed_countries")
	}
	for _, o := range f.Objects("shipping_options") {
		in.ShippingOptions = append(in.ShippingOptions, shippingOption(o))
	}
	return in
}

func shippingOption(o *stripeform.Reader) payments.ShippingOptionParams {
	in := payments.ShippingOptionParams{Rate: o.String("shipping_rate")}
	data := o.Object("shipping_rate_data")
	if data == nil {
		return in
	}
	rate := shippingRateParams(data)
	in.Data = &rate
	return in
}

func shippingRateParams(f *stripeform.Reader) payments.ShippingRateParams {
	in := payments.ShippingRateParams{
		DisplayName: f.String("display_name"), Type: f.String("type"), TaxBehavior: f.String("tax_behavior"),
		TaxCode: f.String("tax_code"), Metadata: f.Map("metadata"),
	}
	if m := f.Object("fixed_amount"); m != nil {
		in.Fixed = &object.Money{Amount: m.IntOr("amount", 0), Currency: m.String("currency")}
	}
	if e := f.Object("delivery_estimate"); e != nil {
		in.Estimate = &object.Estimate{Minimum: bound(e.Object("minimum")), Maximum: bound(e.Object("maximum"))}
	}
	return in
}

func bound(f *stripeform.Reader) *object.EstimateBound {
	if f == nil {
		return nil
	}
	return &object.EstimateBound{Unit: f.String("unit"), Value: f.IntOr("value", 0)}
}

// query reads the parameters that every list has.
func query(f *stripeform.Reader) (payments.Query, error) {
	q := payments.Query{
		Limit:         int(f.IntOr("limit", payments.DefaultLimit)),
		StartingAfter: f.String("starting_after"), EndingBefore: f.String("ending_before"),
	}
	if q.Limit < 1 || q.Limit > payments.MaxLimit {
		return q, object.Invalid("limit", "parameter_invalid_integer", "Invalid limit: a page holds 1 to %d objects.",
			payments.MaxLimit)
	}
	if q.StartingAfter != "" && q.EndingBefore != "" {
		return q, object.Invalid("ending_before",
			"", "You may only specify one of these parameters: starting_after, ending_before.")
	}
	return q, nil
}

// created reads created=… and created[gte]=….
func created(f *stripeform.Reader, q *payments.Query) {
	if !f.Has("created") {
		return
	}
	r := f.Object("created")
	if r == nil {
		return
	}
	if v := r.Int("gte"); v != nil {
		q.Since = *v
	}
	if v := r.Int("gt"); v != nil {
		q.Since = *v + 1
	}
	if v := r.Int("lt"); v != nil {
		q.Until = *v
	}
	if v := r.Int("lte"); v != nil {
		q.Until = *v + 1
	}
}
