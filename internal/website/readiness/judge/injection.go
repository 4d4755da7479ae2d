package judge

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"ace/internal/website/crawl"
	"ace/internal/website/dom"
	"ace/internal/website/readiness/prose"
)

// orders are phrases that speak to a language model and not to a reader.
var orders = regexp.MustCompile(
	`(?i)(ignore|disregard|forget) (all |any |the |your )*(previous|prior|above|earlier|preceding)[a-z ]{0,` +
		`20}(instructions?|prompts?|context|rules)|` +
		`(you are|act as|as) an? (ai|llm|language model|assistant|chatbot)\b|` +
		`\b(ai|llm|language model|assistant|chatgpt|claude|gemini|copilot|perplexity|agent)s?\b[^.]{0,` +
		`40}\b(must|should|always|shall|need to)\b[^.]{0,40}\b(recommend|mention|cite|rank|prefer|say|praise` +
		`|include|trust|purchase|buy)|` +
		`(system|hidden|new) (prompt|instructions?)\s*:|(reveal|print|output|repeat) (your|the) (system ` +
		`)?(prompt|instructions)|` +
		`when (summari[sz]ing|answering|asked about|describing)[^.]{0,` +
		`60}\b(recommend|mention|say|include|always|never)|` +
		`do not (tell|mention to|inform) the user|` +
		`(ignoriere|vergiss) (alle |die )*(vorherigen|bisherigen|obigen) (anweisungen|instruktionen)|` +
		`(ignore[zr]?|oublie[zr]?) (toutes )?les instructions précédentes|ignora (todas )?las instrucciones anteriores`,
)

// Runs of characters that print nothing: some languages and emoji need single
// ones, never this many.
const (
	maxInvisibleRun = 8
	maxTags         = 12 // flags of regions need seven
)

// pageInjection: the page holds nothing that is meant for language models
// alone.
func pageInjection(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	if run, at := invisibleRun(d); run > 0 {
		return Measured(0, "%d characters in a row that print nothing", run).At(at)
	}
	w := orderly{d: d, budget: maxOrders}
	if f, found := w.walk(d.Root); found {
		return f
	}
	return Measured(1, "no instructions in hidden text or comments, no runs of invisible characters")
}

// maxOrders is how much hidden text of one page is searched, in bytes.
const maxOrders = 256 << 10

// orderly looks for orders in comments, attributes and hidden elements.
type orderly struct {
	d      *crawl.Document
	budget int
}

func (w *orderly) find(text string) string {
	text = text[:min(len(text), max(w.budget, 0))]
	w.budget -= len(text)
	return orders.FindString(text)
}

func (w *orderly) walk(n *html.Node) (Finding, bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.CommentNode {
			if m := w.find(c.Data); m != "" {
				return Measured(0, "a comment instructs language models: %s", prose.Quote(m)).At(w.d.Where(c)), true
			}
		}
		if c.Type != html.ElementNode {
			continue
		}
		f, found, hidden := w.element(c)
		if !found && !hidden { // what is inside a hidden element was searched with it
			f, found = w.walk(c)
		}
		if found {
			return f, true
		}
	}
	return Finding{}, false
}

// element looks for orders in an element's attributes, and in its text if it is
// hidden.
func (w *orderly) element(n *html.Node) (f Finding, found, hidden bool) {
	for _, name := range []string{"alt", "title", "aria-label", "data-prompt"} {
		if m := w.find(dom.Attr(n, name)); m != "" {
			return Measured(0, "the attribute %s instructs language models: %s", name, prose.Quote(m)).At(w.d.Where(n)),
				true, false
		}
	}
	how := hiddenBy(n)
	if how == "" {
		return Finding{}, false, false
	}
	for c := range n.Descendants() {
		if c.Type == html.CommentNode {
			if m := w.find(c.Data); m != "" {
				return Measured(0, "a comment instructs language models: %s", prose.Quote(m)).At(w.d.Where(c)), true,
					true
			}
		}
	}
	if m := w.find(dom.Text(n)); m != "" {
		return Measured(0, "text hidden by %s instructs language models: %s", how, prose.Quote(m)).At(w.d.Where(n)),
			true, true
	}
	return Finding{}, false, true
}

// invisibleRun finds the first run of characters that print nothing.
func invisibleRun(d *crawl.Document) (int, crawl.Place) {
	run, tags, start := 0, 0, 0
	for i, r := range string(d.Source) {
		if r >= 0xe0020 && r <= 0xe007f {
			tags++
		}
		if !prose.Invisible(r) {
			if run >= maxInvisibleRun && (tags != run || tags > maxTags) {
				return run, crawl.Place{Line: 1 + strings.Count(string(d.Source[:start]), "\n"), Byte: start}
			}
			run, tags = 0, 0
			continue
		}
		if run == 0 {
			start = i
		}
		run++
	}
	return 0, crawl.Place{}
}

// hiddenBy says what hides the text of an element from people; empty: nothing.
func hiddenBy(n *html.Node) string {
	switch {
	case dom.Has(n, "hidden"):
		return "the attribute hidden"
	case strings.EqualFold(dom.Attr(n, "aria-hidden"), "true"):
		return "aria-hidden"
	case n.Data == "template" || n.Data == "noscript":
		return "<" + n.Data + ">"
	}
	style := dom.Attr(n, "style")
	if declaration, ok := dom.HidingStyle(style); ok {
		return prose.Cut(declaration, 60)
	}
	return paintedOver(style)
}

// paintedOver reports a text color that is its background's.
func paintedOver(style string) string {
	color, background, small := "", "", ""
	for part := range strings.SplitSeq(strings.ToLower(style), ";") {
		name, value, _ := strings.Cut(part, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(name) {
		case "color":
			color = plainColor(value)
		case "background", "background-color":
			background = plainColor(value)
		case "font-size":
			if value == "1px" || value == "0.1px" || value == ".1px" {
				small = "font-size:" + value
			}
		}
	}
	switch {
	case color != "" && color == background:
		return fmt.Sprintf("color %s on the same background", prose.Cut(color, 30))
	case color == "transparent":
		return "color:transparent"
	}
	return small
}

// plainColor spells the common ways to write white and black alike.
func plainColor(value string) string {
	value = strings.ReplaceAll(value, " ", "")
	switch value {
	case "white", "#fff", "#ffffff", "rgb(255,255,255)", "rgba(255,255,255,1)":
		return "#ffffff"
	case "black", "#000", "#000000", "rgb(0,0,0)":
		return "#000000"
	case "rgba(0,0,0,0)":
		return "transparent"
	}
	return value
}
