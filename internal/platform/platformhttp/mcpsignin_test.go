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
	"testing/synctest"
	"time"

	"ace/internal/foundation/problem"
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

const mcpVerifier = "0123456789012345678901234567890123456789012"

// mcpRequest is what the person at the consent page sees of a client.
func (w *world) mcpRequest(t *testing.T, client string) *authserver.Request {
	t.Helper()
	sum := sha256.Sum256([]byte(mcpVerifier))
	query := url.Values{
		"client_id": {client}, "redirect_uri": {callback}, "response_type": {"code"}, "resource": {base + "/mcp"},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(sum[:])},
		"code_challenge_method": {"S256"},
	}
	request, err := w.signIns.Read(t.Context(), query.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return request
}

// mcpCode is the code that a client gets when the person agrees, for some days or for
// ever.
func (w *world) mcpCode(t *testing.T, client string, days int) string {
	t.Helper()
	code, err := w.signIns.Approve(t.Context(), w.mcpRequest(t, client), w.account.ID, audit.Operator(),
		authserver.Choice{Permissions: apikey.Read | apikey.Run, Days: days})
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// mcpExchange sends a code to the token endpoint.
func (w *world) mcpExchange(client, code string) *httptest.ResponseRecorder {
	return w.form("/oauth/token", "grant_type", "authorization_code", "code", code, "code_verifier", mcpVerifier,
		"client_id", client, "redirect_uri", callback, "resource", base+"/mcp")
}

// mcpTokens signs a client in and returns the response of the token endpoint.
func (w *world) mcpTokens(t *testing.T, client string) map[string]any {
	t.Helper()
	got := w.mcpExchange(client, w.mcpCode(t, client, 0))
	if got.Code != http.StatusOK || got.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("token = %d %v %s", got.Code, got.Header(), got.Body)
	}
	return decode(t, got)
}

// mcpRefresh sends a refresh token to the token endpoint.
func (w *world) mcpRefresh(client string, tokens map[string]any) *httptest.ResponseRecorder {
	return w.form("/oauth/token", "grant_type", "refresh_token", "client_id", client, "refresh_token",
		tokens["refresh_token"].(string))
}

// mcpList lists the tools with an access token and returns the status.
func (w *world) mcpList(tokens map[string]any) int {
	return w.call(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Accept",
		"application/json, text/event-stream", "Authorization", fmt.Sprintf("Bearer %v", tokens["access_token"])).Code
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
	renewed := w.mcpRefresh(client, tokens)
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

// TestMCPSignInEnds tests the times of a sign-in, on both sides of each end.
func TestMCPSignInEnds(t *testing.T) {
	t.Parallel()
	const moment = time.Millisecond // what times are stored in
	// atEnd runs a test just before an end, and another one at it.
	atEnd := func(t *testing.T, lifetime time.Duration, begin func() (client string, held map[string]any),
		test func(client string, held map[string]any, ended bool),
	) {
		t.Helper()
		for _, ended := range []bool{false, true} {
			client, held := begin()
			time.Sleep(lifetime - moment)
			if ended {
				time.Sleep(moment)
			}
			test(client, held, ended)
		}
	}
	for name, test := range map[string]func(t *testing.T, w *world){
		"consent page": func(t *testing.T, w *world) {
			var sealed string
			atEnd(t, 15*time.Minute+moment, func() (string, map[string]any) {
				var err error
				if sealed, err = w.signIns.Seal(w.mcpRequest(t, w.mcpClient(t)), "session"); err != nil {
					t.Fatal(err)
				}
				return "", nil
			}, func(_ string, _ map[string]any, ended bool) {
				if _, err := w.signIns.Unseal(sealed, "session"); problem.Is(err, "consent_expired") != ended {
					t.Errorf("Unseal = %v; ended is %v", err, ended)
				}
			})
		},
		"code": func(t *testing.T, w *world) {
			atEnd(t, time.Minute, func() (string, map[string]any) {
				client := w.mcpClient(t)
				return client, map[string]any{"code": w.mcpCode(t, client, 0)}
			}, func(client string, held map[string]any, ended bool) {
				got := w.mcpExchange(client, held["code"].(string))
				if ended != (got.Code == http.StatusBadRequest && decode(t, got)["error"] == "invalid_grant") ||
					!ended && got.Code != http.StatusOK {
					t.Errorf("exchange = %d %s; ended is %v", got.Code, got.Body, ended)
				}
			})
		},
		"access token": func(t *testing.T, w *world) {
			atEnd(t, time.Hour, func() (string, map[string]any) {
				client := w.mcpClient(t)
				return client, w.mcpTokens(t, client)
			}, func(client string, held map[string]any, ended bool) {
				if status := w.mcpList(held); (status == http.StatusUnauthorized) != ended {
					t.Errorf("a call = %d; ended is %v", status, ended)
				}
				next := w.mcpRefresh(client, held)
				if next.Code != http.StatusOK || w.mcpList(decode(t, next)) != http.StatusOK {
					t.Errorf("refresh = %d %s; ended is %v", next.Code, next.Body, ended)
				}
			})
		},
		"refresh token": func(t *testing.T, w *world) {
			const lifetime = 60 * 24 * time.Hour // which each use begins again
			client := w.mcpClient(t)
			held := w.mcpTokens(t, client)
			for range 3 {
				time.Sleep(lifetime - moment)
				next := w.mcpRefresh(client, held)
				if next.Code != http.StatusOK {
					t.Fatalf("refresh = %d %s", next.Code, next.Body)
				}
				held = decode(t, next)
			}
			time.Sleep(lifetime)
			if next := w.mcpRefresh(client, held); next.Code != http.StatusBadRequest ||
				decode(t, next)["error"] != "invalid_grant" {
				t.Errorf("refresh after its time = %d %s", next.Code, next.Body)
			}
		},
		"answer that was lost": func(t *testing.T, w *world) {
			var next map[string]any
			atEnd(t, 30*time.Second, func() (string, map[string]any) {
				client := w.mcpClient(t)
				held := w.mcpTokens(t, client)
				next = decode(t, w.mcpRefresh(client, held))
				return client, held
			}, func(client string, held map[string]any, ended bool) {
				got := w.mcpRefresh(client, held)
				if ended {
					if got.Code != http.StatusBadRequest || w.mcpList(next) != http.StatusUnauthorized {
						t.Errorf("refresh with an old token = %d %s, want the end of the grant", got.Code, got.Body)
					}
					return
				}
				if again := decode(t, got); again["access_token"] != next["access_token"] ||
					again["refresh_token"] != next["refresh_token"] || w.mcpList(next) != http.StatusOK {
					t.Errorf("refresh again = %v, want the same tokens", again)
				}
			})
		},
		"what the person granted": func(t *testing.T, w *world) {
			const granted = 7 * 24 * time.Hour
			atEnd(t, granted, func() (string, map[string]any) {
				client := w.mcpClient(t)
				return client, decode(t, w.mcpExchange(client, w.mcpCode(t, client, 7)))
			}, func(client string, held map[string]any, ended bool) {
				next := w.mcpRefresh(client, held)
				if (next.Code == http.StatusBadRequest) != ended {
					t.Fatalf("refresh = %d %s; ended is %v", next.Code, next.Body, ended)
				}
				if ended {
					return
				}
				tokens := decode(t, next)
				if status := w.mcpList(tokens); tokens["expires_in"] != 0.0 || status != http.StatusOK {
					t.Errorf("tokens just before the end = %v, which get %d", tokens, status)
				}
				time.Sleep(moment)
				if status := w.mcpList(tokens); status != http.StatusUnauthorized {
					t.Errorf("a call at the end = %d, want 401", status)
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, setupFree(t)) })
		})
	}
}
