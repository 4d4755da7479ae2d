package markup

import (
	"slices"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// rdfa reads RDFa Lite 1.1 (https://www.w3.org/TR/rdfa-lite/) and of RDFa Core
// what pages use with it: about, rel, rev, content, datatype.
func (c *collector) rdfa() {
	if dom.First(c.doc.Root, func(n *html.Node) bool { return dom.Has(n, "typeof") || dom.Has(n, "vocab") }) == nil {
		return // property alone is Open Graph
	}
	r := &resources{c: c, byID: map[string]*Node{}}
	r.walk(c.doc.Root, scope{ctx: &context{base: c.doc.Base}}, 0)
	r.copyPatterns()
	r.flatten()
	for _, n := range r.order {
		if !r.inside[n] && (len(n.Types) > 0 || len(n.Props) > 0) {
			c.roots = append(c.roots, n)
		}
	}
}

const (
	rdfType     = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
	rdfaCopy    = "http://www.w3.org/ns/rdfa#copy"
	rdfaPattern = "http://www.w3.org/ns/rdfa#Pattern"
)

// copyPatterns does what itemref does in microdata
// (https://www.w3.org/TR/html-rdfa/#property-copying): properties of a pattern
// go to the things that name it. Patterns that name patterns are not followed.
func (r *resources) copyPatterns() {
	for _, n := range r.order {
		if n.Is(rdfaPattern) {
			continue
		}
		for _, v := range n.Prop(rdfaCopy) {
			pattern := r.byID[v.Text]
			if v.Kind == Thing {
				pattern = v.Node
			}
			if pattern == nil || !pattern.Is(rdfaPattern) {
				continue
			}
			for _, p := range pattern.Props {
				for _, v := range p.Values {
					r.c.add(n, v, p.Name)
				}
			}
		}
		n.Props = slices.DeleteFunc(n.Props, func(p Prop) bool { return p.Name == rdfaCopy })
	}
	r.order = slices.DeleteFunc(r.order, func(n *Node) bool { return n.Is(rdfaPattern) })
}

// flatten turns things that the page names and says nothing of into links.
func (r *resources) flatten() {
	for _, n := range r.order {
		for i := range n.Props {
			for j, v := range n.Props[i].Values {
				if v.Kind == Thing && v.Node.ID != "" && len(v.Node.Types) == 0 && len(v.Node.Props) == 0 {
					n.Props[i].Values[j] = Value{Kind: Link, Text: v.Node.ID, Line: v.Line}
				}
			}
		}
	}
}

// resources collects the things that RDFa describes. Unlike in microdata the
// same thing may be described in several places of a page.
type resources struct {
	c      *collector
	byID   map[string]*Node
	order  []*Node
	inside map[*Node]bool // is a value in another
}

// scope is what holds for an element because of those around it.
type scope struct {
	ctx     *context
	subject *Node // what properties belong to; nil: the page itself
	hanging []hang
	depth   int
}

// hang is a rel whose object is still to come.
type hang struct {
	names   []string
	subject *Node
}

func (r *resources) walk(n *html.Node, s scope, depth int) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type == html.ElementNode {
			r.walk(child, r.element(child, s), depth+1)
		}
	}
}

// linkTypes are values of rel that HTML itself defines; they link pages, not
// things.
var linkTypes = []string{
	"alternate", "author", "bookmark", "canonical", "dns-prefetch", "external", "help", "icon", "manifest",
	"modulepreload", "next", "nofollow", "noopener",
	"noreferrer", "opener", "pingback", "preconnect", "prefetch", "preload", "prev", "search", "shortcut", "stylesheet",
	"tag", "ugc", "sponsored", "me", "home", "index",
	"start", "up", "apple-touch-icon", "mask-icon", "amphtml", "edituri", "wlwmanifest", "shortlink", "first", "last",
	"publisher",
}

// element reads one element and returns what holds inside it.
func (r *resources) element(n *html.Node, s scope) scope {
	s.ctx = r.context(n, s.ctx)
	if name := dom.Attr(n, "typeof"); s.ctx.vocab == "" && name != "" && !strings.Contains(name, ":") {
		r.c.fault(Fault{
			Code:   "vocab_missing",
			Source: RDFa,
			Path:   dom.Selector(n),
			Line:   dom.Line(n),
			Detail: "The type " + excerpt.Chars(
				name,
				100,
			) + ` belongs to no vocabulary: add vocab="https://schema.org/" around it.`,
		})
		s.ctx = &context{parent: s.ctx, vocab: vocabulary, base: s.ctx.base} // what was meant
	}
	e := &annotated{r: r, n: n, s: s}
	e.read()
	return e.inner()
}

func (r *resources) context(n *html.Node, ctx *context) *context {
	vocab, prefix := dom.Has(n, "vocab"), dom.Attr(n, "prefix")
	if !vocab && prefix == "" {
		return ctx
	}
	next := &context{parent: ctx, vocab: ctx.vocab, base: ctx.base, terms: map[string]term{}}
	if vocab {
		next.vocab = strings.TrimSpace(dom.Attr(n, "vocab"))
		if name, ok := shortVocabulary(next.vocab); ok {
			next.vocab = name
		}
	}
	words := strings.Fields(prefix)
	for i := 0; i+1 < len(words) && i < 100; i += 2 {
		next.terms[strings.TrimSuffix(words[i], ":")] = term{address: words[i+1]}
	}
	return next
}

func shortVocabulary(address string) (string, bool) {
	switch strings.ToLower(strings.TrimRight(address, "/#")) {
	case "https://schema.org", "http://schema.org", "https://www.schema.org", "http://www.schema.org", "schema.org",
		"//schema.org":
		return vocabulary, true
	}
	return "", false
}

// annotated is an element on its way through the steps of RDFa Core 7.5.
type annotated struct {
	r       *resources
	n       *html.Node
	s       scope
	subject *Node // of the properties on this element
	object  *Node // what the element stands for to those inside
	typed   *Node // what typeof describes
	rel     []string
	rev     []string
}

func (e *annotated) has(name string) bool { return dom.Has(e.n, name) }

func (e *annotated) read() {
	e.rel, e.rev = e.names("rel"), e.names("rev")
	properties := e.names("property")
	literal := e.has("content") || e.has("datatype")
	about := e.about()
	target, hasTarget := e.target()
	e.subject = about
	switch {
	case len(e.rel)+len(e.rev) > 0:
		e.relations(about, target, hasTarget)
	case len(properties) > 0 && !literal:
		if e.subject == nil {
			e.subject = e.s.subject
		}
		if e.has("typeof") {
			e.typed = about
			if e.typed == nil {
				e.typed = e.thing(target)
			}
			e.object = e.typed
		}
	default:
		if e.subject == nil && (hasTarget || e.has("typeof")) {
			e.subject = e.thing(target)
		}
		if e.has("typeof") {
			e.typed = e.subject
		}
		if e.subject == nil {
			e.subject = e.s.subject
		}
	}
	e.types()
	for _, name := range properties {
		e.property(name, about != nil, target, hasTarget && len(e.rel)+len(e.rev) == 0)
	}
}

// relations reads rel and rev.
func (e *annotated) relations(about *Node, target string, hasTarget bool) {
	if hasTarget {
		e.object = e.thing(target)
	} else if e.has("typeof") && about == nil {
		e.object = e.thing("")
	}
	if e.has("typeof") {
		e.typed = about
		if about == nil {
			e.typed = e.object
		}
	}
	if e.subject == nil {
		e.subject = e.s.subject
	}
	if e.object != nil {
		e.r.relate(e.subject, e.rel, e.object)
		e.r.relate(e.object, e.rev, e.subject)
	}
}

// inner is what holds for the elements inside.
func (e *annotated) inner() scope {
	next := e.s
	switch {
	case e.object != nil:
		next.subject = e.object
	case e.subject != nil:
		next.subject = e.subject
	}
	if next.subject != e.s.subject {
		next.depth++
	}
	// A rel without an object waits for the things inside; a thing that came ends
	// the waiting of those around it.
	subject := e.subject
	if subject != nil && subject != e.s.subject || e.typed != nil {
		came := e.typed
		if came == nil {
			came = subject
		}
		for _, h := range e.s.hanging {
			e.r.relate(h.subject, h.names, came)
		}
		next.hanging = nil
	}
	if len(e.rel) > 0 && e.object == nil {
		owner := e.subject
		if owner == nil {
			owner = e.s.subject
		}
		next.hanging = append(slices.Clone(next.hanging), hang{e.rel, owner})
	}
	return next
}

// names reads the names in an attribute; those that mean nothing are left out.
func (e *annotated) names(attribute string) []string {
	var names []string
	for name := range strings.FieldsSeq(dom.Attr(e.n, attribute)) {
		prefix, _, qualified := strings.Cut(strings.ToLower(name), ":")
		switch {
		case attribute != "property" && !qualified &&
			(e.has("property") || attribute == "rel" && slices.Contains(linkTypes, prefix)):
			continue
		case attribute == "property" && qualified && e.n.DataAtom == atom.Meta && slices.Contains(metaPrefixes, prefix):
			continue
		}
		if full := e.s.ctx.expand(name); full != "" {
			names = append(names, full)
		}
	}
	return names
}

func (e *annotated) about() *Node {
	if !e.has("about") {
		return nil
	}
	return e.thing(e.s.ctx.absolute(safe(dom.Attr(e.n, "about"), e.r.c.doc)))
}

// target is the address that the element names.
func (e *annotated) target() (string, bool) {
	for _, name := range []string{"resource", "href", "src"} {
		if e.has(name) {
			return e.s.ctx.absolute(safe(dom.Attr(e.n, name), e.r.c.doc)), true
		}
	}
	return "", false
}

// safe writes an empty address out: it is the page.
func safe(address string, d *dom.Document) string {
	address = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(address), "["), "]")
	if address == "" {
		return d.Base.String()
	}
	return address
}

// thing returns the node with an id, or a new one without.
func (e *annotated) thing(id string) *Node {
	if n := e.r.byID[id]; n != nil && id != "" {
		return n
	}
	if !e.r.c.hasRoom(RDFa, dom.Line(e.n), e.s.depth) {
		return e.s.subject
	}
	n := &Node{ID: id, Source: RDFa, Path: dom.Selector(e.n), Line: dom.Line(e.n)}
	if id != "" {
		e.r.byID[id] = n
	}
	e.r.order = append(e.r.order, n)
	return n
}

func (e *annotated) types() {
	if e.typed == nil {
		return
	}
	for name := range strings.FieldsSeq(dom.Attr(e.n, "typeof")) {
		full := e.s.ctx.expand(name)
		if full != "" && !slices.Contains(e.typed.Types, full) {
			e.typed.Types = append(e.typed.Types, full)
		}
	}
	if e.typed.Line == 0 || len(e.typed.Props) == 0 {
		e.typed.Path, e.typed.Line = dom.Selector(e.n), dom.Line(e.n)
	}
}

func (e *annotated) property(name string, about bool, target string, hasTarget bool) {
	v := Value{Kind: Text, Line: dom.Line(e.n), Type: e.s.ctx.expand(dom.Attr(e.n, "datatype"))}
	switch {
	case e.has("content"):
		v.Text = strings.TrimSpace(dom.Attr(e.n, "content"))
	case e.has("datatype") && dom.Attr(e.n, "datatype") != "":
		v.Text = dom.Text(e.n)
	case e.n.DataAtom == atom.Time && e.has("datetime"):
		v.Text = strings.TrimSpace(dom.Attr(e.n, "datetime"))
	case e.n.DataAtom == atom.Data && e.has("value"):
		v.Text = strings.TrimSpace(dom.Attr(e.n, "value"))
	case e.typed != nil && !about && e.typed != e.subject:
		e.r.relate(e.subject, []string{name}, e.typed)
		return
	case hasTarget:
		v.Kind, v.Text = Link, target
	default:
		v.Text = dom.Text(e.n)
	}
	if e.subject == nil { // the page itself is no thing of ours
		return
	}
	if name == rdfType && v.Kind == Link {
		e.subject.Types = append(e.subject.Types, shorten(v.Text))
		return
	}
	e.r.c.add(e.subject, v, name)
}

// relate makes a thing the value of properties. A thing that is in another
// already, or around it, is linked to.
func (r *resources) relate(subject *Node, names []string, object *Node) {
	if subject == nil || object == nil || len(names) == 0 {
		return
	}
	if r.inside == nil {
		r.inside = map[*Node]bool{}
	}
	v := Value{Kind: Thing, Node: object, Line: object.Line}
	if r.inside[object] || subject == object || r.holds(object, subject, 0) {
		r.c.name(object)
		v = Value{Kind: Link, Text: object.ID, Line: object.Line}
	}
	if names[0] == rdfType && object.ID != "" {
		subject.Types = append(subject.Types, shorten(object.ID))
		return
	}
	r.inside[object] = r.inside[object] || v.Kind == Thing
	r.c.add(subject, v, names...)
}

// holds reports whether a thing is inside another. What is too
// deep counts as inside: it is linked to instead.
func (r *resources) holds(outer, inner *Node, depth int) bool {
	if depth > MaxDepth {
		return true
	}
	for _, p := range outer.Props {
		for _, v := range p.Values {
			if v.Kind == Thing && (v.Node == inner || r.holds(v.Node, inner, depth+1)) {
				return true
			}
		}
	}
	return false
}
