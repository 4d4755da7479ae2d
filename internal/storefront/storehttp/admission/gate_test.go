package admission_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/ratelimit"
	"ace/internal/protocol/mcp"
	"ace/internal/storefront/storehttp/admission"
)

const search = "/agent/search?q=a"

func get(h *host, path string) func() *httptest.ResponseRecorder {
	return func() *httptest.ResponseRecorder { return h.call(client, http.MethodGet, path, "") }
}

// Five calls at once, then one a second; Retry-After says the exact second.
func TestBurstThenOneASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, 5, nil)
		for i := range 5 {
			w := get(h, search)()
			want := fmt.Sprintf(`"client";r=%d;t=1`, 4-i)
			if w.Code != http.StatusOK || w.Header().Get("RateLimit") != want ||
				w.Header().Get("RateLimit-Policy") != `"client";q=5;w=5` {
				t.Errorf("call %d = %d %v, want 200 with %s", i+1, w.Code, w.Header(), want)
			}
		}
		w := get(h, search)()
		want := map[string]string{
			"Content-Type": "application/problem+json", "Retry-After": "1", "RateLimit": `"client";r=0;t=1`,
			"RateLimit-Policy": `"client";q=5;w=5`,
			"Cache-Control":    "no-store", "Access-Control-Allow-Origin": "*",
		}
		got := map[string]string{}
		for name := range want {
			got[name] = w.Header().Get(name)
		}
		if diff := cmp.Diff(want, got); diff != "" || w.Code != http.StatusTooManyRequests {
			t.Errorf("the sixth call = %d (-want +got):\n%s", w.Code, diff)
		}
		body := object(t, w)
		delete(body, "request_id")
		if diff := cmp.Diff(map[string]any{
			"type": "about:blank", "title": "Too many requests",
			"status": 429.0,
			"detail": "At most one request per second is allowed. Retry after 1 second.", "instance": "/agent/search",
			"code":        "rate_limited",
			"next_action": "retry_later", "retry_after_seconds": 1.0, "violated-policies": []any{"client"},
		}, body); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
		time.Sleep(999 * time.Millisecond)
		if w := get(h, search)(); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
			t.Errorf("after 999 ms = %d, want 429", w.Code)
		}
		time.Sleep(time.Millisecond)
		if w := get(h, search)(); w.Code != http.StatusOK {
			t.Errorf("after a second = %d, want 200", w.Code)
		}
		if w := get(h, search)(); w.Code != http.StatusTooManyRequests {
			t.Errorf("the next one = %d, want 429", w.Code)
		}
	})
}

func TestStrictReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, 1, nil)
		for range 3 {
			served, w := until(5, get(h, search))
			if served != 1 || w.Header().Get("Retry-After") != "1" ||
				w.Header().Get("RateLimit-Policy") != `"client";q=1;w=1` {
				t.Fatalf("%d calls in a second, %v, want 1", served, w)
			}
			time.Sleep(time.Second)
		}
	})
}

// How many requests of each kind are served at once.
func TestClasses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method, path string
		headers      []string
		want         int // 1000: never refused
	}{
		{http.MethodGet, "/agent/search", nil, 5},
		{http.MethodGet, "/agent/read?path=/", nil, 5},
		{http.MethodGet, "/agent/commerce/products", nil, 5},
		{http.MethodPost, "/agent/commerce/ucp/checkout-sessions", nil, 5},
		{http.MethodGet, "/agent/commerce/ucp/checkout-sessions/1", []string{"Prefer", "wait=25"}, 5},
		{http.MethodPost, "/agent/commerce/acp/checkout_sessions", nil, 5},
		{http.MethodPost, "/agent/a2a", nil, 5},
		{http.MethodGet, "/v1/services", nil, 5},
		{http.MethodGet, "/agent//search", nil, 60}, // a redirect
		{http.MethodGet, "/agent/searching", nil, 60},
		{http.MethodGet, "/", nil, 60},
		{http.MethodHead, "/robots.txt", nil, 60},
		{http.MethodGet, "/.well-known/agent-card.json", nil, 60},
		{http.MethodGet, "/openapi.json", nil, 60},
		{http.MethodGet, "/agent/site.json", nil, 60},
		{http.MethodGet, "/c/token", nil, 60},
		{http.MethodGet, "/checkout/token/done", nil, 60},
		{http.MethodGet, "/assets/store.css", nil, 60},
		{http.MethodOptions, "/agent/search", nil, 30},
		{http.MethodOptions, mcpPath, nil, 30},
		{http.MethodPost, "/webhooks/stripe", nil, 1000},
		{http.MethodGet, "/healthz", nil, 1000},
		{http.MethodGet, "/agent/search", []string{"If-None-Match", `"same"`}, 1000},
		{http.MethodGet, "/", []string{"If-None-Match", `"same"`}, 1000},
		{http.MethodGet, "/", []string{"If-None-Match", `"other"`}, 60},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path+strings.Join(tt.headers, " "), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := open(t, 5, nil)
				served, w := until(1000,
					func() *httptest.ResponseRecorder { return h.call(client, tt.method, tt.path, "", tt.headers...) })
				if served != tt.want {
					t.Errorf("%d served, want %d", served, tt.want)
				}
				if w != nil && w.Header().Get("Retry-After") != "1" {
					t.Errorf("Retry-After = %q, want 1", w.Header().Get("Retry-After"))
				}
			})
		})
	}
}

// The classes of one client do not touch each other.
func TestClassesAreApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, 5, nil)
		until(100, get(h, "/"))
		if served, _ := until(100, get(h, search)); served != 5 {
			t.Errorf("after all documents %d calls are served, want 5", served)
		}
		if w := h.rpc(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); w.Code != http.StatusOK {
			t.Errorf("ping = %d %s, want 200", w.Code, w.Body)
		}
	})
}

// The limit fields of a 304 include the refunded unit; documents, which
// caches share, carry no state of one client.
func TestNotModifiedIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, 5, nil)
		w := h.call(client, http.MethodGet, search, "", "If-None-Match", `"same"`)
		if w.Code != http.StatusNotModified || w.Header().Get("RateLimit") != `"client";r=5;t=0` {
			t.Errorf("304 = %d %q, want a whole burst left", w.Code, w.Header().Get("RateLimit"))
		}
		if w := get(h, "/")(); w.Header().Get("RateLimit") != "" {
			t.Errorf("RateLimit of a document = %q, want none", w.Header().Get("RateLimit"))
		}
	})
}

// Who is who: by the address that the proxies in between vouch for.
func TestIdentity(t *testing.T) {
	t.Parallel()
	type from struct {
		remote  string
		headers []string
	}
	xff := func(v string) []string { return []string{"X-Forwarded-For", v} }
	tests := []struct {
		name string
		a, b from
		same bool
	}{
		{"two ports", from{"203.0.113.7:1", nil}, from{"203.0.113.7:2", nil}, true},
		{"two addresses", from{"203.0.113.7:1", nil}, from{"203.0.113.8:1", nil}, false},
		{"one /64", from{"[2001:db8:0:1::1]:1", nil}, from{"[2001:db8:0:1:ffff::2]:1", nil}, true},
		{"two /64", from{"[2001:db8:0:1::1]:1", nil}, from{"[2001:db8:0:2::1]:1", nil}, false},
		{"IPv4 in IPv6", from{"203.0.113.7:1", nil}, from{"[::ffff:203.0.113.7]:1", nil}, true},
		{"behind a proxy", from{"10.0.0.1:1", xff("203.0.113.7")}, from{"10.0.0.1:1", xff("203.0.113.8")}, false},
		{
			"through two proxies",
			from{"10.0.0.1:1", xff("203.0.113.7")},
			from{"10.0.0.2:1", xff("203.0.113.7, 10.0.0.9")},
			true,
		},
		{
			"what a client claims before the proxy",
			from{"10.0.0.1:1", xff("1.1.1.1, 203.0.113.7")},
			from{"10.0.0.1:1", xff("2.2.2.2, 203.0.113.7")},
			true,
		},
		{"claims without a proxy", from{"203.0.113.7:1", xff("1.1.1.1")}, from{"203.0.113.7:1", xff("2.2.2.2")}, true},
		{"malformed behind a proxy", from{"10.0.0.1:1", xff("unknown")}, from{"10.0.0.1:1", xff("nobody")}, true},
		{
			"user agent and session",
			from{"203.0.113.7:1", []string{"User-Agent", "a", "Mcp-Session-Id", "1"}},
			from{"203.0.113.7:1", []string{"User-Agent", "b", "Mcp-Session-Id", "2"}},
			true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := open(t, 5, nil)
				until(100, func() *httptest.ResponseRecorder {
					return h.call(tt.a.remote, http.MethodGet, search, "", tt.a.headers...)
				})
				w := h.call(tt.b.remote, http.MethodGet, search, "", tt.b.headers...)
				if refused := w.Code == http.StatusTooManyRequests; refused != tt.same {
					t.Errorf("the second = %d, want the same client %t", w.Code, tt.same)
				}
			})
		})
	}
}

// Any number of addresses leaves nothing behind but the table of fixed size.
func TestNoStatePerClient(t *testing.T) {
	const clients = 300_000
	table := ratelimit.NewTable(&ratelimit.TableOptions{Slots: 1 << 12})
	gate := admission.New(admission.NewLimits(func(p ratelimit.Policy) ratelimit.Limiter { return table.Limiter(p) },
		5), nil)
	served := 0
	handler := gate.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }),
		func(http.ResponseWriter, *http.Request, error) {})
	client := addresses(handler)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, search, nil)
	w := httptest.NewRecorder()
	before := heap()
	for n := range clients {
		client(w, r, n)
	}
	if after := heap(); after > before+256<<10 {
		t.Errorf("%d clients left %d bytes, want none", clients, after-before)
	}
	if served < clients*99/100 {
		t.Errorf("%d of %d new clients were served", served, clients)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A request whose path holds a capability is refused without showing it in the
// log, and internal faults are faults here too.
func TestRefusalsInTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, 5, nil)
		until(100, get(h, search))
		if !strings.Contains(h.log.String(), "status=429") || !strings.Contains(h.log.String(),
			"problem=rate_limited") {
			t.Errorf("log = %s, want the refusal", h.log)
		}
	})
}

// A store without a gate serves all.
func TestNoGate(t *testing.T) {
	t.Parallel()
	var gate *admission.Gate
	served := 0
	h := gate.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }), nil)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, search, nil)
	h.ServeHTTP(httptest.NewRecorder(), r)
	if refusal := gate.AdmitMCP(http.Header{}, r, mcp.Load{Cost: 1000}); served != 1 || refusal != nil {
		t.Errorf("%d served, AdmitMCP() = %v, want 1 and nil", served, refusal)
	}
}

func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	h := openWith(t, admission.NoLimits(), nil)
	for _, path := range []string{"/", search} {
		served, _ := until(500, get(h, path))
		if w := get(h, path)(); served != 500 || w.Header().Get("RateLimit") != "" {
			t.Errorf("%s: %d served with %v, want all and no fields", path, served, w.Header())
		}
	}
	if served, _ := until(200,
		func() *httptest.ResponseRecorder { return h.rpc(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`) }); served !=
		200 {
		t.Errorf("%d tools/list served, want all", served)
	}
}
