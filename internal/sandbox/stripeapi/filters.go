package stripeapi

import (
	"slices"

	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payments"
)

func noFilter(*call, *payments.Query) error { return nil }

// activeStatus is how an object's "active" is searched for.
func activeStatus(c *call, q *payments.Query) {
	if active := c.form.Bool("active"); active != nil {
		q.Status = "inactive"
		if *active {
			q.Status = "active"
		}
	}
}

// every is true when all conditions are.
func every[T any](conditions ...func(*T) bool) func(any) bool {
	return func(o any) bool {
		v, ok := o.(*T)
		return ok && !slices.ContainsFunc(conditions, func(c func(*T) bool) bool { return !c(v) })
	}
}

// same is a condition on one field; an empty want is met by everything.
func same[T any](want string, field func(*T) string) func(*T) bool {
	return func(o *T) bool { return want == "" || field(o) == want }
}

func among[T any](want []string, given bool, field func(*T) string) func(*T) bool {
	return func(o *T) bool { return !given || slices.Contains(want, field(o)) }
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func productFilter(c *call, q *payments.Query) error {
	activeStatus(c, q)
	created(c.form, q)
	ids, given := c.form.Strings("ids")
	shippable := c.form.Bool("shippable")
	q.Match = every(
		among(ids, given, func(o *object.Product) string { return o.ID }),
		same(c.form.String("url"), func(o *object.Product) string { return deref(o.URL) }),
		func(o *object.Product) bool {
			return shippable == nil || (o.Shippable != nil && *o.Shippable == *shippable)
		},
	)
	return nil
}

func priceFilter(c *call, q *payments.Query) error {
	activeStatus(c, q)
	created(c.form, q)
	q.Link = c.form.String("product")
	keys, given := c.form.Strings("lookup_keys")
	if len(keys) > 10 {
		return object.Invalid("lookup_keys", "", "A list takes at most 10 lookup keys.")
	}
	kind := c.form.String("type")
	if kind != "" && kind != "one_time" && kind != "recurring" {
		return object.Invalid("type", "", "Invalid type: must be one of one_time or recurring")
	}
	interval := ""
	if r := c.form.Object("recurring"); r != nil {
		interval = r.String("interval")
	}
	q.Match = every(
		among(keys, given, func(o *object.Price) string { return deref(o.LookupKey) }),
		same(kind, func(o *object.Price) string { return o.Type }),
		same(c.form.String("currency"), func(o *object.Price) string { return o.Currency }),
		func(o *object.Price) bool {
			return interval == "" || (o.Recurring != nil && o.Recurring.Interval == interval)
		},
	)
	return nil
}

func sessionFilter(c *call, q *payments.Query) error {
	created(c.form, q)
	q.Status = c.form.String("status")
	if !slices.Contains([]string{"", "open", "complete", "expired"}, q.Status) {
		return object.Invalid("status", "", "Invalid status: must be one of open, complete, or expired")
	}
	email := ""
	if d := c.form.Object("customer_details"); d != nil {
		email = d.String("email")
	}
	q.Match = every(
		same(c.form.String("payment_intent"), func(o *object.Session) string { return deref(o.PaymentIntent) }),
		same(c.form.String("subscription"), func(o *object.Session) string { return deref(o.Subscription) }),
		same(c.form.String("customer"), func(o *object.Session) string { return deref(o.Customer) }),
		func(o *object.Session) bool {
			return email == "" || (o.CustomerDetails != nil && o.CustomerDetails.Email == email)
		},
	)
	return nil
}

func byCustomer(c *call, q *payments.Query) error {
	created(c.form, q)
	q.Link = c.form.String("customer")
	return nil
}

func customerFilter(c *call, q *payments.Query) error {
	created(c.form, q)
	q.Match = every(same(c.form.String("email"), func(o *object.Customer) string { return o.Email }))
	return nil
}

func chargeFilter(c *call, q *payments.Query) error {
	created(c.form, q)
	q.Match = every(
		same(c.form.String("payment_intent"), func(o *object.Charge) string { return o.PaymentIntent }),
		same(c.form.String("customer"), func(o *object.Charge) string { return deref(o.Customer) }),
	)
	return nil
}

func refundFilter(c *call, q *payments.Query) error {
	created(c.form, q)
	q.Link = c.form.String("charge")
	q.Match = every(same(c.form.String("payment_intent"), func(o *object.Refund) string { return o.PaymentIntent }))
	return nil
}

func subscriptionFilter(c *call, q *payments.Query) error {
	created(c.form, q)
	q.Link = c.form.String("customer")
	status := c.form.String("status")
	q.Match = every(func(o *object.Subscription) bool {
		switch status {
		case "":
			return o.Status != object.SubCanceled
		case "all":
			return true
		default:
			return o.Status == status
		}
	})
	return nil
}

func invoiceFilter(c *call, q *payments.Query) error {
	created(c.form, q)
	q.Link, q.Status = c.form.String("subscription"), c.form.String("status")
	q.Match = every(same(c.form.String("customer"), func(o *object.Invoice) string { return o.Customer }))
	return nil
}

func shippingRateFilter(c *call, q *payments.Query) error {
	activeStatus(c, q)
	created(c.form, q)
	q.Match = every(same(c.form.String("currency"), func(o *object.ShippingRate) string { return o.Fixed.Currency }))
	return nil
}

func eventFilter(c *call, q *payments.Query) error {
	created(c.form, q)
	types, given := c.form.Strings("types")
	one := c.form.String("type")
	if given && one != "" {
		return object.Invalid("types", "", "You may only specify one of these parameters: type, types.")
	}
	if len(types) > 20 {
		return object.Invalid("types", "", "A list takes at most 20 types.")
	}
	q.Status = one
	q.Match = every(among(types, given, func(o *object.Event) string { return o.Type }))
	return nil
}
