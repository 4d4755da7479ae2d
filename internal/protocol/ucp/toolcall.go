package ucp

import (
	"ace/internal/foundation/jcs"
	"ace/internal/foundation/jsonread"
)

// The tools of the MCP binding.
const (
	ToolCreateCheckout   = "create_checkout"
	ToolGetCheckout      = "get_checkout"
	ToolUpdateCheckout   = "update_checkout"
	ToolCompleteCheckout = "complete_checkout"
	ToolCancelCheckout   = "cancel_checkout"
	ToolSearchCatalog    = "search_catalog"
	ToolLookupCatalog    = "lookup_catalog"
	ToolGetProduct       = "get_product"
)

// ToolCall is a call of a tool, with the data that REST has in headers, path and body.
type ToolCall struct {
	Tool           string
	Agent          Agent
	IdempotencyKey string // "" if none was sent
	ID             string // of the checkout

	arguments *jsonread.Value
	body      jsonread.Object
}

// ReadToolCall parses the arguments of a tool:
//
//	{"meta":{"ucp-agent":{"profile":"https://…"},"idempotency-key":"…"},"id":"…","checkout":{…}}
//
// Without meta the call is plain. A profile that is not an https URL is the problem
// invalid_profile_url; other errors are those of ReadCreate. Complete and cancel need an
// idempotency key unless the call is plain.
func ReadToolCall(tool string, arguments *jsonread.Value) (*ToolCall, error) {
	o, err := arguments.OptionalObject()
	if err != nil {
		return nil, err
	}
	c := &ToolCall{Tool: tool, arguments: arguments}
	meta := o.Object("meta")
	if meta.Has("ucp-agent") {
		agent := meta.Object("ucp-agent")
		profile, version := agent.Text("profile", maxProfileURL), agent.Text("version", maxID)
		if err := o.Err(); err != nil {
			return nil, err
		}
		if c.Agent, err = newAgent(profile, version); err != nil {
			return nil, err
		}
	}
	if meta.Has("idempotency-key") {
		c.IdempotencyKey = meta.Text("idempotency-key", MaxIdempotencyKey)
		if o.Err() == nil && CheckIdempotencyKey(c.IdempotencyKey) != nil {
			meta.Fault("idempotency-key", "invalid_value",
				"A key needs 1 to 255 printable characters, for example a UUID.")
		}
	}
	c.readTarget(o, meta)
	return done(o, c)
}

func (c *ToolCall) readTarget(o, meta jsonread.Object) {
	switch c.Tool {
	case ToolGetCheckout, ToolUpdateCheckout, ToolCompleteCheckout, ToolCancelCheckout:
		o.Need("id", "Send the id of the checkout.")
		c.ID = o.Text("id", maxID)
	}
	switch c.Tool {
	case ToolCompleteCheckout, ToolCancelCheckout:
		if !c.Agent.Plain() {
			meta.Need("idempotency-key", "This tool needs an idempotency key, for example a UUID.")
		}
	}
	switch c.Tool {
	case ToolCreateCheckout, ToolUpdateCheckout:
		o.Need("checkout", "Send the checkout.")
		c.body = o.Object("checkout")
	case ToolCompleteCheckout:
		c.body = o.Object("checkout")
	case ToolSearchCatalog, ToolLookupCatalog, ToolGetProduct:
		o.Need("catalog", "Send the search criteria in catalog.")
		c.body = o.Object("catalog")
	}
}

// Reading returns the rules for parsing the body of the call in version v.
func (c *ToolCall) Reading(v Version) Reading { return Reading{Version: v, Plain: c.Agent.Plain()} }

// Checkout parses the body of create, update or complete.
func (c *ToolCall) Checkout(rd Reading) (*CheckoutRequest, error) {
	if c.Tool == ToolCompleteCheckout {
		return readCompletion(c.body)
	}
	return readChange(c.body, rd)
}

// Search parses the body of search_catalog.
func (c *ToolCall) Search(rd Reading) (*SearchRequest, error) { return readSearch(c.body, rd) }

// Lookup parses the body of lookup_catalog.
func (c *ToolCall) Lookup() (*LookupRequest, error) { return readLookup(c.body) }

// Product parses the body of get_product.
func (c *ToolCall) Product() (*ProductRequest, error) { return readProduct(c.body) }

// Canonical returns the data that an idempotency key is bound to: the tool, the id and the
// arguments without meta, as canonical JSON. arguments are those of the call. The result may
// contain a payment instrument: store only a keyed digest.
func (c *ToolCall) Canonical() ([]byte, error) {
	return jcs.Encode(c.arguments.Without("meta").WithText("tool", c.Tool))
}
