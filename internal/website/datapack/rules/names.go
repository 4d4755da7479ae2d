package rules

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/datapack/markup"
	"ace/internal/website/datapack/schemaorg"
)

// names checks one node against the vocabulary: E2 to E5 and retired types.
func (r *run) names(n *markup.Node) {
	known := r.types(n)
	for _, p := range n.Props {
		if strings.Contains(p.Name, ":") { // another vocabulary
			continue
		}
		// "query-input" says how an action's property is filled in.
		base := strings.TrimSuffix(strings.TrimSuffix(p.Name, "-input"), "-output")
		property, ok := r.v.Property(base)
		if !ok {
			if (ours(n) || len(n.Types) == 0) && !r.mayBeForeign(n) {
				r.unknownProperty(n, p)
			}
			continue
		}
		r.place(n, p, base, known)
		if base != p.Name {
			continue
		}
		for _, v := range p.Values {
			r.value(n, p.Name, property.Ranges, v)
		}
	}
}

// types checks the types of a node and returns those that the vocabulary has.
func (r *run) types(n *markup.Node) []string {
	var known []string
	for _, t := range n.Types {
		switch {
		case strings.Contains(t, ":"), r.mayBeForeign(n) && !r.v.IsType(t):
		case r.v.IsType(t):
			known = append(known, t)
			if successor := r.v.Successor(t); successor != "" {
				i := at(Superseded, "superseded_type", n)
				i.Message, i.Value, i.Fix = fmt.Sprintf("The type %s is superseded by %s.", t, successor), t, successor
				r.add(i)
			}
		default:
			i := at(Unknown, "unknown_type", n)
			i.Message, i.Value = fmt.Sprintf("schema.org %s has no type %s.", r.v.Release(), excerpt.Chars(t, 100)), t
			i.Fix = r.v.NearestType(t)
			if i.Fix == "" && r.v.Member(t) != nil {
				i.Message += " It is a value of the enumeration " + r.v.Member(t)[0] + "."
			}
			r.add(i)
		}
	}
	if len(n.Types) == 0 && len(n.Props) > 0 && (n.ID == "" || r.graph.Find(n.ID) == n) {
		i := at(Unknown, "type_missing", n)
		i.Severity, i.Message = "warning", "The thing has no type, so readers cannot tell what it is."
		r.add(i)
	}
	return known
}

// ours reports whether a node has a type that is no other vocabulary's.
func ours(n *markup.Node) bool {
	return slices.ContainsFunc(n.Types, func(t string) bool { return !strings.Contains(t, ":") })
}

func (r *run) unknownProperty(n *markup.Node, p markup.Prop) {
	i := at(Unknown, "unknown_property", n)
	i.Property, i.Line = label(n, p.Name), lineOf(n, p)
	i.Message = fmt.Sprintf("schema.org %s has no property %s.", r.v.Release(), excerpt.Chars(p.Name, 100))
	i.Fix = r.v.NearestProperty(p.Name)
	if len(p.Values) > 0 {
		i.Value = p.Values[0].String()
	}
	r.add(i)
}

// place checks that a property belongs to the types of its node (E3) and is the
// one to use (E5).
func (r *run) place(n *markup.Node, p markup.Prop, base string, known []string) {
	if successor := r.v.Successor(base); successor != "" {
		i := at(Superseded, "superseded_property", n)
		i.Property, i.Line, i.Fix = label(n, p.Name), lineOf(n, p), successor
		i.Message = fmt.Sprintf("The property %s is superseded by %s.", p.Name, successor)
		r.add(i)
	}
	if len(known) == 0 || len(known) < len(n.Types) { // an unknown type may carry anything
		return
	}
	for _, t := range known {
		if r.v.Allows(base, t) || r.v.IsA(t, "Role") || r.v.IsA(t, "Action") && base != p.Name {
			return
		}
	}
	property, _ := r.v.Property(base)
	i := at(Domain, "wrong_type_for_property", n)
	i.Property, i.Line = label(n, p.Name), lineOf(n, p)
	i.Message = fmt.Sprintf("%s does not belong to %s; it belongs to %s.", p.Name, strings.Join(known, " and "),
		few(property.Domains))
	r.add(i)
}

// value checks one value against the ranges of its property (E4).
func (r *run) value(n *markup.Node, name string, ranges []string, v markup.Value) {
	if len(ranges) == 0 {
		return
	}
	report := func(what, message, fix string) {
		i := at(Range, what, n)
		i.Property, i.Value, i.Message, i.Fix = label(n, name), v.String(), message, fix
		if v.Line > 0 {
			i.Line = v.Line
		}
		r.add(i)
	}
	if v.Kind == markup.Thing {
		r.thing(v.Node, name, ranges, report)
		return
	}
	text := strings.TrimSpace(v.Text)
	if text == "" {
		report("empty_value", fmt.Sprintf("%s is empty.", name), "")
		return
	}
	if f, err := strconv.ParseFloat(text, 64); v.Kind == markup.Number && (err != nil || math.IsInf(f, 0)) {
		report("wrong_format", fmt.Sprintf("%s is a number that no reader can hold.", name), "")
		return
	}
	if r.graph.Follow(v) != nil {
		return // a link to a thing that is checked by itself
	}
	term, ours := schemaorg.Short(text)
	if ours && term != "" {
		r.term(term, name, ranges, report)
		return
	}
	var enumerations []string
	for _, t := range ranges {
		switch {
		case r.v.IsData(t):
			if format(t, text) || v.Kind == markup.Link && t == "URL" {
				return
			}
		case r.v.IsA(t, "Enumeration"):
			enumerations = append(enumerations, t)
		default:
			return // schema.org accepts text for any thing
		}
	}
	switch {
	case len(enumerations) > 0:
		r.enumeration(text, name, enumerations, report)
	default:
		report("wrong_format", fmt.Sprintf("%s is %s: %q is not.", name, formats(ranges), excerpt.Chars(text, 100)), "")
	}
}

func (r *run) thing(inner *markup.Node, name string, ranges []string, report func(what, message, fix string)) {
	if len(inner.Types) == 0 {
		return
	}
	var classes []string
	for _, t := range ranges {
		if !r.v.IsData(t) {
			classes = append(classes, t)
		}
	}
	for _, t := range inner.Types {
		if !r.v.IsType(t) || r.v.IsA(t, "Role") || slices.ContainsFunc(ranges,
			func(c string) bool { return r.v.IsA(t, c) }) {
			return
		}
	}
	if len(classes) == 0 {
		report("text_expected",
			fmt.Sprintf("%s is %s, not a thing of the type %s.", name, formats(ranges), inner.Types[0]), "")
		return
	}
	report("wrong_type_of_value",
		fmt.Sprintf("%s is a %s, not a %s.", name, few(classes), strings.Join(inner.Types, " and ")), "")
}

// term checks a URL of schema.org that is a value.
func (r *run) term(term, name string, ranges []string, report func(what, message, fix string)) {
	members := r.v.Member(term)
	if members == nil {
		if _, property := r.v.Property(term); !r.v.IsType(term) && !property {
			report(
				"unknown_value",
				fmt.Sprintf("schema.org %s has no term %s.", r.v.Release(), excerpt.Chars(term, 100)),
				"",
			)
		}
		return
	}
	enumerations, others := 0, 0
	for _, t := range ranges {
		if !r.v.IsA(t, "Enumeration") {
			others++
			continue
		}
		enumerations++
		for _, m := range members {
			if r.v.IsA(m, t) {
				return
			}
		}
	}
	if enumerations > 0 && others == 0 {
		report("wrong_enumeration",
			fmt.Sprintf("%s is a value of %s; %s takes one of %s.", term, members[0], name, few(ranges)), "")
	}
}

// enumeration checks a word that stands for a member. Addresses of other
// vocabularies extend enumerations.
func (r *run) enumeration(text, name string, enumerations []string, report func(what, message, fix string)) {
	if strings.Contains(text, ":") {
		return
	}
	for _, m := range r.v.Member(text) {
		if slices.ContainsFunc(enumerations, func(e string) bool { return r.v.IsA(m, e) }) {
			return
		}
	}
	fix := ""
	if member := r.v.NearestMember(strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "_", ""),
		enumerations[0]); member != "" {
		fix = "https://schema.org/" + member
	}
	report(
		"unknown_value",
		fmt.Sprintf("%s takes a value of %s; %q is none.", name, few(enumerations), excerpt.Chars(text, 100)),
		fix,
	)
}

// label names a property with the type of its thing.
func label(n *markup.Node, name string) string {
	if len(n.Types) == 0 {
		return name
	}
	return n.Types[0] + "." + name
}

func lineOf(n *markup.Node, p markup.Prop) int {
	if len(p.Values) > 0 && p.Values[0].Line > 0 {
		return p.Values[0].Line
	}
	return n.Line
}

// few lists names, at most four.
func few(names []string) string {
	if len(names) > 4 {
		return strings.Join(names[:4], ", ") + " and others"
	}
	return strings.Join(names, " or ")
}
