package generate

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

// Get answers a member, or nil.
func (n Node) Get(name string) any {
	for _, m := range n {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// Text answers a member that is a string, or "".
func (n Node) Text(name string) string {
	text, _ := n.Get(name).(string)
	return text
}

// Types answers the @type of a node as a list.
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

// set gives a node a member; empty values are left out.
func (n *Node) set(name string, v any) {
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

func (n Node) has(name string) bool { return n.Get(name) != nil }

func (n *Node) drop(name string) {
	*n = slices.DeleteFunc(*n, func(m Member) bool { return m.Name == name })
}

// clone copies a value with all that is inside.
func clone(v any) any {
	switch x := v.(type) {
	case Node:
		out := make(Node, len(x))
		for i, m := range x {
			out[i] = Member{m.Name, clone(m.Value)}
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, item := range x {
			out[i] = clone(item)
		}
		return out
	}
	return v
}

// ref is a link to a node.
func ref(id string) Node { return Node{{"@id", id}} }

// MarshalJSON writes the node with its members in order.
func (n Node) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	write(&b, n, "")
	return []byte(b.String()), nil
}

// Encode writes a value as indented JSON that may stand in a script element:
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
