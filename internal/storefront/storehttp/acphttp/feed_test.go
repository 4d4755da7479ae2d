package acphttp_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"ace/internal/protocol/acp"
	"ace/internal/sandbox/sandboxtest"
	"ace/internal/schematest"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

func TestACPDiscovery(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	r := w.Do(http.MethodGet, "/.well-known/acp.json", "")
	validACP(t, "2026-04-17", "DiscoveryResponse", r.Body)
	if r.Status != 200 || r.Header.Get("Cache-Control") != "public, max-age=3600" ||
		r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("discovery = %d %v", r.Status, r.Header)
	}
	var got acp.Discovery
	r.Into(t, &got)
	want := acp.NewDiscovery(acp.DiscoveryConfig{
		APIBaseURL: w.URL + "/agent/commerce/acp", DocumentationURL: w.URL + "/auth.md", Currencies: []string{
			"jpy",
			"usd",
		}, Locales: []string{"en-US"},
	})
	if diff := cmp.Diff(*want, got); diff != "" {
		t.Errorf("discovery (-want +got):\n%s", diff)
	}
	wantUnchanged(t, w, "/.well-known/acp.json", r)
	// What it says is there.
	if found := w.Do(http.MethodGet, got.Protocol.DocumentationURL, ""); found.Status != 200 {
		t.Errorf("documentation_url = %d", found.Status)
	}
	if made := w.Do(http.MethodPost, got.APIBaseURL+"/checkout_sessions",
		`{"offer_id":"prompt_handbook"}`); made.Status != 201 {
		t.Errorf("create at api_base_url = %d %s", made.Status, made.Body)
	}
}

// wantUnchanged asks again with the ETag of a response.
func wantUnchanged(t testing.TB, w *storetest.Store, path string, r storetest.Response) {
	t.Helper()
	etag := r.Header.Get("ETag")
	if again := w.Do(http.MethodGet, path, "", "If-None-Match", etag); etag == "" ||
		again.Status != http.StatusNotModified || len(again.Body) > 0 {
		t.Errorf("%s with If-None-Match %s = %d, want 304", path, etag, again.Status)
	}
}

func validFeed(t testing.TB, schema string, body []byte) {
	t.Helper()
	if os.Getenv("ACE_SHARED_DIR") == "" {
		t.Log("left out: ACE_SHARED_DIR is not set")
		return
	}
	schematest.ACPFeed(t).Validate(t, schema, body)
}

func TestACPFeed(t *testing.T) {
	t.Parallel()
	const products, metadata = "/agent/commerce/acp/feed/products.jsonl", "/agent/commerce/acp/feed/metadata.json"
	w := storetest.Start(t)
	r := w.Do(http.MethodGet, products, "")
	if r.Status != 200 || r.Header.Get("Content-Type") != "application/jsonl; charset=utf-8" ||
		r.Header.Get("Cache-Control") != "public, max-age=30" {
		t.Errorf("feed = %d %v", r.Status, r.Header)
	}
	variants := map[string]acp.FeedVariant{}
	lines := bytes.Split(bytes.TrimSuffix(r.Body, []byte("\n")), []byte("\n"))
	for _, line := range lines {
		validFeed(t, "Product", line)
		var p acp.FeedProduct
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatalf("line %s: %v", line, err)
		}
		for _, v := range p.Variants {
			variants[v.ID] = v
		}
		if p.ID == "prod_test_assistant_pro" && len(p.Variants) != 2 {
			t.Errorf("%s has %d variants, want 2", p.ID, len(p.Variants))
		}
	}
	if len(lines) != 6 || len(variants) != 7 {
		t.Errorf("%d products with %d variants, want 6 with 7", len(lines), len(variants))
	}
	tests := []struct {
		id, currency, status, terms string
		amount                      int64
		available                   bool
	}{
		{
			"assistant_pro_monthly", "USD", "in_stock",
			"Free for 14 days, then USD 19.00 every month until canceled. Available online", 1900, true,
		},
		{"home_box", "USD", "in_stock", "USD 149.00 once. Ships to US, DE in 3 to 7 days.", 14900, true},
		{"founders_mug", "USD", "out_of_stock", "USD 18.00 once.", 1800, false},
		{"prompt_handbook_jp", "JPY", "in_stock", "JPY 4200 once.", 4200, true},
	}
	for _, tt := range tests {
		v := variants[tt.id]
		if v.Price == nil || v.Price.Amount != tt.amount || v.Price.Currency != tt.currency ||
			v.Availability.Status != tt.status || v.Availability.Available != tt.available {
			t.Errorf("%s = %+v", tt.id, v)
		}
		if v.Description == nil || !strings.Contains(v.Description.Plain, tt.terms) ||
			strings.Contains(v.Description.Plain, "..") {
			t.Errorf("%s: description = %+v, want %q in it", tt.id, v.Description, tt.terms)
		}
		if v.Seller == nil || len(v.Seller.Links) != 3 {
			t.Errorf("%s: seller = %+v", tt.id, v.Seller)
		}
	}
	about := w.Do(http.MethodGet, metadata, "")
	validFeed(t, "FeedMetadata", about.Body)
	var m acp.FeedMetadata
	about.Into(t, &m)
	if m.ID != "feed_"+strings.TrimPrefix(w.URL, "http://") || m.UpdatedAt.IsZero() {
		t.Errorf("metadata = %s", about.Body)
	}
	wantUnchanged(t, w, products, r)
	wantUnchanged(t, w, metadata, about)
	w.Catalog.Invalidate() // read again, with nothing new
	wantUnchanged(t, w, metadata, about)
	w.Sandbox.Call(http.MethodPost, "/v1/prices/price_test_home_box", "metadata[availability]=sold_out", nil)
	w.Catalog.Invalidate()
	for _, path := range []string{products, metadata} {
		if changed := w.Do(
			http.MethodGet,
			path,
			"",
			"If-None-Match",
			map[string]storetest.Response{products: r, metadata: about}[path].Header.Get(
				"ETag",
			),
		); changed.Status != 200 {
			t.Errorf("%s after a change = %d, want 200", path, changed.Status)
		}
	}
}

func TestACPDirectContinueURL(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t, func(d *storehttp.Deps) { d.Site.DirectContinueURL = true })
	a := &acpAgent{w, "2026-04-17"}
	opened := a.order("prompt_handbook", 1)
	if !strings.HasPrefix(opened.ContinueURL, w.Sandbox.URL) {
		t.Errorf("continue_url = %s, want the processor's", opened.ContinueURL)
	}
	if seen := sandboxtest.NewPerson(t, nil).Pay(opened.ContinueURL,
		sandboxtest.CardOK); seen.Status != http.StatusSeeOther {
		t.Fatalf("paying answered %d", seen.Status)
	}
	if paid := a.until(opened.ID, acp.Completed); paid.ContinueURL != "" {
		t.Errorf("continue_url after the payment = %s", paid.ContinueURL)
	}
}

func TestACPInOpenAPI(t *testing.T) {
	t.Parallel()
	text, err := storehttp.Document()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			RequestBody *struct {
				Required bool `json:"required"`
			} `json:"requestBody"`
			Responses map[string]struct {
				Content map[string]struct {
					Schema struct {
						AnyOf []any `json:"anyOf"`
					} `json:"schema"`
				} `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	base := "/agent/commerce/acp"
	tests := []struct {
		path, method, id, status string
		anyOf                    int
	}{
		{base + "/checkout_sessions", "post", "acpCreateCheckoutSession", "201", 0},
		{base + "/checkout_sessions/{id}", "get", "acpGetCheckoutSession", "200", 0},
		{base + "/checkout_sessions/{id}", "post", "acpUpdateCheckoutSession", "200", 0},
		{base + "/checkout_sessions/{id}/complete", "post", "acpCompleteCheckoutSession", "200", 2},
		{base + "/checkout_sessions/{id}/cancel", "post", "acpCancelCheckoutSession", "200", 0},
		{base + "/feed/metadata.json", "get", "acpFeedMetadata", "200", 0},
		{base + "/feed/products.jsonl", "get", "acpFeedProducts", "200", 0},
		{"/.well-known/acp.json", "get", "acpDiscovery", "200", 0},
	}
	for _, tt := range tests {
		op := document.Paths[tt.path][tt.method]
		answer, ok := op.Responses[tt.status]
		if op.OperationID != tt.id || !ok || len(op.Responses) != 3 { // and 429 and the failure
			t.Errorf("%s %s = %+v", tt.method, tt.path, op)
		}
		if got := len(answer.Content["application/json"].Schema.AnyOf); got != tt.anyOf {
			t.Errorf("%s: anyOf has %d schemas, want %d", tt.id, got, tt.anyOf)
		}
		optional := strings.HasSuffix(tt.path, "/complete") || strings.HasSuffix(tt.path, "/cancel")
		if optional && (op.RequestBody == nil || op.RequestBody.Required) {
			t.Errorf("%s: the body is not optional", tt.id)
		}
	}
}
