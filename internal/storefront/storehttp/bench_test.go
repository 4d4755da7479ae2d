package storehttp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/protocol/ucp"
)

// serve passes a request to the handler of a world, without a network, and
// fails the benchmark unless the answer has a status.
func (w *world) serve(want int, method, path, body string) []byte {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	w.Handler.ServeHTTP(recorder, r)
	if recorder.Code != want {
		w.t.Fatalf("%s %s = %d %s", method, path, recorder.Code, recorder.Body)
	}
	return recorder.Body.Bytes()
}

// BenchmarkCreateCheckout opens checkouts: two transactions of the store, and a
// page at the sandbox, which is reached over HTTP and keeps it in a database of
// its own.
func BenchmarkCreateCheckout(b *testing.B) {
	w := setup(b)
	w.serve(http.StatusOK, http.MethodGet, "/agent/commerce/products", "") // prices are read once a minute
	body := wish("prompt_handbook", 1)
	b.ReportAllocs()
	for b.Loop() {
		w.serve(http.StatusCreated, http.MethodPost, ucpBase+"/checkout-sessions", body)
	}
}

// BenchmarkGetCheckout reads an open checkout, which is new enough to be
// answered without the processor most of the time.
func BenchmarkGetCheckout(b *testing.B) {
	a := ucpPlain(b)
	_, path := ucpRoute(ucp.ToolGetCheckout, a.order("prompt_handbook", 1).ID)
	b.ReportAllocs()
	for b.Loop() {
		a.serve(http.StatusOK, http.MethodGet, path, "")
	}
}

func BenchmarkReadCatalog(b *testing.B) {
	for _, tt := range []struct{ name, method, path, body string }{
		{"products", http.MethodGet, "/agent/commerce/products", ""},
		{"ucp", http.MethodPost, ucpBase + "/catalog/search", `{"query":"assistant"}`},
	} {
		b.Run(tt.name, func(b *testing.B) {
			w := setup(b)
			w.serve(http.StatusOK, tt.method, tt.path, tt.body)
			b.ReportAllocs()
			for b.Loop() {
				w.serve(http.StatusOK, tt.method, tt.path, tt.body)
			}
		})
	}
}
