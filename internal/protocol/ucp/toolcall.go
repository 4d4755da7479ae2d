package ucp

import (
	"encoding/json"

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

// ToolCall is a call of one of the tools: what headers, path and body are over
// REST.
type ToolCall struct {
	Tool           string
	Agent          Agent
	IdempotencyKey string // "" if none was sent
	ID             string // of the checkout

	body jsonread.Object
}

// ReadToolCall reads the arguments of a tool:
//
//	{"meta":{"ucp-agent":{"profile":"https://…"},"idempotency-key":"…"},"id":"…","checkout":{…}}
//
// Without meta the call is plain. A profile that is not an https address is the
// problem invalid_profile_url; other faults are those of ReadCreate. Complete
// and cancel need an idempotency key unless the call is plain.
func ReadToolCall(tool string, arguments []byte) (*ToolCall, error) {
	o, err := jsonread.ReadOptional(arguments)
	if err != nil {
		return nil, err
	}
	c := &ToolCall{Tool: tool}
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
			meta.Fault("idempotency-key", "invalid_value", "A key has 1 to 255 printable characters, for example a UUID.")
		}
	}
	c.readTarget(o, meta)
	return done(o, c)
}

func (c *ToolCall) readTarget(o, meta jsonread.Object) {
	switch c.Tool {
	case ToolGetCheckout, ToolUpdateCheckout, ToolCompleteCheckout, ToolCancelCheckout:
		o.Need("id", "Name the checkout by its id.")
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
		o.Need("catalog", "Say what to look for in catalog.")
		c.body = o.Object("catalog")
	}
}

// Reading is how the body of the call is read in version v.
func (c *ToolCall) Reading(v Version) Reading { return Reading{Version: v, Plain: c.Agent.Plain()} }

// Checkout reads the body of create, update or complete.
func (c *ToolCall) Checkout(rd Reading) (*CheckoutRequest, error) {
	if c.Tool == ToolCompleteCheckout {
		return readCompletion(c.body)
	}
	return readChange(c.body, rd)
}

// Search reads the body of search_catalog.
func (c *ToolCall) Search(rd Reading) (*SearchRequest, error) { return readSearch(c.body, rd) }

// Lookup reads the body of lookup_catalog.
func (c *ToolCall) Lookup() (*LookupRequest, error) { return readLookup(c.body) }

// Product reads the body of get_product.
func (c *ToolCall) Product() (*ProductRequest, error) { return readProduct(c.body) }

// Canonical answers what an idempotency key stands for: the tool, the id and
// the arguments without meta, as canonical JSON. arguments are those of the
// call. The result may hold a payment instrument: keep only a keyed digest.
func (c *ToolCall) Canonical(arguments []byte) ([]byte, error) {
	o, err := jsonread.ReadOptional(arguments)
	if err != nil {
		return nil, err
	}
	members := map[string]json.RawMessage{"tool": json.RawMessage(`"` + c.Tool + `"`)}
	for _, name := range o.Names() {
		if name != "meta" && name != "tool" {
			members[name] = o.JSON(name)
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return jcs.Canonical(text)
}
