package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"

	"github.com/google/go-cmp/cmp"
)

type noteInput struct {
	ID    string `path:"id" minLength:"2" doc:"Which note."`
	Limit int    `query:"limit" minimum:"1" maximum:"50" default:"20"`
	Kind  string `header:"X-Kind" enum:"short,long"`
	Token string `cookie:"session"`
	Body  note
}

type note struct {
	Title string            `json:"title" minLength:"1" maxLength:"10" pattern:"^[a-z]+$" doc:"One word."`
	Mail  string            `json:"mail,omitempty" format:"email"`
	Link  string            `json:"link,omitempty" format:"uri"`
	Lines []line            `json:"lines,omitempty" maxItems:"2"`
	Meta  map[string]string `json:"meta,omitempty"`
}

type line struct {
	Quantity int `json:"quantity" minimum:"1"`
}

type noteOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     noteAnswer
}

type noteAnswer struct {
	Seen  string  `json:"seen"`
	Limit int     `json:"limit"`
	Note  note    `json:"note"`
	Maybe *string `json:"maybe"`
}

type server struct {
	mux *httpserver.Mux
	api *openapi.API
	log bytes.Buffer
}

func setup(t *testing.T) *server {
	t.Helper()
	s := &server{mux: httpserver.NewMux(nil)}
	s.api = openapi.New(s.mux, "Notes", "1.0.0",
		&openapi.Options{Servers: []string{"https://notes.example"}, MaxBodyBytes: 400})
	openapi.Handle(s.api, openapi.Operation{Method: "PUT", Path: "/notes/{id}", ID: "putNote", Summary: "Keep a note"},
		func(_ context.Context, in *noteInput) (*noteOutput, error) {
			if in.ID == "gone" {
				return nil, problem.New(problem.Gone, "note_gone", "The note was removed.")
			}
			if in.ID == "fault" {
				return nil, errors.New("secret inner text")
			}
			out := &noteOutput{Status: 201, Location: "/notes/" + in.ID}
			out.Body = noteAnswer{Seen: in.ID + in.Kind + in.Token, Limit: in.Limit, Note: in.Body}
			return out, nil
		})
	return s
}

func (s *server) do(t *testing.T, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	httpserver.Chain(s.mux, httpserver.Instrument(slog.New(slog.NewTextHandler(&s.log, nil)), "store", nil)).ServeHTTP(
		w, r)
	return w
}

func put(path, body string) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPut, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func TestHandle(t *testing.T) {
	t.Parallel()
	s := setup(t)
	r := put("/notes/n1?limit=7", `{"title":"abc","lines":[{"quantity":2}]}`)
	r.Header.Set("X-Kind", "long")
	r.AddCookie(&http.Cookie{Name: "session", Value: "tok"})
	w := s.do(t, r)
	want := `{"seen":"n1longtok","limit":7,"note":{"title":"abc","lines":[{"quantity":2}]},"maybe":null}` + "\n"
	if w.Code != 201 || w.Header().Get("Location") != "/notes/n1" || w.Body.String() != want {
		t.Errorf("PUT = %d %q %s, want 201 %s", w.Code, w.Header().Get("Location"), w.Body, want)
	}
	if ct := w.Header().Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type = %q, want application/json", ct)
	}
	w = s.do(t, put("/notes/n1", `{"title":"abc"}`))
	if !strings.Contains(w.Body.String(), `"limit":20`) {
		t.Errorf("answer without limit = %s, want the default 20", w.Body)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path, body string
		status           int
		code             string
		items            []problem.Item
	}{
		{name: "problem of the handler", path: "/notes/gone", body: `{"title":"a"}`, status: 410, code: "note_gone"},
		{name: "internal fault", path: "/notes/fault", body: `{"title":"a"}`, status: 500, code: "internal_error"},
		{name: "not JSON", path: "/notes/n1", body: `{"title":hunter2}`, status: 400, code: "invalid_json"},
		{
			name: "duplicate", path: "/notes/n1", body: `{"title":"a","title":"hunter2"}`, status: 400,
			code: "invalid_json",
		},
		{name: "empty", path: "/notes/n1", body: ``, status: 400, code: "body_required"},
		{
			name: "too large", path: "/notes/n1", body: `{"title":"` + strings.Repeat("a", 400) + `"}`, status: 413,
			code: "request_too_large",
		},
		{
			name: "required", path: "/notes/n1", body: `{}`, status: 400, code: "invalid_request",
			items: []problem.Item{{Pointer: "/title", Code: "required", Detail: "Is required."}},
		},
		{
			name: "unknown member", path: "/notes/n1", body: `{"title":"a","hunter2/x":1}`, status: 400,
			code: "invalid_request",
			items: []problem.Item{{
				Pointer: "/hunter2~1x", Code: "unknown_field",
				Detail: "There is no such field here. Remove it or check its spelling.",
			}},
		},
		{
			name: "wrong type deep inside", path: "/notes/n1",
			body: `{"title":"a","lines":[{"quantity":1},{"quantity":"two"}]}`, status: 400, code: "invalid_request",
			items: []problem.Item{{
				Pointer: "/lines/1/quantity", Code: "invalid_type",
				Detail: "Must be a whole number.",
			}},
		},
		{
			name: "range", path: "/notes/n1", body: `{"title":"a","lines":[{"quantity":0}]}`, status: 400,
			code:  "invalid_request",
			items: []problem.Item{{Pointer: "/lines/0/quantity", Code: "out_of_range", Detail: "Must be at least 1."}},
		},
		{
			name: "length and pattern", path: "/notes/n1", body: `{"title":"HUNTER2HUNTER2"}`, status: 400,
			code: "invalid_request",
			items: []problem.Item{
				{Pointer: "/title", Code: "invalid_length", Detail: "Characters allowed at most: 10."},
				{Pointer: "/title", Code: "invalid_format", Detail: "Must match the pattern ^[a-z]+$."},
			},
		},
		{
			name: "e-mail", path: "/notes/n1", body: `{"title":"a","mail":"hunter2"}`, status: 400,
			code:  "invalid_request",
			items: []problem.Item{{Pointer: "/mail", Code: "invalid_format", Detail: "Must be an e-mail address."}},
		},
		{
			name: "address", path: "/notes/n1", body: `{"title":"a","link":"http://[hunter2"}`, status: 400,
			code: "invalid_request",
			items: []problem.Item{{
				Pointer: "/link", Code: "invalid_format",
				Detail: "Must be an address such as https://example.com/path.",
			}},
		},
		{
			name: "too many", path: "/notes/n1",
			body: `{"title":"a","lines":[{"quantity":1},{"quantity":1},{"quantity":1}]}`, status: 400,
			code:  "invalid_request",
			items: []problem.Item{{Pointer: "/lines", Code: "invalid_length", Detail: "Entries allowed at most: 2."}},
		},
		{
			name: "parameters", path: "/notes/n?limit=hunter2", body: `{"title":"a"}`, status: 400,
			code: "invalid_request",
			items: []problem.Item{
				{Pointer: "id", Code: "invalid_length", Detail: "Characters needed at least: 2."},
				{Pointer: "limit", Code: "invalid_type", Detail: "Must be a whole number."},
			},
		},
		{
			name: "null for a string", path: "/notes/n1", body: `{"title":null}`, status: 400, code: "invalid_request",
			items: []problem.Item{{Pointer: "/title", Code: "invalid_type", Detail: "Must be a string."}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			w := s.do(t, put(tt.path, tt.body))
			var got httpserver.ProblemBody
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatalf("body %s: %v", w.Body, err)
			}
			if w.Code != tt.status || got.Code != tt.code ||
				w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("answer = %d %s, want %d %s", w.Code, w.Body, tt.status, tt.code)
			}
			if diff := cmp.Diff(tt.items, got.Errors); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if text := w.Body.String(); strings.Contains(strings.ReplaceAll(text, "/hunter2~1x", ""), "unter2") ||
				strings.Contains(text, "secret inner") {
				t.Errorf("answer echoes input or inner text: %s", text)
			}
		})
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	for media, want := range map[string]int{
		"": 201, "application/json": 201,
		"application/vnd.x+json; charset=utf-8": 201, "text/plain": 415, "application/x-www-form-urlencoded": 415,
	} {
		r := put("/notes/n1", `{"title":"a"}`)
		r.Header.Set("Content-Type", media)
		if w := setup(t).do(t, r); w.Code != want {
			t.Errorf("PUT as %q = %d %s, want %d", media, w.Code, w.Body, want)
		}
	}
}

func TestNoOtherRoutes(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, path := range []string{"/docs", "/openapi.json", "/openapi.yaml", "/schemas/Note", "/schemas/Note.json"} {
		if w := s.do(t, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)); w.Code != 404 {
			t.Errorf("GET %s = %d, want 404", path, w.Code)
		}
	}
}

func TestMiddlewareOfOneRoute(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var left time.Duration
	openapi.Handle(s.api, openapi.Operation{
		Method: "GET", Path: "/wait", ID: "wait", Middleware: []httpserver.Middleware{httpserver.AllowTime(time.Hour)},
	}, func(ctx context.Context, _ *struct{}) (*struct{}, error) {
		deadline, _ := ctx.Deadline()
		left = time.Until(deadline)
		return nil, nil
	})
	if w := s.do(t, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/wait", nil)); w.Code != 204 ||
		left < 59*time.Minute {
		t.Errorf("GET /wait = %d with %s left, want 204 with an hour", w.Code, left)
	}
}

func FuzzPutNote(f *testing.F) {
	for _, seed := range []string{
		`{"title":"a"}`, `{}`, `[]`, `null`, `{"title":1,"lines":{}}`, `{"lines":[null]}`,
		`{"meta":{"a":1}}`, "\x00",
	} {
		f.Add(seed)
	}
	mux := httpserver.NewMux(nil)
	api := openapi.New(mux, "Notes", "1", nil)
	openapi.Handle(api, openapi.Operation{Method: "PUT", Path: "/notes/{id}", ID: "putNote"},
		func(context.Context, *noteInput) (*noteOutput, error) { return &noteOutput{Status: 200}, nil })
	f.Fuzz(func(t *testing.T, body string) {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, put("/notes/n1", body))
		if w.Code >= 500 {
			t.Errorf("PUT %q = %d %s, want no 5xx", body, w.Code, w.Body)
		}
		if w.Code != 200 && !json.Valid(w.Body.Bytes()) {
			t.Errorf("PUT %q answered %q, want a problem", body, w.Body)
		}
	})
}

func BenchmarkHandle(b *testing.B) {
	mux := httpserver.NewMux(nil)
	api := openapi.New(mux, "Notes", "1", nil)
	openapi.Handle(api, openapi.Operation{Method: "PUT", Path: "/notes/{id}", ID: "putNote"},
		func(context.Context, *noteInput) (*noteOutput, error) { return &noteOutput{Status: 200}, nil })
	b.ReportAllocs()
	for b.Loop() {
		mux.ServeHTTP(httptest.NewRecorder(), put("/notes/n1", `{"title":"abc","lines":[{"quantity":2}]}`))
	}
}
