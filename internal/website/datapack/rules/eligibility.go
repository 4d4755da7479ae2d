package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/datapack/markup"
)

// Eligibility says whether a thing on the page qualifies for a rich result.
// Google decides; this is what its documentation asks for.
type Eligibility struct {
	Feature     string   `json:"feature"` // "merchant_listing"
	Name        string   `json:"name"`
	Type        string   `json:"type"`    // of the thing
	Subject     string   `json:"subject"` // its name, or its place
	Status      string   `json:"status"`  // "eligible" or "missing"
	Missing     []string `json:"missing,omitempty"`
	Recommended []string `json:"recommended,omitempty"` // that are missing
	Docs        string   `json:"docs"`

	line int
	node *markup.Node
}

// The two states of eligibility.
const (
	Eligible = "eligible"
	Missing  = "missing"
)

// maxFeatures bounds the things of one page that are judged.
const maxFeatures = 60

// features evaluates the independent things and records E6, W1, W3.
func (r *run) features() []Eligibility {
	var all []Eligibility
	for _, s := range r.subjects() {
		r.retirements(s.node)
		var here []Eligibility
		for _, f := range features {
			if r.isFor(f, s) && len(all)+len(here) < maxFeatures {
				here = append(here, r.eligibility(f, s))
			}
		}
		r.report(here)
		all = append(all, here...)
	}
	return all
}

// subject is a thing that may get a result.
type subject struct {
	node   *markup.Node
	parent *markup.Node
}

// standing are properties whose things are independent, though they are
// written inside others.
var standing = []string{"mainEntity", "itemListElement", "item", "hasVariant", "breadcrumb", "video", "speakable"}

// ratings belong to the thing that they are in.
var ratings = []string{"review", "reviews", "aggregateRating"}

func (r *run) subjects() []subject {
	var all []subject
	seen := map[*markup.Node]bool{}
	add := func(n, parent *markup.Node) {
		if whole := r.graph.Find(n.ID); n.ID != "" && whole != nil {
			n = whole
		}
		if !seen[n] && vocabularyNode(n) {
			seen[n] = true
			all = append(all, subject{n, parent})
		}
	}
	for _, n := range r.graph.Nodes {
		add(n, nil)
	}
	for _, n := range r.graph.All() {
		for _, p := range n.Props {
			own, rating := slices.Contains(standing, p.Name), slices.Contains(ratings, p.Name)
			if !own && !rating {
				continue
			}
			for _, v := range p.Values {
				inner := r.graph.Follow(v)
				switch {
				case inner == nil:
				case rating:
					add(inner, n)
				default:
					add(inner, nil)
				}
			}
		}
	}
	return all
}

func (r *run) isFor(f feature, s subject) bool {
	for _, t := range s.node.Types {
		if slices.ContainsFunc(f.but, func(b string) bool { return r.v.IsA(t, b) }) {
			return false
		}
	}
	if len(s.node.Props) == 0 && s.node.ID != "" { // a thing that is only named
		return false
	}
	return slices.ContainsFunc(s.node.Types, func(t string) bool {
		return slices.ContainsFunc(f.types, func(want string) bool { return r.v.IsA(t, want) })
	})
}

func (r *run) eligibility(f feature, s subject) Eligibility {
	n := s.node
	e := Eligibility{
		Feature: f.id, Name: f.name, Type: n.Types[0], Subject: subjectName(n), Status: Eligible,
		Docs: f.docs, line: n.Line, node: n,
	}
	if n.Source == markup.JSONLD && r.broken[blockOf(n)] {
		e.Missing = append(e.Missing, unreadableBlock)
	}
	for _, path := range f.required {
		if path == "itemReviewed" && s.parent != nil {
			continue // the thing around it is what was reviewed
		}
		if !r.has(n, path) {
			e.Missing = append(e.Missing, path)
		}
	}
	e.Missing = append(e.Missing, r.beyond(f, n)...)
	for _, path := range f.recommended {
		if !r.has(n, path) {
			e.Recommended = append(e.Recommended, path)
		}
	}
	if len(e.Missing) > 0 {
		e.Status = Missing
	}
	return e
}

// unreadableBlock is what a thing lacks whose block is no valid JSON: strict
// readers see nothing of it.
const unreadableBlock = "valid JSON"

func subjectName(n *markup.Node) string {
	for _, name := range []string{"name", "headline", "title", "url"} {
		if text := n.First(name); text != "" {
			return excerpt.Chars(text, 100)
		}
	}
	return n.Path
}

// beyond checks what paths cannot say.
func (r *run) beyond(f feature, n *markup.Node) []string {
	switch f.id {
	case "breadcrumb":
		return r.breadcrumb(n)
	case "merchant_listing":
		for _, offer := range r.follow(n, "offers") {
			if text := offer.First("price"); text != "" {
				if price, err := strconv.ParseFloat(text, 64); err == nil && price <= 0 {
					return []string{"offers.price greater than 0"}
				}
			}
		}
	}
	return nil
}

func (r *run) breadcrumb(n *markup.Node) []string {
	items := r.follow(n, "itemListElement")
	if len(n.Prop("itemListElement")) > 0 && len(items) < 2 {
		return []string{"itemListElement, at least two"}
	}
	for i, item := range items {
		for _, path := range []string{"position", "name|item.name", "item"} {
			last := i == len(items)-1 && path == "item"
			if !last && !r.has(item, path) {
				return []string{fmt.Sprintf("itemListElement[%d].%s", i, path)}
			}
		}
	}
	return nil
}

func (r *run) follow(n *markup.Node, name string) []*markup.Node {
	var all []*markup.Node
	for _, v := range n.Prop(name) {
		if inner := r.graph.Follow(v); inner != nil {
			all = append(all, inner)
		}
	}
	return all
}

// has reports whether one of the ways "a.b|c" leads to a value.
func (r *run) has(n *markup.Node, ways string) bool {
	for way := range strings.SplitSeq(ways, "|") {
		if r.leads(n, strings.Split(way, ".")) {
			return true
		}
	}
	return false
}

func (r *run) leads(n *markup.Node, steps []string) bool {
	for _, v := range n.Prop(steps[0]) {
		inner := r.graph.Follow(v)
		switch {
		case len(steps) > 1:
			if inner != nil && r.leads(inner, steps[1:]) {
				return true
			}
		case inner != nil || strings.TrimSpace(v.Text) != "":
			return true
		}
	}
	return false
}

// report notes what is missing. Where a thing may get several results and
// qualifies for one, what the others ask for is a recommendation.
func (r *run) report(here []Eligibility) {
	qualified := slices.ContainsFunc(here, func(e Eligibility) bool { return e.Status == Eligible })
	for i, e := range here {
		if e.Status == Missing && !qualified && (len(here) == 1 || e.Feature != "merchant_listing") {
			for _, path := range e.Missing {
				if path == unreadableBlock {
					continue // E1 says it
				}
				issue := at(Required, "required_missing", e.node)
				issue.Property = label(e.node, path)
				issue.Message = fmt.Sprintf("%s asks for %s.", e.Name, spell(path))
				r.add(issue)
			}
		}
		if i > 0 && e.Feature == "product_snippet" { // merchant listings recommend the same and more
			continue
		}
		if e.Status == Missing && qualified {
			r.recommend(e, e.Missing)
		}
		r.recommend(e, e.Recommended)
	}
}

func (r *run) recommend(e Eligibility, paths []string) {
	for _, path := range paths {
		if path == unreadableBlock {
			continue
		}
		issue := at(Recommended, "recommended_missing", e.node)
		issue.Property = label(e.node, path)
		issue.Message = fmt.Sprintf("%s recommends %s.", e.Name, spell(path))
		r.add(issue)
	}
}

func spell(path string) string { return strings.ReplaceAll(path, "|", " or ") }

func (r *run) retirements(n *markup.Node) {
	for _, old := range retired {
		all := true
		for _, want := range old.types {
			all = all && slices.ContainsFunc(n.Types, func(t string) bool { return r.v.IsA(t, want) })
		}
		if !all || old.with != "" && !r.has(n, old.with) {
			continue
		}
		i := at(Retired, "retired_feature", n)
		i.Value = n.Types[0]
		i.Message = fmt.Sprintf("Google Search has shown no %s results since %s. The markup stays valid vocabulary.",
			old.name, old.since)
		r.add(i)
	}
}
