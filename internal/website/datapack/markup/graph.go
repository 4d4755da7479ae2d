// Package markup finds what a page says about itself in machine-readable form,
// in four ways of writing, and makes one graph of it.
//
//	*dom.Document
//	   -> JSON-LD     script blocks: tolerant JSON -> contexts -> nodes
//	   -> microdata   itemscope, itemprop, itemref (WHATWG)
//	   -> RDFa        vocab, typeof, property, resource, and rel as far as used
//	   -> meta        Open Graph, Twitter, plain meta elements
//	   -> Graph       nodes with types, properties, source, path and line;
//	                  faults of the writing
//
// Names of schema.org are short ("Product", "price"); all others are addresses.
// Nothing is fetched: of foreign contexts only what is in the page counts.
// A fault never hides the rest of the page.
package markup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ace/internal/website/dom"
)

// Source is a way to write structured data.
type Source string

// Sources in the order in which a page is searched.
const (
	JSONLD    Source = "json-ld"
	Microdata Source = "microdata"
	RDFa      Source = "rdfa"
	OpenGraph Source = "opengraph"
	Twitter   Source = "twitter"
	Meta      Source = "meta"
)

// Limits of one page. What is beyond them is left out with the fault too_many.
const (
	MaxNodes  = 2_000
	MaxValues = 20_000
	MaxDepth  = 40 // nodes inside one another
)

// Graph is what a page says.
type Graph struct {
	Nodes  []*Node // that are in no other node, in reading order per source
	Faults []Fault
	byID   map[string]*Node
}

// Node is one thing that is described.
type Node struct {
	ID     string   // absolute where the page's own is; may be empty
	Types  []string // "Product", or an address of another vocabulary
	Props  []Prop   // in reading order, each name once
	Source Source
	Path   string // where it is: a CSS selector, or "json-ld 1 /@graph/0"
	Line   int    // in the page's source; 0 is unknown
}

// Prop is a property with its values.
type Prop struct {
	Name   string
	Values []Value
}

// Kind distinguishes values.
type Kind string

// Kinds of values.
const (
	Text   Kind = "text"
	Number Kind = "number" // a number of JSON, as it was spelled
	Bool   Kind = "bool"   // "true" or "false" of JSON
	Link   Kind = "link"   // an address: href, src, itemid, {"@id": …}
	Thing  Kind = "node"
)

// Value is one value of a property.
type Value struct {
	Kind     Kind
	Text     string // of all kinds but Thing
	Node     *Node  // of Thing
	Language string // of Text, where it is stated
	Type     string // data type, where it is stated ("Date")
	Line     int
}

// Fault is something wrong with the writing.
type Fault struct {
	Code   string
	Detail string
	Source Source
	Path   string
	Line   int
}

// Prop returns the values of a property.
func (n *Node) Prop(name string) []Value {
	for _, p := range n.Props {
		if p.Name == name {
			return p.Values
		}
	}
	return nil
}

// First returns the first value of a property as text; of a node its name
// or address.
func (n *Node) First(name string) string {
	values := n.Prop(name)
	if len(values) == 0 {
		return ""
	}
	return values[0].String()
}

// String is the value as text; a node's is its name, address or id.
func (v Value) String() string {
	if v.Kind != Thing {
		return v.Text
	}
	for _, name := range []string{"name", "url", "contentUrl", "value"} {
		for _, inner := range v.Node.Prop(name) {
			if inner.Kind != Thing && inner.Text != "" {
				return inner.Text
			}
		}
	}
	return v.Node.ID
}

// add puts a value behind those that a property has.
func (n *Node) add(name string, v Value) {
	for i := range n.Props {
		if n.Props[i].Name == name {
			n.Props[i].Values = append(n.Props[i].Values, v)
			return
		}
	}
	n.Props = append(n.Props, Prop{Name: name, Values: []Value{v}})
}

// Is reports whether the node states a type.
func (n *Node) Is(typ string) bool { return slices.Contains(n.Types, typ) }

// empty reports whether the node says nothing at all.
func (n *Node) empty() bool { return n.ID == "" && len(n.Types) == 0 && len(n.Props) == 0 }

// Find returns the node with an id, with all that the page says of it in one
// node, or nil.
func (g *Graph) Find(id string) *Node { return g.byID[id] }

// Follow returns the node that a value is or links to, or nil.
func (g *Graph) Follow(v Value) *Node {
	switch v.Kind {
	case Thing:
		if whole := g.byID[v.Node.ID]; v.Node.ID != "" && whole != nil {
			return whole
		}
		return v.Node
	case Link:
		return g.byID[v.Text]
	default:
		return nil
	}
}

// All returns every node of the graph, those inside others after them.
func (g *Graph) All() []*Node {
	var all []*Node
	var walk func(n *Node)
	walk = func(n *Node) {
		all = append(all, n)
		for _, p := range n.Props {
			for _, v := range p.Values {
				if v.Kind == Thing {
					walk(v.Node)
				}
			}
		}
	}
	for _, n := range g.Nodes {
		walk(n)
	}
	return all
}

// Extract reads all that a page says.
func Extract(d *dom.Document) *Graph {
	c := &collector{doc: d}
	c.jsonLD()
	c.microdata()
	c.rdfa()
	c.meta()
	g := &Graph{Nodes: c.roots, Faults: c.faults, byID: map[string]*Node{}}
	g.index(d)
	return g
}

// index merges what different places say of one id. In JSON-LD a text such as
// "#author" is a link where the page describes a thing of this id.
func (g *Graph) index(d *dom.Document) {
	all := g.All()
	defer func() {
		for _, n := range all {
			for i := range n.Props {
				for j, v := range n.Props[i].Values {
					if id := d.Resolve(v.Text); v.Kind == Text && strings.HasPrefix(v.Text, "#") && g.byID[id] != nil {
						n.Props[i].Values[j].Kind, n.Props[i].Values[j].Text = Link, id
					}
				}
			}
		}
	}()
	for _, n := range all {
		if n.ID == "" {
			continue
		}
		whole := g.byID[n.ID]
		if whole == nil {
			g.byID[n.ID] = n
			continue
		}
		merged := &Node{
			ID: n.ID, Types: slices.Clone(whole.Types), Source: whole.Source, Path: whole.Path,
			Line: whole.Line,
		}
		for _, p := range whole.Props {
			merged.Props = append(merged.Props, Prop{p.Name, slices.Clone(p.Values)})
		}
		merged.absorb(n)
		g.byID[n.ID] = merged
	}
}

func (n *Node) absorb(other *Node) {
	for _, t := range other.Types {
		if !slices.Contains(n.Types, t) {
			n.Types = append(n.Types, t)
		}
	}
	for _, p := range other.Props {
		for _, v := range p.Values {
			if !slices.ContainsFunc(n.Prop(p.Name),
				func(w Value) bool { return w.Kind == v.Kind && w.Text == v.Text && w.Node == v.Node }) {
				n.add(p.Name, v)
			}
		}
	}
}

// collector gathers the parts of a graph.
type collector struct {
	doc    *dom.Document
	roots  []*Node
	faults []Fault
	count  int // nodes so far
	values int
	named  int
	full   bool
}

// maxFaults keeps a page that is wrong all over from filling the report.
const maxFaults = 100

func (c *collector) fault(f Fault) {
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, f)
	}
}

// hasRoom counts a node and reports whether it still fits.
func (c *collector) hasRoom(source Source, line, depth int) bool {
	if c.count < MaxNodes && depth < MaxDepth {
		c.count++
		return true
	}
	c.overflow(source, line)
	return false
}

// add gives a node a value under one or more names, unless the page says too
// much. A thing is under the first name; the others link to it, so that the
// graph stays a tree.
func (c *collector) add(n *Node, v Value, names ...string) {
	for i, name := range names {
		if c.values++; c.values > MaxValues {
			c.overflow(n.Source, v.Line)
			return
		}
		if v.Kind == Thing && i > 0 {
			c.name(v.Node)
			v = Value{Kind: Link, Text: v.Node.ID, Line: v.Line}
		}
		n.add(name, v)
	}
}

// name gives a node an id of its own, as JSON-LD does for things without one.
func (c *collector) name(n *Node) {
	if n.ID == "" {
		c.named++
		n.ID = "_:b" + strconv.Itoa(c.named)
	}
}

func (c *collector) overflow(source Source, line int) {
	if c.full {
		return
	}
	c.full = true
	c.fault(Fault{
		Code: "too_many", Source: source, Line: line,
		Detail: fmt.Sprintf(
			"The page describes more than %d things with %d values, or more than %d inside one another; the rest was "+
				"left out.", MaxNodes, MaxValues, MaxDepth),
	})
}
