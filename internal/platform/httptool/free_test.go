package httptool_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/problem"
	"ace/internal/platform/httptool"
	"ace/internal/platform/tool"
)

func TestFreeRequests(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, scheme, arguments, want string // want: method, address, headers, body; or a refusal with its place
	}{
		{"plain", "key", `{"path":"/notes"}`, "GET /v1/notes | Bearer s3cret | "},
		{
			"query", "key", `{"path":"/notes?a=1&b=2","query":{"b":[3,"x y"],"c":true}}`,
			"GET /v1/notes?a=1&b=3&b=x+y&c=true | Bearer s3cret | ",
		},
		{
			"json", "key", `{"method":"POST","path":"/notes","body":{"a":[1]}}`,
			`POST /v1/notes | Bearer s3cret | application/json | {"a":[1]}`,
		},
		{
			"text", "key", `{"method":"PUT","path":"/notes","body":"<x>"}`,
			`PUT /v1/notes | Bearer s3cret | text/plain; charset=utf-8 | <x>`,
		},
		{
			"form",
			"key",
			`{"method":"POST","path":"/n","headers":{"Content-Type":"application/x-www-form-urlencoded"},` +
				`"body":{"a":{"b":"c d"}}}`,
			`POST /v1/n | Bearer s3cret | application/x-www-form-urlencoded | a%5Bb%5D=c+d`,
		},
		{
			"own headers", "key", `{"path":"/n","headers":{"X-Own":"1","accept":"text/csv","X-Version":"3"}}`,
			"GET /v1/n | Bearer s3cret | Accept: text/csv, X-Own: 1, X-Version: 3 | ",
		},
		{
			"credentials stay",
			"key",
			`{"path":"/n","headers":{"authorization":"Bearer mine","Cookie":"a=b","Host":"evil.example",` +
				`"X-Forwarded-For":"10.0.0.1","Transfer-Encoding":"chunked","X-HTTP-Method-Override":"DELETE",` +
				`"Proxy-Authorization":"x"}}`,
			"GET /v1/n | Bearer s3cret | ",
		},
		{
			"credentials in the query stay", "query", `{"path":"/n?api_key=mine","query":{"api_key":"mine"}}`,
			"GET /v1/n?api_key=s3cret | ",
		},
		{"escaped", "key", `{"path":"/a%2Fb/c d"}`, "GET /v1/a%2Fb/c%20d | Bearer s3cret | "},
		{"another host", "key", `{"path":"//evil.example/a"}`, "invalid_arguments /arguments/path"},
		{"an address", "key", `{"path":"https://evil.example/a"}`, "invalid_arguments /arguments/path"},
		{"up", "key", `{"path":"/a/../../b"}`, "invalid_arguments /arguments/path"},
		{"up, escaped", "key", `{"path":"/a/%2e%2E/b"}`, "invalid_arguments /arguments/path"},
		{"up, with a parameter", "key", `{"path":"/a/..;x=1/b"}`, "invalid_arguments /arguments/path"},
		{"up, by another slash", "key", `{"path":"/a\\..\\b"}`, "invalid_arguments /arguments/path"},
		{"user name", "key", `{"path":"@evil.example/"}`, "invalid_arguments /arguments/path"},
		{"line break", "key", `{"path":"/a\r\nHost: evil.example"}`, "invalid_arguments /arguments/path"},
		{"line break, escaped", "key", `{"path":"/a%0d%0aX: 1"}`, "invalid_arguments /arguments/path"},
		{"fragment", "key", `{"path":"/a#b"}`, "invalid_arguments /arguments/path"},
		{
			"header value", "key", `{"path":"/a","headers":{"X-A":"1\r\nX-B: 2"}}`,
			"invalid_arguments /arguments/headers/X-A",
		},
		{
			"header name", "key", `{"path":"/a","headers":{"X-A: 1\r\nX-B":"2"}}`,
			"invalid_arguments /arguments/headers/X-A: 1\r\nX-B",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &recordingClient{}
			var arguments map[string]any
			if err := json.Unmarshal([]byte(tt.arguments), &arguments); err != nil {
				t.Fatal(err)
			}
			call := desk(t, "https://api.desk.example/v1", tt.scheme, "request", arguments)
			call.Tool = call.Tool.With(arguments)
			_, err := httptool.New(d, nil).Execute(t.Context(), call)
			got := ""
			if p, ok := problem.From(err); ok {
				got = p.Code + " " + p.Items[0].Pointer
			} else if err == nil {
				got = written(t, d.seen[0])
			}
			if got != tt.want {
				t.Errorf("\n got %s (%v)\nwant %s", got, err, tt.want)
			}
		})
	}
}

// written is a request in one line, without what every request has.
func written(t *testing.T, r *http.Request) string {
	t.Helper()
	if r.URL.Host != "api.desk.example" || r.URL.Scheme != "https" || r.Host != "" && r.Host != "api.desk.example" {
		t.Errorf("the request leads to %s (%s)", r.URL, r.Host)
	}
	parts := []string{r.Method + " " + r.URL.RequestURI()}
	if authorization := r.Header.Get("Authorization"); authorization != "" {
		parts = append(parts, authorization)
	}
	var own []string
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		value := strings.Join(r.Header[name], ",")
		switch {
		case name == "Authorization", name == "User-Agent", name == "Accept" && value == "application/json",
			name == "X-Version" && value == "2":
		case name == "Content-Type":
			own = append(own, value)
		default:
			own = append(own, name+": "+value)
		}
	}
	if len(own) > 0 {
		parts = append(parts, strings.Join(own, ", "))
	}
	body := ""
	if r.Body != nil {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		body = string(data)
	}
	return strings.Join(append(parts, body), " | ")
}

func TestFreeAnswers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("X-Page", "2")
		switch r.URL.Path {
		case "/png":
			_, _ = w.Write([]byte("\x89PNG\x00\xff"))
		case "/text":
			w.Header().Set("Content-Type", "text/plain; charset=iso-8859-1")
			_, _ = w.Write([]byte("caf\xe9"))
		case "/gone":
			w.WriteHeader(http.StatusGone)
			_, _ = w.Write([]byte(`{"fault":{"text":"gone for good"}}`))
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		default:
			_, _ = w.Write([]byte(`{"n":12345678901234567890}`))
		}
	}))
	t.Cleanup(server.Close)
	tests := []struct {
		path   string
		status int
		body   string
		file   bool
		code   string
	}{
		{"/json", 200, `{"n":12345678901234567890}`, false, ""},
		{"/text", 200, `"caf` + "\uFFFD" + `"`, false, ""},
		{"/png", 200, `null`, true, ""},
		{"/empty", 204, `null`, false, ""},
		{"/gone", 410, `{"fault":{"text":"gone for good"}}`, false, tool.CodeNotFound},
	}
	for _, tt := range tests {
		call := desk(t, server.URL, "key", "request", map[string]any{"path": tt.path})
		call.Tool = call.Tool.With(call.Arguments)
		answer, err := httptool.New(server.Client(), nil).Execute(t.Context(), call)
		code := ""
		if failure, ok := errors.AsType[*tool.Failure](err); ok {
			answer, code = failure.Answer, failure.Code
		}
		if answer == nil || code != tt.code {
			t.Errorf("%s: %+v, %v", tt.path, answer, err)
			continue
		}
		output := answer.Output.(map[string]any)
		body, _ := json.Marshal(output["body"])
		headers := output["headers"].(map[string]any)
		if output["status"] != tt.status || string(body) != tt.body || (answer.File != nil) != tt.file ||
			headers["x-page"] != "2" || headers["set-cookie"] != nil {
			t.Errorf("%s: %+v %s", tt.path, output, body)
		}
	}
}

func TestWhoami(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/me" {
			_, _ = w.Write([]byte(`{"user":{"id":17,"name":"Ann","email":"ann@acme.example","phone":"1"}}`))
		}
	}))
	t.Cleanup(server.Close)
	answer, err := httptool.New(server.Client(), nil).Execute(t.Context(),
		desk(t, server.URL, "key", "whoami", map[string]any{}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"id": json.Number("17"), "name": "Ann", "email": "ann@acme.example"},
		answer.Output); diff != "" {
		t.Errorf("whoami (-want +got):\n%s", diff)
	}
}
