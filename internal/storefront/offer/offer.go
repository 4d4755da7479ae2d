// Package offer is what the store sells.
//
// An offer is one price of one product at the payment processor; nothing about
// it is stored here. Prices, intervals and trials are read there, and every
// response says when that was.
//
//	Source (processor) ──Listing──> Catalog ── at most MaxAge old ──> callers
//	                                  |  processor unavailable: the last
//	                                  |  listing, marked stale
//	Counter (sessions)   ──taken──────+  availability of counted offers
package offer

import (
	"fmt"
	"strconv"
	"time"

	"ace/internal/foundation/money"
)

// Offer is one thing that can be bought at one price.
type Offer struct {
	ID          string // stable over price changes
	ProductID   string
	ProductName string
	Name        string
	Description string
	URL         string // page about it; may be empty
	ImageURLs   []string
	Category    Category
	Price       money.Amount
	Tax         Tax
	Billing     Billing
	TrialDays   int // 0: no free trial
	Delivery    Delivery
	Stock       Stock
	PriceRef    string // the processor's name of the price
	Live        bool   // false at a test or sandbox processor
}

// Category groups offers for filters.
type Category string

// The categories.
const (
	Software Category = "software"
	Service  Category = "service"
	Hardware Category = "hardware"
)

// Tax says whether the price includes tax.
type Tax string

// The tax behaviors.
const (
	TaxIncluded    Tax = "included"
	TaxExcluded    Tax = "excluded"
	TaxUnspecified Tax = "unspecified"
)

// Billing is how often the price is due. The zero value is once.
type Billing struct {
	Interval string // "day", "week", "month" or "year"; empty: one-time
	Count    int    // every Count intervals
}

// Recurring reports whether the price is due again and again.
func (b Billing) Recurring() bool { return b.Interval != "" }

// Every reads "every month" or "every 3 months".
func (b Billing) Every() string {
	if b.Count == 1 {
		return "every " + b.Interval
	}
	return fmt.Sprintf("every %d %ss", b.Count, b.Interval)
}

// Delivery is how the buyer gets it.
type Delivery struct {
	Type             DeliveryType
	Summary          string
	ShipsTo          []string // ISO 3166-1 alpha-2, upper case
	MinDays, MaxDays int      // 0: not stated
	// URL is where the buyer gets what was bought. It is shown after the payment
	// and nowhere else. Empty: it comes another way.
	URL string `json:",omitempty"`
}

// DeliveryType separates goods that need an address from the others.
type DeliveryType string

// The delivery types.
const (
	Digital  DeliveryType = "digital"
	Shipping DeliveryType = "shipping"
	OnDemand DeliveryType = "service"
)

// Stock is what the operator says about availability.
type Stock struct {
	Status      Status
	Counted     bool
	Units       int64 // if Counted: how many are sold through this store in all
	MaxPerOrder int64 // at least 1
}

// Status is the availability of an offer.
type Status string

// The statuses. InStock, LowStock, Preorder and Backorder can be bought.
const (
	InStock      Status = "in_stock"
	LowStock     Status = "low_stock"
	Preorder     Status = "preorder"
	Backorder    Status = "backorder"
	OutOfStock   Status = "out_of_stock"
	Discontinued Status = "discontinued"
)

// Availability is the state of an offer at one moment.
type Availability struct {
	Status      Status
	Quantity    *int64 // nil: not counted
	MaxPerOrder int64
	CheckedAt   time.Time
}

// Available reports whether the offer can be bought.
func (a Availability) Available() bool {
	return a.Status != OutOfStock && a.Status != Discontinued
}

// lowStock is the number of units at and below which a counted offer is low.
const lowStock = 5

// Availability derives the state of o from how many units are taken.
func (o *Offer) Availability(taken int64, at time.Time) Availability {
	a := Availability{Status: o.Stock.Status, MaxPerOrder: o.Stock.MaxPerOrder, CheckedAt: at}
	if !o.Stock.Counted {
		return a
	}
	left := max(0, o.Stock.Units-taken)
	a.Quantity = &left
	switch {
	case !a.Available():
	case left == 0:
		a.Status = OutOfStock
	case left <= lowStock && a.Status == InStock:
		a.Status = LowStock
	}
	if left > 0 {
		a.MaxPerOrder = min(a.MaxPerOrder, left)
	}
	return a
}

// BillingSummary reads "USD 19.00 every month until canceled" or "USD 29.00
// once".
func (o *Offer) BillingSummary() string {
	if !o.Billing.Recurring() {
		return o.Price.String() + " once"
	}
	return o.Price.String() + " " + o.Billing.Every() + " until canceled"
}

// TrialSummary reads "Free for 14 days, then USD 19.00 every month"; it is
// empty without a trial.
func (o *Offer) TrialSummary() string {
	if o.TrialDays == 0 {
		return ""
	}
	return "Free for " + Days(o.TrialDays) + ", then " + o.Price.String() + " " + o.Billing.Every()
}

// DueToday is what quantity units cost at the moment of payment, before tax
// and shipping; ok is false if the amount does not fit.
func (o *Offer) DueToday(quantity int64) (due money.Amount, ok bool) {
	if o.TrialDays > 0 {
		return money.Amount{Currency: o.Price.Currency}, true
	}
	return o.Price.Times(quantity)
}

// Days reads "1 day" or "14 days".
func Days(n int) string {
	if n == 1 {
		return "1 day"
	}
	return strconv.Itoa(n) + " days"
}
