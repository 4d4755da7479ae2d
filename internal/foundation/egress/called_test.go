package egress_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
)

// TestCalled holds that each call is reported once, with its status or why there was
// none.
func TestCalled(t *testing.T) {
	t.Parallel()
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	defer there.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	var calls []egress.Call
	guard := egress.New(&egress.Options{
		Allow:  []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Called: func(c egress.Call) { calls = append(calls, c) },
	})
	client := guard.Client(egress.Webhook())
	for _, target := range []string{there.URL, gone.URL, "http://169.254.169.254/"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := client.Do(r); err == nil {
			_ = res.Body.Close()
		}
	}
	if len(calls) != 3 {
		t.Fatalf("%d calls were reported, want 3: %+v", len(calls), calls)
	}
	if c := calls[0]; c.Purpose != "webhook" || c.Status != http.StatusTeapot || c.Err != nil {
		t.Errorf("the call of a server that responds = %+v", c)
	}
	if c := calls[1]; c.Status != 0 || !problem.Is(c.Err, "target_unreachable") {
		t.Errorf("the call of a server that is gone = %+v", c)
	}
	if c := calls[2]; c.Status != 0 || egress.Reason(c.Err) == "" {
		t.Errorf("a refused call = %+v", c)
	}
}
