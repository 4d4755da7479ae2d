package oauthclient_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"ace/internal/foundation/egress"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient"
)

// Addresses that a tenant, a callback or a discovery names are called through
// the guard, which lets none of them into a private network.
func TestGuarded(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		if r.URL.Path == "/jump" {
			http.Redirect(w, r, "/t", http.StatusTemporaryRedirect)
			return
		}
		_, _ = w.Write([]byte(token))
	}))
	t.Cleanup(server.Close)
	a, s := define(t, `
params: {host: {host: true}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://{host}/a"}, token: {url: "https://{host}/t"}}}]`)
	old := connection.Credentials{"refresh_token": "rt-0"}
	of := func(host string) *connection.Client { // a client is shown to its own server alone
		return &connection.Client{ID: "cid", Secret: operators.Secret, Extra: map[string]string{"host": host}}
	}
	strict := oauthclient.New(egress.New(nil).Client(egress.OAuth()), nil)
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	for _, host := range []string{
		"127.0.0.1", "127.0.0.1:" + port, "localhost", "localhost:" + port, "169.254.169.254",
		"metadata.google.internal", "10.0.0.1", "192.168.1.1", "100.64.0.1",
		"0.0.0.0", "2130706433", "0x7f.1", "127.1", "a.internal", "example.com:22", "printer.local",
	} {
		_, err := strict.Refresh(t.Context(), a, s, of(host),
			&connection.Connection{Params: map[string]string{"host": host}}, old)
		if e := failureOf(t, err); e.Class == connection.GrantOver || e.Code != "target_not_allowed" {
			t.Errorf("%s: %+v", host, e)
		}
	}
	for _, host := range []string{
		"[::1]", "[::ffff:127.0.0.1]", "user@127.0.0.1", "127.0.0.1/", "127.0.0.1#",
		"evil.test?x", "a b", "", "-a.example", "ex\u00e4mple.com", "a..b:x",
	} {
		_, err := strict.Refresh(t.Context(), a, s, of(host),
			&connection.Connection{Params: map[string]string{"host": host}}, old)
		if e := failureOf(t, err); !strings.HasPrefix(e.Code, "host_refused") {
			t.Errorf("%s: %+v", host, e)
		}
	}
	names := oauthclient.New(egress.New(&egress.Options{Lookup: rebinding}).Client(egress.OAuth()), nil)
	_, err := names.Refresh(t.Context(), a, s, of("rebind.example"),
		&connection.Connection{Params: map[string]string{"host": "rebind.example"}}, old)
	if e := failureOf(t, err); e.Code != "target_not_allowed" {
		t.Errorf("a name that leads home: %+v", e)
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d calls came through", n)
	}

	// A redirect of a token endpoint is not followed even where both may be called.
	purpose := egress.OAuth()
	purpose.Trusted = []string{server.URL}
	open := oauthclient.New(egress.New(nil).Client(purpose), nil)
	b, plainScheme := define(t,
		`auth: [{type: oauth2, oauth: {authorize: {url: "`+server.URL+`/a"}, token: {url: "`+server.URL+`/jump"}}}]`)
	_, err = open.Refresh(t.Context(), b, plainScheme, operators, &connection.Connection{}, old)
	if e := failureOf(t, err); e.Code != "redirected" || reached.Load() != 1 {
		t.Errorf("a redirect: %+v after %d calls", e, reached.Load())
	}
}

func rebinding(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}
