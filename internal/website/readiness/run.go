package readiness

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/website/crawl"
	"ace/internal/website/readiness/judge"
	"ace/internal/website/readiness/prose"
)

// Options are the parts of an Auditor that have defaults.
type Options struct {
	// Crawl are the limits of the crawl.
	Crawl *crawl.Options
	// Validate judges structured data. Nil: only its syntax is checked, and the
	// report says so.
	Validate Validator
}

// Auditor audits websites. It is safe for concurrent use.
type Auditor struct {
	fetcher crawl.Fetcher
	o       Options
}

// New returns an auditor that reads websites with fetcher.
func New(fetcher crawl.Fetcher, o *Options) *Auditor {
	if o == nil {
		o = new(Options)
	}
	return &Auditor{fetcher: fetcher, o: *o}
}

// Request asks for the audit of one website.
type Request struct {
	URL      string `json:"url"`                 // with or without its scheme
	MaxPages int    `json:"max_pages,omitempty"` // of the sample; 0: crawl.DefaultPages, at most crawl.MaxPages
}

// Check refuses what can never be audited: invalid_url and invalid_max_pages
// (Invalid).
func (r Request) Check() error {
	if r.MaxPages < 0 || r.MaxPages > crawl.MaxPages {
		return problem.New(problem.Invalid, "invalid_max_pages",
			fmt.Sprintf("Ask for 1 to %d pages, or leave max_pages out for %d.", crawl.MaxPages,
				crawl.DefaultPages)).At("/max_pages")
	}
	_, _, err := crawl.ParseTarget(r.URL)
	return err
}

// Run audits a website. It ends before the deadline of ctx, with what was
// measured until then. progress may be nil; its stages are open, sitemap, pages,
// probes and report.
//
// It returns the problems of Check, of crawl.Open and of
// crawl.Site.CheckReadable. Whatever else is wrong with the website is in the
// report.
func (x *Auditor) Run(ctx context.Context, r Request, progress crawl.Progress) (*Report, error) {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	started := time.Now()
	progress("open", 0, 0)
	site, err := crawl.Open(ctx, x.fetcher, r.URL, x.o.Crawl)
	if err != nil {
		return nil, err
	}
	pages, err := site.Sample(ctx, r.MaxPages, progress)
	if err != nil {
		return nil, err
	}
	if err := site.CheckReadable(pages...); err != nil {
		return nil, err
	}
	a := &audit{Audit: judge.New(site, pages, started, x.o.Validate), found: map[*crawl.Page][]weighed{}}
	progress("probes", len(a.Pages), len(a.Pages))
	if err := a.gather(ctx); err != nil {
		return nil, err
	}
	progress("report", len(a.Pages), len(a.Pages))
	return a.report(r, started), nil
}

// audit is what is judged, and what was found on each page.
type audit struct {
	*judge.Audit
	found map[*crawl.Page][]weighed
	agent agentFiles
}

func (a *audit) report(in Request, started time.Time) *Report {
	site := a.Site
	r := &Report{
		Version: ReportVersion, Status: Complete, StartedAt: started.UTC(),
		Target: Target{
			Input: prose.Cut(in.URL, 500), Origin: strings.TrimSuffix(site.Origin.String(), "/"),
			FinalURL: prose.Cut(a.Home().URL.String(), 500),
		},
		Ruleset: Ruleset{Version: judge.RulesetVersion, BotsListDate: judge.BotsListDate, SchemaOrg: judge.SchemaOrg},
	}
	a.evaluate(r)
	limits := site.Limits()
	r.Limits = Limits{
		Pages: len(a.Pages), Requests: limits.MaxRequests, RequestsMade: site.Requests(), BytesRead: site.Bytes(),
		WireLimit: limits.WireLimit, DecodedLimit: limits.DecodedLimit, IntervalMillis: site.Gap().Milliseconds(),
		RobotsToken: limits.Agent,
	}
	for _, v := range site.Visits {
		r.Limits.Fetched = append(r.Limits.Fetched,
			Visit{
				Method: v.Method, URL: prose.Cut(v.URL, 300), Accept: prose.Cut(v.Accept, 60), Status: v.Status,
				Result: string(v.Failure), Bytes: v.Bytes,
			})
	}
	if why := site.Stopped(); why != "" {
		r.Status, r.Limits.Stopped = Partial, why.String()
	}
	r.FinishedAt = time.Now().UTC()
	r.identify()
	return r
}

// Budgets of the probes.
const (
	maxLinks     = 10
	maxEntries   = 4 // of the sitemap, besides those of the sample
	minEntries   = 3 // of the sample that are enough
	probeBytes   = 64 << 10
	maxElsewhere = 5 // canonical addresses that lead elsewhere
)

// gather asks for all that the checks need besides the pages.
func (a *audit) gather(ctx context.Context) error {
	steps := []func(context.Context) error{a.askPlain, a.askCanonicals, a.askAgents, a.askEntries, a.askLinks}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// askPlain asks for the website over http.
func (a *audit) askPlain(ctx context.Context) (err error) {
	origin := a.Site.Origin
	if origin.Scheme != "https" || origin.Port() != "" {
		return nil
	}
	plain := url.URL{Scheme: "http", Host: origin.Host, Path: "/"}
	a.Plain, err = a.Site.Probe(ctx,
		crawl.Request{URL: plain.String(), WireLimit: probeBytes, DecodedLimit: probeBytes})
	return err
}

// askCanonicals reads the originals that pages name, where they are others.
func (a *audit) askCanonicals(ctx context.Context) error {
	asked := 0
	for _, p := range a.Readable() {
		to := judge.CanonicalOf(p)
		u, err := url.Parse(to)
		if err != nil || to == p.URL.String() || !crawl.SameSite(u, p.URL) || a.Targets[to] != nil ||
			asked >= maxElsewhere {
			continue
		}
		asked++
		page, err := a.Site.Get(ctx, to)
		if err != nil {
			return err
		}
		a.Targets[to] = page.Response
	}
	return nil
}

// askEntries reads some addresses of the sitemap, if the sample holds few.
func (a *audit) askEntries(ctx context.Context) error {
	asked := map[string]bool{}
	for _, p := range a.Pages {
		asked[p.Asked] = true
	}
	var rest []string
	have := 0
	for _, m := range a.Site.Sitemaps {
		for _, e := range m.Entries {
			u, err := url.Parse(e.URL)
			switch {
			case asked[e.URL]:
				have++
			case err == nil && crawl.SameSite(u, a.Site.Origin) && len(rest) < 1000:
				rest = append(rest, e.URL)
			}
		}
	}
	if have >= minEntries {
		return nil
	}
	for i := range min(len(rest), maxEntries) {
		if err := a.probe(ctx, rest[i*len(rest)/min(len(rest), maxEntries)]); err != nil {
			return err
		}
	}
	return nil
}

// askLinks follows links of the sample that have not been followed: contact and
// about first, then each page in turn.
func (a *audit) askLinks(ctx context.Context) error {
	known := map[string]bool{}
	for _, p := range a.Pages {
		known[p.Asked], known[p.URL.String()] = true, true
	}
	var first, rest []string
	for _, p := range a.Readable() {
		own := 0
		for _, l := range p.Document.Links {
			if l.URL == nil || !strings.EqualFold(l.URL.Host, p.URL.Host) || known[l.URL.String()] ||
				a.Targets[l.URL.String()] != nil {
				continue
			}
			known[l.URL.String()] = true
			if judge.IsAbout(l.URL.Path, l.Text) || judge.IsContact(l.URL.Path, l.Text) {
				first = append(first, l.URL.String())
			} else if own++; own <= 3 {
				rest = append(rest, l.URL.String())
			}
		}
	}
	all := append(first[:min(len(first), 3)], rest...)
	for _, address := range all[:min(len(all), maxLinks)] {
		if err := a.probe(ctx, address); err != nil {
			return err
		}
	}
	return nil
}

// probe requests a URL and stores its response.
func (a *audit) probe(ctx context.Context, address string) error {
	res, err := a.Site.Fetch(ctx, crawl.Request{URL: address, WireLimit: probeBytes, DecodedLimit: probeBytes})
	if err == nil {
		a.Targets[address] = res
	}
	return err
}
