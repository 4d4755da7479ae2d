package httptool_test

import (
	"context"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/httptool"
	"ace/internal/platform/tool/file"
)

func TestBodiesWithFiles(t *testing.T) {
	t.Parallel()
	attachment := app.Input{Name: "file", Schema: map[string]any{"type": "string", "format": file.InputFormat}}
	title := app.Input{Name: "title", Schema: map[string]any{"type": "string"}}
	tests := []struct {
		name  string
		tool  app.Tool
		media string
		want  []string // in the body
	}{
		{
			"a form",
			app.Tool{Body: app.BodyMultipart, In: app.Inputs{title, attachment}},
			"multipart/form-data",
			[]string{`name="title"`, "Hi", `name="file"; filename="a\"b.txt"`, "Content-Type: text/plain", "content"},
		},
		{"itself", app.Tool{Body: app.BodyRaw, In: app.Inputs{attachment}}, "text/plain", []string{"content"}},
		{
			"inside JSON",
			app.Tool{Body: app.BodyJSON, In: app.Inputs{title, attachment}},
			"application/json",
			[]string{`"file":"Y29udGVudA=="`, `"title":"Hi"`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &recordingClient{}
			call := desk(t, "https://api.desk.example", "key", "search",
				map[string]any{"title": "Hi", "file": "file_1"})
			tt.tool.Call, tt.tool.ID = "POST /attach", "desk__attach"
			call.Tool = &tt.tool
			call.Open = func(_ context.Context, reference string) (*file.File, error) {
				if reference != "file_1" {
					return nil, problem.New(problem.NotFound, "file_not_found", "There is none.")
				}
				return &file.File{Name: `a"b.txt`, MediaType: "text/plain", Data: []byte("content")}, nil
			}
			if _, err := httptool.New(d, nil).Execute(t.Context(), call); err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(d.seen[0].Body)
			if err != nil {
				t.Fatal(err)
			}
			media, params, err := mime.ParseMediaType(d.seen[0].Header.Get("Content-Type"))
			if err != nil || media != tt.media {
				t.Errorf("media type %s, want %s", d.seen[0].Header.Get("Content-Type"), tt.media)
			}
			for _, want := range tt.want {
				if !strings.Contains(string(body), want) {
					t.Errorf("body %s lacks %s", body, want)
				}
			}
			if media == "multipart/form-data" {
				if _, err := multipart.NewReader(strings.NewReader(string(body)),
					params["boundary"]).ReadForm(1 << 20); err != nil {
					t.Errorf("the form cannot be read: %v", err)
				}
			}
			call.Arguments["file"] = "file_2"
			if _, err := httptool.New(d, nil).Execute(t.Context(), call); !problem.Is(err, "file_not_found") {
				t.Errorf("a file that is not there: %v", err)
			}
		})
	}
}

func TestFetcher(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a.pdf":
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = w.Write([]byte("pdf"))
		case "/named":
			w.Header().Set("Content-Disposition", `attachment; filename="b.csv"`)
			_, _ = w.Write([]byte("csv"))
		case "/large":
			_, _ = w.Write(make([]byte, file.MaxSize+1))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	tests := []struct{ address, name, media, refused string }{
		{server.URL + "/a.pdf", "a.pdf", "application/pdf", ""},
		{server.URL + "/named", "b.csv", "text/plain", ""},
		{server.URL + "/none", "", "", "invalid_arguments"},
		{server.URL + "/large", "", "", "file_too_large"},
		{"http://files.example/a", "", "", "invalid_arguments"},
		{"https://user@files.example/a", "", "", "invalid_arguments"},
	}
	for _, tt := range tests {
		got, err := httptool.NewFetcher(server.Client()).Fetch(t.Context(), tt.address)
		p, _ := problem.From(err)
		if err != nil && p.Code != tt.refused || err == nil &&
			(tt.refused != "" || got.Name != tt.name || got.MediaType != tt.media) {
			t.Errorf("Fetch(%s) = %+v, %v", tt.address, got, err)
		}
	}
}

// TestBodiesWithoutMembers sends an empty object where an API expects a body, and
// nothing where a call has none.
func TestBodiesWithoutMembers(t *testing.T) {
	t.Parallel()
	title := app.Input{Name: "title", Schema: map[string]any{"type": "string"}}
	for _, tt := range []struct {
		call string
		body string
		in   app.Inputs
		want string
	}{
		{"POST /things", app.BodyJSON, nil, "{}"},
		{"PUT /things/1", app.BodyJSON, app.Inputs{title}, "{}"},
		{"PATCH /things/1", app.BodyJSON, app.Inputs{title}, "{}"},
		{"PUT /things/1/star", app.BodyJSON, nil, ""},
		{"DELETE /things/1", app.BodyJSON, app.Inputs{title}, ""},
		{"PUT /things/1", app.BodyNone, app.Inputs{title}, ""},
	} {
		if got := sentBody(t, &app.Tool{Call: tt.call, Body: tt.body, In: tt.in}, map[string]any{}); got != tt.want {
			t.Errorf("%s with body %s and %d inputs sends %q, want %q", tt.call, tt.body, len(tt.in), got, tt.want)
		}
	}
}

// TestTextAsJSON sends a text that is the whole body of an API that takes JSON.
func TestTextAsJSON(t *testing.T) {
	t.Parallel()
	text, free := map[string]any{"type": "string"}, map[string]any{}
	for _, tt := range []struct {
		media  string
		schema map[string]any
		value  any
		want   string
	}{
		{"application/json", text, "hello", `"hello"`},
		{"application/json", text, "123", `"123"`},
		{"application/problem+json; charset=utf-8", text, "hello", `"hello"`},
		{"application/json", free, "hello", `"hello"`},
		{"application/json", free, `{"a":1}`, `{"a":1}`},
		{"application/json", free, map[string]any{"a": 1}, `{"a":1}`},
		{"text/plain", text, "hello", "hello"},
	} {
		one := &app.Tool{
			Call: "POST /text", Body: app.BodyRaw,
			In:    app.Inputs{{Name: "body", Schema: tt.schema, Where: app.InBody}},
			Fixed: app.Fixed{Headers: map[string]string{"Content-Type": tt.media}},
		}
		if got := sentBody(t, one, map[string]any{"body": tt.value}); got != tt.want {
			t.Errorf("%v as %s of %v is sent as %s, want %s", tt.value, tt.media, tt.schema, got, tt.want)
		}
	}
}

// sentBody returns the body of the request of a call.
func sentBody(t *testing.T, one *app.Tool, arguments map[string]any) string {
	t.Helper()
	d := &recordingClient{}
	call := desk(t, "https://api.desk.example", "key", "search", arguments)
	one.ID = "desk__one"
	call.Tool = one
	if _, err := httptool.New(d, nil).Execute(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if d.seen[0].Body == nil {
		return ""
	}
	body, err := io.ReadAll(d.seen[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
