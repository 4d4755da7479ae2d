package cataloghttp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"ace/internal/storefront/storehttp/storetest"
)

type catalog struct {
	Stale      bool    `json:"stale"`
	Total      int     `json:"total"`
	NextCursor *string `json:"next_cursor"`
	VerifiedAt string  `json:"verified_at"`
	Offers     []struct {
		ID    string `json:"id"`
		Kind  string `json:"kind"`
		Price struct {
			Amount   int64  `json:"amount"`
			Currency string `json:"currency"`
			Decimal  string `json:"decimal"`
		} `json:"price"`
		Billing   struct{ Summary string }
		FreeTrial struct {
			Days     int    `json:"days"`
			DueToday *int64 `json:"due_today"`
		} `json:"free_trial"`
		Availability struct {
			Available bool   `json:"available"`
			Status    string `json:"status"`
			Quantity  *int64 `json:"quantity"`
		} `json:"availability"`
		Verification struct {
			Verified bool `json:"verified"`
		} `json:"price_verification"`
	} `json:"offers"`
}

func catalogOf(t *testing.T, r storetest.Response) catalog {
	t.Helper()
	var c catalog
	if err := json.Unmarshal(r.Body, &c); err != nil || r.Status != http.StatusOK {
		t.Fatalf("catalog = %d %s %v", r.Status, r.Body, err)
	}
	return c
}

func (c catalog) ids() string {
	var ids []string
	for _, o := range c.Offers {
		ids = append(ids, o.ID)
	}
	return strings.Join(ids, " ")
}

const products = "/agent/commerce/products"

func TestCatalog(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	tests := []struct{ query, want string }{
		{"", "assistant_pro_monthly assistant_pro_yearly founders_mug home_box prompt_handbook prompt_handbook_jp " +
			"setup_call"},
		{"?available=true&category=hardware", "home_box"},
		{"?q=handbook", "prompt_handbook prompt_handbook_jp"},
		{"?currency=jpy", "prompt_handbook_jp"},
		{"?id=home_box&id=setup_call", "home_box setup_call"},
		{"?q=sofa", ""},
	}
	for _, tt := range tests {
		if got := catalogOf(t, w.Do(http.MethodGet, products+tt.query, "")); got.ids() != tt.want || got.Stale {
			t.Errorf("%s = %s, stale %v, want %s", tt.query, got.ids(), got.Stale, tt.want)
		}
	}
	trial := catalogOf(t, w.Do(http.MethodGet, products+"/assistant_pro_monthly", "")).Offers[0]
	if trial.Kind != "subscription" || trial.FreeTrial.Days != 14 || trial.FreeTrial.DueToday == nil ||
		*trial.FreeTrial.DueToday != 0 || !trial.Verification.Verified {
		t.Errorf("trial = %+v", trial)
	}
	yen := catalogOf(t, w.Do(http.MethodGet, products+"/prompt_handbook_jp", "")).Offers[0]
	if yen.Price.Amount != 4200 || yen.Price.Decimal != "4200" {
		t.Errorf("yen = %+v", yen.Price)
	}
}

func TestCatalogPages(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	var ids []string
	cursor := ""
	for range 10 {
		page := catalogOf(t, w.Do(http.MethodGet, products+"?limit=3&cursor="+cursor, ""))
		ids = append(ids, page.ids())
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	if want := "assistant_pro_monthly assistant_pro_yearly founders_mug|home_box prompt_handbook " +
		"prompt_handbook_jp|setup_call"; strings.Join(ids, "|") != want {
		t.Errorf("pages = %v", ids)
	}
}

// Units that are held by an open checkout are not for sale meanwhile.
func TestCatalogCountsWhatIsHeld(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	if r := w.Do(http.MethodPost, "/agent/commerce/acp/checkout_sessions",
		`{"line_items":[{"item":{"id":"home_box"},"quantity":3}]}`); r.Status != http.StatusCreated {
		t.Fatalf("create = %d %s", r.Status, r.Body)
	}
	box := catalogOf(t, w.Do(http.MethodGet, products+"/home_box", "")).Offers[0]
	if box.Availability.Quantity == nil || *box.Availability.Quantity != 22 {
		t.Errorf("availability = %+v, want 22 of 25", box.Availability)
	}
}

func TestCatalogForms(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	tests := []struct {
		accept, mediaType string
		want              []string
	}{
		{"application/json", "application/json", []string{`"object":"offer_catalog"`}},
		{"application/ld+json", "application/ld+json", []string{
			`"@type":"OfferCatalog"`, `"billingDuration":"P14D"`,
			`"priceCurrency":"JPY"`, `schema.org/OutOfStock`, `"addressCountry":"US"`,
		}},
		{
			"text/markdown", "text/markdown; charset=utf-8",
			[]string{"| `home_box` | Home Box | USD 149.00 once |", "out of stock", "Free for 14 days"},
		},
	}
	for _, tt := range tests {
		r := w.Do(http.MethodGet, products, "", "Accept", tt.accept)
		if r.Status != http.StatusOK || r.Header.Get("Content-Type") != tt.mediaType ||
			r.Header.Get("Vary") != "Accept, Accept-Encoding" {
			t.Errorf("%s = %d %s", tt.accept, r.Status, r.Header)
		}
		for _, want := range tt.want {
			if !strings.Contains(string(r.Body), want) {
				t.Errorf("%s lacks %s", tt.accept, want)
			}
		}
	}
}

func TestCatalogIsCached(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	first := w.Do(http.MethodGet, products, "")
	etag := first.Header.Get("ETag")
	if etag == "" || first.Header.Get("Cache-Control") != "public, max-age=30" {
		t.Fatalf("headers = %v", first.Header)
	}
	w.Catalog.Invalidate() // read again: the same offers, another time
	again := w.Do(http.MethodGet, products, "", "If-None-Match", etag)
	if again.Status != http.StatusNotModified || len(again.Body) != 0 {
		t.Errorf("unchanged catalog = %d %s, want 304", again.Status, again.Body)
	}
	if other := w.Do(http.MethodGet, products, "", "If-None-Match", etag, "Accept",
		"text/markdown"); other.Status != http.StatusOK {
		t.Errorf("another form = %d, want 200: it has an ETag of its own", other.Status)
	}
	w.Sandbox.Call(http.MethodPost, "/v1/products/prod_test_home_box", "description=Another+box", nil)
	w.Catalog.Invalidate()
	if changed := w.Do(http.MethodGet, products, "", "If-None-Match", etag); changed.Status != http.StatusOK {
		t.Errorf("changed catalog = %d, want 200", changed.Status)
	}
}

// With the processor away the last good prices are shown, marked stale, and no
// checkout is opened.
func TestCatalogWithoutTheProcessor(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	catalogOf(t, w.Do(http.MethodGet, products, ""))
	w.Sandbox.FailAPI(http.MethodGet, "/v1/prices", "500", 100)
	w.Catalog.Invalidate()
	got := catalogOf(t, w.Do(http.MethodGet, products, ""))
	if !got.Stale || got.Total != 7 || got.Offers[0].Verification.Verified {
		t.Errorf("catalog = stale %v, %d offers, verified %v", got.Stale, got.Total,
			got.Offers[0].Verification.Verified)
	}
	r := w.Do(http.MethodPost, "/agent/commerce/acp/checkout_sessions", `{"line_items":[{"id":"home_box"}]}`)
	if r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
		t.Errorf("create = %d %s, want 503 with Retry-After", r.Status, r.Body)
	}
}

func TestCatalogRefuses(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	tests := []struct {
		method, path, accept string
		status               int
		code                 string
	}{
		{http.MethodGet, products + "?limit=0", "", 400, "invalid_limit"},
		{http.MethodGet, products + "?limit=201", "", 400, "invalid_limit"},
		{http.MethodGet, products + "?limit=ten", "", 400, "invalid_limit"},
		{http.MethodGet, products + "?available=maybe", "", 400, "invalid_available"},
		{http.MethodGet, products + "?category=toys", "", 400, "invalid_category"},
		{http.MethodGet, products + "?cursor=%00", "", 400, "invalid_cursor"},
		{http.MethodGet, products + "?colour=red", "", 400, "unknown_parameter"},
		{http.MethodGet, products + "/home_box?limit=1", "", 400, "unknown_parameter"},
		{http.MethodGet, products + "?q=" + strings.Repeat("a", 201), "", 400, "query_too_long"},
		{http.MethodGet, products + "/sofa", "", 404, "offer_not_found"},
		{http.MethodGet, products, "image/png", 406, "not_acceptable"},
		{http.MethodPost, products, "", 405, "method_not_allowed"},
		{http.MethodGet, "/agent/commerce/nothing", "", 404, "not_found"},
	}
	for _, tt := range tests {
		r := w.Do(tt.method, tt.path, "", "Accept", tt.accept)
		var p struct{ Code, Detail string }
		if err := json.Unmarshal(r.Body, &p); err != nil || r.Status != tt.status || p.Code != tt.code ||
			p.Detail == "" {
			t.Errorf("%s %s = %d %s, want %d %s", tt.method, tt.path, r.Status, r.Body, tt.status, tt.code)
		}
	}
}

func TestWebhookRefuses(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	for name, headers := range map[string][]string{
		"unsigned": nil, "wrong signature": {"Stripe-Signature", "t=1,v1=00"}, "nonsense": {
			"Stripe-Signature",
			strings.Repeat("v1=,", 1000),
		},
	} {
		r := w.Do(http.MethodPost, "/webhooks/stripe", `{"id":"evt_1","type":"checkout.session.completed"}`, headers...)
		if r.Status != http.StatusBadRequest || !strings.Contains(string(r.Body), "signature_invalid") {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
	if r := w.Do(http.MethodPost, "/webhooks/stripe",
		strings.Repeat("x", 600<<10)); r.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("a huge message = %d, want 413", r.Status)
	}
}
