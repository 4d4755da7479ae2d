package reportpage

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strings"

	"ace/internal/website/readiness"
	"ace/internal/website/readiness/prose"
)

// view is what the template shows.
type view struct {
	CSS        template.CSS
	Report     *readiness.Report
	Host       string
	Date       string
	Verdict    string
	Mood       string // class of the score: good, fair or poor
	Gauge      gauge
	Notes      []string
	Mix        []segment // results of all checks
	Lost       []loss
	Fixes      []fix
	Categories []category
	Bots       []botGroup
	Pages      []page
	Ladder     []rung
	Agents     []checkView
	Method     []string
	Visits     []visit
	Coverage   float64 // percent
	Facts      string  // how much was read
}

// gauge is the arc of the score: lengths along a circle of radius 84.
type gauge struct {
	Track, Value float64
	Circle       float64
	CapAngle     float64 // where the score is held; -1: nowhere
	Cap          int
}

// segment is one piece of a bar that is 100 wide.
type segment struct {
	Class, Label string
	Count        int
	X, Width     float64
}

// loss is what one check takes off the score.
type loss struct {
	ID, Title, Class string
	Points           string
	Width            float64 // of 100
}

type fix struct {
	Number int
	Check  checkView
	Effort string
	Gain   string // points of the score at most
}

type category struct {
	readiness.Category
	Class    string
	Measured bool
	Checks   []checkView
	Open     int // checks with something to repair
}

type checkView struct {
	readiness.Check
	Class    string // of the status
	Word     string
	Mark     string
	Percent  int
	Counts   bool
	Rows     []rowView
	More     int // rows that are left out
	Docs     string
	Worst    rowView
	Evidence string
	Effort   string
}

type rowView struct {
	readiness.Row
	Class, Mark, Word, Path, Place string
	Others                         []string // further paths where the same was found
}

// alike puts rows that say the same into one.
func alike(rows []readiness.Row) []rowView {
	var out []rowView
	for _, r := range rows {
		i := slices.IndexFunc(out,
			func(o rowView) bool { return o.Status == r.Status && o.Observed == r.Observed && o.Line == r.Line })
		if i >= 0 {
			out[i].Others = append(out[i].Others, path(r.URL))
			out[i].Place = ""
			continue
		}
		out = append(out, newRow(r))
	}
	return out
}

type botGroup struct {
	Title, Text string
	Bots        []readiness.Bot
}

type page struct {
	readiness.Page
	Path     string
	Class    string
	Result   string
	TTFB     float64 // width of 100
	Words    float64
	Kilobyte int64
	Types    string
}

type visit struct {
	readiness.Visit
	Number int
}

type rung struct {
	Level         int
	Name          string
	Reached, Last bool
}

const radius = 84

func newView(r *readiness.Report, css template.CSS) *view {
	v := &view{
		CSS: css, Report: r, Host: r.Host(), Date: r.StartedAt.Format("2 January 2006, 15:04 UTC"), Verdict: verdict(r),
		Mood:  mood(r.Score, r.Provisional),
		Notes: r.Notes(), Method: r.Method(),
		Facts: fmt.Sprintf(
			"%s, %s, %s in %.0f s",
			prose.Count(len(r.Pages), "page", "pages"),
			prose.Count(
				r.Limits.RequestsMade,
				"request",
				"requests",
			),
			size(r.Limits.BytesRead),
			r.Duration().Seconds(),
		),
	}
	for i, f := range r.Limits.Fetched {
		v.Visits = append(v.Visits, visit{f, i + 1})
	}
	v.Coverage = 100 * r.Coverage
	v.Gauge = newGauge(r)
	v.Mix = mix(r.Summary)
	v.Lost = losses(r)
	for i, c := range r.Fixes() {
		gain := 100 * float64(c.Weight) * (1 - c.Value) / float64(measured(r))
		v.Fixes = append(v.Fixes,
			fix{Number: i + 1, Check: newCheck(c, 3), Effort: c.Fix.EffortWord(), Gain: points(gain)})
	}
	for _, c := range r.Categories {
		out := category{Category: c, Class: mood(c.Score, c.Measured == 0), Measured: c.Measured > 0}
		for _, check := range r.Checks {
			if check.Category != c.ID {
				continue
			}
			out.Checks = append(out.Checks, newCheck(check, 25))
			if check.Fix != nil {
				out.Open++
			}
		}
		v.Categories = append(v.Categories, out)
	}
	for _, c := range r.AgentChecks {
		v.Agents = append(v.Agents, newCheck(c, 3))
	}
	v.Bots = botGroups(r.Bots)
	v.Pages = pageRows(r.Pages)
	v.Ladder = ladder(r.Agent)
	return v
}

func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d KB", (bytes+1023)>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
}

func mood(score int, unsure bool) string {
	switch {
	case unsure:
		return "unknown"
	case score >= 75:
		return "good"
	case score >= 50:
		return "fair"
	}
	return "poor"
}

// newGauge draws three quarters of a circle.
func newGauge(r *readiness.Report) gauge {
	circle := 2 * math.Pi * radius
	g := gauge{Circle: circle, Track: circle * 0.75, Value: circle * 0.75 * float64(r.Score) / 100, CapAngle: -1}
	if len(r.Caps) > 0 {
		g.Cap = slices.MinFunc(r.Caps, func(a, b readiness.Cap) int { return a.Limit - b.Limit }).Limit
		g.CapAngle = 135 + 270*float64(g.Cap)/100
	}
	return g
}

func mix(s readiness.Summary) []segment {
	all := []segment{
		{Class: "pass", Label: "pass", Count: s.Pass},
		{Class: "partial", Label: "partly", Count: s.Partial},
		{Class: "fail", Label: "fail", Count: s.Fail},
		{Class: "na", Label: "do not apply", Count: s.NA},
		{Class: "unknown", Label: "not measured", Count: s.Unknown},
	}
	total := 0
	for _, m := range all {
		total += m.Count
	}
	x := 0.0
	for i := range all {
		all[i].X, all[i].Width = x, 100*float64(all[i].Count)/float64(max(total, 1))
		x += all[i].Width
	}
	return slices.DeleteFunc(all, func(m segment) bool { return m.Count == 0 })
}

// measured is the weight that the score is made of.
func measured(r *readiness.Report) int {
	sum := 0
	for _, c := range r.Categories {
		sum += c.Measured
	}
	return max(sum, 1)
}

// verdict is the sentence beside the score, which it does not repeat.
func verdict(r *readiness.Report) string {
	if r.Provisional {
		return r.Verdict()
	}
	return r.Headline()
}

// losses are the checks that take points off, the costliest first.
func losses(r *readiness.Report) []loss {
	type lost struct {
		readiness.Check
		points float64
	}
	var all []lost
	for _, c := range r.Checks {
		if p := 100 * float64(c.Weight) * (1 - c.Value) / float64(measured(r)); c.Fix != nil && p >= 0.05 {
			all = append(all, lost{c, p})
		}
	}
	slices.SortStableFunc(all, func(a, b lost) int {
		if a.points > b.points {
			return -1
		}
		if a.points < b.points {
			return 1
		}
		return 0
	})
	var out []loss
	for _, l := range all[:min(len(all), 12)] {
		out = append(out, loss{
			ID: l.ID, Title: l.Title, Class: string(l.Status), Points: points(l.points),
			Width: 100 * l.points / all[0].points,
		})
	}
	return out
}

func points(p float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", p), ".0")
}

var marks = map[readiness.Status]string{
	readiness.Pass: "✓", readiness.Some: "◐", readiness.Fail: "✕",
	readiness.NA: "–", readiness.Unknown: "?",
}

var evidences = map[string]string{
	"A": "documented by operators", "B": "a standard", "C": "research or broad practice",
	"D": "an emerging convention, not in the score",
}

func newCheck(c readiness.Check, most int) checkView {
	v := checkView{
		Check: c, Class: string(c.Status), Word: c.Status.Word(), Mark: marks[c.Status],
		Percent: int(math.Round(100 * c.Value)),
		Counts:  c.Status != readiness.NA && c.Status != readiness.Unknown, Evidence: evidences[c.Evidence],
		Worst: newRow(c.Worst()),
	}
	if c.Fix != nil {
		v.Effort = c.Fix.EffortWord()
		if u, err := url.Parse(c.Fix.DocsURL); err == nil {
			v.Docs = strings.TrimPrefix(u.Host, "www.")
		}
	}
	rows := slices.Clone(c.Pages)
	order := []readiness.Status{readiness.Fail, readiness.Some, readiness.Pass, readiness.Unknown, readiness.NA}
	slices.SortStableFunc(rows,
		func(a, b readiness.Row) int { return slices.Index(order, a.Status) - slices.Index(order, b.Status) })
	groups := alike(rows)
	v.Rows = groups[:min(len(groups), most)]
	for _, g := range groups[len(v.Rows):] {
		v.More += 1 + len(g.Others)
	}
	return v
}

func newRow(r readiness.Row) rowView {
	v := rowView{Row: r, Class: string(r.Status), Mark: marks[r.Status], Word: r.Status.Word(), Path: path(r.URL)}
	switch {
	case r.Line > 0 && r.Byte > 0:
		v.Place = fmt.Sprintf("line %d, byte %d", r.Line, r.Byte)
	case r.Line > 0:
		v.Place = fmt.Sprintf("line %d", r.Line)
	}
	return v
}

// path is an address without the website's own name.
func path(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.RequestURI()
}

func botGroups(bots []readiness.Bot) []botGroup {
	groups := []botGroup{
		{Title: "Search", Text: "They build the indexes that answers are made from."},
		{Title: "For people", Text: "They open a page because somebody asks for it."},
		{Title: "Training", Text: "They collect text for models. Your choice; it does not touch search or the score."},
	}
	for i, purpose := range []string{"search", "user", "training"} {
		for _, b := range bots {
			if b.Purpose == purpose {
				groups[i].Bots = append(groups[i].Bots, b)
			}
		}
	}
	return groups
}

func pageRows(pages []readiness.Page) []page {
	slowest, longest := int64(1000), 500
	for _, p := range pages {
		slowest, longest = max(slowest, p.TTFB), max(longest, p.WordsMain)
	}
	var out []page
	for _, p := range pages {
		v := page{
			Page: p, Path: path(p.URL), Class: mood(p.Score, p.Score < 0), Kilobyte: (p.Bytes + 1023) >> 10,
			TTFB: 100 * float64(p.TTFB) / float64(slowest), Words: 100 * float64(p.WordsMain) / float64(longest),
			Types: strings.Join(p.Types, ", "),
		}
		v.Result = fmt.Sprint(p.Status)
		if p.Failure != "" {
			v.Result = strings.ReplaceAll(p.Failure, "_", " ")
		}
		out = append(out, v)
	}
	return out
}

func ladder(a readiness.AgentLevel) []rung {
	var rungs []rung
	for i, name := range readiness.LevelNames() {
		if i > 0 {
			rungs = append(rungs, rung{Level: i, Name: name, Reached: i <= a.Level, Last: i == a.Level})
		}
	}
	return rungs
}
