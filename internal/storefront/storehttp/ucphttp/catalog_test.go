package ucphttp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ace/internal/protocol/ucp"
	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

// offersIn lists products with their variants: "prod: a, b".
func offersIn(products []ucp.Product) []string {
	list := []string{}
	for _, p := range products {
		ids := []string{}
		for _, v := range p.Variants {
			ids = append(ids, v.ID)
		}
		list = append(list, strings.TrimPrefix(p.ID, "prod_test_")+": "+strings.Join(ids, ", "))
	}
	return list
}

const assistant = "assistant_pro: assistant_pro_monthly, assistant_pro_yearly"

func TestUCPSearch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body string
		want []string
	}{
		{`{"query":"assistant pro"}`, []string{assistant}},
		{`{"query":"monthly"}`, []string{"assistant_pro: assistant_pro_monthly"}},
		{`{"query":"nothing like it"}`, []string{}},
		{`{"filters":{"categories":["hardware"]}}`, []string{"founders_mug: founders_mug", "home_box: home_box"}},
		{
			`{"filters":{"categories":["SERVICE","hardware"]}}`,
			[]string{"founders_mug: founders_mug", "home_box: home_box", "setup_call: setup_call"},
		},
		{`{"filters":{"categories":["garden"]}}`, []string{}},
		{`{"query":"box","filters":{"categories":["hardware"]}}`, []string{"home_box: home_box"}},
		{
			`{"filters":{"price":{"max":2000}},"context":{"currency":"USD"}}`,
			[]string{"assistant_pro: assistant_pro_monthly", "founders_mug: founders_mug"},
		},
		{
			`{"filters":{"price":{"min":4000}},"context":{"currency":"JPY"}}`,
			[]string{"prompt_handbook_jp: prompt_handbook_jp"},
		},
	}
	ucpAgents(t, func(a *ucpAgent) {
		for _, tt := range tests {
			r := a.call(ucp.ToolSearchCatalog, "", tt.body)
			storetest.ValidUCP(a.T, a.speaks(), "shopping/catalog_search.json#/$defs/search_response", r.Body)
			var found ucp.SearchResponse
			r.Into(a.T, &found)
			if diff := cmp.Diff(tt.want, offersIn(found.Products)); diff != "" ||
				*found.Pagination.TotalCount != len(tt.want) {
				a.T.Errorf("search %s (-want +got), total %d:\n%s", tt.body, *found.Pagination.TotalCount, diff)
			}
		}
	})
}

func TestUCPSearchPages(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	var all []string
	cursor, pages := "", 0
	for {
		r := a.call(ucp.ToolSearchCatalog, "", fmt.Sprintf(`{"pagination":{"limit":2,"cursor":%q}}`, cursor))
		storetest.ValidUCP(t, a.speaks(), "shopping/catalog_search.json#/$defs/search_response", r.Body)
		var page ucp.SearchResponse
		r.Into(t, &page)
		if len(page.Products) > 2 || page.Pagination.HasNextPage != (page.Pagination.Cursor != "") {
			t.Fatalf("page = %+v", page.Pagination)
		}
		all, pages = append(all, offersIn(page.Products)...), pages+1
		if cursor = page.Pagination.Cursor; cursor == "" || pages > 10 {
			break
		}
	}
	want := []string{
		assistant, "founders_mug: founders_mug", "home_box: home_box", "prompt_handbook: prompt_handbook",
		"prompt_handbook_jp: prompt_handbook_jp", "setup_call: setup_call",
	}
	if diff := cmp.Diff(want, all); diff != "" || pages != 3 {
		t.Errorf("%d pages (-want +got):\n%s", pages, diff)
	}
	var whole ucp.SearchResponse
	a.call(ucp.ToolSearchCatalog, "", "").Into(t, &whole) // an empty body lists everything
	if diff := cmp.Diff(want, offersIn(whole.Products)); diff != "" {
		t.Errorf("search without a body (-want +got):\n%s", diff)
	}
}

func TestUCPLookup(t *testing.T) {
	t.Parallel()
	tests := []struct {
		ids    string
		want   []string
		inputs map[string][]ucp.Input
		missed int
	}{
		{
			`"home_box"`,
			[]string{"home_box: home_box"},
			map[string][]ucp.Input{"home_box": {{ID: "home_box", Match: "exact"}}},
			0,
		},
		{
			`"prod_test_assistant_pro","assistant_pro_yearly","assistant_pro_yearly"`,
			[]string{assistant},
			map[string][]ucp.Input{
				"assistant_pro_monthly": {{ID: "prod_test_assistant_pro", Match: "featured"}},
				"assistant_pro_yearly":  {{ID: "assistant_pro_yearly", Match: "exact"}},
			},
			0,
		},
		{
			`"prod_test_home_box","price_test_home_box"`,
			[]string{"home_box: home_box"},
			map[string][]ucp.Input{"home_box": {
				{ID: "prod_test_home_box", Match: "featured"},
				{ID: "price_test_home_box", Match: "exact"},
			}},
			0,
		},
		{
			`"nothing","setup_call","nor this"`,
			[]string{"setup_call: setup_call"},
			map[string][]ucp.Input{"setup_call": {{ID: "setup_call", Match: "exact"}}},
			2,
		},
		{`"nothing"`, []string{}, map[string][]ucp.Input{}, 1},
	}
	ucpAgents(t, func(a *ucpAgent) {
		for _, tt := range tests {
			r := a.call(ucp.ToolLookupCatalog, "", `{"ids":[`+tt.ids+`]}`)
			storetest.ValidUCP(a.T, a.speaks(), "shopping/catalog_lookup.json#/$defs/lookup_response", r.Body)
			var found ucp.LookupResponse
			r.Into(a.T, &found)
			inputs := map[string][]ucp.Input{}
			for _, p := range found.Products {
				for _, v := range p.Variants {
					inputs[v.ID] = v.Inputs
				}
			}
			if diff := cmp.Diff(tt.want, offersIn(found.Products)) + cmp.Diff(tt.inputs, inputs); diff != "" ||
				len(found.Messages) != tt.missed {
				a.T.Errorf("lookup of %s (-want +got), messages %v:\n%s", tt.ids, found.Messages, diff)
			}
		}
	})
}

func TestUCPProduct(t *testing.T) {
	t.Parallel()
	ucpAgents(t, func(a *ucpAgent) {
		for _, id := range []string{"prod_test_assistant_pro", "assistant_pro_yearly"} {
			r := a.call(ucp.ToolGetProduct, "", `{"id":"`+id+`"}`)
			storetest.ValidUCP(a.T, a.speaks(), "shopping/catalog_lookup.json#/$defs/get_product_response", r.Body)
			var found ucp.ProductResponse
			r.Into(a.T, &found)
			want := ucp.PriceRange{
				Min: ucp.Price{Amount: 1900, Currency: "USD"},
				Max: ucp.Price{Amount: 19000, Currency: "USD"},
			}
			if diff := cmp.Diff([]string{assistant}, offersIn([]ucp.Product{found.Product})) + cmp.Diff(want,
				found.Product.PriceRange); diff != "" {
				a.T.Errorf("product %s (-want +got):\n%s", id, diff)
			}
			monthly := found.Product.Variants[0]
			if monthly.Metadata["trial"] == nil || monthly.Metadata["billing"] == nil ||
				monthly.Metadata["price_verification"] == nil || !monthly.Availability.Available {
				a.T.Errorf("variant = %+v, want trial, billing and when the price was verified", monthly)
			}
		}
		var mug ucp.ProductResponse
		a.call(ucp.ToolGetProduct, "", `{"id":"founders_mug"}`).Into(a.T, &mug)
		if got := mug.Product.Variants[0].Availability; got.Available || got.Status != "out_of_stock" {
			a.T.Errorf("availability of what is sold out = %+v", got)
		}
	})
}

// TestUCPStaleCatalog reads the catalog while the processor is unavailable.
func TestUCPStaleCatalog(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	a.call(ucp.ToolSearchCatalog, "", "")
	a.Sandbox.FailAPI(http.MethodGet, "/v1/prices", "429", 50)
	a.Catalog.Invalidate()
	var stale ucp.SearchResponse
	a.call(ucp.ToolSearchCatalog, "", "").Into(t, &stale)
	if diff := cmp.Diff([]string{"warning prices_not_verified"}, said(stale.Messages)); diff != "" ||
		len(stale.Products) == 0 {
		t.Errorf("stale search = %d products\n%s", len(stale.Products), diff)
	}
	a.wantFailure(a.call(ucp.ToolCreateCheckout, "", wish("setup_call", 1)), 503, ucp.ServiceUnavailable, "")
}
