package ucphttp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/money"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

func quoteOf(minor int64, tax offer.Tax, trial int) *offer.Quote {
	return &offer.Quote{
		Quantity: 2,
		Offer: offer.Offer{
			ID: "a", Name: "A", Price: money.Amount{Minor: minor, Currency: "USD"}, Tax: tax,
			TrialDays: trial,
		},
	}
}

// TestPaidTotals pays what was quoted, and more, and less: the lines always add
// up to the money that moved.
func TestPaidTotals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		quote *offer.Quote
		paid  order.Paid
		want  map[string]int64
	}{
		{
			"as quoted", quoteOf(1000, offer.TaxIncluded, 0),
			order.Paid{Total: 2000},
			map[string]int64{"subtotal": 2000, "total": 2000},
		},
		{
			"tax inside", quoteOf(1000, offer.TaxIncluded, 0),
			order.Paid{Total: 2000, Tax: 320},
			map[string]int64{"subtotal": 2000, "total": 2000},
		},
		{
			"tax and shipping on top", quoteOf(1000, offer.TaxExcluded, 0),
			order.Paid{Total: 2880, Tax: 380, Shipping: 500},
			map[string]int64{"subtotal": 2000, "tax": 380, "fulfillment": 500, "total": 2880},
		},
		{
			"promotion", quoteOf(1000, offer.TaxIncluded, 0),
			order.Paid{Total: 1500},
			map[string]int64{"subtotal": 2000, "discount": -500, "total": 1500},
		},
		{
			"charged more", quoteOf(1000, offer.TaxIncluded, 0),
			order.Paid{Total: 2100},
			map[string]int64{"subtotal": 2000, "fee": 100, "total": 2100},
		},
		{
			"trial", quoteOf(1000, offer.TaxExcluded, 14),
			order.Paid{},
			map[string]int64{"subtotal": 2000, "trial_credit": -2000, "total": 0},
		},
		{
			"trial with a fee", quoteOf(1000, offer.TaxExcluded, 14),
			order.Paid{Total: 100},
			map[string]int64{"subtotal": 2000, "trial_credit": -2000, "fee": 100, "total": 100},
		},
		{"free", quoteOf(0, offer.TaxIncluded, 0), order.Paid{}, map[string]int64{"subtotal": 0, "total": 0}},
	}
	for _, tt := range tests {
		totals := paidTotals(tt.quote, &order.Order{Paid: tt.paid})
		got := map[string]int64{}
		for _, total := range totals {
			got[total.Type] += total.Amount
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		c := ucp.Checkout{
			UCP: ucp.CheckoutMeta(ucp.Newest), ID: "chk", Status: ucp.Completed, Currency: "USD",
			LineItems: []ucp.LineItem{lineOf(tt.quote)}, Totals: totals,
			Links: []ucp.Link{}, Order: &ucp.OrderConfirmation{ID: "ord", PermalinkURL: "https://store.example/o"},
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestOrderMessages(t *testing.T) {
	t.Parallel()
	tests := map[order.Status]ucp.Code{
		order.Confirmed: "", order.Review: codeOrderInReview,
		order.RefundDue: codeRefundDue, order.Refunded: codeRefunded,
	}
	for status, want := range tests {
		messages := orderMessages(&order.Order{Status: status})
		if want == "" && len(messages) != 0 || want != "" &&
			(len(messages) != 1 || messages[0].Code != want || messages[0].Type != ucp.MessageInfo) {
			t.Errorf("messages of an order that is %s = %+v, want %q", status, messages, want)
		}
	}
}

// TestStatuses has a word for every state that is shown.
func TestStatuses(t *testing.T) {
	t.Parallel()
	for _, state := range []checkout.State{
		checkout.Open, checkout.Processing, checkout.Completed, checkout.Canceled,
		checkout.Expired,
	} {
		if statuses[state] == "" {
			t.Errorf("state %s has no status", state)
		}
	}
	if statuses[checkout.Creating] != "" {
		t.Error("a session that is being created is shown")
	}
}

func TestPriceRange(t *testing.T) {
	t.Parallel()
	price := func(minor int64, currency string) *offer.Offer {
		return &offer.Offer{Price: money.Amount{Minor: minor, Currency: currency}}
	}
	got := priceRange([]*offer.Offer{price(500, "USD"), price(100, "USD"), price(90000, "JPY"), price(700, "USD")})
	want := ucp.PriceRange{Min: ucp.Price{Amount: 100, Currency: "USD"}, Max: ucp.Price{Amount: 700, Currency: "USD"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("priceRange (-want +got):\n%s", diff)
	}
}

// TestNamed prefers an offer that can be bought where an id names a product.
func TestNamed(t *testing.T) {
	t.Parallel()
	offers := []*offer.Offer{
		{ID: "gone", ProductID: "p", PriceRef: "price_1", Stock: offer.Stock{Status: offer.OutOfStock}},
		{ID: "there", ProductID: "p", PriceRef: "price_2", Stock: offer.Stock{Status: offer.InStock}},
		{ID: "too", ProductID: "p", PriceRef: "price_3", Stock: offer.Stock{Status: offer.InStock}},
	}
	tests := []struct{ id, want, match string }{
		{"p", "there", "featured"}, {"gone", "gone", "exact"}, {"price_3", "too", "exact"}, {"nothing", "", ""},
	}
	for _, tt := range tests {
		o, match := named(&offer.Snapshot{}, offers, tt.id)
		id := ""
		if o != nil {
			id = o.ID
		}
		if id != tt.want || match != tt.match {
			t.Errorf("named(%s) = %s, %s, want %s, %s", tt.id, id, match, tt.want, tt.match)
		}
	}
}
