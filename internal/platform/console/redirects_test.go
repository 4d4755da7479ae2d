package console_test

import (
	"net/http"
	"strings"
	"testing"

	"ace/internal/browsertest"
	"ace/internal/platform/account"
	"ace/internal/platform/audit"
)

// TestRedirects adds addresses on the account page, and takes them off.
func TestRedirects(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	contains(t, "an account without a list", b.get("/account").text, "Anywhere, so far", "Allow an address")
	steps := []struct {
		name, field, value string
		to                 string // empty: a fault
		says               string
		list               int
	}{
		{"the first", "url", " https://Agent.example/done ", "/account?done=redirect_added", "is on the list", 1},
		{"another", "url", "http://localhost:3000/x", "/account?done=redirect_added", "is on the list", 2},
		{"no address", "url", "<b>agent", "", "An address is https://host/path", 2},
		{"nothing", "url", "", "", "An address is https://host/path", 2},
		{"off", "remove", "http://localhost:3000/x", "/account?done=redirect_removed", "is off the list", 1},
		{"off again", "remove", "http://localhost:3000/x", "", "not on the list", 1},
		{
			"the last",
			"remove",
			"https://agent.example/done",
			"/account?done=redirects_open",
			"any https address again",
			0,
		},
	}
	for _, tt := range steps {
		got := b.post("/account/redirects", tt.field, tt.value)
		text := got.text
		if tt.to != "" {
			text = b.get(tt.to).text
		}
		if got.to() != tt.to || tt.to == "" && got.Code != http.StatusUnprocessableEntity || !strings.Contains(text,
			tt.says) || strings.Contains(text, "<b>agent") {
			t.Errorf("%s: %d %s, want %q and %q", tt.name, got.Code, got.text, tt.to, tt.says)
		}
		list, err := w.accounts.RedirectURLs(t.Context(), w.account.ID)
		if err != nil || len(list) != tt.list {
			t.Errorf("%s: %v, %v, want %d", tt.name, list, err, tt.list)
		}
	}
	contains(t, "the activity", b.get("/account/activity").text, "Where connect links may send browsers was changed")
}

// TestRedirectsInBrowser works the form on a phone and on a desktop.
func TestRedirectsInBrowser(t *testing.T) {
	source := axe(t)
	w, address := live(t, options{})
	b := browsertest.Start(t)
	for _, screen := range screens() {
		t.Run(screen.name, func(t *testing.T) {
			tab := b.Tab(t, screen.opts)
			tab.Open(address + w.link(t))
			tab.Press("main button")
			tab.Open(address + "/account")
			w.inspect(t, tab, source, "redirects-none-"+screen.name)
			for _, one := range []string{
				"https://agent.example/done",
				"http://localhost:3000/a/rather/long/path/that/does/not/fit/into/one/line/of/a/phone",
			} {
				tab.Fill("#redirect", one)
				tab.Press(".adding button")
				tab.Open(address + "/account")
			}
			tab.Fill("#redirect", "http://agent.example/")
			tab.Press(".adding button")
			w.inspect(t, tab, source, "redirects-fault-"+screen.name)
			if at := browsertest.Eval[string](tab, `document.activeElement.id`); at != "redirect" {
				t.Errorf("after a fault the focus is on %q, want the field", at)
			}
			if rows := browsertest.Eval[float64](tab,
				`document.querySelectorAll("section[aria-labelledby=redirects] .rows li").length`); rows != 2 {
				t.Errorf("%v rows, want 2", rows)
			}
			if _, err := w.accounts.SetRedirectURLs(t.Context(), audit.Operator(), w.account.ID, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestRedirectsAreTheManagers shows the list to everybody of the account, and
// the form to those who may change it.
func TestRedirectsAreTheManagers(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	if _, err := w.accounts.SetRedirectURLs(t.Context(), audit.Operator(), w.account.ID,
		[]string{"https://agent.example/done"}); err != nil {
		t.Fatal(err)
	}
	b := w.signedIn(t, w.account)
	for role, may := range map[account.Role]bool{
		account.Owner: true, account.Admin: true, account.Member: false,
		account.Auditor: false,
	} {
		w.setRole(t, role)
		text := b.get("/account").text
		if !strings.Contains(text, "https://agent.example/done") || strings.Contains(text,
			`action="/account/redirects"`) != may {
			t.Errorf("%s: the page of the account shows the list %v, the form %v, want the form %v", role,
				strings.Contains(text, "agent.example/done"), strings.Contains(text, `action="/account/redirects"`),
				may)
		}
		got := b.post("/account/redirects", "url", "https://agent.example/"+string(role))
		if (got.Code == http.StatusSeeOther) != may {
			t.Errorf("%s: adding answers %d", role, got.Code)
		}
	}
}
