package servicehttp

import (
	"encoding/json"
	"net/http"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/protocol/x402"
	"ace/internal/storefront/storehttp/agenttool"
)

const tag = "services"

// quoteSchema is the part of a quote that a reader needs to know.
func quoteSchema() json.RawMessage {
	return json.RawMessage(
		`{"type":"object","required":["x402Version","resource","accepts"],"properties":{"x402Version":{"const":2},` +
			`"error":{"type":"string"},"resource":{"type":"object"},"accepts":{"type":"array","minItems":1,` +
			`"items":{"type":"object"}},"extensions":{"type":"object"}}}`)
}

// describe puts the calls into the document.
func describe(api *openapi.API) {
	refusals := openapi.Content{
		Description: "A problem.", MediaType: "application/problem+json",
		Schema: openapi.SchemaOf[httpserver.ProblemBody](),
	}
	service := openapi.Parameter{
		Name: "service", In: "path",
		Description: "Id of a service: ai-search-audit, structured-data-pack or llms-txt-draft.",
	}
	order := openapi.Parameter{Name: "id", In: "path", Description: "Id of the order, as the paid call returned it."}
	quote := openapi.Content{
		Description: "What has to be paid, also in the header PAYMENT-REQUIRED. After a refusal error says why.",
		Schema:      quoteSchema(), Name: "PaymentRequired",
	}
	whole := openapi.SchemaOf[ServiceOrder]()

	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: ListPath, ID: "listServices", Tags: []string{tag},
		Summary: "Paid website services",
		Description: "Current prices, availability and payment requirements. Free: nothing is run and no payment " +
			"asked for.",
	}, openapi.Description{Responses: map[int]openapi.Content{
		http.StatusOK: {Description: "The services.", Schema: openapi.SchemaOf[agenttool.ServiceList]()}, 0: refusals,
	}})
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodPost, Path: RunPath, ID: "runService", Tags: []string{tag}, Summary: "Run a service",
		Description: "Without a payment it returns 402 with the price and charges nothing. Sign one of the ways to " +
			"pay, and repeat the request with the payment in the " +
			"header PAYMENT-SIGNATURE (x402 version 2). It is charged when the result is ready. The same payment " +
			"always leads to the same result, for 30 days.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{
			service,
			{Name: x402.HeaderSignature, In: "header", Description: "base64 of the PaymentPayload."},
			{
				Name: "Idempotency-Key", In: "header",
				Description: "Name of the purchase: a payment signed again under the same name is not charged.",
			},
			{
				Name: "Prefer", In: "header",
				Description: "wait=N: seconds to wait for the result, at most 45. respond-async: not at all.",
			},
		},
		Request: &openapi.Content{
			Description: "The arguments; input_schema of the service in the list.",
			Optional:    true, Schema: json.RawMessage(
				`{"type":"object","properties":{"url":{"type":"string","format":"uri","maxLength":2048}},` +
					`"required":["url"]}`,
			),
		},
		Responses: map[int]openapi.Content{
			http.StatusOK: {
				Description: "Paid: the order with its result. PAYMENT-RESPONSE holds the settlement.",
				Schema:      whole, Name: "ServiceOrder",
			},
			http.StatusAccepted: {
				Description: "It runs, or it is unknown whether the money arrived: repeat the request with the " +
					"same payment after Retry-After.", Schema: whole,
			},
			http.StatusPaymentRequired: quote, 0: refusals,
		},
	})
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: RunPath, ID: "priceService", Tags: []string{tag}, Summary: "What a run costs",
		Description: "Always 402 with the price and the ways to pay, as for a run without a payment. Nothing is run.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{service},
		Responses:  map[int]openapi.Content{http.StatusPaymentRequired: quote, 0: refusals},
	})
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: OrderPath, ID: "getServiceOrder", Tags: []string{tag},
		Summary:     "How far a paid run is, and its result",
		Description: "Moves no money. The id is the permission to read.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{order},
		Responses:  map[int]openapi.Content{http.StatusOK: {Description: "The order.", Schema: whole}, 0: refusals},
	})
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: "/v1/orders/{id}/files/{name}", ID: "getServiceFile", Tags: []string{tag},
		Summary:     "A file of a paid result",
		Description: "For 30 days after the payment. The ids of order and file are the permission to read.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{
			order,
			{Name: "name", In: "path", Description: "Name of the file, as in the order."},
		},
		Responses: map[int]openapi.Content{http.StatusOK: {Description: "The file.", MediaType: "*/*"}, 0: refusals},
	})
}
