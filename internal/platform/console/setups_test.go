package console_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"ace/internal/platform/mcpclients"
)

// TestSetups holds that the docs show how each MCP client is set up, and that the
// page of a new key shows it with that key.
func TestSetups(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	docs := html.UnescapeString(w.browser(t).get("/docs").text)
	b := w.signedIn(t, w.account)
	made := html.UnescapeString(b.post("/account/keys", "name", "Laptop", "permission", "read", "permission", "run",
		"approval", "writes", "days", "30").text)
	key := regexp.MustCompile(`ace_[0-9A-Za-z]{36}`).FindString(made)
	if key == "" {
		t.Fatalf("no key in %s", made)
	}
	for _, tt := range []struct{ name, page, key string }{
		{"docs", docs, mcpclients.Placeholder}, {"new key", made, key},
	} {
		for _, c := range mcpclients.For(base+"/mcp", tt.key) {
			if !strings.Contains(tt.page, c.Text) || c.Link != "" && !strings.Contains(tt.page, `href="`+c.Link+`"`) {
				t.Errorf("the page %s does not show how %s is set up", tt.name, c.Name)
			}
		}
	}
}
