package crawl

import (
	"strings"

	"golang.org/x/net/html"
)

// Directive is one rule of a robots meta element or an X-Robots-Tag.
type Directive struct {
	Agent  string // crawler that it is for, in lower case; empty: all
	Name   string // in lower case: noindex, nosnippet, max-snippet, …
	Value  string
	Source string     // "meta" or "header"
	Node   *html.Node // the meta element
}

// String is the directive as it is written.
func (d Directive) String() string {
	s := d.Name
	if d.Value != "" {
		s += ":" + d.Value
	}
	if d.Agent != "" {
		s = d.Agent + ": " + s
	}
	return s
}

// crawlerMeta reports whether a meta name addresses one search or AI crawler.
func crawlerMeta(name string) bool {
	switch name {
	case "googlebot", "googlebot-news", "google-extended", "bingbot", "msnbot", "oai-searchbot", "gptbot",
		"chatgpt-user", "claudebot", "claude-searchbot",
		"perplexitybot", "applebot", "duckassistbot", "duckduckbot", "amazonbot", "amzn-searchbot", "yandex",
		"baiduspider", "slurp", "otherbot":
		return true
	}
	return false
}

// valued are the directives that a value belongs to.
func valued(name string) bool {
	switch name {
	case "max-snippet", "max-image-preview", "max-video-preview", "unavailable_after":
		return true
	}
	return false
}

// directives reads "noindex, max-snippet:20".
func directives(content string) []Directive {
	var found []Directive
	for part := range strings.SplitSeq(strings.ToLower(content), ",") {
		name, value, _ := strings.Cut(part, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if valued(name) {
			found = append(found, Directive{Name: name, Value: value})
			continue
		}
		for word := range strings.FieldsSeq(part) { // some separate by spaces
			found = append(found, Directive{Name: strings.TrimSpace(word)})
		}
	}
	return found
}

// headerDirectives reads one X-Robots-Tag, which may name a crawler first:
// "googlebot: noindex, nofollow".
func headerDirectives(value string) []Directive {
	agent := ""
	if name, rest, ok := strings.Cut(value, ":"); ok {
		name = strings.ToLower(strings.TrimSpace(name))
		if !valued(name) && !strings.ContainsAny(name, ", ") {
			agent, value = name, rest
		}
	}
	found := directives(value)
	for i := range found {
		found[i].Agent, found[i].Source = agent, "header"
	}
	return found
}

// DirectivesFor are the directives that a crawler obeys: those for all and
// those in its own name, which add up.
func (d *Document) DirectivesFor(agent string) []Directive {
	var found []Directive
	for _, dir := range d.Robots {
		if dir.Agent == "" || strings.EqualFold(dir.Agent, agent) {
			found = append(found, dir)
		}
	}
	return found
}

// Forbids returns the directive by which a page keeps a crawler from something:
// noindex, nosnippet, noarchive and so on; "none" counts as noindex. Empty agent:
// what is said to all.
func (d *Document) Forbids(agent, name string) (Directive, bool) {
	for _, dir := range d.DirectivesFor(agent) {
		if dir.Name == name || name == "noindex" && dir.Name == "none" {
			return dir, true
		}
	}
	return Directive{}, false
}
