package httptool_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/httptool"
	"ace/internal/platform/tool"
)

// definition is an app whose base is filled in by the test.
const definition = `
id: desk
name: Desk
base: BASE
headers: {X-Version: "2"}
params: {tenant: {match: "^[a-z]+$"}}
auth:
  - {id: key, type: key, fields: [{name: key, secret: true}], send: {headers: {Authorization: "Bearer {key}"}}}
  - {id: query, type: key, fields: [{name: key, secret: true}], send: {query: {api_key: "{key}"}}}
  - {id: basic, type: basic, fields: [{name: username}, {name: password, secret: true}]}
  - {id: path, type: key, fields: [{name: key, secret: true}], send: {path: "/bot{key}"}}
who: {get: /me, id: /user/id, label: /user/name, email: /user/email}
errors: {message: [/fault/text], code: [/fault/code], codes: {slow_down: app_rate_limited}}
paging: {type: cursor, out: /next, in: cursor}
tools:
  search:
    call: GET /search
    about: Finds.
    in: {query: {type: string, wire: q}, ids: [integer], cursor: string}
    items: /results
  create:
    call: POST /folders/{folder}/notes
    about: Makes.
    in: {folder!: string, title!: string, tags: [string], trace: {type: string, where: header, wire: X-Trace}}
    fixed: {query: {notify: "no"}, body: {tenant: "{tenant}"}}
    wrap: data
  pay:
    call: POST /pay
    about: Pays.
    body: form_brackets
    in: {amount!: integer, metadata: {type: object}, items: [object]}
  ask:
    call: POST /graphql
    about: Asks.
    graphql: "query($id: ID!) { issue(id: $id) { id } }"
    in: {id!: string}
    out: {issue: /data/issue}
  download:
    call: GET /files/{id}
    about: Reads a file.
    in: {id!: string}
    binary: true
  pages:
    call: GET /pages
    about: Lists by number.
    in: {page: integer, per_page: integer}
    items: /results
    paging: {type: page, in: page, first: 1, size: {name: per_page, max: 2}}
  linked:
    call: GET /linked
    about: Lists by links.
    in: {page: integer, filter: string}
    items: ""
    paging: {type: link}
`

// helpdesk returns the app at a URL, and a call of one of its tools.
func desk(t *testing.T, base, scheme, name string, arguments map[string]any) *tool.Call {
	t.Helper()
	a, err := app.Parse([]byte(strings.Replace(definition, "BASE", base, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s, ok := a.Scheme(scheme)
	if !ok {
		t.Fatalf("no scheme %s", scheme)
	}
	all, err := a.AllTools()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(one *app.Tool) bool { return one.Name == name })
	if i < 0 {
		t.Fatalf("no tool %s", name)
	}
	called := all[i]
	params := map[string]string{"tenant": "acme"}
	live := &connection.Live{
		Connection: &connection.Connection{Params: params},
		Values:     app.Join(app.Map(params), app.Map{"key": "s3cret", "username": "ann", "password": "pass"}),
	}
	return &tool.Call{App: a, Scheme: s, Tool: called, Live: live, Arguments: arguments}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, scheme, tool string
		arguments          map[string]any
		want               string // method, address, selected headers, body
	}{
		{
			"query", "key", "search",
			map[string]any{"query": "a b&c", "ids": []any{json.Number("1"), json.Number("2")}},
			"GET /search?ids=1&ids=2&q=a+b%26c | Bearer s3cret | 2 | ",
		},
		{
			"path, header, body, envelope",
			"key",
			"create",
			map[string]any{"folder": "a/b ?", "title": "Hi", "tags": []any{"x"}, "trace": "t1"},
			`POST /folders/a%2Fb%20%3F/notes?notify=no | Bearer s3cret | 2 | {"data":{"tags":["x"],"tenant":"acme",` +
				`"title":"Hi"}}`,
		},
		{
			"form with brackets", "key", "pay",
			map[string]any{
				"amount": json.Number("5"), "metadata": map[string]any{"a": "1"},
				"items": []any{map[string]any{"p": "x"}},
			},
			"POST /pay | Bearer s3cret | 2 | amount=5&items%5B0%5D%5Bp%5D=x&metadata%5Ba%5D=1",
		},
		{
			"graphql",
			"key",
			"ask",
			map[string]any{"id": "I1"},
			`POST /graphql | Bearer s3cret | 2 | {"query":"query($id: ID!) { issue(id: $id) { id } }",` +
				`"variables":{"id":"I1"}}`,
		},
		{
			"key in the query", "query", "search",
			map[string]any{"query": "x"},
			"GET /search?api_key=s3cret&q=x |  | 2 | ",
		},
		{"basic", "basic", "search", nil, "GET /search | Basic YW5uOnBhc3M= | 2 | "},
		{"key in the path", "path", "search", nil, "GET /bots3cret/search |  | 2 | "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = strings.Join([]string{
					r.Method + " " + r.RequestURI, r.Header.Get("Authorization"),
					r.Header.Get("X-Version"), string(body),
				}, " | ")
				_, _ = w.Write([]byte(`{}`))
			}))
			t.Cleanup(server.Close)
			if _, err := httptool.New(server.Client(), nil).Execute(t.Context(),
				desk(t, server.URL, tt.scheme, tt.tool, tt.arguments)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeaderInjection(t *testing.T) {
	t.Parallel()
	call := desk(t, "https://api.desk.example", "key", "create",
		map[string]any{"folder": "a", "title": "b", "trace": "x\r\nHost: evil"})
	if _, err := httptool.New(http.DefaultClient, nil).Execute(t.Context(), call); err == nil ||
		!strings.Contains(err.Error(), "invalid_arguments") {
		t.Errorf("Execute = %v, want invalid_arguments", err)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, tool string
		arguments  map[string]any
		status     int
		header     string // name: value
		body       string
		want       string // output, next | code, detail, retryable, next action
	}{
		{
			"a page", "search",
			map[string]any{"query": "x"},
			200, "", `{"results":[1],"next":"c2"}`,
			`{"next":"c2","results":[1]} next {"cursor":"c2","query":"x"}`,
		},
		{"the last page", "search", nil, 200, "", `{"results":[],"next":null}`, `{"next":null,"results":[]} next null`},
		{
			"long numbers stay", "search", nil, 200, "", `{"results":[12345678901234567890]}`,
			`{"results":[12345678901234567890]} next null`,
		},
		{
			"a full page by number", "pages",
			map[string]any{"page": json.Number("3")},
			200, "", `{"results":[1,2]}`,
			`{"results":[1,2]} next {"page":4}`,
		},
		{"a short page by number", "pages", nil, 200, "", `{"results":[1]}`, `{"results":[1]} next null`},
		{
			"picked", "ask",
			map[string]any{"id": "1"},
			200, "", `{"data":{"issue":{"id":"1"}}}`,
			`{"issue":{"id":"1"}} next null`,
		},
		{"text", "search", nil, 200, "Content-Type: text/plain", `pong`, `"pong" next null`},
		{"nothing", "search", nil, 204, "", ``, `null next null`},
		{
			"json that is none", "search", nil, 200, "Content-Type: application/json", `{"a":`,
			"app_response_invalid Desk answered JSON that cannot be read. The call was carried out. false none",
		},
		{
			"own words", "search", nil, 422, "", `{"fault":{"text":"no such folder"}}`,
			"app_bad_request no such folder false fix_arguments",
		},
		{
			"usual words", "search", nil, 404, "", `{"error":{"message":"gone"}}`,
			"app_not_found gone false fix_arguments",
		},
		{
			"no words", "search", nil, 403, "", `<html>`,
			"app_forbidden Desk answered 403 Forbidden. false ask_owner_for_permission",
		},
		{
			"unauthorized", "search", nil, 401, "", ``,
			"app_unauthorized Desk answered 401 Unauthorized. false reconnect_app",
		},
		{
			"its own code", "search", nil, 400, "", `{"fault":{"text":"slowly","code":"slow_down"}}`,
			"app_rate_limited slowly true retry_later",
		},
		{
			"too many", "search", nil, 429, "Retry-After: 7",
			``, "app_rate_limited Desk answered 429 Too Many Requests. true retry_later 7s",
		},
		{"broken", "search", nil, 502, "", ``, "app_unavailable Desk answered 502 Bad Gateway. true retry_later"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if name, value, ok := strings.Cut(tt.header, ": "); ok {
					w.Header().Set(name, value)
				}
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			t.Cleanup(server.Close)
			answer, err := httptool.New(server.Client(), nil).Execute(t.Context(),
				desk(t, server.URL, "key", tt.tool, tt.arguments))
			if got := describe(t, answer, err); got != tt.want {
				t.Errorf("answer\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func describe(t *testing.T, answer *tool.Answer, err error) string {
	t.Helper()
	if failure, ok := errors.AsType[*tool.Failure](err); ok {
		text := failure.Code + " " + failure.Detail + " " +
			map[bool]string{true: "true", false: "false"}[failure.Retryable] + " " + failure.NextAction
		if failure.RetryAfter > 0 {
			text += " " + failure.RetryAfter.String()
		}
		return text
	}
	if err != nil {
		t.Fatal(err)
	}
	output, _ := json.Marshal(answer.Output)
	next, _ := json.Marshal(answer.Next)
	return string(output) + " next " + string(next)
}

func TestLinkHeader(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") == "" {
			w.Header().Set("Link",
				`<https://elsewhere.example/linked?page=2&filter=x&secret=1>; `+
					`rel="next", <https://elsewhere.example/>; rel="last"`)
		}
		_, _ = w.Write([]byte(`[1]`))
	}))
	t.Cleanup(server.Close)
	call := desk(t, server.URL, "key", "linked", map[string]any{"filter": "x"})
	call.Tool.Items = "/"
	answer, err := httptool.New(server.Client(), nil).Execute(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"filter": "x", "page": 2}, answer.Next); diff != "" {
		t.Errorf("next (-want +got):\n%s", diff)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Content-Disposition", `attachment; filename="../../etc/pass.png"`)
		_, _ = w.Write([]byte("\x89PNG\x00"))
	}))
	t.Cleanup(server.Close)
	answer, err := httptool.New(server.Client(), nil).Execute(t.Context(),
		desk(t, server.URL, "key", "download", map[string]any{"id": "1"}))
	if err != nil || answer.File == nil || answer.File.Name != "pass.png" || answer.File.MediaType != "image/png" ||
		len(answer.File.Data) != 5 {
		t.Errorf("Execute = %+v, %v", answer, err)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("x", 2000)))
	}))
	t.Cleanup(server.Close)
	_, err := httptool.New(server.Client(), &httptool.Options{MaxAnswer: 1000}).Execute(t.Context(),
		desk(t, server.URL, "key", "search", nil))
	var failure *tool.Failure
	if !errors.As(err, &failure) || failure.Code != tool.CodeResponseInvalid {
		t.Errorf("Execute = %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := httptool.New(http.DefaultClient, nil).Execute(t.Context(), desk(t, server.URL, "key", "search", nil))
	var failure *tool.Failure
	if !errors.As(err, &failure) || failure.Code != tool.CodeUnavailable || !failure.Retryable ||
		strings.Contains(failure.Detail, "127.0.0.1") {
		t.Errorf("Execute = %v", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cret" || r.URL.Path != "/me" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"user":{"id":17,"name":"Ann","email":"ann@acme.example"}}`))
	}))
	t.Cleanup(server.Close)
	call := desk(t, server.URL, "key", "search", nil)
	e := httptool.New(server.Client(), nil)
	got, err := e.Check(t.Context(), call.App, call.Scheme, call.Live)
	if diff := cmp.Diff(connection.Identity{ID: "17", Name: "Ann", Email: "ann@acme.example"}, got); err != nil ||
		diff != "" {
		t.Errorf("Check (-want +got):\n%s%v", diff, err)
	}
	call.Live.Values = app.Map{"key": "wrong"}
	_, err = e.Check(t.Context(), call.App, call.Scheme, call.Live)
	var failure *tool.Failure
	if !errors.As(err, &failure) || failure.Code != tool.CodeUnauthorized {
		t.Errorf("Check with a wrong key = %v", err)
	}
}

func TestPreviewHidesSecrets(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"key", "query", "basic", "path"} {
		call := desk(t, "https://api.desk.example/{tenant}", scheme, "create",
			map[string]any{"folder": "a", "title": "Hi"})
		p, err := httptool.New(nil, nil).Preview(call)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(p)
		if strings.Contains(string(text), "s3cret") || strings.Contains(string(text), "YW5u") ||
			!strings.Contains(p.URL, "/acme/") || !strings.Contains(p.Body, `"Hi"`) {
			t.Errorf("%s: preview %s", scheme, text)
		}
	}
}
