package oauthclient_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/httptool"
	"ace/internal/platform/oauthclient"
	"ace/internal/platform/oauthclient/signature"
	"ace/internal/platform/tool"

	"github.com/google/go-cmp/cmp"
)

// signed1 returns the parameters of a request by OAuth 1 whose signature is
// right; nil for any other. It signs again with what it knows and compares.
func signed1(s *seen, method, consumerSecret, tokenSecret string) map[string]string {
	params := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(s.Header.Get("Authorization"), "OAuth "), ", ") {
		name, value, _ := strings.Cut(part, "=")
		text, err := url.PathUnescape(strings.Trim(value, `"`))
		if err != nil {
			return nil
		}
		params[name] = text
	}
	further := map[string]string{}
	for _, name := range []string{"oauth_callback", "oauth_verifier"} {
		if params[name] != "" {
			further[name] = params[name]
		}
	}
	again, err := http.NewRequestWithContext(s.Context(), s.Method, s.URL.String(), nil)
	if err != nil {
		return nil
	}
	var at int64
	for _, c := range params["oauth_timestamp"] {
		at = at*10 + int64(c-'0')
	}
	if err := signature.OAuth1(again, s.form, &signature.Token{
		Consumer: "cid", ConsumerSecret: consumerSecret, Token: params["oauth_token"], TokenSecret: tokenSecret,
		Method: method, Realm: params["realm"], Timestamp: at, Nonce: params["oauth_nonce"], Further: further,
	}); err != nil || again.Header.Get("Authorization") != s.Header.Get("Authorization") {
		return nil
	}
	return params
}

// The three legs of OAuth 1 and a signed call (row 32).
func TestQuirkOAuth1(t *testing.T) {
	t.Parallel()
	for _, method := range []string{signature.HMACSHA1, signature.HMACSHA256, signature.Plaintext} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			a, s := define(t, `
params: {screen_name: {learned: true}}
auth: [{type: oauth1, oauth1: {request: "https://a.example/request", authorize: "https://a.example/authorize",
  access: "https://a.example/access", params: {name: ACE}, `+
				`signature: `+method+`, capture: {screen_name: /screen_name}}}]`)
			v := &vendor{t: t, handlers: map[string]func(*seen) reply{
				"a.example/request": func(s *seen) reply {
					p := signed1(s, method, operators.Secret, "")
					if p == nil || p["oauth_callback"] != redirect+"?state=state-of-the-attempt" {
						return reply{status: 401}
					}
					return reply{body: "oauth_token=rq-1&oauth_token_secret=rq-secret&oauth_callback_confirmed=true"}
				},
				"a.example/access": func(s *seen) reply {
					p := signed1(s, method, operators.Secret, "rq-secret")
					if p == nil || p["oauth_token"] != "rq-1" || p["oauth_verifier"] != "v-1" {
						return reply{status: 401}
					}
					return reply{body: "oauth_token=at-1&oauth_token_secret=at-secret&screen_name=ann"}
				},
			}}
			c := oauthclient.New(v, nil)
			attempt := newAttempt()
			address, err := c.Start(t.Context(), a, s, operators, nil, attempt)
			if err != nil || address != "https://a.example/authorize?name=ACE&oauth_token=rq-1" {
				t.Fatalf("Begin = %q, %v", address, err)
			}
			for query, want := range map[string]string{
				"denied=rq-1": "sign_in_denied", "oauth_token=other&oauth_verifier=v-1": "sign_in_failed",
				"oauth_token=rq-1": "sign_in_failed", "oauth_token=rq-1&oauth_verifier=v-2": "sign_in_failed",
			} {
				callback, _ := url.ParseQuery(query)
				if _, err := c.Finish(t.Context(), a, s, operators, nil, attempt, callback); problemCode(err) != want {
					t.Errorf("Finish(%s) answers %v, want %s", query, err, want)
				}
			}
			g, err := c.Finish(t.Context(), a, s, operators, nil, attempt,
				url.Values{"oauth_token": {"rq-1"}, "oauth_verifier": {"v-1"}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{"access_token": "at-1", "access_token_secret": "at-secret"},
				map[string]string(g.Credentials)); diff != "" || g.Params["screen_name"] != "ann" {
				t.Errorf("credentials (-want +got):\n%s params %v", diff, g.Params)
			}
			if _, err := c.Refresh(t.Context(), a, s, operators, &connection.Connection{}, g.Credentials); failureOf(t,
				err).Class != connection.GrantOver {
				t.Errorf("Refresh answers %v", err)
			}
		})
	}
}

// Keys of OAuth 1 that were made at the vendor by hand, with a realm (row 32).
func TestQuirkOAuth1Typed(t *testing.T) {
	t.Parallel()
	a, s := define(
		t,
		`auth: [{type: oauth1, fields: [{name: client_id}, {name: client_secret}, {name: access_token}, `+
			`{name: access_token_secret}, {name: account}], oauth1: {signature: HMAC-SHA256, realm: "{account}"}}]`,
	)
	if s.NeedsClient() {
		t.Error("typed keys need a client")
	}
	c := oauthclient.New(plain(), nil)
	g, err := c.Exchange(t.Context(), a, s, nil, nil, connection.Credentials{
		"client_id": "cid", "client_secret": "cs",
		"access_token": "at-1", "access_token_secret": "at-secret", "account": "42_SB1",
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://a.example/rest?script=1",
		bytes.NewReader([]byte("a=1")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if err := oauthclient.Sign(r, s, app.Map(g.Credentials)); err != nil {
		t.Fatal(err)
	}
	p := signed1(&seen{Request: r, form: url.Values{"a": {"1"}}}, signature.HMACSHA256, "cs", "at-secret")
	if p["realm"] != "42_SB1" || p["oauth_token"] != "at-1" {
		t.Errorf("Authorization = %s", r.Header.Get("Authorization"))
	}
	if body, err := io.ReadAll(r.Body); err != nil || string(body) != "a=1" {
		t.Errorf("after signing the body is %q, %v", body, err)
	}
}

func TestSignV4(t *testing.T) {
	t.Parallel()
	_, s := define(t, `auth: [{type: sigv4, sigv4: {service: ses, region: "{region}"}}]`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://email.a.example/v2",
		strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if err := oauthclient.Sign(r,
		s, app.Map{"access_key_id": "AK", "secret_access_key": "sk", "region": "eu-west-1"}); err != nil ||
		!strings.Contains(r.Header.Get("Authorization"), "Credential=AK/") ||
		!strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/ses/aws4_request") {
		t.Errorf("Authorization = %q, %v", r.Header.Get("Authorization"), err)
	}
	if err := oauthclient.Sign(r, s, app.Map{}); err == nil {
		t.Error("without a region it signs")
	}
	for name, definition := range map[string]string{
		"a bearer's": plainDefinition,
		"OAuth 1 whose token goes elsewhere": `auth: [{type: oauth1, oauth1: {}, ` +
			`send: {query: {token: "{access_token}"}}}]`,
	} {
		_, other := define(t, definition)
		r.Header.Del("Authorization")
		if err := oauthclient.Sign(r, other, app.Map{}); err != nil || r.Header.Get("Authorization") != "" {
			t.Errorf("%s call is signed: %v", name, err)
		}
	}
}

// What is looked up after connecting, and cleaned up before the end (row 34).
func TestQuirkStepsAround(t *testing.T) {
	t.Parallel()
	a, s := define(t, `
base: https://api.a.example/{cloud_id}
params: {cloud_id: {learned: true}, region_url: {learned: true}}
resolve:
  - {call: "GET /resources", base: "https://api.a.example", keep: {cloud_id: /0/id}}
  - {call: "GET /me", query: {expand: all}, headers: {X-Cloud: "{cloud_id}"}, keep: {account: /id, "region?": /region}}
release: [{call: "DELETE /hooks"}]
auth: [{type: oauth2, send: {headers: {Authorization: "Token {access_token}"}, query: {key: "{dev_key}"}},
  oauth: {authorize: {url: "https://a.example/a"}, token: {url: "https://a.example/t", hosts: [a.example]}}}]`)
	v := &vendor{t: t, handlers: map[string]func(*seen) reply{
		"api.a.example/resources": func(s *seen) reply {
			if s.Header.Get("Authorization") != "Token at-1" || s.query.Get("key") != "dev" {
				return reply{status: 401}
			}
			return reply{body: `[{"id":"cloud-1"},{"id":"cloud-2"}]`}
		},
		"api.a.example/cloud-1/me": when(func(s *seen) bool {
			return s.query.Get("expand") == "all" &&
				s.Header.Get("X-Cloud") == "cloud-1"
		}, `{"id":12345678901234567890}`),
		"api.a.example/cloud-1/hooks": func(s *seen) reply {
			return reply{status: map[bool]int{true: 204, false: 405}[s.Method == http.MethodDelete]}
		},
	}}
	c := oauthclient.New(v, nil)
	live := func(token string) *connection.Live {
		return &connection.Live{
			Connection: &connection.Connection{Params: map[string]string{}},
			Values:     app.Map{"access_token": token, "dev_key": "dev"},
		}
	}
	kept, err := c.Steps(t.Context(), a, s, live("at-1"), a.Resolve)
	if diff := cmp.Diff(map[string]string{"cloud_id": "cloud-1", "account": "12345678901234567890"},
		kept); err != nil || diff != "" {
		t.Fatalf("Steps = %v (-want +got):\n%s", err, diff)
	}
	after := live("at-1")
	after.Connection.Params = kept
	if _, err := c.Steps(t.Context(), a, s, after, a.Release); err != nil {
		t.Errorf("Release: %v", err)
	}
	if _, err := c.Steps(t.Context(), a, s, live("other"), a.Resolve); problemCode(err) != "app_unauthorized" {
		t.Errorf("with another token: %v", err)
	}
	v.handlers["api.a.example/resources"] = says(`[]`)
	if _, err := c.Steps(t.Context(), a, s, live("at-1"), a.Resolve); problemCode(err) != "app_bad_request" ||
		!strings.Contains(err.Error(), "cloud_id") {
		t.Errorf("without a site: %v", err)
	}
	v.handlers["api.a.example/resources"] = func(*seen) reply {
		return reply{
			status: 503,
			header: map[string]string{"Retry-After": "5"},
		}
	}
	if _, err := c.Steps(t.Context(), a, s, live("at-1"), a.Resolve); problemCode(err) != "app_unavailable" {
		t.Errorf("while it is unavailable: %v", err)
	}
	v.handlers["api.a.example/resources"] = func(*seen) reply { return reply{status: 403} }
	if _, err := c.Steps(t.Context(), a, s, live("at-1"), a.Resolve); problemCode(err) != "app_forbidden" {
		t.Errorf("without the right: %v", err)
	}
}

// What is learned after connecting stays at the vendor's hosts.
func TestQuirkStepsStay(t *testing.T) {
	t.Parallel()
	a, s := define(t, `
base: "{region_url}/v1"
params: {region_url: {learned: true}}
resolve: [{call: "GET https://a.example/me", keep: {region_url: /region}}]
auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, token: {url: "https://a.example/t",
  hosts: [a.example]}}}]`)
	live := &connection.Live{Connection: &connection.Connection{}, Values: app.Map{"access_token": "at-1"}}
	for region, ok := range map[string]bool{
		"https://eu.a.example": true, "https://evil.example": false,
		"https://a.example.evil.test": false, "https://a.example:x@evil.test": false, "http://169.254.169.254": false,
	} {
		v := &vendor{
			t:        t,
			handlers: map[string]func(*seen) reply{"a.example/me": says(`{"region":` + quoted(region) + `}`)},
		}
		kept, err := oauthclient.New(v, nil).Steps(t.Context(), a, s, live, a.Resolve)
		if ok != (err == nil) || ok && kept["region_url"] != region {
			t.Errorf("%s: Steps = %v, %v", region, kept, err)
		}
	}
}

// The key check, the signs of throttling and the ways of paging are quirks of
// calls, which httptool makes (rows 35 to 37).
func TestQuirksOfCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, playCalls)
}

func playCalls(t *testing.T) {
	t.Helper()
	a, s := define(t, `
base: https://api.a.example
auth: [{type: key, fields: [{name: key}], send: {headers: {X-Key: "{key}"}}}]
who: {call: POST /whoami, body: "{}", id: /data/id, label: /data/name, expect: {pointer: /ok, equals: "true"}}
errors: {ok: {pointer: /error_code, absent: true}, code: [/error_code], codes: {"88": app_rate_limited},
  message: [/message]}
rate: {at: X-Reset, remaining: X-Remaining, status: [509]}
tools:
  limited: {call: "GET /limited", about: a}
  listed: {call: "GET /listed", about: a, items: /items, in: {starting_after: string, limit: integer},
    paging: {type: cursor, in: starting_after, out: /items/-1/id, more: /has_more}}`)
	answers := map[string]reply{}
	v := &vendor{t: t, handlers: map[string]func(*seen) reply{
		"api.a.example/whoami": func(s *seen) reply {
			if s.Header.Get("X-Key") != "right" {
				return reply{body: `{"ok":false}`}
			}
			return reply{body: `{"ok":true,"data":{"id":7,"name":"Ann"}}`}
		},
		"api.a.example/limited": func(*seen) reply { return answers["limited"] },
		"api.a.example/listed":  says(`{"items":[{"id":"a"},{"id":"b"}],"has_more":true}`),
	}}
	e := httptool.New(v, nil)
	live := func(key string) *connection.Live {
		return &connection.Live{Connection: &connection.Connection{}, Values: app.Map{"key": key}}
	}
	who, err := e.Check(t.Context(), a, s, live("right"))
	if err != nil || who.ID != "7" || who.Name != "Ann" {
		t.Errorf("35: Check = %+v, %v", who, err)
	}
	if _, err := e.Check(t.Context(), a, s, live("wrong")); err == nil {
		t.Error("35: a wrong key passes the check")
	}
	call := func(name string) (*tool.Answer, error) {
		one, _ := a.Tools.Get(name)
		return e.Execute(t.Context(),
			&tool.Call{App: a, Scheme: s, Tool: one, Live: live("right"), Arguments: map[string]any{}})
	}
	for name, one := range map[string]reply{
		"a header with seconds": {status: 429, header: map[string]string{"Retry-After": "30"}},
		"the end of a window":   {status: 429, header: map[string]string{"X-Reset": ago(-30 * time.Second)}},
		"a status of its own":   {status: 509, header: map[string]string{"Retry-After": "30"}},
		"nothing remaining":     {status: 403, header: map[string]string{"X-Remaining": "0", "Retry-After": "30"}},
		"a code in a body of 200s": {
			status: 200, body: `{"error_code":88}`,
			header: map[string]string{"Retry-After": "30"},
		},
	} {
		answers["limited"] = one
		_, err := call("limited")
		failure, ok := errors.AsType[*tool.Failure](err)
		if !ok || failure.Code != tool.CodeRateLimited || failure.RetryAfter != 30*time.Second {
			t.Errorf("36 %s: the failure is %+v", name, err)
		}
	}
	answer, err := call("listed")
	if err != nil || answer.Next["starting_after"] != "b" {
		t.Errorf("37: next = %v, %v", answer, err)
	}
}
