package conformance

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient"

	"github.com/google/go-cmp/cmp"
)

const (
	platformURL = "https://platform.example"
	appCallback = platformURL + "/oauth/callback/app"
)

// authority is an authorization server that nobody here wrote, with a person who
// signs in there.
type authority struct {
	t      *testing.T
	origin string
	client *oauthclient.Client
}

// startAuthority runs the package oidc-provider, whose tokens live as many
// seconds as wish says.
func startAuthority(t *testing.T, wish map[string]any, o *oauthclient.Options) *authority {
	t.Helper()
	node, modules := os.Getenv("ACE_NODE"), os.Getenv("ACE_NODE_MODULES")
	if node == "" || modules == "" {
		t.Skip("left out: ACE_NODE and ACE_NODE_MODULES are not set")
	}
	if _, err := os.Stat(filepath.Join(modules, "oidc-provider")); err != nil {
		t.Skip("left out: the package oidc-provider is not installed in ACE_NODE_MODULES")
	}
	whole := map[string]any{"access": 60, "refresh": 600, "ack": "draft-02", "jwks": map[string]any{"keys": []any{}}}
	maps.Copy(whole, wish)
	line, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "oidc-provider.mjs")
	cmd.Env = append(os.Environ(), "NODE_NO_WARNINGS=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	if _, err := stdin.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	var said struct{ Origin string }
	for lines := bufio.NewScanner(stdout); said.Origin == "" && lines.Scan(); {
		_ = json.Unmarshal(lines.Bytes(), &said) // other lines are notices
	}
	if said.Origin == "" {
		t.Fatal("oidc-provider did not start")
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }() // ends with the process
	purpose := egress.OAuth()
	purpose.Trusted = []string{said.Origin}
	return &authority{t, said.Origin, oauthclient.New(egress.New(nil).Client(purpose), o)}
}

// app is a definition of the authority as an app; members belong to its profile.
func (a *authority) app(members string) (*app.App, *app.Scheme) {
	a.t.Helper()
	text := `
id: app
name: App
auth:
  - type: oauth2
    oauth:
      authorize: {url: "ORIGIN/auth", params: {prompt: consent}}
      token: {url: "ORIGIN/token"}
      scopes: {default: [openid, offline_access, profile, email]}
      revoke: {url: "ORIGIN/token/revocation"}
` + members
	made, err := app.Parse([]byte(strings.ReplaceAll(text, "ORIGIN", a.origin)))
	if err != nil {
		a.t.Fatal(err)
	}
	return made, &made.Schemes[0]
}

func secretOf(id string) *connection.Client {
	return &connection.Client{App: "app", ID: id, Secret: "secret of " + id + ": +/&%"}
}

// formAction is where a form of the authority's pages goes.
var formAction = regexp.MustCompile(`<form[^>]* action="([^"]+)"`)

// person goes through the authority's own pages, allows or cancels, and returns
// what the browser comes back with.
func (a *authority) person(address string, allow bool) url.Values {
	a.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		a.t.Fatal(err)
	}
	browser := &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	page, next := a.visit(browser, address, nil)
	for range 12 {
		form := formAction.FindSubmatch(page)
		switch {
		case next != nil && strings.HasPrefix(next.String(), platformURL):
			return next.Query()
		case next != nil:
			page, next = a.visit(browser, next.String(), nil)
		case form == nil:
			a.t.Fatalf("a page has no form: %s", page)
		case strings.Contains(string(page), `value="login"`):
			page, next = a.visit(browser, string(form[1]),
				url.Values{"prompt": {"login"}, "login": {"ann"}, "password": {"x"}})
		case allow:
			page, next = a.visit(browser, string(form[1]), url.Values{"prompt": {"consent"}})
		default:
			page, next = a.visit(browser, string(form[1])+"/abort", nil)
		}
	}
	a.t.Fatal("the pages never end")
	return nil
}

// visit opens a page, or posts a form, and returns what is there or where it
// leads to: nothing but the authority's own pages, and our callback.
func (a *authority) visit(browser *http.Client, address string, form url.Values) (page []byte, next *url.URL) {
	a.t.Helper()
	if !strings.HasPrefix(address, a.origin) {
		a.t.Fatalf("the browser is sent to %s", address)
	}
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(a.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := browser.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if page, err = io.ReadAll(res.Body); err != nil {
		a.t.Fatal(err)
	}
	if next, err = res.Location(); err != nil {
		next = nil
	}
	return page, next
}

func (a *authority) begin(made *app.App, s *app.Scheme, client *connection.Client) (*connection.Attempt, string) {
	a.t.Helper()
	attempt := &connection.Attempt{AccountID: "acc_1", State: "a-state", Redirect: appCallback}
	address, err := a.client.Start(a.t.Context(), made, s, client, nil, attempt)
	if err != nil {
		a.t.Fatal(err)
	}
	return attempt, address
}

func (a *authority) connect(made *app.App, s *app.Scheme, client *connection.Client) *connection.Grant {
	a.t.Helper()
	attempt, address := a.begin(made, s, client)
	callback := a.person(address, true)
	if callback.Get("state") != attempt.State || callback.Get("iss") != a.origin {
		a.t.Fatalf("the browser comes back with %v", callback)
	}
	g, err := a.client.Finish(a.t.Context(), made, s, client, nil, attempt, callback)
	if err != nil {
		a.t.Fatal(err)
	}
	return g
}

// works reports whose a token is at a protected address; "" for nobody's.
func (a *authority) works(path, token string) string {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, a.origin+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var who struct{ ID string }
	_ = json.NewDecoder(res.Body).Decode(&who)
	return who.ID
}

func refreshClass(err error) connection.RefreshClass {
	failed, ok := errors.AsType[*connection.RefreshError](err)
	if !ok {
		return ""
	}
	return failed.Class
}

// TestOIDCProvider signs in with each way of showing who we are, renews with
// rotation, ends, and is refused a token that was used before.
func TestOIDCProvider(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	jwk := map[string]any{
		"kty": "RSA", "kid": "k1", "alg": "RS256", "use": "sig",
		"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
	}
	a := startAuthority(t, map[string]any{"jwks": map[string]any{"keys": []any{jwk}}}, nil)
	clients := map[string]struct {
		client  *connection.Client
		members string
	}{
		"basic":  {secretOf("basic"), `      client: {method: basic}`},
		"post":   {secretOf("post"), ``},
		"public": {&connection.Client{App: "app", ID: "public"}, ``},
		"signed": {
			&connection.Client{
				App: "app", ID: "signed",
				Extra: map[string]string{
					"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
				},
			},
			`      client: {method: private_key_jwt, jwt: {kid: k1}}`,
		},
	}
	for name, tt := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &authority{t, a.origin, a.client}
			made, s := a.app(tt.members)
			g := a.connect(made, s, tt.client)
			want := connection.Identity{ID: "ann", Name: "ANN", Email: "ann@people.example"}
			if diff := cmp.Diff(want, g.Identity); diff != "" {
				t.Errorf("identity (-want +got):\n%s", diff)
			}
			if a.works("/api/me", g.Credentials["access_token"]) != "ann" || g.ExpiresAt.IsZero() ||
				g.Credentials["refresh_token"] == "" {
				t.Errorf("the grant is of no use: %v, scopes %v", g.ExpiresAt, g.Scopes)
			}
			conn := &connection.Connection{}
			next, err := a.client.Refresh(t.Context(), made, s, tt.client, conn, g.Credentials)
			if err != nil {
				t.Fatal(err)
			}
			if a.works("/api/me", next.Credentials["access_token"]) != "ann" ||
				next.Credentials["refresh_token"] == g.Credentials["refresh_token"] {
				t.Error("the grant was not renewed")
			}
			if err := a.client.Revoke(t.Context(), made, s, tt.client, conn, next.Credentials); err != nil {
				t.Errorf("Revoke = %v", err)
			}
			if _, err := a.client.Refresh(t.Context(), made, s, tt.client,
				conn, next.Credentials); refreshClass(err) != connection.GrantOver {
				t.Errorf("after it was revoked Refresh answers %v", err)
			}
			g = a.connect(made, s, tt.client)
			if next, err = a.client.Refresh(t.Context(), made, s, tt.client, conn, g.Credentials); err != nil {
				t.Fatal(err)
			}
			// the first was used, which ends both
			for _, credentials := range []connection.Credentials{g.Credentials, next.Credentials} {
				if _, err := a.client.Refresh(t.Context(), made, s, tt.client, conn,
					credentials); refreshClass(err) != connection.GrantOver {
					t.Errorf("after a token was used twice Refresh answers %v", err)
				}
			}
		})
	}
}

// TestOIDCProviderRefuses: the person, the verifier, the client, no PKCE.
func TestOIDCProviderRefuses(t *testing.T) {
	t.Parallel()
	a := startAuthority(t, nil, nil)
	made, s := a.app("")
	client := secretOf("post")
	finish := func(s *app.Scheme, client *connection.Client, change func(*connection.Attempt), allow bool) error {
		attempt, address := a.begin(made, s, client)
		callback := a.person(address, allow)
		change(attempt)
		_, err := a.client.Finish(t.Context(), made, s, client, nil, attempt, callback)
		return err
	}
	same := func(*connection.Attempt) {}
	if err := finish(s, client, same, false); !problem.Is(err, "sign_in_denied") {
		t.Errorf("the person's no: %v", err)
	}
	if err := finish(s, client, func(at *connection.Attempt) { at.Verifier = strings.Repeat("x", 43) },
		true); !problem.Is(err, "sign_in_failed") {
		t.Errorf("another verifier: %v", err)
	}
	if err := finish(s, client, func(at *connection.Attempt) { at.Issuer = "https://other.example" },
		true); !problem.Is(err, "sign_in_failed") {
		t.Errorf("another issuer: %v", err)
	}
	without := *s
	profile := *s.OAuth
	profile.PKCE = "off"
	without.OAuth = &profile
	if err := finish(&without, client, same, true); !problem.Is(err, "sign_in_failed") {
		t.Errorf("without PKCE: %v", err)
	}
	g := a.connect(made, s, client)
	wrong := &connection.Client{App: "app", ID: "post", Secret: "wrong"}
	if _, err := a.client.Refresh(t.Context(), made, s, wrong, &connection.Connection{},
		g.Credentials); refreshClass(err) != connection.ClientBroken {
		t.Errorf("a wrong secret: %v", err)
	}
	if _, err := a.client.Refresh(t.Context(), made, s, client, &connection.Connection{}, g.Credentials); err != nil {
		t.Errorf("after that the grant is over: %v", err)
	}
}

// TestOIDCProviderExpiry waits for the end of an access token, which is renewed,
// and of a refresh token, which ends the grant.
func TestOIDCProviderExpiry(t *testing.T) {
	t.Parallel()
	a := startAuthority(t, map[string]any{"access": 2, "refresh": 8}, nil)
	made, s := a.app(`      introspect: "ORIGIN/token/introspection"`)
	s.OAuth.Token.Expires.Path = "/nowhere" // so that the end has to be asked for
	client := secretOf("post")
	g := a.connect(made, s, client)
	if g.ExpiresAt.IsZero() || !g.ExpiresAt.Before(time.Now().Add(time.Minute)) {
		t.Errorf("introspection tells the end %v", g.ExpiresAt)
	}
	for a.works("/api/me", g.Credentials["access_token"]) != "" {
		time.Sleep(200 * time.Millisecond)
	}
	next, err := a.client.Refresh(t.Context(), made, s, client, &connection.Connection{}, g.Credentials)
	if err != nil || a.works("/api/me", next.Credentials["access_token"]) != "ann" {
		t.Fatalf("after the access token's end: %v", err)
	}
	time.Sleep(9 * time.Second)
	if _, err := a.client.Refresh(t.Context(), made, s, client, &connection.Connection{},
		next.Credentials); refreshClass(err) != connection.GrantOver {
		t.Errorf("after the refresh token's end: %v", err)
	}
}

func TestOIDCProviderMachine(t *testing.T) {
	t.Parallel()
	a := startAuthority(t, nil, nil)
	made, err := app.Parse([]byte(strings.ReplaceAll(`
id: app
name: App
auth: [{type: client_credentials, fields: [{name: client_id}, {name: client_secret, secret: true}],
  oauth: {client: {method: basic}, token: {url: "ORIGIN/token"}}}]`, "ORIGIN", a.origin)))
	if err != nil {
		t.Fatal(err)
	}
	known := secretOf("machine")
	typed := connection.Credentials{"client_id": known.ID, "client_secret": known.Secret}
	g, err := a.client.Exchange(t.Context(), made, &made.Schemes[0], nil, nil, typed)
	if err != nil || a.works("/api/me", g.Credentials["access_token"]) != "machine" {
		t.Fatalf("Exchange = %v", err)
	}
	again, err := a.client.Refresh(t.Context(), made, &made.Schemes[0], nil, &connection.Connection{}, g.Credentials)
	if err != nil || again.Credentials["access_token"] == g.Credentials["access_token"] {
		t.Errorf("Refresh = %v", err)
	}
	typed["client_secret"] = "wrong"
	if _, err := a.client.Exchange(t.Context(), made, &made.Schemes[0], nil, nil, typed); !problem.Is(err,
		"credentials_refused") {
		t.Errorf("a wrong secret: %v", err)
	}
}

// TestOIDCProviderMCP discovers the authority from the 401 of an MCP server and
// signs in registered by itself, and by our client id metadata document. The
// tokens are good for the server alone.
func TestOIDCProviderMCP(t *testing.T) {
	t.Parallel()
	text, err := oauthclient.Document(platformURL, "ACE")
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]*oauthclient.Options{"registered": nil, "by document": {PlatformURL: platformURL}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startAuthority(t, map[string]any{"document": document}, o)
			made := &app.App{
				ID: "app", Name: "App",
				Schemes: []app.Scheme{{ID: "mcp", Type: app.TypeMCP, URL: a.origin + "/mcp"}},
			}
			s := &made.Schemes[0]
			_, address := a.begin(made, s, nil)
			if byDocument := strings.Contains(address,
				url.QueryEscape(platformURL+oauthclient.DocumentPath)); byDocument != (o != nil) {
				t.Errorf("the client is another: %s", address)
			}
			g := a.connect(made, s, nil)
			if a.works("/mcp", g.Credentials["access_token"]) != "ann" ||
				a.works("/api/me", g.Credentials["access_token"]) != "" {
				t.Error("the token is not one for the server alone")
			}
			next, err := a.client.Refresh(t.Context(), made, s, nil, &connection.Connection{}, g.Credentials)
			if err != nil {
				t.Fatal(err)
			}
			if a.works("/mcp", next.Credentials["access_token"]) != "ann" ||
				next.Credentials["refresh_token"] == g.Credentials["refresh_token"] {
				t.Error("the renewed token is not one for the server")
			}
			if err := a.client.Revoke(t.Context(), made, s, nil, &connection.Connection{},
				next.Credentials); err != nil {
				t.Errorf("Revoke = %v", err)
			}
			if _, err := a.client.Refresh(t.Context(), made, s, nil, &connection.Connection{},
				next.Credentials); refreshClass(err) != connection.GrantOver {
				t.Errorf("after it was revoked Refresh answers %v", err)
			}
		})
	}
}
