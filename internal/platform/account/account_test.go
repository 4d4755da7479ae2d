package account_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/password"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/account"
	"ace/internal/platform/audit"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

const phrase = "seven copper kettles sing"

// world is an account with its owner, in virtual time, on a real database.
type world struct {
	*account.Service
	t     *testing.T
	demo  *account.Account
	owner *account.User
}

func inTime(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	dsn := sqldbtest.Migrated(t, storage.Migrations())
	synctest.Test(t, func(t *testing.T) {
		db, err := sqldb.Open(t.Context(), dsn, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		sealer, err := seal.New(make([]byte, seal.KeySize))
		if err != nil {
			t.Fatal(err)
		}
		w := &world{Service: account.New(platformstore.New(db, nil), password.New(), sealer.MAC), t: t}
		if w.demo, w.owner, err = w.Create(t.Context(), audit.Operator(), "demo", "ann@acme.example"); err != nil {
			t.Fatal(err)
		}
		test(w)
	})
}

func from(ip string) audit.Actor { return audit.Actor{IP: ip} }

// link signs the owner in by a new link.
func (w *world) link() (*account.Session, string) {
	w.t.Helper()
	secret, _, err := w.Link(w.t.Context(), audit.Operator(), w.demo.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	session, cookie, err := w.Redeem(w.t.Context(), from("192.0.2.7"), secret)
	if err != nil {
		w.t.Fatal(err)
	}
	return session, cookie
}

// withPassword gives the owner the password phrase.
func (w *world) withPassword() *account.Session {
	w.t.Helper()
	session, _ := w.link()
	if err := w.SetPassword(w.t.Context(), audit.Operator(), session, "", phrase); err != nil {
		w.t.Fatal(err)
	}
	return session
}

// tries signs in, and returns the code of the problem; "" if that worked.
func (w *world) tries(ip, name, secret string) string {
	w.t.Helper()
	_, _, err := w.SignIn(w.t.Context(), from(ip), name, secret)
	return code(err)
}

func code(err error) string {
	if err == nil {
		return ""
	}
	if p, ok := problem.From(err); ok {
		return p.Code
	}
	return err.Error()
}

func TestRoles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		role                      account.Role
		manages, connects, audits bool
	}{
		{account.Owner, true, true, true},
		{account.Admin, true, true, true},
		{account.Member, false, true, false},
		{account.Auditor, false, false, true},
		{"", false, false, false},
		{"Owner", false, false, false},
	}
	for _, tt := range tests {
		if tt.role.Manages() != tt.manages || tt.role.Connects() != tt.connects || tt.role.Audits() != tt.audits {
			t.Errorf("%q: manages %v, connects %v, audits %v", tt.role, tt.role.Manages(), tt.role.Connects(),
				tt.role.Audits())
		}
	}
}

func TestNamesAndAddresses(t *testing.T) {
	inTime(t, func(w *world) {
		long := func(n int) string { return strings.Repeat("a", n-len("@a.example")) + "@a.example" }
		tests := []struct{ name, email, want string }{
			{"a", "", ""},
			{"0-_", "", ""},
			{strings.Repeat("b", 40), "", ""},
			{strings.Repeat("b", 41), "", "invalid_account_name"},
			{"", "", "invalid_account_name"},
			{"-a", "", "invalid_account_name"},
			{"_a", "", "invalid_account_name"},
			{"a b", "", "invalid_account_name"},
			{"a\n", "", "invalid_account_name"},
			{"é", "", "invalid_account_name"},
			{"mail1", " BEN@Acme.example ", ""},
			{"mail2", "ben@acme.example", "account_exists"},
			{"mail3", "ben", "invalid_email"},
			{"mail4", "Ben <b@acme.example>", "invalid_email"},
			{"mail5", "b@acme.example\r\nBcc: c@acme.example", "invalid_email"},
			{"mail6", long(254), ""},
			{"mail7", long(255), "invalid_email"},
		}
		for _, tt := range tests {
			_, u, err := w.Create(w.t.Context(), audit.Operator(), tt.name, tt.email)
			if got := code(err); got != tt.want {
				w.t.Errorf("Create(%q, %q) = %q, want %q", tt.name, tt.email, got, tt.want)
			}
			if err == nil && u.Email != strings.ToLower(strings.TrimSpace(tt.email)) {
				w.t.Errorf("Create(%q, %q) keeps %q", tt.name, tt.email, u.Email)
			}
		}
	})
}

// A link lasts a quarter of an hour: it works just before, and not at its end.
func TestLinkExpires(t *testing.T) {
	for _, tt := range []struct {
		after time.Duration
		want  string
	}{
		{0, ""},
		{account.LinkLifetime - time.Millisecond, ""},
		{account.LinkLifetime, "link_invalid"},
		{account.LinkLifetime + time.Hour, "link_invalid"},
	} {
		t.Run(tt.after.String(), func(t *testing.T) {
			inTime(t, func(w *world) {
				secret, expires, err := w.Link(w.t.Context(), audit.Operator(), w.demo.ID)
				if err != nil || time.Until(expires) != account.LinkLifetime {
					w.t.Fatalf("a link until %v: %v", expires, err)
				}
				time.Sleep(tt.after)
				if _, _, err := w.Redeem(w.t.Context(), from("192.0.2.7"), secret); code(err) != tt.want {
					w.t.Errorf("after %v: %v, want %q", tt.after, err, tt.want)
				}
				if _, _, err := w.Redeem(w.t.Context(), from("192.0.2.7"), secret); code(err) != "link_invalid" {
					w.t.Errorf("the second time: %v", err)
				}
			})
		})
	}
}

// A session ends after a week without a request, and thirty days after its
// beginning whatever is requested.
func TestSessionEnds(t *testing.T) {
	there := func(w *world, cookie string) bool {
		s, err := w.Session(w.t.Context(), cookie)
		if err != nil {
			w.t.Fatal(err)
		}
		return s != nil
	}
	t.Run("idle", func(t *testing.T) {
		inTime(t, func(w *world) {
			_, cookie := w.link()
			time.Sleep(account.SessionIdle - time.Millisecond)
			if !there(w, cookie) { // which is a request, too
				w.t.Fatal("it ended before a week was over")
			}
			time.Sleep(account.SessionIdle - time.Millisecond)
			if !there(w, cookie) {
				w.t.Fatal("a request did not keep it")
			}
			time.Sleep(account.SessionIdle + time.Millisecond)
			if there(w, cookie) {
				w.t.Error("it lives on after a week without a request")
			}
		})
	})
	t.Run("busy", func(t *testing.T) {
		inTime(t, func(w *world) {
			_, cookie := w.link()
			for range 29 {
				time.Sleep(24 * time.Hour)
				if !there(w, cookie) {
					w.t.Fatal("it ended while it was used")
				}
			}
			time.Sleep(24*time.Hour - time.Millisecond)
			if !there(w, cookie) {
				w.t.Error("it ended before thirty days were over")
			}
			time.Sleep(time.Millisecond)
			if there(w, cookie) {
				w.t.Error("it lives on after thirty days")
			}
		})
	})
	t.Run("unknown", func(t *testing.T) {
		inTime(t, func(w *world) {
			session, cookie := w.link()
			if there(w, "") || there(w, "x"+cookie) || there(w, session.ID) {
				w.t.Error("something else than its secret opens a session")
			}
		})
	})
}

// Of a session's own person the password is asked for, unless a link was used a
// short while ago.
func TestPasswordNeedsThePerson(t *testing.T) {
	inTime(t, func(w *world) {
		session, _ := w.link()
		set := func(old, secret string) string {
			return code(w.SetPassword(w.t.Context(), from("192.0.2.7"), session, old, secret))
		}
		time.Sleep(account.LinkLifetime)
		if got := set("", phrase); got != "fresh_sign_in_required" {
			w.t.Errorf("without a password, a quarter of an hour after the link: %q", got)
		}
		session, _ = w.link()
		time.Sleep(account.LinkLifetime - time.Millisecond)
		if got := set("", phrase); got != "" {
			w.t.Errorf("just before a quarter of an hour is over: %q", got)
		}
		session, _, err := w.SignIn(w.t.Context(), from("192.0.2.7"), "ann@acme.example", phrase)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, tt := range []struct{ old, secret, want string }{
			{"", "another fine phrase", "password_wrong"},
			{"wrong", "another fine phrase", "password_wrong"},
			{phrase, "another fine phrase", ""},
		} {
			got := code(w.SetPassword(w.t.Context(), from("192.0.2.7"), session, tt.old, tt.secret))
			if got != tt.want {
				w.t.Errorf("with %q: %q, want %q", tt.old, got, tt.want)
			}
		}
	})
}

func TestPasswordsTaken(t *testing.T) {
	inTime(t, func(w *world) {
		session, _ := w.link()
		for _, tt := range []struct{ name, secret, want string }{
			{"11 characters", "kettles-sin", "invalid_password"},
			{"12 characters", "kettles-sing", ""},
			{"11 characters in more bytes", "kéttlés-sîn", "invalid_password"},
			{"256 bytes", strings.Repeat("kettle ", 36) + "last", ""},
			{"257 bytes", strings.Repeat("kettle ", 36) + "last!", "invalid_password"},
			{"guessed first", "password1234", "invalid_password"},
			{"the address", "ann@acme.example", "invalid_password"},
		} {
			if got := code(w.SetPassword(w.t.Context(), from("192.0.2.7"), session, "", tt.secret)); got != tt.want {
				w.t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
		}
	})
}

// A new password ends the other sessions of its person, not the one that set it.
func TestPasswordEndsOthers(t *testing.T) {
	inTime(t, func(w *world) {
		_, other := w.link()
		session, own := w.link()
		if err := w.SetPassword(w.t.Context(), audit.Operator(), session, "", phrase); err != nil {
			w.t.Fatal(err)
		}
		if s, err := w.Session(w.t.Context(), other); err != nil || s != nil {
			w.t.Errorf("another session lives on: %v", err)
		}
		if s, err := w.Session(w.t.Context(), own); err != nil || s == nil {
			w.t.Errorf("the session that set it has ended: %v", err)
		}
	})
}

// Unknown names, wrong passwords and passwords that cannot be are refused alike.
func TestRefusedAlike(t *testing.T) {
	inTime(t, func(w *world) {
		w.withPassword()
		var texts []string
		for i, tt := range []struct{ name, secret string }{
			{"ann@acme.example", "wrong"},
			{"demo", "wrong"},
			{"nobody@acme.example", phrase},
			{"nobody", phrase},
			{"", ""},
			{"ann@acme.example", strings.Repeat("long ", 60)},
		} {
			_, _, err := w.SignIn(w.t.Context(), from(fmt.Sprintf("192.0.2.%d", i)), tt.name, tt.secret)
			if code(err) != "sign_in_refused" {
				w.t.Errorf("%q: %v", tt.name, err)
			}
			texts = append(texts, err.Error())
		}
		if len(slices.Compact(texts)) != 1 {
			w.t.Errorf("the texts differ: %q", texts)
		}
		for i, name := range []string{"ann@acme.example", " ANN@Acme.example", "demo", "DEMO "} {
			if got := w.tries(fmt.Sprintf("192.0.3.%d", i), name, phrase); got != "" {
				w.t.Errorf("%q with the password: %q", name, got)
			}
		}
	})
}

// One network waits longer and longer, and others do not wait for it.
func TestOneNetworkWaits(t *testing.T) {
	inTime(t, func(w *world) {
		w.withPassword()
		const guesser = "198.51.100.1"
		for i, wait := range []time.Duration{
			0, 0, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
		} {
			if got := w.tries(guesser, "demo", "wrong"); got != "sign_in_refused" {
				w.t.Fatalf("attempt %d: %q", i+1, got)
			}
			if wait == 0 {
				continue
			}
			time.Sleep(wait - time.Millisecond)
			if got := w.tries(guesser, "demo", phrase); got != "sign_in_blocked" {
				w.t.Fatalf("%v after attempt %d, just before its end: %q", wait, i+1, got)
			}
			time.Sleep(time.Millisecond)
		}
		if got := w.tries("203.0.113.9", "demo", phrase); got != "" {
			w.t.Errorf("another network: %q", got)
		}
	})
}

// Ten wrong passwords in a row, from wherever, close the user for a quarter of an
// hour: to the right password, too, and under each name of the user.
func TestUserIsBlocked(t *testing.T) {
	inTime(t, func(w *world) {
		w.withPassword()
		wrong := func(n int) {
			for i := range n {
				name := []string{"demo", "ann@acme.example"}[i%2]
				if got := w.tries(fmt.Sprintf("2001:db8:0:%x::1", i), name, "wrong"); got != "sign_in_refused" {
					w.t.Fatalf("attempt %d: %q", i+1, got)
				}
			}
		}
		wrong(9)
		if got := w.tries("192.0.2.1", "demo", phrase); got != "" { // which ends the count
			w.t.Fatalf("after nine: %q", got)
		}
		wrong(10)
		for _, name := range []string{"demo", "ann@acme.example"} {
			if got := w.tries("192.0.2.2", name, phrase); got != "sign_in_blocked" {
				w.t.Errorf("%s after ten: %q", name, got)
			}
		}
		time.Sleep(15*time.Minute - time.Millisecond)
		if got := w.tries("192.0.2.3", "demo", phrase); got != "sign_in_blocked" {
			w.t.Errorf("just before a quarter of an hour is over: %q", got)
		}
		time.Sleep(time.Millisecond)
		if got := w.tries("192.0.2.3", "demo", phrase); got != "" {
			w.t.Errorf("after a quarter of an hour: %q", got)
		}
		session, _ := w.link()
		if session == nil {
			w.t.Error("a link does not sign in")
		}
	})
}

// Addresses of one IPv6 network are one guesser.
func TestNetworkOfIPv6(t *testing.T) {
	inTime(t, func(w *world) {
		w.withPassword()
		for i := range 3 {
			if got := w.tries(fmt.Sprintf("2001:db8::%x", i+1), "demo", "wrong"); got != "sign_in_refused" {
				w.t.Fatal(got)
			}
		}
		if got := w.tries("2001:db8::ffff", "demo", phrase); got != "sign_in_blocked" {
			w.t.Errorf("a fourth address of the network: %q", got)
		}
		if got := w.tries("2001:db8:0:1::1", "demo", phrase); got != "" {
			w.t.Errorf("the network beside it: %q", got)
		}
	})
}

func TestIdentities(t *testing.T) {
	inTime(t, func(w *world) {
		in := func(subject, email string) string {
			_, _, err := w.SignInIdentity(w.t.Context(), from("192.0.2.7"), "https://id.example", subject, email)
			return code(err)
		}
		for _, tt := range []struct{ name, subject, email, want string }{
			{"nobody's address", "s1", "ben@acme.example", "user_unknown"},
			{"no address", "s1", "", "user_unknown"},
			{"what is no address", "s1", "demo", "user_unknown"},
			{"the address", "s1", "ANN@acme.example", ""},
			{"linked: no address is needed", "s1", "", ""},
			{"another identity with the address", "s2", "ann@acme.example", "user_unknown"},
		} {
			if got := in(tt.subject, tt.email); got != tt.want {
				w.t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
		}
		_, _, err := w.SignInIdentity(w.t.Context(), from("192.0.2.7"), "https://other.example", "s1", "")
		if code(err) != "user_unknown" {
			w.t.Errorf("the subject at another provider: %v", err)
		}
	})
}

// Nobody of a disabled account signs in, nor goes on; its sessions live again
// with it.
func TestDisabled(t *testing.T) {
	inTime(t, func(w *world) {
		w.withPassword()
		_, cookie := w.link()
		a, err := w.Disable(w.t.Context(), audit.Operator(), "demo")
		if err != nil || a.DisabledAt.IsZero() {
			w.t.Fatalf("Disable = %+v, %v", a, err)
		}
		if s, err := w.Session(w.t.Context(), cookie); err != nil || s != nil {
			w.t.Errorf("its session goes on: %v", err)
		}
		if got := w.tries("192.0.2.7", "demo", phrase); got != "account_disabled" {
			w.t.Errorf("signing in: %q", got)
		}
		if a, err = w.Enable(w.t.Context(), audit.Operator(), "demo"); err != nil || !a.DisabledAt.IsZero() {
			w.t.Fatalf("Enable = %+v, %v", a, err)
		}
		if s, err := w.Session(w.t.Context(), cookie); err != nil || s == nil {
			w.t.Errorf("its session does not come back: %v", err)
		}
		if _, err := w.Disable(w.t.Context(), audit.Operator(), "nobody"); code(err) != "account_not_found" {
			w.t.Errorf("Disable(nobody) = %v", err)
		}
	})
}

func TestSessionsOfAPerson(t *testing.T) {
	inTime(t, func(w *world) {
		first, firstCookie := w.link()
		time.Sleep(time.Minute)
		second, secondCookie := w.link()
		list, err := w.Sessions(w.t.Context(), second)
		if err != nil || len(list) != 2 || list[0].PublicID != second.PublicID {
			w.t.Fatalf("Sessions = %v, %v", list, err)
		}
		if err := w.EndSession(
			w.t.Context(),
			audit.Operator(),
			second,
			"ses_nobody",
		); code(
			err,
		) != "session_not_found" {
			w.t.Errorf("an unknown one: %v", err)
		}
		if err := w.EndSession(w.t.Context(), audit.Operator(), second, first.PublicID); err != nil {
			w.t.Error(err)
		}
		if s, _ := w.Session(w.t.Context(), firstCookie); s != nil {
			w.t.Error("it goes on after its end")
		}
		_, third := w.link()
		if err := w.EndOtherSessions(w.t.Context(), audit.Operator(), second); err != nil {
			w.t.Error(err)
		}
		if s, _ := w.Session(w.t.Context(), third); s != nil {
			w.t.Error("another one goes on")
		}
		if s, _ := w.Session(w.t.Context(), secondCookie); s == nil {
			w.t.Error("the own one has ended, too")
		}
		if err := w.SignOut(w.t.Context(), audit.Operator(), second); err != nil {
			w.t.Error(err)
		}
		if s, _ := w.Session(w.t.Context(), secondCookie); s != nil {
			w.t.Error("it goes on after signing out")
		}
	})
}
