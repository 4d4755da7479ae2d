package ucphttp_test

import (
	"net/http"
	"testing"

	"ace/internal/protocol/ucp"
	"ace/internal/storefront/storehttp/storetest"
)

// BenchmarkCreateCheckout opens checkouts: two transactions of the store, and a
// page at the sandbox, which is reached over HTTP and keeps it in a database of
// its own.
func BenchmarkCreateCheckout(b *testing.B) {
	w := storetest.Start(b)
	w.Serve(http.StatusOK, http.MethodGet, "/agent/commerce/products", "") // prices are read once a minute
	body := wish("prompt_handbook", 1)
	b.ReportAllocs()
	for b.Loop() {
		w.Serve(http.StatusCreated, http.MethodPost, ucpBase+"/checkout-sessions", body)
	}
}

// BenchmarkGetCheckout reads an open checkout, which is new enough to be
// answered without the processor most of the time.
func BenchmarkGetCheckout(b *testing.B) {
	a := ucpPlain(b)
	_, path := ucpRoute(ucp.ToolGetCheckout, a.order("prompt_handbook", 1).ID)
	b.ReportAllocs()
	for b.Loop() {
		a.Serve(http.StatusOK, http.MethodGet, path, "")
	}
}

func BenchmarkReadCatalog(b *testing.B) {
	for _, tt := range []struct{ name, method, path, body string }{
		{"products", http.MethodGet, "/agent/commerce/products", ""},
		{"ucp", http.MethodPost, ucpBase + "/catalog/search", `{"query":"assistant"}`},
	} {
		b.Run(tt.name, func(b *testing.B) {
			w := storetest.Start(b)
			w.Serve(http.StatusOK, tt.method, tt.path, tt.body)
			b.ReportAllocs()
			for b.Loop() {
				w.Serve(http.StatusOK, tt.method, tt.path, tt.body)
			}
		})
	}
}
