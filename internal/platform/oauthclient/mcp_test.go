package oauthclient_test

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient"
)

// registrations is connection.Clients in memory.
type registrations struct {
	mu      sync.Mutex
	clients map[string]*connection.Client
}

func (r *registrations) Registered(_ context.Context, accountID, appID, issuer string) (*connection.Client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clients[accountID+" "+appID+" "+issuer], nil
}

func (r *registrations) Store(_ context.Context, _ audit.Actor, c *connection.Client) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clients == nil {
		r.clients = map[string]*connection.Client{}
	}
	r.clients[c.AccountID+" "+c.App+" "+c.Issuer] = c
	return nil
}

func (r *registrations) MarkBroken(_ context.Context, c *connection.Client) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if stored := r.clients[c.AccountID+" "+c.App+" "+c.Issuer]; stored != nil && stored.ID == c.ID {
		stored.Broken = true
	}
	return nil
}

const platform = "https://platform.example"

// mcpVendor is an MCP server with an authorization server beside it, as its
// metadata says.
type mcpVendor struct {
	vendor
	challenge string         // WWW-Authenticate of the 401; "-": the server responds with 200
	resource  map[string]any // RFC 9728; nil: none
	issuer    map[string]any // RFC 8414
	register  func(*seen) reply
	clients   []string // that the token endpoint takes
	resources []string // that it was asked for
}

func newMCP(t *testing.T, change func(*mcpVendor)) *mcpVendor {
	t.Helper()
	m := &mcpVendor{
		challenge: `Bearer error="invalid_token", resource_metadata="https://mcp.example/.well-known/` +
			`oauth-protected-resource/v1/mcp", scope="files:read files:write"`,
		resource: map[string]any{
			"resource":              "https://mcp.example/v1/mcp",
			"authorization_servers": []string{"https://as.example/tenant"}, "scopes_supported": []string{"never"},
		},
		issuer: map[string]any{
			"issuer": "https://as.example/tenant", "authorization_endpoint": "https://as.example/authorize?p=1",
			"token_endpoint": "https://as.example/token", "registration_endpoint": "https://as.example/register",
			"revocation_endpoint": "https://as.example/revoke", "code_challenge_methods_supported": []string{
				"plain",
				"S256",
			}, "token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic"},
		},
		clients: []string{"dyn-1"},
	}
	m.register = func(s *seen) reply {
		var in struct {
			Redirects []string `json:"redirect_uris"`
			Type      string   `json:"application_type"`
			Method    string   `json:"token_endpoint_auth_method"`
		}
		if json.Unmarshal([]byte(s.body), &in) != nil || len(in.Redirects) != 1 || in.Redirects[0] != redirect ||
			in.Type != "web" {
			return reply{status: 400, body: `{"error":"invalid_client_metadata"}`}
		}
		return reply{
			status: 201,
			body: `{"client_id":"dyn-1","client_secret":"dyn-secret","client_secret_expires_at":0,` +
				`"token_endpoint_auth_method":"` + in.Method + `"}`,
		}
	}
	document := func(values *map[string]any) func(*seen) reply {
		return func(*seen) reply {
			if *values == nil {
				return reply{status: 404, body: "no"}
			}
			encoded, _ := json.Marshal(*values)
			return reply{body: string(encoded)}
		}
	}
	m.vendor = vendor{t: t, handlers: map[string]func(*seen) reply{
		"mcp.example/v1/mcp": func(*seen) reply {
			if m.challenge == "-" {
				return reply{body: `{"jsonrpc":"2.0","id":1,"result":{}}`}
			}
			return reply{status: 401, header: map[string]string{"WWW-Authenticate": m.challenge}}
		},
		"mcp.example/.well-known/oauth-protected-resource/v1/mcp":  document(&m.resource),
		"as.example/.well-known/oauth-authorization-server/tenant": document(&m.issuer),
		"mcp.example/.well-known/oauth-authorization-server":       func(*seen) reply { return reply{status: 404} },
		"as.example/authorize": func(s *seen) reply {
			if s.query.Get("client_id") == "dyn-0" { // a registration that was lost
				return reply{status: 400, body: "<html>Who?</html>"}
			}
			return reply{body: "<html>Sign in</html>"}
		},
		"as.example/register": func(s *seen) reply { return m.register(s) },
		"as.example/token":    m.token,
		"mcp.example/token":   m.token,
		"as.example/revoke": func(s *seen) reply {
			return reply{status: map[bool]int{true: 200, false: 400}[s.form.Get("token") == "rt-1"]}
		},
		"mcp.example/register":                                      func(s *seen) reply { return m.register(s) },
		"as.example/tenant/.well-known/openid-configuration":        func(*seen) reply { return reply{status: 404} },
		"as.example/.well-known/openid-configuration/tenant":        func(*seen) reply { return reply{status: 404} },
		"mcp.example/.well-known/oauth-protected-resource/v1/other": func(*seen) reply { return reply{status: 404} },
	}}
	if change != nil {
		change(m)
	}
	return m
}

func (m *mcpVendor) token(s *seen) reply {
	id, secret, basic := s.BasicAuth()
	if !basic {
		id, secret = s.form.Get("client_id"), s.form.Get("client_secret")
	}
	if !slices.Contains(m.clients, id+map[bool]string{true: ":" + secret}[secret != ""]) {
		return reply{status: 401, body: `{"error":"invalid_client"}`}
	}
	if s.form.Get("grant_type") == "authorization_code" && s.form.Get("code_verifier") == "" {
		return reply{status: 400, body: `{"error":"invalid_request"}`}
	}
	m.resources = append(m.resources, s.form.Get("resource"))
	return reply{body: token}
}

func mcpApp(listed bool) (*app.App, *app.Scheme) {
	a := &app.App{
		ID: "app", Name: "App", Listed: listed,
		Schemes: []app.Scheme{{ID: "mcp", Type: app.TypeMCP, URL: "https://mcp.example/v1/mcp"}},
	}
	return a, &a.Schemes[0]
}

// The ways to be known at an issuer, in the order of the specification, and
// discoveries that lead nowhere (row 38).
func TestQuirkMCP(t *testing.T) {
	t.Parallel()
	byHand := &connection.Client{App: "app", ID: "by-hand", Secret: "hand-secret"}
	tests := []struct {
		name     string
		change   func(*mcpVendor)
		listed   bool
		client   *connection.Client
		url      string // where not the usual one
		platform string
		callback string // "": code and the right issuer
		address  []string
		sends    []string
		notSends []string
		fails    string
		says     string // in the failure
	}{
		{
			name: "dynamic registration",
			address: []string{
				"https://as.example/authorize?p=1&client_id=dyn-1&", "scope=files%3Aread%20files%3Awrite",
				"resource=https%3A%2F%2Fmcp.example%2Fv1%2Fmcp", "code_challenge_method=S256",
			},
		},
		{name: "a client made by hand comes first", client: byHand, platform: platform, change: func(m *mcpVendor) {
			m.clients = []string{"by-hand:hand-secret"}
			m.issuer["client_id_metadata_document_supported"] = true
		}, address: []string{"client_id=by-hand"}, notSends: []string{"/register"}},
		{name: "then our document", listed: true, platform: platform, change: func(m *mcpVendor) {
			m.clients = []string{platform + "/oauth/client.json"}
			m.issuer["client_id_metadata_document_supported"] = true
		}, address: []string{
			"client_id=https%3A%2F%2Fplatform.example%2Foauth%2Fclient.json",
			"redirect_uri=https%3A%2F%2Fplatform.example%2Foauth%2Fcallback%2Fmcp",
		}, notSends: []string{"/register"}},
		{name: "our document at a stranger who says who it is", platform: platform, change: func(m *mcpVendor) {
			m.clients = []string{platform + "/oauth/client.json"}
			m.issuer["client_id_metadata_document_supported"] = true
			m.issuer["authorization_response_iss_parameter_supported"] = true
		}, callback: "code=c-1&iss=https%3A%2F%2Fas.example%2Ftenant", notSends: []string{"/register"}},
		{
			name: "no document at a stranger who does not", platform: platform,
			change:  func(m *mcpVendor) { m.issuer["client_id_metadata_document_supported"] = true },
			address: []string{"client_id=dyn-1"},
		},
		{
			name: "no document that nobody can fetch", platform: "http://127.0.0.1:8081", listed: true,
			change:  func(m *mcpVendor) { m.issuer["client_id_metadata_document_supported"] = true },
			address: []string{"client_id=dyn-1"},
		},
		{
			name: "no way to be known", change: func(m *mcpVendor) { delete(m.issuer, "registration_endpoint") },
			fails: "oauth_client_missing",
		},
		{name: "strangers are not registered", change: func(m *mcpVendor) {
			m.register = func(*seen) reply { return reply{status: 400, body: `{"error":"invalid_redirect_uri"}`} }
		}, fails: "oauth_client_missing", says: "only clients that it knows"},
		{name: "registered with a secret", change: func(m *mcpVendor) {
			m.issuer["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
			m.clients = []string{"dyn-1:dyn-secret"}
		}, sends: []string{`"token_endpoint_auth_method":"client_secret_basic"`, "Authorization: Basic "}},
		{name: "registered with a secret in the body", change: func(m *mcpVendor) {
			m.issuer["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
			m.clients = []string{"dyn-1:dyn-secret"}
		}, sends: []string{"client_secret=dyn-secret"}},
		{
			name:    "lasting access where it has a scope",
			change:  func(m *mcpVendor) { m.issuer["scopes_supported"] = []string{"offline_access", "x"} },
			address: []string{"scope=files%3Aread%20files%3Awrite%20offline_access", "prompt=consent"},
		},
		{name: "scopes of the resource", change: func(m *mcpVendor) {
			m.challenge = `Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/v1/mcp"`
		}, address: []string{"scope=never"}},
		{
			name:   "the well-known place where the challenge names none",
			change: func(m *mcpVendor) { m.challenge = "Bearer" },
		},
		{
			name:    "a name of the resource above the server's",
			change:  func(m *mcpVendor) { m.resource["resource"] = "https://mcp.example" },
			address: []string{"resource=https%3A%2F%2Fmcp.example&"},
		},
		{name: "OpenID discovery behind the path", change: func(m *mcpVendor) {
			m.handlers["as.example/tenant/.well-known/openid-configuration"] = m.handlers["as.example/.well-known/"+
				"oauth-authorization-server/tenant"]
			delete(m.handlers, "as.example/.well-known/oauth-authorization-server/tenant")
		}},
		{
			name:    "the first version: no metadata at all",
			change:  func(m *mcpVendor) { m.resource, m.challenge = nil, "Bearer" },
			address: []string{"https://mcp.example/authorize?client_id=dyn-1"},
			sends:   []string{"POST https://mcp.example/token"},
		},
		{
			name: "a server that asks for nothing", change: func(m *mcpVendor) { m.resource, m.challenge = nil, "-" },
			fails: "sign_in_failed", says: "no_authorization_server",
		},
		{
			name:   "metadata of another resource",
			change: func(m *mcpVendor) { m.resource["resource"] = "https://bank.example/mcp" }, fails: "sign_in_failed",
			says: "resource_mismatch",
		},
		{name: "metadata at another host", change: func(m *mcpVendor) {
			m.challenge = `Bearer resource_metadata="https://docs.example/x"`
			m.handlers["docs.example/x"] = m.handlers["mcp.example/.well-known/oauth-protected-resource/v1/mcp"]
		}},
		{
			name:   "metadata in the open",
			change: func(m *mcpVendor) { m.challenge = `Bearer resource_metadata="http://mcp.example/x"` },
			fails:  "sign_in_failed", says: "metadata_invalid", notSends: []string{"http://"},
		},
		{
			name:   "a resource without an issuer",
			change: func(m *mcpVendor) { delete(m.resource, "authorization_servers") }, fails: "sign_in_failed",
			says: "no_authorization_server",
		},
		{
			name:   "an issuer that is another",
			change: func(m *mcpVendor) { m.issuer["issuer"] = "https://evil.example" },
			fails:  "sign_in_failed",
			says:   "issuer_mismatch",
		},
		{
			name:   "an issuer without PKCE",
			change: func(m *mcpVendor) { delete(m.issuer, "code_challenge_methods_supported") },
			fails:  "sign_in_failed", says: "pkce_unsupported",
		},
		{
			name:   "an endpoint that is a script",
			change: func(m *mcpVendor) { m.issuer["authorization_endpoint"] = "javascript:alert(1)" },
			fails:  "sign_in_failed", says: "metadata_invalid",
		},
		{
			name:   "an endpoint in the open",
			change: func(m *mcpVendor) { m.issuer["token_endpoint"] = "http://as.example/token" },
			fails:  "sign_in_failed", says: "metadata_invalid",
		},
		{name: "an unavailable issuer", change: func(m *mcpVendor) {
			m.handlers["as.example/.well-known/oauth-authorization-server/tenant"] = func(*seen) reply {
				return reply{
					status: 502,
				}
			}
		}, fails: "provider_unavailable"},
		{
			name: "an answer of another issuer", callback: "code=c-1&iss=https%3A%2F%2Fevil.example",
			fails: "sign_in_failed", notSends: []string{"grant_type="},
		},
		{
			name:     "no issuer though it was promised",
			change:   func(m *mcpVendor) { m.issuer["authorization_response_iss_parameter_supported"] = true },
			callback: "code=c-1", fails: "sign_in_failed", notSends: []string{"grant_type="},
		},
		{
			name: "another's no counts nothing", callback: "error=access_denied&iss=https%3A%2F%2Fevil.example",
			fails: "sign_in_failed",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newMCP(t, tt.change)
			c := oauthclient.New(m, &oauthclient.Options{PlatformURL: tt.platform, Registrations: &registrations{}})
			a, s := mcpApp(tt.listed)
			attempt := newAttempt()
			g, address, err := through(t, c, a, s, tt.client, attempt, tt.callback)
			if problemCode(err) != tt.fails || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("the outcome is %v, want %s %s; the vendor was sent:\n%s", err, tt.fails, tt.says,
					m.transcript())
			}
			holds(t, "the address", address, tt.address, nil)
			holds(t, "what the vendor was sent", m.transcript(), tt.sends, tt.notSends)
			if err != nil {
				return
			}
			// The same client, the same resource and the same endpoint renew it.
			again, err := c.Refresh(t.Context(), a, s, tt.client, &connection.Connection{}, g.Credentials)
			if err != nil || again.Credentials["access_token"] != "at-1" {
				t.Fatalf("Refresh = %v, %v", again, err)
			}
			if len(m.resources) != 2 || m.resources[0] != m.resources[1] || !strings.HasPrefix(m.resources[0],
				"https://mcp.example") {
				t.Errorf("resources = %q", m.resources)
			}
			if err := c.Revoke(t.Context(), a, s, tt.client, &connection.Connection{}, again.Credentials); err != nil {
				t.Errorf("Revoke = %v", err)
			}
		})
	}
}

// through begins a sign-in and comes back from it.
func through(t *testing.T, c *oauthclient.Client, a *app.App, s *app.Scheme, client *connection.Client,
	attempt *connection.Attempt, query string,
) (*connection.Grant, string, error) {
	t.Helper()
	address, err := c.Start(t.Context(), a, s, client, nil, attempt)
	if err != nil {
		return nil, "", err
	}
	if query == "" {
		query = url.Values{"code": {"c-1"}, "iss": {attempt.Issuer}}.Encode()
	}
	callback, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Finish(t.Context(), a, s, client, nil, attempt, callback)
	return g, address, err
}

// A registration serves the next sign-in until its secret ends, its callback is
// another, or it is broken.
func TestMCPRegistersOnce(t *testing.T) {
	t.Parallel()
	count := 0
	m := newMCP(t, func(m *mcpVendor) {
		inner := m.register
		m.register = func(s *seen) reply { count++; return inner(s) }
	})
	stored := &registrations{}
	c := oauthclient.New(m, &oauthclient.Options{Registrations: stored})
	a, s := mcpApp(true)
	begin := func(account string) {
		attempt := newAttempt()
		attempt.AccountID = account
		if _, err := c.Start(t.Context(), a, s, nil, nil, attempt); err != nil {
			t.Fatal(err)
		}
	}
	begin("acc_1")
	begin("acc_1")
	if count != 1 {
		t.Errorf("one account registered %d times", count)
	}
	begin("acc_2")
	if count != 2 {
		t.Errorf("two accounts registered %d times", count)
	}
	one := stored.clients["acc_1 app https://as.example/tenant"]
	for name, change := range map[string]func(c *connection.Client){
		"a broken client":       func(c *connection.Client) { c.Broken = true },
		"a client that is lost": func(c *connection.Client) { c.ID = "dyn-0" },
		"another callback":      func(c *connection.Client) { c.Extra["redirect_uri"] = "https://old.example" },
		"a secret that is over": func(c *connection.Client) {
			c.Extra["client_secret_expires_at"] = strconv.FormatInt(time.Now().Unix(), 10)
		},
	} {
		before := count
		changed := *one
		changed.Extra = map[string]string{"redirect_uri": redirect}
		change(&changed)
		stored.clients["acc_1 app https://as.example/tenant"] = &changed
		begin("acc_1")
		if count != before+1 {
			t.Errorf("%s was used again", name)
		}
	}
}

// A registration that the issuer has forgotten ends the grant; a client made by
// hand has to be fixed by the operator.
func TestMCPForgottenClients(t *testing.T) {
	t.Parallel()
	m := newMCP(t, nil)
	stored := &registrations{}
	c := oauthclient.New(m, &oauthclient.Options{Registrations: stored})
	a, s := mcpApp(true)
	g, _, err := through(t, c, a, s, nil, newAttempt(), "")
	if err != nil {
		t.Fatal(err)
	}
	m.clients = nil
	one := stored.clients["acc_1 app https://as.example/tenant"]
	if _, err := c.Refresh(t.Context(), a, s, nil, &connection.Connection{AccountID: "acc_1"},
		g.Credentials); failureOf(t, err).Class != connection.GrantOver || !one.Broken {
		t.Errorf("a registration that was forgotten: %v, broken %v", err, one.Broken)
	}
	one.Broken = false
	if _, _, err := through(t, c, a, s, nil, newAttempt(), ""); problemCode(err) != "sign_in_failed" || !one.Broken {
		t.Errorf("a registration that was forgotten at the sign-in: %v, broken %v", err, one.Broken)
	}
	m.clients = []string{"by-hand"}
	byHand := &connection.Client{App: "app", ID: "by-hand"}
	if g, _, err = through(t, c, a, s, byHand, newAttempt(), ""); err != nil {
		t.Fatal(err)
	}
	m.clients = nil
	if _, err := c.Refresh(t.Context(), a, s, byHand, &connection.Connection{}, g.Credentials); failureOf(t,
		err).Class != connection.ClientBroken {
		t.Errorf("a client made by hand that was forgotten: %v", err)
	}
	if _, err := c.Refresh(t.Context(), a, s, nil, &connection.Connection{},
		connection.Credentials{"refresh_token": "rt-1"}); failureOf(t, err).Class != connection.GrantOver {
		t.Errorf("credentials of another kind of scheme: %v", err)
	}
}

func TestDocument(t *testing.T) {
	t.Parallel()
	got, err := oauthclient.Document(platform, "ACE")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/client.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("Document = %s, want %s", got, want)
	}
}
