package stripe

import (
	"testing"

	stripego "github.com/stripe/stripe-go/v85"

	"ace/internal/foundation/money"
	"ace/internal/storefront/offer"
)

// marked is a price that is for sale.
func marked() *stripego.Price {
	return &stripego.Price{
		ID: "price_1", Active: true, Currency: "usd", UnitAmount: 1900, UnitAmountDecimal: 1900,
		BillingScheme: stripego.PriceBillingSchemePerUnit,
		Metadata:      map[string]string{"agent_offer": "true"}, Product: &stripego.Product{
			ID: "prod_1", Name: "Pro",
			Active: true,
		},
	}
}

func TestUnsellable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(p *stripego.Price)
		want   string
	}{
		{"for sale", func(*stripego.Price) {}, ""},
		{"marked on the product", func(p *stripego.Price) { p.Metadata, p.Product.Metadata = nil, p.Metadata }, ""},
		{"licensed", func(p *stripego.Price) {
			p.Recurring = &stripego.PriceRecurring{
				Interval:  "month",
				UsageType: stripego.PriceRecurringUsageTypeLicensed,
			}
		}, ""},
		{"not marked", func(p *stripego.Price) { p.Metadata = nil }, hidden},
		{"product gone", func(p *stripego.Price) { p.Product.Active = false }, hidden},
		{"product deleted", func(p *stripego.Price) { p.Product.Deleted = true }, hidden},
		{"no product", func(p *stripego.Price) { p.Product = nil }, hidden},
		{
			"tiered", func(p *stripego.Price) { p.BillingScheme = stripego.PriceBillingSchemeTiered },
			"tiered prices have no single amount",
		},
		{"metered", func(p *stripego.Price) {
			p.Recurring = &stripego.PriceRecurring{
				Interval:  "month",
				UsageType: stripego.PriceRecurringUsageTypeMetered,
			}
		}, "metered prices are not known in advance"},
		{
			"pay what you want", func(p *stripego.Price) { p.CustomUnitAmount = &stripego.PriceCustomUnitAmount{} },
			"the buyer chooses the amount",
		},
		{
			"packages",
			func(p *stripego.Price) { p.TransformQuantity = &stripego.PriceTransformQuantity{DivideBy: 10} },
			"the quantity is transformed before billing",
		},
		{
			"half a cent", func(p *stripego.Price) { p.UnitAmount, p.UnitAmountDecimal = 0, 0.5 },
			"the amount has a fraction of the smallest unit",
		},
		{"no currency", func(p *stripego.Price) { p.Currency = "points" }, "the currency is unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			price := marked()
			tt.change(price)
			if got := (&Client{}).unsellable(price); got != tt.want {
				t.Errorf("unsellable = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestToOffer(t *testing.T) {
	t.Parallel()
	price := marked()
	price.LookupKey = "pro_monthly"
	price.Nickname, price.TaxBehavior = "Pro, monthly", stripego.PriceTaxBehaviorInclusive
	price.Recurring = &stripego.PriceRecurring{Interval: "month", IntervalCount: 3, TrialPeriodDays: 7}
	price.Metadata["trial_days"] = "30" // the price's own field counts more
	price.Metadata["max_per_order"], price.Metadata["availability"] = "2", "preorder"
	o := toOffer(price)
	if o.ID != "pro_monthly" || o.Name != "Pro, monthly" || o.ProductName != "Pro" || o.Tax != offer.TaxIncluded ||
		o.TrialDays != 7 ||
		o.Billing != (offer.Billing{Interval: "month", Count: 3}) ||
		o.Stock != (offer.Stock{Status: offer.Preorder, MaxPerOrder: 2}) || o.Category != offer.Software {
		t.Errorf("toOffer = %+v", o)
	}
	price.Metadata["stock"], price.Metadata["category"] = "-1", "toys" // nonsense counts as not said
	if o := toOffer(price); o.Stock.Counted || o.Category != offer.Software {
		t.Errorf("toOffer of nonsense = %+v", o)
	}
}

func TestTwins(t *testing.T) {
	t.Parallel()
	l := dropTwins(
		offer.Listing{Offers: []offer.Offer{{ID: "a", PriceRef: "price_1"}, {ID: "a", PriceRef: "price_2"}, {ID: "b"}}})
	if len(l.Offers) != 2 || l.Offers[0].PriceRef != "price_1" || len(l.LeftOut) != 1 ||
		l.LeftOut[0].PriceRef != "price_2" {
		t.Errorf("dropTwins = %+v", l)
	}
}

func TestAmountsGoBothWays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		theirs int64
		ours   money.Amount
	}{
		{1900, money.Amount{Minor: 1900, Currency: "USD"}},
		{4200, money.Amount{Minor: 4200, Currency: "JPY"}},
		{12340, money.Amount{Minor: 12340, Currency: "KWD"}},
		{250000, money.Amount{Minor: 2500, Currency: "ISK"}},
		{500000, money.Amount{Minor: 5000, Currency: "UGX"}},
		{700, money.Amount{Minor: 70000, Currency: "MGA"}},
	}
	for _, tt := range tests {
		if got := fromStripe(tt.theirs, tt.ours.Currency); got != tt.ours {
			t.Errorf("fromStripe(%d %s) = %v, want %v", tt.theirs, tt.ours.Currency, got, tt.ours)
		}
		if got := toStripe(tt.ours); got != tt.theirs {
			t.Errorf("toStripe(%v) = %d, want %d", tt.ours, got, tt.theirs)
		}
	}
}
