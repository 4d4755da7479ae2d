package datapack

import (
	"encoding/json"
	"fmt"
	"slices"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/crawl"
	"ace/internal/website/datapack/generate"
	"ace/internal/website/datapack/ld"
	"ace/internal/website/datapack/markup"
	"ace/internal/website/datapack/rules"
	"ace/internal/website/dom"
)

// States of a pack.
const (
	StatusComplete = "complete" // every page of the sample was read
	StatusPartial  = "partial"  // some pages were not
)

// Pack is the work that is delivered. Its JSON is stable: the same pages give
// the same bytes.
type Pack struct {
	Version string  `json:"pack_version"`
	Target  Target  `json:"target"`
	Status  string  `json:"status"`
	Reason  string  `json:"reason,omitempty"`
	Summary Summary `json:"summary"`
	Site    Site    `json:"site"`
	Pages   []*Page `json:"pages"`
	Install Install `json:"install"`
	Ruleset Ruleset `json:"ruleset"`
	Limits  Limits  `json:"limits"`
	Zip     []byte  `json:"zip,omitempty"` // of Files, in base64
	files   []File
}

// Target is the website.
type Target struct {
	Input    string `json:"input"`
	Origin   string `json:"origin"`
	FinalURL string `json:"final_url,omitempty"`
}

// Summary counts over all pages.
type Summary struct {
	Pages     int            `json:"pages"`
	Read      int            `json:"pages_read"`
	Things    int            `json:"things_found"`
	Errors    int            `json:"errors"`
	Warnings  int            `json:"warnings"`
	Issues    map[string]int `json:"issues"` // by code
	Generated int            `json:"pages_generated"`
	Eligible  []string       `json:"eligible"` // features that some page qualifies for with the new data
	Before    []string       `json:"eligible_before"`
}

// Site is what the pages share.
type Site struct {
	Organization ld.Node                    `json:"organization,omitempty"`
	WebSite      ld.Node                    `json:"website,omitempty"`
	Needs        []generate.Need            `json:"needs_input"`
	Provenance   map[string]generate.Source `json:"provenance"`
}

// Install is the block of the first page, as it is pasted.
type Install struct {
	HTML string `json:"html"`
	How  string `json:"how"`
}

// Ruleset says by what the pages were judged.
type Ruleset struct {
	SchemaOrg       string `json:"schemaorg"`
	FeaturesChecked string `json:"features_checked"`
	Attribution     string `json:"attribution"`
}

// Limits is what was read.
type Limits struct {
	Requests int   `json:"requests"`
	Bytes    int64 `json:"bytes"`
	MaxPages int   `json:"max_pages"`
}

// Page is one page of the pack.
type Page struct {
	URL         string                     `json:"url"`
	Status      int                        `json:"status"`
	Failure     string                     `json:"failure,omitempty"` // why the page was not read
	Kind        string                     `json:"page_type,omitempty"`
	Evidence    []generate.Evidence        `json:"evidence,omitempty"`
	Detected    []Detected                 `json:"detected"`
	Total       int                        `json:"detected_total"`
	Issues      []rules.Issue              `json:"issues"`
	Generated   ld.Node                    `json:"generated,omitempty"`
	Diff        string                     `json:"diff,omitempty"` // add, merge, replace, keep
	Install     string                     `json:"install,omitempty"`
	Patch       string                     `json:"patch,omitempty"` // unified diff of the page's source
	Needs       []generate.Need            `json:"needs_input"`
	Provenance  map[string]generate.Source `json:"provenance,omitempty"`
	Eligible    []rules.Eligibility        `json:"eligible"`        // with the new data
	EligibleNow []rules.Eligibility        `json:"eligible_before"` // as the page is
	Mended      []string                   `json:"mended,omitempty"`
	Notes       []string                   `json:"notes,omitempty"`
}

// Detected is one thing that a page describes.
type Detected struct {
	Source string                `json:"source"`
	Types  []string              `json:"type"`
	ID     string                `json:"id,omitempty"`
	Path   string                `json:"path"`
	Line   int                   `json:"line,omitempty"`
	Props  map[string][]Property `json:"props"`
}

// Property is a value of a thing: text, or a thing of its own.
type Property struct {
	Text string    `json:"text,omitempty"`
	Node *Detected `json:"node,omitempty"`
}

// Limits of what a pack repeats of the pages' own data.
const (
	maxDetected = 100 // things per page
	maxInside   = 4   // things inside one another
	maxValues   = 20  // of one property
	maxValue    = 300 // characters
)

func (p *Packer) newPack(site *crawl.Site, pages int) *Pack {
	pack := &Pack{
		Version: "1", Status: StatusComplete, Target: Target{Input: site.Input, Origin: site.Origin.String()},
		Pages: []*Page{},
		Site:  Site{Needs: []generate.Need{}, Provenance: map[string]generate.Source{}},
		Ruleset: Ruleset{
			SchemaOrg: p.release, FeaturesChecked: rules.FeaturesChecked,
			Attribution: "Vocabulary: schema.org, CC BY-SA 3.0, https://schema.org/docs/terms.html",
		},
		Limits:  Limits{Requests: site.Requests(), Bytes: site.Bytes(), MaxPages: pages},
		Summary: Summary{Issues: map[string]int{}, Eligible: []string{}, Before: []string{}},
	}
	if site.Home != nil && site.Home.URL != nil {
		pack.Target.FinalURL = site.Home.URL.String()
	}
	return pack
}

func (p *Pack) site(s *generate.Site) {
	p.Site.Organization, p.Site.WebSite = s.Organization, s.WebSite
	p.Site.Provenance = s.Sources
	if s.Needs != nil {
		p.Site.Needs = s.Needs
	}
}

func newPage(c *crawl.Page) *Page {
	page := &Page{
		URL: c.Asked, Failure: string(c.Failure), Detected: []Detected{}, Issues: []rules.Issue{},
		Needs:    []generate.Need{},
		Eligible: []rules.Eligibility{}, EligibleNow: []rules.Eligibility{},
	}
	if c.URL != nil {
		page.URL = c.URL.String()
	}
	if c.Response != nil {
		page.Status = c.Response.Status
		if page.Failure == "" && page.Status != 200 {
			page.Failure = fmt.Sprintf("status %d", page.Status)
		}
		if c.Response.Truncated {
			page.Notes = append(page.Notes, "The page is longer than is read; only its beginning was looked at.")
		}
	}
	return page
}

// found notes what the page says and how that was judged.
func (p *Page) found(g *markup.Graph, report rules.Report) {
	p.Total = len(g.All())
	for _, n := range g.Nodes {
		if len(p.Detected) < maxDetected {
			p.Detected = append(p.Detected, detected(n, 0))
		}
	}
	if report.Issues != nil {
		p.Issues = report.Issues
	}
	if report.Features != nil {
		p.EligibleNow = report.Features
	}
}

func detected(n *markup.Node, depth int) Detected {
	d := Detected{
		Source: string(n.Source), Types: n.Types, ID: excerpt.Chars(n.ID, maxValue), Path: n.Path, Line: n.Line,
		Props: map[string][]Property{},
	}
	if d.Types == nil {
		d.Types = []string{}
	}
	for _, prop := range n.Props {
		for _, v := range prop.Values {
			if len(d.Props[prop.Name]) == maxValues {
				break
			}
			switch {
			case v.Kind != markup.Thing:
				d.Props[prop.Name] = append(d.Props[prop.Name], Property{Text: excerpt.Chars(v.Text, maxValue)})
			case depth < maxInside:
				inner := detected(v.Node, depth+1)
				d.Props[prop.Name] = append(d.Props[prop.Name], Property{Node: &inner})
			default:
				d.Props[prop.Name] = append(d.Props[prop.Name], Property{Text: excerpt.Chars(v.String(), maxValue)})
			}
		}
	}
	return d
}

// write takes in what was made for the page.
func (p *Page) write(r *generate.Result, d *dom.Document) {
	p.Kind, p.Evidence, p.Diff, p.Mended = r.Kind, r.Evidence, r.Mode, r.Mended
	p.Provenance = r.Sources
	p.Notes = append(p.Notes, r.Notes...)
	if r.Needs != nil {
		p.Needs = r.Needs
	}
	p.Eligible = p.EligibleNow
	if r.Mode == generate.NoChange {
		return
	}
	p.Generated = r.Graph
	p.Install = ld.Script(r.Graph) + "\n"
	if r.Features != nil {
		p.Eligible = r.Features
	}
	_, patch, ok := install(d.Source, p.Install, r.Mode, fileName(p.URL))
	if !ok {
		p.Notes = append(p.Notes, "The lines of the page are too long for a diff: put the block into the head by hand.")
		return
	}
	p.Patch = patch
}

// types are the types of the things of a graph, sorted, each once.
func types(g *markup.Graph) []string {
	var all []string
	for _, n := range g.All() {
		if n.Source == markup.JSONLD || n.Source == markup.Microdata || n.Source == markup.RDFa {
			all = append(all, n.Types...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// finish counts, and writes the files.
func (p *Pack) finish() error {
	p.count()
	p.Install.How = "Put the block into the head of the page, once. Where diff is merge or replace, take the page's " +
		"other JSON-LD blocks out: the new one holds what they say."
	for _, page := range p.Pages {
		if page.Install != "" {
			p.Install.HTML = page.Install
			break
		}
	}
	return p.writeFiles()
}

func (p *Pack) count() {
	for _, page := range p.Pages {
		p.Summary.Pages++
		if page.Failure == "" {
			p.Summary.Read++
		}
		p.Summary.Things += page.Total
		for _, i := range page.Issues {
			p.Summary.Issues[string(i.Code)]++
			if i.Severity == "error" {
				p.Summary.Errors++
			} else {
				p.Summary.Warnings++
			}
		}
		if len(page.Generated) > 0 {
			p.Summary.Generated++
		}
		p.Summary.Eligible = eligible(p.Summary.Eligible, page.Eligible)
		p.Summary.Before = eligible(p.Summary.Before, page.EligibleNow)
	}
	if p.Summary.Read < p.Summary.Pages {
		p.Status = StatusPartial
		p.Reason = fmt.Sprintf("%d of %d pages could not be read.", p.Summary.Pages-p.Summary.Read, p.Summary.Pages)
	}
}

func eligible(all []string, features []rules.Eligibility) []string {
	for _, f := range features {
		if f.Status == rules.Eligible && !slices.Contains(all, f.Feature) {
			all = append(all, f.Feature)
		}
	}
	slices.Sort(all)
	return all
}

// JSON is the pack as JSON, indented.
func (p *Pack) JSON() ([]byte, error) {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing a pack: %w", err)
	}
	return append(data, '\n'), nil
}
