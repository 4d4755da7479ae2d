// Package generate writes JSON-LD for a page out of what the page itself says.
//
//	pages -> Site: name, logo, profiles, contact that they share
//	page  -> classify: kind by points of evidence
//	      -> extractors: each fact with its place (h1, meta, visible text …)
//	      -> nodes with stable ids: Organization, WebSite, WebPage,
//	         BreadcrumbList, ImageObject, and the thing that the page is about
//	      -> joined with the page's own JSON-LD, which is repaired first
//	      -> Result: one @graph, sources of all facts, and what is missing
//
// No fact is invented: a thing without its required facts is left out and
// Needs says what is missing. The same pages give the same bytes.
package generate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/datapack/ld"
	"ace/internal/website/datapack/markup"
	"ace/internal/website/datapack/rules"
	"ace/internal/website/datapack/schemaorg"
	"ace/internal/website/dom"
)

// Generator writes structured data. It never changes and may be shared.
type Generator struct {
	vocabulary *schemaorg.Vocabulary
	checker    *rules.Checker
}

// New returns a generator for a vocabulary.
func New(v *schemaorg.Vocabulary, c *rules.Checker) *Generator {
	return &Generator{vocabulary: v, checker: c}
}

// Modes say what to do with the block that was made.
const (
	Add      = "add"     // the page has no JSON-LD: put the block into its head
	Merge    = "merge"   // the block holds what the page's blocks say, and more: put it in their place
	Replace  = "replace" // alike, and the page's blocks have faults that it repairs
	NoChange = "keep"    // the page's blocks say all of it already
)

// Options are the parts of Page that have defaults.
type Options struct {
	FAQ bool // make a FAQPage of questions and answers, although Google shows no result for it
}

// Result is what was made for one page.
type Result struct {
	URL      string // that the ids are under
	Kind     string
	Evidence []Evidence
	Graph    ld.Node // the whole document; empty in mode Keep
	Mode     string
	Needs    []Need
	Sources  map[string]Source
	Notes    []string
	Mended   []string // what was changed in the page's own data
	Features []rules.Eligibility
}

// work is one page being made.
type work struct {
	*Generator
	*notebook
	v       *view
	site    *Site
	options Options
	kind    string
	name    Fact
	nodes   []ld.Node
}

// Page makes the block for one page of a site. report is what the page's own
// data was found to be.
func (g *Generator) Page(p *Page, s *Site, report *rules.Report, o *Options) *Result {
	if o == nil {
		o = new(Options)
	}
	v := newView(p)
	v.report = report
	w := &work{Generator: g, notebook: &notebook{sources: map[string]Source{}}, v: v, site: s, options: *o}
	kind, evidence := g.classify(v)
	w.kind, w.name = kind, v.name(s)
	res := &Result{URL: v.url, Kind: w.kind, Evidence: evidence, Sources: w.sources}
	if utility.MatchString(v.here().Path) {
		res.Mode, res.Notes = NoChange, []string{"Pages of this kind are not looked for: nothing was made."}
		return res
	}
	if robots := v.meta("robots", "googlebot"); strings.Contains(strings.ToLower(robots.Text), "noindex") {
		w.note("The page asks search engines to leave it out (noindex): data on it has no effect there.")
	}
	w.page()
	w.mainThing()
	w.join(res, report)
	if len(res.Graph) > 0 {
		res.Features = w.features(res.Graph)
	}
	w.missing(res.Features)
	w.answered(res.Graph)
	res.Needs, res.Notes = w.needs, w.notes
	for key, s := range res.Sources {
		if s.Page == v.url {
			s.Page = ""
			res.Sources[key] = s
		}
	}
	return res
}

// id is the id of a thing that the page describes.
func (w *work) id(fragment string) string { return w.v.url + "#" + fragment }

// page describes the page itself and what all pages share.
func (w *work) page() {
	kind := "WebPage"
	if w.vocabulary.IsA(w.kind, "WebPage") && w.kind != "FAQPage" {
		kind = w.kind
	}
	n := ld.Of("@type", kind, "@id", w.id("webpage"), "url", w.v.url)
	if w.name.ok() {
		n.Set("name", w.use(kind+".name", w.name))
	} else {
		w.need(kind+".name", "The page has neither a heading nor a title.")
	}
	description := w.v.description(w.site)
	n.Set("description", w.use(kind+".description", description))
	if !description.ok() {
		w.need(kind+".description", "The page has no description and no paragraph that could be one.")
	}
	n.Set("inLanguage", w.use(kind+".inLanguage", w.v.lang()))
	n.Set("isPartOf", ld.Ref(w.site.WebSite.Text("@id")))
	if w.v.Home && len(w.site.Organization) > 0 {
		n.Set("about", ld.Ref(w.site.Organization.Text("@id")))
	}
	var picture ld.Node
	if image := w.v.image(w.name.Text, w.site); image.ok() {
		n.Set("primaryImageOfPage", ld.Ref(w.id("primaryimage")))
		picture = ld.Of("@type", "ImageObject", "@id", w.id("primaryimage"), "url", w.use("ImageObject.url", image),
			"contentUrl", image.Text)
	}
	crumbs := w.breadcrumb()
	if len(crumbs) > 0 {
		n.Set("breadcrumb", ld.Ref(w.id("breadcrumb")))
	}
	w.nodes = append(w.nodes, n)
	for _, more := range []ld.Node{picture, crumbs, w.site.WebSite, w.site.Organization} {
		if len(more) > 0 {
			w.nodes = append(w.nodes, ld.Clone(more).(ld.Node))
		}
	}
}

func (w *work) breadcrumb() ld.Node {
	crumbs := w.v.breadcrumb(w.name)
	if len(crumbs) == 0 {
		return nil
	}
	var items []any
	for i, c := range crumbs {
		item := ld.Of("@type", "ListItem", "position", ld.Number(fmt.Sprint(i+1)), "name",
			w.use(fmt.Sprintf("BreadcrumbList.itemListElement[%d].name", i), c.name))
		item.Set("item", c.url)
		items = append(items, item)
	}
	return ld.Of("@type", "BreadcrumbList", "@id", w.id("breadcrumb"), "itemListElement", items)
}

// join puts the new nodes and the page's own JSON-LD into one graph.
func (w *work) join(res *Result, report *rules.Report) {
	k := &keeper{g: w.Generator, graph: w.v.Graph, report: report}
	ids := map[string]string{}
	taken := make([]bool, len(w.nodes))
	var others []ld.Node
	added := false
	blocks := k.blocks()
	for _, b := range blocks {
		own := k.node(b, 0)
		i := w.counterpart(own, taken)
		if i < 0 {
			if len(own) > 0 {
				others = append(others, own)
			}
			continue
		}
		taken[i] = true
		made := w.nodes[i]
		if id := own.Text("@id"); id != "" && id != made.Text("@id") {
			ids[made.Text("@id")] = id
		}
		w.owned(b, own, made)
		added = join(&own, made) || added
		if !own.Has("@id") {
			own = own.Insert(1, "@id", made.Text("@id"))
		}
		w.nodes[i] = own
	}
	added = added || slices.Contains(taken, false)
	all := make([]any, 0, len(w.nodes)+len(others))
	for _, n := range append(w.nodes, others...) {
		all = append(all, n)
	}
	res.Graph = ld.Of("@context", "https://schema.org", "@graph", ld.Rename(all, ids))
	res.Mended = k.mended
	res.Mode = mode(w.v.Graph, report, len(blocks) > 0, added || len(k.mended) > 0)
	if res.Mode == NoChange {
		res.Graph = nil
	}
	w.advise(res.Mode)
}

// owned notes that a thing was there already: what it says comes from there.
func (w *work) owned(b *markup.Node, own, made ld.Node) {
	types := made.Types()
	if len(types) == 0 {
		return
	}
	for key := range w.sources {
		kind, path, ok := strings.Cut(key, ".")
		if ok && kind == types[0] && says(own, strings.Split(inList.ReplaceAllString(path, ""), ".")) {
			delete(w.sources, key)
		}
	}
	w.sources[types[0]] = Source{
		From: "existing json-ld", Selector: b.Path, Line: b.Line,
		Text: excerpt.Chars(b.First("name"), 200),
	}
}

// inList is the place in a list that a path names.
var inList = regexp.MustCompile(`\[\d+\]`)

// mode says what to do with the block.
func mode(g *markup.Graph, report *rules.Report, blocks, more bool) string {
	faulty := slices.ContainsFunc(report.Issues, func(i rules.Issue) bool {
		return i.Source == string(markup.JSONLD) &&
			(i.Severity == "error" && i.Code != rules.Required || i.Code == rules.Mismatch)
	})
	switch {
	case !blocks && !slices.ContainsFunc(g.Faults, func(f markup.Fault) bool { return f.Source == markup.JSONLD }):
		return Add
	case faulty:
		return Replace
	case more:
		return Merge
	default:
		return NoChange
	}
}

// advise notes what the block cannot say.
func (w *work) advise(mode string) {
	for _, source := range []markup.Source{markup.Microdata, markup.RDFa} {
		for _, n := range w.v.Graph.Nodes {
			if n.Source == source && mode != NoChange && slices.ContainsFunc(n.Types,
				func(t string) bool {
					return w.vocabulary.IsA(t, w.kind) || w.vocabulary.IsA(w.kind, t) &&
						t != "Thing"
				}) {
				w.note(
					fmt.Sprintf(
						"The page describes its %s in %s as well: change both together, or take the attributes out.",
						n.Types[0], source))
			}
		}
	}
	if w.kind == "FAQPage" && !w.options.FAQ {
		w.note(
			"The page answers questions. A FAQPage is made on request only: Google Search has shown no FAQ results " +
				"since 2026-05-07.")
	}
}

// counterpart finds the new node that a node of the page is about; -1 is none.
func (w *work) counterpart(own ld.Node, taken []bool) int {
	types := own.Types()
	for i, n := range w.nodes {
		if !taken[i] && own.Text("@id") != "" && own.Text("@id") == n.Text("@id") {
			return i
		}
	}
	for i, n := range w.nodes {
		made := n.Types()
		if taken[i] || len(made) == 0 || made[0] == "ImageObject" {
			continue
		}
		alike := slices.ContainsFunc(types, func(t string) bool {
			return w.vocabulary.IsA(t, made[0]) || w.vocabulary.IsA(made[0], t) && t != "Thing" && t != "CreativeWork"
		})
		if !alike {
			continue
		}
		name := own.Text("name")
		if made[0] == "Organization" && name != "" && !strings.EqualFold(name, n.Text("name")) {
			continue // another organization
		}
		if url := own.Text("url"); made[0] != "Organization" && url != "" && n.Text("url") != "" &&
			strings.TrimSuffix(url, "/") != strings.TrimSuffix(n.Text("url"), "/") {
			continue
		}
		return i
	}
	return -1
}

// features checks the finished graph: what the page qualifies for with it.
func (w *work) features(doc ld.Node) []rules.Eligibility {
	d, err := dom.Parse([]byte(ld.Script(doc)), w.v.Doc.URL.String(), "text/html; charset=utf-8")
	if err != nil {
		return nil
	}
	return w.checker.Check(w.v.Doc, markup.Extract(d)).Features
}

// missing asks for what keeps the page's things from their results.
func (w *work) missing(features []rules.Eligibility) {
	for _, f := range features {
		if f.Status != rules.Missing || f.Feature == "merchant_listing" && slices.ContainsFunc(features,
			func(o rules.Eligibility) bool { return o.Feature == "product_snippet" && o.Status == rules.Missing }) {
			continue
		}
		for _, path := range f.Missing {
			if strings.HasPrefix(path, "offers.") && slices.ContainsFunc(w.needs,
				func(n Need) bool { return strings.Contains(n.Path, ".offers") }) {
				continue
			}
			w.need(f.Type+"."+path, f.Name+" asks for it and the page does not say it.")
		}
	}
}

// answered takes off what the finished graph says after all: the page's own
// data may know what its text does not show.
func (w *work) answered(doc ld.Node) {
	nodes, _ := doc.Get("@graph").([]any)
	w.needs = slices.DeleteFunc(w.needs, func(need Need) bool {
		kind, path, ok := strings.Cut(need.Path, ".")
		if slices.ContainsFunc(w.site.Needs, func(n Need) bool { return n.Path == need.Path }) {
			return true // reported once for all pages
		}
		return ok && slices.ContainsFunc(nodes, func(v any) bool {
			n, ok := v.(ld.Node)
			return ok && slices.Contains(n.Types(), kind) && says(n, strings.Split(path, "."))
		})
	})
}

func says(n ld.Node, steps []string) bool {
	v := n.Get(steps[0])
	if v == nil || len(steps) == 1 {
		return v != nil
	}
	inner, ok := v.(ld.Node)
	return ok && (ld.IsRef(inner) || says(inner, steps[1:]))
}
