package oauthclient_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient"
)

// Who may choose a host, and what becomes of tokens that are not there.
func TestQuirksAtTheEdge(t *testing.T) {
	t.Parallel()
	at := func(handler func(*seen) reply) map[string]func(*seen) reply {
		return map[string]func(*seen) reply{"a.example/t": handler}
	}
	old := connection.Credentials{"access_token": "at-0", "refresh_token": "rt-0"}
	runQuirks(t, []quirk{
		{
			row: "a host of a list", params: map[string]string{"region": "eu.example"}, old: old, lives: hour,
			definition: "params: {region: {enum: [us.example, eu.example]}}\n" +
				code(`token: {url: "https://{region}/t"}`),
			vendor: map[string]func(*seen) reply{"eu.example/t": says(token)},
		},
		{
			row: "a host that is not of the list", params: map[string]string{"region": "evil.example"}, old: old,
			fails: "unknown host_refused:region", silent: true,
			definition: "params: {region: {enum: [us.example, eu.example]}}\n" +
				code(`token: {url: "https://{region}/t"}`),
		},
		{
			row: "a host that the operator keeps with the client", old: old, lives: hour,
			client: &connection.Client{
				ID: "cid", Secret: "secret",
				Extra: map[string]string{"server": "git.corp.example"},
			},
			definition: code(`token: {url: "https://{server}/t"}`),
			vendor:     map[string]func(*seen) reply{"git.corp.example/t": says(token)},
		},
		{
			row: "a host that the client is not of", params: map[string]string{"host": "evil.example"}, old: old,
			fails: "unknown host_refused:host", silent: true,
			definition: "params: {host: {host: true, default: git.example}}\n" +
				code(`token: {url: "https://{host}/t"}`),
		},
		{
			row: "a host that is made of other values", params: map[string]string{"host": "a.example"}, old: old,
			fails: "unknown host_refused:made", silent: true,
			definition: "params: {host: {host: true}}\nauth: [{type: oauth2, let: {made: \"{host}\"}, oauth: " +
				"{authorize: {url: \"https://a.example/a\"}, token: {url: \"https://{made}/t\"}}}]",
		},
		{
			row: "a default for what was not typed", old: old, lives: hour,
			vendor: map[string]func(*seen) reply{"login.example/t": says(token)},
			definition: "params: {domain: {host: true, default: login.example}}\n" +
				code(`token: {url: "https://{domain}/t"}`),
		},
		{
			row: "a value that is too long for anything", callback: "code=c-1&x=" + strings.Repeat("x", 5000),
			fails: "sign_in_failed", silent: true,
			definition: code(`token: {url: "https://a.example/t"}, callback: {capture: {x: x}}`),
		},
		{
			row: "a further token that has to come", callback: "code=c-1", fails: "sign_in_failed",
			vendor:     at(says(token)),
			definition: code(`token: {url: "https://a.example/t"}, extra: {user: {path: /authed_user, fatal: true}}`),
		},
		{
			row: "a further token that did not come", callback: "code=c-1", lives: hour, vendor: at(says(token)),
			credentials: connection.Credentials{"user": ""},
			definition:  code(`token: {url: "https://a.example/t"}, extra: {user: {path: /authed_user}}`),
		},
		{
			row: "a further token without a token", callback: "code=c-1", fails: "sign_in_failed",
			vendor:     at(says(`{"access_token":"at-1","authed_user":{"id":1}}`)),
			definition: code(`token: {url: "https://a.example/t"}, extra: {user: {path: /authed_user, fatal: true}}`),
		},
		{
			row: "a further token that stays as it is", lives: hour, vendor: at(says(token)),
			credentials: connection.Credentials{"user": "xoxp-0"},
			old:         connection.Credentials{"refresh_token": "rt-0", "user": "xoxp-0"},
			definition:  code(`token: {url: "https://a.example/t"}, extra: {user: {path: /authed_user}}`),
		},
		{
			row: "no longer than that: the call is refused", old: old, fails: "grant_over invalid_token",
			vendor:     at(func(*seen) reply { return reply{status: 401, body: `{"error":"invalid_token"}`} }),
			definition: code(`token: {url: "https://a.example/t"}, refresh: {kind: extend}`),
		},
		{
			row: "introspection is unavailable", callback: "code=c-1",
			vendor: map[string]func(*seen) reply{
				"a.example/t": says(`{"access_token":"at-1"}`),
				"a.example/i": func(*seen) reply { return reply{status: 500} },
			},
			definition: code(`token: {url: "https://a.example/t"}, introspect: "https://a.example/i"`),
		},
		{
			row:   "an assertion of a type that must not be fetched by GET without a key",
			typed: connection.Credentials{"key": "k"},
			fails: "sign_in_failed",
			definition: `auth: [{type: jwt, fields: [{name: key}], jwt: {alg: HS256, key: "{key}", ` +
				`grant: {call: "GET https://a.example/t", keep: {other: /x}}}}]`,
			vendor: at(says(`{"x":"1"}`)),
		},
		{
			row: "the client is not known here", callback: "error=unauthorized_client", definition: plainDefinition,
			fails: "sign_in_failed", silent: true,
		},
		{
			row: "an error in words", callback: "error=something+went+wrong", definition: plainDefinition,
			fails: "sign_in_failed", silent: true,
		},
	})
}

// Faults of a definition are faults of ours: an error, and no word about the
// vendor or the person.
func TestDefinitionsThatCannotBe(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"a value that nobody gave":     code(`token: {url: "https://a.example/t", params: {x: "{nobody}"}}`),
		"an address without its value": code(`token: {url: "https://a.example/{nobody}"}`),
		"a query without its value":    code(`token: {url: "https://a.example/t?x={nobody}"}`),
		"a header without its value":   code(`token: {url: "https://a.example/t", headers: {X: "{nobody}"}}`),
		"a query that lacks one":       code(`token: {url: "https://a.example/t", query: {x: "{nobody}"}}`),
		"XML without its value": code(
			`token: {url: "https://a.example/t", body: xml, xml: "<a>{nobody}</a>"}`),
		"a body of no kind":    code(`token: {url: "https://a.example/t", body: yaml}`),
		"a refresh of no kind": code(`token: {url: "https://a.example/t"}, refresh: {kind: prayer}`),
		"a client of no kind":  code(`token: {url: "https://a.example/t"}, client: {method: handshake}`),
		"a client's header without one": code(
			`token: {url: "https://a.example/t"}, client: {method: header, headers: {X: "{nobody}"}}`),
		"a client's password without": code(
			`token: {url: "https://a.example/t"}, client: {method: basic, user: "{nobody}"}`),
		"a key that nobody gave": code(
			`token: {url: "https://a.example/t"}, client: {method: private_key_jwt}`),
		"a signature of no kind": code(
			`token: {url: "https://a.example/t", sign: {alg: sha3, key: "{client_id}", over: "{body}"}}`),
		"a signature without its key": code(
			`token: {url: "https://a.example/t", sign: {alg: hmac_sha256, key: "{nobody}"}}`),
		"a signature over what is not": code(
			`token: {url: "https://a.example/t", sign: {alg: hmac_sha256, key: k, over: "{nobody}"}}`),
		"a signature by AWS without one": code(
			`token: {url: "https://a.example/t", sign: {alg: sigv4, id: "{nobody}"}}`),
		"certificates that are not here": code(`token: {url: "https://a.example/t"}, client: {mtls: true}`),
	}
	v := &vendor{t: t, handlers: map[string]func(*seen) reply{"a.example/t": says(token)}}
	c := oauthclient.New(v, nil)
	old := connection.Credentials{"refresh_token": "rt-0"}
	for name, definition := range tests {
		a, s := define(t, definition)
		s.OAuth.Refresh.Params, s.OAuth.Refresh.Query = s.OAuth.Token.Params, s.OAuth.Token.Query
		_, err := c.Refresh(t.Context(), a, s, operators, &connection.Connection{}, old)
		if err == nil || asRefresh(err) != nil || problemCode(err) != "" || strings.Contains(err.Error(),
			operators.Secret) {
			t.Errorf("%s: Refresh answers %v", name, err)
		}
	}
	if v.transcript() != "" {
		t.Errorf("the vendor was sent:\n%s", v.transcript())
	}
	begins := map[string]string{
		"PKCE of no kind": code(`pkce: S512, token: {url: "https://a.example/t"}`),
		"a parameter without value": `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a", ` +
			`params: {x: "{nobody}"}}}}]`,
		"no address": `auth: [{type: oauth2, ` +
			`oauth: {authorize: {url: "https://{nobody}.a.example/a"}}}]`,
		"a key is not begun":    `auth: [{type: key}]`,
		"no profile":            `auth: [{type: oauth2}]`,
		"no profile of OAuth 1": `auth: [{type: oauth1}]`,
	}
	for name, definition := range begins {
		a, s := define(t, definition)
		if address, err := c.Start(t.Context(), a, s, operators, nil, newAttempt()); err == nil ||
			problemCode(err) != "" {
			t.Errorf("%s: Begin = %q, %v", name, address, err)
		}
	}
	a, s := define(t, `auth: [{type: key}]`)
	if _, err := c.Finish(t.Context(), a, s, nil, nil, newAttempt(), url.Values{}); err == nil {
		t.Error("a key is finished")
	}
	if err := c.Revoke(t.Context(), a, s, nil, &connection.Connection{},
		connection.Credentials{"key": "k"}); err != nil {
		t.Errorf("a key cannot be revoked, which is no fault: %v", err)
	}
	if _, err := c.Refresh(t.Context(), a, s, nil, &connection.Connection{},
		connection.Credentials{"key": "k"}); failureOf(t, err).Class != connection.GrantOver {
		t.Errorf("a key is renewed: %v", err)
	}
	b, consent := define(t, plainDefinition)
	if _, err := c.Exchange(t.Context(), b, consent, operators, nil, nil); err == nil {
		t.Error("a consent is typed")
	}
	if _, err := c.Finish(t.Context(), b, consent, nil, nil, newAttempt(),
		url.Values{}); problemCode(err) != "oauth_client_missing" {
		t.Errorf("without a client Finish answers %v", err)
	}
}

// Basic credentials and keys in the query reach the steps around a connection.
func TestStepsWithPasswords(t *testing.T) {
	t.Parallel()
	a, s := define(t, `
base: https://a.example
resolve: [{call: "GET /me", keep: {user: /id}}]
auth: [{type: basic, fields: [{name: username}, {name: password, secret: true}]}]`)
	v := &vendor{t: t, handlers: map[string]func(*seen) reply{"a.example/me": func(s *seen) reply {
		user, password, _ := s.BasicAuth()
		if user != "ann" || password != "p:w" {
			return reply{status: 401}
		}
		return reply{body: `{"id":"u-1"}`}
	}}}
	live := &connection.Live{
		Connection: &connection.Connection{},
		Values:     app.Map{"username": "ann", "password": "p:w"},
	}
	kept, err := oauthclient.New(v, nil).Steps(t.Context(), a, s, live, a.Resolve)
	if err != nil || kept["user"] != "u-1" {
		t.Errorf("Steps = %v, %v", kept, err)
	}
	live.Values = app.Map{"username": "ann"}
	if _, err := oauthclient.New(v, nil).Steps(t.Context(), a, s, live, a.Resolve); err == nil ||
		problemCode(err) != "" {
		t.Errorf("without a password Steps answers %v", err)
	}
}

// The vendor.s retry delay is returned with the failure.
func TestRefreshAfter(t *testing.T) {
	t.Parallel()
	a, s := define(t, plainDefinition)
	v := &vendor{
		t: t,
		handlers: map[string]func(*seen) reply{"a.example/t": func(*seen) reply {
			return reply{
				status: 503,
				header: map[string]string{"Retry-After": "90"},
			}
		}},
	}
	_, err := oauthclient.New(v, nil).Refresh(t.Context(), a, s, operators, &connection.Connection{},
		connection.Credentials{"refresh_token": "rt-0"})
	if e := failureOf(t, err); e.After != 90*time.Second || e.Class != connection.Temporary {
		t.Errorf("Refresh fails with %+v", e)
	}
}
