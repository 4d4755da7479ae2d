package answer

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func get(t *testing.T, d *Document, method string, fields ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/", nil)
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	d.Write(w, r)
	return w
}

func newDocument(t *testing.T, body string, o *Options) *Document {
	t.Helper()
	d, err := NewDocument("text/plain", []byte(body), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDocument(t *testing.T) {
	t.Parallel()
	modified := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	long := strings.Repeat("a line of text\n", 200)
	d := newDocument(t, long, &Options{
		MaxAge: 60, Modified: modified, Varies: true, Header: http.Header{"X-Other": {"yes"}},
	})
	plain, compressed := get(t, d, http.MethodGet), get(t, d, http.MethodGet, "Accept-Encoding", "br, gzip;q=0.5")
	if plain.Code != 200 || plain.Body.String() != long || plain.Header().Get("Content-Encoding") != "" {
		t.Errorf("plain = %d %v", plain.Code, plain.Header())
	}
	zip, err := gzip.NewReader(bytes.NewReader(compressed.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(zip); err != nil || string(text) != long ||
		compressed.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("compressed = %v, %v", compressed.Header(), err)
	}
	if plain.Header().Get("ETag") == compressed.Header().Get("ETag") {
		t.Error("two codings share a strong validator")
	}
	for name, want := range map[string]string{
		"Cache-Control": "public, max-age=60", "Vary": "Accept, Accept-Encoding", "X-Other": "yes",
		"Last-Modified": "Wed, 04 Mar 2026 05:06:07 GMT", "Content-Type": "text/plain",
	} {
		if got := plain.Header().Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	head := get(t, d, http.MethodHead)
	if head.Body.Len() != 0 || head.Header().Get("Content-Length") != plain.Header().Get("Content-Length") {
		t.Errorf("HEAD = %v with %d bytes", head.Header(), head.Body.Len())
	}
	etag := plain.Header().Get("ETag")
	conditions := []struct {
		fields []string
		status int
	}{
		{[]string{"If-None-Match", etag}, 304},
		{[]string{"If-None-Match", `"other", W/` + etag}, 304},
		{[]string{"If-None-Match", `"other"`, "If-None-Match", etag}, 304},
		{[]string{"If-None-Match", `"other"`, "If-Modified-Since", "Thu, 05 Mar 2026 05:06:07 GMT"}, 200},
		{[]string{"If-None-Match", etag, "Accept-Encoding", "gzip"}, 200}, // the tag of another coding
		{[]string{"If-Modified-Since", "Wed, 04 Mar 2026 05:06:07 GMT"}, 304},
		{[]string{"If-Modified-Since", "Wed, 04 Mar 2026 05:06:06 GMT"}, 200},
		{[]string{"If-Modified-Since", "yesterday"}, 200},
	}
	for _, tt := range conditions {
		w := get(t, d, http.MethodGet, tt.fields...)
		if w.Code != tt.status || tt.status == 304 && (w.Body.Len() != 0 || w.Header().Get("Content-Length") != "" ||
			w.Header().Get("ETag") == "") {
			t.Errorf("%v = %d %v, want %d", tt.fields, w.Code, w.Header(), tt.status)
		}
	}
}

func TestDocumentOptions(t *testing.T) {
	t.Parallel()
	short := newDocument(t, "short", nil)
	if w := get(t, short, http.MethodGet, "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" ||
		w.Header().Get("Vary") != "" || w.Header().Get("Last-Modified") != "" {
		t.Errorf("a short document = %v", w.Header())
	}
	if w := get(t, short, http.MethodGet, "If-Modified-Since", time.Now().Format(http.TimeFormat)); w.Code != 200 {
		t.Errorf("a document without a time = %d", w.Code)
	}
	identity := newDocument(t, strings.Repeat("a", 5000), &Options{Identity: true})
	if w := get(t, identity, http.MethodGet, "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" {
		t.Errorf("identity = %v", w.Header())
	}
	one, two := newDocument(
		t,
		"at 1",
		&Options{Basis: []byte("x")},
	), newDocument(
		t,
		"at 2",
		&Options{Basis: []byte("x")},
	)
	if a, b := get(
		t,
		one,
		http.MethodGet,
	).Header(),
		get(
			t,
			two,
			http.MethodGet,
		).Header(); a.Get(
		"ETag",
	) != b.Get(
		"ETag",
	) {
		t.Errorf("tags of one basis = %s, %s", a.Get("ETag"), b.Get("ETag"))
	}
	header := http.Header{"X-Other": {"a"}}
	d := newDocument(t, "body", &Options{Header: header})
	get(t, d, http.MethodGet).Header().Add("X-Other", "b")
	if got := get(t, d, http.MethodGet).Header().Values("X-Other"); len(got) != 1 || len(header) != 1 {
		t.Errorf("a response changed the document: %v, %v", got, header)
	}
}

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "br, gzip": true, "gzip;q=0": false, "gzip; q=0.1": true, "*": true,
		"*;q=0": false, "gzip;q=0, *": false, "identity": false, "x-gzip": false, "br;q=1,*;q=0.5": true,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		if field != "" {
			r.Header.Set("Accept-Encoding", field)
		}
		if got := AcceptsGzip(r); got != want {
			t.Errorf("AcceptsGzip(%q) = %v, want %v", field, got, want)
		}
	}
}

func TestMemo(t *testing.T) {
	t.Parallel()
	var m Memo[string, int]
	calls := 0
	create := func() (int, error) { calls++; return calls, nil }
	for _, step := range []struct {
		basis string
		want  int
	}{{"", 1}, {"", 1}, {"a", 2}, {"a", 2}, {"", 3}} {
		if got, err := m.Get(step.basis, create); got != step.want || err != nil {
			t.Errorf("Get(%q) = %d, %v, want %d", step.basis, got, err, step.want)
		}
	}
	broken := errors.New("broken")
	if _, err := m.Get("b", func() (int, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("Get = %v, want the error", err)
	}
	if got, err := m.Get("", create); got != 3 || err != nil {
		t.Errorf("after an error Get = %d, %v, want the stored value", got, err)
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	size := newDocument(t, strings.Repeat("a", 1000), nil).size()
	c := NewCache[string, int](3 * size)
	calls := 0
	ask := func(key string, basis, length int) {
		t.Helper()
		if _, err := c.Get(key, basis, func() (*Document, error) {
			calls++
			return NewDocument("text/plain", bytes.Repeat([]byte("a"), length), nil)
		}); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		key    string
		basis  int
		length int
		calls  int // so far
	}{
		{"a", 1, 1000, 1},
		{"a", 1, 1000, 1},
		{"a", 2, 1000, 2},
		{"b", 1, 1000, 3},
		{"c", 1, 1000, 4},
		{"a", 2, 1000, 4},
		{"d", 1, 1000, 5}, // no room: the others go
		{"d", 1, 1000, 5},
		{"a", 2, 1000, 6},
		{"huge", 1, 200_000, 7}, // compresses to nothing, but is stored whole
		{"huge", 1, 200_000, 8},
	}
	for i, step := range steps {
		if ask(step.key, step.basis, step.length); calls != step.calls {
			t.Errorf("step %d: %d documents made, want %d", i, calls, step.calls)
		}
		if c.size > c.limit || c.size < 0 {
			t.Errorf("step %d: %d bytes, want at most %d", i, c.size, c.limit)
		}
	}
}
