package toolhttp_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"ace/internal/platform/apikey"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	for range 3 {
		w.run(key, "desk__search", `{"arguments":{"n":3}}`)
	}
	w.provider.set(func(p *provider) { p.valid = "another" })
	w.run(key, "desk__create", `{"arguments":{"title":"a"}}`)
	groups := func(query string, key string) []any {
		t.Helper()
		got := w.call(http.MethodGet, "/api/v1/usage"+query, "", bearer(key)...)
		body := w.decode(got)
		list, ok := body["usage"].([]any)
		if got.Code != http.StatusOK || !ok || body["truncated"] != false {
			t.Fatalf("GET /usage%s = %d %v", query, got.Code, body)
		}
		return list
	}
	first := func(list []any) map[string]any {
		one, _ := list[0].(map[string]any)
		return one
	}
	by := groups("?group_by=tool", key)
	if one := first(by); len(by) != 2 || one["group"] != "desk__search" || one["runs"] != 3.0 ||
		one["succeeded"] != 3.0 || one["failed"] != 0.0 || one["attempts"] != 3.0 {
		t.Errorf("by tool = %v", by)
	}
	if one := first(groups("", key)); one["group"] != "desk" || one["runs"] != 4.0 || one["failed"] != 1.0 {
		t.Errorf("by app = %v", one)
	}
	if one := first(groups("?group_by=day", key)); one["group"] != time.Now().UTC().Format(time.DateOnly) ||
		one["runs"] != 4.0 {
		t.Errorf("by day = %v", one)
	}
	if list := groups("?to="+url.QueryEscape(time.Now().Add(-time.Hour).Format(time.RFC3339)), key); len(list) != 0 {
		t.Errorf("before anything was run = %v", list)
	}
	narrow := w.key(func(s *apikey.Settings) { s.Restrict.Tools = []string{"desk__create"} })
	if list := groups("?group_by=tool", narrow); len(list) != 1 || first(list)["group"] != "desk__create" {
		t.Errorf("a key for one tool counts %v", list)
	}
	for query, code := range map[string]string{
		"?from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z": "invalid_request",
		"?from=2030-01-01T00:00:00Z&to=2029-01-01T00:00:00Z": "invalid_request",
		"?group_by=user": "invalid_request", "?from=yesterday": "invalid_request",
	} {
		got := w.call(http.MethodGet, "/api/v1/usage"+query, "", bearer(key)...)
		if got.Code != http.StatusBadRequest && got.Code != http.StatusUnprocessableEntity ||
			w.decode(got)["code"] == nil {
			t.Errorf("GET /usage%s = %d %s, want %s", query, got.Code, got.Body, code)
		}
	}
}
