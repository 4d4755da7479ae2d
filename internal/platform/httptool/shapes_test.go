package httptool_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/httptool"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
)

// shapes is an app that wants its values in unusual places.
const shapes = `
id: post
name: Post
base: BASE
auth:
  - {id: key, type: key, fields: [{name: key, secret: true}]}
  - {id: other, type: key, fields: [{name: key, secret: true}], base: "BASE/other"}
tools:
  issue:
    call: POST /issues
    about: Opens.
    in:
      project!: {type: string, wire: /fields/project/key}
      text: {type: string, wire: /fields/description, as: {type: doc, content: [{text: "{}"}]}}
      people: {type: array, items: {type: string}, each: {id: "{}"}, wire: /fields/people}
    fixed: {body: {/fields/kind/name: "x-{project}", notify: {who: ["{project}"]}}}
  query:
    call: POST /graphql
    about: Asks.
    graphql: "mutation($input: I!) { make(input: $input) { id } }"
    in: {title: {type: string, wire: /input/title}}
    fixed: {body: {/input: {kind: usual}}}
  record:
    call: POST /records
    about: Keeps a record.
    in: {fields!: {type: object, style: spread}}
  list:
    call: GET /list
    about: Lists.
    in: {kind: {type: string, wire: filter, as: "kind={}"}}
  inline:
    call: POST /inline
    about: Sends a file inside JSON.
    in: {file!: {type: string, format: ace-file, wire: /files/0, as: {bytes: "{}"}}}
  related:
    call: POST /upload
    about: Uploads.
    body: related
    in:
      name!: string
      parent: {type: string, wire: /parents/0}
      content: {type: string, where: media}
      file: {type: string, format: ace-file, where: media}
  form:
    call: POST /form
    about: Uploads a form.
    body: multipart
    in: {file!: {type: string, format: ace-file}, name!: {type: string, wire: /attributes/name}, zone: string}
  raw:
    call: POST /raw
    about: Sends a file as it is.
    body: raw
    in: {path!: {type: string, where: header, wire: X-Path}, file!: {type: string, format: ace-file}}
    fixed: {headers: {X-Arg: '{{"path": {path|quote}}}'}}
  write:
    call: POST /send
    about: Writes a mail.
    mail: /message/raw
    in:
      to!: {type: array, items: {type: string}, where: mail, wire: To}
      subject: {type: string, where: mail, wire: Subject}
      text: {type: string, where: mail, wire: text}
      html: {type: string, where: mail, wire: html}
      files: {type: array, items: {type: string}, where: mail, wire: file}
      thread: {type: string, wire: /message/thread}
`

// post runs a tool of shapes and returns the request it made.
func post(t *testing.T, scheme, name string, arguments map[string]any) (*http.Request, []byte) {
	t.Helper()
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		_, _ = w.Write([]byte(`{}`))
	}))
	t.Cleanup(server.Close)
	if _, err := httptool.New(server.Client(), nil).Execute(t.Context(),
		shaped(t, server.URL, scheme, name, arguments)); err != nil {
		t.Fatal(err)
	}
	return got, body
}

func shaped(t *testing.T, base, scheme, name string, arguments map[string]any) *tool.Call {
	t.Helper()
	a, err := app.Parse([]byte(strings.ReplaceAll(shapes, "BASE", base)))
	if err != nil {
		t.Fatal(err)
	}
	s, _ := a.Scheme(scheme)
	called, ok := a.Tools.Get(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	return &tool.Call{
		App: a, Scheme: s, Tool: called, Arguments: arguments,
		Live: &connection.Live{Connection: &connection.Connection{}, Values: app.Map{"key": "k"}},
		Open: func(_ context.Context, id string) (*file.File, error) {
			return &file.File{Name: id + ".txt", MediaType: "text/x-note", Data: []byte("content of " + id)}, nil
		},
	}
}

func TestShapes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, scheme, tool string
		arguments          map[string]any
		want               string // method, address, body
	}{
		{
			"deep in the body",
			"key",
			"issue",
			map[string]any{"project": "P", "text": "Hi", "people": []any{"a", "b"}},
			`POST /issues {"fields":{"description":{"content":[{"text":"Hi"}],"type":"doc"},"kind":{"name":"x-P"},` +
				`"people":[{"id":"a"},{"id":"b"}],"project":{"key":"P"}},"notify":{"who":["P"]}}`,
		},
		{
			"variables",
			"key",
			"query",
			map[string]any{"title": "T"},
			`POST /graphql {"query":"mutation($input: I!) { make(input: $input) { id } }",` +
				`"variables":{"input":{"kind":"usual","title":"T"}}}`,
		},
		{
			"what is fixed alone",
			"key",
			"query",
			nil,
			`POST /graphql {"query":"mutation($input: I!) { make(input: $input) { id } }",` +
				`"variables":{"input":{"kind":"usual"}}}`,
		},
		{
			"members of the body", "key", "record",
			map[string]any{"fields": map[string]any{"Name": "A"}},
			`POST /records {"Name":"A"}`,
		},
		{"made in a query", "key", "list", map[string]any{"kind": "bug"}, "GET /list?filter=kind%3Dbug "},
		{"the base of a scheme", "other", "list", nil, "GET /other/list "},
		{
			"a file inside", "key", "inline",
			map[string]any{"file": "f1"},
			`POST /inline {"files":[{"bytes":"Y29udGVudCBvZiBmMQ=="}]}`,
		},
		{"a file as it is", "key", "raw", map[string]any{"path": "/é", "file": "f1"}, "POST /raw content of f1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, body := post(t, tt.scheme, tt.tool, tt.arguments)
			if diff := cmp.Diff(tt.want, r.Method+" "+r.RequestURI+" "+string(body)); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if arg := r.Header.Get("X-Arg"); tt.tool == "raw" &&
				(arg != `{"path": "/\u00e9"}` || r.Header.Get("Content-Type") != "text/x-note") {
				t.Errorf("X-Arg = %s, Content-Type = %s", arg, r.Header.Get("Content-Type"))
			}
		})
	}
}

// parts reads a body of parts: the media type and the text of each.
func parts(t *testing.T, header string, body []byte) []string {
	t.Helper()
	_, params, err := mime.ParseMediaType(header)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for r := multipart.NewReader(strings.NewReader(string(body)), params["boundary"]); ; {
		part, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all,
			strings.Join([]string{
				part.Header.Get("Content-Disposition"), part.Header.Get("Content-Type"),
				string(text),
			}, "|"))
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, tool string
		arguments  map[string]any
		mediaType  string
		want       []string
	}{
		{
			"related text", "related",
			map[string]any{"name": "n", "parent": "p", "content": "Hi"},
			"multipart/related",
			[]string{`|application/json; charset=utf-8|{"name":"n","parents":["p"]}`, "|text/plain; charset=utf-8|Hi"},
		},
		{
			"related file", "related",
			map[string]any{"name": "n", "file": "f1"},
			"multipart/related",
			[]string{`|application/json; charset=utf-8|{"name":"n"}`, "|text/x-note|content of f1"},
		},
		{
			"form", "form",
			map[string]any{"name": "n", "file": "f1", "zone": "z"},
			"multipart/form-data",
			[]string{
				`form-data; name="attributes"||{"name":"n"}`, `form-data; name="zone"||z`,
				`form-data; name="file"; filename="f1.txt"|text/x-note|content of f1`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, body := post(t, "key", tt.tool, tt.arguments)
			header := r.Header.Get("Content-Type")
			if !strings.HasPrefix(header, tt.mediaType+";") {
				t.Errorf("Content-Type = %s", header)
			}
			if diff := cmp.Diff(tt.want, parts(t, header, body)); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMail(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		arguments map[string]any
		want      []string // media type, then the parts
	}{
		{"text", map[string]any{"text": "Grüße"}, []string{"text/plain; charset=utf-8", "Gr=C3=BC=C3=9Fe"}},
		{"html", map[string]any{"html": "<p>Hi"}, []string{"text/html; charset=utf-8", "<p>Hi"}},
		{
			"both",
			map[string]any{"text": "Hi", "html": "<p>Hi"},
			[]string{"multipart/alternative", "|text/plain; charset=utf-8|Hi", "|text/html; charset=utf-8|<p>Hi"},
		},
		{
			"a file",
			map[string]any{"text": "Hi", "files": []any{"f1"}},
			[]string{
				"multipart/mixed", "|text/plain; charset=utf-8|Hi",
				"attachment; filename=f1.txt|text/x-note|Y29udGVudCBvZiBmMQ==\r\n",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.arguments["to"], tt.arguments["subject"], tt.arguments["thread"] = []any{
				"Änn <ann@example.com>",
				"bob@example.com",
			}, "Grüße", "t1"
			_, body := post(t, "key", "write", tt.arguments)
			var sent struct {
				Message struct{ Raw, Thread string }
			}
			if err := json.Unmarshal(body, &sent); err != nil || sent.Message.Thread != "t1" {
				t.Fatalf("body %s: %v", body, err)
			}
			raw, err := base64.URLEncoding.DecodeString(sent.Message.Raw)
			if err != nil {
				t.Fatal(err)
			}
			m, err := mail.ReadMessage(strings.NewReader(string(raw)))
			if err != nil {
				t.Fatal(err)
			}
			to, err := m.Header.AddressList("To")
			if err != nil || len(to) != 2 || to[0].Name != "Änn" || to[1].Address != "bob@example.com" {
				t.Errorf("To = %v, %v", to, err)
			}
			if subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil ||
				subject != "Grüße" {
				t.Errorf("Subject = %q, %v", subject, err)
			}
			content, err := io.ReadAll(m.Body)
			if err != nil {
				t.Fatal(err)
			}
			header := m.Header.Get("Content-Type")
			got := []string{header, string(content)}
			if mediaType, _, _ := strings.Cut(header, ";"); strings.HasPrefix(mediaType, "multipart/") {
				got = append([]string{mediaType}, parts(t, header, content)...)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("mail (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMailRefuses(t *testing.T) {
	t.Parallel()
	for _, arguments := range []map[string]any{
		{"to": []any{"ann@example.com\r\nBcc: all@example.com"}},
		{"to": []any{"nobody"}},
		{"to": []any{"ann@example.com"}, "subject": "x\r\nBcc: all@example.com"},
	} {
		_, err := httptool.New(http.DefaultClient, nil).Execute(t.Context(),
			shaped(t, "https://post.example", "key", "write", arguments))
		if err == nil || !strings.Contains(err.Error(), "invalid_arguments") {
			t.Errorf("Execute(%v) = %v, want invalid_arguments", arguments, err)
		}
	}
}
