package httpserver_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"ace/internal/foundation/httpserver"

	"github.com/google/go-cmp/cmp"
)

// watcher records what an Observer is notified of.
type watcher struct {
	started int
	ended   []httpserver.RequestEnd
}

func (w *watcher) RequestStarted(string) { w.started++ }

func (w *watcher) RequestEnded(_ string, e httpserver.RequestEnd) {
	e.Elapsed = 0
	w.ended = append(w.ended, e)
}

// TestObserver holds that each request is reported once, however it ends.
func TestObserver(t *testing.T) {
	t.Parallel()
	mux := httpserver.NewMux(nil)
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		switch r.PathValue("id") {
		case "panics":
			panic("boom")
		case "breaks":
			panic(http.ErrAbortHandler)
		}
	})
	seen := &watcher{}
	h := httpserver.Chain(mux, httpserver.Instrument(slog.New(slog.DiscardHandler), "store",
		&httpserver.InstrumentOptions{Observer: seen}))
	for _, path := range []string{"/orders/1", "/orders/panics", "/orders/breaks", "/nothing"} {
		func() {
			defer func() { _ = recover() }() // what net/http does with an aborted request
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		}()
	}
	const route = "GET /orders/{id}"
	want := []httpserver.RequestEnd{
		{Method: "GET", Route: route, Status: 200},
		{Method: "GET", Route: route, Status: 500, Problem: "internal_error", Panicked: true},
		{Method: "GET", Route: route},
		{Method: "GET", Status: 404, Problem: "not_found"},
	}
	if diff := cmp.Diff(want, seen.ended); diff != "" || seen.started != len(want) {
		t.Errorf("%d started; what ended differs (-want +got):\n%s", seen.started, diff)
	}
}
