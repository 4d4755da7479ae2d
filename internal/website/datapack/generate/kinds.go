package generate

import (
	"regexp"
	"strings"
	"time"

	"ace/internal/website/datapack/written"
	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var (
	eventWords = regexp.MustCompile(
		`(?i)^((date|date ?/ ?time|date and time|datum|fecha)\s*:|(when|starts?|begins?|wann|beginn|quand` +
			`|cuándo)\b\s*:?)`,
	)
	venueWords = regexp.MustCompile(`(?i)^(venue|where|location|place|ort|wo|lieu|où|lugar|dónde)\b\s*:?\s*`)
	dateClass  = regexp.MustCompile(`(?i)(^|[\s_-])(event-date|date|datum|when)($|[\s_-])`)
	venueClass = regexp.MustCompile(`(?i)(^|[\s_-])(venue|event-location|location)($|[\s_-])`)
	hourOfDay  = regexp.MustCompile(`(?i)\b(?:at |um |à )?([01]?\d|2[0-3])[:.]([0-5]\d)\s*(am|pm|uhr|h)?\b`)
)

// eventStart is when the event of the page begins: a time element or a day
// behind a word such as "When:".
func (v *view) eventStart(g *Generator) Fact {
	if f := timeFact(v.existing(g, []string{"Event"}, "startDate")); f.ok() {
		return f
	}
	for _, b := range v.blocks {
		place := eventWords.FindStringIndex(b.text)
		if place == nil && dom.Within(b.node, func(n *html.Node) bool { return n != v.main && class(n, dateClass) }) {
			place = []int{0, 0}
		}
		if place == nil || len(b.text) > 120 {
			continue
		}
		if n := dom.First(b.node, isTime); n != nil {
			return timeFact(v.found("time beside "+b.text[:place[1]], n, dom.Attr(n, "datetime"), b.text))
		}
		days := written.Dates(b.text)
		if len(days) != 1 {
			continue
		}
		f := v.found("text", b.node, days[0], b.text)
		if m := hourOfDay.FindAllStringSubmatch(b.text[place[1]:], 3); len(m) == 1 {
			if hour, ok := written.Clock(m[0][1], m[0][2], m[0][3]); ok {
				f.Text += "T" + hour
			}
		}
		return f
	}
	return Fact{}
}

// venue is where the event takes place.
func (v *view) venue(g *Generator) Fact {
	for _, n := range v.things(g, "Event") {
		for _, value := range n.Prop("location") {
			if place := v.Graph.Follow(value); place != nil {
				if text := place.First("address"); text != "" {
					return v.stated(n, place.Line, text)
				}
			}
		}
	}
	for _, b := range v.blocks {
		if m := venueWords.FindString(b.text); m != "" && len(b.text) < 160 {
			if text := strings.TrimSpace(b.text[len(m):]); text != "" {
				return v.found("label on the page", b.node, text, b.text)
			}
		}
	}
	if n := dom.First(v.main, func(n *html.Node) bool {
		return class(n, venueClass) && dom.Visible(n) != "" && len(dom.Visible(n)) < 160
	}); n != nil {
		return v.found("venue", n, dom.Visible(n), dom.Visible(n))
	}
	return Fact{}
}

// validDay reports whether a text begins with a day.
func validDay(text string) bool {
	if len(text) < len(time.DateOnly) {
		return false
	}
	_, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)])
	return err == nil
}

// storeLinks are the links of the main part to app stores.
func storeLinks(v *view) []anchor {
	var all []anchor
	for _, a := range v.links {
		switch {
		case !a.main:
		case a.url.Host == "apps.apple.com" && strings.Contains(a.url.Path, "/id"), a.url.Host == "play.google.com" &&
			strings.HasPrefix(a.url.Path, "/store/apps/details"),
			a.url.Host == "apps.microsoft.com", a.url.Host == "flathub.org" && strings.Contains(a.url.Path, "/apps/"),
			a.url.Host == "f-droid.org" && strings.Contains(a.url.Path, "/packages/"):
			all = append(all, a)
		}
	}
	return all
}

var systemNames = regexp.MustCompile(`\b(Windows(?: 1[01])?|macOS|Linux|Android|iOS|iPadOS|ChromeOS|FreeBSD)\b`)

// systems are the operating systems that a block of the page names together
// with words for running there.
func systems(v *view) Fact {
	for _, b := range v.blocks {
		if !runsOn.MatchString(b.text) {
			continue
		}
		var names []string
		for _, name := range systemNames.FindAllString(b.text, 8) {
			if len(names) == 0 || !strings.Contains(strings.Join(names, ", "), name) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			return v.found("text", b.node, strings.Join(names, ", "), b.text)
		}
	}
	return Fact{}
}

var runsOn = regexp.MustCompile(
	`(?i)\b(requires?|available (for|on)|download(s)? for|runs on|works on|supports?|compatible with|for)\b`)

// question is one question of the page with its response.
type question struct {
	name, answer Fact
}

const maxQuestions = 30

// questions finds questions and answers: summaries with their details,
// definition lists, and headings that end in a question mark.
func (v *view) questions() []question {
	var all []question
	add := func(from string, q *html.Node, text string, answer *html.Node, reply string) {
		text = dom.Squeeze(text)
		if !strings.HasSuffix(text, "?") || reply == "" || len(text) > maxBlock || len(all) == maxQuestions {
			return
		}
		all = append(all, question{v.found(from, q, text, text), v.found(from, answer, sentences(reply, 2_000), reply)})
	}
	for n := range v.main.Descendants() {
		if n.Type != html.ElementNode || dom.Hidden(n) {
			continue
		}
		switch n.DataAtom {
		case atom.Details:
			if s := dom.First(n, func(n *html.Node) bool { return n.DataAtom == atom.Summary }); s != nil {
				add("details", s, dom.Visible(s),
					n, strings.TrimSpace(strings.TrimPrefix(dom.Visible(n), dom.Visible(s))))
			}
		case atom.Dt:
			for s := n.NextSibling; s != nil; s = s.NextSibling {
				if s.DataAtom == atom.Dd {
					add("definition list", n, dom.Visible(n), s, dom.Visible(s))
					break
				}
				if s.DataAtom == atom.Dt {
					break
				}
			}
		case atom.H2, atom.H3, atom.H4:
			if first, reply := following(n); first != nil {
				add("heading", n, dom.Visible(n), first, reply)
			}
		}
	}
	return all
}

// following is the text between a heading and the next one.
func following(heading *html.Node) (first *html.Node, text string) {
	var parts []string
	for s := heading.NextSibling; s != nil && len(parts) < 20; s = s.NextSibling {
		if s.Type != html.ElementNode {
			continue
		}
		switch s.DataAtom {
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Section, atom.Article:
			return first, strings.Join(parts, " ")
		}
		if t := dom.Visible(s); t != "" {
			if first == nil {
				first = s
			}
			parts = append(parts, t)
		}
	}
	return first, strings.Join(parts, " ")
}
