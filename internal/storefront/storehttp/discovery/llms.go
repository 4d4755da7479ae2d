package discovery

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"ace/internal/storefront/site"
)

// maxLLMs is how long llms.txt gets, in characters. What reads it cuts longer
// ones off.
const maxLLMs = 28_000

// llmsTxt says what the site is for and lists its pages as Markdown
// (llmstxt.org). Links lead to Markdown alone; interfaces, which are JSON, are in plain lists before the first section.
func (r *Registry) llmsTxt(context.Context, http.Header) ([]byte, error) {
	snapshot := r.config.Pages.Snapshot()
	home, _ := snapshot.Entry("/")
	w := &listing{}
	w.line("# " + oneLine(r.config.Name))
	w.line("")
	w.line("> " + oneLine(cmp.Or(home.Description, r.summary())))
	w.line("")
	if r.config.Sandbox {
		w.line("This is a test store: no real money moves, and nothing is delivered.")
		w.line("")
	}
	w.line(
		"Everything is open: no key, no account, no registration. Send a descriptive User-Agent and at most one " +
			"request per second; over that the answer is HTTP 429 with Retry-After. Prices are read from the payment " +
			"processor. Buying always ends on a page where a person pays.")
	w.line("")
	for _, line := range r.interfaces() {
		w.line(line)
	}
	w.line("- Any page as Markdown: add `.md` to its path, or send `Accept: text/markdown`")
	w.section("When to use this site", r.occasions())
	pages := sorted(snapshot)
	w.section("Pages", r.pageLinks(pages.main))
	w.section("Products", r.pageLinks(pages.offers))
	w.section("Optional", r.pageLinks(pages.rest))
	if w.left > 0 {
		w.b.WriteString(fmt.Sprintf("\nThere are %d more pages: %s lists all of them, and %s?q=words finds them.\n",
			w.left, r.address("sitemap"), r.address("search")))
	}
	return []byte(w.b.String()), nil
}

// interfaces are the lines about what programs call.
func (r *Registry) interfaces() []string {
	var lines []string
	add := func(key, format string) {
		if address := r.address(key); address != "" {
			lines = append(lines, fmt.Sprintf(format, address))
		}
	}
	add("connect", "- How to connect: %s")
	if card := r.address("mcp_server_card"); card != "" {
		lines = append(lines, "- MCP server: POST "+r.address("mcp")+", described at "+card)
	}
	if card := r.address("agent_card"); card != "" {
		lines = append(lines, "- A2A 1.0 agent: POST "+r.address("a2a")+", described at "+card)
	}
	add("openapi", "- REST, with every call: %s")
	add("products", "- Catalog of offers: %s")
	add("search", "- Find pages by words: %s?q=refunds")
	add("read", "- Read one page: %s?path=/support")
	add("services", "- Paid website services, over x402: %s")
	add("sitemap", "- All pages: %s")
	return lines
}

// occasions say for what an agent comes here.
func (r *Registry) occasions() []string {
	lines := []string{
		markdownLink("Buy something for a person", r.address("skill"),
			"step by step; it ends on a hosted payment page"),
		markdownLink("Know which credentials are needed", r.address("auth"), "none"),
	}
	if r.hasPage("/docs") {
		lines = append(lines, markdownLink("Use the interfaces", r.config.BaseURL+"/docs.md", "the guide for agents"))
	}
	return lines
}

// parted are the pages by what they are for.
type parted struct{ main, offers, rest []site.Entry }

// sorted parts the pages: those of the menu and the like first, offers, and
// what belongs to the small print last.
func sorted(s *site.Snapshot) parted {
	var p parted
	p.main = append(p.main, s.Nav...)
	for i := range s.Entries {
		e := s.Entries[i]
		switch {
		case e.Nav > 0: // is there already
		case strings.HasPrefix(e.Path, "/products/"):
			p.offers = append(p.offers, e)
		case e.Foot > 0:
		default:
			p.main = append(p.main, e)
		}
	}
	for _, e := range s.Foot {
		if e.Nav == 0 {
			p.rest = append(p.rest, e)
		}
	}
	return p
}

func (r *Registry) pageLinks(entries []site.Entry) []string {
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = markdownLink(cmp.Or(e.Title, e.Path), r.config.BaseURL+TwinPath(e.Path), e.Description)
	}
	return lines
}

// TwinPath is the path of a page's Markdown, escaped.
func TwinPath(path string) string {
	if path == "/" {
		return "/index.md"
	}
	return site.EscapePath(path) + ".md"
}

// listing is a text that stops growing before it is too long.
type listing struct {
	b     strings.Builder
	chars int
	left  int // links that found no room
}

func (l *listing) line(text string) {
	l.b.WriteString(text + "\n")
	l.chars += utf8.RuneCountInString(text) + 1
}

func (l *listing) section(title string, links []string) {
	if len(links) == 0 {
		return
	}
	if l.chars+utf8.RuneCountInString(links[0]) > maxLLMs {
		l.left += len(links)
		return
	}
	l.line("")
	l.line("## " + title)
	l.line("")
	for i, link := range links {
		if l.chars+utf8.RuneCountInString(link) > maxLLMs {
			l.left += len(links) - i
			return
		}
		l.line(link)
	}
}

// markdownLink is one item of a section.
func markdownLink(title, address, note string) string {
	title = strings.ReplaceAll(oneLine(title), `\`, `\\`)
	title = strings.ReplaceAll(strings.ReplaceAll(title, "[", `\[`), "]", `\]`)
	address = strings.ReplaceAll(strings.ReplaceAll(address, "(", "%28"), ")", "%29")
	if note = oneLine(note); note != "" {
		note = ": " + note
	}
	return "- [" + title + "](" + address + ")" + note
}

// maxNote is how long a title or a note in a list gets, in characters.
const maxNote = 240

// oneLine makes a text of others fit into one line of a list.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > maxNote {
		s = string([]rune(s)[:maxNote]) + "…"
	}
	return s
}
