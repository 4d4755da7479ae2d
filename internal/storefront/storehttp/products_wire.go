package storehttp

import (
	"ace/internal/storefront/offer"
)

// offerCatalog is the JSON of the catalog.
type offerCatalog struct {
	Object        string        `json:"object" doc:"Always offer_catalog."`
	GeneratedAt   string        `json:"generated_at,omitempty" format:"date-time"`
	VerifiedAt    string        `json:"verified_at,omitempty" format:"date-time" doc:"When the processor confirmed the prices."`
	Stale         bool          `json:"stale" doc:"True while the processor cannot be reached; then no checkout is opened."`
	MaxAgeSeconds int           `json:"max_age_seconds" doc:"How old a verification may get before prices are read again."`
	Processor     processorInfo `json:"processor"`
	Checkout      checkoutDoors `json:"checkout"`
	Offers        []wireOffer   `json:"offers"`
	Total         int           `json:"total" doc:"Offers that match, on all pages."`
	NextCursor    string        `json:"next_cursor,omitempty" doc:"Give it as cursor to read the next page."`
}

type processorInfo struct {
	Name string `json:"name"`
	Mode string `json:"mode" enum:"live,test,sandbox" doc:"Only live moves real money."`
}

type checkoutDoors struct {
	UCP string `json:"ucp" doc:"POST here to open a checkout over UCP."`
	ACP string `json:"acp" doc:"POST here to open a checkout over ACP."`
}

type wireOffer struct {
	ID           string           `json:"id" doc:"Name it to buy this offer."`
	ProductID    string           `json:"product_id"`
	Name         string           `json:"name"`
	Description  string           `json:"description"`
	Kind         string           `json:"kind" enum:"subscription,one_time"`
	Category     string           `json:"category" enum:"software,service,hardware"`
	URL          string           `json:"url,omitempty"`
	ImageURLs    []string         `json:"image_urls"`
	Price        wirePrice        `json:"price"`
	Billing      wireBilling      `json:"billing"`
	FreeTrial    wireTrial        `json:"free_trial"`
	Delivery     wireDelivery     `json:"delivery"`
	Availability wireAvailability `json:"availability"`
	Verification wireVerification `json:"price_verification"`
	Links        wireLinks        `json:"links"`
}

type wirePrice struct {
	Amount   int64  `json:"amount" doc:"In the minor unit of the currency."`
	Currency string `json:"currency" doc:"ISO 4217."`
	Decimal  string `json:"decimal"`
	Display  string `json:"display"`
	Tax      string `json:"tax" enum:"excluded,included,unspecified"`
}

type wireBilling struct {
	Type          string `json:"type" enum:"recurring,one_time"`
	Interval      string `json:"interval,omitempty" enum:"day,week,month,year"`
	IntervalCount int    `json:"interval_count,omitempty"`
	Summary       string `json:"summary"`
}

type wireTrial struct {
	Available             bool   `json:"available"`
	Days                  int    `json:"days,omitempty"`
	PaymentMethodRequired bool   `json:"payment_method_required,omitempty"`
	DueToday              *int64 `json:"due_today,omitempty" doc:"In the minor unit of the currency."`
	Summary               string `json:"summary,omitempty"`
}

type wireDelivery struct {
	Type               string   `json:"type" enum:"digital,shipping,service"`
	Summary            string   `json:"summary"`
	ShipsTo            []string `json:"ships_to,omitempty" doc:"ISO 3166-1 alpha-2."`
	MinDays            int      `json:"min_days,omitempty"`
	MaxDays            int      `json:"max_days,omitempty"`
	AddressCollectedOn string   `json:"address_collected_on,omitempty" enum:"hosted_checkout"`
}

type wireAvailability struct {
	Available   bool   `json:"available"`
	Status      string `json:"status" enum:"in_stock,low_stock,preorder,backorder,out_of_stock,discontinued"`
	Quantity    *int64 `json:"quantity,omitempty" doc:"Units left, where they are counted."`
	MaxPerOrder int64  `json:"max_per_order"`
	CheckedAt   string `json:"checked_at,omitempty" format:"date-time"`
}

type wireVerification struct {
	Verified   bool   `json:"verified"`
	Source     string `json:"source"`
	PriceRef   string `json:"price_ref"`
	Livemode   bool   `json:"livemode"`
	VerifiedAt string `json:"verified_at,omitempty" format:"date-time"`
	ValidUntil string `json:"valid_until,omitempty" format:"date-time" doc:"An open checkout keeps its price beyond this."`
}

type wireLinks struct {
	Terms   string `json:"terms"`
	Privacy string `json:"privacy"`
	Refunds string `json:"refunds"`
}

func (s *server) wireCatalog(snapshot *offer.Snapshot, page *offer.Selection) *offerCatalog {
	c := &offerCatalog{
		Object: "offer_catalog", GeneratedAt: rfc3339(snapshot.At), VerifiedAt: rfc3339(snapshot.VerifiedAt), Stale: snapshot.Stale,
		MaxAgeSeconds: int(offer.MaxAge.Seconds()), Processor: processorInfo{Name: "stripe", Mode: snapshot.Mode},
		Checkout: checkoutDoors{
			UCP: s.Site.BaseURL + "/agent/commerce/ucp/checkout-sessions",
			ACP: s.Site.BaseURL + "/agent/commerce/acp/checkout_sessions",
		},
		Offers: []wireOffer{}, Total: page.Total, NextCursor: page.Next,
	}
	for _, o := range page.Offers {
		c.Offers = append(c.Offers, s.wireOffer(snapshot, o))
	}
	return c
}

func (s *server) wireOffer(snapshot *offer.Snapshot, o *offer.Offer) wireOffer {
	state := snapshot.Availability(o)
	w := wireOffer{
		ID: o.ID, ProductID: o.ProductID, Name: o.Name, Description: o.Description, Kind: "one_time", Category: string(o.Category), URL: o.URL,
		ImageURLs: append([]string{}, o.ImageURLs...),
		Price:     wirePrice{o.Price.Minor, o.Price.Currency, o.Price.Decimal(), o.Price.String(), string(o.Tax)},
		Billing:   wireBilling{Type: "one_time", Summary: o.BillingSummary()},
		Delivery: wireDelivery{
			Type: string(o.Delivery.Type), Summary: o.Delivery.Summary, ShipsTo: o.Delivery.ShipsTo, MinDays: o.Delivery.MinDays, MaxDays: o.Delivery.MaxDays,
		},
		Availability: wireAvailability{state.Available(), string(state.Status), state.Quantity, state.MaxPerOrder, rfc3339(state.CheckedAt)},
		Verification: wireVerification{
			!snapshot.Stale, "stripe", o.PriceRef, o.Live, rfc3339(snapshot.VerifiedAt), rfc3339(snapshot.VerifiedAt.Add(offer.MaxAge)),
		},
		Links: wireLinks{s.Site.Terms, s.Site.Privacy, s.Site.Refunds},
	}
	if o.Billing.Recurring() {
		w.Kind = "subscription"
		w.Billing.Type, w.Billing.Interval, w.Billing.IntervalCount = "recurring", o.Billing.Interval, o.Billing.Count
	}
	if o.TrialDays > 0 {
		nothing := int64(0)
		w.FreeTrial = wireTrial{Available: true, Days: o.TrialDays, PaymentMethodRequired: true, DueToday: &nothing, Summary: o.TrialSummary()}
	}
	if o.Delivery.Type == offer.Shipping {
		w.Delivery.AddressCollectedOn = "hosted_checkout"
	}
	return w
}

// timeless is the catalog without the times at which it was looked at.
func (c *offerCatalog) timeless() *offerCatalog {
	t := *c
	t.GeneratedAt, t.VerifiedAt = "", ""
	t.Offers = append([]wireOffer{}, c.Offers...)
	for i := range t.Offers {
		t.Offers[i].Availability.CheckedAt = ""
		t.Offers[i].Verification.VerifiedAt, t.Offers[i].Verification.ValidUntil = "", ""
	}
	return &t
}
