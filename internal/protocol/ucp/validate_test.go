package ucp_test

import (
	"strings"
	"testing"

	"ace/internal/protocol/ucp"
)

func TestValidateFinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status ucp.CheckoutStatus
		spoil  func(c *ucp.Checkout)
		want   string
	}{
		{"two totals", ucp.Completed, func(c *ucp.Checkout) {
			c.Totals = append(c.Totals, ucp.Total{Type: ucp.TotalTotal})
		}, "2 entries of type total"},
		{"no subtotal", ucp.Completed, func(c *ucp.Checkout) { c.Totals = c.Totals[1:] }, "0 entries of type subtotal"},
		{"wrong sum", ucp.Completed, func(c *ucp.Checkout) { c.Totals[0].Amount++ }, "adds up to 1, but total says 0"},
		{
			"line sum", ucp.Completed, func(c *ucp.Checkout) { c.LineItems[0].Totals[0].Amount++ },
			"line_items[0].totals adds up",
		},
		{"parts", ucp.Completed, func(c *ucp.Checkout) {
			c.Totals[0].Lines = []ucp.TotalLine{{DisplayText: "half", Amount: 950}}
		}, "its lines add up to 950"},
		{
			"positive discount", ucp.Completed,
			func(c *ucp.Checkout) { c.Totals[1] = ucp.Total{Type: "discount", Amount: 0} }, "must be negative",
		},
		{"negative tax", ucp.Completed, func(c *ucp.Checkout) {
			c.Totals = append(c.Totals, ucp.Total{Type: "tax", Amount: -1}, ucp.Total{Type: "fee", Amount: 1})
		}, "tax must not be negative"},
		{
			"unknown type without text", ucp.Completed, func(c *ucp.Checkout) { c.Totals[1].DisplayText = "" },
			"needs display_text",
		},
		{"lower-case currency", ucp.Completed, func(c *ucp.Checkout) { c.Currency = "usd" }, "upper case"},
		{
			"unknown status", ucp.Completed, func(c *ucp.Checkout) { c.Status = "expired" },
			`status "expired" is unknown`,
		},
		{
			"no payment_handlers", ucp.Completed, func(c *ucp.Checkout) { c.UCP.PaymentHandlers = nil },
			"payment_handlers",
		},
		{"no links", ucp.Completed, func(c *ucp.Checkout) { c.Links = nil }, "links is missing"},
		{"relative link", ucp.Completed, func(c *ucp.Checkout) { c.Links[0].URL = "/terms" }, "links[0]"},
		{"no lines", ucp.Completed, func(c *ucp.Checkout) { c.LineItems = nil }, "line_items is empty"},
		{
			"line twice", ucp.Completed, func(c *ucp.Checkout) { c.LineItems = append(c.LineItems, c.LineItems[0]) },
			"used twice",
		},
		{"quantity", ucp.Completed, func(c *ucp.Checkout) { c.LineItems[0].Quantity = 0 }, "quantity is 0"},
		{"no order", ucp.Completed, func(c *ucp.Checkout) { c.Order = nil }, "inconsistent with the status completed"},
		{"order too early", ucp.RequiresEscalation, func(c *ucp.Checkout) {
			c.Order = &ucp.OrderConfirmation{ID: "o", PermalinkURL: "https://shop.test/o"}
		}, "is inconsistent with the status"},
		{
			"completed with continue_url",
			ucp.Completed,
			func(c *ucp.Checkout) { c.ContinueURL = "https://shop.test/c" },
			"a completed checkout has a continue_url",
		},
		{
			"no continue_url", ucp.RequiresEscalation, func(c *ucp.Checkout) { c.ContinueURL = "" },
			"requires_escalation without continue_url",
		},
		{
			"http continue_url", ucp.RequiresEscalation, func(c *ucp.Checkout) { c.ContinueURL = "http://shop.test/c" },
			"not an absolute https",
		},
		{
			"relative continue_url", ucp.RequiresEscalation, func(c *ucp.Checkout) { c.ContinueURL = "/c" },
			"not an absolute https",
		},
		{
			"no expiry", ucp.RequiresEscalation,
			func(c *ucp.Checkout) { c.ExpiresAt = checkout(ucp.Newest, ucp.Completed).ExpiresAt }, "no expires_at",
		},
		{
			"nothing for the buyer", ucp.RequiresEscalation, func(c *ucp.Checkout) { c.Messages = c.Messages[1:] },
			"without a message",
		},
		{"buyer asked in vain", ucp.CompleteInProgress, func(c *ucp.Checkout) {
			c.Messages = []ucp.Message{ucp.Error("x", ucp.RequiresBuyerReview, "", "Look.")}
		}, "asks for the buyer"},
		{
			"severity", ucp.Canceled, func(c *ucp.Checkout) { c.Messages[0] = ucp.Error("x", "grave", "", "x") },
			`severity "grave"`,
		},
		{"path", ucp.Canceled, func(c *ucp.Checkout) { c.Messages[0].Path = "/line_items/0" }, "not a JSONPath"},
		{"message type", ucp.Canceled, func(c *ucp.Checkout) { c.Messages[0].Type = "note" }, `type "note"`},
		{
			"warning without code", ucp.Canceled, func(c *ucp.Checkout) { c.Messages[0] = ucp.Warning("", "", "x") },
			"needs a code",
		},
		{
			"info with severity", ucp.Canceled, func(c *ucp.Checkout) { c.Messages[0].Severity = ucp.Recoverable },
			"fields of other types",
		},
		{"empty content", ucp.Canceled, func(c *ucp.Checkout) { c.Messages[0].Content = "" }, "content is missing"},
		{"version", ucp.Canceled, func(c *ucp.Checkout) { c.UCP.Version = "draft" }, `"draft" is not supported`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := checkout(ucp.Newest, tt.status)
			tt.spoil(c)
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Validate() = %v, want something about %q", err, tt.want)
			}
		})
	}
}

func TestValidateAcceptsLoopback(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"http://localhost:8080/c/1", "http://127.0.0.1:8080/c/1", "http://[::1]/c",
		"http://store.localhost/c",
	} {
		c := checkout(ucp.Newest, ucp.RequiresEscalation)
		c.ContinueURL = address
		if err := c.Validate(); err != nil {
			t.Errorf("Validate() with %s = %v, want nil", address, err)
		}
	}
}
