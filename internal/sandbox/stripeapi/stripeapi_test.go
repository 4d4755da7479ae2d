package stripeapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/sandbox/payments"
	"ace/internal/sandbox/stripeapi"
)

// client calls the API of a fresh processor.
type client struct {
	t       *testing.T
	handler http.Handler
}

func newClient(t *testing.T, keys ...string) *client {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldbtest.SQLite(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	p, err := payments.Open(t.Context(), db, &payments.Options{NoCatalog: true})
	if err != nil {
		t.Fatal(err)
	}
	return &client{t, stripeapi.New(p, &stripeapi.Options{
		Keys:    keys,
		PageURL: func(_ *http.Request, id string) string { return "https://pay.example/" + id },
	})}
}

// response is what came back; body is nil where it is no JSON object.
type response struct {
	status int
	header http.Header
	body   map[string]any
}

// at returns the value at a path such as error.param, "" where there is none.
func (r *response) at(path string) string {
	var value any = r.body
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	if value == nil {
		return ""
	}
	text, _ := json.Marshal(value)
	return strings.Trim(string(text), `"`)
}

func (c *client) do(method, path, form string, header ...string) *response {
	c.t.Helper()
	r := httptest.NewRequestWithContext(c.t.Context(), method, path, strings.NewReader(form))
	r.Header.Set("Authorization", "Bearer sk_test_1")
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	out := &response{status: w.Code, header: w.Header()}
	_ = json.Unmarshal(w.Body.Bytes(), &out.body)
	return out
}

// must makes a call that has to succeed.
func (c *client) must(method, path, form string, header ...string) *response {
	c.t.Helper()
	out := c.do(method, path, form, header...)
	if out.status != http.StatusOK {
		c.t.Fatalf("%s %s %s = %d %v", method, path, form, out.status, out.body)
	}
	return out
}

const priceForm = "currency=eur&unit_amount=1900&lookup_key=guide&product_data[name]=Guide"

func TestSessionOfAPrice(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	price := c.must("POST", "/v1/prices", priceForm)
	if price.at("object") != "price" || price.at("unit_amount") != "1900" || price.at("active") != "true" {
		t.Errorf("price = %v", price.body)
	}
	session := c.must(
		"POST",
		"/v1/checkout/sessions",
		"mode=payment&success_url=https://shop.example/ok&line_items[0][quantity]=2&line_items[0][price]="+price.at(
			"id",
		),
	)
	id := session.at("id")
	if session.at("status") != "open" || session.at("payment_status") != "unpaid" ||
		session.at("amount_total") != "3800" || session.at("url") != "https://pay.example/"+id {
		t.Errorf("session = %v", session.body)
	}
	if got := c.must("GET", "/v1/checkout/sessions/"+id, ""); got.at("id") != id || got.at("status") != "open" {
		t.Errorf("read session = %v", got.body)
	}
	if got := c.must("POST", "/v1/checkout/sessions/"+id+"/expire", ""); got.at("status") != "expired" {
		t.Errorf("expired session = %v", got.body)
	}
	again := c.do("POST", "/v1/checkout/sessions/"+id+"/expire", "")
	if again.status != http.StatusBadRequest || again.at("error.type") != "invalid_request_error" {
		t.Errorf("expiring it again = %d %v", again.status, again.body)
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	id := c.must("POST", "/v1/prices", priceForm).at("id")
	plain := c.must("GET", "/v1/prices/"+id, "")
	if !strings.HasPrefix(plain.at("product"), "prod_") {
		t.Errorf("product = %s, want an id", plain.at("product"))
	}
	whole := c.must("GET", "/v1/prices/"+id+"?expand[]=product", "")
	if whole.at("product.name") != "Guide" || whole.at("product.id") != plain.at("product") {
		t.Errorf("expanded product = %s", whole.at("product"))
	}
	if list := c.must("GET", "/v1/prices?lookup_keys[]=guide&expand[]=data.product", ""); !strings.Contains(
		list.at("data"), `"name":"Guide"`) {
		t.Errorf("expanded list = %v", list.body)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	tests := []struct {
		name, method, path, form string
		header                   []string
		status                   int
		param, code              string
	}{
		{"no key", "GET", "/v1/prices", "", []string{"Authorization", ""}, 401, "", ""},
		{"a live key", "GET", "/v1/prices", "", []string{"Authorization", "Bearer sk_live_1"}, 401, "", ""},
		{"unknown object", "GET", "/v1/prices/price_none", "", nil, 404, "price", "resource_missing"},
		{"unknown parameter", "POST", "/v1/prices", priceForm + "&colour=red", nil, 400, "colour", "parameter_unknown"},
		{"missing parameter", "POST", "/v1/prices", "unit_amount=1&product_data[name]=x", nil, 400, "currency", ""},
		{
			"no number",
			"POST",
			"/v1/prices",
			"currency=eur&unit_amount=x&product_data[name]=x",
			nil,
			400,
			"unit_amount",
			"",
		},
		{
			"key too long",
			"POST",
			"/v1/prices",
			priceForm,
			[]string{"Idempotency-Key", strings.Repeat("k", 256)},
			400,
			"",
			"",
		},
		{"unknown path", "GET", "/v1/nothing", "", nil, 404, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := c.do(tt.method, tt.path, tt.form, tt.header...)
			if got.status != tt.status || tt.param != "" && got.at("error.param") != tt.param ||
				tt.code != "" && got.at("error.code") != tt.code {
				t.Errorf("%d %v, want %d, param %q, code %q", got.status, got.body, tt.status, tt.param, tt.code)
			}
			if got.header.Get("Ace-Sandbox") != "true" || !strings.HasPrefix(got.header.Get("Request-Id"), "req_") {
				t.Errorf("header %v, want Ace-Sandbox and a Request-Id", got.header)
			}
		})
	}
}

func TestKeysOfAnOperator(t *testing.T) {
	t.Parallel()
	c := newClient(t, "sk_test_own")
	if got := c.do("GET", "/v1/prices", ""); got.status != http.StatusUnauthorized {
		t.Errorf("another key = %d, want 401", got.status)
	}
	c.must("GET", "/v1/prices", "", "Authorization", "Bearer sk_test_own")
}

// TestIdempotency: one key is one change, whatever the first response was.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	key := []string{"Idempotency-Key", "k1"}
	first := c.must("POST", "/v1/prices", priceForm, key...)
	again := c.must("POST", "/v1/prices", priceForm, key...)
	if again.at("id") != first.at("id") || again.header.Get("Idempotent-Replayed") != "true" ||
		again.header.Get("Original-Request") != first.header.Get("Request-Id") {
		t.Errorf("repetition = %v %v", again.header, again.body)
	}
	other := c.do("POST", "/v1/prices", strings.Replace(priceForm, "1900", "2000", 1), key...)
	if other.status != http.StatusBadRequest || other.at("error.type") != "idempotency_error" {
		t.Errorf("the key with another form = %d %v", other.status, other.body)
	}
	if list := c.must("GET", "/v1/prices", ""); strings.Count(list.at("data"), `"object":"price"`) != 1 {
		t.Errorf("prices = %s, want one", list.at("data"))
	}
	// A refusal is stored as well: the same key does not become a success later.
	bad := []string{"Idempotency-Key", "k2"}
	form := "mode=payment&success_url=https://shop.example/ok&line_items[0][quantity]=1&line_items[0][price]=price_none"
	refused := c.do("POST", "/v1/checkout/sessions", form, bad...)
	replayed := c.do("POST", "/v1/checkout/sessions", form, bad...)
	if refused.status/100 != 4 || replayed.status != refused.status ||
		replayed.at("error.message") != refused.at("error.message") {
		t.Errorf("refused %d %v, then %d %v", refused.status, refused.body, replayed.status, replayed.body)
	}
}

func TestListsHavePages(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for range 3 {
		c.must("POST", "/v1/products", "name=A")
	}
	first := c.must("GET", "/v1/products?limit=2", "")
	if first.at("has_more") != "true" || first.at("object") != "list" {
		t.Errorf("first page = %v", first.body)
	}
	data, _ := first.body["data"].([]any)
	last, _ := data[len(data)-1].(map[string]any)
	id, _ := last["id"].(string)
	second := c.must("GET", "/v1/products?limit=2&starting_after="+id, "")
	if rest, _ := second.body["data"].([]any); len(data) != 2 || len(rest) != 1 || second.at("has_more") != "false" {
		t.Errorf("%d products, then %d, more %s", len(data), len(rest), second.at("has_more"))
	}
}
