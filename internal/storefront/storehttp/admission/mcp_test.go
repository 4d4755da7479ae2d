package admission_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const list = `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`

// Over MCP the messages count, not the requests.
func TestMCPMessages(t *testing.T) {
	t.Parallel()
	notify := `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	call := `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{}}}`
	tests := []struct {
		name, message string
		want          int
	}{
		{"tools/list", list, 5},
		{"tools/call", call, 5},
		{"initialize", hello, 30},
		{"notification", notify, 30},
		{"ping", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 30},
		{"what cannot be read", `{`, 30},
		{"a batch of two calls", "[" + list + "," + call + "]", 2},
		{"a batch of five", "[" + strings.Repeat(list+",", 4) + call + "]", 1},
		{"a batch that is never allowed", "[" + strings.Repeat(list+",", 5) + call + "]", 0},
		{"a batch of a call and nine notifications", "[" + strings.Repeat(notify+",", 9) + list + "]", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := open(t, 5, nil)
				served, w := until(100, func() *httptest.ResponseRecorder { return h.rpc(tt.message) })
				if served != tt.want || w == nil {
					t.Fatalf("%d served, want %d", served, tt.want)
				}
				if w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Retry-After") == "" ||
					object(t, w)["jsonrpc"] != "2.0" {
					t.Errorf("refusal = %v %s, want JSON-RPC with Retry-After", w.Header(), w.Body)
				}
			})
		})
	}
}

// The handshake of a client, a list and a call fit the burst; the refusal
// echoes the id and tells a model to wait.
func TestMCPRefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, 5, nil)
		w := h.rpc(list)
		if got := w.Header().Get("RateLimit"); got != `"client";r=4;t=1` {
			t.Errorf("RateLimit = %s, want 4 left", got)
		}
		_, w = until(10, func() *httptest.ResponseRecorder { return h.rpc(list) })
		want := map[string]any{"jsonrpc": "2.0", "id": 3.0, "error": map[string]any{
			"code": 429.0, "message": "At most one request per second is allowed. Retry after 1 second.",
			"data": map[string]any{"retryAfterSeconds": 1.0, "policy": "client"},
		}}
		if diff := cmp.Diff(want, object(t, w)); diff != "" || w.Header().Get("Retry-After") != "1" ||
			w.Header().Get("RateLimit") != `"client";r=0;t=1` {
			t.Errorf("refusal with %v (-want +got):\n%s", w.Header(), diff)
		}
		time.Sleep(time.Second)
		if w := h.rpc(list); w.Code != http.StatusOK {
			t.Errorf("after a second = %d, want 200", w.Code)
		}
	})
}

// Who hammers on is refused before its messages are read.
func TestMCPHammering(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, 5, nil)
		echoed := 0
		for range 100 {
			if w := h.rpc(list); strings.Contains(w.Body.String(), `"id":3`) {
				echoed++
			}
		}
		if want := 5 + 30; echoed != want {
			t.Errorf("%d messages were read, want %d", echoed, want)
		}
		w := h.rpc(list)
		want := map[string]any{"jsonrpc": "2.0", "error": map[string]any{
			"code": 429.0, "message": "At most 10 requests per second are allowed. Retry after 1 second.",
			"data": map[string]any{"retryAfterSeconds": 1.0, "policy": "lifecycle"},
		}}
		if diff := cmp.Diff(want, object(t, w)); diff != "" || w.Header().Get("Retry-After") != "1" ||
			w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("refusal with %v (-want +got):\n%s", w.Header(), diff)
		}
	})
}

// GET and DELETE are answered with 405, and counted as what costs nothing.
func TestMCPOtherMethods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, 5, nil)
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			if w := h.call(client, method, mcpPath, ""); w.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s = %d, want 405", method, w.Code)
			}
		}
		served, _ := until(100,
			func() *httptest.ResponseRecorder { return h.call(client, http.MethodGet, mcpPath, "") })
		if served != 28 {
			t.Errorf("%d more were served, want 28", served)
		}
	})
}

// MCP and REST of one client share one quota.
func TestMCPAndRESTShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, 5, nil)
		for i := range 5 {
			send := get(h, search)
			if i%2 == 0 {
				send = func() *httptest.ResponseRecorder { return h.rpc(list) }
			}
			if w := send(); w.Code != http.StatusOK {
				t.Errorf("call %d = %d, want 200", i, w.Code)
			}
		}
		a, b := h.rpc(list), get(h, search)()
		types := fmt.Sprint(a.Code, a.Header()["Content-Type"], b.Code, b.Header()["Content-Type"])
		if types != "429 [application/json] 429 [application/problem+json]" {
			t.Errorf("then = %s, want 429 for both, in their shapes", types)
		}
	})
}
