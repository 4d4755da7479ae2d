package stripe

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"ace/internal/foundation/money"
	"ace/internal/storefront/offer"
)

// Offers implements offer.Source: one price is one offer.
func (c *Client) Offers(ctx context.Context) (offer.Listing, error) {
	params := &stripego.PriceListParams{Active: stripego.Bool(true)}
	params.Limit = stripego.Int64(100)
	params.AddExpand("data.product")
	listing := offer.Listing{Mode: c.opts.Mode, VerifiedAt: time.Now()}
	for price, err := range c.api.V1Prices.List(ctx, params).All(ctx) {
		if err != nil {
			return offer.Listing{}, classify(err, "reading prices", unavailable())
		}
		switch reason := c.unsellable(price); {
		case reason == hidden:
		case reason != "":
			listing.LeftOut = append(listing.LeftOut, offer.LeftOut{PriceRef: price.ID, Reason: reason})
		default:
			listing.Offers = append(listing.Offers, toOffer(price))
		}
	}
	offer.Sort(listing.Offers)
	return dropTwins(listing), nil
}

// hidden marks prices that are not meant for this catalog: no warning.
const hidden = "hidden"

// unsellable returns why a price cannot be sold on a hosted page, or "".
func (c *Client) unsellable(p *stripego.Price) string {
	switch {
	case p.Product == nil || p.Product.Deleted || p.Deleted || !p.Product.Active:
		return hidden
	case !c.opts.AllOffers && lookup(p, "agent_offer") != "true":
		return hidden
	case p.BillingScheme == stripego.PriceBillingSchemeTiered:
		return "tiered prices have no single amount"
	case p.Recurring != nil && p.Recurring.UsageType == stripego.PriceRecurringUsageTypeMetered:
		return "metered prices are not known in advance"
	case p.CustomUnitAmount != nil:
		return "the buyer chooses the amount"
	case p.TransformQuantity != nil:
		return "the quantity is transformed before billing"
	case p.UnitAmountDecimal != float64(p.UnitAmount):
		return "the amount has a fraction of the smallest unit"
	case !money.ValidCurrency(strings.ToUpper(string(p.Currency))):
		return "the currency is unknown"
	}
	return ""
}

// dropTwins removes all but the first of the prices with one id.
func dropTwins(l offer.Listing) offer.Listing {
	var unique []offer.Offer
	for _, o := range l.Offers {
		if len(unique) > 0 && unique[len(unique)-1].ID == o.ID {
			l.LeftOut = append(l.LeftOut, offer.LeftOut{PriceRef: o.PriceRef, Reason: "another price has the same id"})
			continue
		}
		unique = append(unique, o)
	}
	l.Offers = unique
	return l
}

func toOffer(p *stripego.Price) offer.Offer {
	o := offer.Offer{
		ID: p.ID, ProductID: p.Product.ID, ProductName: p.Product.Name, Name: p.Product.Name,
		Description: p.Product.Description, URL: p.Product.URL,
		ImageURLs: p.Product.Images, Price: fromStripe(p.UnitAmount, string(p.Currency)), Tax: taxOf(p.TaxBehavior),
		TrialDays: trialOf(p), PriceRef: p.ID, Live: p.Livemode, Stock: stockOf(p), Delivery: deliveryOf(p),
	}
	if p.LookupKey != "" {
		o.ID = p.LookupKey
	}
	if p.Nickname != "" {
		o.Name = p.Nickname
	}
	if p.Recurring != nil {
		o.Billing = offer.Billing{Interval: string(p.Recurring.Interval), Count: int(p.Recurring.IntervalCount)}
	}
	switch o.Category = offer.Category(lookup(p, "category")); o.Category {
	case offer.Software, offer.Service, offer.Hardware:
	default:
		o.Category = map[offer.DeliveryType]offer.Category{
			offer.Shipping: offer.Hardware,
			offer.OnDemand: offer.Service, offer.Digital: offer.Software,
		}[o.Delivery.Type]
	}
	return o
}

// lookup reads metadata of the price, or else of its product.
func lookup(p *stripego.Price, key string) string {
	if v := strings.TrimSpace(p.Metadata[key]); v != "" {
		return v
	}
	return strings.TrimSpace(p.Product.Metadata[key])
}

func number(p *stripego.Price, key string) (n int64, ok bool) {
	n, err := strconv.ParseInt(lookup(p, key), 10, 32)
	return n, err == nil && n >= 0
}

func taxOf(b stripego.PriceTaxBehavior) offer.Tax {
	switch b {
	case stripego.PriceTaxBehaviorInclusive:
		return offer.TaxIncluded
	case stripego.PriceTaxBehaviorExclusive:
		return offer.TaxExcluded
	default:
		return offer.TaxUnspecified
	}
}

func trialOf(p *stripego.Price) int {
	if p.Recurring == nil {
		return 0
	}
	if p.Recurring.TrialPeriodDays > 0 {
		return int(p.Recurring.TrialPeriodDays)
	}
	days, _ := number(p, "trial_days")
	return int(days)
}

const defaultMaxPerOrder = 10

func stockOf(p *stripego.Price) offer.Stock {
	s := offer.Stock{Status: offer.InStock, MaxPerOrder: defaultMaxPerOrder}
	switch strings.ToLower(lookup(p, "availability")) {
	case "preorder", "pre_order":
		s.Status = offer.Preorder
	case "backorder":
		s.Status = offer.Backorder
	case "sold_out", "out_of_stock":
		s.Status = offer.OutOfStock
	case "discontinued":
		s.Status = offer.Discontinued
	}
	s.Units, s.Counted = number(p, "stock")
	if limit, ok := number(p, "max_per_order"); ok && limit > 0 {
		s.MaxPerOrder = limit
	}
	return s
}

func deliveryOf(p *stripego.Price) offer.Delivery {
	d := offer.Delivery{Type: offer.Digital, Summary: "Available online right after payment"}
	if lookup(p, "delivery") == string(offer.OnDemand) {
		d.Type, d.Summary = offer.OnDemand, "Carried out for you after payment"
	}
	if p.Product.Shippable {
		d = shipping(p)
	}
	if text := lookup(p, "delivery_summary"); text != "" {
		d.Summary = text
	}
	if u, err := url.Parse(lookup(p, "delivery_url")); err == nil && u.Scheme == "https" && u.Host != "" {
		d.URL = u.String()
	}
	return d
}

func shipping(p *stripego.Price) offer.Delivery {
	d := offer.Delivery{Type: offer.Shipping, Summary: "Shipped"}
	for country := range strings.SplitSeq(lookup(p, "ship_to"), ",") {
		if country = strings.ToUpper(strings.TrimSpace(country)); len(country) == 2 {
			d.ShipsTo = append(d.ShipsTo, country)
		}
	}
	if len(d.ShipsTo) > 0 {
		d.Summary = "Ships to " + strings.Join(d.ShipsTo, ", ")
	}
	low, okLow := number(p, "delivery_days_min")
	high, okHigh := number(p, "delivery_days_max")
	if okLow && okHigh && low <= high {
		d.MinDays, d.MaxDays = int(low), int(high)
		d.Summary += fmt.Sprintf(" in %d to %d days", low, high)
	}
	return d
}
