package rules

import (
	"fmt"
	"slices"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/datapack/markup"
)

// Repaired is what remains of a thing when its faults are repaired: what was
// meant where that is sure, and nothing in place of what is wrong.
type Repaired struct {
	Types  []string
	Props  []markup.Prop
	Mended []string // what was changed or left out, in words
}

// Repair repairs a thing by the vocabulary. With a report it leaves out what the
// page contradicts as well.
func (c *Checker) Repair(g *markup.Graph, n *markup.Node, report *Report) Repaired {
	m := &mender{Checker: c, graph: g, node: n, report: report}
	m.types()
	for _, p := range n.Props {
		m.property(p)
	}
	return m.out
}

type mender struct {
	*Checker
	graph  *markup.Graph
	node   *markup.Node
	report *Report
	out    Repaired
}

func (m *mender) say(format string, args ...any) {
	m.out.Mended = append(m.out.Mended, fmt.Sprintf(format, args...))
}

func (m *mender) types() {
	for _, t := range m.node.Types {
		fix := t
		switch {
		case strings.Contains(t, ":"):
		case m.v.IsType(t):
			if s := m.v.Successor(t); s != "" && m.v.IsType(s) {
				fix = s
			}
		default:
			fix = m.v.NearestType(t)
		}
		switch {
		case fix == "":
			m.say("the type %s is not in the vocabulary", excerpt.Chars(t, 100))
			continue
		case fix != t:
			m.say("the type %s became %s", excerpt.Chars(t, 100), fix)
		}
		if !slices.Contains(m.out.Types, fix) {
			m.out.Types = append(m.out.Types, fix)
		}
	}
}

// allows reports whether the repaired types carry a property.
func (m *mender) allows(name string) bool {
	base := strings.TrimSuffix(strings.TrimSuffix(name, "-input"), "-output")
	if _, ok := m.v.Property(base); !ok {
		return false
	}
	if base != name || len(m.out.Types) == 0 {
		return true
	}
	return slices.ContainsFunc(m.out.Types, func(t string) bool {
		return strings.Contains(t, ":") || m.v.IsA(t, "Role") || m.v.Allows(base, t)
	})
}

func (m *mender) property(p markup.Prop) {
	name := p.Name
	if !strings.Contains(name, ":") {
		if s := m.v.Successor(name); s != "" && m.allows(s) {
			m.say("%s became %s", name, s)
			name = s
		}
		if !m.allows(name) {
			fix := m.v.NearestProperty(name)
			if fix == "" || fix == name || !m.allows(fix) {
				m.say("%s is left out: it does not belong to %s", excerpt.Chars(name, 100), few(m.out.Types))
				return
			}
			m.say("%s became %s", excerpt.Chars(name, 100), fix)
			name = fix
		}
	}
	var values []markup.Value
	for _, v := range p.Values {
		if repaired, ok := m.value(name, v); ok {
			values = append(values, repaired)
		}
	}
	if len(values) == 0 {
		return
	}
	for i := range m.out.Props {
		if m.out.Props[i].Name == name {
			m.out.Props[i].Values = append(m.out.Props[i].Values, values...)
			return
		}
	}
	m.out.Props = append(m.out.Props, markup.Prop{Name: name, Values: values})
}

func (m *mender) value(name string, v markup.Value) (markup.Value, bool) {
	if m.report != nil && m.report.Contradicted(m.node, name) {
		m.say("%s %q is left out: the page does not show it", name, excerpt.Chars(v.String(), 100))
		return v, false
	}
	property, ok := m.v.Property(name)
	if !ok {
		return v, true
	}
	trial := &run{Checker: m.Checker, graph: m.graph, told: map[Issue]bool{}}
	trial.value(m.node, name, property.Ranges, v)
	if len(trial.issues) == 0 {
		return v, true
	}
	if fix := trial.issues[0].Fix; fix != "" && v.Kind != markup.Thing {
		m.say("%s %q became %s", name, excerpt.Chars(v.Text, 100), fix)
		v.Text = fix
		return v, true
	}
	m.say("%s %q is left out: %s", name, excerpt.Chars(v.String(), 100), trial.issues[0].Message)
	return v, false
}

// Contradicted reports whether the page shows something else than a property
// of a thing claims.
func (r *Report) Contradicted(n *markup.Node, property string) bool {
	return slices.ContainsFunc(r.Issues, func(i Issue) bool {
		return i.Code == Mismatch && i.node == n && strings.HasSuffix(i.Property, property) &&
			(i.Property == property || strings.HasSuffix(i.Property, "."+property))
	})
}
