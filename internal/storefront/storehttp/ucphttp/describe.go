package ucphttp

import (
	"encoding/json"
	"net/http"
	"strings"

	"ace/internal/foundation/openapi"
	"ace/internal/protocol/ucp"
)

// Describe puts the operations into an OpenAPI document.
func (f *Handler) Describe(api *openapi.API) {
	failure := openapi.Content{
		Description: "A failure of the protocol: what is wrong and what to do.",
		Schema:      openapi.SchemaOf[ucp.ProtocolError](), Name: "UcpProtocolError",
	}
	envelope := openapi.SchemaOf[ucp.ErrorResponse]()
	inputs := inputs()
	describe := func(method, path, tool, summary, about, name string, success json.RawMessage) {
		either := json.RawMessage(`{"oneOf":[` + string(success) + `,` + string(envelope) + `]}`)
		operation := operations()[tool]
		responses := map[int]openapi.Content{
			operation.success: {
				Description: "What was asked for, or an outcome of the business: ucp.status is then error.",
				Schema:      either, Name: name + "OrError",
			},
			http.StatusConflict: {
				Description: "The checkout can no longer be changed, or the idempotency key was used for another " +
					"request.",
				Schema: json.RawMessage(`{"anyOf":[` + string(envelope) + `,` + string(failure.Schema) + `]}`),
				Name:   "UcpConflict",
			},
			0: failure,
		}
		if operation.success != http.StatusOK { // nothing was created: an outcome is no 201
			responses[operation.success] = openapi.Content{Description: "The checkout.", Schema: success, Name: name}
			responses[http.StatusOK] = openapi.Content{
				Description: "Nothing was created: an outcome of the business.",
				Schema:      envelope, Name: "UcpError",
			}
		}
		d := openapi.Description{Parameters: parameters(path, operation), Responses: responses}
		if schema, ok := inputs[tool]; ok {
			d.Request = &openapi.Content{Schema: schema, Optional: tool == ucp.ToolCompleteCheckout}
		}
		openapi.Describe(api, openapi.Operation{
			Method: method, Path: Base + path, ID: "ucp" + camel(tool), Tags: []string{"ucp"}, Summary: summary,
			Description: about,
		}, d)
	}
	checkout := openapi.SchemaOf[ucp.Checkout]()
	describe(http.MethodPost, "/checkout-sessions", ucp.ToolCreateCheckout,
		"Open a checkout for one offer; nothing is charged",
		"The buyer pays on the hosted page at continue_url. The same Idempotency-Key returns the same checkout.",
		"UcpCheckout", checkout)
	describe(http.MethodGet, "/checkout-sessions/{id}", ucp.ToolGetCheckout, "The state of a checkout",
		"Read it again after the buyer was on the payment page: status and order say what became of the payment.",
		"UcpCheckout", checkout)
	describe(http.MethodPut, "/checkout-sessions/{id}", ucp.ToolUpdateCheckout,
		"Replace what a checkout holds; continue_url stays",
		"Send the whole checkout: item, quantity and buyer are replaced. Only an open checkout can be changed.",
		"UcpCheckout", checkout)
	describe(http.MethodPost, "/checkout-sessions/{id}/complete", ucp.ToolCompleteCheckout,
		"Ask for completion: a person pays at continue_url",
		"No payment data is accepted: the response says that the buyer has to pay at continue_url, or holds the order "+
			"once the checkout is paid.",
		"UcpCheckout", checkout)
	describe(http.MethodPost, "/checkout-sessions/{id}/cancel", ucp.ToolCancelCheckout,
		"Cancel a checkout that is not paid",
		"Its payment page is closed. A checkout that is paid, or whose payment is on its way, is not canceled.",
		"UcpCheckout", checkout)
	describe(http.MethodPost, "/catalog/search", ucp.ToolSearchCatalog, "Find products by words, category or price",
		"A page holds at most the products that pagination.limit asks for; pagination.cursor reads the next one.",
		"UcpSearchResponse", openapi.SchemaOf[ucp.SearchResponse]())
	describe(http.MethodPost, "/catalog/lookup", ucp.ToolLookupCatalog, "Read products and variants by their ids",
		"Ids that name nothing are left out of the products and listed in messages.",
		"UcpLookupResponse", openapi.SchemaOf[ucp.LookupResponse]())
	describe(http.MethodPost, "/catalog/product", ucp.ToolGetProduct, "One product with all its variants",
		"The id is that of a product or of one of its offers. An unknown id is an outcome of the business.",
		"UcpProductResponse", openapi.SchemaOf[ucp.ProductResponse]())
	describeDocuments(api)
}

// describeDocuments describes what is not an operation of the protocol.
func describeDocuments(api *openapi.API) {
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodPost, Path: MCPPath, ID: "ucpMCP", Tags: []string{"ucp"},
		Summary: "The same operations as tools over MCP",
		Description: "JSON-RPC 2.0: tools/list names the tools and their schemas. Neither initialize nor a session " +
			"is needed.",
	}, openapi.Description{
		Request: &openapi.Content{Schema: json.RawMessage(
			`{"type":"object","properties":{"jsonrpc":{"const":"2.0"},"id":{"type":["string","integer"]},` +
				`"method":{"type":"string"},"params":{"type":"object"}},"required":["jsonrpc","method"]}`,
		)},
		Responses: map[int]openapi.Content{0: {Description: "A JSON-RPC answer.", Schema: json.RawMessage(
			`{"type":"object","properties":{"jsonrpc":{"const":"2.0"},"id":{},"result":{"type":"object"},` +
				`"error":{"type":"object"}},"required":["jsonrpc"]}`,
		)}},
	})
	for _, v := range ucp.Versions() {
		openapi.Describe(api, openapi.Operation{
			Method: http.MethodGet, Path: ProfilePath(v), ID: "ucpProfile" + strings.ReplaceAll(string(v), "-", ""),
			Tags:    []string{"ucp"},
			Summary: "What this store speaks of UCP " + string(v),
			Description: "The business profile: services, capabilities, payment handlers and the keys that sign " +
				"responses. Agents read it before their first request.",
		}, openapi.Description{Responses: map[int]openapi.Content{http.StatusOK: {
			Description: "The profile.",
			Schema:      openapi.SchemaOf[ucp.Profile](), Name: "UcpProfile",
		}}})
	}
}

// inputs are the schemas of request bodies, by tool: those of the tools
// without what HTTP says in path and headers.
func inputs() map[string]json.RawMessage {
	inputs := map[string]json.RawMessage{}
	for _, t := range ucp.Tools() {
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(t.InputSchema, &schema); err != nil {
			panic(err) // the tools are constants
		}
		for _, member := range []string{"checkout", "catalog"} {
			if body, ok := schema.Properties[member]; ok {
				inputs[t.Name] = body
			}
		}
	}
	return inputs
}

// camel turns create_checkout into CreateCheckout.
func camel(tool string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(tool, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func parameters(path string, op *operation) []openapi.Parameter {
	parameters := []openapi.Parameter{{
		Name: ucp.HeaderAgent, In: "header",
		Description: `Who calls: profile="https://…"; version="` + string(ucp.Newest) +
			`". Without it a bare JSON request will do.`,
	}}
	if strings.Contains(path, "{id}") {
		parameters = append(parameters,
			openapi.Parameter{Name: "id", In: "path", Required: true, Description: "Id of the checkout."})
	}
	if op.keyed {
		parameters = append(parameters, openapi.Parameter{
			Name: ucp.HeaderIdempotencyKey, In: "header", Schema: json.RawMessage(`{"type":"string","maxLength":255}`),
			Description: "A repetition with the same key is answered as the first request was.",
		})
	}
	if op.tool == ucp.ToolGetCheckout {
		parameters = append(parameters, openapi.Parameter{
			Name: "Prefer", In: "header",
			Description: "wait=25 answers as soon as the checkout is no longer open, or after that many seconds.",
		})
	}
	return parameters
}
