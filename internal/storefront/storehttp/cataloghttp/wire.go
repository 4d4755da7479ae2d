package cataloghttp

import (
	"ace/internal/storefront/offer"
)

// OfferCatalog is the JSON of the catalog.
type OfferCatalog struct {
	Object        string    `json:"object" doc:"Always offer_catalog."`
	GeneratedAt   string    `json:"generated_at,omitempty" format:"date-time"`
	VerifiedAt    string    `json:"verified_at,omitempty" format:"date-time" doc:"When the processor confirmed the prices."`
	Stale         bool      `json:"stale" doc:"True while the processor cannot be reached; then no checkout is opened."`
	MaxAgeSeconds int       `json:"max_age_seconds" doc:"How old a verification may get before prices are read again."`
	Processor     Processor `json:"processor"`
	Checkout      Doors     `json:"checkout"`
	Offers        []Offer   `json:"offers"`
	Total         int       `json:"total" doc:"Offers that match, on all pages."`
	NextCursor    *string   `json:"next_cursor" nullable:"true" doc:"Send it as cursor to read the next page; null on the last one."`
}

// Processor is who takes the money.
type Processor struct {
	Name string `json:"name"`
	Mode string `json:"mode" enum:"live,test,sandbox" doc:"Only live moves real money."`
}

// Doors are the ways to open a checkout.
type Doors struct {
	UCP string   `json:"ucp" doc:"POST here to open a checkout over UCP."`
	ACP string   `json:"acp" doc:"POST here to open a checkout over ACP."`
	MCP ToolDoor `json:"mcp" doc:"The tool that opens a checkout."`
}

// ToolDoor is a tool of an MCP server.
type ToolDoor struct {
	Endpoint string `json:"endpoint"`
	Tool     string `json:"tool"`
}

// Offer is one thing to buy, on one set of terms.
type Offer struct {
	ID           string       `json:"id" doc:"Name it to buy this offer."`
	ProductID    string       `json:"product_id"`
	Name         string       `json:"name"`
	Description  string       `json:"description"`
	Kind         string       `json:"kind" enum:"subscription,one_time"`
	Category     string       `json:"category" enum:"software,service,hardware"`
	URL          string       `json:"url,omitempty"`
	ImageURLs    []string     `json:"image_urls"`
	Price        Price        `json:"price"`
	Billing      Billing      `json:"billing"`
	FreeTrial    Trial        `json:"free_trial"`
	Delivery     Delivery     `json:"delivery"`
	Availability Availability `json:"availability"`
	Verification Verification `json:"price_verification"`
	Links        Links        `json:"links"`
}

// Price is what an offer costs, each time it is billed.
type Price struct {
	Amount   int64  `json:"amount" doc:"In the minor unit of the currency."`
	Currency string `json:"currency" doc:"ISO 4217."`
	Decimal  string `json:"decimal"`
	Display  string `json:"display"`
	Tax      string `json:"tax" enum:"excluded,included,unspecified"`
}

// Billing is when an offer is paid for.
type Billing struct {
	Type          string `json:"type" enum:"recurring,one_time"`
	Interval      string `json:"interval,omitempty" enum:"day,week,month,year"`
	IntervalCount int    `json:"interval_count,omitempty"`
	Summary       string `json:"summary"`
}

// Trial is what is free first.
type Trial struct {
	Available             bool   `json:"available"`
	Days                  int    `json:"days,omitempty"`
	PaymentMethodRequired bool   `json:"payment_method_required,omitempty"`
	DueToday              *int64 `json:"due_today,omitempty" doc:"In the minor unit of the currency."`
	Summary               string `json:"summary,omitempty"`
}

// Delivery is how the buyer gets an offer.
type Delivery struct {
	Type               string   `json:"type" enum:"digital,shipping,service"`
	Summary            string   `json:"summary"`
	ShipsTo            []string `json:"ships_to,omitempty" doc:"ISO 3166-1 alpha-2."`
	MinDays            int      `json:"min_days,omitempty"`
	MaxDays            int      `json:"max_days,omitempty"`
	AddressCollectedOn string   `json:"address_collected_on,omitempty" enum:"hosted_checkout"`
}

// Availability is whether an offer can be bought now.
type Availability struct {
	Available   bool   `json:"available"`
	Status      string `json:"status" enum:"in_stock,low_stock,preorder,backorder,out_of_stock,discontinued"`
	Quantity    *int64 `json:"quantity,omitempty" doc:"Units left, where they are counted."`
	MaxPerOrder int64  `json:"max_per_order"`
	CheckedAt   string `json:"checked_at,omitempty" format:"date-time"`
}

// Verification is when and where the price was read.
type Verification struct {
	Verified   bool   `json:"verified"`
	Source     string `json:"source"`
	PriceRef   string `json:"price_ref"`
	Livemode   bool   `json:"livemode"`
	VerifiedAt string `json:"verified_at,omitempty" format:"date-time"`
	ValidUntil string `json:"valid_until,omitempty" format:"date-time" doc:"An open checkout keeps its price beyond this."`
}

// Links are the policies that a sale is under.
type Links struct {
	Terms   string `json:"terms"`
	Privacy string `json:"privacy"`
	Refunds string `json:"refunds"`
}

func (f *Handler) catalogOf(snapshot *offer.Snapshot, page *offer.Selection) *OfferCatalog {
	c := &OfferCatalog{
		Object: "offer_catalog", GeneratedAt: rfc3339(snapshot.At), VerifiedAt: rfc3339(snapshot.VerifiedAt),
		Stale:         snapshot.Stale,
		MaxAgeSeconds: int(offer.MaxAge.Seconds()), Processor: Processor{Name: "stripe", Mode: snapshot.Mode},
		Checkout: Doors{
			UCP: f.Site.BaseURL + "/agent/commerce/ucp/checkout-sessions",
			ACP: f.Site.BaseURL + "/agent/commerce/acp/checkout_sessions",
			MCP: ToolDoor{f.Site.BaseURL + "/mcp", "create_checkout"},
		},
		Offers: []Offer{}, Total: page.Total,
	}
	if page.Next != "" {
		c.NextCursor = &page.Next
	}
	for _, o := range page.Offers {
		c.Offers = append(c.Offers, f.offerOf(snapshot, o))
	}
	return c
}

func (f *Handler) offerOf(snapshot *offer.Snapshot, o *offer.Offer) Offer {
	state := snapshot.Availability(o)
	w := Offer{
		ID: o.ID, ProductID: o.ProductID, Name: o.Name, Description: o.Description, Kind: "one_time",
		Category: string(o.Category), URL: o.URL,
		ImageURLs: append([]string{}, o.ImageURLs...),
		Price:     Price{o.Price.Minor, o.Price.Currency, o.Price.Decimal(), o.Price.String(), string(o.Tax)},
		Billing:   Billing{Type: "one_time", Summary: o.BillingSummary()},
		Delivery: Delivery{
			Type: string(o.Delivery.Type), Summary: o.Delivery.Summary, ShipsTo: o.Delivery.ShipsTo,
			MinDays: o.Delivery.MinDays, MaxDays: o.Delivery.MaxDays,
		},
		Availability: Availability{
			state.Available(), string(state.Status), state.Quantity, state.MaxPerOrder,
			rfc3339(state.CheckedAt),
		},
		Verification: Verification{
			!snapshot.Stale, "stripe", o.PriceRef, o.Live, rfc3339(snapshot.VerifiedAt),
			rfc3339(snapshot.VerifiedAt.Add(offer.MaxAge)),
		},
		Links: Links{f.Site.Terms, f.Site.Privacy, f.Site.Refunds},
	}
	if o.Billing.Recurring() {
		w.Kind = "subscription"
		w.Billing.Type, w.Billing.Interval, w.Billing.IntervalCount = "recurring", o.Billing.Interval, o.Billing.Count
	}
	if o.TrialDays > 0 {
		nothing := int64(0)
		w.FreeTrial = Trial{
			Available: true, Days: o.TrialDays, PaymentMethodRequired: true, DueToday: &nothing,
			Summary: o.TrialSummary(),
		}
	}
	if o.Delivery.Type == offer.Shipping {
		w.Delivery.AddressCollectedOn = "hosted_checkout"
	}
	return w
}

// timeless is the catalog without the times at which it was looked at.
func (c *OfferCatalog) timeless() *OfferCatalog {
	t := *c
	t.GeneratedAt, t.VerifiedAt = "", ""
	t.Offers = append([]Offer{}, c.Offers...)
	for i := range t.Offers {
		t.Offers[i].Availability.CheckedAt = ""
		t.Offers[i].Verification.VerifiedAt, t.Offers[i].Verification.ValidUntil = "", ""
	}
	return &t
}
