package markup

import (
	"net/url"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/datapack/schemaorg"
)

// vocabulary is the address that short names are under.
const vocabulary = "https://schema.org/"

// context is what JSON-LD calls the active context, as far as a page can state
// it without fetching anything.
type context struct {
	parent   *context
	vocab    string // the vocabulary of names without a definition; empty: none
	base     *url.URL
	language string
	terms    map[string]term
}

type term struct {
	address string // may be a keyword; empty: the term is switched off
	links   bool   // its text values are addresses
	reverse bool
	list    string // @container
}

func (c *context) term(name string) (term, bool) {
	for ; c != nil; c = c.parent {
		if t, ok := c.terms[name]; ok {
			return t, true
		}
	}
	return term{}, false
}

// keyword returns which keyword of JSON-LD a name stands for, or empty.
func (c *context) keyword(name string) string {
	if strings.HasPrefix(name, "@") {
		return name
	}
	if t, ok := c.term(name); ok && strings.HasPrefix(t.address, "@") {
		return t.address
	}
	return ""
}

// prefixes are those that the context of schema.org defines and pages use.
var prefixes = map[string]string{
	"schema": vocabulary, "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
	"rdfs": "http://www.w3.org/2000/01/rdf-schema#",
	"xsd":  "http://www.w3.org/2001/XMLSchema#", "dc": "http://purl.org/dc/elements/1.1/",
	"dct":     "http://purl.org/dc/terms/",
	"dcterms": "http://purl.org/dc/terms/", "foaf": "http://xmlns.com/foaf/0.1/",
	"skos": "http://www.w3.org/2004/02/skos/core#",
	"owl":  "http://www.w3.org/2002/07/owl#", "gr": "http://purl.org/goodrelations/v1#", "og": "http://ogp.me/ns#",
	"rdfa":  "http://www.w3.org/ns/rdfa#",
	"vcard": "http://www.w3.org/2006/vcard/ns#", "dcat": "http://www.w3.org/ns/dcat#",
	"prov": "http://www.w3.org/ns/prov#",
	"ctag": "http://commontag.org/ns#", "sioc": "http://rdfs.org/sioc/ns#", "v": "http://rdf.data-vocabulary.org/#",
	"cc": "http://creativecommons.org/ns#",
}

// expand makes the name of a type or property: short for schema.org, an
// address for others, empty where the context does not define it.
func (c *context) expand(name string) string { return c.resolve(name, 0) }

func (c *context) resolve(name string, depth int) string {
	if name == "" || depth > 8 { // terms that are defined by one another
		return ""
	}
	if t, ok := c.term(name); ok {
		if t.address == "" || t.address == name || strings.HasPrefix(t.address, "@") {
			return shorten(t.address)
		}
		return c.resolve(t.address, depth+1)
	}
	if prefix, rest, ok := strings.Cut(name, ":"); ok {
		if strings.HasPrefix(rest, "//") {
			return shorten(name)
		}
		if t, ok := c.term(prefix); ok && t.address != "" {
			return shorten(c.address(prefix, depth) + rest)
		}
		if known, ok := prefixes[prefix]; ok {
			return shorten(known + rest)
		}
		return name
	}
	if c.vocab == "" {
		return ""
	}
	return shorten(c.vocab + name)
}

// address is the whole address that a prefix stands for.
func (c *context) address(prefix string, depth int) string {
	t, _ := c.term(prefix)
	if before, rest, ok := strings.Cut(t.address, ":"); ok && !strings.HasPrefix(rest, "//") && depth < 8 {
		if known, ok := prefixes[before]; ok {
			return known + rest
		}
		if _, ok := c.term(before); ok {
			return c.address(before, depth+1) + rest
		}
	}
	return t.address
}

func shorten(address string) string {
	name, ok := schemaorg.Short(address)
	if ok && name == "" {
		return address
	}
	return name
}

// absolute resolves an @id.
func (c *context) absolute(id string) string {
	id = strings.TrimSpace(id)
	if id == "" || strings.HasPrefix(id, "_:") {
		return id
	}
	if prefix, rest, ok := strings.Cut(id, ":"); ok && !strings.HasPrefix(rest, "//") {
		if t, ok := c.term(prefix); ok && t.address != "" {
			return c.address(prefix, 0) + rest
		}
		if known, ok := prefixes[prefix]; ok {
			return known + rest
		}
	}
	u, err := c.base.Parse(id)
	if err != nil {
		return id
	}
	return u.String()
}

// extend reads an @context on top of c. The notes say what is odd about it.
func (c *context) extend(v value, note func(code, detail string, line int)) *context {
	switch v.kind {
	case '[':
		for i, inner := range v.items {
			if i == 10 {
				break
			}
			c = c.extend(inner, note)
		}
		return c
	case '0':
		return &context{base: c.base}
	case 's':
		return c.remote(v, note)
	case '{':
		return c.local(v)
	default:
		note("context_unreadable", "@context is neither an address nor an object.", v.line)
		return c
	}
}

// remote stands for a context that is named by its address. That of schema.org
// is known; others are not fetched.
func (c *context) remote(v value, note func(code, detail string, line int)) *context {
	next := &context{parent: c, vocab: c.vocab, base: c.base, language: c.language}
	address := strings.TrimSpace(v.text)
	host := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(address, "/"), "/docs/jsonldcontext.json"))
	host = strings.TrimSuffix(host, "/docs/jsonldcontext.jsonld")
	switch host {
	case "https://schema.org", "http://schema.org", "https://www.schema.org", "http://www.schema.org":
		next.vocab, next.terms = vocabulary, map[string]term{"type": {address: "@type"}, "id": {address: "@id"}}
	case "schema.org", "www.schema.org", "//schema.org", "//www.schema.org":
		next.vocab = vocabulary
		note("context_relative", "@context is "+address+", which is no whole address: write https://schema.org.",
			v.line)
	case "http://health-lifesci.schema.org", "http://pending.schema.org", "http://bib.schema.org",
		"http://auto.schema.org", "https://pending.schema.org":
		next.vocab = vocabulary // parts that schema.org once had addresses for
	default:
		note(
			"context_foreign",
			"@context names "+excerpt.Chars(
				address,
				100,
			)+", which is not fetched: what only it defines is not read.",
			v.line,
		)
	}
	return next
}

func (c *context) local(v value) *context {
	next := &context{parent: c, vocab: c.vocab, base: c.base, language: c.language, terms: map[string]term{}}
	for i, m := range v.members {
		if i == 500 {
			break
		}
		switch m.name {
		case "@vocab":
			next.vocab = m.value.text
			if name, ok := schemaorg.Short(m.value.text + "/"); ok && strings.Trim(name, "/") == "" {
				next.vocab = vocabulary // with or without its slash
			}
		case "@base":
			if u, err := c.base.Parse(m.value.text); err == nil {
				next.base = u
			}
		case "@language":
			next.language = m.value.text
		case "@version", "@protected", "@import", "@propagate", "@direction":
		default:
			next.terms[m.name] = next.define(m)
		}
	}
	return next
}

func (c *context) define(m member) term {
	switch m.value.kind {
	case 's':
		return term{address: m.value.text}
	case '{':
		t := term{address: m.name}
		if id, ok := m.value.member("@id"); ok {
			t.address = id.text
		}
		if id, ok := m.value.member("@reverse"); ok {
			t.address, t.reverse = id.text, true
		}
		if kind, ok := m.value.member("@type"); ok {
			t.links = kind.text == "@id" || kind.text == "@vocab"
		}
		if kind, ok := m.value.member("@container"); ok {
			t.list = kind.text
		}
		if t.address == m.name && c.parent != nil {
			t.address = c.parent.full(m.name)
		}
		return t
	default:
		return term{}
	}
}

// full is the address of a name that a definition leaves to the vocabulary.
func (c *context) full(name string) string {
	if strings.Contains(name, ":") || c.vocab == "" {
		return name
	}
	return c.vocab + name
}
