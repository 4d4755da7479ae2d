package discovery

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"ace/internal/protocol/mcp"
	"ace/internal/storefront/storehttp/answer"
)

const cardSchema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"

// serverCard is the card of SEP-2127, and with *fullCard the one that scanners
// of SEP-1649 read.
type serverCard struct {
	Schema      string   `json:"$schema"`
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Version     string   `json:"version"`
	Description string   `json:"description"` // at most 100 characters
	WebsiteURL  string   `json:"websiteUrl"`
	Icons       []icon   `json:"icons"`
	Remotes     []remote `json:"remotes"`
	*fullCard
}

type icon struct {
	Src      string   `json:"src"`
	MimeType string   `json:"mimeType"`
	Sizes    []string `json:"sizes"`
}

type remote struct {
	Type     string   `json:"type"`
	URL      string   `json:"url"`
	Versions []string `json:"supportedProtocolVersions"`
}

type fullCard struct {
	ServerInfo       mcp.Implementation `json:"serverInfo"`
	ProtocolVersion  string             `json:"protocolVersion"`
	Transport        map[string]string  `json:"transport"`
	Capabilities     map[string]any     `json:"capabilities"`
	Authentication   authentication     `json:"authentication"`
	Instructions     string             `json:"instructions,omitempty"`
	DocumentationURL string             `json:"documentationUrl"`
	Tools            []cardTool         `json:"tools"`
}

type authentication struct {
	Required bool     `json:"required"`
	Schemes  []string `json:"schemes"`
}

type cardTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	Annotations mcp.Annotations `json:"annotations"`
}

// plainCard is the card as SEP-2127 wants it: no tools, no capabilities.
func (r *Registry) plainCard(context.Context, http.Header) ([]byte, error) {
	return answer.JSON(r.card())
}

// fullCard adds what clients and scanners of the older proposal look for. It
// says what initialize and tools/list say.
func (r *Registry) fullCard(context.Context, http.Header) ([]byte, error) {
	card, server := r.card(), r.config.MCP
	card.fullCard = &fullCard{
		ServerInfo: server.Info, ProtocolVersion: server.Versions[0],
		Transport:      map[string]string{"type": "streamable-http", "endpoint": r.address("mcp")},
		Capabilities:   map[string]any{"tools": map[string]any{}},
		Authentication: authentication{Schemes: []string{}},
		Instructions:   server.Instructions, DocumentationURL: r.address("connect"), Tools: make([]cardTool,
			len(server.Tools)),
	}
	for i, t := range server.Tools {
		card.Tools[i] = cardTool{t.Name, t.Title, t.Description, t.Annotations}
	}
	return answer.JSON(card)
}

func (r *Registry) card() serverCard {
	server := r.config.MCP
	return serverCard{
		Schema: cardSchema, Name: reversed(r.config.host()) + "/" + server.Info.Name, Title: r.config.Name,
		Version: server.Info.Version, Description: r.summary(),
		WebsiteURL: r.config.BaseURL,
		Icons:      []icon{{r.config.BaseURL + "/assets/icon.svg", "image/svg+xml", []string{"any"}}},
		Remotes:    []remote{{"streamable-http", r.address("mcp"), server.Versions}},
	}
}

// summary says in at most 100 characters what the store is for.
func (r *Registry) summary() string {
	if r.config.Services {
		return "Read pages, list products, open a checkout, run paid site services. No key needed."
	}
	return "Read pages, list products with live prices, open a checkout that a person pays. No key needed."
}

// reversed turns shop.example into example.shop, the way servers are named. An
// address of this machine becomes localhost.
func reversed(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return "localhost"
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}

// agentCard is the A2A card as its own transport signed it.
func (r *Registry) agentCard(context.Context, http.Header) ([]byte, error) {
	return r.config.AgentCard(), nil
}

// connection is /agent/connect.json.
type connection struct {
	Version        string            `json:"version"`
	Authentication string            `json:"authentication"`
	UserAgent      string            `json:"user_agent"`
	MCP            *mcpConnection    `json:"mcp,omitempty"`
	A2A            *a2aConnection    `json:"a2a,omitempty"`
	REST           map[string]string `json:"rest"`
	Commerce       map[string]string `json:"commerce"`
	Services       map[string]string `json:"services,omitempty"`
	RateLimit      RateLimit         `json:"rate_limit"`
}

type mcpConnection struct {
	URL              string            `json:"url"`
	Transport        string            `json:"transport"`
	Stateless        bool              `json:"stateless"`
	ProtocolVersions []string          `json:"protocol_versions"`
	Headers          map[string]string `json:"headers"`
	ClientConfigs    map[string]any    `json:"client_configs"`
	Commands         map[string]string `json:"commands"`
	Card             string            `json:"card"`
	Tools            []connectTool     `json:"tools"`
}

type connectTool struct {
	Name  string `json:"name"`
	Group string `json:"group"`
}

type a2aConnection struct {
	URL     string            `json:"url"`
	Version string            `json:"version"`
	Card    string            `json:"card"`
	Headers map[string]string `json:"headers"`
}

// RateLimit is the limit in the documents of the site.
type RateLimit struct {
	PerSecond int    `json:"requests_per_second" doc:"Requests that come back each second."`
	Burst     int    `json:"burst" doc:"Calls of the API that may be made at once."`
	Status    int    `json:"over_limit_status" doc:"Status of the answer over the limit."`
	Header    string `json:"header" doc:"Says how many seconds to wait then."`
}

// RateLimit is the limit of the store.
func (r *Registry) RateLimit() RateLimit {
	return RateLimit{PerSecond: 1, Burst: r.config.Burst, Status: http.StatusTooManyRequests, Header: "Retry-After"}
}

// connect describes what clients write into their settings.
func (r *Registry) connect(context.Context, http.Header) ([]byte, error) {
	c := connection{
		Version: "1.0", Authentication: "none", UserAgent: "Send a User-Agent that says who you are.",
		REST: map[string]string{
			"base": r.config.BaseURL, "openapi": r.address("openapi"),
			"site": r.address("site"), "search": r.address("search"), "read": r.address("read"),
		},
		Commerce: map[string]string{
			"products": r.address("products"), "ucp": r.address("ucp"),
			"acp": r.address("acp"), "guide": r.address("skill"), "payment": "buyer pays on continue_url",
		},
		RateLimit: r.RateLimit(),
	}
	if r.config.MCP != nil {
		c.MCP = r.connectMCP()
	}
	if r.config.AgentCard != nil {
		c.A2A = &a2aConnection{
			r.address("a2a"), "1.0", r.address("agent_card"),
			map[string]string{"Content-Type": typeJSON, "A2A-Version": "1.0"},
		}
	}
	if address := r.address("services"); address != "" {
		c.Services = map[string]string{"catalog": address, "payment": "x402"}
	}
	return answer.JSON(c)
}

func (r *Registry) connectMCP() *mcpConnection {
	at, name := r.address("mcp"), r.config.MCP.Info.Name
	c := &mcpConnection{
		URL: at, Transport: "streamable-http", Stateless: true, ProtocolVersions: r.config.MCP.Versions,
		Card:          r.address("mcp_server_card"),
		Headers:       map[string]string{"Content-Type": typeJSON, "Accept": "application/json, text/event-stream"},
		ClientConfigs: map[string]any{"mcpServers": map[string]any{name: map[string]string{"type": "http", "url": at}}},
		Commands: map[string]string{
			"claude_code": "claude mcp add --transport http " + name + " " + at,
			"curl": `curl -s ` + at +
				` -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d '` +
				listTools + `'`,
		},
	}
	for _, t := range r.config.MCP.Tools {
		c.Tools = append(c.Tools, connectTool{t.Name, t.Group})
	}
	return c
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
