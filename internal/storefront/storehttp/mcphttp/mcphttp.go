// Package mcphttp serves the tools of the store over MCP.
//
//	POST /mcp -> protocol/mcp: host, origin, version, limit, arguments
//	          -> agenttool: the operation -> result, or what to do instead
//
// The versions are those that the store promises; nothing is kept between two
// requests.
package mcphttp

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/protocol/jsonrpc"
	"ace/internal/protocol/mcp"
	"ace/internal/storefront/storehttp/agenttool"
)

// Path is where the tools are served, with and without a slash at its end.
const Path = "/mcp"

// ServerName is the name of the server in serverInfo.
const ServerName = "store"

// maxTime is how long one call may take: a paid run is worked on for 45 s while
// its caller waits.
const maxTime = 75 * time.Second

// Versions are the protocol versions that are served, the preferred one first.
func Versions() []string {
	return []string{mcp.Version20250618, mcp.Version20250326, mcp.Version20241105}
}

// Site is what the store says about itself.
type Site struct {
	BaseURL       string // without a slash at the end
	Name, Version string
}

// Options are the settings of a Handler that have defaults.
type Options struct {
	// Admit counts the messages. Nil: they are not counted.
	Admit func(h http.Header, r *http.Request, load mcp.Load) *jsonrpc.Error
	// CheckOutput makes a result that does not fit its schema an internal fault,
	// for tests.
	CheckOutput bool
}

// Handler serves the tools.
type Handler struct {
	server *mcp.Server
}

// New returns a handler for a set of tools. Nil options are the defaults.
func New(site Site, tools *agenttool.Set, o *Options) *Handler {
	if o == nil {
		o = new(Options)
	}
	options := &mcp.Options{
		Versions: Versions(), Instructions: Instructions(site), Admit: o.Admit,
		CheckOutput: o.CheckOutput,
	}
	if base, err := url.Parse(site.BaseURL); err == nil {
		options.AllowedHosts = []string{base.Host}
		if base.Scheme == "https" {
			// Open to pages of every origin, as all of the store; a development
			// server on this machine is open to its own alone.
			options.AllowedOrigins = []string{"*"}
		}
	}
	f := &Handler{mcp.NewServer(Info(site), options)}
	for _, tool := range tools.All() {
		f.server.AddRawTool(tool.Tool.Tool, tool.Handle)
	}
	addSuiteTools(f.server)
	return f
}

// Info describes the server, as initialize returns it.
func Info(site Site) mcp.Implementation {
	return mcp.Implementation{Name: ServerName, Title: site.Name, Version: site.Version}
}

// Instructions explain to a model what the tools are for and how they go together, as
// initialize returns it.
func Instructions(site Site) string {
	return "Tools of " + site.Name + " (" + site.BaseURL + "), open to everyone without a key.\n" +
		"To learn about the store: site_info, search_pages, read_page.\n" +
		"To buy: list_products, then create_checkout with the id of an offer, then give continue_url to the person, " +
		"who pays on that page; " +
		"then get_checkout with wait_seconds. No tool charges for an offer or takes payment details.\n" +
		"Website services: list_services, then a run_ tool. Without payment_signature it answers the price and " +
		"charges nothing.\n" +
		"At most one call a second, with a small burst. Over it the answer is HTTP 429: wait as long as it says, " +
		"then repeat the call."
}

// ServeHTTP serves the endpoint, whatever the method.
func (f *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.server.ServeHTTP(w, r) }

// ToolsHash changes when the response of tools/list changes.
func (f *Handler) ToolsHash() string { return f.server.ToolsHash() }

// Mount serves the endpoint by handle and describes it in api.
func (f *Handler) Mount(api *openapi.API, handle func(pattern string, h http.Handler)) {
	served := httpserver.AllowTime(maxTime)(f)
	handle(Path, served)
	handle(Path+"/{$}", served)
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodPost, Path: Path, ID: "mcp", Tags: []string{"mcp"},
		Summary: "The tools of the store over MCP",
		Description: "Model Context Protocol over streamable HTTP, without sessions: one JSON-RPC 2.0 message per " +
			"request. tools/list names the ten tools and " +
			"their schemas; neither initialize nor a key is needed.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{{
			Name: "MCP-Protocol-Version", In: "header",
			Description: "2025-06-18, 2025-03-26 or 2024-11-05; left out: 2025-03-26.",
		}},
		Request: &openapi.Content{Schema: json.RawMessage(
			`{"type":"object","properties":{"jsonrpc":{"const":"2.0"},"id":{"type":["string","integer"]},` +
				`"method":{"type":"string"},"params":{"type":"object"}},"required":["jsonrpc","method"]}`,
		)},
		Responses: map[int]openapi.Content{
			http.StatusOK: {
				Description: "A JSON-RPC answer; also as one event where only text/event-stream is accepted.",
				Schema: json.RawMessage(
					`{"type":"object","properties":{"jsonrpc":{"const":"2.0"},"id":{},"result":{"type":"object"},` +
						`"error":{"type":"object"}},"required":["jsonrpc"]}`,
				),
			},
			http.StatusAccepted: {Description: "A notification was taken; there is no body."},
			0: {Description: "A JSON-RPC error.", Schema: json.RawMessage(
				`{"type":"object","properties":{"jsonrpc":{"const":"2.0"},"id":{},"error":{"type":"object"}},` +
					`"required":["jsonrpc","error"]}`,
			)},
		},
	})
}
