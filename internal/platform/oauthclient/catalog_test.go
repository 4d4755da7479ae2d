package oauthclient_test

import (
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ace/catalog"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient"
)

// Each scheme of the shipped definitions can be begun, finished, renewed and
// revoked: its templates name nothing that is not there, and lead nowhere but to
// its vendor.
func TestShippedDefinitions(t *testing.T) {
	t.Parallel()
	paths, err := fs.Glob(catalog.Files, "curated/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are %d definitions: %v", len(paths), err)
	}
	for _, path := range paths {
		text, err := catalog.Files.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := app.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Schemes {
			s := &a.Schemes[i]
			if s.Type != app.TypeOAuth2 && s.Type != app.TypeOAuth1 && s.Type != app.TypeClient {
				continue
			}
			t.Run(a.ID+" "+s.ID, func(t *testing.T) {
				t.Parallel()
				tryDefinition(t, a, s)
			})
		}
	}
}

// anyone returns every call with a token under every name.
type anyone struct{ hosts map[string]bool }

func (y anyone) Do(r *http.Request) (*http.Response, error) {
	y.hosts[r.URL.Scheme+"://"+r.URL.Hostname()] = true
	v := vendor{
		handlers: map[string]func(*seen) reply{r.URL.Host +
			r.URL.Path: says(
			`{"ok":true,"code":0,"access_token":"at-1","refresh_token":"rt-1","expires_in":3600,` +
				`"oauth_token":"at-1","oauth_token_secret":"ts-1","scope":"a b","data":{"access_token":"at-1"}}`,
		)},
	}
	return v.Do(r)
}

func tryDefinition(t *testing.T, a *app.App, s *app.Scheme) {
	t.Helper()
	params := map[string]string{}
	for name, p := range a.Params {
		value := p.Example
		if len(p.Enum) > 0 {
			value = p.Enum[0]
		}
		if clean, fault := p.Clean(value); fault == "" && !p.Learned {
			params[name] = clean
		}
	}
	client := &connection.Client{App: a.ID, ID: "cid", Secret: "client-secret", Extra: map[string]string{}}
	if s.OAuth != nil {
		for _, name := range s.OAuth.Client.Needs {
			client.Extra[name] = "needed"
		}
	}
	if name, _ := a.BoundTo(s, nil); name != "" {
		client.Extra[name] = params[name] // it is of this server
	}
	vendorOf := anyone{map[string]bool{}}
	c := oauthclient.New(vendorOf, nil)
	credentials := connection.Credentials{}
	if s.Type == app.TypeClient {
		for _, f := range s.Fields {
			credentials[f.Name] = f.Example
			if f.Example == "" {
				credentials[f.Name] = "typed"
			}
		}
		// Exchange would ask whether they look right; Refresh makes the same call.
		client = nil
	} else {
		attempt := newAttempt()
		address, err := c.Start(t.Context(), a, s, client, params, attempt)
		if err != nil {
			t.Fatalf("Begin: %v", err)
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" {
			t.Fatalf("Begin answers %s", address)
		}
		vendorOf.hosts["https://"+u.Hostname()] = true
		if s.OAuth == nil || s.OAuth.Callback.Verify == "" && len(s.OAuth.Callback.Capture) == 0 {
			callback := url.Values{
				"code": {"c-1"}, "oauth_token": {attempt.Extra["oauth_token"]},
				"oauth_verifier": {"v"},
			}
			if s.OAuth != nil && s.OAuth.Callback.Code != "" {
				callback.Set(s.OAuth.Callback.Code, "c-1")
			}
			g, err := c.Finish(t.Context(), a, s, client, params, attempt, callback)
			if err != nil {
				t.Fatalf("Finish: %v", err)
			}
			credentials = g.Credentials
		}
	}
	conn := &connection.Connection{Params: params}
	if _, err := c.Refresh(t.Context(), a, s, client, conn, credentials); err != nil && failureOf(t,
		err).Class != connection.GrantOver {
		t.Errorf("Refresh: %v", err)
	}
	if err := c.Revoke(t.Context(), a, s, client, conn, credentials); err != nil {
		t.Errorf("Revoke: %v", err)
	}
	for host := range vendorOf.hosts {
		if !strings.HasPrefix(host, "https://") {
			t.Errorf("%s is called in the open", host)
		}
	}
}
