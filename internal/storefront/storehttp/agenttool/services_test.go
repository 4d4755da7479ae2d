package agenttool_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/protocol/mcp"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/agenttool"
	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

// A store without services says so plainly, and what to do instead.
func TestNoServices(t *testing.T) {
	t.Parallel()
	u := storetest.UseToolsOf(t)
	var list agenttool.ServiceList
	u.Call("list_services", `{}`).Into(t, &list)
	if list.Payments.Available || list.Payments.Mode != "none" || list.Payments.Parameter != "payment_signature" ||
		len(list.Services) != 3 {
		t.Errorf("list_services = %+v, want three services that are not available", list)
	}
	for _, s := range list.Services {
		if s.Available || s.UnavailableReason == nil || *s.UnavailableReason == "" || s.Price != nil ||
			s.MCP.URL != u.URL+"/mcp" || s.MCP.Tool != s.Tool || len(s.InputSchema) < 20 {
			t.Errorf("service = %+v, want it unavailable, with the reason and how it is called", s)
		}
		for _, signed := range []string{"", `,"payment_signature":"eyJ4NDAyVmVyc2lvbiI6Mn0="`} {
			u.Fails(s.Tool, `{"url":"https://a.example"`+signed+`}`, "nothing charged", "Do not pay",
				"services_not_offered", "next: call list_services")
		}
	}
}

// services is a small port: quotes without a payment, runs with one.
type services struct{ calls []string }

const quote = `{"x402Version":2,"error":"payment required","resource":{"url":"https://store.example/mcp"},` +
	`"accepts":[{"scheme":"exact","amount":"100000"}]}`

func (s *services) List(context.Context) (*agenttool.ServiceList, error) {
	return &agenttool.ServiceList{
		Object: "service_list", X402Version: 2,
		Payments: agenttool.ServicePayments{Mode: "dev-ledger", Available: true, Networks: []string{"eip155:31337"}},
		Services: []agenttool.Service{{
			ID: "ai-search-audit", Tool: agenttool.AISearchAudit, Name: "Audit", Description: "d", Available: true,
			ChargedWhen: "result_ready", InputSchema: json.RawMessage(`{"type":"object"}`),
			OutputSchema: json.RawMessage(`{"type":"object"}`), Price: &agenttool.ServicePrice{
				Display:  "$0.10",
				Currency: "USD", Amount: "100000", Decimals: 6, Symbol: "USDC", Network: "eip155:31337",
			},
			HTTP: &agenttool.ServiceHTTP{
				Method: "POST",
				URL:    "https://store.example/v1/services/ai-search-audit/run",
			},
			PaymentRequired: json.RawMessage(quote),
		}},
	}, nil
}

func (s *services) ToolMeta(tool string) json.RawMessage {
	if tool != agenttool.AISearchAudit {
		return nil
	}
	return json.RawMessage(`{"agents-x402/priceUSD":0.1}`)
}

func (s *services) Run(_ context.Context, call *mcp.Call) (*mcp.Result, error) {
	var in struct {
		URL              string `json:"url"`
		PaymentSignature string `json:"payment_signature"`
	}
	if err := json.Unmarshal(call.Arguments.Raw(), &in); err != nil {
		return nil, err
	}
	s.calls = append(
		s.calls,
		call.Tool+" "+in.URL+" "+in.PaymentSignature+" "+string(
			call.Meta.Raw(),
		)+" "+call.Header.Get(
			"Payment-Signature",
		),
	)
	switch in.PaymentSignature {
	case "":
		return &mcp.Result{
			Content: []mcp.Content{mcp.Text(quote)}, Structured: json.RawMessage(quote), IsError: true,
			Meta: json.RawMessage(`{"x402/error":` + quote + `}`),
		}, nil
	case "bound":
		return nil, problem.New(problem.Conflict, "payment_bound_to_other_request",
			"This payment belongs to another request.")
	case "broken":
		return nil, errors.New("dial tcp 10.0.0.1: secret")
	}
	return &mcp.Result{
		Structured: json.RawMessage(`{"score":71}`),
		Meta:       json.RawMessage(`{"x402/payment-response":{"success":true}}`),
	}, nil
}

// TestServices passes calls to the services and returns their results.
func TestServices(t *testing.T) {
	t.Parallel()
	port := &services{}
	u := storetest.UseToolsOf(t, func(d *storehttp.Deps) { d.Services = port })
	var list agenttool.ServiceList
	u.Call("list_services", `{}`).Into(t, &list)
	if want, _ := port.List(t.Context()); cmp.Diff(want, &list) != "" {
		t.Errorf("list_services (-want +got):\n%s", cmp.Diff(want, &list))
	}
	if got := string(u.Listed()[agenttool.AISearchAudit].Meta) +
		string(u.Listed()[agenttool.LLMsTextDraft].Meta); got != `{"agents-x402/priceUSD":0.1}` {
		t.Errorf("_meta in the list = %s", got)
	}

	asked := u.Call(agenttool.AISearchAudit, `{"url":"https://a.example"}`)
	if !asked.IsError || string(asked.Structured) != quote || asked.Text() != quote ||
		string(asked.Meta) != `{"x402/error":`+quote+`}` {
		t.Errorf("without a payment = %+v, want the quote in three places", asked)
	}
	paid := u.Send(
		agenttool.AISearchAudit,
		`{"name":"run_ai_search_audit","_meta":{"x402/payment":{"a":1}},"arguments":{"url":"https://a.example",`+
			`"payment_signature":"p"}}`,
		"Payment-Signature",
		"h",
	)
	if paid.IsError || string(paid.Structured) != `{"score":71}` || !strings.Contains(string(paid.Meta),
		"payment-response") {
		t.Errorf("with a payment = %+v, want the result and the settlement", paid)
	}
	u.Fails(agenttool.AISearchAudit, `{"url":"https://a.example","payment_signature":"bound"}`,
		"belongs to another request", "(code: payment_bound_to_other_request)")
	want := []string{
		"run_ai_search_audit https://a.example   ",
		`run_ai_search_audit https://a.example p {"x402/payment":{"a":1}} h`,
		"run_ai_search_audit https://a.example bound  ",
	}
	if diff := cmp.Diff(want, port.calls); diff != "" {
		t.Errorf("calls of the port (-want +got):\n%s", diff)
	}
	r := u.Do(
		http.MethodPost,
		"/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_ai_search_audit",`+
			`"arguments":{"url":"https://a.example","payment_signature":"broken"}}}`,
	)
	if !strings.Contains(string(r.Body), `"code":-32603`) || strings.Contains(string(r.Body), "secret") ||
		!strings.Contains(string(r.Body), `"requestId":"`) {
		t.Errorf("a fault of ours = %s, want an internal error that tells nothing but the request's id", r.Body)
	}
}
