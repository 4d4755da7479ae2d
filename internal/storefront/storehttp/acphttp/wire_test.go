package acphttp

import (
	"errors"
	"strings"
	"testing"

	"ace/internal/foundation/money"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/acp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"

	"github.com/google/go-cmp/cmp"
)

func quoteOf(minor int64, tax offer.Tax, trial int) *offer.Quote {
	return &offer.Quote{
		Quantity: 2,
		Offer:    offer.Offer{ID: "a", Price: money.Amount{Minor: minor, Currency: "USD"}, Tax: tax, TrialDays: trial},
	}
}

func TestACPPaidTotals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		quote    *offer.Quote
		paid     order.Paid
		refunded int64
		version  acp.Version
		want     map[acp.TotalType]int64
	}{
		{
			"as quoted", quoteOf(1000, offer.TaxIncluded, 0),
			order.Paid{Total: 2000, Tax: 320},
			0, acp.Version20260417,
			map[acp.TotalType]int64{acp.TotalItemsBaseAmount: 2000, acp.TotalSubtotal: 2000, acp.TotalTotal: 2000},
		},
		{
			"tax and shipping", quoteOf(1000, offer.TaxExcluded, 0),
			order.Paid{Total: 2900, Tax: 400, Shipping: 500},
			0, acp.Version20260417,
			map[acp.TotalType]int64{
				acp.TotalItemsBaseAmount: 2000, acp.TotalSubtotal: 2000, acp.TotalFulfillment: 500,
				acp.TotalTax: 400, acp.TotalTotal: 2900,
			},
		},
		{
			"trial", quoteOf(1000, offer.TaxExcluded, 14),
			order.Paid{},
			0, acp.Version20260417,
			map[acp.TotalType]int64{
				acp.TotalItemsBaseAmount: 2000, acp.TotalSubtotal: 2000, acp.TotalDiscount: 2000,
				acp.TotalTotal: 0,
			},
		},
		{
			"promotion code", quoteOf(1000, offer.TaxIncluded, 0),
			order.Paid{Total: 1500},
			0, acp.Version20260417,
			map[acp.TotalType]int64{
				acp.TotalItemsBaseAmount: 2000, acp.TotalSubtotal: 2000, acp.TotalDiscount: 500,
				acp.TotalTotal: 1500,
			},
		},
		{
			"charged too much", quoteOf(1000, offer.TaxIncluded, 0),
			order.Paid{Total: 2001},
			0, acp.Version20260417,
			map[acp.TotalType]int64{
				acp.TotalItemsBaseAmount: 2000, acp.TotalSubtotal: 2000, acp.TotalFee: 1,
				acp.TotalTotal: 2001,
			},
		},
		{
			"refunded", quoteOf(1000, offer.TaxIncluded, 0),
			order.Paid{Total: 2000},
			700, acp.Version20260417,
			map[acp.TotalType]int64{
				acp.TotalItemsBaseAmount: 2000, acp.TotalSubtotal: 2000, acp.TotalTotal: 2000,
				acp.TotalAmountRefunded: 700,
			},
		},
		{
			"refunded, in the older words", quoteOf(1000, offer.TaxIncluded, 0),
			order.Paid{Total: 2000},
			700, acp.Version20260130,
			map[acp.TotalType]int64{acp.TotalItemsBaseAmount: 2000, acp.TotalSubtotal: 2000, acp.TotalTotal: 2000},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			totals := paidTotals(tt.quote, &order.Order{Paid: tt.paid, Refunded: tt.refunded}, tt.version)
			got := map[acp.TotalType]int64{}
			for _, total := range totals {
				got[total.Type] += total.Amount
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("totals (-want +got):\n%s", diff)
			}
			// The lines add up to the money that moved.
			session := acp.CheckoutSession{
				ID: "chk", Status: acp.Completed, Currency: "usd", Totals: totals,
				LineItems: []acp.LineItem{{
					ID: "li_1", Item: acp.Item{ID: "a"}, Quantity: 2,
					Totals: totalsOf(tt.quote),
				}},
				Order: &acp.Order{ID: "ord", CheckoutSessionID: "chk", PermalinkURL: "https://store.example/"},
			}
			if err := session.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestACPOrderStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status     order.Status
		newer, old string
	}{
		{order.Confirmed, "confirmed", "confirmed"},
		{order.Review, "manual_review", "processing"},
		{order.RefundDue, "manual_review", "processing"},
		{order.Refunded, "canceled", ""},
	}
	for _, tt := range tests {
		if got := orderStatus(tt.status, acp.Version20260417); got != tt.newer {
			t.Errorf("orderStatus(%s, 2026-04-17) = %q, want %q", tt.status, got, tt.newer)
		}
		if got := orderStatus(tt.status, acp.Version20260130); got != tt.old {
			t.Errorf("orderStatus(%s, 2026-01-30) = %q, want %q", tt.status, got, tt.old)
		}
	}
}

func TestACPAvailability(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status offer.Status
		ending string
		want   acp.Availability
	}{
		{offer.InStock, "", acp.InStock},
		{offer.LowStock, "", acp.LowStock},
		{offer.Preorder, "", acp.PreOrder},
		{offer.Backorder, "", acp.Backorder},
		{offer.OutOfStock, "", acp.OutOfStock},
		{offer.Discontinued, "", acp.OutOfStock},
		{offer.InStock, checkout.EndingSoldOut, acp.OutOfStock},
		{offer.InStock, checkout.EndingAgent, acp.InStock},
	}
	for _, tt := range tests {
		got := availabilityOf(&checkout.Session{Ending: tt.ending},
			&offer.Offer{Stock: offer.Stock{Status: tt.status}})
		if got != tt.want {
			t.Errorf("availabilityOf(%s, %q) = %s, want %s", tt.status, tt.ending, got, tt.want)
		}
	}
}

func TestFeedID(t *testing.T) {
	t.Parallel()
	tests := []struct{ base, want string }{
		{"https://Store.example", "feed_store.example"},
		{"http://127.0.0.1:8080", "feed_127.0.0.1:8080"},
		{"", "feed"},
		{":", "feed"},
	}
	for _, tt := range tests {
		if got := feedID(tt.base); got != tt.want {
			t.Errorf("feedID(%q) = %q, want %q", tt.base, got, tt.want)
		}
	}
}

func TestACPFailure(t *testing.T) {
	t.Parallel()
	internal, _ := problem.From(errors.New("table gone: card 4242"))
	tests := []struct {
		name   string
		in     *problem.Problem
		param  string
		status int
		want   string
	}{
		{
			"rate limit", problem.New(problem.RateLimited, "cost_too_high", "Slow down."), "", 429,
			`{"type":"service_unavailable","code":"rate_limited","message":"Slow down."}`,
		},
		{
			"place", problem.New(problem.NotFound, "offer_not_found", "No such offer."), "$.offer_id", 400,
			`{"type":"invalid_request","code":"invalid_item_id","message":"No such offer.","param":"$.offer_id"}`,
		},
		{
			"timeout", problem.New(problem.Timeout, "request_timeout", "Too long."), "", 503,
			`{"type":"service_unavailable","code":"request_timeout","message":"Too long."}`,
		},
		{
			"fault of ours", internal, "", 500,
			`{"type":"processing_error","code":"` + internal.Code + `","message":"` + internal.Detail + `"}`,
		},
		{"nobody there", problem.New(problem.Timeout, clientGone, "Gone."), "", 499, ""},
	}
	for _, tt := range tests {
		status, body := failureOf(tt.in, tt.param)
		if got := strings.TrimSpace(string(body)); status != tt.status || got != tt.want {
			t.Errorf("%s: failureOf = %d %s, want %d %s", tt.name, status, got, tt.status, tt.want)
		}
	}
}

func TestFeedVariant(t *testing.T) {
	t.Parallel()
	s := &Handler{Site: Site{Name: "Store"}}
	o := &offer.Offer{
		ID: "a", Name: "Mug", Price: money.Amount{Minor: 1800, Currency: "USD"},
		ImageURLs: []string{"https://store.example/mug.png"},
		Delivery:  offer.Delivery{Type: offer.Shipping}, Stock: offer.Stock{
			Status: offer.InStock, Counted: true,
			Units: 9, MaxPerOrder: 1,
		},
	}
	got := s.feedVariant(&offer.Snapshot{Taken: map[string]int64{"a": 7}}, o)
	want := acp.FeedVariant{
		ID: "a", Title: "Mug", Description: &acp.FeedDescription{Plain: "USD 18.00 once."},
		Price:        &acp.FeedPrice{Amount: 1800, Currency: "USD"},
		Availability: &acp.FeedAvailability{Available: true, Status: "limited_stock"}, Condition: []string{"new"},
		Media:  []acp.FeedMedia{{Type: "image", URL: "https://store.example/mug.png", AltText: "Mug"}},
		Seller: &acp.FeedSeller{Name: "Store"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("feedVariant (-want +got):\n%s", diff)
	}
}
