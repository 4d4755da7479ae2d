package discovery_test

import (
	"regexp"
	"strings"

	"ace/internal/storefront/storehttp/storetest"
)

// document is what a client reads of one companion.
type document struct {
	path      string
	mediaType string // of a response without an Accept header
	maxAge    string // seconds
	aliases   []string
	others    map[string]string // Accept -> Content-Type
	settled   bool              // rendered by the list of companions: it handles OPTIONS
}

// documents is what the store publishes.
func documents() []document {
	const (
		asJSON     = "application/json"
		asText     = "text/plain; charset=utf-8"
		asMarkdown = "text/markdown; charset=utf-8"
	)
	return []document{
		{
			path:      "/.well-known/api-catalog",
			mediaType: `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`, maxAge: "3600",
			settled: true,
			others: map[string]string{
				asJSON: `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`,
			},
		},
		{path: "/openapi.json", mediaType: asJSON, maxAge: "3600", others: map[string]string{
			"application/openapi+json":                     "application/openapi+json",
			"application/vnd.oai.openapi+json;version=3.1": "application/vnd.oai.openapi+json;version=3.1",
			"text/html": asJSON,
		}},
		{
			path: "/.well-known/mcp/server-card.json", mediaType: asJSON, maxAge: "3600", settled: true,
			aliases: []string{"/.well-known/mcp.json", "/.well-known/mcp-server-card"},
		},
		{
			path: "/mcp/server-card", mediaType: "application/mcp-server-card+json", maxAge: "3600", settled: true,
			others: map[string]string{asJSON: asJSON},
		},
		{path: "/agent/site.json", mediaType: asJSON, maxAge: "300", aliases: []string{"/agent"}},
		{path: "/agent/connect.json", mediaType: asJSON, maxAge: "3600", settled: true},
		{
			path: "/llms.txt", mediaType: asText, maxAge: "300", settled: true,
			others: map[string]string{
				"text/markdown": asMarkdown, "text/markdown, text/plain;q=0.5": asMarkdown,
				"text/plain": asText, "*/*": asText,
			},
		},
		{path: "/robots.txt", mediaType: asText, maxAge: "3600", settled: true},
		{
			path:      "/.well-known/http-message-signatures-directory",
			mediaType: "application/http-message-signatures-directory+json", maxAge: "86400", settled: true,
		},
		{
			path: "/auth.md", mediaType: asMarkdown, maxAge: "3600", settled: true,
			aliases: []string{"/.well-known/auth.md"}, others: map[string]string{"text/html": asMarkdown},
		},
		{
			path: "/agent/skills/buy-products/SKILL.md", mediaType: asMarkdown, maxAge: "3600", settled: true,
			aliases: []string{"/.well-known/agent-skills/buy-products/SKILL.md"},
		},
		{path: "/.well-known/agent-skills/index.json", mediaType: asJSON, maxAge: "3600", settled: true},
		{path: "/.well-known/agent-card.json", mediaType: asJSON, maxAge: "3600", settled: true},
		{
			path:      "/.well-known/ai-catalog.json",
			mediaType: "application/ai-catalog+json",
			maxAge:    "3600",
			settled:   true,
			others:    map[string]string{asJSON: asJSON},
		},
		{path: "/.well-known/security.txt", mediaType: asText, maxAge: "86400", settled: true},
		{path: "/.well-known/ucp", mediaType: asJSON, maxAge: "300"},
		{path: "/.well-known/acp.json", mediaType: asJSON, maxAge: "3600"},
		{path: "/sitemap.xml", mediaType: "application/xml", maxAge: "300"},
		{path: "/support.md", mediaType: asMarkdown, maxAge: "300"},
	}
}

// addresses are the addresses of this store that a text names, whole ones.
// Patterns (/agent/*) and examples to fill in are left out.
func addresses(w *storetest.Store, text string) []string {
	var all []string
	for _, a := range regexp.MustCompile(regexp.QuoteMeta(w.URL)+`[^\s"'<>)\x60\\,]*`).FindAllString(text, -1) {
		a = strings.TrimRight(a, ".:;")
		if !strings.Contains(a, "*") && !strings.Contains(a, "SESSION_ID") {
			all = append(all, a)
		}
	}
	return all
}
