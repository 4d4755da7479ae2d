package acp_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/protocol/acp"
)

func TestNegotiate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		values  []string
		require bool
		want    acp.Exchange
		code    string
	}{
		{"absent", nil, false, acp.Exchange{Version: "2026-04-17", Plain: true}, ""},
		{"absent though required", nil, true, acp.Exchange{}, acp.MissingAPIVersion},
		{"newest", []string{"2026-04-17"}, false, acp.Exchange{Version: "2026-04-17"}, ""},
		{"older", []string{" 2026-01-30 "}, true, acp.Exchange{Version: "2026-01-30"}, ""},
		{"empty", []string{""}, false, acp.Exchange{}, acp.MissingAPIVersion},
		{"too old", []string{"2025-09-29"}, false, acp.Exchange{}, acp.UnsupportedAPIVersion},
		{"future", []string{"2027-01-01"}, false, acp.Exchange{}, acp.UnsupportedAPIVersion},
		{"two", []string{"2026-04-17", "2026-01-30"}, false, acp.Exchange{}, acp.UnsupportedAPIVersion},
		{"nonsense", []string{"v1"}, false, acp.Exchange{}, acp.UnsupportedAPIVersion},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := acp.Negotiate(tt.values, tt.require)
			if tt.code == "" {
				if err != nil || got != tt.want {
					t.Errorf("Negotiate(%q) = %+v, %v, want %+v", tt.values, got, err, tt.want)
				}
				return
			}
			e := acp.FromProblem(asProblem(t, err))
			if e.Code != tt.code || e.Status() != 400 || len(e.SupportedVersions) != 2 ||
				e.SupportedVersions[0] != acp.Newest {
				t.Errorf("Negotiate(%q) = %+v, want %s, 400, with the versions newest first", tt.values, e, tt.code)
			}
		})
	}
}

func TestFromProblem(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		p      *problem.Problem
		status int
		want   string
	}{
		{
			"key reused", problem.New(problem.Conflict, "idempotency_conflict", "No."), 422,
			`{"type":"invalid_request","code":"idempotency_conflict","message":"No."}`,
		},
		{
			"key in flight", problem.New(problem.Conflict, "idempotency_in_flight", "Wait."),
			409, `{"type":"invalid_request","code":"idempotency_in_flight","message":"Wait."}`,
		},
		{
			"sold out", problem.New(problem.Conflict, "out_of_stock", "Gone.").At("/line_items/0"), 409,
			`{"type":"invalid_request","code":"out_of_stock","message":"Gone.","param":"$.line_items[0]"}`,
		},
		{
			"unknown item", problem.New(problem.NotFound, "invalid_item_id", "No.").At("/line_items/0/id"), 400,
			`{"type":"invalid_request","code":"invalid_item_id","message":"No.","param":"$.line_items[0].id"}`,
		},
		{
			"unknown session", problem.New(problem.NotFound, "checkout_session_not_found", "No."), 404,
			`{"type":"invalid_request","code":"checkout_session_not_found","message":"No."}`,
		},
		{
			"cannot be canceled", problem.New(problem.Conflict, "checkout_session_not_cancelable", "No."), 405,
			`{"type":"invalid_request","code":"checkout_session_not_cancelable","message":"No."}`,
		},
		{
			"rate", problem.New(problem.RateLimited, "rate_limited", "Slow.").After(time.Second), 429,
			`{"type":"service_unavailable","code":"rate_limited","message":"Slow."}`,
		},
		{
			"away", problem.New(problem.Unavailable, "processor_unavailable", "Later."), 503,
			`{"type":"service_unavailable","code":"processor_unavailable","message":"Later."}`,
		},
		{
			"slow", problem.New(problem.Timeout, "processor_timeout", "Later."), 503,
			`{"type":"service_unavailable","code":"processor_timeout","message":"Later."}`,
		},
		{
			"internal", problem.New(problem.Internal, "internal_error", "Sorry."), 500,
			`{"type":"processing_error","code":"internal_error","message":"Sorry."}`,
		},
		{
			"large", problem.New(problem.TooLarge, "request_too_large", "Smaller."), 413,
			`{"type":"invalid_request","code":"request_too_large","message":"Smaller."}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := acp.FromProblem(tt.p)
			if got := string(encode(t, e)); got != tt.want || e.Status() != tt.status {
				t.Errorf("FromProblem = %d %s, want %d %s", e.Status(), got, tt.status, tt.want)
			}
		})
	}
}

func TestCheckIdempotencyKey(t *testing.T) {
	t.Parallel()
	tests := []struct {
		key  string
		x    acp.Exchange
		code string
	}{
		{"", plain, ""},
		{"", strict, acp.IdempotencyKeyRequired},
		{"550e8400-e29b-41d4-a716-446655440000", strict, ""},
		{"with a space", strict, ""},
		{strings.Repeat("k", 255), plain, ""},
		{strings.Repeat("k", 256), plain, acp.InvalidIdempotencyKey},
		{"a\x01", strict, acp.InvalidIdempotencyKey},
		{"é", strict, acp.InvalidIdempotencyKey},
	}
	for _, tt := range tests {
		err := acp.CheckIdempotencyKey(tt.key, tt.x)
		if tt.code == "" && err != nil || tt.code != "" && acp.FromProblem(asProblem(t, err)).Code != tt.code {
			t.Errorf("CheckIdempotencyKey(%.20q, %+v) = %v, want %q", tt.key, tt.x, err, tt.code)
		}
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"order of fields", `{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`, true},
		{"1.0 and 1", `{"quantity":1.0}`, `{"quantity":1}`, true},
		{"escapes", `{"id":"\u0061"}`, `{"id":"a"}`, true},
		{"null and absent", `{"buyer":null}`, `{}`, false},
		{"order of arrays", `{"x":[1,2]}`, `{"x":[2,1]}`, false},
		{"empty and object", ``, `{}`, false},
		{"blank and empty", " \n", ``, true},
	}
	for _, tt := range tests {
		a, errA := canonical([]byte(tt.a))
		b, errB := canonical([]byte(tt.b))
		if errA != nil || errB != nil || bytes.Equal(a, b) != tt.same {
			t.Errorf("%s: Canonical = %s, %v and %s, %v, want same = %t", tt.name, a, errA, b, errB, tt.same)
		}
	}
	if _, err := canonical([]byte(`{"a":1,"a":2}`)); !problem.Is(err, "invalid_json") {
		t.Errorf("Canonical of a member named twice = %v, want invalid_json", err)
	}
}
