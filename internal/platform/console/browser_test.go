package console_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"ace/internal/browsertest"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
)

// live is a world on an address that a browser can open.
func live(t *testing.T, o options) (*world, string) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	o.base = "http://" + server.Listener.Addr().String()
	w := setup(t, o)
	server.Config.Handler = w.handler
	server.Start()
	t.Cleanup(server.Close)
	return w, o.base
}

// axe returns the source of axe-core, the checker of accessibility, or empty.
func axe(t *testing.T) string {
	t.Helper()
	file := os.Getenv("ACE_AXE")
	if file == "" {
		t.Log("axe-core is left out: ACE_AXE is not set; scripts/install-test-needs node installs it and says where")
		return ""
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// violations runs axe-core on the page that the tab shows.
func violations(t *testing.T, tab *browsertest.Tab, source string) []string {
	t.Helper()
	if source == "" {
		return nil
	}
	browsertest.Eval[bool](tab,
		source+
			"; window.found = null; axe.run(document, {resultTypes: ['violations']}).then(r => { window.found = "+
			"r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ')).join(', ')) }); true")
	for {
		text := browsertest.Eval[string](tab, `JSON.stringify(window.found)`)
		if text == "null" {
			continue
		}
		var found []string
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			t.Fatal(err)
		}
		return found
	}
}

// link makes the address that signs an account's owner in.
func (w *world) link(t *testing.T) string {
	t.Helper()
	secret, _, err := w.accounts.Link(t.Context(), audit.Operator(), w.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	return "/sign-in/" + secret
}

// furnish gives the account keys and connections in every state.
func (w *world) furnish(t *testing.T) (keyID, connectionID string) {
	t.Helper()
	by := audit.Operator()
	for _, in := range []apikey.Settings{
		{Name: "Laptop", Permissions: apikey.All},
		{
			Name: "Report of the week", Permissions: apikey.Read | apikey.Run, Approval: apikey.ApproveWrites,
			ExpiresAt: time.Now().Add(90 * 24 * time.Hour), Restrict: apikey.Restrictions{
				Apps:          []string{"desk", "sky"},
				ReadOnlyTools: true, EndUser: "u_42",
			},
		},
		{Name: "Old", Permissions: apikey.Read},
	} {
		k, _, err := w.keys.Create(t.Context(), by, w.account.ID, in)
		if err != nil {
			t.Fatal(err)
		}
		if in.Name == "Old" {
			if err := w.keys.Revoke(t.Context(), by, w.account.ID, k.ID); err != nil {
				t.Fatal(err)
			}
			continue
		}
		keyID = k.ID
	}
	b := w.signedIn(t, w.account)
	for _, who := range []string{"ann", "bob", "cleo"} {
		s := w.ask(t, "desk", connection.ConnectOptions{Label: map[string]string{"ann": "Work"}[who], Scheme: "key"})
		if got := b.connectByKey(w, s, who); got.Code != 303 {
			t.Fatalf("connecting: %d %s", got.Code, got.text)
		}
	}
	list, err := w.connections.List(t.Context(), w.account.ID, connection.Query{})
	if err != nil || len(list) != 3 {
		t.Fatalf("connections: %d, %v", len(list), err)
	}
	off := true
	if _, err := w.connections.Update(t.Context(), by, w.account.ID, list[2].ID,
		connection.Change{Disabled: &off}); err != nil {
		t.Fatal(err)
	}
	w.setHealth(t, list[1].ID, connection.NeedsReconnect, connection.ReasonUserRevoked)
	return keyID, list[0].ID
}

// connectByKey opens a link and types a key that opens somebody's desk.
func (b *browser) connectByKey(w *world, s *connection.Session, who string) page {
	b.t.Helper()
	path := strings.TrimPrefix(w.connections.Link(s.ID), w.base)
	b.get(path)
	return b.post(path, "scheme", "key", "param.subdomain", "https://acme.desk.example", "param.region", "eu",
		"field.email", "ann@acme.example", "field.key", "dk_good-"+who)
}

// TestPagesInBrowser opens every kind of page on a phone and on a desktop, in
// light and dark: it fits the screen, loads nothing that fails, and axe-core
// finds nothing that keeps people out.
func TestPagesInBrowser(t *testing.T) {
	source := axe(t)
	w, address := live(t, options{identity: true})
	keyID, connectionID := w.furnish(t)
	ask := func(wish connection.ConnectOptions) string {
		return w.connections.Link(w.ask(t, "desk", wish).ID)
	}
	choose, oauth, doubt := ask(connection.ConnectOptions{}), ask(connection.ConnectOptions{
		Scheme:      "oauth",
		RedirectURL: "https://agent.example/done",
	}), ask(connection.ConnectOptions{
		Verify:  connection.VerifyLink,
		EndUser: "u_42",
	})
	outside := []struct {
		name, path string
		status     int
	}{
		{"home", "/", 200},
		{"apps", "/apps", 200},
		{"app", "/apps/desk", 200},
		{"app-locked", "/apps/locked", 200},
		{"docs", "/docs", 200},
		{"sdk", "/sdk/", 200},
		{"sign-in", "/sign-in?next=/connect/x", 200},
		{"link", w.link(t), 200},
		{"missing", "/no/such/page", 404},
		{"problem", "/problems/invalid_key", 200},
		{"no-app", "/apps?q=nothing", 200},
		{"connect-doubt", doubt, 200},
		{"connect-unknown", "/connect/none", 404},
	}
	consent := func(redirect string) string {
		path, _ := w.authorizeURL(t, redirect)
		return path
	}
	inside := []struct {
		name, path string
		status     int
	}{
		{"consent-computer", consent("http://127.0.0.1:40123/callback"), 200},
		{"consent-web", consent("https://" + strings.Repeat("long.", 8) + "client.example/callback"), 200},
		{"consent-app", consent("com.example.agent:/callback"), 200},
		{"account", "/account", 200},
		{"activity", "/account/activity", 200},
		{"new-key", "/account/keys/new", 200},
		{"approval", "/approvals/" + w.wait(t, w.account.ID, `{"id":"4711"}`), 200},
		{"key", "/account/keys/" + keyID, 200},
		{"connection", "/account/connections/" + connectionID, 200},
		{"connect-form", choose + "?way=key", 200},
		{"connect-oauth", oauth, 200},
		{"app-in", "/apps/desk", 200},
		{"connector", "/connectors/" + w.changedConnector(t), 200},
	}
	b := browsertest.Start(t)
	for _, screen := range screens() {
		t.Run(screen.name, func(t *testing.T) {
			tab := b.Tab(t, screen.opts)
			look := func(name, path string, status int) {
				if got := tab.Open(address + strings.TrimPrefix(path, address)); got != status {
					t.Errorf("%s answers %d, want %d", path, got, status)
				}
				w.inspect(t, tab, source, name+"-"+screen.name)
			}
			for _, p := range outside {
				look(p.name, p.path, p.status)
			}
			tab.Open(address + w.link(t))
			tab.Press("main button")
			tab.Open(ask(connection.ConnectOptions{Scheme: "key", Label: "Work"}))
			tab.Fill(`[name="param.subdomain"]`, "acme")
			tab.Fill(`[name="field.email"]`, "ann@acme.example")
			tab.Fill(`[name="field.key"]`, "wrong")
			tab.Press("form.form .button")
			w.inspect(t, tab, source, "connect-fault-"+screen.name)
			tab.Fill(`[name="field.key"]`, "dk_good-dora")
			tab.Press("form.form .button")
			w.inspect(t, tab, source, "connected-"+screen.name)
			for _, p := range inside {
				look(p.name, p.path, p.status)
			}
			tab.Open(address + "/account/keys/new")
			tab.Fill("#name", "From the test")
			tab.Press("form.form .button")
			w.inspect(t, tab, source, "made-key-"+screen.name)
		})
	}
}

type screen struct {
	name string
	opts browsertest.Options
}

func screens() []screen {
	return []screen{
		{"phone-light", browsertest.Phone()},
		{"phone-dark", browsertest.Options{Width: 360, Height: 740, Mobile: true, Dark: true}},
		{"desktop-light", browsertest.Options{}},
		{"desktop-dark", browsertest.Options{Width: 1440, Height: 900, Dark: true}},
	}
}

// inspect looks at the page that a tab shows.
func (w *world) inspect(t *testing.T, tab *browsertest.Tab, source, name string) {
	t.Helper()
	tab.Shot("console-" + name)
	if over := browsertest.Eval[float64](tab,
		`document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		t.Errorf("%s is %v pixels wider than the screen", name, over)
	}
	if h1 := browsertest.Eval[float64](tab, `document.querySelectorAll("h1").length`); h1 != 1 {
		t.Errorf("%s has %v first headings, want one", name, h1)
	}
	if broken := browsertest.Eval[float64](tab,
		`[...document.images].filter(i => i.complete && i.naturalWidth === 0).length`); broken > 0 {
		t.Errorf("%s shows %v pictures that do not load", name, broken)
	}
	if found := violations(t, tab, source); len(found) > 0 {
		t.Errorf("%s: %s", name, strings.Join(found, "\n"))
	}
}
