package oauthclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient"
)

// canary is part of every planted secret.
const canary = "canary"

// planted is a secret that reads like one of a vendor's.
func planted(name string) string { return name + "_" + canary + "_0aZ" }

// words are all ways in which an error can end up in a log or a response.
func words(err error) string {
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Error("it failed", "error", err)
	slog.New(slog.NewTextHandler(&log, nil)).Error("it failed", slog.Any("error", err))
	fmt.Fprintf(&log, "%v %+v %#v %s %q", err, err, err, err, err)
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		fmt.Fprintf(&log, " %#v", inner)
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		fmt.Fprintf(&log, " %#v", *p)
	}
	if failed, ok := errors.AsType[*connection.RefreshError](err); ok {
		fmt.Fprintf(&log, " %#v", *failed)
	}
	return log.String()
}

// echoing vendors return what they were sent wherever a response has room.
func echoes(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		everything := r.URL.String() + " " + r.Header.Get("Authorization") + " " + string(body)
		form, _ := url.ParseQuery(string(body))
		one := form.Get("refresh_token") + form.Get("code") + form.Get("token") + form.Get("assertion")
		w.Header().Set("WWW-Authenticate", everything)
		switch kind {
		case "codes":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"error":%q,"error_description":%q,"access_token_hint":%q}`, one, everything,
				planted("answer"))
		case "tokens that are none":
			_, _ = fmt.Fprintf(w, `{"access_token":%q,"refresh_token":%q,"instance_url":%q}`, planted("answer")+"\n",
				planted("answer"), planted("answer"))
		case "hosts":
			_, _ = fmt.Fprintf(w, `{"access_token":%q,"instance_url":%q}`, planted("answer"),
				"https://"+planted("answer")+".test/")
		case "pages":
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, "<html>%s</html>", everything)
		case "redirects":
			http.Redirect(w, r, "/elsewhere?"+url.Values{"t": {everything}}.Encode(), http.StatusFound)
		case "floods":
			_, _ = io.WriteString(w, `{"error":"`+strings.Repeat(planted("answer"), 100_000)+`"}`)
		case "breaks":
			panic(http.ErrAbortHandler)
		case "statuses":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, everything)
		}
	}
}

const leaky = `
base: "{instance_url}/v1"
params: {instance_url: {learned: true}}
auth:
  - id: oauth
    type: oauth2
    oauth:
      authorize: {url: "ORIGIN/authorize"}
      token: {url: "ORIGIN/token?in={client_secret}", query: {also: "{client_secret}"},
        headers: {X-Secret: "{client_secret}"}, hosts: [a.example], capture: {instance_url: /instance_url}}
      client: {method: basic, both: true}
      revoke: {url: "ORIGIN/revoke"}
      introspect: "ORIGIN/introspect"
  - id: own
    type: client_credentials
    fields: [{name: client_id}, {name: client_secret, secret: true}]
    oauth: {token: {url: "ORIGIN/token"}, client: {method: header, headers: {X-Key: "{client_secret}"}}}
  - id: steps
    type: token_exchange
    fields: [{name: password, secret: true}]
    steps: [{call: "GET ORIGIN/login/{password}", query: {p: "{password}"}, headers: {X-P: "{password}"},
      body: {p: "{password}"}, keep: {access_token: /at}}]
  - id: jwt
    type: jwt
    fields: [{name: private_key, secret: true}]
    jwt: {alg: HS256, key: "{private_key}", grant: {call: "POST ORIGIN/token", form: {assertion: "{assertion}"},
      keep: {access_token: /at}}}
  - id: bad
    type: jwt
    fields: [{name: private_key, secret: true}]
    jwt: {alg: RS256, key: "{private_key}"}
  - id: key
    type: key
    fields: [{name: key, secret: true, prefix: sk_, match: "[a-z]+"}]
  - id: oauth1
    type: oauth1
    oauth1: {request: "ORIGIN/request?s={client_secret}", authorize: "ORIGIN/authorize", access: "ORIGIN/access"}
  - id: mcp
    type: mcp
    url: "ORIGIN/mcp?k={client_secret}"
`

// Whatever a vendor does, no secret comes back in an error: not what we sent,
// not what it answered.
func TestNoSecretInErrors(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{
		"codes", "tokens that are none", "hosts", "pages", "redirects", "floods", "breaks",
		"statuses", "nobody there",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(echoes(kind))
			server.Config.ErrorLog = nil
			t.Cleanup(server.Close)
			if kind == "nobody there" {
				server.Close()
			}
			a, _ := define(t, strings.ReplaceAll(leaky, "ORIGIN", server.URL))
			client := &connection.Client{
				App: "app", ID: "cid", Secret: planted("secret"),
				Extra: map[string]string{"private_key": planted("extra")},
			}
			c := oauthclient.New(plain(), nil)
			failures := 0
			look := func(what string, err error) {
				if err == nil {
					return
				}
				failures++
				if text := words(err); strings.Contains(text, canary) {
					t.Errorf("%s tells a secret: %s", what, text)
				}
			}
			old := connection.Credentials{
				"access_token": planted("access"), "refresh_token": planted("refresh"), "client_id": "own",
				"client_secret": planted("typed"),
				"password":      planted("password"), "private_key": planted("key"),
				"access_token_secret": planted("token"),
				"key":                 planted("sk"),
				"mcp_token_url":       server.URL + "/token?" + planted("url"), "mcp_client_id": "x",
				"mcp_client_secret": planted("dynamic"), "mcp_client_registered": "1",
			}
			conn := &connection.Connection{}
			for i := range a.Schemes {
				s := &a.Schemes[i]
				attempt := newAttempt()
				attempt.State, attempt.Verifier = planted("state"), planted("verifier")
				attempt.Extra = map[string]string{"oauth_token": "rq-1", "oauth_token_secret": planted("request")}
				maps.Copy(attempt.Extra, old)
				if s.Type == app.TypeOAuth2 || s.Type == app.TypeOAuth1 || s.Type == app.TypeMCP {
					_, err := c.Finish(t.Context(), a, s, client, nil, attempt,
						url.Values{
							"code": {planted("code")}, "error_description": {planted("text")},
							"oauth_token": {"rq-1"}, "oauth_verifier": {planted("verifier")},
						})
					look(s.ID+" Finish", err)
					_, err = c.Finish(t.Context(), a, s, client, nil, attempt,
						url.Values{
							"error":             {planted("code") + "0123456789abcdef"},
							"error_description": {planted("text")},
						})
					look(s.ID+" Finish of an error", err)
					_, err = c.Start(t.Context(), a, s, client, nil, attempt)
					look(s.ID+" Begin", err)
				} else {
					_, err := c.Exchange(t.Context(), a, s, nil, nil, old)
					look(s.ID+" Exchange", err)
				}
				_, err := c.Refresh(t.Context(), a, s, client, conn, old)
				look(s.ID+" Refresh", err)
				look(s.ID+" Revoke", c.Revoke(t.Context(), a, s, client, conn, old))
				_, err = c.Steps(t.Context(), a, s, &connection.Live{Connection: conn, Values: app.Map(old)},
					[]app.Step{{Call: "GET " + server.URL + "/me", Keep: map[string]string{"x": "/" + canary[:2]}}})
				look(s.ID+" Steps", err)
			}
			if failures < 10 {
				t.Errorf("only %d calls failed: the vendor is too kind", failures)
			}
		})
	}
}

// Line breaks in what a vendor or a person gives never reach a header.
func TestNoHeaderInjection(t *testing.T) {
	t.Parallel()
	a, s := define(t, `
base: https://a.example
auth: [{type: token_exchange, fields: [{name: key}], steps: [{call: "GET /login", headers: {X-Key: "{key}"},
  keep: {access_token: /at}}]}]`)
	v := &vendor{t: t, handlers: map[string]func(*seen) reply{"a.example/login": says(`{"at":"a\r\nX-Evil: 1"}`)}}
	c := oauthclient.New(v, nil)
	if _, err := c.Exchange(t.Context(), a, s, nil,
		nil, connection.Credentials{"key": "k\r\nX-Evil: 1"}); problemCode(err) != "invalid_fields" {
		t.Errorf("a typed line break: %v", err)
	}
	if _, err := c.Refresh(t.Context(), a, s, nil, &connection.Connection{},
		connection.Credentials{"key": "k\r\nX-Evil: 1"}); failureOf(t, err).Code != "value_refused:X-Key" {
		t.Errorf("a kept line break: %v", err)
	}
	if v.transcript() != "" {
		t.Errorf("the vendor was sent:\n%s", v.transcript())
	}
	if _, err := c.Exchange(t.Context(), a, s, nil,
		nil, connection.Credentials{"key": "k"}); problemCode(err) != "sign_in_failed" {
		t.Errorf("a token with a line break: %v", err)
	}
}

// The end of the caller's time is no fact about the vendor; silence of the
// vendor is.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	a, s := define(t, plainDefinition)
	old := connection.Credentials{"refresh_token": "rt-0"}
	ctx, cancel := context.WithCancel(t.Context())
	v := clientFunc(func(*http.Request) (*http.Response, error) { cancel(); return nil, errors.New("broken") })
	_, err := oauthclient.New(v, nil).Refresh(ctx, a, s, operators, &connection.Connection{}, old)
	if !errors.Is(err, context.Canceled) || asRefresh(err) != nil {
		t.Errorf("after the caller left: %v", err)
	}
	for code, want := range map[string]connection.RefreshClass{
		"target_unreachable": connection.Temporary, "target_timeout": connection.Temporary,
		"target_bad_answer":  connection.Temporary,
		"target_not_allowed": connection.Unknown, "response_too_large": connection.Unknown,
	} {
		v := clientFunc(func(r *http.Request) (*http.Response, error) {
			return nil, &url.Error{Op: "Post", URL: r.URL.String(), Err: problem.New(problem.Unavailable, code, "no")}
		})
		_, err := oauthclient.New(v, nil).Refresh(t.Context(), a, s, operators, &connection.Connection{}, old)
		if e := failureOf(t, err); e.Class != want || e.Code != code {
			t.Errorf("%s is %+v, want %s", code, e, want)
		}
	}
}

type clientFunc func(*http.Request) (*http.Response, error)

func (f clientFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

func asRefresh(err error) *connection.RefreshError {
	failed, _ := errors.AsType[*connection.RefreshError](err)
	return failed
}

// What refreshes fail with, by status and code.
func TestClasses(t *testing.T) {
	t.Parallel()
	a, s := define(t, code(`token: {url: "https://a.example/t"}, refresh: {gone: [wrong_token, "20024"]}`))
	tests := []struct {
		status int
		body   string
		after  string
		want   connection.RefreshError
	}{
		{
			400, `{"error":"invalid_grant"}`,
			"",
			connection.RefreshError{Class: connection.GrantOver, Code: "invalid_grant"},
		},
		{
			401, `error=bad_refresh_token`, "",
			connection.RefreshError{Class: connection.GrantOver, Code: "bad_refresh_token"},
		},
		{
			200, `{"ok":false,"error":"token_revoked"}`, "",
			connection.RefreshError{Class: connection.GrantOver, Code: "token_revoked"},
		},
		{400, `{"errorCode":"20024"}`, "", connection.RefreshError{Class: connection.GrantOver, Code: "20024"}},
		{500, `{"error":"wrong_token"}`, "", connection.RefreshError{Class: connection.GrantOver, Code: "wrong_token"}},
		{
			400, `{"error":"Invalid_Client"}`,
			"",
			connection.RefreshError{Class: connection.ClientBroken, Code: "Invalid_Client"},
		},
		{
			401, `{"error":{"code":"unauthorized_client","message":"x"}}`, "",
			connection.RefreshError{Class: connection.ClientBroken, Code: "unauthorized_client"},
		},
		{
			500, `{"error":"invalid_grant"}`,
			"",
			connection.RefreshError{Class: connection.Temporary, Code: "invalid_grant"},
		},
		{503, `<html>`, "17", connection.RefreshError{Class: connection.Temporary, After: 17 * time.Second}},
		{429, ``, "9999999999", connection.RefreshError{Class: connection.Temporary, After: 24 * hour}},
		{429, ``, "-5", connection.RefreshError{Class: connection.Temporary}},
		{408, ``, "soon", connection.RefreshError{Class: connection.Temporary}},
		{200, `{"error":"ratelimited"}`, "", connection.RefreshError{Class: connection.Temporary, Code: "ratelimited"}},
		{302, ``, "", connection.RefreshError{Class: connection.Unknown, Code: "redirected"}},
		{200, `{"code":0,"data":{}}`, "", connection.RefreshError{Class: connection.Unknown, Code: "token_missing"}},
		{200, `<html>Welcome</html>`, "", connection.RefreshError{Class: connection.Unknown, Code: "token_missing"}},
		{400, `{"error":"teapot"}`, "", connection.RefreshError{Class: connection.Unknown, Code: "teapot"}},
		{401, ``, "", connection.RefreshError{Class: connection.Unknown}},
	}
	for _, tt := range tests {
		v := &vendor{t: t, handlers: map[string]func(*seen) reply{"a.example/t": func(*seen) reply {
			return reply{status: tt.status, body: tt.body, header: map[string]string{"Retry-After": tt.after}}
		}}}
		_, err := oauthclient.New(v, nil).Refresh(t.Context(), a, s, operators, &connection.Connection{},
			connection.Credentials{"refresh_token": "rt-0"})
		tt.want.Status = tt.status
		if got := failureOf(t, err); *got != tt.want {
			t.Errorf("%d %s is %+v, want %+v", tt.status, tt.body, *got, tt.want)
		}
	}
}
