package httptool_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/httptool"
	"ace/internal/platform/tool"
)

// recordingClient remembers the requests that it is given.
type recordingClient struct{ seen []*http.Request }

func (d *recordingClient) Do(r *http.Request) (*http.Response, error) {
	d.seen = append(d.seen, r)
	w := httptest.NewRecorder()
	_, _ = w.WriteString(`{}`)
	return w.Result(), nil
}

// No argument leads a call to another place than its own.
func TestArgumentsInPaths(t *testing.T) {
	t.Parallel()
	tests := []struct{ folder, want string }{ // want: the path that is called, or a refusal
		{"inbox", "/folders/inbox/notes"},
		{"a b/c?d#e", "/folders/a%20b%2Fc%3Fd%23e/notes"},
		{"%2e%2e", "/folders/%252e%252e/notes"},
		{"//evil.example/", "/folders/%2F%2Fevil.example%2F/notes"},
		{"a..b", "/folders/a..b/notes"},
		{"", "invalid_arguments"},
		{"..", "invalid_arguments"},
		{".", "invalid_arguments"},
		{"../x", "invalid_arguments"},
		{`a/..\b`, "invalid_arguments"},
		{"a\r\nHost: evil.example", "invalid_arguments"},
		{"a\x00", "invalid_arguments"},
	}
	for _, tt := range tests {
		d := &recordingClient{}
		_, err := httptool.New(d, nil).Execute(t.Context(),
			desk(t, "https://api.desk.example", "key", "create", map[string]any{"folder": tt.folder, "title": "x"}))
		got := ""
		if p, ok := problem.From(err); ok {
			got = p.Code
		} else if len(d.seen) == 1 {
			got = d.seen[0].URL.EscapedPath()
			if d.seen[0].URL.Host != "api.desk.example" {
				t.Errorf("%q leads to %s", tt.folder, d.seen[0].URL)
			}
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s (%v)", tt.folder, got, tt.want, err)
		}
	}
}

// What a person types as a subdomain names a part of the vendor's host and
// nothing else.
func TestBaseAddresses(t *testing.T) {
	t.Parallel()
	tests := []struct{ base, tenant, want string }{
		{"https://{tenant}.desk.example/v1", "acme", "https://acme.desk.example/v1/search"},
		{"https://{tenant}.desk.example/v1", "a.b", "https://a.b.desk.example/v1/search"},
		{"https://{tenant}.desk.example", "evil.example/", ""},
		{"https://{tenant}.desk.example", "evil.example#", ""},
		{"https://{tenant}.desk.example", "evil.example?", ""},
		{"https://{tenant}.desk.example", `evil.example\`, ""},
		{"https://{tenant}.desk.example", "user:pass@evil.example/", ""},
		{"https://{tenant}.desk.example", "a@b", ""},
		{"https://{tenant}.desk.example", "", ""},
		{"https://{tenant}.desk.example", "a\r\n", ""},
		{"https://{tenant}", "desk.internal:8443", "https://desk.internal:8443/search"},
		{"https://{tenant}", "desk.internal:8443/x", ""},
		{"https://desk.example/{tenant}/v1", "../admin", "https://desk.example/..%2Fadmin/v1/search"},
		{"https://desk.example/{tenant}/v1", "..", "https://desk.example/%2E%2E/v1/search"},
		{"{tenant}", "https://desk.example/data", "https://desk.example/data/search"},
		{"{tenant}", "https://user@desk.example/data", ""},
		{"{tenant}", "https://desk.example/?x=", ""},
		{"{tenant}", "desk.example", ""},
	}
	for _, tt := range tests {
		d := &recordingClient{}
		call := desk(t, "https://x.example", "key", "search", nil)
		call.App.Base = tt.base
		call.Live = &connection.Live{
			Connection: &connection.Connection{Params: map[string]string{"tenant": tt.tenant}},
			Values:     app.Map{"tenant": tt.tenant, "key": "s3cret-key"},
		}
		_, err := httptool.New(d, nil).Execute(t.Context(), call)
		got := ""
		if err == nil {
			got = d.seen[0].URL.String()
		}
		if got != tt.want {
			t.Errorf("%s with %q: %q (%v), want %q", tt.base, tt.tenant, got, err, tt.want)
		}
	}
}

// guarded is an app behind the guard that every call of the product passes, and
// an executor that reaches it.
func guarded(t *testing.T, h http.Handler) (*httptest.Server, *httptool.Executor) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	purpose := egress.AppAPI()
	purpose.Trusted = []string{server.URL}
	return server, httptool.New(egress.New(nil).Client(purpose), nil)
}

// A redirect is followed on the app's own host alone, and a host that is not
// public is not reached whatever names it.
func TestWaysOut(t *testing.T) {
	t.Parallel()
	var strangers atomic.Int64
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strangers.Add(1) }))
	t.Cleanup(stranger.Close)
	server, e := guarded(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("q") {
		case "home":
			http.Redirect(w, r, "/search", http.StatusFound)
		case "away":
			http.Redirect(w, r, stranger.URL+"/search", http.StatusTemporaryRedirect)
		case "metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
		case "file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		default:
			_, _ = w.Write([]byte(`{"auth":"` + r.Header.Get("Authorization") + `"}`))
		}
	}))
	tests := []struct{ name, base, query, want string }{
		{"the host itself", server.URL, "home", ""},
		{"another host", server.URL, "away", tool.CodeResponseInvalid},
		{"the cloud's secrets", server.URL, "metadata", "target_not_allowed|" + tool.CodeResponseInvalid},
		{"a file", server.URL, "file", "target_not_allowed|" + tool.CodeResponseInvalid},
		{"loopback", "https://127.0.0.1", "x", "target_not_allowed"},
		{"loopback, spelled in hex", "https://0x7f000001", "x", "target_not_allowed"},
		{"loopback, mapped", "https://[::ffff:127.0.0.1]", "x", "target_not_allowed"},
		{"loopback by name", "https://localhost", "x", "target_not_allowed"},
		{"a private network", "https://10.0.0.1", "x", "target_not_allowed"},
		{"the cloud's address", "https://169.254.169.254", "x", "target_not_allowed"},
		{"an odd port", "https://api.desk.example:22", "x", "target_not_allowed"},
		{"not encrypted", "http://api.desk.example", "x", "target_not_allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := e.Execute(t.Context(), desk(t, tt.base, "key", "search", map[string]any{"query": tt.query}))
			var failure *tool.Failure
			p, _ := problem.From(err)
			got := ""
			switch {
			case errors.As(err, &failure):
				got = failure.Code
			case err != nil:
				got = p.Code
			}
			if !strings.Contains("|"+tt.want+"|", "|"+got+"|") {
				t.Errorf("%v, want %s", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error holds the key: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		if n := strangers.Load(); n > 0 {
			t.Errorf("another host was called %d times", n)
		}
	})
}

// An app that echoes what it was sent does not hand out the credentials.
func TestEchoedSecrets(t *testing.T) {
	t.Parallel()
	const secret = `s3cret/key+1"` // spelled in several ways
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("Authorization")+r.URL.Query().Get("api_key"))
		w.Header().Set("Content-Type", "application/json")
		status := http.StatusOK
		if r.URL.Query().Get("q") == "fail" {
			status = http.StatusBadRequest
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"message": "you sent " + r.Header.Get("Authorization"),
			"url":     r.URL.String(), "pass": r.URL.Query().Get("api_key"), "mine": "visible",
		})
	}))
	t.Cleanup(server.Close)
	for _, scheme := range []string{"key", "query", "basic", "path"} {
		for _, query := range []string{"ok", "fail"} {
			for _, name := range []string{"search", "request"} {
				call := desk(t, server.URL, scheme, name, map[string]any{"query": query, "path": "/x?q=" + query})
				call.Live.Values = app.Join(app.Map(call.Live.Connection.Params),
					app.Map{"key": secret, "username": "ann", "password": secret})
				call.Tool = call.Tool.With(call.Arguments)
				answer, err := httptool.New(server.Client(), nil).Execute(t.Context(), call)
				text, _ := json.Marshal(answer)
				shown := string(text)
				if failure, ok := errors.AsType[*tool.Failure](err); ok {
					text, _ := json.Marshal(failure)
					shown += string(text)
					text, _ = json.Marshal(failure.Answer)
					shown += string(text)
				}
				for _, spelling := range []string{"s3cret", url.QueryEscape(secret), "YW5uOnMzY3"} {
					if strings.Contains(shown, spelling) {
						t.Errorf("%s %s by %s: the answer holds %s: %s", name, query, scheme, spelling, shown)
					}
				}
				if !strings.Contains(shown, "visible") {
					t.Errorf("%s %s by %s: more than the secret is gone: %s", name, query, scheme, shown)
				}
			}
		}
	}
}

func TestLineBreaksInHeaders(t *testing.T) {
	t.Parallel()
	for _, trace := range []string{"a\r\nX-Evil: 1", "a\nb", "a\x00b", "a\x7f"} {
		d := &recordingClient{}
		_, err := httptool.New(d, nil).Execute(t.Context(),
			desk(t, "https://api.desk.example", "key", "create",
				map[string]any{"folder": "a", "title": "x", "trace": trace}))
		if !problem.Is(err, "invalid_arguments") || len(d.seen) > 0 {
			t.Errorf("%q: %v, %d requests", trace, err, len(d.seen))
		}
	}
	// Credentials were typed by a person: what would end the field is dropped.
	d := &recordingClient{}
	call := desk(t, "https://api.desk.example", "key", "search", nil)
	call.Live.Values = app.Map{"key": "abc\r\nX-Evil: 1", "tenant": "acme"}
	if _, err := httptool.New(d, nil).Execute(t.Context(), call); err != nil ||
		d.seen[0].Header.Get("Authorization") != "Bearer abcX-Evil: 1" || d.seen[0].Header.Get("X-Evil") != "" {
		t.Errorf("%v, %v", d.seen[0].Header, err)
	}
}
