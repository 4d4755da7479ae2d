package answer

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// minCompressed is the size from which compressing a body is worth it, in
// bytes: smaller ones fit into one packet.
const minCompressed = 1400

// Options are the parts of a Document that have defaults.
type Options struct {
	// MaxAge is how long clients may cache the document, in seconds.
	MaxAge int
	// Basis is what the ETag is a digest of, beside the media type. Nil: the
	// body. It leaves out what changes without a meaning, such as the time of
	// the last check.
	Basis []byte
	// Modified is compared with If-Modified-Since and sent as Last-Modified. Zero:
	// neither.
	Modified time.Time
	// Header are further fields of the response. Vary, if it is there, stays.
	Header http.Header
	// Varies says that other media types are served at the same URL.
	Varies bool
	// Identity keeps the body as it is, where a digest in the header is of the
	// bytes as they are sent.
	Identity bool
}

// Document is a response that is ready to be sent many times: its body, also
// compressed with gzip where that is worth it, and its header. It never changes
// and is safe for concurrent use.
type Document struct {
	plain, compressed coded
	modified          time.Time
}

// coded is a document in one content coding.
type coded struct {
	body   []byte // nil: there is no such coding
	etag   string
	header http.Header // of 304 as well
	entity http.Header // of a response with the body only
}

// NewDocument prepares a body. A nil o stands for the defaults.
func NewDocument(mediaType string, body []byte, o *Options) (*Document, error) {
	if o == nil {
		o = new(Options)
	}
	var compressed []byte
	if len(body) >= minCompressed && !o.Identity {
		var err error
		if compressed, err = compress(body); err != nil {
			return nil, err
		}
	}
	header := maps.Clone(o.Header)
	if header == nil {
		header = http.Header{}
	}
	header.Set("Cache-Control", "public, max-age="+strconv.Itoa(o.MaxAge))
	if !o.Modified.IsZero() {
		header.Set("Last-Modified", o.Modified.UTC().Format(http.TimeFormat))
	}
	switch {
	case header.Get("Vary") != "": // is set already
	case o.Varies && compressed != nil:
		header.Set("Vary", "Accept, Accept-Encoding")
	case o.Varies:
		header.Set("Vary", "Accept")
	case compressed != nil:
		header.Set("Vary", "Accept-Encoding")
	}
	basis := o.Basis
	if basis == nil {
		basis = body
	}
	d := &Document{modified: o.Modified}
	d.plain = newCoded(mediaType, "", body, basis, header)
	if compressed != nil {
		d.compressed = newCoded(mediaType, "gzip", compressed, basis, header)
	}
	return d, nil
}

func newCoded(mediaType, coding string, body, basis []byte, header http.Header) coded {
	c := coded{
		body: body, etag: ETag(slices.Concat([]byte(mediaType+"\n"+coding+"\n"), basis)),
		header: maps.Clone(header), entity: http.Header{},
	}
	c.header.Set("ETag", c.etag)
	c.entity.Set("Content-Type", mediaType)
	c.entity.Set("Content-Length", strconv.Itoa(len(body)))
	if coding != "" {
		c.entity.Set("Content-Encoding", coding)
	}
	return c
}

func compress(body []byte) ([]byte, error) {
	var compressed bytes.Buffer
	w, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compressing a document: %w", err)
	}
	return compressed.Bytes(), nil
}

// Body is the body without a content coding. It must not be changed.
func (d *Document) Body() []byte { return d.plain.body }

// Write sends the document, or 304 if the client has it already.
func (d *Document) Write(w http.ResponseWriter, r *http.Request) {
	c := &d.plain
	if d.compressed.body != nil && AcceptsGzip(r) {
		c = &d.compressed
	}
	h := w.Header()
	maps.Copy(h, c.header)
	if d.isUnchanged(r, c.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	maps.Copy(h, c.entity)
	if r.Method != http.MethodHead {
		_, _ = w.Write(c.body) // the client has gone if this fails
	}
}

// isUnchanged reports whether the client has the document already (RFC 9110,
// 13.2.2: a tag goes before a time).
func (d *Document) isUnchanged(r *http.Request, etag string) bool {
	if tags := r.Header.Values("If-None-Match"); len(tags) > 0 {
		return Matches(strings.Join(tags, ","), etag)
	}
	since := r.Header.Get("If-Modified-Since")
	if since == "" || d.modified.IsZero() {
		return false
	}
	seen, err := http.ParseTime(since)
	return err == nil && !d.modified.After(seen)
}

// AcceptsGzip reports whether a client accepts gzip, by its name or by "*"
// (RFC 9110, 12.5.3).
func AcceptsGzip(r *http.Request) bool {
	byName, byRange := -1.0, -1.0
	for _, line := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(part, ";")
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, "gzip"):
				byName = weightOf(parameters)
			case name == "*":
				byRange = weightOf(parameters)
			}
		}
	}
	if byName >= 0 {
		return byName > 0
	}
	return byRange > 0
}

func weightOf(parameters string) float64 {
	if parameters == "" {
		return 1
	}
	return weight(strings.Split(parameters, ";"))
}
