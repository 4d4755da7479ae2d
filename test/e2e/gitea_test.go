package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"
	"time"

	"ace/internal/browsertest"
)

// withGitea is a newcomer whose ACE may call a Gitea on this machine.
func withGitea(t *testing.T, g *gitea) *account {
	t.Helper()
	return newcomer(t, "ACE_EGRESS_ALLOW=127.0.0.0/8", "SSL_CERT_FILE="+g.certificate)
}

// must calls the API and fails unless the status is the one.
func (a *account) must(want int, method, path, body string) map[string]any {
	a.t.Helper()
	status, got := a.call(method, path, body)
	if status != want {
		a.t.Fatalf("%s %s = %d %v, want %d", method, path, status, got, want)
	}
	return got
}

// connectLink asks for a link to connect an app.
func (a *account) connectLink(app, body string) string {
	a.t.Helper()
	return a.must(http.StatusCreated, http.MethodPost, "/apps/"+app+"/connect", body)["url"].(string)
}

// connection is the only connection of an app.
func (a *account) connection(app string) map[string]any {
	a.t.Helper()
	list := a.must(http.StatusOK, http.MethodGet, "/connections?app="+app, "")["connections"].([]any)
	if len(list) != 1 {
		a.t.Fatalf("connections of %s: %v", app, list)
	}
	return list[0].(map[string]any)
}

// signInLink is a link that signs the owner in.
func (a *account) signInLink() string {
	a.t.Helper()
	link := regexp.MustCompile(`http\S+/sign-in/\S+`).FindString(a.world.ace("account", "link", "demo"))
	if link == "" {
		a.t.Fatal("the command line gave no link to sign in")
	}
	return link
}

var sessionToken = regexp.MustCompile(`name="csrf_token" value="([^"]+)"`)

// asOwner calls the API as the account's owner, who is signed in, and returns
// what came back; it has to be a success.
func (a *account) asOwner(method, path, body string) map[string]any {
	a.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		a.t.Fatal(err)
	}
	owner := *a
	owner.browser = &http.Client{Jar: jar}
	link := a.signInLink()
	owner.visit(link, owner.visit(link, nil).hidden())
	found := sessionToken.FindStringSubmatch(owner.visit(a.platform+"/account", nil).text)
	if found == nil {
		a.t.Fatal("the owner is not signed in")
	}
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.platform+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-CSRF-Token", found[1])
	res, err := owner.browser.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var got map[string]any
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil || res.StatusCode >= 300 {
		a.t.Fatalf("%s %s = %d %v, %v", method, path, res.StatusCode, got, err)
	}
	return got
}

// TestGiteaByForm connects Gitea by what a person types, with scripts and
// without a browser's help. Errors are shown next to the form.
func TestGiteaByForm(t *testing.T) {
	t.Parallel()
	g := startGitea(t, 3600)
	a := withGitea(t, g)
	tests := []struct {
		way   string
		wrong map[string]string
		right map[string]string
	}{
		{"token", map[string]string{"key": strings.Repeat("0", 40)}, map[string]string{"key": g.token("by form")}},
		{
			"basic",
			map[string]string{"username": giteaUser, "password": "wrong"},
			map[string]string{"username": giteaUser, "password": giteaPassword},
		},
	}
	for _, tt := range tests {
		t.Run(tt.way, func(t *testing.T) {
			a := &account{t, a.platform, a.sandbox, a.key, a.browser, a.world}
			form := a.visit(a.connectLink("gitea", `{"auth":"`+tt.way+`","verify":"link"}`), nil)
			fields := form.hidden()
			send := func(host string, typed map[string]string) page {
				fields.Set("param.host", host)
				for name, value := range typed {
					fields.Set("field."+name, value)
				}
				return a.visit(form.address.String(), fields)
			}
			for _, host := range []string{g.host + "/api", "user@" + g.host, "git_acme", "-x.example"} {
				if after := send(host, tt.right); !strings.Contains(after.text, "It does not look right.") {
					t.Errorf("a server %q: %s", host, after.text)
				}
			}
			after := send("https://"+g.host, tt.wrong)
			if !strings.Contains(after.text, "Gitea does not accept this.") || strings.Contains(after.text,
				tt.wrong["key"]+tt.wrong["password"]) {
				t.Errorf("after a wrong one:\n%s", after.text)
			}
			if after = send("https://"+g.host, tt.right); !strings.Contains(after.text, "Gitea is connected") ||
				!strings.Contains(after.text, giteaUser) {
				t.Fatalf("after the right one:\n%s", after.text)
			}
			c := a.connection("gitea")
			if who := c["account"].(map[string]any); c["status"] != "active" || who["name"] != giteaUser ||
				who["email"] != "ann@acme.example" || fmt.Sprint(who["id"]) != "1" {
				t.Errorf("connection = %v", c)
			}
			a.lives(g, c["id"].(string))
		})
	}
}

// lives checks a connection, switches it off and on, and deletes it.
func (a *account) lives(g *gitea, id string) {
	a.t.Helper()
	path := "/connections/" + id
	if c := a.must(http.StatusOK, http.MethodPost, path+"/check", ""); c["status"] != "active" ||
		c["last_checked_at"] == nil {
		a.t.Errorf("check = %v", c)
	}
	whoami := func() (int, map[string]any) { return a.call(http.MethodPost, "/tools/gitea__whoami/run", `{}`) }
	if status, run := whoami(); status != http.StatusOK || run["ok"] != true ||
		run["output"].(map[string]any)["name"] != giteaUser {
		a.t.Errorf("whoami = %d %v", status, run)
	}
	a.must(http.StatusOK, http.MethodPatch, path, `{"disabled":true}`)
	if status, refused := whoami(); status != http.StatusConflict || refused["code"] != "connection_disabled" {
		a.t.Errorf("switched off: %d %v", status, refused)
	}
	a.must(http.StatusOK, http.MethodPatch, path, `{"disabled":false}`)
	if status, run := whoami(); status != http.StatusOK || run["ok"] != true {
		a.t.Errorf("switched on: %d %v", status, run)
	}
	a.must(http.StatusNoContent, http.MethodDelete, path, "")
	if status, refused := whoami(); status != http.StatusConflict || refused["code"] != "not_connected" {
		a.t.Errorf("deleted: %d %v", status, refused)
	}
}

// TestGiteaByOAuth goes to Gitea's own pages in a browser and back: once to deny
// access, once to allow it. The tokens are renewed on the way.
func TestGiteaByOAuth(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t)
	const lifetime = 4 // seconds
	g := startGitea(t, lifetime)
	a := withGitea(t, g)
	if status, refused := a.call(http.MethodPost, "/apps/gitea/connect",
		`{"auth":"oauth"}`); status != http.StatusConflict || refused["code"] != "app_not_connectable" ||
		refused["redirect_uri"] != a.platform+"/oauth/callback/gitea" {
		t.Errorf("without a client: %d %v", status, refused)
	}
	a.registers(g)

	// Without scripts: those of Gitea's pages are no part of its Go module.
	tab := b.Tab(t, browsertest.Options{Width: 360, Height: 740, Mobile: true, NoScript: true, AnyCertificate: true})
	tab.Open(a.signInLink())
	tab.Press("main button")
	tab.Open(a.connectLink("gitea", `{"params":{"host":"`+g.host+`"}}`))
	tab.Press(`a[href*="way=token"]`)
	tab.Fill(`[name="field.key"]`, strings.Repeat("0", 40))
	tab.Press("form.form .button")
	tab.Shot("gitea-0-wrong-token")
	tab.See("Gitea does not accept this.")
	link := a.connectLink("gitea", `{"auth":"oauth"}`)
	tab.Open(link)
	tab.Shot("gitea-1-question")
	if host := tab.Value(`[name="param.host"]`); host != g.host {
		t.Errorf("the form shows %q, want the server of the client", host)
	}
	// Nobody else's server is shown the client's secret.
	tab.Fill(`[name="param.host"]`, "evil.example")
	tab.Press("form.form .button")
	tab.See("is of " + g.host)
	tab.Shot("gitea-2-another-server")
	tab.Fill(`[name="param.host"]`, g.host)
	tab.Press("form.form .button")
	if at := tab.URL(); !strings.HasPrefix(at, "https://"+g.host+"/user/login") {
		t.Fatalf("the button leads to %s:\n%s", at, tab.Text("body"))
	}
	tab.Fill(`[name="user_name"]`, giteaUser)
	tab.Fill(`[name="password"]`, giteaPassword)
	tab.Press(`form button.primary`)
	tab.Shot("gitea-3-consent")
	tab.See("write:repository")
	tab.Press(`button[name="granted"][value="false"]`)
	tab.Shot("gitea-4-denied")
	tab.See("Nothing was connected")

	tab.Open(a.connectLink("gitea", `{"auth":"oauth"}`))
	tab.Press("form.form .button")
	tab.Press(`#authorize-app`)
	tab.Shot("gitea-5-connected")
	tab.See("Gitea is connected")
	tab.See(giteaUser)

	c := a.connection("gitea")
	if c["auth"] != "oauth2" || c["account"].(map[string]any)["name"] != giteaUser || c["token_expires_at"] == nil {
		t.Errorf("connection = %v", c)
	}
	a.renewed(c)
	a.clientGone(g, tab, c)
	a.lives(g, c["id"].(string))
	if log := text(t, a.asOwner(http.MethodGet, "/audit-log", "")); !strings.Contains(log, "connection.deleted") ||
		strings.Contains(log, "ended_at_vendor") {
		t.Errorf("Gitea does not support revocation, and the log says %s", log)
	}
}

// registers makes an OAuth application at Gitea and gives it to ACE.
func (a *account) registers(g *gitea) {
	a.t.Helper()
	id, secret := g.application(a.platform + "/oauth/callback/gitea")
	a.asOwner(http.MethodPut, "/oauth-clients/gitea",
		fmt.Sprintf(`{"client_id":%q,"client_secret":%q,"extra":{"host":%q}}`, id, secret, g.host))
}

// clientGone deletes the application at Gitea: that is nothing which the person
// can fix. With a new one, reconnecting keeps the connection's id.
func (a *account) clientGone(g *gitea, tab *browsertest.Tab, c map[string]any) {
	a.t.Helper()
	g.forget()
	ends, err := time.Parse(time.RFC3339, a.connection("gitea")["token_expires_at"].(string))
	if err != nil {
		a.t.Fatal(err)
	}
	time.Sleep(time.Until(ends) + time.Second)
	status, run := a.call(http.MethodPost, "/tools/gitea__whoami/run", `{}`)
	if broken := a.connection("gitea"); status == http.StatusOK || broken["status"] != "error" ||
		broken["status_reason"] != "client_misconfigured" {
		a.t.Errorf("without the application: %d %v, connection %v", status, run, broken)
	}
	a.registers(g)
	_, again := a.call(http.MethodPost, "/connections/"+c["id"].(string)+"/reconnect", "")
	tab.Open(again["url"].(string))
	tab.Shot("gitea-6-reconnect")
	tab.Press("form.form .button")
	tab.Press(`#authorize-app`)
	tab.Shot("gitea-7-reconnected")
	tab.See("Gitea is connected")
	if mended := a.connection("gitea"); mended["id"] != c["id"] || mended["status"] != "active" ||
		mended["status_reason"] != nil {
		a.t.Errorf("reconnected = %v", mended)
	}
}

// renewed waits for the token's end, and sees tools go on with the next one:
// twice, since Gitea takes each refresh token once.
func (a *account) renewed(c map[string]any) {
	a.t.Helper()
	for range 2 {
		ends, err := time.Parse(time.RFC3339, c["token_expires_at"].(string))
		if err != nil {
			a.t.Fatal(err)
		}
		time.Sleep(time.Until(ends) + time.Second)
		if status, run := a.call(http.MethodPost, "/tools/gitea__list_repositories/run",
			`{}`); status != http.StatusOK || run["ok"] != true {
			a.t.Fatalf("after the token's end: %d %v", status, run)
		}
		next := a.connection("gitea")
		later, err := time.Parse(time.RFC3339, next["token_expires_at"].(string))
		if err != nil || !later.After(ends) || next["status"] != "active" {
			a.t.Fatalf("the token was not renewed: %v, %v", next, err)
		}
		c = next
	}
}
