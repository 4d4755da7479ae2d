package discovery

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/storefront/storehttp/answer"
)

// minPacked is the size from which a document is packed, in bytes.
const minPacked = 1400

// rendering is a document as it stood when it was last asked for. It never
// changes.
type rendering struct {
	body, packed []byte // packed is nil where that is not worth it
	since        time.Time
}

// kept remembers the rendering, so that a document that says the same keeps its
// time, and is packed once.
type kept struct{ now atomic.Pointer[rendering] }

func (k *kept) take(body []byte) (*rendering, error) {
	if last := k.now.Load(); last != nil && bytes.Equal(last.body, body) {
		return last, nil
	}
	next := &rendering{body: body, since: time.Now().UTC().Truncate(time.Second)}
	if len(body) >= minPacked {
		var packed bytes.Buffer
		zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err == nil {
			_, err = zip.Write(body)
		}
		if err == nil {
			err = zip.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("packing a document: %w", err)
		}
		next.packed = packed.Bytes()
	}
	k.now.Store(next)
	return next, nil
}

// Handler serves a companion whose bytes another part of the face renders, by
// the rules of all documents. A key that the registry does not have panics, at
// start.
func (r *Registry) Handler(key string, render func(context.Context) ([]byte, error)) http.HandlerFunc {
	e := r.entry(key)
	if e == nil {
		panic("discovery: no companion has the key " + key)
	}
	return r.handler(e, func(ctx context.Context, _ http.Header) ([]byte, error) { return render(ctx) })
}

func (r *Registry) handler(e *Entry, render render) http.HandlerFunc {
	kept := r.kept[e.Key]
	return func(w http.ResponseWriter, req *http.Request) {
		body, err := render(req.Context(), w.Header())
		if err == nil {
			err = e.write(w, req, kept, body)
		}
		if err != nil {
			httpserver.WriteProblem(w, req, err)
		}
	}
}

// Static serves a companion whose bytes do not change while the process runs.
func (r *Registry) Static(key string, body []byte) http.HandlerFunc {
	return r.Handler(key, func(context.Context) ([]byte, error) { return body, nil })
}

// Fixed serves a document that is no companion of its own, such as an older
// version of one, by the same rules.
func Fixed(mediaType string, age int, body []byte) http.HandlerFunc {
	e, k := &Entry{Types: []string{mediaType}, Age: age}, &kept{}
	return func(w http.ResponseWriter, req *http.Request) {
		if err := e.write(w, req, k, body); err != nil {
			httpserver.WriteProblem(w, req, err)
		}
	}
}

// Serve answers a request with the bytes of a companion, which may be kept for
// age seconds.
func (r *Registry) Serve(w http.ResponseWriter, req *http.Request, key string, body []byte, age int) error {
	entry := *r.entry(key)
	entry.Age = age
	return entry.write(w, req, r.kept[key], body)
}

func (e *Entry) write(w http.ResponseWriter, req *http.Request, k *kept, body []byte) error {
	current, err := k.take(body)
	if err != nil {
		return err
	}
	mediaType := e.choose(req.Header.Get("Accept"))
	packed := current.packed != nil && takesGzip(req) && e.Key != "bot_keys" // whose digest is of the bytes as they are sent
	h := w.Header()
	openTo(h)
	etag := etagOf(mediaType, packed, current.body)
	h.Set("ETag", etag)
	h.Set("Last-Modified", current.since.Format(http.TimeFormat))
	h.Set("Cache-Control", "public, max-age="+strconv.Itoa(e.Age))
	e.vary(h, current)
	if unchanged(req, etag, current.since) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", mediaType)
	content := current.body
	if packed {
		content = current.packed
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	if req.Method != http.MethodHead {
		_, _ = w.Write(content) // the client has gone if this fails
	}
	return nil
}

// choose answers the media type that a client likes best. Who takes none of
// them gets the first: a refusal helps nobody.
func (e *Entry) choose(accept string) string {
	names := make([]string, len(e.Types))
	for i, t := range e.Types {
		names[i], _, _ = strings.Cut(t, ";")
	}
	best, ok := answer.Preferred(accept, names...)
	for i, name := range names {
		if ok && name == best {
			return e.Types[i]
		}
	}
	return e.Types[0]
}

func (e *Entry) vary(h http.Header, current *rendering) {
	var names []string
	if len(e.Types) > 1 {
		names = append(names, "Accept")
	}
	if current.packed != nil {
		names = append(names, "Accept-Encoding")
	}
	if len(names) > 0 {
		h.Set("Vary", strings.Join(names, ", "))
	}
}

// openTo lets pages of other origins read an answer.
func openTo(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "ETag, Link, Retry-After")
	h.Set("X-Content-Type-Options", "nosniff")
}

// preflight lets pages of other origins ask with a condition.
func preflight(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	openTo(h)
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "Accept, Content-Type, If-None-Match, If-Modified-Since, MCP-Protocol-Version")
	h.Set("Access-Control-Max-Age", "86400")
	h.Set("Allow", "GET, HEAD, OPTIONS")
	w.WriteHeader(http.StatusNoContent)
}

// etagOf is a strong validator: other for each media type and coding.
func etagOf(mediaType string, packed bool, body []byte) string {
	digest := sha256.New()
	_, _ = fmt.Fprintf(digest, "%s\n%t\n", mediaType, packed) // a digest takes everything
	_, _ = digest.Write(body)
	return `"` + base64.RawURLEncoding.EncodeToString(digest.Sum(nil)[:16]) + `"`
}

// unchanged reports whether a client has the document already (RFC 9110,
// 13.2.2: a tag goes before a time).
func unchanged(req *http.Request, etag string, since time.Time) bool {
	if tags := strings.Join(req.Header.Values("If-None-Match"), ","); tags != "" {
		return answer.Matches(tags, etag)
	}
	seen, err := http.ParseTime(req.Header.Get("If-Modified-Since"))
	return err == nil && !since.After(seen)
}

// takesGzip reports whether a client names gzip with a weight, or everything.
func takesGzip(req *http.Request) bool {
	accept := strings.ToLower(strings.Join(req.Header.Values("Accept-Encoding"), ","))
	return answer.Quality(strings.ReplaceAll(accept, "gzip", "x/gzip"), "x/gzip") > 0
}
