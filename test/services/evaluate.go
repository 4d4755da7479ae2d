package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/website/crawl"
	"ace/internal/website/datapack"
	"ace/internal/website/llmsdraft"
	"ace/internal/website/readiness"
	"ace/internal/website/webfetch"
)

// result is what the services delivered for a site.
type result struct {
	site   site
	draft  *llmsdraft.Draft
	pack   *datapack.Pack
	audit  *readiness.Report
	errs   map[string]error
	cost   map[string]cost
	scores map[string]*score // by service
	misses []string
}

// cost is what a run of a service needs.
type cost struct {
	duration time.Duration
	requests int
	memory   uint64 // allocated in all, in bytes
}

// score counts names and openings: given, right, and wanted.
type score struct{ names, openings counts }

type counts struct{ given, right, wanted int }

func (c *counts) add(o counts) {
	c.given += o.given
	c.right += o.right
	c.wanted += o.wanted
}

func (c counts) String() string {
	if c.given == 0 || c.wanted == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f %.3f (%d of %d)", float64(c.right)/float64(c.given), float64(c.right)/float64(c.wanted),
		c.right, c.wanted)
}

const (
	draftService = "llms-txt-draft"
	packService  = "structured-data-pack"
	auditService = "ai-search-audit"
)

func evaluate(ctx context.Context, server *server, s site, judged map[string]judgement) *result {
	r := &result{
		site: s, errs: map[string]error{}, cost: map[string]cost{},
		scores: map[string]*score{draftService: {}, packService: {}},
	}
	fetcher := webfetch.New(server, "https://store.example", nil)
	limits := &crawl.Options{Interval: -1}
	address := "http://" + s.host + s.first
	r.measure(server, draftService, func() (err error) {
		r.draft, err = llmsdraft.New(fetcher, &llmsdraft.Options{Crawl: limits}).
			Run(ctx, llmsdraft.Request{URL: address}, nil)
		return err
	})
	r.measure(server, packService, func() error {
		packer, err := datapack.New(fetcher, &datapack.Options{Crawl: limits})
		if err == nil {
			r.pack, err = packer.Run(ctx, datapack.Request{URL: address, MaxPages: crawl.MaxPages}, nil)
		}
		return err
	})
	r.measure(server, auditService, func() (err error) {
		r.audit, err = readiness.New(fetcher, &readiness.Options{Crawl: limits}).
			Run(ctx, readiness.Request{URL: address, MaxPages: crawl.MaxPages}, nil)
		return err
	})
	r.compare(judged)
	return r
}

func (r *result) measure(server *server, service string, run func() error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	server.requests = 0
	started := time.Now()
	if err := run(); err != nil {
		r.errs[service] = err
	}
	elapsed := time.Since(started)
	runtime.ReadMemStats(&after)
	r.cost[service] = cost{elapsed, server.requests, after.TotalAlloc - before.TotalAlloc}
}

// compare compares names and openings with the judgements.
func (r *result) compare(judged map[string]judgement) {
	if r.draft != nil {
		for _, section := range r.draft.Sections {
			for _, l := range section.Links {
				// Notes may come from a description; openings are compared where they come from the text.
				note := l.Notes
				if l.NotesFrom != "text" && note != "" {
					note = "*"
				}
				r.one(draftService, l.URL, l.Name, note, judged)
			}
		}
	}
	if r.pack != nil {
		for _, p := range r.pack.Pages {
			name, description, from := described(p)
			if from != "first paragraph" && description != "" {
				description = "*"
			}
			if p.Failure == "" && len(p.Generated) > 0 {
				r.one(packService, p.URL, name, description, judged)
			}
		}
	}
}

// described returns the name and description that the pack gives a page.
func described(p *datapack.Page) (name, description, from string) {
	graph, _ := p.Generated.Get("@graph").([]any)
	var doc struct {
		Graph []map[string]any `json:"@graph"`
	}
	if text, err := json.Marshal(p.Generated); err != nil || json.Unmarshal(text, &doc) != nil || len(graph) == 0 {
		return "", "", ""
	}
	for _, n := range doc.Graph {
		if id, _ := n["@id"].(string); !strings.HasSuffix(id, "#webpage") {
			continue
		}
		name, _ = n["name"].(string)
		description, _ = n["description"].(string)
		for key, source := range p.Provenance {
			if strings.HasSuffix(key, "Page.description") {
				from = source.From
			}
		}
	}
	return name, description, from
}

// one compares a page with its judgement, if there is one.
func (r *result) one(service, address, name, opening string, judged map[string]judgement) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	j, ok := judged[u.Path]
	if !ok {
		return
	}
	s := r.scores[service]
	miss := func(what, got, want string) {
		r.misses = append(
			r.misses,
			fmt.Sprintf("%s %s%s %s: got %q, want %q", service, r.site.host, u.Path, what, got, want),
		)
	}
	s.names.wanted++
	if name != "" {
		s.names.given++
	}
	if slices.ContainsFunc(j.names, func(n string) bool { return strings.EqualFold(n, name) }) {
		s.names.right++
	} else {
		miss("name", name, j.names[0])
	}
	if opening == "*" {
		return
	}
	if j.opening != "" {
		s.openings.wanted++
	}
	if opening != "" {
		s.openings.given++
	}
	switch {
	case opening == "" && j.opening == "":
	case j.opening != "" && strings.HasPrefix(strings.ToLower(opening), strings.ToLower(j.opening)):
		s.openings.right++
	default:
		miss("opening", opening, j.opening)
	}
}

// write writes what the services delivered, for a person to judge.
func (r *result) write(dir string) error {
	dir = filepath.Join(dir, r.site.host)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string]string{}
	if r.draft != nil {
		files["llms.txt"] = r.draft.LLMSTxt
		files["llms-report.md"] = r.draft.Markdown()
	}
	if r.pack != nil {
		files["pack.md"] = r.pack.Markdown()
		var b strings.Builder
		for _, p := range r.pack.Pages {
			text, err := json.MarshalIndent(p.Generated, "", " ")
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "== %s %s\n%s\n", p.URL, p.Kind, text)
		}
		files["graphs.txt"] = b.String()
	}
	if r.audit != nil {
		files["audit.md"] = r.audit.Markdown()
	}
	for service, err := range r.errs {
		files[service+".error"] = err.Error() + "\n"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// report prints the tables: the sites of the tuning set and those apart.
func report(out io.Writer, results []*result) {
	for _, r := range results {
		for _, m := range r.misses {
			_, _ = fmt.Fprintln(out, m)
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nset\tservice\tnames: precision, recall\topenings: precision, recall")
	for _, apart := range []bool{false, true} {
		for _, service := range []string{draftService, packService} {
			var sum score
			for _, r := range results {
				if r.site.apart == apart {
					sum.names.add(r.scores[service].names)
					sum.openings.add(r.scores[service].openings)
				}
			}
			set := map[bool]string{false: "tuning", true: "apart"}[apart]
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", set, service, sum.names, sum.openings)
		}
	}
	_, _ = fmt.Fprintln(w, "\nsite\tkind\tservice\ttime\trequests\tallocated\toutcome")
	for _, r := range results {
		for _, service := range []string{auditService, packService, draftService} {
			c := r.cost[service]
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d MB\t%s\n", r.site.host, r.site.kind, service,
				c.duration.Round(time.Millisecond), c.requests, c.memory>>20, r.outcome(service))
		}
	}
	_ = w.Flush()
}

// outcome says in a few words what a service delivered.
func (r *result) outcome(service string) string {
	if err := r.errs[service]; err != nil {
		if p, ok := problem.From(err); ok {
			return p.Code
		}
		return err.Error()
	}
	switch service {
	case auditService:
		return fmt.Sprintf("%d pages, score %d", len(r.audit.Pages), r.audit.Score)
	case packService:
		return fmt.Sprintf("%d pages, %d written", r.pack.Summary.Pages, r.pack.Summary.Generated)
	}
	return fmt.Sprintf("%d links, %d notes, %d bytes", r.draft.Stats.Links, r.draft.Stats.WithNotes, r.draft.Stats.Size)
}
