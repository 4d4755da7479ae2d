package console_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"ace/internal/browsertest"
	"ace/internal/foundation/problem"
	"ace/internal/platform/connection"
	"ace/internal/platform/openid"
)

// foreignProvider starts an OpenID provider that sends people back to an
// address of the platform, and answers its own.
func foreignProvider(t *testing.T, platform string) string {
	t.Helper()
	node, modules := os.Getenv("ACE_NODE"), os.Getenv("ACE_NODE_MODULES")
	if node == "" || modules == "" {
		t.Skip(
			"left out: ACE_NODE and ACE_NODE_MODULES are not set; scripts/install-test-needs node installs " +
				"oidc-provider and says where")
	}
	cmd := exec.CommandContext(t.Context(), node, "testdata/openid-provider.mjs", modules,
		platform+"/sign-in/openid/callback")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends with its input
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the provider says nothing: %v", err)
	}
	return strings.TrimSpace(line)
}

// TestForeignProvider signs in, in a browser, by an OpenID provider that nobody
// here wrote.
func TestForeignProvider(t *testing.T) {
	b := browsertest.Start(t)
	server := httptest.NewUnstartedServer(nil)
	address := "http://" + server.Listener.Addr().String()
	issuer := foreignProvider(t, address)
	provider := openid.New(openid.Settings{
		Issuer: issuer, ClientID: "ace", Secret: "a-secret-of-the-client",
		Redirect: address + "/sign-in/openid/callback",
	}, http.DefaultClient)
	w := setup(t, options{base: address, identities: provider})
	w.other(t, "acme") // acme@acme.example
	w.other(t, "unverified")
	server.Config.Handler = w.handler
	server.Start()
	t.Cleanup(server.Close)

	signIn := func(tab *browsertest.Tab, name string) {
		tab.Open(address + "/sign-in?next=/apps/desk")
		tab.Press(`a[href^="/sign-in/openid"]`)
		if !strings.HasPrefix(tab.URL(), issuer) {
			t.Fatalf("the button leads to %s", tab.URL())
		}
		tab.Fill(`[name="login"]`, name)
		tab.Fill(`[name="password"]`, "anything")
		tab.Press(`button[type="submit"]`)
		tab.Press(`button[type="submit"]`) // consent
	}
	t.Run("somebody who is known", func(t *testing.T) {
		tab := b.Tab(t, browsertest.Options{})
		signIn(tab, "acme")
		if tab.URL() != address+"/apps/desk" {
			t.Fatalf("the sign-in ends at %s:\n%s", tab.URL(), tab.Text("body"))
		}
		tab.Open(address + "/account")
		tab.See("You sign in as acme@acme.example")
		tab.See("by the OpenID provider")
	})
	for name, person := range map[string]string{
		"somebody unknown":                "nobody",
		"an address that is not verified": "unverified",
	} {
		t.Run(name, func(t *testing.T) {
			tab := b.Tab(t, browsertest.Phone())
			signIn(tab, person)
			tab.See("Nobody here has this identity")
		})
	}
	t.Run("access is denied", func(t *testing.T) {
		tab := b.Tab(t, browsertest.Options{NoScript: true})
		tab.Open(address + "/sign-in")
		tab.Press(`a[href^="/sign-in/openid"]`)
		tab.Press(`a[href*="abort"]`)
		tab.See("You did not sign in at the provider")
	})
}

// TestWalkWithoutScripts goes the way of a newcomer with scripts switched off:
// by the link, to a key, to a connected app, and away again.
func TestWalkWithoutScripts(t *testing.T) {
	w, address := live(t, options{})
	tab := browsertest.Start(t).Tab(t, browsertest.Options{Width: 360, Height: 740, Mobile: true, NoScript: true})
	asked := w.ask(t, "desk", connection.ConnectOptions{})
	link := w.connections.Link(asked.ID)

	tab.Open(link) // nobody is signed in
	tab.See("To connect an app")
	tab.Open(address + w.link(t))
	tab.Press("main button")
	if tab.URL() != link {
		t.Fatalf("the sign-in leads to %s, not back to the app", tab.URL())
	}
	tab.See("the API key “Laptop”")
	tab.Press(`a[href*="way=key"]`)
	tab.Fill(`[name="param.subdomain"]`, "acme")
	tab.Fill(`[name="field.email"]`, "ann@acme.example")
	tab.Fill(`[name="field.key"]`, "dk_bad")
	tab.Press("form.form .button")
	tab.See("Desk does not accept this.")
	tab.Fill(`[name="field.key"]`, "dk_good-ann")
	tab.Press("form.form .button")
	tab.See("Desk is connected")
	tab.See("Person ann")
	tab.Press("main .button.danger")
	tab.See("Undone")

	tab.Press(`a[href="/account"]`)
	tab.See("No app is connected yet")
	tab.Press(`a[href="/account/keys/new"]`)
	tab.Fill("#name", "Phone")
	tab.Press("form.form .button")
	tab.See("Copy it now")
	secret := tab.Value("#key")
	k, err := w.keys.Authenticate(t.Context(), secret, netip.Addr{})
	if err != nil {
		t.Fatalf("the key does not open anything: %v", err)
	}
	tab.Open(address + "/account/keys/" + k.ID)
	tab.Click("main [required]")
	tab.Press("main .button.danger")
	tab.See("The key is revoked")
	if _, err := w.keys.Authenticate(t.Context(), secret, netip.Addr{}); !problem.Is(err, "key_revoked") {
		t.Errorf("after the revocation: %v", err)
	}
	tab.Press("header button")
	tab.See("You are signed out.")
}
