package console_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLinkPreview: programs that look at a link before its person does use
// nothing up; the button does, once.
func TestLinkPreview(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	path := w.link(t)
	for range 5 {
		preview := w.browser(t)
		if got := preview.get(path); got.Code != http.StatusOK || preview.cookies["ace_session"] != "" {
			t.Fatalf("looking at the link: %d, cookies %v", got.Code, preview.cookies)
		}
		if got := preview.send(http.MethodHead, path, nil); got.Code != http.StatusOK {
			t.Fatalf("asking for its head: %d", got.Code)
		}
	}
	b := w.browser(t)
	if got := b.post(path); got.Code != http.StatusSeeOther || got.to() != "/account" {
		t.Fatalf("pressing the button: %d %s", got.Code, got.text)
	}
	contains(t, "the account page", b.get("/account").text, "Account demo", "No app is connected yet", "No key works",
		"A sign-in link was made")
	late := w.browser(t)
	got := late.post(path)
	if got.Code != http.StatusGone || late.cookies["ace_session"] != "" {
		t.Errorf("using the link twice: %d, cookies %v", got.Code, late.cookies)
	}
	contains(t, "the answer", got.text, "used already or is too old", "ace account link")
}

// TestFixation: a session that somebody planted before the sign-in is worth
// nothing after it, and one that was there ends.
func TestFixation(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.browser(t)
	b.cookies["ace_session"] = "planted"
	b.send(http.MethodPost, w.link(t), nil)
	if b.cookies["ace_session"] == "planted" {
		t.Fatal("the planted session went on")
	}
	first := b.cookies["ace_session"]
	contains(t, "a link while somebody is signed in", b.get(w.link(t)).text, "You are signed in to the account",
		"<strong>demo</strong>")
	b.send(http.MethodPost, w.link(t), nil)
	if b.cookies["ace_session"] == first {
		t.Fatal("a second sign-in kept the session of the first")
	}
	old := w.browser(t)
	old.cookies["ace_session"] = first
	if got := old.get("/account"); got.Code != http.StatusSeeOther {
		t.Errorf("the session before the second sign-in still works: %d", got.Code)
	}
}

func TestPassword(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	if got := b.post("/account/password", "password", "short"); got.Code != http.StatusUnprocessableEntity ||
		!strings.Contains(got.text, "at least 12 characters") {
		t.Errorf("a short password: %d", got.Code)
	}
	const words = "seven copper kettles sing"
	if got := b.post("/account/password", "password", words); got.to() != "/account?done=password_set" {
		t.Fatalf("setting a password: %d %s", got.Code, got.text)
	}
	contains(t, "the account page", b.get("/account?done=password_set").text, "The password is set", "with a password",
		"Change the password")
	tests := []struct {
		name, login, password, next string
		status                      int
		to                          string
	}{
		{"right", "demo", words, "", 303, "/account"},
		{"with spaces around", " Demo ", words, "", 303, "/account"},
		{"leads on", "demo", words, "/connect/abc?way=key", 303, "/connect/abc?way=key"},
		{"never elsewhere", "demo", words, "https://evil.example/", 303, "/account"},
		{"wrong", "demo", "wrong", "", 422, ""},
		{"nobody", "nobody", words, "", 422, ""},
		{"nothing", "", "", "", 422, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := w.browser(t)
			got := b.post("/sign-in", "name", tt.login, "password", tt.password, "next", tt.next)
			if got.Code != tt.status || got.to() != tt.to {
				t.Fatalf("signing in: %d to %q, want %d to %q", got.Code, got.to(), tt.status, tt.to)
			}
			if tt.status != 303 {
				contains(t, "the answer", got.text, "name or password is wrong")
				if strings.Contains(got.text, words) || b.cookies["ace_session"] != "" {
					t.Error("the answer holds the password, or signs in")
				}
			}
		})
	}
}

// TestGuessing: one address may be wrong twenty times a minute, for any
// account; an invalid link counts like a password.
func TestGuessing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the limit gives room again as time goes by
		w := setup(t, options{limits: true})
		b := w.browser(t)
		codes := map[int]int{}
		for i := range 30 {
			if i%2 == 0 {
				codes[b.post("/sign-in", "name", fmt.Sprint("nobody", i), "password", "guess").Code]++
			} else {
				codes[b.post("/sign-in/guess").Code]++
			}
		}
		if codes[422]+codes[410] != 20 || codes[429] != 10 {
			t.Errorf("30 guesses: %v, want 20 refused and 10 held off", codes)
		}
	})
}

// TestOpenRedirects: a sign-in leads on to our own pages alone.
func TestOpenRedirects(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	for next, want := range map[string]string{
		"/connect/abc": "/connect/abc", "/apps/desk?x=1#y": "/apps/desk?x=1#y", "": "/account",
		"//evil.example": "/account", "/\\evil.example": "/account", "\\/evil.example": "/account",
		"https://evil.example": "/account", "https:/evil.example": "/account", "javascript:alert(1)": "/account",
		"/\t/evil.example": "/account", "evil.example": "/account", " /x": "/account",
		"///evil.example": "/account", "/%2fevil.example": "/account", "/sign-in": "/account", "/sign-out": "/account",
		"/" + strings.Repeat("x", 5000): "/account", "/\r\nLocation: https://evil.example": "/account",
	} {
		got := b.get("/sign-in?next=" + escape(next))
		if got.Code != http.StatusSeeOther || got.to() != want {
			t.Errorf("next %q leads to %q, want %q", next, got.to(), want)
		}
	}
}

// TestLinkLeadsBack: a visitor who connects an app and signs in by a link from
// the command line comes back to the app.
func TestLinkLeadsBack(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.browser(t)
	contains(t, "the sign-in page", b.get("/sign-in?next=/connect/abc").text, "To connect an app",
		"you come back to the app")
	if got := b.post(w.link(t)); got.to() != "/connect/abc" {
		t.Errorf("the link leads to %q, want the app", got.to())
	}
	if b.cookies["ace_next"] != "" {
		t.Error("the way back is used twice")
	}
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	kept := b.cookies["ace_session"]
	if got := b.post("/sign-out"); got.to() != "/sign-in?out" || b.cookies["ace_session"] != "" {
		t.Fatalf("signing out: %d to %q", got.Code, got.to())
	}
	contains(t, "the sign-in page", b.get("/sign-in?out").text, "You are signed out.")
	b.cookies["ace_session"] = kept
	if got := b.get("/account"); got.to() != "/sign-in" {
		t.Errorf("a copy of the cookie still works: %d", got.Code)
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	w := setup(t, options{identity: true})
	other := w.other(t, "acme")
	begin := func(t *testing.T, next string) *browser {
		t.Helper()
		b := w.browser(t)
		contains(t, "the sign-in page", b.get("/sign-in").text, "Continue with id.example")
		if got := b.get("/sign-in/openid?next=" + escape(next)); got.Code != http.StatusSeeOther ||
			!strings.HasPrefix(got.to(), "https://id.example/authorize?state=") {
			t.Fatalf("beginning: %d to %q", got.Code, got.to())
		}
		return b
	}
	callback := func(b *browser, state, code string) page {
		return b.get("/sign-in/openid/callback?state=" + state + "&code=" + escape(code))
	}
	b := begin(t, "/apps/desk")
	if got := callback(b, w.identities.state, "acme@acme.example"); got.to() != "/apps/desk" {
		t.Fatalf("signing in: %d %s", got.Code, got.text)
	}
	contains(t, "the account page", b.get("/account").text, "Account "+other.Name)

	tests := []struct {
		name string
		run  func(b *browser) page
	}{
		{"the state of another sign-in", func(b *browser) page { return callback(b, "other", "acme@acme.example") }},
		{"no state", func(b *browser) page { return b.get("/sign-in/openid/callback?code=acme@acme.example") }},
		{"another browser", func(*browser) page {
			return callback(w.browser(t), w.identities.state, "acme@acme.example")
		}},
		{"a cookie made up", func(b *browser) page {
			b.cookies["ace_openid"] = "made-up"
			return callback(b, w.identities.state, "acme@acme.example")
		}},
		{"used twice", func(b *browser) page {
			callback(b, w.identities.state, "nobody@acme.example")
			return callback(b, w.identities.state, "acme@acme.example")
		}},
		{"somebody unknown", func(b *browser) page { return callback(b, w.identities.state, "nobody@acme.example") }},
		{"the provider does not vouch", func(b *browser) page { return callback(b, w.identities.state, "") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := begin(t, "")
			got := tt.run(b)
			if got.Code != http.StatusForbidden || b.cookies["ace_session"] != "" || !strings.Contains(got.text,
				`role="alert"`) {
				t.Errorf("%d, cookies %v: %s", got.Code, b.cookies, got.text)
			}
		})
	}
	if got := setup(t, options{}).browser(t).get("/sign-in/openid"); got.Code != http.StatusNotFound {
		t.Errorf("without a provider: %d", got.Code)
	}
}

// TestWaitingEnds: a sign-in at the provider waits a quarter of an hour.
func TestWaitingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := setup(t, options{identity: true})
		b := w.browser(t)
		b.get("/sign-in/openid")
		time.Sleep(16 * time.Minute)
		if got := b.get("/sign-in/openid/callback?state=" + w.identities.state + "&code=x"); got.Code !=
			http.StatusForbidden || !strings.Contains(got.text, "too long ago") {
			t.Errorf("after a quarter of an hour: %d %s", got.Code, got.text)
		}
	})
}

// TestSignIns: a person sees where they are signed in, and signs other browsers
// out; a password is changed with the one so far where the sign-in is no fresh
// link.
func TestSignIns(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	here, there := w.signedIn(t, w.account), w.signedIn(t, w.account)
	page := here.get("/account").text
	contains(
		t,
		"the account page",
		page,
		"Where you are signed in",
		"this browser",
		"Sign out everywhere else",
		"By a link",
	)
	id := regexp.MustCompile(`name="sign_in" value="(ses_[^"]+)"`).FindStringSubmatch(page)
	if id == nil {
		t.Fatal("the account page has no button for the other browser")
	}
	if got := here.post("/account/sign-ins/end", "sign_in", id[1]); got.to() != "/account?done=sign_in_ended" {
		t.Errorf("signing the other browser out = %d %q", got.Code, got.to())
	}
	if got := there.get("/account"); got.Code != http.StatusSeeOther {
		t.Errorf("the other browser = %d, want it to be signed out", got.Code)
	}
	if got := here.post("/account/sign-ins/end", "sign_in", id[1]); got.to() != "/account?done=sign_in_ended" {
		t.Errorf("ending it again = %d %q", got.Code, got.to())
	}
	if got := here.post("/account/password", "password", "password1234"); !strings.Contains(got.text, "guessed first") {
		t.Errorf("a known password = %d", got.Code)
	}
	const words = "seven copper kettles sing"
	if got := here.post("/account/password", "password", words); got.to() != "/account?done=password_set" {
		t.Fatalf("setting a password after a fresh link = %d %s", got.Code, got.text)
	}
	b := w.browser(t)
	if got := b.post("/sign-in", "name", w.account.Name, "password", words); got.to() != "/account" {
		t.Fatalf("signing in by password = %d", got.Code)
	}
	contains(t, "the account page", b.get("/account").text, "Password so far")
	if got := b.post(
		"/account/password",
		"password",
		"eight copper kettles sing",
	); !strings.Contains(
		got.text,
		"not your password so far",
	) {
		t.Errorf("changing the password without the one so far = %d", got.Code)
	}
	if got := b.post("/account/sign-ins/end"); got.to() != "/account?done=sign_ins_ended" {
		t.Errorf("signing out everywhere else = %d", got.Code)
	}
	if got := here.get("/account"); got.Code != http.StatusSeeOther {
		t.Errorf("a browser elsewhere = %d, want it to be signed out", got.Code)
	}
	contains(t, "the activity", b.get("/account/activity").text, "wrong password", "Signed out everywhere else")
}
