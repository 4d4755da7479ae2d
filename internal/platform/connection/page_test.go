package connection_test

import (
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/connectiontest"
)

func connectionApp(t *testing.T, id string) (*app.App, error) {
	t.Helper()
	return connectiontest.Catalog().App(t.Context(), account, id)
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	s, link := w.ask(
		t,
		"notes",
		connection.ConnectOptions{
			Label:       "Work",
			Scheme:      "oauth2",
			RedirectURL: "https://agent.example/done?a=1",
			State:       "st",
		},
	)
	visit, err := w.Visit(t.Context(), link, ann())
	if err != nil || visit.Status != connection.SessionPending || len(visit.Schemes) != 1 ||
		visit.App.Name != "Notes" || visit.Session.AskedBy.Name != "Laptop" {
		t.Fatalf("Visit = %+v, %v", visit, err)
	}
	o, err := w.Submit(t.Context(), link, ann(), connection.Form{Params: map[string]string{"team": "acme"}})
	if err != nil {
		t.Fatal(err)
	}
	if opened := w.status(t, s.ID).Status; opened != connection.SessionOpened {
		t.Errorf("after the first step the session is %s, want opened", opened)
	}
	o, err = w.Callback(t.Context(), "notes", ann(), url.Values{"state": {state(t, o)}, "code": {"good"}})
	if err != nil {
		t.Fatal(err)
	}
	c := o.Connection
	if c == nil || c.Status != connection.Active || c.Label != "Work" || c.Identity.ID != "u1" || c.Params["team"] !=
		"acme" || c.Params["cloud"] != "learned-cloud" || c.Version != 1 || strings.Join(c.Scopes, " ") != "read" {
		t.Errorf("connection = %+v", c)
	}
	back, err := url.Parse(o.Redirect)
	if err != nil || back.Host != "agent.example" || back.Query().Get("status") != "connected" ||
		back.Query().Get("connection_id") != c.ID ||
		back.Query().Get("state") != "st" || back.Query().Get("session_id") != s.ID || back.Query().Get("a") != "1" {
		t.Errorf("handed back to %s", o.Redirect)
	}
	visit, err = w.Visit(t.Context(), link, ann())
	if err != nil || visit.Status != connection.SessionConnected || visit.Connection.ID != c.ID || !visit.CanUndo ||
		visit.Schemes != nil {
		t.Errorf("Visit afterwards = %+v, %v", visit, err)
	}
	live, err := w.Use(t.Context(), account, c.ID)
	if err != nil || value(live, "access_token") != "access-1" || value(live, "team") != "acme" ||
		value(live, "developer_token") != "dev" || value(live, "refresh_token") != "" {
		t.Errorf("Use = %+v, %v", live, err)
	}
}

func (w *world) status(t *testing.T, id string) *connection.Session {
	t.Helper()
	s, err := w.Service.Session(t.Context(), account, id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLinkIsForOnePerson(t *testing.T) {
	t.Parallel()
	other, nobody, elsewhere, bare := ann(), ann(), ann(), ann()
	other.AccountID = stranger
	nobody.AccountID = ""
	elsewhere.Browser = "another-cookie-of-some-32-letters"
	bare.Browser = "short"
	tests := []struct {
		name   string
		verify connection.Verify
		first  *connection.Visitor // who takes the first step
		v      connection.Visitor
		visit  string
		submit string
	}{
		{"the account's own person", "account", nil, ann(), "", ""},
		{"nobody signed in", "account", nil, nobody, "sign_in_required", "sign_in_required"},
		{"signed in elsewhere", "account", nil, other, "connect_other_account", "connect_other_account"},
		{"the first visitor", "link", nil, nobody, "", ""},
		{"a browser without the cookie", "link", nil, bare, "", "connect_cookie_missing"},
		{"the second browser", "link", &other, elsewhere, "connect_other_browser", "connect_other_browser"},
		{"the first browser again", "link", &nobody, nobody, "", ""},
		{
			"signed in, in the second browser", "account", ptr(ann()), elsewhere, "connect_other_browser",
			"connect_other_browser",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			_, link := w.ask(t, "notes", connection.ConnectOptions{Verify: tt.verify})
			if tt.first != nil {
				if _, err := w.Submit(t.Context(), link, *tt.first, connection.Form{}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.Visit(t.Context(), link, tt.v); code(err) != tt.visit {
				t.Errorf("Visit: %v, want %q", err, tt.visit)
			}
			if _, err := w.Submit(t.Context(), link, tt.v, connection.Form{}); code(err) != tt.submit {
				t.Errorf("Submit: %v, want %q", err, tt.submit)
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

func TestLinkThatIsNone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	s, link := w.ask(t, "notes", connection.ConnectOptions{})
	changed := "x" + link[1:]
	if changed == link {
		changed = "y" + link[1:]
	}
	for name, in := range map[string]string{
		"the session's id": s.ID, "empty": "", "one letter changed": changed,
		"cut": link[:42], "a letter more": link + "A",
	} {
		if _, err := w.Visit(t.Context(), in, ann()); code(err) != "connect_link_unknown" {
			t.Errorf("%s: Visit = %v, want connect_link_unknown", name, err)
		}
	}
}

// TestCallback tampers with what comes back from the vendor.
func TestCallback(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		app    string
		v      func(*connection.Visitor)
		query  func(url.Values)
		code   string // of the error
		status connection.SessionStatus
		last   string // Session.Code
	}{
		{"as it should be", "notes", nil, nil, "", connection.SessionConnected, ""},
		{
			"another state", "notes", nil, func(q url.Values) { q.Set("state", "guessed") }, "sign_in_unknown",
			connection.SessionOpened, "",
		},
		{
			"no state",
			"notes",
			nil,
			func(q url.Values) { q.Del("state") },
			"sign_in_unknown",
			connection.SessionOpened,
			"",
		},
		{"through another app's address", "other", nil, nil, "sign_in_unknown", connection.SessionOpened, ""},
		{
			"in another browser",
			"notes",
			func(v *connection.Visitor) { v.Browser = "another-cookie-of-some-32-letters" },
			nil,
			"connect_other_browser",
			connection.SessionOpened,
			"",
		},
		{
			"without a cookie", "notes", func(v *connection.Visitor) { v.Browser = "" }, nil, "connect_other_browser",
			connection.SessionOpened, "",
		},
		{
			"signed in to another account", "notes", func(v *connection.Visitor) { v.AccountID = stranger },
			nil, "connect_other_account", connection.SessionOpened, "",
		},
		{
			"another code", "notes", nil, func(q url.Values) { q.Set("code", "stolen") }, "", connection.SessionOpened,
			"sign_in_failed",
		},
		{
			"the user declines", "notes", nil, func(q url.Values) { q.Set("error", "access_denied") },
			"", connection.SessionFailed, "sign_in_denied",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			s, link := w.ask(t, "notes", connection.ConnectOptions{Scheme: "oauth2"})
			o, err := w.Submit(t.Context(), link, ann(), connection.Form{})
			if err != nil {
				t.Fatal(err)
			}
			v, query := ann(), url.Values{"state": {state(t, o)}, "code": {"good"}}
			if tt.v != nil {
				tt.v(&v)
			}
			if tt.query != nil {
				tt.query(query)
			}
			if _, err := w.Callback(t.Context(), tt.app, v, query); code(err) != tt.code {
				t.Errorf("Callback = %v, want %q", err, tt.code)
			}
			if got := w.status(t, s.ID); got.Status != tt.status || got.Code != tt.last {
				t.Errorf("session is %s with %q, want %s with %q", got.Status, got.Code, tt.status, tt.last)
			}
			// A state is good once, whatever came of it.
			if tt.code == "" {
				if _, err := w.Callback(t.Context(), "notes", ann(),
					url.Values{"state": {state(t, o)}, "code": {"good"}}); code(err) != "sign_in_unknown" {
					t.Errorf("the state again: %v, want sign_in_unknown", err)
				}
			}
			list, err := w.List(t.Context(), account, connection.Query{})
			if connected := tt.status == connection.SessionConnected; err != nil || (len(list) > 0) != connected {
				t.Errorf("%d connections, %v, want them: %v", len(list), err, connected)
			}
		})
	}
}

func TestSignInAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	w := setup(t)
	s, link := w.ask(t, "notes", connection.ConnectOptions{Scheme: "oauth2"})
	for _, answer := range []string{"stolen", "good"} {
		o, err := w.Submit(t.Context(), link, ann(), connection.Form{})
		if err != nil {
			t.Fatal(err)
		}
		if o, err = w.Callback(t.Context(), "notes", ann(),
			url.Values{"state": {state(t, o)}, "code": {answer}}); err != nil || o.Redirect != w.Link(s.ID) {
			t.Fatalf("Callback(%s) = %+v, %v, want the link's page", answer, o, err)
		}
	}
	if got := w.status(t, s.ID); got.Status != connection.SessionConnected || got.Code != "" {
		t.Errorf("session = %+v", got)
	}
}

func TestFormIsCheckedBeforeItIsKept(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		app    string
		fields connection.Credentials
		params map[string]string
		answer error
		code   string
	}{
		{"right", "keyed", connection.Credentials{"key": " sk_1 "}, nil, nil, ""},
		{"nothing typed", "keyed", nil, nil, nil, "invalid_fields"},
		{"another kind of key", "keyed", connection.Credentials{"key": "pk_1"}, nil, nil, "invalid_fields"},
		{
			"a wrong team", "notes",
			connection.Credentials{"key": "k"},
			map[string]string{"team": "Acme!"},
			nil, "invalid_fields",
		},
		{
			"refused", "keyed",
			connection.Credentials{"key": "sk_1"},
			nil, connectiontest.Refusal("app_unauthorized"),
			"credentials_refused",
		},
		{
			"without rights", "keyed",
			connection.Credentials{"key": "sk_1"},
			nil, connectiontest.Refusal("app_forbidden"),
			"credentials_refused",
		},
		{
			"nobody there", "keyed",
			connection.Credentials{"key": "sk_1"},
			nil, connectiontest.Refusal("app_not_found"),
			"credentials_refused",
		},
		{
			"away", "keyed",
			connection.Credentials{"key": "sk_1"},
			nil, connectiontest.Refusal("app_timeout"),
			"provider_unavailable",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.vendor.Answer = tt.answer
			s, link := w.ask(t, tt.app, connection.ConnectOptions{Scheme: "key"})
			o, err := w.Submit(t.Context(), link, ann(), connection.Form{Fields: tt.fields, Params: tt.params})
			if code(err) != tt.code {
				t.Fatalf("Submit = %v, want %q", err, tt.code)
			}
			if tt.code == "" {
				if live, err := w.Use(t.Context(), account, o.Connection.ID); err != nil ||
					value(live, "key") != "sk_1" {
					t.Errorf("Use = %v, want the key without what surrounds it", err)
				}
				return
			}
			// The link goes on working.
			w.vendor.Answer = nil
			if _, err := w.Submit(t.Context(), link, ann(),
				connection.Form{Fields: connection.Credentials{"key": "sk_good"}}); err != nil {
				t.Errorf("the second try: %v", err)
			}
			if got := w.status(t, s.ID); got.Status != connection.SessionConnected {
				t.Errorf("session is %s after the second try", got.Status)
			}
		})
	}
}

func TestConsentIsKeptWhileTheAppIsAway(t *testing.T) {
	t.Parallel()
	for answer, kept := range map[string]bool{"app_unauthorized": false, "app_forbidden": true, "app_timeout": true} {
		w := setup(t)
		w.typeKey(t, "keyed", connection.ConnectOptions{}, "sk_1")
		s, link := w.ask(t, "notes", connection.ConnectOptions{Scheme: "oauth2"})
		o, err := w.Submit(t.Context(), link, ann(), connection.Form{})
		if err != nil {
			t.Fatal(err)
		}
		query := url.Values{"state": {state(t, o)}, "code": {"good"}}
		// The steps that learn what calls need succeed; whoami does not.
		w.vendor.Set(func(v *connectiontest.Vendor) { v.Whoami = connectiontest.Refusal(answer) })
		o, err = w.Callback(t.Context(), "notes", ann(), query)
		if err != nil || (o.Connection != nil) != kept {
			t.Errorf("%s: %+v, %v, want it kept: %v", answer, o, err, kept)
		}
		if got := w.status(t, s.ID); !kept && (got.Status != connection.SessionOpened || got.Code != "sign_in_failed") {
			t.Errorf("%s: session is %s with %q", answer, got.Status, got.Code)
		}
	}
}

func TestSessionEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		expired, expiredLink := w.ask(t, "keyed", connection.ConnectOptions{})
		denied, deniedLink := w.ask(t, "keyed", connection.ConnectOptions{RedirectURL: "https://agent.example/"})
		cancelled, cancelledLink := w.ask(t, "keyed", connection.ConnectOptions{})
		o, err := w.Deny(t.Context(), deniedLink, ann())
		if err != nil || !strings.Contains(o.Redirect, "status=failed") || !strings.Contains(o.Redirect,
			"error=sign_in_denied") {
			t.Errorf("Deny = %+v, %v", o, err)
		}
		if err := w.Cancel(t.Context(), agent(), stranger, cancelled.ID); code(err) != "connect_session_not_found" {
			t.Errorf("another account cancels: %v", err)
		}
		if err := w.Cancel(t.Context(), agent(), account, cancelled.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(connection.SessionLifetime)
		for _, tt := range []struct {
			id, link string
			want     connection.SessionStatus
		}{
			{expired.ID, expiredLink, connection.SessionExpired},
			{denied.ID, deniedLink, connection.SessionFailed},
			{cancelled.ID, cancelledLink, connection.SessionCanceled},
		} {
			if got := w.status(t, tt.id).StatusAt(time.Now()); got != tt.want {
				t.Errorf("session is %s, want %s", got, tt.want)
			}
			if _, err := w.Submit(t.Context(), tt.link, ann(),
				connection.Form{Fields: connection.Credentials{"key": "sk_1"}}); code(err) !=
				"connect_session_expired" {
				t.Errorf("Submit to a session that is %s: %v", tt.want, err)
			}
			visit, err := w.Visit(t.Context(), tt.link, ann())
			if err != nil || visit.Status != tt.want || visit.Schemes != nil {
				t.Errorf("Visit of a session that is %s: %+v, %v", tt.want, visit, err)
			}
		}
	})
}

func TestConsentAfterTheLinkHasExpired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		_, link := w.ask(t, "notes", connection.ConnectOptions{})
		o, err := w.Submit(t.Context(), link, ann(), connection.Form{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(connection.SessionLifetime)
		if _, err := w.Callback(t.Context(), "notes", ann(),
			url.Values{"state": {state(t, o)}, "code": {"good"}}); code(err) != "sign_in_unknown" {
			t.Errorf("Callback = %v, want sign_in_unknown", err)
		}
	})
}

func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		s, link := w.ask(t, "keyed", connection.ConnectOptions{})
		start := time.Now()
		if got, err := w.Wait(t.Context(), account, s.ID, 10*time.Second); err != nil ||
			got.Status != connection.SessionPending || time.Since(start) < 9*time.Second {
			t.Errorf("Wait = %+v, %v after %v", got, err, time.Since(start))
		}
		go func() {
			time.Sleep(3 * time.Second)
			if _, err := w.Submit(t.Context(), link, ann(),
				connection.Form{Fields: connection.Credentials{"key": "sk_1"}}); err != nil {
				t.Error(err)
			}
		}()
		start = time.Now()
		if got, err := w.Wait(t.Context(), account, s.ID, 30*time.Second); err != nil ||
			got.Status != connection.SessionConnected || time.Since(start) > 4*time.Second {
			t.Errorf("Wait = %+v, %v after %v, want it at once", got, err, time.Since(start))
		}
		if _, err := w.Wait(t.Context(), stranger, s.ID, 0); code(err) != "connect_session_not_found" {
			t.Errorf("another account waits: %v", err)
		}
	})
}

func TestVerifyCallback(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, flow, endUser string
		code                string
	}{
		{"the right person", "", "ann", ""},
		{"another person", "", "bob", "connect_unverified"},
		{"another flow", "flow_guessed", "ann", "connect_unverified"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			visitor := connection.Visitor{Browser: browser}
			s, link := w.ask(t, "keyed", connection.ConnectOptions{
				Verify:    connection.VerifyCallback,
				VerifyURL: "https://agent.example/who", EndUser: "ann",
			})
			form := connection.Form{Fields: connection.Credentials{"key": "sk_1"}}
			o, err := w.Submit(t.Context(), link, visitor, form)
			if err != nil || o.Connection != nil {
				t.Fatalf("Submit before it is known who is there: %+v, %v", o, err)
			}
			at, err := url.Parse(o.Redirect)
			if err != nil || at.Host != "agent.example" || at.Query().Get("session_id") != s.ID {
				t.Fatalf("sent to %s, want the developer's page", o.Redirect)
			}
			flow := at.Query().Get("flow_id")
			if tt.flow != "" {
				flow = tt.flow
			}
			next, err := w.Confirm(t.Context(), agent(), account, s.ID, flow, tt.endUser)
			if code(err) != tt.code || err == nil && next != w.Link(s.ID) {
				t.Fatalf("Confirm = %q, %v, want %q", next, err, tt.code)
			}
			o, err = w.Submit(t.Context(), link, visitor, form)
			if tt.code == "" && (err != nil || o.Connection == nil || o.Connection.EndUser != "ann") {
				t.Errorf("Submit afterwards = %+v, %v", o, err)
			}
			if tt.code != "" && code(err) != "connect_session_expired" {
				t.Errorf("Submit afterwards = %v, want connect_session_expired", err)
			}
		})
	}
}

func TestUndo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		s, link := w.ask(t, "keyed", connection.ConnectOptions{Verify: connection.VerifyLink})
		o, err := w.Submit(t.Context(), link, ann(), connection.Form{Fields: connection.Credentials{"key": "sk_1"}})
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := ann()
		elsewhere.Browser = "another-cookie-of-some-32-letters"
		if _, err := w.Undo(t.Context(), link, elsewhere); code(err) != "connect_other_browser" {
			t.Errorf("Undo from another browser: %v", err)
		}
		if _, err := w.Undo(t.Context(), link, ann()); err != nil {
			t.Fatal(err)
		}
		if c, err := w.Get(t.Context(), account, o.Connection.ID); err != nil || c.Status != connection.Revoked {
			t.Errorf("connection afterwards: %+v, %v", c, err)
		}
		if got := w.status(t, s.ID); got.Status != connection.SessionCanceled || got.Code != "undone" {
			t.Errorf("session afterwards: %s %s", got.Status, got.Code)
		}
		_, late := w.ask(t, "keyed", connection.ConnectOptions{Verify: connection.VerifyLink})
		if _, err := w.Submit(t.Context(), late, ann(),
			connection.Form{Fields: connection.Credentials{"key": "sk_1"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(connection.UndoFor)
		if _, err := w.Undo(t.Context(), late, ann()); code(err) != "connect_undo_over" {
			t.Errorf("Undo after ten minutes: %v", err)
		}
	})
}

func TestReconnect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		identity connection.Identity
		mends    bool // by connection_id
		same     bool
		last     string
	}{
		{"the same account", connection.Identity{ID: "u1"}, true, true, "mended"},
		{"another account", connection.Identity{ID: "u2"}, true, false, "connection_mismatch"},
		{"another tenant", connection.Identity{ID: "u1", Tenant: "t2"}, true, false, "connection_mismatch"},
		{
			"the same account, asked for as a new one",
			connection.Identity{ID: "u1", Tenant: "t1"},
			false, true,
			"mended",
		},
		{"another account, as a new one", connection.Identity{ID: "u2", Tenant: "t1"}, false, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.vendor.Identity = connection.Identity{ID: "u1", Tenant: "t1", Email: "ann@acme.example"}
			old := w.signIn(t, connection.ConnectOptions{Label: "Work"})
			if _, err := w.Update(t.Context(), agent(), account, old.ID,
				connection.Change{Default: ptr(true)}); err != nil {
				t.Fatal(err)
			}
			w.vendor.Identity = tt.identity
			wish := connection.ConnectOptions{Scheme: "oauth2"}
			if tt.mends {
				wish = connection.ConnectOptions{Reconnects: old.ID}
			}
			s, link := w.ask(t, "notes", wish)
			o, err := w.Submit(t.Context(), link, ann(), connection.Form{})
			if err != nil {
				t.Fatal(err)
			}
			// Until there are new credentials the old ones serve.
			if live, err := w.Use(t.Context(), account, old.ID); err != nil ||
				value(live, "access_token") != "access-1" {
				t.Errorf("while the user has left the page: %v", err)
			}
			if o, err = w.Callback(t.Context(), "notes", ann(),
				url.Values{"state": {state(t, o)}, "code": {"good"}}); err != nil {
				t.Fatal(err)
			}
			if got := w.status(t, s.ID); got.Code != tt.last {
				t.Errorf("session ended with %q, want %q", got.Code, tt.last)
			}
			live, err := w.Use(t.Context(), account, old.ID)
			want := map[bool]string{true: "access-2", false: "access-1"}[tt.same]
			if err != nil || value(live, "access_token") != want {
				t.Errorf("Use = %q, %v, want %s", value(live, "access_token"), err, want)
			}
			if tt.same && (o.Connection.ID != old.ID || o.Connection.Label != "Work" || !live.Connection.Default ||
				live.Connection.Version != 2 || o.Connection.Identity.Email != "ann@acme.example") {
				t.Errorf("reconnected = %+v", o.Connection)
			}
			if visit, err := w.Visit(t.Context(), link, ann()); err != nil || tt.same && visit.CanUndo {
				t.Errorf("Visit = %+v, %v: a reconnection cannot be undone", visit, err)
			}
		})
	}
}

func TestScopesThatWereNotGranted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, asked, granted, reason string
	}{
		{"all of them", "read write", "read write", ""},
		{"one is missing", "read write", "read", connection.ReasonScopesMissing},
		{"more than was asked for", "read", "read write", ""},
		{"a refresh token is no scope of a token", "read offline_access", "read", ""},
		{"who it is, told elsewhere", "openid email profile read", "read", ""},
		{"both kinds", "read write offline_access", "read", connection.ReasonScopesMissing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.vendor.Granted = strings.Fields(tt.granted)
			c := w.signIn(t, connection.ConnectOptions{Scopes: strings.Fields(tt.asked)})
			if c.Status != connection.Active || c.Reason != tt.reason || strings.Join(c.Scopes, " ") != tt.granted {
				t.Errorf("connection = %s %q %v, want active with %q", c.Status, c.Reason, c.Scopes, tt.reason)
			}
		})
	}
}

// TestTwoReplicas walks one link over three processes: each step on another.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	w := setup(t)
	other := w.replica(nil)
	s, link := w.ask(t, "notes", connection.ConnectOptions{Scheme: "oauth2"})
	o, err := other.Submit(t.Context(), link, ann(), connection.Form{})
	if err != nil {
		t.Fatal(err)
	}
	query := url.Values{"state": {state(t, o)}, "code": {"good"}}
	// The browser's request comes twice, on both at once: one goes on.
	results := make(chan error, 2)
	for _, service := range []*connection.Service{w.Service, other} {
		go func() { _, err := service.Callback(t.Context(), "notes", ann(), query); results <- err }()
	}
	var refused int
	for range 2 {
		switch got := code(<-results); got {
		case "":
		case "sign_in_unknown", "connect_session_busy":
			refused++
		default:
			t.Errorf("Callback = %s", got)
		}
	}
	got, err := other.Session(t.Context(), account, s.ID)
	if err != nil || got.Status != connection.SessionConnected || refused != 1 {
		t.Fatalf("session = %+v, %v with %d refused, want one", got, err, refused)
	}
	if live, err := other.Use(t.Context(), account, got.ConnectionID); err != nil ||
		value(live, "access_token") != "access-1" {
		t.Errorf("Use on the other replica: %v", err)
	}
}
