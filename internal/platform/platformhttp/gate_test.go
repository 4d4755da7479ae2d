package platformhttp_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"ace/internal/platform/apikey"
)

func TestKeyRefusals(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	secret, key := w.key(t, apikey.All)
	ended, endedKey := w.key(t, apikey.Read)
	if got := w.call(http.MethodGet, "/api/v1/me", "", "Authorization", "Bearer "+ended); got.Code != 200 {
		t.Fatalf("before the revocation: %d %s", got.Code, got.Body)
	}
	if got := w.call(http.MethodDelete, "/api/v1/keys/self", "", "Authorization", "Bearer "+ended); got.Code != 204 {
		t.Fatalf("revoking itself: %d %s", got.Code, got.Body)
	}
	tests := []struct {
		name, path, authorization string
		status                    int
		code, challenge           string
	}{
		{"none", "/api/v1/me", "", 401, "missing_key", `Bearer realm="platform"`},
		{"another scheme", "/api/v1/me", "Basic " + secret, 401, "missing_key", `Bearer realm="platform"`},
		{"a typo", "/api/v1/me", "Bearer " + secret + "x", 401, "invalid_key", `error="invalid_token"`},
		{"revoked", "/api/v1/me", "Bearer " + ended, 401, "key_revoked", `error="invalid_token"`},
		{
			"in the address", "/api/v1/me?api_key=" + secret, "Bearer " + secret, 401, "missing_key",
			`Bearer realm="platform"`,
		},
		{"right", "/api/v1/me", "bearer  " + secret, 200, "", ""},
		{"keys cannot make keys", "/api/v1/keys", "Bearer " + secret, 401, "session_required", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := w.call(http.MethodGet, tt.path, "", "Authorization", tt.authorization)
			if got.Code != tt.status || tt.code != "" && decode(t, got)["code"] != tt.code {
				t.Errorf("answer %d %s, want %d %s", got.Code, got.Body, tt.status, tt.code)
			}
			if challenge := got.Header().Get("WWW-Authenticate"); !strings.Contains(challenge, tt.challenge) ||
				tt.challenge == "" && challenge != "" {
				t.Errorf("challenge %q, want %q", challenge, tt.challenge)
			}
			if strings.Contains(got.Body.String(), secret) {
				t.Error("the answer holds the key")
			}
		})
	}
	me := decode(t, w.call(http.MethodGet, "/api/v1/me", "", "Authorization", "Bearer "+secret))
	if me["account"].(map[string]any)["id"] != w.account.ID || me["key"].(map[string]any)["id"] != key.ID ||
		endedKey.ID == key.ID {
		t.Errorf("me = %v", me)
	}
}

func TestKeyLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the limit gives room again as time goes by
		w := setup(t)
		secret, _ := w.key(t, apikey.Read)
		other, _ := w.key(t, apikey.Read)
		for i := range 120 {
			if got := w.call(http.MethodGet, "/api/v1/me", "", "Authorization", "Bearer "+secret); got.Code != 200 {
				t.Fatalf("request %d: %d %s", i+1, got.Code, got.Body)
			}
		}
		got := w.call(http.MethodGet, "/api/v1/me", "", "Authorization", "Bearer "+secret)
		if got.Code != 429 || got.Header().Get("Retry-After") == "" ||
			got.Header().Get("RateLimit-Policy") != `"key";q=120;w=60` || decode(t, got)["code"] != "rate_limited" {
			t.Errorf("request 121: %d %v %s", got.Code, got.Header(), got.Body)
		}
		if got := w.call(http.MethodGet, "/api/v1/me", "", "Authorization", "Bearer "+other); got.Code != 200 ||
			!strings.HasPrefix(got.Header().Get("RateLimit"), `"key";r=119`) {
			t.Errorf("another key: %d %v", got.Code, got.Header())
		}
	})
}

func TestGuessingKeysIsLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the limit gives room again as time goes by
		w := setup(t)
		secret, _ := w.key(t, apikey.Read)
		codes := map[string]int{}
		for range 40 {
			codes[decode(t,
				w.call(http.MethodGet, "/api/v1/me", "", "Authorization", "Bearer ace_guess"))["code"].(string)]++
		}
		if codes["invalid_key"] != 20 || codes["rate_limited"] != 20 {
			t.Errorf("40 guesses: %v, want 20 refused as wrong, the rest as too many", codes)
		}
		if got := w.call(http.MethodGet, "/api/v1/me", "", "Authorization", "Bearer "+secret); got.Code != 200 {
			t.Errorf("a right key from the same address: %d %s", got.Code, got.Body)
		}
	})
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	w := setup(t)
	got := w.call(http.MethodOptions, "/api/v1/me", "", "Origin", "https://app.example",
		"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization")
	if got.Code != 204 || got.Header().Get("Access-Control-Allow-Origin") != "*" ||
		!strings.Contains(got.Header().Get("Access-Control-Allow-Headers"), "Authorization") ||
		got.Header().Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("preflight: %d %v", got.Code, got.Header())
	}
	for _, name := range []string{
		"X-Request-Id", "Retry-After", "RateLimit", "RateLimit-Policy", "Link",
		"Idempotency-Replayed",
	} {
		if !strings.Contains(got.Header().Get("Access-Control-Expose-Headers")+",", name+",") {
			t.Errorf("a page cannot read %s: %v", name, got.Header())
		}
	}
	refused := w.call(http.MethodGet, "/api/v1/me", "", "Origin", "https://app.example")
	if refused.Header().Get("Access-Control-Allow-Origin") != "*" ||
		!strings.Contains(refused.Header().Get("Access-Control-Expose-Headers"), "Retry-After") {
		t.Errorf("a refusal cannot be read by the page: %v", refused.Header())
	}
}
