// Package ld writes JSON-LD whose members keep their order, for script elements
// of pages.
//
//	Node, Number, string, bool, []any -> Encode -> indented JSON without "<"
//	                                  -> Script -> the element to paste
package ld

import (
	"encoding/json"
	"slices"
	"strings"
)

// Node is a JSON-LD object whose members keep their order: the same page gives
// the same bytes.
type Node []Member

// Member is one member of a Node.
type Member struct {
	Name  string
	Value any // string, Number, bool, Node, []any of these
}

// Number is a number as JSON spells it.
type Number string

// Of makes a node of names and values in turn: Of("@type", "Brand", "name", "x").
func Of(pairs ...any) Node {
	n := make(Node, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		if name, ok := pairs[i].(string); ok {
			n = append(n, Member{name, pairs[i+1]})
		}
	}
	return n
}

// Insert returns the node with one more field, at a position.
func (n Node) Insert(at int, name string, v any) Node {
	return slices.Insert(slices.Clone(n), min(at, len(n)), Member{name, v})
}

// Get returns a field, or nil.
func (n Node) Get(name string) any {
	for _, m := range n {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// Text returns a field that is a string, or "".
func (n Node) Text(name string) string {
	text, _ := n.Get(name).(string)
	return text
}

// Types returns the @type of a node as a list.
func (n Node) Types() []string {
	switch t := n.Get("@type").(type) {
	case string:
		return []string{t}
	case []any:
		var all []string
		for _, one := range t {
			if text, ok := one.(string); ok {
				all = append(all, text)
			}
		}
		return all
	}
	return nil
}

// Set gives a node a member; empty values are left out, and a list of one is its
// only value.
func (n *Node) Set(name string, v any) {
	switch x := v.(type) {
	case string:
		if x == "" {
			return
		}
	case Number:
		if x == "" {
			return
		}
	case Node:
		if len(x) == 0 {
			return
		}
	case []any:
		if len(x) == 0 {
			return
		}
		if len(x) == 1 {
			v = x[0]
		}
	}
	for i := range *n {
		if (*n)[i].Name == name {
			(*n)[i].Value = v
			return
		}
	}
	*n = append(*n, Member{name, v})
}

// Has reports whether a member is there.
func (n Node) Has(name string) bool { return n.Get(name) != nil }

// Drop takes a member out.
func (n *Node) Drop(name string) {
	*n = slices.DeleteFunc(*n, func(m Member) bool { return m.Name == name })
}

// Clone copies a value with all that is inside.
func Clone(v any) any {
	switch x := v.(type) {
	case Node:
		out := make(Node, len(x))
		for i, m := range x {
			out[i] = Member{m.Name, Clone(m.Value)}
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, item := range x {
			out[i] = Clone(item)
		}
		return out
	}
	return v
}

// Ref is a link to a node.
func Ref(id string) Node { return Node{{"@id", id}} }

// MarshalJSON writes the node with its members in order.
func (n Node) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	write(&b, n, "")
	return []byte(b.String()), nil
}

// Encode writes a value as indented JSON that may be in a script element:
// "<" never appears, so that no text can end the element or open a comment.
func Encode(v any) string {
	var b strings.Builder
	write(&b, v, "\n")
	return b.String()
}

// write writes v; line is the line break with the indentation around v, or
// empty for text without line breaks.
func write(b *strings.Builder, v any, line string) {
	inner := ""
	if line != "" {
		inner = line + "  "
	}
	switch x := v.(type) {
	case Node:
		b.WriteByte('{')
		for i, m := range x {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(inner)
			quote(b, m.Name)
			b.WriteByte(':')
			if line != "" {
				b.WriteByte(' ')
			}
			write(b, m.Value, inner)
		}
		if len(x) > 0 {
			b.WriteString(line)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range x {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(inner)
			write(b, item, inner)
		}
		if len(x) > 0 {
			b.WriteString(line)
		}
		b.WriteByte(']')
	case Number:
		b.WriteString(string(x))
	case bool:
		if x {
			b.WriteString("true")
		} else {
			b.WriteString("false")
		}
	case string:
		quote(b, x)
	default:
		b.WriteString("null")
	}
}

func quote(b *strings.Builder, s string) {
	data, err := json.Marshal(s) // escapes <, >, & and the line separators of Unicode
	if err != nil {
		data = []byte(`""`)
	}
	b.WriteString(strings.ReplaceAll(string(data), `\u0026`, "&")) // harmless in a script element
}

// Script is the element to paste into a page.
func Script(doc Node) string {
	return `<script type="application/ld+json">` + Encode(doc) + "</script>"
}

// IsRef reports whether a node is no more than a link.
func IsRef(n Node) bool { return len(n) == 1 && n[0].Name == "@id" }

// Rename replaces ids, and the links to them, in place.
func Rename(v any, ids map[string]string) any {
	switch x := v.(type) {
	case Node:
		for i, m := range x {
			if m.Name == "@id" {
				if id, ok := m.Value.(string); ok && ids[id] != "" {
					x[i].Value = ids[id]
				}
				continue
			}
			x[i].Value = Rename(m.Value, ids)
		}
		return x
	case []any:
		for i := range x {
			x[i] = Rename(x[i], ids)
		}
	}
	return v
}
