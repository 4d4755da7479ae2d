package generate

import (
	"slices"
	"strings"

	"ace/internal/website/datapack/ld"

	"ace/internal/website/datapack/markup"
	"ace/internal/website/datapack/rules"
)

// keeper turns the page's own JSON-LD into nodes, repaired.
type keeper struct {
	g      *Generator
	graph  *markup.Graph
	report *rules.Report
	mended []string
}

// retain is a thing of the page's markup as JSON-LD, repaired.
func (g *Generator) retain(graph *markup.Graph, n *markup.Node, depth int) ld.Node {
	k := &keeper{g: g, graph: graph}
	return k.node(n, depth)
}

func (k *keeper) node(n *markup.Node, depth int) ld.Node {
	r := k.g.checker.Repair(k.graph, n, k.report)
	for _, m := range r.Mended {
		if len(k.mended) < 50 {
			k.mended = append(k.mended, n.Path+": "+m)
		}
	}
	var out ld.Node
	if len(r.Types) > 0 {
		types := make([]any, len(r.Types))
		for i, t := range r.Types {
			types[i] = t
		}
		out.Set("@type", types)
	}
	if n.ID != "" {
		out.Set("@id", n.ID)
	}
	if depth > markup.MaxDepth {
		return out
	}
	for _, p := range r.Props {
		var values []any
		for _, v := range p.Values {
			if value := k.value(v, depth); value != nil {
				values = append(values, value)
			}
		}
		out.Set(p.Name, values)
	}
	return out
}

func (k *keeper) value(v markup.Value, depth int) any {
	switch v.Kind {
	case markup.Thing:
		inner := k.node(v.Node, depth+1)
		if len(inner) == 0 || len(inner) == 1 && inner[0].Name == "@type" {
			return nil
		}
		return inner
	case markup.Number:
		return ld.Number(v.Text)
	case markup.Bool:
		return v.Text == "true"
	case markup.Link:
		return ld.Ref(v.Text)
	default:
		if v.Language != "" || v.Type != "" {
			literal := ld.Of("@value", visible(v.Text))
			if v.Type != "" {
				literal.Set("@type", longName(v.Type))
			} else {
				literal.Set("@language", v.Language)
			}
			return literal
		}
		return visible(v.Text)
	}
}

func longName(typ string) string {
	if strings.Contains(typ, ":") {
		return typ
	}
	return "https://schema.org/" + typ
}

// blocks are the things of the page's JSON-LD that are in no other, each id
// once.
func (k *keeper) blocks() []*markup.Node {
	var all []*markup.Node
	seen := map[string]bool{}
	for _, n := range k.graph.Nodes {
		if n.Source != markup.JSONLD || seen[n.ID] {
			continue
		}
		if n.ID != "" {
			seen[n.ID] = true
			if whole := k.graph.Find(n.ID); whole != nil && whole.Source == markup.JSONLD {
				n = whole
			}
		}
		all = append(all, n)
	}
	return all
}

// join adds to a node of the page what was found beyond it. What the page says
// stays; things inside are joined alike. It reports whether anything was added.
func join(own *ld.Node, found ld.Node) bool {
	added := false
	for _, m := range found {
		if m.Name == "@id" || m.Name == "@type" {
			continue
		}
		current := own.Get(m.Name)
		if current == nil {
			own.Set(m.Name, m.Value)
			added = true
			continue
		}
		mine, ok1 := current.(ld.Node)
		theirs, ok2 := m.Value.(ld.Node)
		if ok1 && ok2 && !ld.IsRef(mine) && !ld.IsRef(theirs) && slices.Equal(mine.Types(), theirs.Types()) {
			if join(&mine, theirs) {
				own.Set(m.Name, mine)
				added = true
			}
		}
	}
	return added
}
