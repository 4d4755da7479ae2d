package console

import (
	"net/http"
	"strconv"
	"strings"

	"ace/internal/platform/operation"
	"ace/internal/platform/sdkfiles"
)

// llmsTxt lists, for models, what there is to read about the platform
// (llmstxt.org). Links lead to Markdown; interfaces are in the list before.
func (c *Console) llmsTxt(w http.ResponseWriter, _ *http.Request) {
	base := c.Site.BaseURL
	lines := []string{
		"# " + c.Site.Name,
		"",
		"> One API key gives an agent the apps that its account has connected: it finds tools by a description of " +
			"the task, and runs them.",
		"",
		"A user creates a key at " + base + "/account. It goes into the header Authorization: Bearer; only the " +
			"catalog of apps needs none. A key may send " + strconv.Itoa(operation.RequestsPerMinute) + " requests " +
			"in any minute; over that the response is 429 with Retry-After.",
		"",
		"- MCP server, six tools: POST " + base + "/mcp",
		"- REST: " + base + "/api/v1, described by " + base + "/openapi.json",
		"- Apps, as JSON: " + base + "/api/v1/catalog",
		"- JavaScript: npm install " + base + "/sdk/ace-" + sdkfiles.Version + ".tgz",
		"- Python: pip install " + base + "/sdk/ace-" + sdkfiles.Version + "-py3-none-any.whl",
		"",
		"## Docs",
		"",
		"- [Guide](" + base + "/docs/platform.md): connecting apps, finding and running tools, triggers, MCP, " +
			"clients, custom connectors, with each request and response",
		"- [Errors](" + base + "/docs/errors.md): every code and what to do about it",
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, _ = w.Write([]byte(strings.Join(lines, "\n") + "\n"))
}

// markdown serves a page of the documentation.
func markdown(page []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		w.Header().Set("Cache-Control", "public, max-age=3600")
		_, _ = w.Write(page)
	}
}
