package acphttp

import (
	"encoding/json"
	"net/http"
	"strings"

	"ace/internal/foundation/openapi"
	"ace/internal/protocol/acp"
)

// requestSchema is the liberal reader in the words of JSON Schema. The
// bodies of the plain forms are in its examples.
const requestSchema = `{
  "type": "object",
  "description": "With the header API-Version, line_items, ` +
	`currency and capabilities are needed to create a session; without it, line_items alone.",
  "properties": {
    "line_items": {
      "type": "array", "minItems": 1, "maxItems": 1,
      "description": "One item. Name it by its id or by item.id; the quantity is 1 if left out.",
      "items": {
        "type": "object",
        "properties": {
          "id": {"type": "string"},
          "item": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
          "quantity": {"type": "integer", "minimum": 1}
        }
      }
    },
    "currency": {"type": "string", "description": "ISO 4217, lower case. The item must be sold in it."},
    "capabilities": {"type": "object"},
    "buyer": {
      "type": "object", "description": "Fills in the form of the hosted page.",
      "properties": {
        "email": {"type": "string", "format": "email"}, "first_name": {"type": "string"}, ` +
	`"last_name": {"type": "string"},
        "full_name": {"type": "string"}, "phone_number": {"type": "string"}
      }
    },
    "affiliate_attribution": {"type": "object"},
    "locale": {"type": "string"}, "quote_id": {"type": "string"}, "order_notes": {"type": "string"}
  },
  "examples": [{"line_items": [{"item": {"id": "prompt_handbook"}, "quantity": 1}]}]
}`

const completeSchema = `{
  "type": "object",
  "description": "May be left out. Payment data is not taken: what is sent is discarded unread.",
  "properties": {"payment_data": {"type": "object"}, "affiliate_attribution": {"type": "object"}}
}`

const cancelSchema = `{
  "type": "object",
  "description": "May be left out.",
  "properties": {
    "intent_trace": {
      "type": "object", "required": ["reason_code"],
      "description": "Why the buyer did not buy. It is kept for the operator.",
      "properties": {
        "reason_code": {"type": "string"}, "trace_summary": {"type": "string", "maxLength": 500},
        "metadata": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}
      }
    }
  }
}`

// withOrder is the schema of a session that is paid: the order is there.
func withOrder(session json.RawMessage) json.RawMessage {
	return json.RawMessage(`{"allOf":[` + string(session) + `,{"type":"object","required":["order"]}]}`)
}

// describe puts the operations into openapi.json.
func (h *Handler) describe(api *openapi.API) {
	session := openapi.SchemaOf[acp.CheckoutSession]()
	failure := openapi.Content{
		Description: "What is wrong and what to do.",
		Schema:      openapi.SchemaOf[acp.Error](),
		Name:        "AcpError",
	}
	either := json.RawMessage(`{"anyOf":[` + string(session) + `,` + string(withOrder(session)) + `]}`)
	describe := func(method, path, id, summary, about string, status int,
		answer openapi.Content, request *openapi.Content,
	) {
		openapi.Describe(api, openapi.Operation{
			Method: method, Path: Base + path, ID: id, Tags: []string{"acp"}, Summary: summary,
			Description: about,
		}, openapi.Description{
			Parameters: parameters(method, path), Request: request,
			Responses: map[int]openapi.Content{status: answer, 0: failure},
		})
	}
	answer := openapi.Content{Description: "The session.", Schema: session, Name: "AcpCheckoutSession"}
	request := &openapi.Content{
		Description: "What to buy.", Schema: json.RawMessage(requestSchema), Name: "AcpCheckoutRequest",
	}
	describe(
		http.MethodPost,
		"/checkout_sessions",
		"acpCreateCheckoutSession",
		"Open a checkout for one item; nothing is charged",
		"The buyer pays on the hosted page at continue_url. The same Idempotency-Key returns the same session.",
		201,
		answer,
		request,
	)
	describe(http.MethodGet, "/checkout_sessions/{id}", "acpGetCheckoutSession", "The state of a checkout",
		"Read it again after the buyer was on the payment page: status and order say what became of the payment.",
		200, answer, nil)
	describe(http.MethodPost, "/checkout_sessions/{id}", "acpUpdateCheckoutSession",
		"Change item, quantity or buyer; what is left out stays",
		"Only an open session can be changed. Its payment page then shows the new content.", 200, answer, request)
	describe(http.MethodPost, "/checkout_sessions/{id}/complete", "acpCompleteCheckoutSession",
		"Ask for completion: a person pays at continue_url",
		"No payment data is accepted: the session says that the buyer has to pay at continue_url, or holds the order "+
			"once it is paid.", 200,
		openapi.Content{Description: "The unchanged session, with its order once it is paid.", Schema: either},
		&openapi.Content{Schema: json.RawMessage(completeSchema), Optional: true})
	describe(
		http.MethodPost,
		"/checkout_sessions/{id}/cancel",
		"acpCancelCheckoutSession",
		"Cancel a checkout that is not paid",
		"Its payment page is closed. A session that is paid, or whose payment is on its way, is not canceled.",
		200,
		answer,
		&openapi.Content{Schema: json.RawMessage(cancelSchema), Optional: true},
	)
	describe(http.MethodGet, "/feed/metadata.json", "acpFeedMetadata", "What the product feed is and how new",
		"Its target, currency and country, and when the feed was last updated.", 200,
		openapi.Content{
			Description: "The file metadata.json of the feed.",
			Schema:      openapi.SchemaOf[acp.FeedMetadata](),
		}, nil)
	describe(http.MethodGet, "/feed/products.jsonl", "acpFeedProducts", "The product feed, one product per line",
		"Every offer that is for sale, as JSON Lines with an ETag.", 200,
		openapi.Content{
			Description: "Lines of JSON.", MediaType: "application/jsonl",
			Schema: openapi.SchemaOf[acp.FeedProduct](),
		}, nil)
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: acp.DiscoveryPath, ID: "acpDiscovery", Tags: []string{"acp"},
		Summary: "What this store speaks of ACP",
		Description: "The versions, services and capabilities of the store, and the base URL of its API. It needs no " +
			"version header.",
	}, openapi.Description{Responses: map[int]openapi.Content{
		200: {Description: "The discovery document.", Schema: openapi.SchemaOf[acp.Discovery]()}, 0: failure,
	}})
}

func parameters(method, path string) []openapi.Parameter {
	if strings.HasPrefix(path, "/feed/") {
		return nil
	}
	version, err := json.Marshal(map[string]any{"type": "string", "enum": acp.Versions()})
	if err != nil {
		panic(err) // two strings
	}
	parameters := []openapi.Parameter{{
		Name: acp.HeaderAPIVersion, In: "header", Schema: version,
		Description: "With it the rules of that version hold to the letter. Without it a bare JSON request will do.",
	}}
	if strings.Contains(path, "{id}") {
		parameters = append(parameters,
			openapi.Parameter{Name: "id", In: "path", Required: true, Description: "Id of the session."})
	}
	if method == http.MethodPost {
		return append(parameters, openapi.Parameter{
			Name: acp.HeaderIdempotencyKey, In: "header", Schema: json.RawMessage(`{"type":"string","maxLength":255}`),
			Description: "Needed with API-Version. A repetition with the same key is answered as the first request " +
				"was.",
		})
	}
	return append(parameters, openapi.Parameter{
		Name: "Prefer", In: "header",
		Description: "wait=25 answers as soon as the session is no longer open, or after that many seconds.",
	})
}
