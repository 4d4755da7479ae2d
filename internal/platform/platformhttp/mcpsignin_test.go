package platformhttp_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/authserver"
)

const callback = "http://127.0.0.1/callback"

// form posts parameters, given as name, value pairs.
func (w *world) form(path string, pairs ...string) *httptest.ResponseRecorder {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return w.call(http.MethodPost, path, values.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// mcpClient registers a client over HTTP and returns its id.
func (w *world) mcpClient(t *testing.T) string {
	t.Helper()
	got := w.call(http.MethodPost, "/oauth/register", `{"client_name":"Peer","redirect_uris":["`+callback+`"]}`)
	if got.Code != http.StatusCreated {
		t.Fatalf("register = %d %s, want 201", got.Code, got.Body)
	}
	return decode(t, got)["client_id"].(string)
}

// mcpTokens signs a client in and returns the response of the token endpoint.
func (w *world) mcpTokens(t *testing.T, client string) map[string]any {
	t.Helper()
	verifier := strings.Repeat("v", 43)
	sum := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"client_id": {client}, "redirect_uri": {callback}, "response_type": {"code"}, "resource": {base + "/mcp"},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(sum[:])},
		"code_challenge_method": {"S256"},
	}
	request, err := w.signIns.Read(t.Context(), query.Encode())
	if err != nil {
		t.Fatal(err)
	}
	code, err := w.signIns.Approve(t.Context(), request, w.account.ID, audit.Operator(),
		authserver.Choice{Permissions: apikey.Read | apikey.Run})
	if err != nil {
		t.Fatal(err)
	}
	got := w.form("/oauth/token", "grant_type", "authorization_code", "code", code, "code_verifier", verifier,
		"client_id", client, "redirect_uri", callback, "resource", base+"/mcp")
	if got.Code != http.StatusOK || got.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("token = %d %v %s", got.Code, got.Header(), got.Body)
	}
	return decode(t, got)
}

// TestMCPMetadata: what clients read to sign in, from pages of any origin.
func TestMCPMetadata(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	const resources = "/.well-known/oauth-protected-resource"
	for path, want := range map[string]map[string]string{
		resources:          {"resource": base + "/mcp", "authorization_servers": "[" + base + "]"},
		resources + "/mcp": {"resource": base + "/mcp", "authorization_servers": "[" + base + "]"},
		"/.well-known/oauth-authorization-server": {
			"issuer": base, "authorization_endpoint": base + "/oauth/authorize",
			"token_endpoint":        base + "/oauth/token",
			"registration_endpoint": base + "/oauth/register", "revocation_endpoint": base + "/oauth/revoke",
			"code_challenge_methods_supported":      "[S256]",
			"token_endpoint_auth_methods_supported": "[none]",
		},
	} {
		got := w.call(http.MethodGet, path, "", "Origin", "https://page.example")
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "application/json" ||
			got.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s = %d %v, want JSON for every origin", path, got.Code, got.Header())
			continue
		}
		document := decode(t, got)
		for name, value := range want {
			if fmt.Sprint(document[name]) != value {
				t.Errorf("%s: %s = %v, want %s", path, name, document[name], value)
			}
		}
	}
	for _, path := range []string{"/oauth/register", "/oauth/token", "/oauth/revoke"} {
		got := w.call(http.MethodOptions, path, "", "Origin", "https://page.example",
			"Access-Control-Request-Method", "POST")
		if got.Code != http.StatusNoContent || got.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("OPTIONS %s = %d %v", path, got.Code, got.Header())
		}
	}
}

// TestMCPSignInRefusals: errors have the shape of OAuth, and nobody keeps them.
func TestMCPSignInRefusals(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	client := w.mcpClient(t)
	const kind = "application/x-www-form-urlencoded"
	for _, tt := range []struct {
		path, body, kind string
		status           int
		code             string
	}{
		{"/oauth/register", `{`, "application/json", 400, "invalid_client_metadata"},
		{"/oauth/register", `[]`, "application/json", 400, "invalid_client_metadata"},
		{"/oauth/register", `{}`, "application/json", 400, "invalid_redirect_uri"},
		{
			"/oauth/register", `{"redirect_uris":["http://client.example/"]}`, "application/json", 400,
			"invalid_redirect_uri",
		},
		{"/oauth/token", `{}`, "application/json", 400, "invalid_request"},
		{"/oauth/token", "grant_type=refresh_token", kind, 401, "invalid_client"},
		{"/oauth/token", "client_id=a&client_id=b", kind, 400, "invalid_request"},
		{"/oauth/token?code=c", "client_id=a", kind, 400, "invalid_request"},
		{"/oauth/token", "client_id=a&client_secret=s", kind, 401, "invalid_client"},
		{"/oauth/token", "client_id=" + client, kind, 400, "invalid_request"},
		{"/oauth/token", "client_id=" + client + "&grant_type=password", kind, 400, "unsupported_grant_type"},
		{
			"/oauth/token", "client_id=" + client + "&grant_type=authorization_code&code=c&code_verifier=v", kind, 400,
			"invalid_grant",
		},
		{
			"/oauth/token", "client_id=" + client + "&grant_type=refresh_token&refresh_token=r&resource=b:c",
			kind, 400, "invalid_target",
		},
		{"/oauth/revoke", "client_id=" + client, kind, 400, "invalid_request"},
	} {
		got := w.call(http.MethodPost, tt.path, tt.body, "Content-Type", tt.kind)
		fault := decode(t, got)
		if got.Code != tt.status || fault["error"] != tt.code || fault["error_description"] == nil ||
			got.Header().Get("Cache-Control") != "no-store" || got.Header().Get("Content-Type") != "application/json" {
			t.Errorf(
				"%s %s = %d %v %s, want %d %s",
				tt.path,
				tt.body,
				got.Code,
				got.Header(),
				got.Body,
				tt.status,
				tt.code,
			)
		}
	}
	if got := w.form("/oauth/revoke", "client_id", client, "token", "unknown"); got.Code != http.StatusOK {
		t.Errorf("revoking an unknown token = %d %s, want 200", got.Code, got.Body)
	}
}

// TestMCPTokenIsForMCP: a token works at /mcp and nowhere else, until it is replaced
// or revoked.
func TestMCPTokenIsForMCP(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	client := w.mcpClient(t)
	tokens := w.mcpTokens(t, client)
	if tokens["token_type"] != "Bearer" || tokens["expires_in"] != 3600.0 || tokens["scope"] != "read run" {
		t.Errorf("tokens = %v", tokens)
	}
	bearer := func(token any) string { return fmt.Sprintf("Bearer %v", token) }
	mcp := func(fields ...string) *httptest.ResponseRecorder {
		return w.call(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, append(fields,
			"Accept", "application/json, text/event-stream")...)
	}
	challenged := func(what string, got *httptest.ResponseRecorder) {
		t.Helper()
		metadata := `resource_metadata="` + base + `/.well-known/oauth-protected-resource/mcp"`
		if challenge := got.Header().Get("WWW-Authenticate"); got.Code != http.StatusUnauthorized ||
			!strings.HasPrefix(challenge, "Bearer ") || !strings.Contains(challenge, metadata) {
			t.Errorf("%s = %d %q, want 401 with %s", what, got.Code, challenge, metadata)
		}
	}
	challenged("no token", mcp())
	if got := mcp("Authorization", bearer(tokens["access_token"])); got.Code != http.StatusOK {
		t.Errorf("a token at /mcp = %d %s, want 200", got.Code, got.Body)
	}
	got := w.call(http.MethodGet, "/api/v1/apps", "", "Authorization", bearer(tokens["access_token"]))
	if got.Code != http.StatusUnauthorized || decode(t, got)["code"] != "wrong_audience" {
		t.Errorf("a token at the REST API = %d %s, want 401 wrong_audience", got.Code, got.Body)
	}
	renewed := w.form("/oauth/token", "grant_type", "refresh_token", "client_id", client, "refresh_token",
		tokens["refresh_token"].(string))
	if renewed.Code != http.StatusOK || renewed.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("refresh = %d %s", renewed.Code, renewed.Body)
	}
	next := decode(t, renewed)
	challenged("a token that was replaced", mcp("Authorization", bearer(tokens["access_token"])))
	if got := mcp("Authorization", bearer(next["access_token"])); got.Code != http.StatusOK {
		t.Errorf("the next token = %d %s, want 200", got.Code, got.Body)
	}
	other := w.form("/oauth/revoke", "client_id", w.mcpClient(t)+"x", "token", next["access_token"].(string))
	if other.Code != http.StatusBadRequest || decode(t, other)["error"] != "invalid_grant" {
		t.Errorf("revoking a token of another client = %d %s", other.Code, other.Body)
	}
	if got := w.form("/oauth/revoke", "client_id", client, "token",
		next["access_token"].(string)); got.Code != http.StatusOK {
		t.Errorf("revoke = %d %s, want 200", got.Code, got.Body)
	}
	challenged("a token that was revoked", mcp("Authorization", bearer(next["access_token"])))
}
