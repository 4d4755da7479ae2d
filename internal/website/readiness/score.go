package readiness

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"

	"ace/internal/website/crawl"
	"ace/internal/website/readiness/judge"
	"ace/internal/website/readiness/prose"
)

// least is the coverage below which a score is called provisional.
const least = 0.7

// weighed is a finding on a page and what it counts.
type weighed struct {
	judge.Finding
	weight int
}

// result runs one check.
func (a *audit) result(c *judge.Check) Check {
	out := Check{
		ID: c.ID, Title: c.Title, Category: c.Category, Scope: "page", Evidence: c.Evidence, Weight: c.Weight,
		Why: c.Why,
	}
	reach := 1.0
	if c.Page != nil {
		reach = a.overPages(c, &out)
	} else {
		f := c.Site(a.Audit)
		if !c.PerPage {
			out.Scope = "site"
		}
		out.Status, out.Value = f.Status(), round3(f.Value)
		if len(f.Rows) == 0 {
			f.Rows = []judge.AtAddress{{URL: f.URL, Finding: f.Finding}}
		}
		for _, r := range f.Rows {
			out.Pages = append(out.Pages, row(r.URL, r.Finding, c.Expected))
		}
	}
	if out.Status == Some || out.Status == Fail {
		out.Fix = &Fix{Effort: c.Effort, Text: c.Fix, DocsURL: c.Docs}
		out.Fix.Priority = round3(float64(c.Weight) * (1 - out.Value) * reach / float64(c.Effort))
		if c.Advise != nil {
			out.Fix.Text = cmp.Or(c.Advise(a.Audit), c.Fix)
		}
		if c.Snippet != nil {
			out.Fix.Snippet = c.Snippet(a.Audit)
		}
	}
	return out
}

// overPages evaluates each page of the sample; the home page counts twice. It
// returns the share of the pages that have something to fix.
func (a *audit) overPages(c *judge.Check, out *Check) float64 {
	sum, weight, faulty, judged := 0.0, 0.0, 0, 0
	unknown := false
	for i, p := range a.Pages {
		f := c.Page(a.Audit, p)
		a.found[p] = append(a.found[p], weighed{f, c.Weight})
		out.Pages = append(out.Pages, row(p.URL.String(), f, c.Expected))
		unknown = unknown || f.State == Unknown
		if !f.Counts() {
			continue
		}
		w := 1.0
		if i == 0 {
			w = 2
		}
		sum, weight, judged = sum+w*f.Value, weight+w, judged+1
		if f.Status() != Pass {
			faulty++
		}
	}
	switch {
	case judged > 0:
		mean := judge.Finding{Value: sum / weight}
		out.Value, out.Status = round3(mean.Value), mean.Status()
		return float64(faulty) / float64(judged)
	case unknown:
		out.Status = Unknown
	default:
		out.Status = NA
	}
	return 0
}

func row(url string, f judge.Finding, expected string) Row {
	return Row{
		URL: prose.Cut(url, 500), Status: f.Status(), Observed: prose.Cut(f.Observed, 400), Expected: expected,
		Line: f.Place.Line, Byte: f.Place.Byte,
	}
}

func round3(v float64) float64 { return math.Round(v*1000) / 1000 }

// evaluate runs all checks and sums them up.
func (a *audit) evaluate(r *Report) {
	rows := judge.Table()
	for i := range rows {
		r.Checks = append(r.Checks, a.result(&rows[i]))
	}
	score, coverage := total(r.Checks)
	r.Coverage = round3(coverage)
	r.Provisional = coverage < least
	r.Caps = []Cap{}
	for _, f := range a.Faults() {
		r.Caps = append(r.Caps, Cap(f))
		score = min(score, float64(f.Limit))
	}
	r.Score = int(math.Round(score))
	r.Grade = grade(r.Score)
	for _, c := range judge.Categories() {
		r.Categories = append(r.Categories, part(r.Checks, c))
	}
	r.Summary = summarize(r.Checks)
	r.TopFixes = topFixes(r.Checks)
	for _, b := range a.Matrix() {
		r.Bots = append(r.Bots, Bot(b))
	}
	a.judgeAgents(r)
	for _, p := range a.Pages {
		r.Pages = append(r.Pages, a.pageRow(p))
	}
}

// total is 100·ΣW·v/ΣW over what was measured, and how much of the weight that
// applies it is.
func total(checks []Check) (score, coverage float64) {
	sum, measured, all := 0.0, 0.0, 0.0
	for _, c := range checks {
		w := float64(c.Weight)
		if c.Status != NA {
			all += w
		}
		if c.Status == NA || c.Status == Unknown {
			continue
		}
		sum, measured = sum+w*c.Value, measured+w
	}
	if measured == 0 || all == 0 {
		return 0, 0
	}
	return 100 * sum / measured, measured / all
}

func part(checks []Check, category judge.Category) Category {
	out := Category{ID: category.ID, Title: category.Title}
	var own []Check
	for _, c := range checks {
		if c.Category != category.ID {
			continue
		}
		own = append(own, c)
		out.Weight += c.Weight
		if c.Status != NA && c.Status != Unknown {
			out.Measured += c.Weight
		}
	}
	value, _ := total(own)
	out.Score = int(math.Round(value))
	return out
}

func grade(score int) string {
	switch {
	case score >= 90:
		return "A"
	case score >= 75:
		return "B"
	case score >= 60:
		return "C"
	case score >= 40:
		return "D"
	}
	return "F"
}

func summarize(checks []Check) Summary {
	var s Summary
	for _, c := range checks {
		if c.Weight == 0 {
			continue
		}
		switch c.Status {
		case Pass:
			s.Pass++
		case Some:
			s.Partial++
		case Fail:
			s.Fail++
		case NA:
			s.NA++
		case Unknown:
			s.Unknown++
		}
	}
	return s
}

// topFixes are the checks whose repairing is worth most for its effort.
func topFixes(checks []Check) []string {
	var open []Check
	for _, c := range checks {
		if c.Fix != nil && c.Fix.Priority > 0 {
			open = append(open, c)
		}
	}
	slices.SortStableFunc(open, func(a, b Check) int {
		return cmp.Or(cmp.Compare(b.Fix.Priority, a.Fix.Priority), cmp.Compare(b.Weight, a.Weight))
	})
	ids := []string{}
	for _, c := range open[:min(len(open), 5)] {
		ids = append(ids, c.ID)
	}
	return ids
}

// pageRow sums up one page of the sample.
func (a *audit) pageRow(p *crawl.Page) Page {
	res := p.Response
	out := Page{
		URL: prose.Cut(p.URL.String(), 500), Status: res.Status, Failure: string(p.Failure),
		TTFB: res.FirstByte.Milliseconds(), Bytes: res.DecodedBytes,
		Types: []string{}, Score: -1,
	}
	if p.Document != nil {
		text := a.Text(p)
		out.WordsRaw, out.WordsMain, out.Lang = text.Visible, text.Main, prose.Cut(p.Document.Lang, 40)
		out.Types = append(out.Types, text.Types[:min(len(text.Types), 20)]...)
	}
	sum, weight := 0.0, 0.0
	for _, f := range a.found[p] {
		if f.Counts() && f.weight > 0 {
			sum, weight = sum+float64(f.weight)*f.Value, weight+float64(f.weight)
		}
	}
	switch {
	case !p.OK() && (p.Failure.Ours() || p.Challenge() != ""):
	case !p.OK():
		out.Score = 0
	case weight > 0:
		out.Score = int(math.Round(100 * sum / weight))
	}
	return out
}

// identify makes the id of a report of what it says, without its times.
func (r *Report) identify() {
	data, err := json.Marshal([]any{r.Target, r.Score, r.Checks, r.AgentChecks, r.Bots, r.Ruleset})
	if err != nil {
		return // plain structures always marshal
	}
	sum := sha256.Sum256(data)
	r.ID = "audit_" + hex.EncodeToString(sum[:10])
}
