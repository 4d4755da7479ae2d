package readiness

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"ace/internal/website/readiness/prose"
)

// Markdown is the report to read and to pass on: verdict, what to repair first
// with text to copy, all checks, crawlers, pages, method and limits.
func (r *Report) Markdown() string {
	w := &mdWriter{}
	w.line("# AI search readiness of %s", inline(r.Host()))
	w.line("")
	w.line("**%s** %s", inline(r.Verdict()), inline(r.Headline()))
	w.line("")
	w.line("Audited %s · %s · report %s", r.StartedAt.Format("2006-01-02 15:04 UTC"), inline(r.Target.FinalURL), r.ID)
	for _, n := range r.Notes() {
		w.line("")
		w.line("> %s", inline(n))
	}
	r.writeScores(w)
	r.writeFixes(w)
	r.writeChecks(w)
	r.writeAgents(w)
	r.writeBots(w)
	r.writePages(w)
	r.writeMethod(w)
	return w.b.String()
}

// Host is the host of the website as people write it.
func (r *Report) Host() string {
	if u, err := url.Parse(r.Target.Origin); err == nil && u.Host != "" {
		return u.Host
	}
	return r.Target.Origin
}

// Verdict is the result in one sentence.
func (r *Report) Verdict() string {
	switch {
	case r.Provisional:
		return fmt.Sprintf("%d of 100, grade %s (provisional: %.0f %% of the checks by weight could be measured).",
			r.Score, r.Grade, 100*r.Coverage)
	}
	return fmt.Sprintf("%d of 100, grade %s.", r.Score, r.Grade)
}

// Headline says where the website is strong and where it is not.
func (r *Report) Headline() string {
	switch {
	case r.Provisional:
		return "Much of it could not be measured."
	}
	sorted := slices.DeleteFunc(slices.Clone(r.Categories), func(c Category) bool { return c.Measured == 0 })
	slices.SortStableFunc(sorted, func(a, b Category) int { return b.Score - a.Score })
	if len(sorted) < 2 {
		return "Little could be judged."
	}
	best, worst := sorted[0], sorted[len(sorted)-1]
	switch open := r.Summary.Partial + r.Summary.Fail; {
	case open == 0:
		return "Nothing to fix."
	case worst.Score >= 90:
		return fmt.Sprintf("Sound in every part; %s left to fix.", prose.Count(open, "thing is", "things are"))
	default:
		return fmt.Sprintf("Strongest in %s, weakest in %s; %s to fix.", strings.ToLower(best.Title),
			strings.ToLower(worst.Title), prose.Count(open, "thing", "things"))
	}
}

// Notes are what a reader must know about the result before anything else.
func (r *Report) Notes() []string {
	var notes []string
	if r.Status == Partial {
		notes = append(notes,
			"The crawl ended early: the next page "+r.Limits.Stopped+". What was not reached is marked unknown.")
	}
	for _, c := range r.Caps {
		notes = append(notes, fmt.Sprintf("The score is held at %d at most. %s", c.Limit, c.Reason))
	}
	return notes
}

// Fixes are the checks of TopFixes.
func (r *Report) Fixes() []Check {
	var fixes []Check
	for _, id := range r.TopFixes {
		if c, ok := r.Check(id); ok && c.Fix != nil {
			fixes = append(fixes, c)
		}
	}
	return fixes
}

// Worst is the row of a check that lost most; the first of several. Rows that
// were not judged come last.
func (c *Check) Worst() Row {
	order := []Status{Fail, Some, Pass, Unknown, NA}
	if len(c.Pages) == 0 {
		return Row{}
	}
	return slices.MinFunc(c.Pages,
		func(a, b Row) int { return slices.Index(order, a.Status) - slices.Index(order, b.Status) })
}

// Count is how many rows of a check have a status.
func (c *Check) Count(s Status) int {
	n := 0
	for _, row := range c.Pages {
		if row.Status == s {
			n++
		}
	}
	return n
}

// EffortWord is the effort of a fix in words.
func (f *Fix) EffortWord() string { return [...]string{"", "minutes", "hours", "days"}[f.Effort] }

func (r *Report) writeScores(w *mdWriter) {
	w.line("\n## Scores\n")
	w.line("| Category | Score | Weight |\n| --- | ---: | ---: |")
	for _, c := range r.Categories {
		score := fmt.Sprint(c.Score)
		if c.Measured == 0 {
			score = "–"
		}
		w.line("| %s | %s | %d |", c.Title, score, c.Weight)
	}
	w.line("| **Total** | **%d** | **100** |", r.Score)
	s := r.Summary
	w.line("\n%d pass, %d partly, %d fail, %d do not apply, %d not measured. Coverage %.0f %%.", s.Pass, s.Partial,
		s.Fail, s.NA, s.Unknown, 100*r.Coverage)
}

func (r *Report) writeFixes(w *mdWriter) {
	fixes := r.Fixes()
	if len(fixes) == 0 {
		return
	}
	w.line("\n## Fix first")
	for i, c := range fixes {
		worst := c.Worst()
		w.line("\n### %d. %s\n", i+1, inline(c.Title))
		w.line("`%s` · weight %d · value %.2f · effort: %s\n", c.ID, c.Weight, c.Value, c.Fix.EffortWord())
		w.line("%s\n", inline(c.Why))
		w.line("Found at %s%s: %s\n", inline(worst.URL), place(worst), inline(worst.Observed))
		w.line("**Do:** %s", inline(c.Fix.Text))
		if c.Fix.Snippet != "" {
			w.code(c.Fix.Snippet)
		}
		if c.Fix.DocsURL != "" {
			w.line("\n<%s>", c.Fix.DocsURL)
		}
	}
}

func place(row Row) string {
	switch {
	case row.Line > 0 && row.Byte > 0:
		return fmt.Sprintf(", line %d (byte %d)", row.Line, row.Byte)
	case row.Line > 0:
		return fmt.Sprintf(", line %d", row.Line)
	}
	return ""
}

func (r *Report) writeChecks(w *mdWriter) {
	w.line("\n## All checks\n")
	w.line("| Check | Evidence | Weight | Result | Value | Found |\n| --- | :-: | ---: | --- | ---: | --- |")
	for _, c := range r.Checks {
		value := fmt.Sprintf("%.2f", c.Value)
		if c.Status == NA || c.Status == Unknown {
			value = "–"
		}
		worst := c.Worst()
		w.line("| `%s` %s | %s | %d | %s | %s | %s |", c.ID, inline(c.Title), c.Evidence, c.Weight, c.Status.Word(),
			value, inline(prose.Cut(worst.Observed, 160)))
	}
}

func (r *Report) writeAgents(w *mdWriter) {
	w.line("\n## For agents: level %d of 5, %s\n", r.Agent.Level, r.Agent.Name)
	w.line("Emerging conventions; they do not touch the score.")
	if len(r.Agent.Next) > 0 {
		w.line("The next level needs: %s.", "`"+strings.Join(r.Agent.Next, "`, `")+"`")
	}
	w.line("\n| Check | Result | Found |\n| --- | --- | --- |")
	for _, c := range r.AgentChecks {
		w.line("| `%s` %s | %s | %s |", c.ID, inline(c.Title), c.Status.Word(),
			inline(prose.Cut(c.Worst().Observed, 140)))
	}
}

func (r *Report) writeBots(w *mdWriter) {
	w.line("\n## Crawlers\n")
	w.line("| Crawler | Operator | For | May read | Pages | Rule |\n| --- | --- | --- | --- | ---: | --- |")
	for _, b := range r.Bots {
		may := "no"
		if b.Allowed {
			may = "yes"
		}
		w.line("| %s | %s | %s | %s | %s | %s |", b.Agent, b.Operator, b.Purpose, may, b.Pages, inline(b.Rule))
	}
}

func (r *Report) writePages(w *mdWriter) {
	w.line("\n## Pages\n")
	w.line("| Page | Status | First byte | Size | Words | Score |\n| --- | --- | ---: | ---: | ---: | ---: |")
	for _, p := range r.Pages {
		status := fmt.Sprint(p.Status)
		if p.Failure != "" {
			status = p.Failure
		}
		score := fmt.Sprint(p.Score)
		if p.Score < 0 {
			score = "–"
		}
		w.line("| %s | %s | %d ms | %d KB | %d | %s |", inline(p.URL), inline(status), p.TTFB, (p.Bytes+1023)/1024,
			p.WordsMain, score)
	}
}

func (r *Report) writeMethod(w *mdWriter) {
	w.line("\n## Method and limits\n")
	for _, text := range r.Method() {
		w.line("- %s", inline(text))
	}
}

// Method says how the result came about and what it does not say.
func (r *Report) Method() []string {
	return []string{
		fmt.Sprintf(
			"%s with the user agent %s, at most one every %.1f seconds, no scripts run, no cookies; robots.txt was "+
				"obeyed.", prose.Count(r.Limits.RequestsMade, "request", "requests"), r.Limits.RobotsToken,
			float64(r.Limits.IntervalMillis)/1000),
		fmt.Sprintf(
			"%s sampled: the one that was named, then up to three of each part of the website. Page checks are the "+
				"mean over the sample; the named page counts twice.", prose.Count(len(r.Pages), "page was",
				"pages were")),
		"Score = 100 × the sum of weight × value over the sum of weights, of what was measured. Some faults hold the " +
			"score down; they are named at the top.",
		"Evidence: A documents of the operators, B standards, C research or broad practice, D emerging convention " +
			"(never in the score).",
		"First priority has the fix with the highest weight × (1 − value) × share of pages ÷ effort.",
		fmt.Sprintf("Rules %s, crawlers as of %s, schema.org %s.", r.Ruleset.Version, r.Ruleset.BotsListDate,
			r.Ruleset.SchemaOrg),
		"The result says what crawlers and agents find on the website. It says nothing about rankings, traffic or " +
			"citations.",
	}
}

// Duration is how long the audit ran.
func (r *Report) Duration() time.Duration { return r.FinishedAt.Sub(r.StartedAt) }

type mdWriter struct{ b strings.Builder }

func (w *mdWriter) line(format string, args ...any) {
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

// code writes text to copy; the fence is longer than any inside.
func (w *mdWriter) code(text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	w.line("\n%s\n%s\n%s", fence, text, fence)
}

// inline escapes a foreign text, so that it stays text in a line or a cell.
func inline(s string) string {
	return strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;",
		">", "&gt;", "|", "\\|", "\n", " ", "\r", " ").Replace(s)
}
