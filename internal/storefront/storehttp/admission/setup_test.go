package admission_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/ratelimit"
	"ace/internal/protocol/mcp"
	"ace/internal/storefront/storehttp/admission"
)

// host is a small store behind a gate, called without a network, so that its
// time can be held.
type host struct {
	t       *testing.T
	handler http.Handler
	log     *strings.Builder
}

const (
	mcpPath = "/agent/commerce/ucp/mcp"
	client  = "203.0.113.7:5000"
)

// open starts a host with the limits of a store.
func open(t *testing.T, burst int, o *admission.Options) *host {
	t.Helper()
	table := ratelimit.NewTable(&ratelimit.TableOptions{Slots: 1 << 12})
	return openWith(t,
		admission.NewLimits(func(p ratelimit.Policy) ratelimit.Limiter { return table.Limiter(p) }, burst), o)
}

func openWith(t *testing.T, limits admission.Limits, o *admission.Options) *host {
	t.Helper()
	if o == nil {
		o = &admission.Options{}
	}
	o.MCP = []string{mcpPath}
	gate := admission.New(limits, o)
	mux := httpserver.NewMux(nil)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			httpserver.WriteProblem(w, r, err)
			return
		}
		w.Header().Set("X-Agent", admission.Agent(r.Context()))
		if tag := r.Header.Get("If-None-Match"); tag == `"same"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(body)
	})
	tools := mcp.NewServer(mcp.Implementation{Name: "t", Version: "1"}, &mcp.Options{Admit: gate.AdmitMCP})
	mcp.AddTool(tools, mcp.Tool{Name: "echo", Description: "Echoes."},
		func(_ context.Context, _ *mcp.Call, _ *struct{}) (*struct{}, error) { return &struct{}{}, nil })
	mux.Handle(mcpPath, tools)
	log := &strings.Builder{}
	refuse := func(w http.ResponseWriter, r *http.Request, err error) {
		mux.NoteRoute(r)
		mux.WriteError(w, r, err)
	}
	trusted := &httpserver.Proxies{
		Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Header: httpserver.HeaderXForwardedFor,
	}
	return &host{t, httpserver.Chain(gate.Wrap(mux, refuse),
		httpserver.Instrument(slog.New(slog.NewTextHandler(log, nil)), "store", nil), httpserver.ClientAddress(trusted),
		httpserver.LimitBody(1<<21)), log}
}

// call sends a request from an address. headers are name, value, …
func (h *host) call(from, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	h.t.Helper()
	r := httptest.NewRequestWithContext(h.t.Context(), method, "https://store.example"+path, strings.NewReader(body))
	r.TLS = nil
	r.RemoteAddr = from
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return h.send(r)
}

func (h *host) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w
}

// rpc sends an MCP message from the usual client.
func (h *host) rpc(message string) *httptest.ResponseRecorder {
	h.t.Helper()
	return h.call(client, http.MethodPost, mcpPath, message, "Content-Type", "application/json")
}

// until returns how many calls are served before the first 429, at most limit.
func until(limit int, call func() *httptest.ResponseRecorder) (served int, refusal *httptest.ResponseRecorder) {
	for served < limit {
		if w := call(); w.Code == http.StatusTooManyRequests {
			return served, w
		}
		served++
	}
	return served, nil
}

func object(t *testing.T, w *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return v
}
