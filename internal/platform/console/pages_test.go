package console_test

import (
	"net/http"
	"strings"
	"testing"

	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/console"
	"ace/internal/platform/platformhttp/gate"
)

// TestPublicPages reads what anybody may read.
func TestPublicPages(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	tests := []struct {
		path   string
		status int
		want   []string
	}{
		{"/", 200, []string{"One key for every app", "3 apps, 4 tools", `href="/apps/desk"`}},
		{"/apps", 200, []string{"3 apps", "Keeps tickets", "Tells the weather."}},
		{"/apps?q=weather", 200, []string{"1 of 3 apps", "Sky"}},
		{"/apps?q=%3Cscript%3E", 200, []string{"No app fits", "&lt;script&gt;"}},
		{"/apps?category=support", 200, []string{"2 of 3 apps", "Locked"}},
		{"/apps?page=99", 200, []string{"Desk"}},
		{
			"/apps/desk", 200,
			[]string{
				"Sign in at Desk", "Key of an agent", "desk__delete_ticket", "May delete", "list of string",
				"open | closed", "required", base + "/api/v1/apps/desk/connect", "Sign in to connect it",
			},
		},
		{"/apps/sky", 200, []string{"needs no connection"}},
		{"/apps/locked", 200, []string{"cannot be connected here yet", base + "/oauth/callback/locked"}},
		{"/apps/none", 404, []string{"There is nothing here"}},
		{"/docs", 200, []string{
			base + "/api/v1/me", "120 requests", "<code>GET /api/v1/me</code>", "3. Find a tool",
			`{"task":"show my tickets"}`, "4. Run it", "/api/v1/tools/desk__list_tickets/run",
		}},
		{"/sign-in", 200, []string{"ace account link", `autocomplete="current-password"`}},
		{
			"/problems/invalid_key", 200,
			[]string{"status 401", "There is no such API key.", "Send <code>Authorization: Bearer ace_…</code>."},
		},
		{"/problems/invalid-key", 200, []string{"invalid_key"}},
		{"/problems/none", 404, []string{"No problem has this code."}},
		{"/robots.txt", 200, []string{"Disallow: /account", "Disallow: /connect/"}},
		{
			"/.well-known/security.txt", 200,
			[]string{
				"Contact: mailto:help@platform.example\n", "Expires: 20",
				"Canonical: " + base + "/.well-known/security.txt",
			},
		},
		{"/assets/icon.svg", 200, []string{"<svg"}},
		{"/favicon.ico", 200, []string{"<svg"}},
		{"/assets/none", 404, nil},
		{"/oauth/client.json", 200, []string{`"client_id"`}},
		{"/no/such/page", 404, []string{"There is nothing here", "<h1>"}},
		{"/api/v1/none", 404, []string{`"code":"not_found"`}},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			got := w.browser(t).get(tt.path)
			if got.Code != tt.status {
				t.Errorf("GET %s = %d, want %d", tt.path, got.Code, tt.status)
			}
			contains(t, tt.path, got.text, tt.want...)
		})
	}
}

// TestHeaders holds what keeps a page safe in a browser, on every page and every
// refusal.
func TestHeaders(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	in := w.signedIn(t, w.account)
	for _, path := range []string{
		"/", "/docs", "/apps", "/apps/desk", "/sign-in", "/sign-in/some-token",
		"/connect/unknown", "/no/such/page", "/account", "/account/activity", "/account/keys/new", "/account/keys/none",
		"/oauth/callback/desk?state=x",
	} {
		got := in.get(path)
		h := got.Header()
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if path == "/sign-in" && name == "Referrer-Policy" { // signed in already: leads on
				continue
			}
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", path, name, h.Get(name), want)
			}
		}
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'none'", "script-src 'self'", "style-src 'self'",
			"form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
		} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %s", path, policy, want)
			}
		}
		if strings.Contains(got.text, "style=") || strings.Contains(got.text, "<style") || strings.Contains(got.text,
			"onclick") || strings.Contains(got.text, "<script>") {
			t.Errorf("%s holds a style or a script that the policy forbids", path)
		}
	}
}

// TestHTTPSHeaders: on a public address cookies are bound to the host.
func TestHTTPSHeaders(t *testing.T) {
	t.Parallel()
	w := setup(t, options{base: "https://platform.example"})
	got := w.browser(t).get("/connect/unknown")
	cookie := got.Header().Get("Set-Cookie")
	for _, want := range []string{"__Host-ace_connect=", "Secure", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q lacks %s", cookie, want)
		}
	}
	if got.Header().Get("Strict-Transport-Security") == "" {
		t.Error("no Strict-Transport-Security on https")
	}
}

// TestPagePermissions walks over every page with every kind of visitor: who may
// not see one is led to the sign-in page or told so on a page.
func TestPagePermissions(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	roles := []account.Role{account.Owner, account.Admin, account.Member, account.Auditor}
	visitors := map[account.Role]*browser{"": w.browser(t)}
	for _, role := range roles {
		visitors[role] = w.signedIn(t, w.account)
	}
	allowed := func(need gate.Need, role account.Role) bool {
		rule := need.Rule()
		switch {
		case rule.Open:
			return true
		case rule.Manages:
			return role.Manages()
		case rule.Audits:
			return role.Audits()
		case rule.Permissions&^apikey.Read != 0:
			return role.Connects()
		}
		return role != ""
	}
	for pattern, need := range console.Rules() {
		method, path, _ := strings.Cut(pattern, " ")
		if method != http.MethodGet || path == "/{$}" || path == "/assets/{file}" || path == "/favicon.ico" ||
			path == "/robots.txt" || path == "/.well-known/security.txt" || path == "/oauth/client.json" {
			continue
		}
		for _, role := range append(roles, "") {
			if role != "" {
				w.setRole(t, role)
			}
			got := visitors[role].get(
				strings.NewReplacer("{id}", "none", "{app}", "desk", "{token}", "none").Replace(path))
			may := allowed(need, role)
			switch {
			case role == "" && !may && (got.Code != http.StatusSeeOther || !strings.HasPrefix(got.to(), "/sign-in")):
				t.Errorf("%s by nobody: %d %s, want the sign-in page", pattern, got.Code, got.to())
			case role != "" && !may &&
				(got.Code != http.StatusForbidden || !strings.Contains(got.text, "role in this account")):
				t.Errorf("%s by %s: %d, want a page that denies access", pattern, role, got.Code)
			case may && got.Code == http.StatusForbidden:
				t.Errorf("%s by %s: refused", pattern, role)
			}
		}
	}
}

// TestFormsOfOthers: whatever changes something refuses a form without the
// session's token, and before there is a session one that another site sent.
func TestFormsOfOthers(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	in := w.signedIn(t, w.account)
	for pattern, need := range console.Rules() {
		method, path, _ := strings.Cut(pattern, " ")
		if method != http.MethodPost || strings.HasPrefix(path, "/oauth/callback/") {
			continue // a vendor's form is a vendor's
		}
		path = strings.NewReplacer("{id}", "none", "{app}", "desk", "{token}", "none").Replace(path)
		in.site = "cross-site"
		form := []string{"csrf_token", "guessed"}
		if got := in.post(path, form...); got.Code != http.StatusForbidden || !strings.Contains(got.text,
			"does not come from this site") {
			t.Errorf("%s from another site (open %v): %d, want 403", pattern, need.Open, got.Code)
		}
	}
	in.site = ""
	if got := in.get("/account"); got.Code != http.StatusOK {
		t.Errorf("after all that the person is signed out: %d", got.Code)
	}
}
