package console_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"

	"ace/internal/browsertest"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/httptool"
	"ace/internal/platform/oauthclient"
	"ace/internal/sandbox/notes"
)

// vendors are real ones: OAuth and HTTP as the product speaks them.
type vendors struct {
	connection.Authorizer
	connection.Checker
	connection.Stepper
}

// demo starts the sandbox's notes app and answers its definition.
func demo(t *testing.T) *app.App {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldbtest.SQLite(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	n, err := notes.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	face, err := n.Handler("/notes", "/styles.css")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/notes/", http.StripPrefix("/notes", face))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	text, err := os.ReadFile("../../../catalog/demo/demo-notes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Parse(bytes.ReplaceAll(text, []byte("${sandbox}"), []byte(server.URL)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestDemoApp connects the demo app in a browser: by OAuth, with a refusal, by
// key, and back to the developer's page each way. The redirects of a form pass
// the page's own policy, which only a browser can tell.
func TestDemoApp(t *testing.T) {
	b := browsertest.Start(t)
	a := demo(t)
	plain := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	vendor := oauthclient.New(plain, nil)
	w, address := live(t, options{
		apps: []*app.App{a}, clients: []*connection.Client{{App: a.ID, ID: notes.ClientID, Secret: notes.ClientSecret}},
		vendor: vendors{vendor, httptool.New(plain, nil), vendor},
	})
	developer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<!doctype html><title>x</title><h1>Back at the developer</h1>")
	}))
	t.Cleanup(developer.Close)
	signIn := func(t *testing.T, opts browsertest.Options) *browsertest.Tab {
		t.Helper()
		tab := b.Tab(t, opts)
		tab.Open(address + w.link(t))
		tab.Press("main button")
		return tab
	}
	returned := func(t *testing.T, tab *browsertest.Tab, status string) {
		t.Helper()
		u, err := url.Parse(tab.URL())
		if err != nil || u.Query().Get("status") != status || u.Query().Get("session_id") == "" ||
			u.Query().Get("state") != "s-1" || (u.Query().Get("connection_id") != "") != (status == "connected") {
			t.Errorf("the developer's page is opened as %s, want %s", tab.URL(), status)
		}
		tab.See("Back at the developer")
	}

	t.Run("by OAuth", func(t *testing.T) {
		tab := signIn(t, browsertest.Phone())
		tab.Open(w.connections.Link(w.ask(t, a.ID, connection.ConnectOptions{Scheme: "oauth"}).ID))
		tab.See("notes.read")
		tab.Shot("console-demo-ask")
		tab.Press("form.form .button")
		tab.See("wants to use your notes")
		tab.Fill("#person", "Ann")
		tab.Press(`button[value="allow"]`)
		tab.See("Demo Notes is connected")
		tab.See("Ann")
		tab.Shot("console-demo-connected")
		tab.Press("main .button.danger")
		tab.See("Undone")
	})
	t.Run("refused there", func(t *testing.T) {
		tab := signIn(t, browsertest.Options{NoScript: true})
		tab.Open(w.connections.Link(w.ask(t, a.ID, connection.ConnectOptions{Scheme: "oauth"}).ID))
		tab.Press("form.form .button")
		tab.Press(`button[value="deny"]`)
		tab.See("Access denied")
		tab.See("ask for a new link")
	})
	t.Run("by OAuth and back to the developer", func(t *testing.T) {
		tab := signIn(t, browsertest.Options{})
		tab.Open(w.connections.Link(w.ask(t, a.ID,
			connection.ConnectOptions{Scheme: "oauth", RedirectURL: developer.URL + "/done", State: "s-1"}).ID))
		tab.Press("form.form .button")
		tab.Fill("#person", "Bea")
		tab.Press(`button[value="allow"]`)
		returned(t, tab, "connected")
	})
	t.Run("by key and back to the developer", func(t *testing.T) {
		tab := signIn(t, browsertest.Options{})
		tab.Open(originOf(a.Base) + "/notes/")
		tab.Fill("#person", "Cleo")
		tab.Press("main .button")
		key := tab.Text(".key")
		tab.Open(w.connections.Link(w.ask(t, a.ID,
			connection.ConnectOptions{RedirectURL: developer.URL + "/done", State: "s-1"}).ID) + "?way=key")
		wrong := key[:len(key)-1] + "7"
		if wrong == key {
			wrong = key[:len(key)-1] + "6"
		}
		tab.Fill(`[name="field.key"]`, wrong)
		tab.Press("form.form .button")
		tab.See("does not accept this")
		tab.Fill(`[name="field.key"]`, key)
		tab.Press("form.form .button")
		returned(t, tab, "connected")
		tab.Open(address + "/account")
		tab.See("Cleo")
		tab.See("Works")
	})
	t.Run("turned down here", func(t *testing.T) {
		tab := signIn(t, browsertest.Options{})
		tab.Open(
			w.connections.Link(
				w.ask(t, a.ID, connection.ConnectOptions{RedirectURL: developer.URL + "/done", State: "s-1"}).ID,
			),
		)
		tab.Press("form.form .button.plain")
		returned(t, tab, "failed")
	})
	t.Run("from the app's own page", func(t *testing.T) {
		tab := signIn(t, browsertest.Options{})
		tab.Open(address + "/apps/" + a.ID)
		tab.Press("#content form .button")
		tab.See("you or a colleague, on the account page")
		tab.Press("form.form .button")
		tab.Fill("#person", "Dan")
		tab.Press(`button[value="allow"]`)
		tab.See("Demo Notes is connected")
		tab.Press(`a[href="/account"]`)
		tab.See("Dan")
	})
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
