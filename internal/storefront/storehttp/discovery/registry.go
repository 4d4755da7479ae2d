package discovery

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
)

// Class is what a request counts as (package admission).
type Class string

// The classes.
const (
	Document  Class = "document"
	API       Class = "api"
	ByMessage Class = "message" // the endpoint counts the messages of a body
	Exempt    Class = "exempt"
)

// Entry is one companion of the site: a document, or an endpoint.
type Entry struct {
	Key     string   // names it, also in site.json
	Path    string   // where it is
	Aliases []string // further paths with the same bytes
	Method  string   // of an endpoint that is not read; empty: GET
	// Types are the media types that the same bytes may be served as, with their
	// parameters. The first is the default. None: an endpoint that is not read.
	Types []string
	Rel   string // in the Link header of pages; empty: not there
	Class Class
	Age   int // seconds that it may be kept
	// Describes says which API the document describes, by the key of its
	// endpoint, and in which way: relations of RFC 8631.
	Describes []Relation
	ID, About string // operation id and summary in openapi.json; no ID: described elsewhere
	// Arguments says that a request without arguments is refused.
	Arguments bool

	render render // nil: served by another package
	// every is how often the document changes by time alone; 0: never.
	every time.Duration
}

// Relation ties a document to an API.
type Relation struct{ API, Rel string }

// render writes the bytes of a document as they are now, and header fields that
// the document alone has.
type render func(context.Context, http.Header) ([]byte, error)

// Link is a URL with the media type of its document.
type Link struct{ Path, URL, Type string }

// Registry is the list of companions. It is safe for concurrent use.
type Registry struct {
	config    Config
	entries   []Entry
	published map[string]*published // by key
	texts     *texts
	webmcp    http.HandlerFunc // nil: there are no tools
}

// New returns the registry of a store. It fails only if its own texts are at
// fault.
func New(c Config) (*Registry, error) {
	texts, err := loadTexts()
	if err != nil {
		return nil, err
	}
	r := &Registry{config: c, texts: texts, published: map[string]*published{}}
	r.entries = r.table()
	for i := range r.entries {
		r.published[r.entries[i].Key] = &published{}
	}
	if c.MCP != nil {
		r.webmcp, err = r.script()
	}
	return r, err
}

// Entries are all companions, in the order in which documents name them.
func (r *Registry) Entries() []Entry { return r.entries }

// Link finds a companion by its key; ok is false where the store has none.
func (r *Registry) Link(key string) (l Link, ok bool) {
	e := r.entry(key)
	if e == nil {
		return Link{}, false
	}
	l = Link{Path: e.Path, URL: r.config.BaseURL + e.Path}
	if len(e.Types) > 0 {
		l.Type, _, _ = strings.Cut(e.Types[0], ";")
	}
	return l, true
}

// Links are the addresses of all companions by their keys, with the pages that
// name a contact.
func (r *Registry) Links() map[string]string {
	links := map[string]string{}
	for i := range r.entries {
		links[r.entries[i].Key] = r.config.BaseURL + r.entries[i].Path
	}
	for _, page := range []string{"support", "docs", "contact"} {
		if r.hasPage("/" + page) {
			links[page] = r.config.BaseURL + "/" + page
		}
	}
	return links
}

// Capabilities say in single words what agents can do here.
func (r *Registry) Capabilities() []string {
	if r.config.Services {
		return []string{"read", "search", "buy", "paid_services"}
	}
	return []string{"read", "search", "buy"}
}

// Header are the values of the Link header of pages (RFC 8288).
func (r *Registry) Header() []string {
	var links []string
	for i := range r.entries {
		if e := &r.entries[i]; e.Rel != "" {
			l, _ := r.Link(e.Key)
			links = append(links, fmt.Sprintf(`<%s>; rel="%s"; type="%s"`, l.Path, e.Rel, l.Type))
		}
	}
	return links
}

// Mount adds the documents that the registry renders, and describes them.
func (r *Registry) Mount(api *openapi.API, handle func(string, http.HandlerFunc, ...httpserver.Middleware)) {
	if r.webmcp != nil {
		handle("GET "+ScriptPath, r.webmcp)
	}
	for i := range r.entries {
		e := &r.entries[i]
		r.describe(api, e)
		if e.render == nil {
			continue
		}
		serve := r.handler(e, e.render)
		for _, path := range append([]string{e.Path}, e.Aliases...) {
			handle("GET "+path, serve)
			handle("OPTIONS "+path, preflight)
		}
	}
}

func (r *Registry) entry(key string) *Entry {
	for i := range r.entries {
		if r.entries[i].Key == key {
			return &r.entries[i]
		}
	}
	return nil
}

// address is where a companion is; empty: the store has none.
func (r *Registry) address(key string) string {
	l, _ := r.Link(key)
	return l.URL
}

func (r *Registry) hasPage(path string) bool {
	_, ok := r.config.Pages.Snapshot().Entry(path)
	return ok
}

func (r *Registry) describe(api *openapi.API, e *Entry) {
	if e.ID == "" {
		return
	}
	content := openapi.Content{Description: "The document."}
	content.MediaType, _, _ = strings.Cut(e.Types[0], ";")
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: e.Path, ID: e.ID, Tags: []string{"discovery"}, Summary: e.About,
		Description: "Sent as " + e.Types[0] + " with an ETag: a request with If-None-Match gets 304 while nothing " +
			"has changed.",
		Unlimited: e.Class == Exempt,
	}, openapi.Description{Responses: map[int]openapi.Content{http.StatusOK: content}})
}
