package llmsdraft

import (
	"context"
	"strings"

	"ace/internal/protocol/llmstxt"
	"ace/internal/website/crawl"
)

// Twins lists which pages are available as Markdown.
type Twins struct {
	// Negotiated says whether the first page is text/markdown for clients that ask
	// for it by the header Accept: yes, no, or unknown.
	Negotiated string   `json:"negotiated"`
	Checked    []Twin   `json:"checked"`
	Advice     []string `json:"advice"`
}

// Twin is the Markdown form of one page.
type Twin struct {
	Page     string `json:"page"`
	Address  string `json:"address"`
	Declared bool   `json:"declared"` // by a link element of the page
	// State is found, missing, not_markdown, or unknown.
	State string `json:"state"`
}

// twinOf is the address at which readers look for the twin of a page: its own
// and .md, after index.html for a folder.
func twinOf(p *page) string {
	u := *p.url
	if strings.HasSuffix(u.Path, "/") {
		u.Path += "index.html"
	}
	u.Path, u.RawPath = u.Path+".md", ""
	return u.String()
}

// lookForTwins asks for some twins of chosen pages: those that pages name, and
// the usual addresses until three are missing.
func (w *work) lookForTwins(ctx context.Context) error {
	w.twins = Twins{Negotiated: "unknown", Checked: []Twin{}, Advice: []string{}}
	w.found = map[string]string{}
	res, err := w.site.Fetch(ctx, crawl.Request{URL: w.home.url.String(), Accept: "text/markdown"})
	if err != nil {
		return err
	}
	if res.OK() {
		w.twins.Negotiated = "no"
		if res.MediaType() == "text/markdown" {
			w.twins.Negotiated = "yes"
		}
	}
	absent := 0
	for _, declared := range []bool{true, false} {
		for _, p := range flat(w.sections) {
			if !p.read || p.twinChecked || (p.twin != "") != declared || len(w.twins.Checked) >= maxTwinChecks ||
				absent >= 3 {
				continue
			}
			t, err := w.askTwin(ctx, p)
			if err != nil {
				return err
			}
			w.twins.Checked = append(w.twins.Checked, t)
			if t.State == "unknown" {
				break
			}
			if t.State != "found" && !declared {
				absent++
			}
		}
	}
	w.advise()
	return nil
}

func (w *work) askTwin(ctx context.Context, p *page) (Twin, error) {
	p.twinChecked = true
	t := Twin{Page: p.url.String(), Address: p.twin, Declared: p.twin != "", State: "unknown"}
	if t.Address == "" {
		t.Address = twinOf(p)
	}
	res, err := w.site.Fetch(ctx,
		crawl.Request{URL: t.Address, Accept: "text/markdown, text/plain;q=0.9, */*;q=0.1", DecodedLimit: 256 << 10})
	if err != nil {
		return t, err
	}
	kind := res.MediaType()
	switch {
	case res.Failure.Ours() && res.Failure != crawl.ByRobots:
	case !res.OK():
		t.State = "missing"
	case kind != "text/markdown" && kind != "text/plain" && kind != "text/x-markdown" || looksHTML(res.Body):
		t.State = "not_markdown"
	default:
		t.State = "found"
		w.found[t.Page] = t.Address
	}
	return t, nil
}

func looksHTML(body []byte) bool {
	for _, f := range llmstxt.Check(body, nil).Findings {
		if f.Code == "html" {
			return true
		}
	}
	return false
}

// advise says what to do about twins.
func (w *work) advise() {
	say := func(s string) { w.twins.Advice = append(w.twins.Advice, s) }
	known, found, undeclared, broken := 0, 0, 0, 0
	for _, t := range w.twins.Checked {
		if t.State == "unknown" {
			continue
		}
		known++
		switch {
		case t.State == "found":
			found++
			if !t.Declared {
				undeclared++
			}
		case t.Declared:
			broken++
		}
	}
	switch {
	case known == 0:
	case found == 0:
		say("No page that was looked at has a Markdown twin. Publish one beside each page of the draft, at its own " +
			"address and .md (index.html.md for a folder); the folder twins of this result holds a first version of " +
			"each.")
	case found < known:
		say("Some pages have a Markdown twin and some have none; the folder twins of this result holds a first " +
			"version of those that are missing.")
	default:
		say("All pages that were looked at have a Markdown twin. llms-twins.txt of this result is the draft with " +
			"links to those that were found.")
	}
	if undeclared > 0 || known > 0 && found == 0 {
		say(`Name the twin in the head of its page: <link rel="alternate" type="text/markdown" href="…">.`)
	}
	if broken > 0 {
		say("A page names a twin that is not there, or is no Markdown: remove the link element or fix its URL.")
	}
	if known > 0 {
		say("Serve twins as text/markdown; charset=utf-8 with X-Robots-Tag: noindex and a Link header with " +
			"rel=canonical to the page, so that search engines list the page alone.")
	}
	if w.twins.Negotiated == "no" {
		say("The first page answers HTML to who asks for text/markdown. Answering Markdown there, with Vary: Accept, " +
			"saves readers the second address.")
	}
}
