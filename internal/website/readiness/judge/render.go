package judge

import (
	"golang.org/x/net/html"

	"ace/internal/website/crawl"
	"ace/internal/website/dom"
	"ace/internal/website/readiness/prose"
)

// Words of a page that needs no script to be read, and of one that does.
const (
	fullText = 250
	noText   = 60
)

// pageText: the main text is in the HTML, before any script runs.
func pageText(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	words := p.Document.MainWords
	if root := p.Document.AppRoot(); root != nil && words < noText {
		return Measured(0, "%s of main text, and <%s id=%q> waits for a script to fill it",
			prose.Count(words, "word", "words"), root.Data, prose.Cut(dom.Attr(root, "id"),
				30)).At(p.Document.Where(root))
	}
	return Measured(float64(words)/fullText, "%s of main text without scripts", prose.Count(words, "word", "words"))
}

// pageExtractable: what the page is about can be distinguished from what is around it.
func pageExtractable(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	f := a.factsOf(p)
	d := p.Document
	if d.MainWords < noText {
		return NotApplicable("%s of main text are too few to tell", prose.Count(d.MainWords, "word", "words"))
	}
	share := float64(d.MainWords) / float64(max(f.visibleWords, 1))
	value := 0.0
	if share >= 0.3 && (share <= 0.98 || f.main != nil) {
		value += 0.5
	}
	if f.main == nil {
		return Measured(value, "main text is %.0f %% of the visible words; no <main> and no single <article>",
			100*min(share, 1))
	}
	return Measured(value+0.5, "main text is %.0f %% of the visible words, in <%s>", 100*min(share, 1),
		f.main.Data).At(d.Where(f.main))
}

// Sizes that crawlers read to.
const (
	maxHTML  = 2 << 20
	maxStart = 512 << 10
)

// pageWeight: the page is read to its end, and its text comes early.
func pageWeight(a *Audit, p *crawl.Page) Finding {
	if p.Failure == crawl.TooComplex {
		return Measured(0, "the page %s", p.Failure)
	}
	if p.Failure == "" && p.Response.Truncated {
		return Measured(0, "%d KB were read and the page goes on", p.Response.DecodedBytes>>10)
	}
	if f, skip := a.needsPage(p); skip {
		return f
	}
	size := p.Response.DecodedBytes
	if size > maxHTML {
		return Measured(0, "%d KB of HTML", size>>10)
	}
	f := a.factsOf(p)
	for _, n := range []*html.Node{f.main, f.h1} {
		if at := p.Document.Where(n); at.Byte > maxStart {
			return Measured(0.5, "%d KB of HTML; the main text begins after %d KB", size>>10, at.Byte>>10).At(at)
		}
	}
	return Measured(1, "%d KB of HTML", (size+1023)>>10)
}

// adviseText distinguishes pages that wait for a script from those with little text.
func adviseText(a *Audit) string {
	for _, p := range a.Readable() {
		if p.Document.AppRoot() != nil {
			return ""
		}
	}
	return "No page waits for a script to fill it as a whole: these pages send few words. If scripts add text later, " +
		"render it on the server; if not, say more, or merge pages that have little to say."
}
