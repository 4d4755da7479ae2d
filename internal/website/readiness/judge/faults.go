package judge

import "ace/internal/website/crawl"

// Fault is one so grave that it bounds the score.
type Fault struct {
	ID     string
	Limit  int // of the score
	Reason string
}

// Faults returns what bounds the score of a website.
func (a *Audit) Faults() []Fault {
	var faults []Fault
	home := a.Home()
	failed := home.Failure != "" && !home.Failure.Ours() || home.Failure == "" && home.Response.Status != 200
	if failed && home.Challenge() == "" {
		faults = append(faults,
			Fault{"unreachable", 0, "The page that was named cannot be read: " + pageStatus(a, home).Observed + "."})
	}
	if a.SearchBlocked() {
		faults = append(faults,
			Fault{
				"search_bots_blocked", 30,
				"robots.txt keeps every crawler for search out of every page of the sample.",
			})
	}
	if !home.OK() {
		return faults
	}
	for _, c := range []struct {
		finding Finding
		fault   Fault
	}{
		{pageNoindex(a, home), Fault{"home_noindex", 40, "The page that was named asks not to be indexed."}},
		{
			pageText(a, home),
			Fault{"no_text_without_scripts", 55, "The page that was named has no text before scripts run."},
		},
		{pageSnippet(a, home), Fault{"snippet_blocked", 60, "The page that was named forbids to show its text."}},
	} {
		if c.finding.Counts() && c.finding.Value == 0 {
			faults = append(faults, c.fault)
		}
	}
	return faults
}

// Text is what a page holds, in numbers.
type Text struct {
	Visible, Main int      // words
	Types         []string // of its structured data
}

// Text measures a page that could be parsed.
func (a *Audit) Text(p *crawl.Page) Text {
	f := a.factsOf(p)
	return Text{Visible: f.visibleWords, Main: p.Document.MainWords, Types: f.types}
}
