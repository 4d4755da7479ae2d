package console_test

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/authserver"
)

var sealedField = regexp.MustCompile(`name="request" value="([^"]+)"`)

const consentVerifier = "0123456789012345678901234567890123456789012345"

// authorizeURL is a request of a client that registered itself.
func (w *world) authorizeURL(t *testing.T, redirect string, pairs ...string) (path, clientID string) {
	t.Helper()
	c, err := w.mcpSignIn.Register(&authserver.Metadata{Name: "Agent <b>One</b>", RedirectURIs: []string{redirect}})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(consentVerifier))
	query := url.Values{
		"client_id": {c.ID}, "redirect_uri": {redirect}, "response_type": {"code"}, "state": {"st&te"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
		"resource": {w.base + "/mcp"},
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
	}
	return "/oauth/authorize?" + query.Encode(), c.ID
}

// answerOf is what a client gets, at its redirect URI.
func answerOf(t *testing.T, p page, redirect string) url.Values {
	t.Helper()
	if p.Code != http.StatusSeeOther || !strings.HasPrefix(p.to(), redirect+"?") {
		t.Fatalf("the browser is not sent to %s: %d %s %s", redirect, p.Code, p.to(), p.text)
	}
	u, err := url.Parse(p.to())
	if err != nil {
		t.Fatal(err)
	}
	if q := u.Query(); q.Get("iss") != base || q.Get("state") != "st&te" || p.Header().Get("Referrer-Policy") !=
		"no-referrer" || p.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("answer %v %v, want the issuer and the state, and nothing that is stored or sent on", q, p.Header())
	}
	return u.Query()
}

// TestConsent lets a client in: sign-in, page, choice, code, tokens.
func TestConsent(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	const redirect = "http://127.0.0.1:40123/callback"
	path, clientID := w.authorizeURL(t, redirect)
	visitor := w.browser(t)
	first := visitor.get(path)
	if to, err := url.Parse(first.to()); err != nil || to.Path != "/sign-in" || to.Query().Get("next") != path {
		t.Fatalf("a visitor is sent to %s, want the sign-in that leads back", first.to())
	}
	contains(t, "the sign-in page", visitor.get(first.to()).text, "An MCP client asks to use your apps")
	if got := visitor.post("/sign-in/" + strings.TrimPrefix(w.link(t), "/sign-in/")); got.to() != path {
		t.Fatalf("the sign-in by a link leads to %s, want the request", got.to())
	}
	b := visitor
	shown := b.get(path)
	contains(t, "the consent page", shown.text, "Agent &lt;b&gt;One&lt;/b&gt;", "Not verified", "127.0.0.1:40123",
		"this computer", "any program can take this name", "demo, as demo", `value="run" checked`,
		`value="destructive" selected`, `value="90" selected`)
	policy := shown.Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "frame-ancestors 'none'") ||
		!strings.Contains(policy, "form-action 'self' http://127.0.0.1:40123;") {
		t.Errorf("Content-Security-Policy = %s", policy)
	}
	sealed := html.UnescapeString(sealedField.FindStringSubmatch(shown.text)[1])
	form := []string{"request", sealed, "decision", "allow", "permission", "read", "approval", "writes", "days", "30"}
	allowed := answerOf(t, b.post("/oauth/authorize", form...), redirect)
	tokens, err := w.mcpSignIn.Exchange(t.Context(), authserver.Code{
		ClientID: clientID, Code: allowed.Get("code"), Verifier: consentVerifier, RedirectURI: redirect,
	}, "192.0.2.1")
	if err != nil || tokens.Scope != "read" {
		t.Fatalf("Exchange = %+v, %v", tokens, err)
	}
	keys, err := w.keys.List(t.Context(), w.account.ID)
	if err != nil || len(keys) != 1 || keys[0].Approval != apikey.ApproveWrites || keys[0].ExpiresAt.IsZero() {
		t.Fatalf("keys = %+v, %v", keys, err)
	}
	contains(t, "the account page", b.get("/account").text, "MCP client that signed in, from 127.0.0.1:40123")
	key := b.get("/account/keys/" + keys[0].ID)
	contains(t, "the key's page", key.text, "signed in from <code>127.0.0.1:40123</code>", "Revoke it")
	if strings.Contains(key.text, "Replace it") {
		t.Error("the key of a client can be replaced by hand")
	}
	if got := b.post("/account/keys/"+keys[0].ID+"/rotate", "grace", "0"); got.Code != http.StatusConflict {
		t.Errorf("replacing the key of a client: %d", got.Code)
	}
	denied := answerOf(t, b.post("/oauth/authorize", "request", sealed, "decision", "deny"), redirect)
	if denied.Get("error") != "access_denied" || denied.Has("code") {
		t.Errorf("refused: %v", denied)
	}
	if got := b.post("/oauth/authorize", "request", sealed, "decision", "allow", "days", "30"); got.Code !=
		http.StatusUnprocessableEntity || !strings.Contains(got.text, "at least one of the permissions") {
		t.Errorf("without a permission: %d %s", got.Code, got.text)
	}
	if got := b.post("/oauth/authorize", "request", sealed, "decision", "allow", "permission", "read", "days",
		"soon"); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("an odd time: %d", got.Code)
	}
	if got := b.post("/oauth/authorize", "request", sealed, "decision", "switch"); !strings.HasPrefix(got.to(),
		"/sign-in?next=%2Foauth%2Fauthorize") || b.get("/account").Code != http.StatusSeeOther {
		t.Errorf("another account: %s, want the sign-in, signed out", got.to())
	}
}

// TestConsentIsNotForged: forms of other sites, of other sessions and of nobody
// approve nothing, and a role that makes no keys does not either.
func TestConsentIsNotForged(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	const redirect = "https://client.example/cb"
	path, _ := w.authorizeURL(t, redirect)
	b, other := w.signedIn(t, w.account), w.signedIn(t, w.other(t, "acme"))
	sealed := html.UnescapeString(sealedField.FindStringSubmatch(b.get(path).text)[1])
	form := []string{"request", sealed, "decision", "allow", "permission", "read"}
	if got := other.post("/oauth/authorize", form...); got.Code != http.StatusGone {
		t.Errorf("the page of another session: %d %s", got.Code, got.to())
	}
	if got := b.post("/oauth/authorize", append(form, "csrf_token", "x")...); got.Code != http.StatusForbidden {
		t.Errorf("without the session's token: %d %s", got.Code, got.to())
	}
	if got := w.browser(t).post("/oauth/authorize", form...); !strings.HasPrefix(got.to(), "/sign-in") {
		t.Errorf("nobody: %d %s", got.Code, got.to())
	}
	if got := b.post("/oauth/authorize", "request", sealed); got.Code != http.StatusBadRequest {
		t.Errorf("without a decision: %d %s", got.Code, got.to())
	}
	w.setRole(t, account.Member)
	contains(t, "the page for a member", b.get(path).text, "does not allow you to let clients in")
	if got := b.post("/oauth/authorize", form...); got.Code != http.StatusForbidden {
		t.Errorf("a member: %d %s", got.Code, got.to())
	}
}

// TestConsentFaults: faults go to a redirect URI that the client has, after the
// sign-in; everything else is a page.
func TestConsentFaults(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	const redirect = "https://client.example/cb"
	b := w.signedIn(t, w.account)
	for name, pairs := range map[string][]string{
		"invalid_request":           {"code_challenge_method", "plain"},
		"unsupported_response_type": {"response_type", "token"},
		"invalid_target":            {"resource", "https://evil.example/mcp"},
	} {
		path, _ := w.authorizeURL(t, redirect, pairs...)
		if got := answerOf(t, b.get(path), redirect); got.Get("error") != name {
			t.Errorf("%s: %v", name, got)
		}
		if got := w.browser(t).get(path); !strings.HasPrefix(got.to(), "/sign-in?") {
			t.Errorf("%s: a visitor is sent to %s", name, got.to())
		}
	}
	for _, pairs := range [][]string{
		{"redirect_uri", "https://evil.example/cb"},
		{"redirect_uri", ""},
		{"client_id", "mcp_x"},
		{"client_id", ""},
		{"client_id", "https://client.example/other"},
	} {
		path, _ := w.authorizeURL(t, redirect, pairs...)
		if got := b.get(path); got.Code != http.StatusBadRequest || got.to() != "" {
			t.Errorf("%v: %d %s, want a page", pairs, got.Code, got.to())
		}
	}
}
