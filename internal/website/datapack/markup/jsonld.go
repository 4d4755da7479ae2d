package markup

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/dom"

	htmlnode "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const maxBlocks = 200

// jsonLD reads the script blocks of the page.
func (c *collector) jsonLD() {
	blocks := dom.All(c.doc.Root, maxBlocks, func(n *htmlnode.Node) bool {
		kind, _, _ := strings.Cut(dom.Attr(n, "type"), ";")
		return n.DataAtom == atom.Script && strings.EqualFold(strings.TrimSpace(kind), "application/ld+json")
	})
	for i, n := range blocks {
		b := &block{c: c, path: "json-ld " + strconv.Itoa(i+1)}
		b.read(n)
	}
}

// block is one script element.
type block struct {
	c    *collector
	path string
}

func (b *block) note(code, detail string, line int) {
	b.c.fault(Fault{Code: code, Detail: detail, Source: JSONLD, Path: b.path, Line: line})
}

func (b *block) read(n *htmlnode.Node) {
	var text strings.Builder
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		text.WriteString(child.Data)
	}
	line := dom.TextLine(n)
	if strings.TrimSpace(text.String()) == "" {
		b.note("json_empty", "The block is empty.", line)
		return
	}
	values, faults, _ := readJSON(text.String(), line)
	for _, f := range faults {
		b.note(f.Code, f.Detail, f.Line)
	}
	for i, v := range values {
		path := b.path
		if len(values) > 1 {
			path += " value " + strconv.Itoa(i+1)
		}
		b.document(v, &context{base: b.c.doc.Base}, path, 0)
	}
}

// document reads what is at the top: a node, a graph, or an array of them.
func (b *block) document(v value, ctx *context, path string, depth int) {
	if depth > maxJSONDepth {
		return
	}
	switch v.kind {
	case '[':
		for i, inner := range v.items {
			b.document(inner, ctx, path+"/"+strconv.Itoa(i), depth+1)
		}
	case '{':
		if local, ok := v.member("@context"); ok {
			ctx = ctx.extend(local, b.note)
		} else if ctx.vocab == "" && ctx.parent == nil && !usesAddresses(v) {
			b.note("context_missing", `The block has no @context: add "@context": "https://schema.org".`, v.line)
			ctx = &context{vocab: vocabulary, base: ctx.base} // what was meant
		}
		graph, others := b.graphOf(v, ctx)
		if graph != nil {
			b.document(*graph, ctx, path+"/@graph", depth+1)
			if !others {
				return
			}
		}
		if n := b.node(v, ctx, path, 0); n != nil && !n.empty() {
			b.c.roots = append(b.c.roots, n)
		}
	default:
		b.note("node_expected", "A text or number stands where a thing is described.", v.line)
	}
}

// graphOf returns the @graph of an object, and whether the object describes
// anything besides.
func (b *block) graphOf(v value, ctx *context) (graph *value, others bool) {
	for i, m := range v.members {
		switch ctx.keyword(m.name) {
		case "@graph":
			graph = &v.members[i].value
		case "@context", "@id":
		default:
			others = true
		}
	}
	return graph, others
}

// usesAddresses reports whether an object can be understood without a context.
func usesAddresses(v value) bool {
	for _, m := range v.members {
		if !strings.HasPrefix(m.name, "@") && !strings.Contains(m.name, "://") {
			return false
		}
		if m.name == "@type" && m.value.kind == 's' && !strings.Contains(m.value.text, "://") {
			return false
		}
	}
	return true
}

// node reads one object as a thing.
func (b *block) node(v value, ctx *context, path string, depth int) *Node {
	if !b.c.hasRoom(JSONLD, v.line, depth) {
		return nil
	}
	n := &Node{Source: JSONLD, Path: path, Line: v.line}
	for _, m := range v.members {
		if m.name == "@context" && depth > 0 {
			ctx = ctx.extend(m.value, b.note)
		}
	}
	for _, m := range v.members {
		switch keyword := ctx.keyword(m.name); keyword {
		case "":
			b.property(n, m, ctx, path, depth)
		case "@id":
			n.ID = ctx.absolute(m.value.text)
		case "@type":
			n.Types = b.types(m.value, ctx)
		case "@reverse":
			b.reverse(n, m.value, ctx, path, depth)
		case "@included":
			b.document(m.value, ctx, path+"/@included", depth+1)
		case "@context", "@graph", "@index", "@value", "@language", "@list", "@set", "@nest", "@direction":
		default:
			b.note("keyword_unknown", "JSON-LD has no keyword "+excerpt.Chars(m.name, 100)+".", m.value.line)
		}
	}
	return n
}

func (b *block) types(v value, ctx *context) []string {
	items := v.items
	if v.kind != '[' {
		items = []value{v}
	}
	var types []string
	for _, item := range items {
		if item.kind != 's' {
			b.note("type_unreadable", "@type is not a text.", item.line)
			continue
		}
		// "Product, Offer" and " Product" are one name each; what was meant is plain.
		for name := range strings.SplitSeq(item.text, ",") {
			name = strings.TrimSpace(name)
			if name == "" {
				continue
			}
			if name != item.text {
				b.note(
					"type_spelling",
					fmt.Sprintf(
						"@type is %q: write single names, several as an array.",
						excerpt.Chars(item.text, 100),
					),
					item.line,
				)
			}
			full := ctx.expand(name)
			if full == "" {
				full = name
			}
			types = append(types, full)
		}
	}
	return types
}

func (b *block) property(n *Node, m member, ctx *context, path string, depth int) {
	t, _ := ctx.term(m.name)
	name := ctx.expand(m.name)
	if name == "" {
		b.note(
			"name_undefined",
			"The context does not define "+strconv.Quote(excerpt.Chars(m.name, 100))+".",
			m.value.line,
		)
		return
	}
	at := path + "/" + m.name
	for _, v := range b.values(m.value, ctx, t, at, depth) {
		if t.reverse {
			b.turn(n, name, v)
			continue
		}
		b.c.add(n, v, name)
	}
}

// reverse reads the properties that point from others to n.
func (b *block) reverse(n *Node, v value, ctx *context, path string, depth int) {
	for _, m := range v.members {
		name := ctx.expand(m.name)
		for _, inner := range b.values(m.value, ctx, term{}, path+"/@reverse/"+m.name, depth) {
			b.turn(n, name, inner)
		}
	}
}

// turn notes that the thing v has n as its property: it becomes a node of its
// own that links to n.
func (b *block) turn(n *Node, name string, v Value) {
	b.c.name(n)
	other := v.Node
	if v.Kind == Link {
		other = &Node{ID: v.Text, Source: JSONLD, Path: n.Path, Line: v.Line}
	}
	if other == nil || name == "" {
		return
	}
	b.c.add(other, Value{Kind: Link, Text: n.ID, Line: v.Line}, name)
	b.c.roots = append(b.c.roots, other)
}

// values reads the value of a property, which may be several.
func (b *block) values(v value, ctx *context, t term, path string, depth int) []Value {
	switch v.kind {
	case '[':
		var all []Value
		for i, item := range v.items {
			if item.kind == '[' && depth > MaxDepth {
				continue
			}
			all = append(all, b.values(item, ctx, t, path+"/"+strconv.Itoa(i), depth+1)...)
		}
		return all
	case 's':
		return []Value{b.text(v, ctx, t)}
	case 'n':
		return []Value{{Kind: Number, Text: v.text, Line: v.line}}
	case 'b':
		return []Value{{Kind: Bool, Text: v.text, Line: v.line}}
	case '{':
		return b.object(v, ctx, t, path, depth)
	default: // null says nothing
		return nil
	}
}

func (b *block) text(v value, ctx *context, t term) Value {
	if t.links {
		return Value{Kind: Link, Text: ctx.absolute(v.text), Line: v.line}
	}
	text := v.text
	if i := strings.IndexByte(text, '&'); i >= 0 && strings.IndexByte(text[i:], ';') > 0 {
		if plain := html.UnescapeString(text); plain != text {
			b.note(
				"json_entities",
				"Text holds the HTML entity in "+strconv.Quote(
					excerpt.Chars(text, 100),
				)+", which JSON does not decode.",
				v.line,
			)
			text = plain
		}
	}
	return Value{Kind: Text, Text: strings.TrimSpace(text), Language: ctx.language, Line: v.line}
}

// object reads an object in the place of a value: a thing, a link to one, a
// list, or a literal with its type.
func (b *block) object(v value, ctx *context, t term, path string, depth int) []Value {
	if local, ok := v.member("@context"); ok {
		ctx = ctx.extend(local, func(string, string, int) {}) // node notes it
	}
	inner := map[string]value{}
	for _, m := range v.members {
		if k := ctx.keyword(m.name); k != "" {
			inner[k] = m.value
		}
	}
	if literal, ok := inner["@value"]; ok {
		values := b.values(literal, ctx, term{}, path, depth+1)
		for i := range values {
			values[i].Type = ctx.expand(inner["@type"].text)
			if l, ok := inner["@language"]; ok {
				values[i].Language = l.text
			}
		}
		return values
	}
	for _, k := range []string{"@list", "@set"} {
		if list, ok := inner[k]; ok {
			return b.values(list, ctx, t, path+"/"+k, depth+1)
		}
	}
	if id, ok := inner["@id"]; ok && len(v.members) == 1 {
		return []Value{{Kind: Link, Text: ctx.absolute(id.text), Line: v.line}}
	}
	if t.list == "@language" || t.list == "@index" {
		return b.container(v, ctx, t, path, depth)
	}
	if n := b.node(v, ctx, path, depth+1); n != nil && !n.empty() {
		return []Value{{Kind: Thing, Node: n, Line: v.line}}
	}
	return nil
}

// container reads an object whose names are languages or indexes.
func (b *block) container(v value, ctx *context, t term, path string, depth int) []Value {
	var all []Value
	for _, m := range v.members {
		values := b.values(m.value, ctx, term{links: t.links}, path+"/"+m.name, depth+1)
		for i := range values {
			if t.list == "@language" {
				values[i].Language = m.name
			}
		}
		all = append(all, values...)
	}
	return all
}
