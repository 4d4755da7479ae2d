package admission_test

import (
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/ratelimit"
	"ace/internal/storefront/storehttp/admission"
)

// addresses sends requests to a handler as so many clients.
func addresses(handler http.Handler) func(w http.ResponseWriter, r *http.Request, n int) {
	wrapped := httpserver.ClientAddress(nil)(handler)
	return func(w http.ResponseWriter, r *http.Request, n int) {
		var ip [4]byte
		binary.BigEndian.PutUint32(ip[:], uint32(n)+1<<28)
		r.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4(ip), 1).String()
		wrapped.ServeHTTP(w, r)
	}
}

// BenchmarkGate is what the gate costs an unsigned request.
func BenchmarkGate(b *testing.B) {
	table := ratelimit.NewTable(nil)
	gate := admission.New(admission.NewLimits(func(p ratelimit.Policy) ratelimit.Limiter { return table.Limiter(p) },
		5), nil)
	handler := addresses(gate.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		httpserver.WriteProblem))
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, search, nil)
	w := httptest.NewRecorder()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		handler(w, r, n)
		n++
	}
}
