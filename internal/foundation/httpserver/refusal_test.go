package httpserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"

	"github.com/google/go-cmp/cmp"
)

// Middleware in front of the Mux refuses in the shape of the path, and the
// access line tells the route instead of what is secret in the path.
func TestRefusalInFrontOfTheMux(t *testing.T) {
	t.Parallel()
	mux := httpserver.NewMux(nil)
	mux.HandleFunc("GET /c/{token}", func(http.ResponseWriter, *http.Request) { t.Error("the handler was called") })
	mux.ErrorsUnder("/other",
		func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusTeapot) })
	refuse := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.NoteRoute(r)
		httpserver.NoteSignature(r.Context(), "invalid: time", "")
		mux.WriteError(w, r, problem.New(problem.RateLimited, "rate_limited", "Wait.").Over("client"))
	})

	w, lines := serve(t, refuse, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/c/secret", nil))
	if w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), `"violated-policies":["client"]`) {
		t.Errorf("answer = %d %s, want 429 that names the policy", w.Code, w.Body)
	}
	delete(lines[0], "duration_ms")
	delete(lines[0], "request_id")
	delete(lines[0], "bytes")
	want := map[string]any{
		"level": "INFO", "msg": "request", "host": "store", "method": "GET", "route": "GET /c/{token}",
		"path":   "/c/{token}",
		"status": 429.0, "client": "192.0.2.1", "problem": "rate_limited", "signature": "invalid: time",
	}
	if diff := cmp.Diff(want, lines[0]); diff != "" {
		t.Errorf("access line (-want +got):\n%s", diff)
	}

	w, _ = serve(t, refuse, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/other/x", nil))
	if w.Code != http.StatusTeapot {
		t.Errorf("answer under /other = %d, want 418", w.Code)
	}
}
