package storehttp_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

// Each protocol reads in its own shape that it has to wait.
func TestRefusalsInTheShapeOfThePath(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t, storetest.Limited(1, 1, 1))
	w.Do(http.MethodGet, "/agent/commerce/products", "")
	w.Do(http.MethodGet, "/openapi.json", "")
	tests := []struct {
		name, method, path, body, mediaType string
		headers                             []string
		want                                []string // parts of the response
	}{
		{
			"REST", http.MethodGet, "/agent/commerce/products", "", "application/problem+json", nil,
			[]string{`"code":"rate_limited"`, `"violated-policies":["client"]`, `"retry_after_seconds":AFTER`},
		},
		{
			"UCP", http.MethodPost, "/agent/commerce/ucp/checkout-sessions", "{}", "application/json",
			nil,
			[]string{`"content":"At most 1 requests in 3600 seconds are allowed. Retry after AFTER seconds."`},
		},
		{
			"UCP, a long poll", http.MethodGet, "/agent/commerce/ucp/checkout-sessions/x", "", "application/json",
			[]string{"Prefer", "wait=25"},
			[]string{`"content":`},
		},
		{
			"ACP", http.MethodPost, "/agent/commerce/acp/checkout_sessions", "{}", "application/json",
			nil,
			[]string{`"code":"rate_limited"`, `"message":"At most`},
		},
		{
			"MCP", http.MethodPost, "/agent/commerce/ucp/mcp", `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`,
			"application/json", nil,
			[]string{`"jsonrpc":"2.0","id":7,"error":{"code":429`, `"policy":"client"`},
		},
		{
			"a document", http.MethodGet, "/openapi.json", "", "application/problem+json", nil,
			[]string{`"violated-policies":["documents"]`},
		},
		{
			"a person's page", http.MethodGet, "/c/secret-token", "", "text/html; charset=utf-8",
			[]string{"Accept", "text/html"},
			[]string{"<!doctype html>", "One moment, please"},
		},
		{
			"a person's other page", http.MethodGet, "/checkout/secret-token/done", "", "text/html; charset=utf-8",
			[]string{"Accept", "text/html"},
			[]string{"One moment, please"},
		},
	}
	for _, tt := range tests {
		answer := w.Do(tt.method, tt.path, tt.body, tt.headers...)
		after := answer.Header.Get("Retry-After")
		seconds, err := strconv.Atoi(after)
		exact := err == nil && seconds <= 3600 && seconds > 3500 // an hour, less what the test took
		if answer.Status != http.StatusTooManyRequests || answer.Header.Get("Content-Type") != tt.mediaType || !exact {
			t.Errorf("%s: answer = %d %v, want 429 as %s with Retry-After", tt.name, answer.Status, answer.Header,
				tt.mediaType)
		}
		for _, part := range tt.want {
			part = strings.ReplaceAll(part, "AFTER", after)
			if !strings.Contains(strings.ReplaceAll(string(answer.Body), `": `, `":`), part) &&
				!strings.Contains(strings.ToLower(string(answer.Body)), part) {
				t.Errorf("%s: answer = %s, want %s in it", tt.name, answer.Body, part)
			}
		}
		if answer.Header.Get("Cache-Control") != "no-store" || answer.Header.Get("RateLimit") == "" &&
			!strings.HasSuffix(tt.path, "/mcp") {
			t.Errorf("%s: header = %v", tt.name, answer.Header)
		}
	}
	if strings.Contains(w.Log.String(), "secret-token") {
		t.Error("the log shows the link of a buyer")
	}
}

// The processor's messages are signed: they are never counted. Neither is
// asking whether the store is alive.
func TestWhatIsNotLimited(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t, storetest.Limited(1, 1, 1))
	for range 20 {
		if answer := w.Do(http.MethodPost, "/webhooks/stripe", "{}"); answer.Status != http.StatusBadRequest {
			t.Fatalf("POST /webhooks/stripe = %d %s, want the refusal of its signature", answer.Status, answer.Body)
		}
		if answer := w.Do(http.MethodGet, "/healthz", ""); answer.Status != http.StatusOK {
			t.Fatalf("GET /healthz = %d", answer.Status)
		}
	}
}

// A client that has the document already has it for free.
func TestRevalidationIsFree(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t, storetest.Limited(2, 2, 2))
	for _, path := range []string{"/openapi.json", "/agent/commerce/products"} {
		tag := w.Do(http.MethodGet, path, "").Header.Get("ETag")
		for i := range 10 {
			if answer := w.Do(http.MethodGet, path, "", "If-None-Match", tag); answer.Status != http.StatusNotModified {
				t.Fatalf("GET %s again, %d = %d, want 304", path, i, answer.Status)
			}
		}
		if answer := w.Do(http.MethodGet, path, ""); answer.Status != http.StatusOK {
			t.Errorf("GET %s again = %d, want 200", path, answer.Status)
		}
		if answer := w.Do(http.MethodGet, path, ""); answer.Status != http.StatusTooManyRequests {
			t.Errorf("GET %s over the limit = %d, want 429", path, answer.Status)
		}
	}
}

// Every response reports what a client may still do of the API, over REST and MCP.
func TestRateLimitFields(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t, storetest.Limited(5, 60, 30))
	calls := []storetest.Response{
		w.Do(http.MethodGet, "/agent/commerce/products", ""),
		w.Do(http.MethodPost, "/agent/commerce/ucp/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`),
		w.Do(http.MethodGet, "/agent/commerce/ucp/checkout-sessions/none", ""),
		w.Do(http.MethodGet, "/agent/commerce/acp/checkout_sessions/none", ""),
	}
	var got []string
	for _, c := range calls {
		got = append(got, c.Header.Get("RateLimit-Policy")+" "+strings.SplitAfter(c.Header.Get("RateLimit"), ";t=")[0])
	}
	const policy = `"client";q=5;w=18000 "client";`
	if diff := cmp.Diff([]string{policy + "r=4;t=", policy + "r=3;t=", policy + "r=2;t=", policy + "r=1;t="},
		got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	var list struct {
		Result struct{ Tools []json.RawMessage }
	}
	if calls[1].Into(t, &list); len(list.Result.Tools) == 0 {
		t.Errorf("tools/list = %s", calls[1].Body)
	}
	hello := w.Do(
		http.MethodPost,
		"/agent/commerce/ucp/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},`+
			`"clientInfo":{"name":"c","version":"1"}}}`,
	)
	if hello.Status != http.StatusOK || hello.Header.Get("RateLimit") != "" {
		t.Errorf("initialize = %d %v, want it for free", hello.Status, hello.Header)
	}
}
