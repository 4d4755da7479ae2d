package ucp_test

import (
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
)

func TestFromProblem(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		p      *problem.Problem
		status int
		rpc    int
		want   string
	}{
		{
			"known code wins over the kind",
			problem.New(problem.Conflict, "profile_unreachable", "It timed out."),
			424,
			-32001,
			`{"code":"profile_unreachable","content":"It timed out.","messages":[{"type":"error",` +
				`"code":"profile_unreachable","severity":"unrecoverable","content":"It timed out."}]}`,
		},
		{
			"faults",
			problem.New(problem.Invalid, "missing_field", "Name it.").WithItems(problem.Item{
				Pointer: "/line_items",
				Code:    "missing_field", Detail: "Name it.",
			}),
			400,
			-32602,
			`{"code":"missing_field","content":"Name it.","messages":[{"type":"error","code":"missing_field",` +
				`"severity":"recoverable","path":"$.line_items","content":"Name it."}]}`,
		},
		{
			"rate",
			problem.New(problem.RateLimited, "rate_limited", "Slow down.").After(1500 * 1e6),
			429,
			-32000,
			`{"code":"rate_limited","content":"Slow down.","messages":[{"type":"error","code":"rate_limited",` +
				`"severity":"recoverable","content":"Slow down."}],"retry_after":2}`,
		},
		{
			"away",
			problem.New(problem.Timeout, "processor_timeout", "Try again."),
			503,
			-32000,
			`{"code":"service_unavailable","content":"Try again.","messages":[{"type":"error",` +
				`"code":"service_unavailable","severity":"recoverable","content":"Try again."}]}`,
		},
		{
			"key reused",
			problem.New(problem.Conflict, "idempotency_conflict", "Use a new key."),
			409,
			-32000,
			`{"code":"idempotency_conflict","content":"Use a new key.","messages":[{"type":"error",` +
				`"code":"idempotency_conflict","severity":"unrecoverable","content":"Use a new key."}]}`,
		},
		{
			"own kind",
			problem.New(problem.TooLarge, "request_too_large", "Smaller."),
			413,
			-32000,
			`{"code":"request_too_large","content":"Smaller.","messages":[{"type":"error","code":"request_too_large",` +
				`"severity":"recoverable","content":"Smaller."}]}`,
		},
		{
			"internal",
			problem.New(problem.Internal, "internal_error", "Sorry."),
			500,
			-32603,
			`{"code":"internal_error","content":"Sorry.","messages":[{"type":"error","code":"internal_error",` +
				`"severity":"unrecoverable","content":"Sorry."}]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := ucp.FromProblem(tt.p)
			if got := string(encode(t, e)); got != tt.want || e.Status() != tt.status || e.RPCCode() != tt.rpc {
				t.Errorf("FromProblem = %d %d %s, want %d %d %s", e.Status(), e.RPCCode(), got, tt.status, tt.rpc,
					tt.want)
			}
		})
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		code     ucp.Code
		status   int
		business bool
	}{
		{ucp.InvalidProfileURL, 400, false},
		{ucp.ProfileUnreachable, 424, false},
		{ucp.ProfileMalformed, 422, false},
		{ucp.VersionUnsupported, 422, false},
		{ucp.ProfileNotTrusted, 403, false},
		{ucp.SignatureMissing, 401, false},
		{ucp.SignatureInvalid, 401, false},
		{ucp.KeyNotFound, 401, false},
		{ucp.DigestMismatch, 400, false},
		{ucp.AlgorithmUnsupported, 400, false},
		{ucp.IdempotencyConflict, 409, false},
		{ucp.IdempotencyInFlight, 409, false},
		{ucp.InvalidRequest, 400, false},
		{ucp.RateLimited, 429, false},
		{ucp.ServiceUnavailable, 503, false},
		{ucp.CapabilitiesIncompatible, 200, true},
		{ucp.NotFound, 200, true},
		{ucp.OutOfStock, 200, true},
		{ucp.ItemUnavailable, 200, true},
		{ucp.QuantityUnitMismatch, 200, true},
		{ucp.CheckoutNotModifiable, 409, true},
		{"offer_not_found", 0, false},
	}
	for _, tt := range tests {
		if tt.code.Status() != tt.status || tt.code.Business() != tt.business {
			t.Errorf("%s = %d, business %t, want %d, %t", tt.code, tt.code.Status(), tt.code.Business(), tt.status,
				tt.business)
		}
		envelope := ucp.NewErrorResponse(ucp.Newest, ucp.CapabilityCheckout,
			ucp.Error(tt.code, tt.code.Severity(), "", "x"))
		if want := max(tt.status, 200); envelope.Status() != want {
			t.Errorf("envelope of %s has status %d, want %d", tt.code, envelope.Status(), want)
		}
	}
}
