package agenttool_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

// TestToolsAnswerAsREST asks the same question both ways.
func TestToolsAnswerAsREST(t *testing.T) {
	t.Parallel()
	u := storetest.UseTools(t,
		fstest.MapFS{"long.md": storetest.Page("# Long\n\n" + strings.Repeat("A sentence that is repeated. ", 3000))})
	tests := []struct {
		tool, arguments, path string
		see                   string
	}{
		{"search_pages", `{"query":"refunds"}`, "/agent/search?q=refunds", `"path":"/refunds"`},
		{"search_pages", `{"query":"privcy"}`, "/agent/search?q=privcy", `"path":"/privacy"`},
		{"search_pages", `{"query":"products","limit":2}`, "/agent/search?q=products&limit=2", `"next_cursor":"`},
		{"search_pages", `{"query":"zebra"}`, "/agent/search?q=zebra", `"total":0,"results":[]`},
		{"read_page", `{"path":"/refunds"}`, "/agent/read?path=/refunds", `"format":"markdown"`},
		{
			"read_page", `{"path":"refunds.md","format":"text"}`, "/agent/read?path=/refunds&format=text",
			`"format":"text"`,
		},
		{
			"read_page", `{"url":"` + u.URL + `/refunds"}`, "/agent/read?url=" + url.QueryEscape(u.URL+"/refunds"),
			`"path":"/refunds"`,
		},
		{"read_page", `{"path":"` + u.URL + `/refunds"}`, "/agent/read?path=/refunds", `"path":"/refunds"`},
		{"read_page", `{"path":"/long"}`, "/agent/read?path=/long", `"truncated":true,"next_offset":`},
		{
			"read_page", `{"path":"/long","offset":40000,"limit":10}`, "/agent/read?path=/long&offset=40000&limit=10",
			`"returned":10`,
		},
		{"list_products", `{}`, "/agent/commerce/products", `"id":"assistant_pro_monthly"`},
		{
			"list_products", `{"query":"assistant","limit":1}`, "/agent/commerce/products?q=assistant&limit=1",
			`"next_cursor":"`,
		},
		{"list_products", `{"ids":["home_box"]}`, "/agent/commerce/products?id=home_box", `"total":1`},
		{
			"list_products", `{"category":"hardware","available":true,"currency":"usd"}`,
			"/agent/commerce/products?category=hardware&available=true&currency=USD", `"ships_to":`,
		},
	}
	for _, tt := range tests {
		a := u.Call(tt.tool, tt.arguments)
		if a.IsError || !strings.Contains(a.Text(), tt.see) {
			t.Errorf("%s %s = %s, want %s in it", tt.tool, tt.arguments, a.Text(), tt.see)
			continue
		}
		rest := u.Do(http.MethodGet, tt.path, "")
		if diff := cmp.Diff(
			storetest.Timeless(storetest.PlainJSON(t, rest.Body)),
			storetest.Timeless(storetest.PlainJSON(t, a.Structured)),
		); diff != "" {
			t.Errorf("%s %s is not %s (-REST +tool):\n%s", tt.tool, tt.arguments, tt.path, diff)
		}
	}
}

// TestToolsInPages reads a long page and a list of pages to the end, as their
// answers say.
func TestToolsInPages(t *testing.T) {
	t.Parallel()
	text := "# Long\n\n" + strings.Repeat("Ein Satz mit Ümläuten. ", 4000)
	u := storetest.UseTools(t, fstest.MapFS{"long.md": storetest.Page(text)})
	var whole strings.Builder
	arguments := `{"path":"/long"}`
	for part := 0; arguments != ""; part++ {
		var r struct {
			Content    string
			Truncated  bool
			NextOffset json.Number `json:"next_offset"`
			Total      int
		}
		u.Call("read_page", arguments).Into(t, &r)
		whole.WriteString(r.Content)
		arguments = ""
		if r.Truncated {
			arguments = `{"path":"/long","offset":` + r.NextOffset.String() + `}`
		}
		if part > 10 {
			t.Fatal("the page does not end")
		}
	}
	if got := strings.TrimSpace(whole.String()); got != strings.TrimSpace(text) {
		t.Errorf("the parts make up %d bytes, want the %d of the page", len(got), len(strings.TrimSpace(text)))
	}
	seen := map[string]bool{}
	cursor := ""
	for range 20 {
		var r struct {
			Total      int
			Results    []struct{ Path string }
			NextCursor string `json:"next_cursor"`
		}
		u.Call("search_pages", `{"query":"products","limit":3,"cursor":"`+cursor+`"}`).Into(t, &r)
		for _, found := range r.Results {
			seen[found.Path] = true
		}
		if cursor = r.NextCursor; cursor == "" {
			if len(seen) != r.Total || r.Total < 4 {
				t.Errorf("%d pages were found in parts, want %d", len(seen), r.Total)
			}
			return
		}
	}
	t.Error("the results do not end")
}

// TestSiteInfo is site.json with who asks.
func TestSiteInfo(t *testing.T) {
	t.Parallel()
	u := storetest.UseTools(t)
	got := storetest.PlainJSON(t, u.Call("site_info", `{}`).Structured).(map[string]any)
	if diff := cmp.Diff(map[string]any{"verified": false}, got["client"]); diff != "" {
		t.Errorf("client of an unsigned request (-want +got):\n%s", diff)
	}
	delete(got, "client")
	if diff := cmp.Diff(
		storetest.PlainJSON(t, u.Do(http.MethodGet, "/agent/site.json", "").Body),
		any(got),
	); diff != "" {
		t.Errorf("site_info is not site.json (-REST +tool):\n%s", diff)
	}
	if a := u.Send("site_info", `{"name":"site_info"}`); a.IsError {
		t.Errorf("without arguments = %s", a.Text())
	}
	if a := u.Send("site_info", `{"name":"site_info","arguments":null}`); a.IsError {
		t.Errorf("with null for arguments = %s", a.Text())
	}
}

// TestToolRefusals are calls that fail: each says what is wrong, its code, and
// which tool to call next.
func TestToolRefusals(t *testing.T) {
	t.Parallel()
	u := storetest.UseTools(t, fstest.MapFS{"secret.md": storetest.Page("---\nprivate: true\n---\n# Secret\n")})
	long := strings.Repeat("x", 3000)
	tests := []struct {
		tool, arguments string
		want            []string
	}{
		{"site_info", `{"x":1}`, []string{"x: is not an argument here", "invalid_arguments"}},
		{"search_pages", `{}`, []string{"query: is required"}},
		{"search_pages", `{"q":"refunds"}`, []string{"q: is not an argument here", "query: is required"}},
		{"search_pages", `{"query":7}`, []string{"query: must be a string"}},
		{"search_pages", `{"query":""}`, []string{"query: must have at least 1 characters"}},
		{"search_pages", `{"query":"?!"}`, []string{"query holds no word", "query_required"}},
		{
			"search_pages", `{"query":"` + strings.Repeat("ü", 150) + `"}`,
			[]string{"more than 200 bytes", "query_too_long"},
		},
		{"search_pages", `{"query":"a","limit":51}`, []string{"limit: must be at most 50"}},
		{"search_pages", `{"query":"a","limit":"5"}`, []string{"limit: must be a whole number"}},
		{"search_pages", `{"query":"a","limit":1.5}`, []string{"limit: must be a whole number"}},
		{"search_pages", `{"query":"a","cursor":"x"}`, []string{"leave cursor out", "invalid_cursor"}},

		{"read_page", `{}`, []string{"give path", "search_pages", "path_required"}},
		{"read_page", `{"path":"/a","url":"` + u.URL + `/a"}`, []string{"not both", "path_or_url"}},
		{
			"read_page", `{"path":"/refund-policy"}`,
			[]string{"Closest: /refunds", "page_not_found", "next: call search_pages"},
		},
		{"read_page", `{"path":"` + u.URL + `/produts"}`, []string{"Closest: /products", "page_not_found"}},
		{"read_page", `{"path":"/zebra"}`, []string{"There is no page at this path. search_pages finds"}},
		{"read_page", `{"path":"/../../etc/passwd"}`, []string{"climbs out", "path_outside_site", "search_pages"}},
		{"read_page", `{"path":"/%zz"}`, []string{"percent sign", "invalid_path"}},
		{"read_page", `{"path":"https://evil.example/x"}`, []string{"other_host", "search_pages"}},
		{"read_page", `{"url":"ftp://x"}`, []string{"invalid_url"}},
		{"read_page", `{"path":"/secret"}`, []string{"page_private"}},
		{"read_page", `{"path":"/checkout/c_1/done"}`, []string{"page_private"}},
		{"read_page", `{"path":"/terms","format":"pdf"}`, []string{`format: must be one of "markdown", "text"`}},
		{"read_page", `{"path":"/terms","offset":-1}`, []string{"offset: must be at least 0"}},
		{"read_page", `{"path":"/terms","offset":999999999}`, []string{"offset must be smaller", "invalid_offset"}},
		{"read_page", `{"path":"/terms","offset":1e300}`, []string{"offset: is too large"}},
		{"read_page", `{"path":"/terms","limit":40001}`, []string{"limit: must be at most 40000"}},
		{"read_page", `{"path":"/` + long + `"}`, []string{"path: must have at most 2048 characters"}},

		{
			"list_products", `{"category":"food"}`,
			[]string{`category: must be one of "software", "service", "hardware"`},
		},
		{"list_products", `{"ids":"home_box"}`, []string{"ids: must be an array"}},
		{"list_products", `{"available":"yes"}`, []string{"available: must be true or false"}},
		{"list_products", `{"currency":"dollars"}`, []string{"currency: must match the pattern"}},
		{"list_products", `{"limit":0}`, []string{"limit: must be at least 1"}},
		{"list_products", `{"cursor":"x"}`, []string{"leave cursor out", "invalid_cursor"}},

		{"create_checkout", `{}`, []string{"offer_id: is required"}},
		{
			"create_checkout", `{"offer_id":"assistant-pro"}`,
			[]string{"Closest: assistant_pro_monthly (", "offer_not_found", "next: call list_products"},
		},
		{
			"create_checkout", `{"offer_id":"prod_test_assistant_pro"}`,
			[]string{
				"Closest: assistant_pro_monthly (Assistant Pro, monthly), assistant_pro_yearly (Assistant Pro, " +
					"yearly).",
			},
		},
		{
			"create_checkout", `{"offer_id":"zebra"}`,
			[]string{"No offer has this id. list_products answers the ids that can be bought."},
		},
		{
			"create_checkout", `{"offer_id":"founders_mug"}`,
			[]string{"sold out", "list_products with available: true", "sold_out"},
		},
		{"create_checkout", `{"offer_id":"prompt_handbook","quantity":0}`, []string{"quantity: must be at least 1"}},
		{
			"create_checkout", `{"offer_id":"prompt_handbook","quantity":100000}`,
			[]string{"The quantity of", "invalid_quantity"},
		},
		{
			"create_checkout", `{"offer_id":"prompt_handbook","buyer_email":"nobody"}`,
			[]string{"buyer_email: must have the format email"},
		},
		{
			"create_checkout", `{"offer_id":"prompt_handbook","idempotency_key":""}`,
			[]string{"idempotency_key: must have at least 1"},
		},
		{
			"create_checkout", `{"offer_id":"prompt_handbook","card":"4242424242424242"}`,
			[]string{"card: is not an argument here"},
		},

		{"get_checkout", `{}`, []string{"id: is required"}},
		{
			"get_checkout", `{"id":"x"}`,
			[]string{"No checkout has this id", "checkout_not_found", "next: call create_checkout"},
		},
		{"get_checkout", `{"id":"chk_aaaaaaaaaaaaaaaaaaaaaaaaaa"}`, []string{"checkout_not_found"}},
		{"get_checkout", `{"id":"x","wait_seconds":26}`, []string{"wait_seconds: must be at most 25"}},

		{"list_services", `{"url":"https://a.example"}`, []string{"url: is not an argument here"}},

		{"run_ai_search_audit", `{}`, []string{"url: is required"}},
		{"run_ai_search_audit", `{"url":"a.example"}`, []string{"url: must have the format uri: a whole address"}},
		{
			"run_ai_search_audit", `{"url":"https://a.example","max_pages":26}`,
			[]string{"max_pages: must be at most 25"},
		},
		{
			"run_structured_data_pack", `{"url":"https://a.example","max_pages":0}`,
			[]string{"max_pages: must be at least 1"},
		},
		{
			"run_llms_txt_draft", `{"url":"https://a.example","max_pages":5}`,
			[]string{"max_pages: is not an argument here"},
		},
		{
			"run_llms_txt_draft",
			`{"url":"https://a.example","payment_signature":"` + strings.Repeat("x", 16385) + `"}`,
			[]string{"payment_signature: must have at most 16384 characters"},
		},
	}
	for _, tt := range tests {
		u.Fails(tt.tool, tt.arguments, append([]string{"(code: "}, tt.want...)...)
	}
	if strings.Contains(u.Log.String(), "internal fault") {
		t.Errorf("log = %s, want no fault of ours", u.Log)
	}
}

// An unavailable processor is reported, with when to try again; what was read
// before is still listed.
func TestToolsWithoutTheProcessor(t *testing.T) {
	t.Parallel()
	u := storetest.UseToolsOf(t)
	u.Sandbox.FailAPI(http.MethodGet, "/v1/prices", "500", 1000)
	u.Fails("list_products", `{}`, "processor_unavailable", "retry after")
	u.Fails("create_checkout", `{"offer_id":"prompt_handbook"}`, "processor_unavailable", "retry after")
	u.Fails("create_checkout", `{"offer_id":"prompt_handbook","idempotency_key":"once"}`, "processor_unavailable")
	u.Sandbox.Heal()
	u.Catalog.Invalidate()
	if a := u.Call("create_checkout", `{"offer_id":"prompt_handbook","idempotency_key":"once"}`); a.IsError {
		t.Errorf("the same call when the processor is back = %s", a.Text())
	}
}

// A signed agent reads that it was recognized.
func TestSiteInfoOfASignedAgent(t *testing.T) {
	t.Parallel()
	bot := newBot(t)
	u := storetest.UseToolsOf(t, func(d *storehttp.Deps) { bot.join(t, d) })
	ask := func() map[string]any {
		var r struct{ Client map[string]any }
		a := u.Send("site_info", `{"name":"site_info"}`, bot.sign(t, u.URL+"/mcp")...)
		a.Into(t, &r)
		return r.Client
	}
	for range 200 { // its keys are fetched in the background
		if ask()["verified"] == true {
			break
		}
	}
	if diff := cmp.Diff(map[string]any{"verified": true, "agent": bot.url}, ask()); diff != "" {
		t.Errorf("client of a signed request (-want +got):\n%s", diff)
	}
}
