package authserver_test

import (
	"context"
	"strings"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/authserver"
)

const resource = "https://platform.example/mcp"

// documents are client id documents by URL.
type documents map[string]string

func (d documents) Fetch(_ context.Context, url string) ([]byte, error) {
	text, ok := d[url]
	if !ok {
		return nil, problem.New(problem.Unauthenticated, "invalid_client", "There is no document.")
	}
	return []byte(text), nil
}

func newServer(t *testing.T, d documents) *authserver.Service {
	t.Helper()
	sealer, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return authserver.New(nil, nil, d, sealer, resource)
}

// query is an authorization request with what differs replaced; empty: left out.
func query(client, redirect string, pairs ...string) string {
	values := map[string]string{
		"client_id": client, "redirect_uri": redirect, "response_type": "code", "state": "s",
		"code_challenge": strings.Repeat("A", 43), "code_challenge_method": "S256", "resource": resource,
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	var parts []string
	for name, value := range values {
		if value != "" {
			parts = append(parts, name+"="+escape(value))
		}
	}
	return strings.Join(parts, "&")
}

func escape(text string) string {
	return strings.NewReplacer("%", "%25", "&", "%26", "+", "%2B", "#", "%23", " ", "%20").Replace(text)
}

// TestRedirectURIs: a request is read for the registered text alone, but for the
// port of a loopback address.
func TestRedirectURIs(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	tests := []struct {
		registered, sent string
		want             bool
	}{
		{"https://client.example/cb", "https://client.example/cb", true},
		{"https://client.example/cb", "https://client.example/cb/", false},
		{"https://client.example/cb", "https://client.example/cb?x=1", false},
		{"https://client.example/cb", "https://CLIENT.example/cb", false},
		{"https://client.example/cb", "https://client.example:444/cb", false},
		{"https://client.example/cb", "https://client.example.evil.example/cb", false},
		{"https://client.example/cb", "https://client.example@evil.example/cb", false},
		{"https://client.example/cb", "https://client.example/cb#x", false},
		{"https://client.example/cb", "http://client.example/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:40123/cb", true},
		{"http://127.0.0.1:1/cb", "http://127.0.0.1:40123/cb", true},
		{"http://[::1]:1/cb", "http://[::1]:2/cb", true},
		{"http://localhost:1/cb", "http://localhost:2/cb", true},
		{"http://localhost:1/cb", "http://127.0.0.1:2/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:40123/other", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:1@evil.example/cb", false},
		{"http://127.0.0.1/cb", "https://127.0.0.1:1/cb", false},
		{"cursor://anysphere.cursor-mcp/oauth/callback", "cursor://anysphere.cursor-mcp/oauth/callback", true},
		{"cursor://anysphere.cursor-mcp/oauth/callback", "cursor://other/oauth/callback", false},
	}
	for _, tt := range tests {
		c, err := s.Register(&authserver.Metadata{RedirectURIs: []string{tt.registered}})
		if err != nil {
			t.Fatalf("Register(%s): %v", tt.registered, err)
		}
		r, err := s.Read(t.Context(), query(c.ID, tt.sent))
		if got := err == nil; got != tt.want || !got && r != nil {
			t.Errorf("registered %s, sent %s: %v, %v; want %v", tt.registered, tt.sent, r, err, tt.want)
		}
	}
}

func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	long := "https://client.example/" + strings.Repeat("x", 470)
	tests := []struct {
		in   authserver.Metadata
		code string
	}{
		{authserver.Metadata{}, "invalid_redirect_uri"},
		{authserver.Metadata{RedirectURIs: make([]string, 11)}, "invalid_redirect_uri"},
		{authserver.Metadata{RedirectURIs: []string{"http://client.example/cb"}}, "invalid_redirect_uri"},
		{authserver.Metadata{RedirectURIs: []string{"javascript:alert(1)"}}, "invalid_redirect_uri"},
		{authserver.Metadata{RedirectURIs: []string{"JavaScript:alert(1)"}}, "invalid_redirect_uri"},
		{authserver.Metadata{RedirectURIs: []string{"data:text/html,x"}}, "invalid_redirect_uri"},
		{authserver.Metadata{RedirectURIs: []string{"/cb"}}, "invalid_redirect_uri"},
		{authserver.Metadata{RedirectURIs: []string{"https://u:p@client.example/"}}, "invalid_redirect_uri"},
		{authserver.Metadata{RedirectURIs: []string{`https://client.example\@evil.example/`}}, "invalid_redirect_uri"},
		{authserver.Metadata{RedirectURIs: []string{"https://client.example/#"}}, "invalid_redirect_uri"},
		{authserver.Metadata{RedirectURIs: []string{long + "yyyyyyyyyy"}}, "invalid_redirect_uri"},
		{authserver.Metadata{RedirectURIs: []string{long, long, long, long}}, "invalid_client_metadata"},
		{
			authserver.Metadata{RedirectURIs: []string{"https://c.example/"}, GrantTypes: []string{"implicit"}},
			"invalid_client_metadata",
		},
		{
			authserver.Metadata{RedirectURIs: []string{"https://c.example/"}, ResponseTypes: []string{"token"}},
			"invalid_client_metadata",
		},
	}
	for _, tt := range tests {
		if c, err := s.Register(&tt.in); !problem.Is(err, tt.code) {
			t.Errorf("Register(%.80q) = %v, %v, want %s", tt.in.RedirectURIs, c, err, tt.code)
		}
	}
}

// TestNamesAreShownPlainly: no mark in a name turns or hides what follows it.
func TestNamesAreShownPlainly(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	for in, want := range map[string]string{
		"":                               "MCP client",
		" \u202eedualC\u202c\n\u200b ":   "edualC",
		"Claude\tCode":                   "Claude Code",
		strings.Repeat("x", 100):         strings.Repeat("x", 79) + "…",
		"Zed\x00\x1b[31m \u2066of\u2069": "Zed[31m of",
	} {
		c, err := s.Register(&authserver.Metadata{Name: in, RedirectURIs: []string{"https://c.example/"}})
		if err != nil || c.Name != want {
			t.Errorf("Register(%q) = %+v, %v, want the name %q", in, c, err, want)
		}
	}
}

func TestForeignClientIDs(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	c, err := s.Register(&authserver.Metadata{RedirectURIs: []string{"https://c.example/"}})
	if err != nil {
		t.Fatal(err)
	}
	changed := c.ID[:len(c.ID)-3] + "AAA"
	for _, id := range []string{"x", "mcp_", "mcp_v1.x", changed, strings.Repeat("m", 3000), "http://c.example/"} {
		if got, err := s.Client(t.Context(), id); !problem.Is(err, "invalid_client") {
			t.Errorf("Client(%.40s) = %v, %v, want invalid_client", id, got, err)
		}
	}
	if got, err := s.Client(t.Context(), c.ID); err != nil || got.RedirectURIs[0] != "https://c.example/" ||
		got.Publisher != "" {
		t.Errorf("Client = %+v, %v", got, err)
	}
}

// TestDocuments reads clients from their documents, and refuses those that say
// something else than their URL.
func TestDocuments(t *testing.T) {
	t.Parallel()
	const good = `"redirect_uris":["https://app.example/cb","http://127.0.0.1/cb"],"client_name":"App"`
	at := func(name string) string { return "https://app.example/" + name }
	s := newServer(t, documents{
		at("good"): `{"client_id":"https://app.example/good",` + good +
			`,"token_endpoint_auth_method":"none","logo_uri":"x"}`,
		at("none"):   `{` + good + `}`,
		at("other"):  `{"client_id":"https://app.example/good",` + good + `}`,
		at("secret"): `{"client_id":"https://app.example/secret",` + good + `,"client_secret":"s"}`,
		at("keys"): `{"client_id":"https://app.example/keys",` + good +
			`,"token_endpoint_auth_method":"private_key_jwt"}`,
		at("text"):             `hello`,
		at("evil"):             `{"client_id":"https://app.example/evil","redirect_uris":["http://app.example/cb"]}`,
		at("a/../b"):           `{"client_id":"https://app.example/a/../b",` + good + `}`,
		at("q?x=1"):            `{"client_id":"https://app.example/q?x=1",` + good + `}`,
		"https://app.example":  `{"client_id":"https://app.example",` + good + `}`,
		"https://app.example/": `{"client_id":"https://app.example/",` + good + `}`,
	})
	c, err := s.Client(t.Context(), at("good"))
	if err != nil || c.Name != "App" || c.Publisher != "app.example" || len(c.RedirectURIs) != 2 {
		t.Errorf("Client = %+v, %v", c, err)
	}
	for _, id := range []string{
		at("none"), at("other"), at("secret"), at("keys"), at("text"), at("evil"), at("a/../b"), at("q?x=1"),
		at("missing"), at("good#x"), "https://app.example", "https://app.example/", "https://u@app.example/good",
	} {
		if got, err := s.Client(t.Context(), id); !problem.Is(err, "invalid_client") {
			t.Errorf("Client(%s) = %v, %v, want invalid_client", id, got, err)
		}
	}
}

// TestRead: what is wrong with a request is reported to the client only where its
// redirect URI is right.
func TestRead(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	c, err := s.Register(&authserver.Metadata{RedirectURIs: []string{"https://c.example/cb"}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, code string
		to         bool // the client gets the answer
		query      string
	}{
		{"right", "", true, query(c.ID, "https://c.example/cb")},
		{"without a resource", "", true, query(c.ID, "https://c.example/cb", "resource", "")},
		{"with a slash", "", true, query(c.ID, "https://c.example/cb", "resource", resource+"/")},
		{"tools selected", "", true, query(c.ID, "https://c.example/cb", "resource", resource+"?apps=notes")},
		{"scopes that are not known", "", true, query(c.ID, "https://c.example/cb", "scope", "read offline_access")},
		{
			"another resource",
			"invalid_target",
			true,
			query(c.ID, "https://c.example/cb", "resource", "https://e.example/mcp"),
		},
		{
			"the REST API",
			"invalid_target",
			true,
			query(c.ID, "https://c.example/cb", "resource", "https://platform.example"),
		},
		{"a fragment", "invalid_target", true, query(c.ID, "https://c.example/cb", "resource", resource+"#x")},
		{
			"implicit", "unsupported_response_type", true,
			query(c.ID, "https://c.example/cb", "response_type", "token"),
		},
		{"no PKCE", "invalid_request", true, query(c.ID, "https://c.example/cb", "code_challenge", "")},
		{"plain PKCE", "invalid_request", true, query(c.ID, "https://c.example/cb", "code_challenge_method", "plain")},
		{"short challenge", "invalid_request", true, query(c.ID, "https://c.example/cb", "code_challenge", "abc")},
		{"another mode", "invalid_request", true, query(c.ID, "https://c.example/cb", "response_mode", "fragment")},
		{"a request object", "invalid_request", true, query(c.ID, "https://c.example/cb", "request", "x")},
		{"state twice", "invalid_request", true, query(c.ID, "https://c.example/cb") + "&state=2"},
		{"another redirect URI", "invalid_request", false, query(c.ID, "https://evil.example/cb")},
		{
			"two redirect URIs",
			"invalid_request",
			false,
			query(c.ID, "https://c.example/cb") + "&redirect_uri=https://e.example",
		},
		{"no redirect URI", "invalid_request", false, query(c.ID, "")},
		{"no client", "invalid_request", false, query("", "https://c.example/cb")},
		{"unknown client", "invalid_client", false, query("mcp_x", "https://c.example/cb")},
	}
	for _, tt := range tests {
		r, err := s.Read(t.Context(), tt.query)
		if got := problemCode(err); got != tt.code || (r != nil) != tt.to {
			t.Errorf("%s: request %v, %v; want %q, request %v", tt.name, r, err, tt.code, tt.to)
		}
	}
}

func problemCode(err error) string {
	if p, ok := problem.From(err); ok {
		return p.Code
	}
	return ""
}

// TestConsentPageIsOneSessions: what a page holds works for the session that it was
// shown to, unchanged.
func TestConsentPageIsOneSessions(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	c, err := s.Register(&authserver.Metadata{Name: "C", RedirectURIs: []string{"https://c.example/cb"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Read(t.Context(), query(c.ID, "https://c.example/cb"))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := s.Seal(r, "session 1")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Unseal(
		sealed,
		"session 1",
	); err != nil || got.RedirectURI != r.RedirectURI ||
		got.ClientName != "C" {
		t.Errorf("Unseal = %+v, %v", got, err)
	}
	for session, text := range map[string]string{
		"session 2": sealed, "session 1": sealed[:len(sealed)-2] + "AA", "": sealed, "session 3": c.ID,
	} {
		if got, err := s.Unseal(text, session); !problem.Is(err, "consent_expired") {
			t.Errorf("Unseal for %s = %v, %v, want consent_expired", session, got, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	sealer, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		f.Fatal(err)
	}
	s := authserver.New(nil, nil, documents{}, sealer, resource)
	c, err := s.Register(&authserver.Metadata{RedirectURIs: []string{"https://c.example/cb", "http://127.0.0.1/cb"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("https://c.example/cb")
	f.Add("http://127.0.0.1:99999/cb")
	f.Add("http://127.0.0.1:1@evil.example/cb")
	f.Fuzz(func(t *testing.T, redirect string) {
		r, err := s.Read(t.Context(), query(c.ID, redirect))
		if r == nil {
			return
		}
		if err == nil && r.RedirectURI != "https://c.example/cb" &&
			!strings.HasPrefix(r.RedirectURI, "http://127.0.0.1") {
			t.Errorf("%q was read as a redirect URI of the client", redirect)
		}
	})
}
