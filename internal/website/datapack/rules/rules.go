// Package rules judges structured data: by the vocabulary of schema.org, by what
// Google asks of pages that are to get a rich result, and by the page itself.
//
//	page + graph -> Checker.Check -> Report
//	   E1 the writing            faults of the reading
//	   E2 unknown name           not in schema.org 30.0; what was meant
//	   E3 wrong place            the property does not belong to the type
//	   E4 wrong value            date, number, address, enumeration, thing
//	   E5 superseded             and by what
//	   E6 required, missing      features.go is the table
//	   W1 recommended, missing
//	   W2 not on the page        what the data claims and no reader can see
//	   W3 retired                markup for a result that is no longer shown
//	   Features                  for which results the page qualifies
package rules

import (
	"cmp"
	"slices"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/datapack/markup"
	"ace/internal/website/datapack/schemaorg"
	"ace/internal/website/dom"
)

// Code is the kind of an issue.
type Code string

// The kinds of issues. E are errors, W are warnings.
const (
	Syntax      Code = "E1"
	Unknown     Code = "E2"
	Domain      Code = "E3"
	Range       Code = "E4"
	Superseded  Code = "E5"
	Required    Code = "E6"
	Recommended Code = "W1"
	Mismatch    Code = "W2"
	Retired     Code = "W3"
)

// Issue is one thing that is wrong with the data of a page.
type Issue struct {
	Code     Code   `json:"code"`
	Severity string `json:"severity"` // "error" or "warning"
	Name     string `json:"name"`     // what exactly, for programs: "unknown_property"
	Message  string `json:"message"`
	Source   string `json:"source"`             // "json-ld", "microdata", "rdfa", "opengraph"
	Path     string `json:"path"`               // where: a CSS selector, or a place in a block
	Line     int    `json:"line,omitempty"`     // of the page's source
	Property string `json:"property,omitempty"` // "Product.offers"
	Value    string `json:"value,omitempty"`    // as found, cut to 100 characters
	Fix      string `json:"fix,omitempty"`      // what to write instead, where that is known

	node *markup.Node
}

// Report is what Check found.
type Report struct {
	Issues   []Issue
	Features []Eligibility
}

// MaxIssues bounds the issues of one page.
const MaxIssues = 200

// Checker checks pages. It never changes and may be shared.
type Checker struct {
	v *schemaorg.Vocabulary
}

// New returns a checker for a vocabulary.
func New(v *schemaorg.Vocabulary) *Checker { return &Checker{v: v} }

// Check judges what a page says of itself. The issues come in the order of
// their codes, then of their lines.
func (c *Checker) Check(d *dom.Document, g *markup.Graph) Report {
	r := &run{
		Checker: c, graph: g, doc: d, told: map[Issue]bool{}, foreign: map[string]bool{},
		broken: map[string]bool{},
	}
	for _, f := range g.Faults {
		r.fault(f)
	}
	for _, n := range g.All() {
		if vocabularyNode(n) {
			r.names(n)
		}
	}
	features := r.features()
	r.visible()
	slices.SortStableFunc(r.issues,
		func(a, b Issue) int { return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Line, b.Line)) })
	return Report{Issues: r.issues, Features: features}
}

// vocabularyNode reports whether a node is written with a vocabulary; Open
// Graph and its relatives are not.
func vocabularyNode(n *markup.Node) bool {
	return n.Source == markup.JSONLD || n.Source == markup.Microdata || n.Source == markup.RDFa
}

// run is one check.
type run struct {
	*Checker
	graph  *markup.Graph
	doc    *dom.Document
	issues []Issue
	told   map[Issue]bool
	// foreign are the blocks with a context that is not known: unknown names may
	// come from there.
	foreign map[string]bool
	// broken are the blocks that a strict reader of JSON gives up on.
	broken map[string]bool
}

// mayBeForeign reports whether an unknown name of a node may be one of a
// context that was not read.
func (r *run) mayBeForeign(n *markup.Node) bool {
	return n.Source == markup.JSONLD && r.foreign[blockOf(n)]
}

// blockOf is the path of the block that a node is in.
func blockOf(n *markup.Node) string {
	block, _, _ := strings.Cut(n.Path, "/")
	block, _, _ = strings.Cut(block, " value ")
	return block
}

// softFaults are faults of the writing that readers of the data get over.
var softFaults = []string{
	"json_entities", "json_space", "json_duplicate", "context_foreign", "type_spelling",
	"itemprop_outside", "itemref_cycle", "itemscope_missing", "too_many", "json_empty",
}

func (r *run) fault(f markup.Fault) {
	severity := "error"
	if slices.Contains(softFaults, f.Code) {
		severity = "warning"
	}
	switch {
	case f.Code == "context_foreign":
		r.foreign[f.Path] = true
	case severity == "error" && strings.HasPrefix(f.Code, "json_"):
		r.broken[f.Path] = true
	}
	r.add(Issue{
		Code: Syntax, Severity: severity, Name: f.Code, Message: f.Detail, Source: string(f.Source),
		Path: f.Path, Line: f.Line,
	})
}

// at begins an issue about a node.
func at(code Code, name string, n *markup.Node) Issue {
	i := Issue{Code: code, Severity: "error", Name: name, Source: string(n.Source), Path: n.Path, Line: n.Line, node: n}
	if code[0] == 'W' {
		i.Severity = "warning"
	}
	return i
}

func (r *run) add(i Issue) {
	i.Value = excerpt.Chars(i.Value, 100)
	if !r.told[i] && len(r.issues) < MaxIssues {
		r.told[i] = true
		r.issues = append(r.issues, i)
	}
}
