package sessionhttp

import (
	"testing"

	"ace/internal/foundation/money"
	"ace/internal/storefront/offer"
)

func TestTotalWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		tax      offer.Tax
		delivery offer.DeliveryType
		trial    int
		want     string
	}{
		{offer.TaxIncluded, offer.Digital, 0, "Total"},
		{offer.TaxExcluded, offer.Digital, 0, "Total before tax"},
		{offer.TaxUnspecified, offer.OnDemand, 0, "Total before tax"},
		{offer.TaxIncluded, offer.Shipping, 0, "Total before shipping"},
		{offer.TaxExcluded, offer.Shipping, 0, "Total before shipping and tax"},
		{offer.TaxExcluded, offer.Digital, 7, "Due today"},
	}
	for _, tt := range tests {
		got := TotalWords(&offer.Offer{Tax: tt.tax, TrialDays: tt.trial, Delivery: offer.Delivery{Type: tt.delivery}})
		if got != tt.want {
			t.Errorf("TotalWords(%s, %s, %d) = %q, want %q", tt.tax, tt.delivery, tt.trial, got, tt.want)
		}
	}
}

func TestRecurringTerms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		trial int
		want  string
	}{
		{0, "USD 19.00 every month until canceled."},
		{14, "Free for 14 days, then USD 19.00 every month until canceled."},
	}
	for _, tt := range tests {
		o := &offer.Offer{
			Price:   money.Amount{Minor: 1900, Currency: "USD"},
			Billing: offer.Billing{Interval: "month", Count: 1}, TrialDays: tt.trial,
		}
		if got := RecurringTerms(o); got != tt.want {
			t.Errorf("RecurringTerms with %d days of trial = %q, want %q", tt.trial, got, tt.want)
		}
	}
}
