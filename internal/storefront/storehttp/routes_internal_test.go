package storehttp

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/storefront/storehttp/servicehttp"
)

// unlisted are the routes that openapi.json does not tell of, and why.
func unlisted() map[string]string {
	return map[string]string{
		"POST /checkout/new":                                  "the form of a page, for people",
		"GET /checkout/{token}/pay":                           "a page for one buyer, whose address is a secret",
		"GET /c/{token}":                                      "a page for one buyer, whose address is a secret",
		"GET /checkout/{token}/done":                          "a page for one buyer, whose address is a secret",
		"GET /checkout/{token}/back":                          "a page for one buyer, whose address is a secret",
		"GET /assets/store.css":                               "a part of the pages",
		"GET /assets/icon.svg":                                "a part of the pages",
		"GET /assets/card.png":                                "a part of the pages",
		"GET /assets/webmcp.js":                               "a part of the pages",
		"POST /webhooks/stripe":                               "for the payment processor alone; it signs its messages",
		"GET /agent":                                          "the same as /agent/site.json",
		"GET /.well-known/auth.md":                            "the same as /auth.md",
		"GET /.well-known/mcp.json":                           "the same as /.well-known/mcp/server-card.json",
		"GET /.well-known/mcp-server-card":                    "the same as /.well-known/mcp/server-card.json",
		"GET /.well-known/agent-skills/buy-products/SKILL.md": "the same as /agent/skills/buy-products/SKILL.md",
	}
}

// TestOpenAPIHasEveryRoute compares the routes with openapi.json, both ways.
// Pages have no routes of their own: their paths are known only while the store
// runs, and /sitemap.xml lists them.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	t.Parallel()
	s, mux, err := build(Deps{
		Site: Site{BaseURL: "https://store.example", Name: "Store"}, BotKeys: describedKeys{},
		Services: &servicehttp.Handler{},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.api.Document()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var described []string
	for path, methods := range document.Paths {
		for method := range methods {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	exceptions := unlisted()
	served := []string{"GET /openapi.json"} // mounted when the document is written
	for _, pattern := range mux.Patterns() {
		pattern = strings.TrimSuffix(pattern, "/{$}")      // the same with a slash at the end
		pattern = strings.ReplaceAll(pattern, "...}", "}") // names with slashes are names to the document
		if !strings.Contains(pattern, " ") {
			pattern = "POST " + pattern // endpoints of JSON-RPC refuse other methods themselves
		}
		method, _, _ := strings.Cut(pattern, " ")
		if method == "OPTIONS" || slices.Contains(served, pattern) {
			continue
		}
		if _, ok := exceptions[pattern]; ok {
			delete(exceptions, pattern)
			continue
		}
		served = append(served, pattern)
	}
	slices.Sort(described)
	slices.Sort(served)
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("routes that are served (-) and described (+):\n%s", diff)
	}
	for pattern, reason := range exceptions {
		t.Errorf("%s (%s) is an exception and no route any more", pattern, reason)
	}
}

// TestOperatorsPage finds every companion in docs/discovery.md.
func TestOperatorsPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/discovery.md")
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := build(Deps{
		Site: Site{BaseURL: "https://store.example", Name: "Store"}, BotKeys: describedKeys{},
		Services: &servicehttp.Handler{},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.documents.Entries() {
		for _, path := range append([]string{e.Path}, e.Aliases...) {
			if !strings.Contains(string(text), "`"+path+"`") {
				t.Errorf("docs/discovery.md does not name %s", path)
			}
		}
	}
}
