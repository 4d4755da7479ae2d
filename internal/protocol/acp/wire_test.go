package acp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ace/internal/protocol/acp"
	"ace/internal/schematest"
)

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
func roundTrip(t *testing.T, text []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
	if out := encode(t, v); !schematest.SameJSON(t, text, out) {
		t.Errorf("decoded and encoded again = %s, want %s", out, text)
	}
	if s, ok := v.(*acp.CheckoutSession); ok {
		if err := s.Validate(); err != nil {
			t.Errorf("Validate() = %v, want nil", err)
		}
	}
}

func TestFixturesRoundTrip(t *testing.T) {
	t.Parallel()
	for file, into := range map[string]any{
		"session_open.json":      new(acp.CheckoutSession),
		"session_completed.json": new(acp.CheckoutSession),
		"error.json":             new(acp.Error),
		"discovery.json":         new(acp.Discovery),
		"product.json":           new(acp.FeedProduct),
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			roundTrip(t, fixture(t, file), into)
		})
	}
}

func TestFixturesMatchTheSchemas(t *testing.T) {
	t.Parallel()
	newer, older := schematest.ACP(t, "2026-04-17"), schematest.ACP(t, "2026-01-30")
	newer.Validate(t, "CheckoutSession", fixture(t, "session_open.json"))
	newer.Validate(t, "CheckoutSessionWithOrder", fixture(t, "session_completed.json"))
	older.Validate(t, "CheckoutSessionWithOrder", fixture(t, "session_completed.json"))
	newer.Validate(t, "Error", fixture(t, "error.json"))
	newer.Validate(t, "DiscoveryResponse", fixture(t, "discovery.json"))
	schematest.ACPFeed(t).Validate(t, "Product", fixture(t, "product.json"))
}

func TestSamplesRoundTrip(t *testing.T) {
	t.Parallel()
	type feed struct {
		Products []acp.FeedProduct `json:"products"`
	}
	for file, into := range map[string]any{
		"acp_session_escalation.json": new(acp.CheckoutSession),
		"acp_complete_answer.json":    new(acp.CheckoutSession),
		"acp_session_completed.json":  new(acp.CheckoutSession),
		"acp_session_expired.json":    new(acp.CheckoutSession),
		"acp_discovery.json":          new(acp.Discovery),
		"acp_feed.json":               new(feed),
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			roundTrip(t, schematest.Sample(t, file), into)
		})
	}
}

func session(status acp.Status) *acp.CheckoutSession {
	unit := int64(1900)
	at := time.Unix(1_800_000_000, 0).UTC()
	total := []acp.Total{{Type: acp.TotalTotal, DisplayText: "Total", Amount: 1900}}
	s := &acp.CheckoutSession{
		ID: "cs_1", Capabilities: acp.NoCapabilities(), Status: status, Currency: "usd",
		LineItems: []acp.LineItem{{
			ID: "li_1", Item: acp.Item{ID: "pro", Name: "Pro", UnitAmount: &unit}, Quantity: 1, UnitAmount: &unit,
			Totals:             total,
			AvailabilityStatus: acp.InStock,
			CustomAttributes:   []acp.CustomAttribute{{DisplayName: "Billing", Value: "Every month"}},
		}},
		FulfillmentOptions: []acp.FulfillmentOption{acp.Digital("digital", "By e-mail")},
		Totals: []acp.Total{
			{Type: acp.TotalSubtotal, DisplayText: "Subtotal", Amount: 1900},
			{Type: acp.TotalDiscount, DisplayText: "Free for 14 days", Amount: 1900},
			{Type: acp.TotalTotal, DisplayText: "Due today"},
		},
		CreatedAt: at, UpdatedAt: at, ExpiresAt: at.Add(time.Hour),
	}
	switch status {
	case acp.RequiresEscalation:
		s.ContinueURL = "https://shop.test/c/1"
		s.Messages = []acp.Message{
			acp.Info(acp.RequiresBuyerInput, "Pay at continue_url."), acp.Warning(acp.WarnPriceChange,
				"$.line_items[0]", "New price."),
			acp.Problem(acp.ErrUnsupported, acp.RequiresBuyerInput, "$.payment_data", "Not taken."),
		}
	case acp.Completed:
		s.Order = &acp.Order{
			ID: "ord_1", CheckoutSessionID: "cs_1", PermalinkURL: "https://shop.test/o/1",
			Status: "confirmed",
		}
	case acp.Expired:
		s.Messages = []acp.Message{acp.Problem(acp.ErrExpired, acp.Recoverable, "", "It expired.")}
	}
	return s
}

func TestResponsesMatchTheSchemas(t *testing.T) {
	t.Parallel()
	for _, v := range acp.Versions() {
		set := schematest.ACP(t, string(v))
		for _, status := range []acp.Status{
			acp.RequiresEscalation, acp.CompleteInProgress, acp.Completed, acp.Canceled,
			acp.Expired,
		} {
			s := session(status).For(v)
			if err := s.Validate(); err != nil {
				t.Errorf("%s %s: Validate() = %v, want nil", v, status, err)
			}
			ref := "CheckoutSession"
			if status == acp.Completed {
				ref = "CheckoutSessionWithOrder"
			}
			set.Validate(t, ref, encode(t, s))
		}
		for _, code := range []string{acp.InvalidItemID, acp.IdempotencyConflict, acp.CodeRateLimited, "other"} {
			set.Validate(t, "Error", encode(t, acp.NewError(code, "$.x", "No.")))
		}
	}
	set := schematest.ACP(t, string(acp.Newest))
	set.Validate(t, "Error", encode(t, acp.NewError(acp.UnsupportedAPIVersion, "", "No.")))
	for _, config := range []acp.DiscoveryConfig{
		{
			APIBaseURL: "https://shop.test/acp", DocumentationURL: "https://shop.test/" +
				"docs", Currencies: []string{"usd"},
			Locales: []string{"en-US"},
		},
		{APIBaseURL: "https://shop.test/acp"},
	} {
		set.Validate(t, "DiscoveryResponse", encode(t, acp.NewDiscovery(config)))
	}
	schematest.ACPFeed(t).Validate(t, "FeedMetadata",
		encode(t, acp.FeedMetadata{ID: "feed", TargetCountry: "DE", UpdatedAt: time.Unix(0, 0).UTC()}))
}

func TestForDoesNotChangeTheSession(t *testing.T) {
	t.Parallel()
	s := session(acp.RequiresEscalation)
	older := encode(t, s.For(acp.Version20260130))
	if strings.Contains(string(older), "resolution") {
		t.Errorf("2026-01-30 carries a resolution: %s", older)
	}
	if newer := encode(t, s.For(acp.Version20260417)); strings.Count(string(newer), "resolution") != 2 {
		t.Errorf("2026-04-17 lost its resolutions: %s", newer)
	}
}

func TestEmptyListsAreWritten(t *testing.T) {
	t.Parallel()
	text := string(encode(t, acp.CheckoutSession{ID: "cs_1"}))
	for _, field := range []string{"line_items", "fulfillment_options", "totals", "messages", "links"} {
		if !strings.Contains(text, `"`+field+`":[]`) {
			t.Errorf("%s is not an empty list: %s", field, text)
		}
	}
	if strings.Contains(text, "extensions") {
		t.Errorf("extensions is written: %s", text)
	}
}

func TestDiscoveryListsOldestFirst(t *testing.T) {
	t.Parallel()
	d := acp.NewDiscovery(acp.DiscoveryConfig{})
	if want := []acp.Version{"2026-01-30", "2026-04-17"}; !slices.Equal(d.Protocol.SupportedVersions, want) {
		t.Errorf("supported_versions = %v, want %v", d.Protocol.SupportedVersions, want)
	}
	if want := []acp.Version{
		"2026-04-17",
		"2026-01-30",
	}; !slices.Equal(acp.NewError(acp.MissingAPIVersion, "", "x").SupportedVersions, want) {
		t.Errorf("supported_versions of errors are not %v", want)
	}
}

func TestWriteProducts(t *testing.T) {
	t.Parallel()
	var p acp.FeedProduct
	if err := json.Unmarshal(fixture(t, "product.json"), &p); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := acp.WriteProducts(&out, slices.Values([]acp.FeedProduct{p, {ID: "bare"}})); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 2 || lines[1] != `{"id":"bare","variants":[]}` || !strings.Contains(lines[0], "Tea <green>") {
		t.Errorf("products.jsonl = %q, want two lines", out.String())
	}
	if !schematest.SameJSON(t, []byte(lines[0]), fixture(t, "product.json")) {
		t.Errorf("line = %s, want the fixture", lines[0])
	}
}

func TestValidateFinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status acp.Status
		spoil  func(s *acp.CheckoutSession)
		want   string
	}{
		{"upper-case currency", acp.Completed, func(s *acp.CheckoutSession) { s.Currency = "USD" }, "lower case"},
		{"no lines", acp.Completed, func(s *acp.CheckoutSession) { s.LineItems = nil }, "line_items is empty"},
		{"no quantity", acp.Completed, func(s *acp.CheckoutSession) { s.LineItems[0].Quantity = 0 }, "line_items[0]"},
		{
			"no total", acp.Completed, func(s *acp.CheckoutSession) { s.Totals = s.Totals[:2] },
			"0 entries of type total",
		},
		{"wrong total", acp.Completed, func(s *acp.CheckoutSession) { s.Totals[2].Amount = 1 }, "total is 1, want 0"},
		{"wrong subtotal", acp.Completed, func(s *acp.CheckoutSession) {
			s.Totals = append(s.Totals, acp.Total{Type: acp.TotalItemsBaseAmount, DisplayText: "Items", Amount: 2})
		}, "subtotal is 1900, want 2"},
		{"negative", acp.Completed, func(s *acp.CheckoutSession) { s.Totals[1].Amount = -1 }, "is negative"},
		{"no text", acp.Completed, func(s *acp.CheckoutSession) { s.Totals[1].DisplayText = "" }, "no display_text"},
		{
			"code of an info", acp.RequiresEscalation, func(s *acp.CheckoutSession) { s.Messages[0].Code = "x" },
			"an info carries a code",
		},
		{
			"code of a warning",
			acp.RequiresEscalation,
			func(s *acp.CheckoutSession) { s.Messages[1].Code = "expired" },
			"not a code of a warning",
		},
		{
			"code of an error", acp.RequiresEscalation,
			func(s *acp.CheckoutSession) { s.Messages[2].Code = "payment_required" }, "not a code of an error",
		},
		{
			"param", acp.RequiresEscalation, func(s *acp.CheckoutSession) { s.Messages[2].Param = "/payment_data" },
			"not a JSONPath",
		},
		{"type", acp.RequiresEscalation, func(s *acp.CheckoutSession) { s.Messages[2].Type = "note" }, `type "note"`},
		{
			"content type", acp.RequiresEscalation, func(s *acp.CheckoutSession) { s.Messages[2].ContentType = "" },
			"no content_type",
		},
		{"resolution in 2026-01-30", acp.RequiresEscalation, func(s *acp.CheckoutSession) {
			s.Protocol = &acp.Protocol{Version: acp.Version20260130}
		}, "carries a resolution"},
		{
			"unknown version", acp.Completed,
			func(s *acp.CheckoutSession) { s.Protocol = &acp.Protocol{Version: "2025-09-29"} }, "is not supported",
		},
		{
			"nothing for the buyer", acp.RequiresEscalation, func(s *acp.CheckoutSession) { s.Messages = nil },
			"without a message",
		},
		{
			"no continue_url", acp.RequiresEscalation, func(s *acp.CheckoutSession) { s.ContinueURL = "" },
			"without continue_url",
		},
		{
			"http continue_url", acp.RequiresEscalation,
			func(s *acp.CheckoutSession) { s.ContinueURL = "http://shop.test" }, "absolute https",
		},
		{
			"no expiry", acp.RequiresEscalation, func(s *acp.CheckoutSession) { s.ExpiresAt = time.Time{} },
			"no expires_at",
		},
		{
			"continue_url after the end", acp.Canceled,
			func(s *acp.CheckoutSession) { s.ContinueURL = "https://shop.test/c" }, "has a continue_url",
		},
		{"no order", acp.Completed, func(s *acp.CheckoutSession) { s.Order = nil }, "is inconsistent with the status"},
		{
			"order of another session",
			acp.Completed,
			func(s *acp.CheckoutSession) { s.Order.CheckoutSessionID = "cs_2" },
			"another checkout_session_id",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := session(tt.status)
			tt.spoil(s)
			if err := s.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Validate() = %v, want something about %q", err, tt.want)
			}
		})
	}
}
