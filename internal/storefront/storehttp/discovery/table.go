package discovery

import (
	"time"

	"ace/internal/protocol/acp"
	"ace/internal/protocol/ucp"
	"ace/internal/protocol/webbotauth"
)

// Media types of the documents.
const (
	typeJSON     = "application/json"
	typeXML      = "application/xml"
	typeText     = "text/plain; charset=utf-8"
	typeMarkdown = "text/markdown; charset=utf-8"
	typeLinkset  = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`
	typeCard     = "application/mcp-server-card+json"
	typeCatalog  = "application/ai-catalog+json"
)

// How long documents may be kept, in seconds. What follows the pages or the
// prices is asked for again soon.
const (
	ageLive    = 300
	ageSettled = 3600
	ageKeys    = 86400
)

// skillName is the name of the skill and of its folder.
const skillName = "buy-products"

// Relations of RFC 8631 and RFC 9727.
const (
	relDesc   = "service-desc"
	relDoc    = "service-doc"
	relMeta   = "service-meta"
	relStatus = "status"
)

// table is every companion that the store has with its settings.
func (r *Registry) table() []Entry {
	entries := []Entry{
		{
			Key: "api_catalog", Path: "/.well-known/api-catalog", Types: []string{typeLinkset}, Rel: "api-catalog",
			Class: Document, Age: ageSettled,
			ID: "apiCatalog", About: "Every API of this host and where it is described (RFC 9727)",
			render: r.apiCatalog,
		},
		{
			Key: "openapi", Path: "/openapi.json", Types: []string{
				typeJSON, "application/openapi+json",
				"application/vnd.oai.openapi+json;version=3.1",
			}, Rel: relDesc,
			Class: Document, Age: ageSettled, Describes: []Relation{{"rest", relDesc}, {"services", relDesc}},
			ID: "openAPI", About: "This document",
		},
		{
			Key: "llms_txt", Path: "/llms.txt", Types: []string{typeText, typeMarkdown}, Rel: "describedby",
			Class: Document, Age: ageLive,
			Describes: []Relation{{"rest", relDoc}}, ID: "llmsTxt",
			About: "What this site is for, and its pages as Markdown", render: r.llmsTxt,
		},
		{
			Key: "auth", Path: "/auth.md", Aliases: []string{"/.well-known/auth.md"}, Types: []string{typeMarkdown},
			Rel: relDoc, Class: Document, Age: ageSettled,
			Describes: []Relation{{"rest", relMeta}}, ID: "authMd", About: "Which credentials are needed: none",
			render: r.text("auth.md"),
		},
		{
			Key: "site", Path: "/agent/site.json", Aliases: []string{"/agent"}, Types: []string{typeJSON}, Rel: relMeta,
			Class: Document, Age: ageLive,
			Describes: []Relation{{"rest", relMeta}},
		},
		{
			Key: "status", Path: "/healthz", Types: []string{typeJSON}, Rel: relStatus, Class: Exempt,
			Describes: []Relation{{"rest", relStatus}}, ID: "health", About: "Whether the store is up",
		},
		{
			Key:   "sitemap",
			Path:  "/sitemap.xml",
			Types: []string{typeXML},
			Rel:   "sitemap",
			Class: Document,
			Age:   ageLive,
			ID:    "sitemap",
			About: "Every public page, or the parts of that list",
		},
		{
			Key:    "robots",
			Path:   "/robots.txt",
			Types:  []string{typeText},
			Class:  Document,
			Age:    ageSettled,
			ID:     "robots",
			About:  "What crawlers may do here",
			render: r.robots,
		},
		{
			Key: "connect", Path: "/agent/connect.json", Types: []string{typeJSON}, Class: Document, Age: ageSettled,
			Describes: []Relation{{"mcp", relDoc}, {"a2a", relDoc}}, ID: "connect",
			About: "How clients connect: addresses, headers, commands", render: r.connect,
		},
		{
			Key: "skill", Path: "/agent/skills/" + skillName + "/SKILL.md",
			Aliases: []string{"/.well-known/agent-skills/" + skillName + "/SKILL.md"}, Types: []string{typeMarkdown},
			Class: Document, Age: ageSettled, Describes: []Relation{{"rest", relDoc}}, ID: "buyingSkill",
			About: "How to buy for a person, step by step", render: r.text("SKILL.md"),
		},
		{
			Key: "skills_index", Path: "/.well-known/agent-skills/index.json", Types: []string{typeJSON},
			Class: Document, Age: ageSettled,
			ID: "skillsIndex", About: "The skills of this site with their digests", render: r.skillsIndex,
		},
		{
			Key:    "security",
			Path:   "/.well-known/security.txt",
			Types:  []string{typeText},
			Class:  Document,
			Age:    ageKeys,
			ID:     "securityTxt",
			About:  "Whom to tell about a weakness (RFC 9116)",
			render: r.securityTxt, every: time.Hour,
		},
		{
			Key: "ucp", Path: ucp.ProfilePath, Types: []string{typeJSON}, Class: Document, Age: ageLive,
			Describes: []Relation{{"rest", relMeta}},
		},
		{
			Key: "acp", Path: acp.DiscoveryPath, Types: []string{typeJSON}, Class: Document, Age: ageSettled,
			Describes: []Relation{{"rest", relMeta}},
		},
		{Key: "products", Path: "/agent/commerce/products", Types: []string{typeJSON}, Class: API, Age: 30},
		{Key: "search", Path: "/agent/search", Types: []string{typeJSON}, Class: API, Arguments: true},
		{Key: "read", Path: "/agent/read", Types: []string{typeJSON}, Class: API, Arguments: true},
	}
	entries = append(entries, r.mcpEntries()...)
	if r.config.AgentCard != nil {
		entries = append(entries, Entry{Key: "a2a", Path: A2APath, Method: "POST", Class: API}, Entry{
			Key: "agent_card", Path: "/.well-known/agent-card.json", Types: []string{typeJSON}, Class: Document,
			Age:       ageSettled,
			Describes: []Relation{{"a2a", relDesc}}, ID: "agentCard", About: "The A2A agent of this site",
			render: r.agentCard,
		})
	}
	if r.config.MCP != nil || r.config.AgentCard != nil {
		entries = append(entries, Entry{
			Key: "ai_catalog", Path: "/.well-known/ai-catalog.json", Types: []string{typeCatalog, typeJSON},
			Rel: "ai-catalog", Class: Document, Age: ageSettled,
			ID: "aiCatalog", About: "The agents and tool servers of this host", render: r.aiCatalog,
		})
	}
	if r.config.Services {
		entries = append(entries, Entry{Key: "services", Path: ServicesPath, Types: []string{typeJSON}, Class: API})
	}
	if r.config.Keys != nil {
		entries = append(entries, Entry{
			Key:    "bot_keys",
			Path:   webbotauth.DirectoryPath,
			Types:  []string{webbotauth.MediaType},
			Class:  Document,
			Age:    ageKeys,
			ID:     "botKeys",
			About:  "The keys that the store signs its own requests with",
			render: r.keyDirectory,
			every:  time.Hour,
		})
	}
	return entries
}

func (r *Registry) mcpEntries() []Entry {
	if r.config.MCP == nil {
		return nil
	}
	return []Entry{
		{Key: "mcp", Path: MCPPath, Method: "POST", Class: ByMessage},
		{
			Key: "mcp_server_card", Path: "/.well-known/mcp/server-card.json",
			Aliases: []string{"/.well-known/mcp.json", "/.well-known/mcp-server-card"}, Types: []string{typeJSON},
			Class: Document, Age: ageSettled, Describes: []Relation{{"mcp", relDesc}}, ID: "mcpServerCard",
			About: "The MCP server and its tools", render: r.fullCard,
		},
		{
			Key: "mcp_card", Path: MCPPath + "/server-card", Types: []string{typeCard, typeJSON}, Class: Document,
			Age: ageSettled,
			ID:  "mcpCard", About: "The MCP server in the form of SEP-2127", render: r.plainCard,
		},
	}
}
