package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/connection"
)

// path is where the page of a session stands.
func (w *world) path(s *connection.Session) string {
	return strings.TrimPrefix(w.connections.Link(s.ID), w.base)
}

// all are the account's connections.
func (w *world) all(t *testing.T) []*connection.Connection {
	t.Helper()
	list, err := w.connections.List(t.Context(), w.account.ID, connection.Query{AnyEndUser: true})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestConnectByKey: the page says who asked for what, an error of a wrong key is next to
// its field and not repeated, a correct one connects and can be undone.
func TestConnectByKey(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	s := w.ask(t, "desk", connection.ConnectOptions{Label: "Work", Params: map[string]string{"subdomain": "acme"}})
	path := w.path(s)
	contains(t, "the page", b.get(path).text, "Connect Desk", "the API key “Laptop”", "<strong>demo</strong>", "Work",
		"tickets.read", "2 tools of Desk", "15 more minutes", "Continue to Desk", "Key of an agent")
	form := b.get(path + "?way=key").text
	contains(t, "the form", form, "Settings, then API.", `value="acme"`, ".desk.example",
		`name="field.key" class="mono" type="password"`, `autocomplete="off"`, "Forty letters.", "Check and connect",
		`<option selected>eu</option>`)

	tests := []struct {
		name, email, key, region string
		want                     []string
	}{
		{
			"another kind of key", "ann@acme.example", "sk_secret", "eu",
			[]string{"It begins with dk_.", "ann@acme.example", `aria-invalid="true"`},
		},
		{"no key", "ann@acme.example", "", "eu", []string{"A value belongs here."}},
		{"a key that the app refuses", "ann@acme.example", "dk_secret", "eu", []string{"Desk does not accept this."}},
		{"a choice that is none", "<b>x</b>", "dk_good-ann", "mars", []string{"One of: eu, us.", "&lt;b&gt;x"}},
	}
	for _, tt := range tests {
		got := b.post(path, "scheme", "key", "param.subdomain", "acme", "param.region", tt.region, "field.email",
			tt.email, "field.key", tt.key)
		if got.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", tt.name, got.Code)
		}
		contains(t, tt.name, got.text, tt.want...)
		if strings.Contains(got.text, "secret") || strings.Contains(got.text, "dk_good") {
			t.Errorf("%s: the answer shows the key", tt.name)
		}
	}
	if got := b.post(path, "scheme", "key", "param.subdomain", "https://acme.desk.example/", "param.region", "us",
		"field.email", "ann@acme.example", "field.key", " dk_good-ann "); got.to() != w.base+path {
		t.Fatalf("connecting: %d to %q: %s", got.Code, got.to(), got.text)
	}
	done := b.get(path)
	contains(t, "the page", done.text, "Desk is connected", "Person ann (ann@desk.example)", "acme", "10 more minutes",
		"Undo", "Desk does not support revoking: revoke the access there too")
	list := w.all(t)
	if len(list) != 1 || list[0].Params["subdomain"] != "acme" || list[0].Params["region"] != "us" ||
		list[0].Label != "Work" {
		t.Fatalf("connections: %+v", list)
	}
	if got := b.post(path, "scheme", "key", "field.key", "dk_good-eve"); got.Code != http.StatusGone ||
		!strings.Contains(got.text, "was used") {
		t.Errorf("using the link twice: %d", got.Code)
	}
	if got := b.post(path + "/undo"); got.to() != w.base+path {
		t.Fatalf("taking it back: %d %s", got.Code, got.text)
	}
	contains(t, "the page", b.get(path).text, "Undone")
	if list := w.all(t); len(list) != 0 {
		t.Errorf("after taking it back: %+v", list)
	}
	if got := b.post(path + "/undo"); got.Code != http.StatusGone {
		t.Errorf("taking it back twice: %d", got.Code)
	}
}

// TestConnectByOAuth: the button leads to the vendor, its callback back to the
// developer, with what came of it.
func TestConnectByOAuth(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	tests := []struct {
		name, callback string
		want           url.Values
		page           string
	}{
		{"consent", "code=good-ann", url.Values{"status": {"connected"}, "state": {"abc"}}, "Desk is connected"},
		{
			"denial", "error=access_denied",
			url.Values{"status": {"failed"}, "error": {"sign_in_denied"}, "state": {"abc"}},
			"Access denied",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := w.signedIn(t, w.account)
			s := w.ask(t, "desk",
				connection.ConnectOptions{Scheme: "oauth", RedirectURL: "https://agent.example/done?x=1", State: "abc"})
			shown := b.get(w.path(s))
			contains(t, "the page", shown.text, "Then back to", "agent.example")
			if policy := shown.Header().Get("Content-Security-Policy"); !strings.Contains(policy,
				"form-action 'self' https: https://agent.example;") {
				t.Errorf("the policy %q stops the redirects of the form", policy)
			}
			got := b.post(w.path(s), "scheme", "oauth", "param.subdomain", "acme", "param.region", "eu")
			if !strings.HasPrefix(got.to(), "https://desk.example/authorize?state=") {
				t.Fatalf("the button leads to %q: %s", got.to(), got.text)
			}
			back := b.get("/oauth/callback/desk?" + tt.callback + "&state=" + w.vendor.begun[len(w.vendor.begun)-1])
			u, err := url.Parse(back.to())
			if err != nil || u.Host != "agent.example" || u.Query().Get("x") != "1" ||
				u.Query().Get("session_id") != s.ID {
				t.Fatalf("the callback leads to %q", back.to())
			}
			for name, want := range tt.want {
				if got := u.Query().Get(name); got != want[0] {
					t.Errorf("%s is %q, want %q", name, got, want[0])
				}
			}
			if (tt.name == "consent") != (u.Query().Get("connection_id") != "") {
				t.Errorf("connection_id is %q", u.Query().Get("connection_id"))
			}
			contains(t, "the page", b.get(w.path(s)).text, tt.page)
			if strings.Contains(back.to(), "secret") {
				t.Error("a secret is in the address")
			}
		})
	}
}

// TestCallbackRefusals: a callback counts once, for its app, in its browser.
func TestCallbackRefusals(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	begin := func(t *testing.T) (b *browser, s *connection.Session, state string) {
		t.Helper()
		b = w.signedIn(t, w.account)
		s = w.ask(t, "desk", connection.ConnectOptions{Scheme: "oauth"})
		b.get(w.path(s))
		if got := b.post(w.path(s), "param.subdomain", "acme", "param.region", "eu"); got.Code != http.StatusSeeOther {
			t.Fatalf("beginning: %d %s", got.Code, got.text)
		}
		return b, s, w.vendor.begun[len(w.vendor.begun)-1]
	}
	tests := []struct {
		name string
		run  func(b *browser, state string) page
		code int
		want string
	}{
		{
			"a state made up",
			func(b *browser, _ string) page { return b.get("/oauth/callback/desk?code=good-x&state=made-up") }, 410,
			"not known here",
		},
		{
			"a state that was changed",
			func(b *browser, s string) page { return b.get("/oauth/callback/desk?code=good-x&state=" + s + "x") },
			410, "not known here",
		},
		{
			"no state", func(b *browser, _ string) page { return b.get("/oauth/callback/desk?code=good-x") },
			410, "not known here",
		},
		{
			"another app",
			func(b *browser, s string) page { return b.get("/oauth/callback/locked?code=good-x&state=" + s) }, 410,
			"not known here",
		},
		{"nobody signed in", func(_ *browser, s string) page {
			return w.browser(t).get("/oauth/callback/desk?code=good-x&state=" + s)
		}, 410, "signed out"},
		{"another browser of the same person", func(_ *browser, s string) page {
			return w.signedIn(t, w.account).get("/oauth/callback/desk?code=good-x&state=" + s)
		}, 403, "opened in another browser"},
		{"used twice", func(b *browser, s string) page {
			b.get("/oauth/callback/desk?code=bad&state=" + s)
			return b.get("/oauth/callback/desk?code=good-x&state=" + s)
		}, 410, "not known here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, _, state := begin(t)
			if got := tt.run(b, state); got.Code != tt.code || !strings.Contains(got.text, tt.want) {
				t.Errorf("%d: %s", got.Code, got.text)
			}
			if list := w.all(t); len(list) != 0 {
				t.Errorf("it connected: %+v", list)
			}
		})
	}
	t.Run("a code that the vendor refuses can be tried again", func(t *testing.T) {
		b, s, state := begin(t)
		if got := b.get("/oauth/callback/desk?code=bad&state=" + state); got.to() != w.base+w.path(s) {
			t.Fatalf("it leads to %q", got.to())
		}
		contains(t, "the page", b.get(w.path(s)).text, "did not accept the sign-in", "Continue to Desk")
	})
}

// TestFormPost: a vendor that comes back with a form of its own page ends the
// sign-in like one that comes back with a redirect.
func TestFormPost(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	s := w.ask(t, "desk", connection.ConnectOptions{Scheme: "oauth"})
	b.get(w.path(s))
	b.post(w.path(s), "param.subdomain", "acme", "param.region", "eu")
	from := w.browser(t) // browsers send no cookies of ours with it
	from.site = "cross-site"
	got := from.send(http.MethodPost, "/oauth/callback/desk",
		url.Values{"code": {"good-ann"}, "state": {w.vendor.begun[0]}})
	if got.Code != http.StatusSeeOther || !strings.HasPrefix(got.to(), "/oauth/callback/desk?") {
		t.Fatalf("the form: %d to %q", got.Code, got.to())
	}
	if got := b.get(got.to()); got.to() != w.base+w.path(s) {
		t.Fatalf("then: %d to %q", got.Code, got.to())
	}
	contains(t, "the page", b.get(w.path(s)).text, "Desk is connected", "Person ann")
	if got := from.send(http.MethodPost, "/oauth/callback/desk",
		url.Values{"code": {strings.Repeat("x", 20<<10)}}); got.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a huge form: %d", got.Code)
	}
}

// TestWhoMayConnect: the account's people alone, unless the link says otherwise.
func TestWhoMayConnect(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	mine, nobody, other := w.signedIn(t, w.account), w.browser(t), w.signedIn(t, w.other(t, "acme"))
	s := w.ask(t, "desk", connection.ConnectOptions{Scheme: "key"})
	path := w.path(s)
	if got := nobody.get(path); got.to() != "/sign-in?next="+escape(path) {
		t.Errorf("nobody: %d to %q", got.Code, got.to())
	}
	for _, got := range []page{
		other.get(path), other.connectByKey(w, s, "eve"), other.post(path + "/deny"),
		other.post(path + "/undo"),
	} {
		if got.Code != http.StatusForbidden || !strings.Contains(got.text, "another account") ||
			strings.Contains(got.text, "demo") {
			t.Errorf("somebody of another account: %d %s", got.Code, got.text)
		}
	}
	if got := mine.connectByKey(w, s, "ann"); got.Code != http.StatusSeeOther {
		t.Fatalf("the account's person: %d %s", got.Code, got.text)
	}
	if got := nobody.get("/connect/" + strings.Repeat("x", 43)); got.Code != http.StatusNotFound ||
		!strings.Contains(got.text, "does not lead anywhere") {
		t.Errorf("a link made up: %d", got.Code)
	}

	link := w.ask(t, "desk", connection.ConnectOptions{Scheme: "key", Verify: connection.VerifyLink, EndUser: "u_42"})
	contains(t, "the page", nobody.get(w.path(link)).text, "Is this your request?", "u_42", "No, this is not mine",
		"the API key “Laptop”", "<strong>demo</strong>")
	first, second := w.browser(t), w.browser(t)
	first.get(w.path(link))
	second.get(w.path(link)) // looking binds nothing
	if got := first.post(w.path(link), "scheme", "key", "param.subdomain", "acme", "param.region", "eu", "field.email",
		"x", "field.key", "dk_bad"); got.Code != http.StatusUnprocessableEntity {
		t.Fatalf("the first browser: %d", got.Code)
	}
	if got := second.connectByKey(w, link, "eve"); got.Code != http.StatusForbidden || !strings.Contains(got.text,
		"another browser") {
		t.Errorf("the second browser: %d %s", got.Code, got.text)
	}
	if got := first.connectByKey(w, link, "ann"); got.Code != http.StatusSeeOther {
		t.Errorf("the first browser again: %d %s", got.Code, got.text)
	}
	if got := second.post(w.path(link) + "/undo"); got.Code != http.StatusForbidden {
		t.Errorf("undoing from another browser: %d", got.Code)
	}
	if got := w.browser(t).
		post(w.path(w.ask(t, "desk", connection.ConnectOptions{Verify: connection.VerifyLink})), "scheme",
			"key"); got.Code != http.StatusForbidden ||
		!strings.Contains(got.text, "cookie") {
		t.Errorf("a browser without cookies: %d %s", got.Code, got.text)
	}
}

// TestVerifyCallback: the developer's page is asked before anything is typed.
func TestVerifyCallback(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	s := w.ask(t, "desk", connection.ConnectOptions{
		Scheme: "key", Verify: connection.VerifyCallback,
		VerifyURL: "https://dev.example/who", EndUser: "u_1", Label: "Sales desk",
		RedirectURL: "https://app.example/done",
	})
	b := w.browser(t)
	shown := b.get(w.path(s))
	contains(t, "the page", shown.text, "First, <strong>dev.example</strong> says who you are", "Go to dev.example",
		"Is this your request?", "for its user <strong>u_1</strong>", "you are led to <strong>app.example</strong>",
		"“Sales desk”")
	if strings.Contains(shown.text, "field.key") || !strings.Contains(shown.Header().Get("Content-Security-Policy"),
		"https://dev.example") {
		t.Error("the page asks for the key too early, or does not let the form go")
	}
	got := b.post(w.path(s), "scheme", "key")
	u, err := url.Parse(got.to())
	if err != nil || u.Host != "dev.example" || u.Query().Get("session_id") != s.ID {
		t.Fatalf("it leads to %q", got.to())
	}
	if _, err := w.connections.Confirm(t.Context(), s.AskedBy, w.account.ID, s.ID, u.Query().Get("flow_id"),
		"u_1"); err != nil {
		t.Fatal(err)
	}
	if got := b.connectByKey(w, s, "ann"); got.Code != http.StatusSeeOther {
		t.Fatalf("after that: %d %s", got.Code, got.text)
	}
	if list := w.all(t); len(list) != 1 || list[0].EndUser != "u_1" {
		t.Errorf("connections: %+v", list)
	}
}

func TestDeny(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	s := w.ask(t, "desk", connection.ConnectOptions{})
	b.get(w.path(s))
	if got := b.post(w.path(s) + "/deny"); got.to() != w.base+w.path(s) {
		t.Fatalf("saying no: %d %s", got.Code, got.text)
	}
	contains(t, "the page", b.get(w.path(s)).text, "Access denied")
	s = w.ask(t, "desk", connection.ConnectOptions{RedirectURL: "http://127.0.0.1:7777/done"})
	b.get(w.path(s))
	if got := b.post(w.path(s) + "/deny"); !strings.HasPrefix(got.to(),
		"http://127.0.0.1:7777/done?error=sign_in_denied") {
		t.Errorf("saying no leads to %q", got.to())
	}
	s = w.ask(t, "desk", connection.ConnectOptions{})
	if err := w.connections.Cancel(t.Context(), s.AskedBy, w.account.ID, s.ID); err != nil {
		t.Fatal(err)
	}
	if got := b.get(w.path(s)); got.Code != http.StatusGone || !strings.Contains(got.text, "canceled") {
		t.Errorf("a canceled link: %d %s", got.Code, got.text)
	}
}

func TestLinksRunOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := setup(t, options{})
		b := w.signedIn(t, w.account)
		s := w.ask(t, "desk", connection.ConnectOptions{Scheme: "key"})
		done := w.ask(t, "desk", connection.ConnectOptions{Scheme: "key"})
		b.connectByKey(w, done, "ann")
		time.Sleep(11 * time.Minute)
		if text := b.get(w.path(done)).text; strings.Contains(text, "Undo") || !strings.Contains(text,
			"Desk is connected") {
			t.Errorf("after 11 minutes: %s", text)
		}
		if got := b.post(w.path(done) + "/undo"); got.Code != http.StatusGone {
			t.Errorf("undoing too late: %d", got.Code)
		}
		time.Sleep(5 * time.Minute)
		for _, got := range []page{b.get(w.path(s)), b.connectByKey(w, s, "bob")} {
			if got.Code != http.StatusGone {
				t.Errorf("a link that ran out: %d %s", got.Code, got.text)
			}
		}
		contains(t, "the page", b.get(w.path(s)).text, "This link has run out", "ask for a new link")
	})
}

// TestConnectionPage walks through what an owner does with a connection.
func TestConnectionPage(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	link := b.post("/apps/desk/connect")
	if !strings.HasPrefix(link.to(), w.base+"/connect/") {
		t.Fatalf("connecting from the app's page: %d %s", link.Code, link.text)
	}
	path := strings.TrimPrefix(link.to(), w.base)
	contains(t, "the page", b.get(path+"?way=key").text, "you or a colleague, on the account page")
	if got := b.post(path, "scheme", "key", "param.subdomain", "acme", "param.region", "eu", "field.email",
		"x", "field.key", "dk_good-ann"); got.Code != http.StatusSeeOther {
		t.Fatalf("connecting: %d %s", got.Code, got.text)
	}
	at := "/account/connections/" + w.all(t)[0].ID
	tests := []struct {
		do   string
		more []string
		want string
	}{
		{"label", []string{"label", "Work"}, "Saved."},
		{"default", nil, "yes, where a call names no connection"},
		{"check", nil, "The app was asked just now"},
		{"off", nil, "Switched off"},
		{"on", nil, "Works"},
	}
	for _, tt := range tests {
		got := b.post(at, append([]string{"do", tt.do}, tt.more...)...)
		if got.Code != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", tt.do, got.Code, got.text)
		}
		contains(t, tt.do, b.get(got.to()).text, tt.want, "Person ann (ann@desk.example)", "Key of an agent", "acme")
	}
	contains(t, "a label that is too long", b.post(at, "do", "label", "label", strings.Repeat("x", 61)).text,
		"at most 60 characters")
	if got := b.post(at, "do", "nothing"); got.Code != http.StatusBadRequest {
		t.Errorf("doing nothing: %d", got.Code)
	}
	contains(t, "the account page", b.get("/account").text, "Desk – Work", "Person ann", "default", "Works")

	again := strings.TrimPrefix(b.post(at, "do", "reconnect").to(), w.base)
	contains(t, "the page", b.get(again).text, "Reconnect Desk", "sign in as the same account again", `value="acme"`)
	if got := b.post(again, "scheme", "key", "param.subdomain", "acme", "param.region", "eu", "field.email", "x",
		"field.key", "dk_good-bob"); got.Code != http.StatusConflict || !strings.Contains(got.text,
		"another account of Desk") {
		t.Errorf("reconnecting somebody else: %d %s", got.Code, got.text)
	}
	other := w.signedIn(t, w.other(t, "acme"))
	for _, got := range []page{
		other.get(at), other.post(at, "do", "delete"), other.post(at, "do", "reconnect"),
		other.post(at, "do", "off"),
	} {
		if got.Code != http.StatusNotFound {
			t.Errorf("another account: %d %s", got.Code, got.text)
		}
	}
	if got := b.post(at, "do", "delete"); got.to() != "/account?done=connection_deleted" {
		t.Fatalf("deleting: %d %s", got.Code, got.text)
	}
	if got := b.get(at); got.Code != http.StatusGone {
		t.Errorf("a deleted connection: %d", got.Code)
	}
	if got := b.post("/apps/locked/connect"); got.Code != http.StatusConflict || !strings.Contains(got.text,
		"needs an OAuth client") {
		t.Errorf("an app that cannot be connected: %d %s", got.Code, got.text)
	}
}

// TestHealth: each state of a connection says what it means and what to do.
func TestHealth(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	b.connectByKey(w, w.ask(t, "desk", connection.ConnectOptions{Scheme: "key"}), "ann")
	id := w.all(t)[0].ID
	tests := []struct {
		status connection.Status
		reason string
		want   []string
	}{
		{connection.Active, "", []string{"Works"}},
		{connection.Active, connection.ReasonScopesMissing, []string{"Works in part", "Reconnect it and allow all"}},
		{
			connection.NeedsReconnect, connection.ReasonInvalidGrant,
			[]string{"Needs you", "does not accept the sign-in any more", "stay the same"},
		},
		{connection.NeedsReconnect, connection.ReasonTokenExpired, []string{"has run out"}},
		{connection.NeedsReconnect, connection.ReasonUserRevoked, []string{"access was revoked there"}},
		{connection.NeedsReconnect, connection.ReasonUndecryptable, []string{"cannot be decrypted"}},
		{connection.Failing, connection.ReasonUnavailable, []string{"No answer", "goes on by itself"}},
		{connection.Failing, connection.ReasonClient, []string{"Not usable", "Tell the operator of this platform"}},
		{connection.Failing, connection.ReasonCheckFailed, []string{"Check failed", "Check it again in a while"}},
		{connection.Disabled, connection.ReasonDisabledByUser, []string{"Switched off"}},
	}
	for _, tt := range tests {
		w.setHealth(t, id, tt.status, tt.reason)
		contains(t, tt.reason, b.get("/account/connections/"+id).text, tt.want...)
		contains(t, tt.reason, b.get("/account").text, tt.want[0])
	}
}

// TestVendorAway: a failure of the vendor is reported and can be retried.
func TestVendorAway(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	w.vendor.fault = problem.New(problem.Unavailable, "provider_unavailable",
		"Desk does not answer at the moment. Try again in a minute.")
	b := w.signedIn(t, w.account)
	s := w.ask(t, "desk", connection.ConnectOptions{})
	b.get(w.path(s))
	got := b.post(w.path(s), "scheme", "oauth", "param.subdomain", "acme", "param.region", "eu")
	if got.Code != http.StatusServiceUnavailable {
		t.Errorf("while the vendor is unavailable: %d", got.Code)
	}
	contains(t, "the page", got.text, "does not answer at the moment", "Continue to Desk", `value="acme"`)
	w.vendor.fault = nil
	if got := b.post(w.path(s), "scheme", "oauth", "param.subdomain", "acme", "param.region",
		"eu"); got.Code != http.StatusSeeOther {
		t.Errorf("after that: %d %s", got.Code, got.text)
	}
}
