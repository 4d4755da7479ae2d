package ucp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/ucp"
	"ace/internal/schematest"
)

// fixture reads a file of testdata.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// roundTrip decodes text into v, encodes it again and compares the values.
func roundTrip(t *testing.T, text []byte, v any) []byte {
	t.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
	out := encode(t, v)
	if !schematest.SameJSON(t, text, out) {
		t.Errorf("decoded and encoded again = %s, want %s", out, text)
	}
	return out
}

func TestFixturesRoundTrip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file string
		into any
	}{
		{"checkout_open.json", new(ucp.Checkout)},
		{"checkout_completed.json", new(ucp.Checkout)},
		{"error_response.json", new(ucp.ErrorResponse)},
		{"search_response.json", new(ucp.SearchResponse)},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			roundTrip(t, fixture(t, tt.file), tt.into)
			if c, ok := tt.into.(*ucp.Checkout); ok {
				if err := c.Validate(); err != nil {
					t.Errorf("Validate() = %v, want nil", err)
				}
			}
		})
	}
}

func TestSamplesRoundTrip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file string
		into any
	}{
		{"ucp_checkout_escalation.json", new(ucp.Checkout)},
		{"ucp_complete_answer.json", new(ucp.Checkout)},
		{"ucp_checkout_completed.json", new(ucp.Checkout)},
		{"ucp_checkout_expired.json", new(ucp.Checkout)},
		{"ucp_error.json", new(ucp.ErrorResponse)},
		{"ucp_catalog_search.json", new(ucp.SearchResponse)},
		{"ucp_profile.json", new(ucp.Profile)},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			roundTrip(t, schematest.Sample(t, tt.file), tt.into)
			if c, ok := tt.into.(*ucp.Checkout); ok {
				if err := c.Validate(); err != nil {
					t.Errorf("Validate() = %v, want nil", err)
				}
			}
		})
	}
}

// checkout returns a valid checkout of version v with a status.
func checkout(v ucp.Version, status ucp.CheckoutStatus) *ucp.Checkout {
	c := &ucp.Checkout{
		UCP: ucp.CheckoutMeta(v), ID: "chk_1", Status: status, Currency: "USD",
		LineItems: []ucp.LineItem{{
			ID: "li_1", Item: ucp.Item{ID: "pro", Title: "Pro", Price: 1900}, Quantity: 1,
			Totals: []ucp.Total{{Type: ucp.TotalSubtotal, Amount: 1900}, {Type: ucp.TotalTotal, Amount: 1900}},
		}},
		Totals: []ucp.Total{
			{Type: ucp.TotalSubtotal, Amount: 1900},
			{Type: "trial_credit", DisplayText: "Free for 14 days", Amount: -1900},
			{Type: ucp.TotalTotal, Amount: 0},
		},
		Links: []ucp.Link{{Type: ucp.LinkTermsOfService, URL: "https://shop.test/terms"}},
	}
	switch status {
	case ucp.RequiresEscalation:
		c.ExpiresAt, c.ContinueURL = time.Unix(1_800_000_000, 0).UTC(), "https://shop.test/c/1"
		c.Messages = []ucp.Message{
			ucp.Error(ucp.PaymentRequired, ucp.RequiresBuyerInput, "$.payment", "Pay at continue_url."),
			ucp.Disclosure(ucp.RecurringCharge, "$.line_items[0]", "Every month."), ucp.EligibilityWarning(),
			ucp.Info(ucp.TaxAtPayment, "Tax is added there."),
		}
	case ucp.CompleteInProgress:
		c.ExpiresAt = time.Unix(1_800_000_000, 0).UTC()
	case ucp.Completed:
		c.Order = &ucp.OrderConfirmation{ID: "ord_1", PermalinkURL: "https://shop.test/o/1"}
	case ucp.Canceled:
		c.Messages = []ucp.Message{ucp.Info(ucp.Expired, "The page expired.")}
	}
	return c
}

func TestResponsesMatchTheSchemas(t *testing.T) {
	t.Parallel()
	for _, v := range ucp.Versions() {
		t.Run(string(v), func(t *testing.T) {
			t.Parallel()
			set := schematest.UCP(t, string(v))
			for _, status := range []ucp.CheckoutStatus{
				ucp.RequiresEscalation, ucp.CompleteInProgress, ucp.Completed,
				ucp.Canceled,
			} {
				c := checkout(v, status)
				if err := c.Validate(); err != nil {
					t.Errorf("%s: Validate() = %v, want nil", status, err)
				}
				set.Validate(t, "shopping/checkout.json", encode(t, c))
			}
			failure := ucp.NewErrorResponse(v, ucp.CapabilityCheckout,
				ucp.Error(ucp.NotFound, ucp.Unrecoverable, "", "No such checkout."))
			failure.ContinueURL = "https://shop.test/"
			set.Validate(t, schematest.UCPErrorResponse(string(v)), encode(t, failure))

			product := ucp.Product{
				ID: "p", Title: "Pro", Description: ucp.Description{Plain: "Pro."},
				PriceRange: ucp.PriceRange{
					Min: ucp.Price{Amount: 1, Currency: "USD"},
					Max: ucp.Price{Amount: 2, Currency: "USD"},
				},
				Variants: []ucp.Variant{{
					ID: "v", Title: "Monthly", Description: ucp.Description{Plain: "Monthly."},
					Price:        ucp.Price{Amount: 1, Currency: "USD"},
					Availability: &ucp.Availability{Available: true, Status: "in_stock"},
					Inputs:       []ucp.Input{{ID: "v", Match: "exact"}},
				}},
			}
			set.Validate(t, "shopping/catalog_search.json#/$defs/search_response", encode(t, ucp.SearchResponse{
				UCP: ucp.CatalogMeta(v, ucp.CapabilityCatalogSearch), Products: []ucp.Product{},
				Pagination: &ucp.Pagination{},
			}))
			set.Validate(t, "shopping/catalog_lookup.json#/$defs/lookup_response", encode(t, ucp.LookupResponse{
				UCP: ucp.CatalogMeta(v, ucp.CapabilityCatalogLookup), Products: []ucp.Product{product},
				Messages: []ucp.Message{ucp.Info(ucp.NotFound, "Nothing is called x.")},
			}))
			set.Validate(t, "shopping/catalog_lookup.json#/$defs/get_product_response", encode(t, ucp.ProductResponse{
				UCP: ucp.CatalogMeta(v, ucp.CapabilityCatalogLookup), Product: product,
			}))
		})
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	key := httpsig.JWK{
		KID: "k1", Kty: "OKP", Crv: "Ed25519", X: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", Use: "sig",
		Alg: "EdDSA",
	}
	config := ucp.ProfileConfig{
		RESTEndpoint: "https://shop.test/ucp", MCPEndpoint: "https://shop.test/ucp/mcp", Keys: []httpsig.JWK{key},
		Older: map[ucp.Version]string{ucp.Version20260408: "https://shop.test/.well-known/ucp/2026-04-08"},
	}
	for _, v := range ucp.Versions() {
		t.Run(string(v), func(t *testing.T) {
			t.Parallel()
			text := encode(t, ucp.NewProfile(v, config))
			if got := strings.Contains(string(text), "supported_versions"); got != (v == ucp.Newest) {
				t.Errorf("profile of %s has supported_versions: %t", v, got)
			}
			if got := strings.Contains(string(text), "signing_keys"); got != (v == ucp.Version20260408) {
				t.Errorf("profile of %s has signing_keys: %t", v, got)
			}
			if !strings.Contains(string(text), `"payment_handlers":{}`) {
				t.Errorf("profile of %s has no empty payment_handlers: %s", v, text)
			}
			for _, other := range ucp.Versions() {
				// The other version may appear only in the link to its profile.
				trimmed := strings.ReplaceAll(string(text),
					`"2026-04-08":"https://shop.test/.well-known/ucp/2026-04-08"`, "")
				if other != v && strings.Contains(trimmed, string(other)) {
					t.Errorf("profile of %s mixes in %s: %s", v, other, text)
				}
			}
			roundTrip(t, text, new(ucp.Profile))
			schematest.UCP(t, string(v)).Validate(t, schematest.UCPBusinessProfile(string(v)), text)
		})
	}
}
