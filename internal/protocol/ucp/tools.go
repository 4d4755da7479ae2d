package ucp

import "encoding/json"

// Tool describes a tool of the MCP binding
// (https://ucp.dev/2026-08-25/specification/shopping/checkout/mcp).
type Tool struct {
	Name        string
	Title       string
	Description string
	// InputSchema is a JSON Schema, draft 2020-12, without formats, so that validators in strict
	// mode accept it without plugins.
	InputSchema json.RawMessage
	ReadOnly    bool // changes nothing
	Idempotent  bool // repeating it with the same key has no further effect
}

// Tools returns the tools in a fixed order: the five of checkout, which a conforming server has to
// offer, and the three of the catalog.
func Tools() []Tool {
	return []Tool{
		{
			Name: ToolCreateCheckout, Title: "Create a checkout", Idempotent: true,
			Description: "Create a checkout for one offer. Nothing is charged. The response has status " +
				"requires_escalation and a continue_url: " +
				"give that URL to the buyer, who pays there. Then read the checkout with get_checkout.",
			InputSchema: object(`"checkout"`, `"meta":`+meta(false)+`,"checkout":`+checkoutInput),
		},
		{
			Name: ToolGetCheckout, Title: "Read a checkout", ReadOnly: true, Idempotent: true,
			Description: "Read a checkout. If the buyer has paid, its status is completed and it " +
				"names the order.",
			InputSchema: object(`"id"`, `"meta":`+meta(false)+`,"id":`+checkoutID),
		},
		{
			Name: ToolUpdateCheckout, Title: "Replace a checkout", Idempotent: true,
			Description: "Replace the contents of an open checkout: send all fields. The continue_url " +
				"stays.",
			InputSchema: object(`"id","checkout"`,
				`"meta":`+meta(false)+`,"id":`+checkoutID+`,"checkout":`+checkoutInput),
		},
		{
			Name: ToolCompleteCheckout, Title: "Complete a checkout", Idempotent: true,
			Description: "Ask whether a checkout can be completed. Payment instruments are not accepted and are " +
				"discarded: " +
				"an unpaid checkout is returned with its continue_url, a paid one with its order.",
			InputSchema: object(`"id","checkout"`,
				`"meta":`+meta(true)+`,"id":`+checkoutID+`,"checkout":`+completeInput),
		},
		{
			Name: ToolCancelCheckout, Title: "Cancel a checkout", Idempotent: true,
			Description: "Close an open checkout so that it can no longer be paid. A paid one cannot be canceled.",
			InputSchema: object(`"id"`, `"meta":`+meta(true)+`,"id":`+checkoutID),
		},
		{
			Name: ToolSearchCatalog, Title: "Search the catalog", ReadOnly: true, Idempotent: true,
			Description: "Find products by text, category or price. The id of a variant is what " +
				"line_items[].item.id takes.",
			InputSchema: object(`"catalog"`, `"meta":`+meta(false)+`,"catalog":`+searchInput),
		},
		{
			Name: ToolLookupCatalog, Title: "Look up products", ReadOnly: true, Idempotent: true,
			Description: "Read products and variants by their ids, several at once.",
			InputSchema: object(`"catalog"`, `"meta":`+meta(false)+`,"catalog":`+lookupInput),
		},
		{
			Name: ToolGetProduct, Title: "Read a product", ReadOnly: true, Idempotent: true,
			Description: "Read one product with all variants, prices and availability.",
			InputSchema: object(`"catalog"`, `"meta":`+meta(false)+`,"catalog":`+productInput),
		},
	}
}

// object returns the schema of an object that may have additional fields.
func object(required, properties string) json.RawMessage {
	return json.RawMessage(`{"type":"object","required":[` + required + `],"properties":{` + properties + `}}`)
}

// meta returns the schema of request metadata.
func meta(withKey bool) string {
	required := `"ucp-agent"`
	if withKey {
		required += `,"idempotency-key"`
	}
	return `{"type":"object","description":"Request metadata.","required":[` + required + `],"properties":{` +
		`"ucp-agent":{"type":"object","description":"The calling platform.","required":["profile"],"properties":{` +
		`"profile":{"type":"string","minLength":1,"maxLength":2048,` +
		`"description":"https URL of the platform's UCP profile."}}},` +
		`"idempotency-key":{"type":"string","minLength":1,"maxLength":255,"description":"An idempotency key, ` +
		`for example a UUID, that makes retries safe."}}}`
}

const (
	checkoutID = `{"type":"string","minLength":1,"maxLength":255,"description":"ID of the checkout."}`

	contextInput = `{"type":"object","description":"Hints about the buyer.","properties":{` +
		`"address_country":{"type":"string","description":"ISO 3166-1 alpha-2."},` +
		`"address_region":{"type":"string"},"postal_code":{"type":"string"},` +
		`"intent":{"type":"string","maxLength":1000},"language":{"type":"string","description":"BCP 47."},` +
		`"currency":{"type":"string","description":"ISO 4217."},` +
		`"eligibility":{"type":"array","maxItems":50,"items":{"type":"string"}}}}`

	checkoutInput = `{"type":"object","description":"Contents of the checkout.","required":["line_items"],` +
		`"properties":{` +
		`"line_items":{"type":"array","minItems":1,"maxItems":100,` +
		`"description":"What to buy. This store accepts one line.","items":{"type":"object","required":["item",` +
		`"quantity"],"properties":{` +
		`"id":{"type":"string","maxLength":255,"description":"ID of the line, in updates."},` +
		`"item":{"type":"object","required":["id"],"properties":{"id":{"type":"string","minLength":1,` +
		`"maxLength":255,"description":"ID of a variant of the catalog."}}},` +
		`"quantity":{"type":"integer","minimum":1,"maximum":9007199254740991}}}},` +
		`"buyer":{"type":"object","description":"Prefills the payment page.",` +
		`"properties":{"first_name":{"type":"string"},"last_name":{"type":"string"},` +
		`"email":{"type":"string","maxLength":320},"phone_number":{"type":"string"}}},` +
		`"context":` + contextInput + `,` +
		`"signals":{"type":"object","description":"The platform's observations about the buyer."},` +
		`"attribution":{"type":"object","additionalProperties":{"type":"string"}}}}`

	completeInput = `{"type":"object","description":"May be empty. Payment instruments are discarded."}`

	filtersInput = `{"type":"object","properties":{"categories":{"type":"array","maxItems":50,` +
		`"items":{"type":"string"}},` +
		`"price":{"type":"object","description":"In minor units of context.currency.","properties":{` +
		`"min":{"type":"integer","minimum":0},"max":{"type":"integer","minimum":0}}}}}`

	searchInput = `{"type":"object","description":"What to search for: query, filters or both.","properties":{` +
		`"query":{"type":"string","maxLength":1000,"description":"Plain words."},"filters":` + filtersInput +
		`,"context":` + contextInput + `,` +
		`"pagination":{"type":"object","properties":{"cursor":{"type":"string","maxLength":1000},` +
		`"limit":{"type":"integer","minimum":1}}}}}`

	lookupInput = `{"type":"object","required":["ids"],"properties":{` +
		`"ids":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"string","minLength":1,"maxLength":255},` +
		`"description":"IDs of products or variants."},` +
		`"filters":` + filtersInput + `,"context":` + contextInput + `}}`

	productInput = `{"type":"object","required":["id"],"properties":{` +
		`"id":{"type":"string","minLength":1,"maxLength":255,"description":"ID of a product or variant."},` +
		`"selected":{"type":"array","maxItems":50,"items":{"type":"object","required":["name","label"],"properties":{` +
		`"name":{"type":"string"},"id":{"type":"string"},"label":{"type":"string"}}}},` +
		`"filters":` + filtersInput + `,"context":` + contextInput + `}}`
)
