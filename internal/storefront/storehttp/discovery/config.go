package discovery

import (
	"encoding/json"
	"net/http"
	"time"

	"ace/internal/protocol/mcp"
	"ace/internal/storefront/site"
)

// Config is what the documents say about the store.
type Config struct {
	BaseURL  string // without a slash at the end
	Name     string
	Version  string // of the API
	Operator string // who runs the store
	Contact  string // e-mail address; may be empty
	// SecurityContact is an e-mail address or an https address for reports about
	// security. Empty: Contact.
	SecurityContact string
	// ContentSignal says what may be done with the pages, as robots.txt spells
	// it: "search=yes, ai-input=yes, ai-train=no". Empty: nothing is said.
	ContentSignal string
	// Burst is how many calls of the API a client may make at once.
	Burst int
	// Sandbox says that nothing here moves real money.
	Sandbox bool
	// Pages are the pages of the store.
	Pages *site.Service
	// MCP describes the MCP server. Nil: there is none.
	MCP *MCP
	// AgentCard returns the A2A agent card. Nil: there is no A2A endpoint.
	AgentCard func() []byte
	// Services says that website services are sold at ServicesPath.
	Services bool
	// Keys returns the directory of the keys that the store signs its own
	// requests with. Nil: it signs none.
	Keys KeyDirectory
}

// MCP is what initialize and tools/list of the MCP server return.
type MCP struct {
	Info         mcp.Implementation
	Versions     []string // the preferred one first
	Instructions string
	Tools        []Tool
}

// Tool is one tool, in the order of tools/list.
type Tool struct {
	Name, Title string
	Group       string // "read", "buy" or "services"
	Description string
	Annotations mcp.Annotations
	InputSchema json.RawMessage // nil: an object of any members
}

// KeyDirectory is a signed directory of keys: *webbotauth.Identity, or
// *webbotauth.OwnDirectory where the store has no public https address.
type KeyDirectory interface {
	// Directory returns the header and the body. The body never changes.
	Directory(now time.Time) (http.Header, []byte, error)
}

// Paths of endpoints that documents name.
const (
	MCPPath      = "/mcp"
	A2APath      = "/agent/a2a"
	ServicesPath = "/v1/services"
)

// DefaultContentSignal is the policy of a store that states none of its own.
const DefaultContentSignal = "search=yes, ai-input=yes, ai-train=no"
