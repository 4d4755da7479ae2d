package datapack

import (
	"cmp"
	"context"
	"fmt"
	"net/url"

	"ace/internal/website/crawl"
	"ace/internal/website/datapack/generate"
	"ace/internal/website/datapack/markup"
	"ace/internal/website/datapack/rules"
	"ace/internal/website/datapack/schemaorg"
	"ace/internal/website/dom"
)

// Options are the parts of a Packer that have defaults.
type Options struct {
	Crawl *crawl.Options // of every run; nil: its defaults
}

// Packer makes packs. It may be used by several callers at once.
type Packer struct {
	fetcher   crawl.Fetcher
	crawl     *crawl.Options
	release   string
	checker   *rules.Checker
	generator *generate.Generator
}

// New returns a packer that reads websites through a fetcher. It fails only if
// the embedded vocabulary is damaged.
func New(fetcher crawl.Fetcher, o *Options) (*Packer, error) {
	if o == nil {
		o = new(Options)
	}
	v, err := schemaorg.Load()
	if err != nil {
		return nil, err
	}
	c := rules.New(v)
	return &Packer{
		fetcher: fetcher, crawl: o.Crawl, release: v.Release(), checker: c,
		generator: generate.New(v, c),
	}, nil
}

// Request is what a pack is asked for.
type Request struct {
	URL      string // of the website, with or without its scheme
	MaxPages int    // 0: crawl.DefaultPages; at most crawl.MaxPages
	FAQ      bool   // make a FAQPage of questions and answers, although Google shows no result for it
}

// Finding is what Check says about one page.
type Finding struct {
	Types    []string // of the things that the page describes, sorted
	Issues   []rules.Issue
	Features []rules.Eligibility
}

// Check judges the structured data of one page. page is the HTML in UTF-8; a
// page that cannot be read as a tree is one issue. It is the port that the
// readiness audit takes.
func (p *Packer) Check(page []byte, address string) Finding {
	d, err := dom.Parse(page, address, "text/html; charset=utf-8")
	if err != nil {
		return Finding{Issues: []rules.Issue{unreadable(err)}}
	}
	g := markup.Extract(d)
	report := p.checker.Check(d, g)
	return Finding{Types: types(g), Issues: report.Issues, Features: report.Features}
}

func unreadable(err error) rules.Issue {
	return rules.Issue{
		Code: rules.Syntax, Severity: "error", Name: "page_unreadable",
		Message: fmt.Sprintf("The page cannot be read: %v.", err),
	}
}

// Run reads a website and makes its pack. progress may be nil; its stages are
// those of the crawl, then "check" and "pack".
//
// It returns the problems of crawl.Open and of crawl.Site.CheckReadable.
func (p *Packer) Run(ctx context.Context, r Request, progress crawl.Progress) (*Pack, error) {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	site, err := crawl.Open(ctx, p.fetcher, r.URL, p.crawl)
	if err != nil {
		return nil, err
	}
	pages, err := site.Sample(ctx, r.MaxPages, progress)
	if err != nil {
		return nil, fmt.Errorf("reading the pages of %s: %w", site.Origin.Host, err)
	}
	if err := site.CheckReadable(pages...); err != nil {
		return nil, err
	}
	pack := p.newPack(site, cmp.Or(min(r.MaxPages, crawl.MaxPages), crawl.DefaultPages))
	pack.Limits.Requests, pack.Limits.Bytes = site.Requests(), site.Bytes()
	if err := p.fill(ctx, pack, pages, r, progress); err != nil {
		return nil, err
	}
	progress("pack", len(pages), len(pages))
	if err := pack.finish(); err != nil {
		return nil, err
	}
	return pack, nil
}

// read is a page on its way through the run.
type read struct {
	page   *Page
	source *generate.Page
	report rules.Report
}

func (p *Packer) fill(ctx context.Context, pack *Pack, pages []*crawl.Page, r Request, progress crawl.Progress) error {
	var all []*read
	var sources []*generate.Page
	for i, c := range pages {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("checking the pages: %w", err)
		}
		one := p.readPage(c)
		all = append(all, one)
		if one.source != nil {
			sources = append(sources, one.source)
		}
		progress("check", i+1, len(pages))
	}
	site := p.generator.Site(sources)
	pack.site(site)
	for _, one := range all {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("writing the pages: %w", err)
		}
		if one.source != nil {
			one.page.write(p.generator.Page(one.source, site, &one.report, &generate.Options{FAQ: r.FAQ}),
				one.source.Doc)
		}
		pack.Pages = append(pack.Pages, one.page)
	}
	return nil
}

// readPage reads and judges one page. Pages that are none, and responses with other
// than 200, are reported and skipped.
func (p *Packer) readPage(c *crawl.Page) *read {
	one := &read{page: newPage(c)}
	if !c.OK() {
		return one
	}
	d, err := dom.Parse(c.Document.Source, c.URL.String(), "text/html; charset=utf-8")
	if err != nil {
		one.page.Failure = err.Error()
		one.page.Issues = []rules.Issue{unreadable(err)}
		return one
	}
	g := markup.Extract(d)
	one.report = p.checker.Check(d, g)
	one.page.found(g, one.report)
	one.source = &generate.Page{Doc: d, Graph: g, Home: atRoot(c.URL)}
	return one
}

func atRoot(u *url.URL) bool { return u.Path == "" || u.Path == "/" }
