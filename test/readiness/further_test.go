package readiness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// further are checks that other scanners add. They do not count for the score
// of the first.
func further() []row {
	return []row{
		{
			check: "serverRendered", rule: "over 500 characters of HTML text with one H1, in order", want: passes,
			probe: serverRendered,
		},
		{
			check: "markup",
			rule:  "title, description, canonical, language, Open Graph and JSON-LD with an Organization",
			want:  passes,
			probe: markup,
		},
		{
			check: "validators", rule: "ETag and Cache-Control on pages; 304 for who has them", want: passes,
			probe: validators,
		},
		{
			check: "realNotFound", rule: "404 for what is not there, in the form that was asked for, with ways on",
			want: passes, probe: realNotFound,
		},
		{
			check: "trustPages", rule: "about, contact and privacy with over 500 characters", want: passes,
			probe: trustPages,
		},
		{
			check: "llmsTxt", rule: "llms.txt with an H1, under 30,000 characters, that says when to use the site",
			want: passes, probe: llmsTxt,
		},
		{check: "openApi", rule: "OpenAPI 3.1 with operation ids, and problems as JSON", want: passes, probe: openAPI},
		{
			check: "rateLimitFields", rule: "RateLimit and RateLimit-Policy on calls of the API", want: passes,
			probe: rateLimitFields,
		},
		{
			check: "toolAnnotations", rule: "each tool of tools/list states its hints", want: passes,
			probe: toolAnnotations,
		},
		{check: "securityTxt", rule: "Contact, and Expires within a year", want: passes, probe: securityTxt},
		{
			check: "unknownAgents", rule: "agents are served whatever they call themselves", want: passes,
			probe: unknownAgents,
		},
		{
			check: "lastmod", rule: "lastmod on half of the addresses of the sitemap", want: fails,
			why: "the processor does not say when an offer changed, and only what is known is claimed", probe: lastmod,
		},
		{
			check: "feed",
			rule:  "RSS or Atom",
			want:  fails,
			why:   "pages are not news; the sitemap says when each changed",
			probe: present("/feed.xml", "/rss.xml", "/atom.xml"),
		},
	}
}

func serverRendered(s *scan) error {
	a, err := s.read("/about", "text/html")
	if err != nil {
		return err
	}
	text := regexp.MustCompile(`(?s)<script.*?</script>|<[^>]+>`).ReplaceAll(a.body, nil)
	last := 0
	for i, h := range regexp.MustCompile(`<h([1-6])`).FindAllSubmatch(a.body, -1) {
		n := int(h[1][0] - '0')
		if (n == 1) != (i == 0) || n > last+1 {
			return fmt.Errorf("heading %d is of order %d after %d", i+1, n, last)
		}
		last = n
	}
	return unless(len(text) > 500 && bytes.Contains(a.body, []byte("<main")), "%d characters", len(text))
}

func lastmod(s *scan) error {
	total, dated, err := s.listed()
	if err != nil {
		return err
	}
	return unless(dated*2 >= total, "%d of %d", dated, total)
}

func markup(s *scan) error {
	a, err := s.read("/", "text/html")
	if err != nil {
		return err
	}
	for _, part := range []string{
		`<html lang="`, "<title>", `name="description"`, `rel="canonical"`, `og:type`,
		`og:image`, `application/ld+json`, `"Organization"`, `"contactPoint"`,
	} {
		if !bytes.Contains(a.body, []byte(part)) {
			return fmt.Errorf("%s is missing", part)
		}
	}
	return nil
}

func validators(s *scan) error {
	a, err := s.read("/about", "text/html")
	if err != nil {
		return err
	}
	again, err := s.get("/about", "If-None-Match", a.Header.Get("ETag"))
	if err != nil {
		return err
	}
	return unless(again.StatusCode == http.StatusNotModified && a.Header.Get("Cache-Control") != "" &&
		a.Header.Get("Last-Modified") != "", "%d, header %v", again.StatusCode, a.Header)
}

func realNotFound(s *scan) error {
	for accept, mediaType := range map[string]string{
		"text/html": "text/html", "text/markdown": "text/markdown",
		"application/json": "application/problem+json",
	} {
		a, err := s.get("/there-is-no-such-page", "Accept", accept)
		if err != nil {
			return err
		}
		if a.StatusCode != http.StatusNotFound || !strings.HasPrefix(a.Header.Get("Content-Type"), mediaType) {
			return fmt.Errorf("%s = %d %s", accept, a.StatusCode, a.Header.Get("Content-Type"))
		}
		if accept == "text/markdown" &&
			!(bytes.Contains(a.body, []byte("/sitemap.xml")) && bytes.Contains(a.body, []byte("/llms.txt"))) {
			return fmt.Errorf("no ways on: %s", a.body)
		}
	}
	return nil
}

func trustPages(s *scan) error {
	for _, path := range []string{"/about", "/contact", "/privacy", "/support"} {
		a, err := s.read(path, "text/markdown", "Accept", "text/markdown")
		if err != nil {
			return err
		}
		if len(a.body) < 500 {
			return fmt.Errorf("%s has %d characters", path, len(a.body))
		}
	}
	return nil
}

func llmsTxt(s *scan) error {
	a, err := s.read("/llms.txt", "text/plain")
	if err != nil {
		return err
	}
	return unless(bytes.HasPrefix(a.body, []byte("# ")) && len(a.body) < 30_000 && bytes.Contains(a.body,
		[]byte("## When to use this site")), "%d bytes", len(a.body))
}

func openAPI(s *scan) error {
	var d struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string
			Summary     string
			Responses   map[string]any
		}
	}
	if _, err := s.readJSON("/openapi.json", &d); err != nil {
		return err
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			if op.OperationID == "" || op.Summary == "" || len(op.Responses) == 0 {
				return fmt.Errorf("%s %s lacks an id, a summary or answers", method, path)
			}
		}
	}
	a, err := s.get("/agent/search")
	if err != nil {
		return err
	}
	return unless(strings.HasPrefix(d.OpenAPI, "3.1") && len(d.Paths) > 20 &&
		a.Header.Get("Content-Type") == "application/problem+json", "%s with %d paths, problems as %s", d.OpenAPI,
		len(d.Paths), a.Header.Get("Content-Type"))
}

func rateLimitFields(s *scan) error {
	a, err := s.do(http.MethodGet, "/agent/commerce/products", "")
	if err != nil {
		return err
	}
	return unless(a.Header.Get("RateLimit") != "" && a.Header.Get("RateLimit-Policy") == `"client";q=5;w=5`,
		"header %v", a.Header)
}

func toolAnnotations(s *scan) error {
	a, err := s.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Content-Type",
		"application/json", "Accept", "application/json, text/event-stream")
	if err != nil {
		return err
	}
	var list struct {
		Result struct {
			Tools []struct {
				Name        string
				Annotations map[string]any
			}
		}
	}
	if err := json.Unmarshal(a.body, &list); err != nil {
		return err
	}
	if len(list.Result.Tools) != 10 {
		return fmt.Errorf("%d tools", len(list.Result.Tools))
	}
	for _, tool := range list.Result.Tools {
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, ok := tool.Annotations[hint].(bool); !ok {
				return fmt.Errorf("%s does not state %s", tool.Name, hint)
			}
		}
	}
	return nil
}

func securityTxt(s *scan) error {
	a, err := s.read("/.well-known/security.txt", "text/plain")
	if err != nil {
		return err
	}
	m := regexp.MustCompile(`(?m)^Expires: (\S+)$`).FindSubmatch(a.body)
	if m == nil {
		return fmt.Errorf("no Expires")
	}
	expires, err := time.Parse(time.RFC3339, string(m[1]))
	left := time.Until(expires)
	return unless(err == nil && left > 0 && left < 365*24*time.Hour && bytes.Contains(a.body,
		[]byte("Contact: mailto:help@store.example\n")), "it expires in %s: %v", left, err)
}

func unknownAgents(s *scan) error {
	for _, name := range []string{"curl/8", "python-requests/2", "GPTBot/1.2", "HeadlessChrome", ""} {
		if _, err := s.read("/products", "text/html", "User-Agent", name); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	return nil
}
