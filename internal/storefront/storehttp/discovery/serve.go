package discovery

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/answer"
)

// published is a companion as it is served: one document for each of its media
// types. A rendering with the same bytes keeps the documents, and with them
// their time. It is safe for concurrent use.
type published struct {
	mu     sync.Mutex
	age    int
	since  time.Time
	byType []*answer.Document // nil before the first rendering
}

// set returns the documents of a body that may be cached for age seconds.
func (p *published) set(e *Entry, body []byte, header http.Header, age int) ([]*answer.Document, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := p.byType != nil && bytes.Equal(p.byType[0].Body(), body)
	if same && p.age == age && len(header) == 0 {
		return p.byType, nil
	}
	if !same {
		p.since = time.Now().UTC().Truncate(time.Second)
	}
	o := &answer.Options{
		MaxAge: age, Modified: p.since, Header: http.Header{}, Varies: len(e.Types) > 1,
		Identity: header.Get("Content-Digest") != "", // it is of the bytes as they are sent
	}
	maps.Copy(o.Header, header)
	openTo(o.Header)
	documents := make([]*answer.Document, len(e.Types))
	for i, mediaType := range e.Types {
		var err error
		if documents[i], err = answer.NewDocument(mediaType, body, o); err != nil {
			return nil, err
		}
	}
	p.byType, p.age = documents, age
	return documents, nil
}

// basis is what the documents of the registry follow from, beside the settings:
// the listing of the pages, and for some the time.
type basis struct {
	pages  *site.Snapshot
	period int64
}

func (r *Registry) basis(e *Entry) basis {
	b := basis{pages: r.config.Pages.Snapshot()}
	if e.every > 0 {
		b.period = time.Now().Truncate(e.every).Unix()
	}
	return b
}

// handler serves an entry, which is rendered once for each basis.
func (r *Registry) handler(e *Entry, render render) http.HandlerFunc {
	published := r.published[e.Key]
	var memo answer.Memo[basis, []*answer.Document]
	return func(w http.ResponseWriter, req *http.Request) {
		documents, err := memo.Get(r.basis(e), func() ([]*answer.Document, error) {
			header := http.Header{}
			body, err := render(req.Context(), header)
			if err != nil {
				return nil, err
			}
			return published.set(e, body, header, e.Age)
		})
		if err != nil {
			httpserver.WriteProblem(w, req, err)
			return
		}
		e.choose(documents, req.Header.Get("Accept")).Write(w, req)
	}
}

// OfPages serves a companion that follows from the listing of the pages and is
// rendered once for each. A key that the registry does not have panics, at
// start.
func (r *Registry) OfPages(key string, render func(context.Context) ([]byte, error)) http.HandlerFunc {
	return r.handler(r.mustHave(key),
		func(ctx context.Context, _ http.Header) ([]byte, error) { return render(ctx) })
}

func (r *Registry) mustHave(key string) *Entry {
	e := r.entry(key)
	if e == nil {
		panic("discovery: no companion has the key " + key)
	}
	return e
}

// Static serves a companion whose bytes do not change while the process runs.
func (r *Registry) Static(key string, body []byte) http.HandlerFunc {
	return r.OfPages(key, func(context.Context) ([]byte, error) { return body, nil })
}

// Fixed serves a document that is no companion of its own, such as an older
// version of one, by the same rules. It does not change while the process runs.
func Fixed(mediaType string, age int, body []byte) http.HandlerFunc {
	e, p := &Entry{Types: []string{mediaType}}, &published{}
	prepared := sync.OnceValues(func() ([]*answer.Document, error) { return p.set(e, body, nil, age) })
	return func(w http.ResponseWriter, req *http.Request) {
		documents, err := prepared()
		if err != nil {
			httpserver.WriteProblem(w, req, err)
			return
		}
		documents[0].Write(w, req)
	}
}

// Serve writes the bytes of a companion, which may be cached for age seconds.
func (r *Registry) Serve(w http.ResponseWriter, req *http.Request, key string, body []byte, age int) error {
	e := r.entry(key)
	documents, err := r.published[key].set(e, body, nil, age)
	if err != nil {
		return err
	}
	e.choose(documents, req.Header.Get("Accept")).Write(w, req)
	return nil
}

// choose returns the document of the media type that a client likes best. A
// client that accepts none of them gets the first: a refusal helps nobody.
func (e *Entry) choose(documents []*answer.Document, accept string) *answer.Document {
	if len(documents) == 1 || accept == "" {
		return documents[0]
	}
	names := make([]string, len(e.Types))
	for i, t := range e.Types {
		names[i], _, _ = strings.Cut(t, ";")
	}
	best, ok := answer.Preferred(accept, names...)
	for i, name := range names {
		if ok && name == best {
			return documents[i]
		}
	}
	return documents[0]
}

// openTo lets pages of other origins read a response.
func openTo(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "ETag, Link, Retry-After")
	h.Set("X-Content-Type-Options", "nosniff")
}

// preflight lets pages of other origins make conditional requests.
func preflight(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	openTo(h)
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
	h.Set("Access-Control-Allow-Headers",
		"Accept, Content-Type, If-None-Match, If-Modified-Since, MCP-Protocol-Version")
	h.Set("Access-Control-Max-Age", "86400")
	h.Set("Allow", "GET, HEAD, OPTIONS")
	w.WriteHeader(http.StatusNoContent)
}
