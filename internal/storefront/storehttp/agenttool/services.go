package agenttool

import (
	"context"
	"encoding/json"

	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/mcp"
)

// Services runs the paid website services.
type Services interface {
	// List returns the current prices, availability and payment requirements.
	List(ctx context.Context) (*ServiceList, error)
	// Run returns the result of one call of a run_ tool whose arguments fit its input schema:
	// the payment requirements beside isError, or the result of a paid run. The
	// payment is in call.Meta, in the argument payment_signature or in
	// call.Header. A problem becomes a result with isError.
	Run(ctx context.Context, call *mcp.Call) (*mcp.Result, error)
}

// Priced is implemented by Services that list prices in tools/list already.
type Priced interface {
	// ToolMeta returns _meta of a tool, a JSON object, or nil. It is asked once
	// for each tool, at start.
	ToolMeta(tool string) json.RawMessage
}

// ServiceList is the JSON of GET /v1/services and of list_services.
type ServiceList struct {
	Object      string          `json:"object" enum:"service_list"`
	X402Version int             `json:"x402_version"`
	Payments    ServicePayments `json:"payments"`
	Services    []Service       `json:"services"`
}

// ServicePayments is how services are paid for.
type ServicePayments struct {
	Mode      string   `json:"mode" doc:"facilitator, dev-ledger (no real money moves) or none."`
	Available bool     `json:"available" doc:"False: no service can be run now."`
	Networks  []string `json:"networks" doc:"CAIP-2."`
	Parameter string   `json:"parameter" doc:"The argument of the run_ tools that carries the payment."`
	Header    string   `json:"header" doc:"The HTTP header that carries the payment."`
}

// Service is one paid website service.
type Service struct {
	ID                string        `json:"id"`
	Tool              string        `json:"tool" doc:"The tool that runs it."`
	Name              string        `json:"name"`
	Description       string        `json:"description"`
	Available         bool          `json:"available"`
	UnavailableReason *string       `json:"unavailable_reason" nullable:"true" doc:"Why it cannot be run now; null if it can."`
	Price             *ServicePrice `json:"price,omitempty" doc:"Of one run; absent while there is none."`
	ChargedWhen       string        `json:"charged_when" enum:"result_ready" doc:"A run that ends without a result is not charged."`
	MaxRunSeconds     int           `json:"max_run_seconds,omitempty" doc:"How long a call waits for the result."`
	RetentionDays     int           `json:"result_retention_days,omitempty" doc:"How long the result can be read again."`
	// InputSchema and OutputSchema are JSON Schemas of the arguments and of the
	// result, which has no schema in tools/list.
	InputSchema  json.RawMessage `json:"input_schema" doc:"JSON Schema of the arguments."`
	OutputSchema json.RawMessage `json:"output_schema,omitempty" doc:"JSON Schema of the result."`
	HTTP         *ServiceHTTP    `json:"http,omitempty" doc:"How to run it over plain HTTP."`
	MCP          ServiceMCP      `json:"mcp" doc:"How to run it over MCP."`
	// PaymentRequired is the quote of x402, usable as it is.
	PaymentRequired json.RawMessage `json:"payment_required,omitempty" doc:"PaymentRequired of x402 v2: a client may sign from it and send the payment with its first call."`
}

// ServicePrice is the price of one run.
type ServicePrice struct {
	Display  string `json:"display"`
	Currency string `json:"currency" doc:"ISO 4217."`
	Amount   string `json:"amount" doc:"In the smallest unit of the asset."`
	Decimals int    `json:"decimals"`
	Symbol   string `json:"symbol"`
	Network  string `json:"network" doc:"CAIP-2."`
}

// ServiceHTTP is where a service is run over plain HTTP.
type ServiceHTTP struct {
	Method string `json:"method"`
	URL    string `json:"url"`
}

// ServiceMCP is the tool that runs a service.
type ServiceMCP struct {
	URL  string `json:"url"`
	Tool string `json:"tool"`
}

// crawlInput are the arguments of services that look at several pages.
type crawlInput struct {
	URL              string `json:"url" format:"uri" minLength:"1" maxLength:"2048" doc:"Address of the website, with https://."`
	MaxPages         int    `json:"max_pages,omitempty" default:"10" minimum:"1" maximum:"25" doc:"Pages to look at, at most."`
	PaymentSignature string `json:"payment_signature,omitempty" maxLength:"16384" doc:"base64 of the x402 v2 PaymentPayload, the value of the HTTP header PAYMENT-SIGNATURE. Leave it out to get the price and the payment requirements."`
}

// draftInput are the arguments of the service that chooses the pages itself.
type draftInput struct {
	URL              string `json:"url" format:"uri" minLength:"1" maxLength:"2048" doc:"Address of the website, with https://."`
	PaymentSignature string `json:"payment_signature,omitempty" maxLength:"16384" doc:"base64 of the x402 v2 PaymentPayload, the value of the HTTP header PAYMENT-SIGNATURE. Leave it out to get the price and the payment requirements."`
}

// paid defines a tool that runs a service.
func paid[In any](name, title, what string) definition {
	t := mcp.Tool{
		Name: name, Title: title, Annotations: mcp.Annotations{Idempotent: true, OpenWorld: true},
		InputSchema: plain(openapi.InputSchemaOf[In]()),
		Description: what +
			" Paid per run over x402. Without payment_signature it returns the price and payment requirements and " +
			"charges nothing; " +
			"with it, the run is charged when the result is ready. Call list_services first to see whether it is " +
			"available.",
	}
	return definition{Tool{t, Paid}, func(s *Set) mcp.RawHandler {
		return func(ctx context.Context, call *mcp.Call, arguments json.RawMessage) (*mcp.Result, error) {
			if s.deps.Services == nil {
				return nil, notOffered()
			}
			result, err := s.deps.Services.Run(ctx, call)
			if err != nil {
				return nil, s.advised(ctx, name, err)
			}
			return result, nil
		}
	}}
}

func (s *Set) listServices(ctx context.Context, _ *mcp.Call, _ *nothing) (*ServiceList, error) {
	if s.deps.Services == nil {
		return s.noServices(), nil
	}
	return s.deps.Services.List(ctx)
}

// notOffered refuses a run where the store has no services.
func notOffered() error {
	return problem.New(problem.Unavailable, "services_not_offered",
		"This store does not run paid website services at present, so nothing was done and nothing charged. Do not "+
			"pay and do not repeat the call. "+
			"list_services tells when they are available; the tools for reading and buying work meanwhile.").Advise(
		"call list_services")
}

// noServices says plainly that none is available.
func (s *Set) noServices() *ServiceList {
	list := &ServiceList{
		Object: "service_list", X402Version: 2, Services: []Service{},
		Payments: ServicePayments{
			Mode: "none", Networks: []string{}, Parameter: paymentParameter,
			Header: paymentHTTPHeader,
		},
	}
	ids := map[string]string{
		AISearchAudit: "ai-search-audit", StructuredData: "structured-data-pack",
		LLMsTextDraft: "llms-txt-draft",
	}
	for _, t := range s.tools {
		id, ok := ids[t.Name]
		if !ok {
			continue
		}
		why := "This store does not run paid website services at present."
		list.Services = append(list.Services, Service{
			ID: id, Tool: t.Name, Name: t.Title, Description: t.Description, UnavailableReason: &why,
			ChargedWhen: "result_ready", InputSchema: t.InputSchema,
			MCP: ServiceMCP{s.deps.Site.Site.BaseURL + "/mcp", t.Name},
		})
	}
	return list
}
