package platformstore_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/platform/account"
	"ace/internal/platform/audit"
	"ace/internal/storage/platformstore"
)

const words = "seven copper kettles sing"

// signIn signs the owner of an account in by a link.
func signIn(t *testing.T, service *account.Service, accountID string) (*account.Session, string) {
	t.Helper()
	link, _, err := service.Link(t.Context(), audit.Operator(), accountID)
	if err != nil {
		t.Fatal(err)
	}
	session, secret, err := service.Redeem(t.Context(), audit.Actor{IP: "192.0.2.7"}, link)
	if err != nil {
		t.Fatal(err)
	}
	return session, secret
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		service, demo, _ := newAccount(t, s, "demo", "ann@acme.example")
		tests := []struct{ name, email, want string }{
			{"demo", "", "account_exists"},
			{"other", "ANN@acme.example ", "account_exists"},
			{"Upper", "", "invalid_account_name"},
			{"", "", "invalid_account_name"},
			{strings.Repeat("a", 41), "", "invalid_account_name"},
			{"mail", "not an address", "invalid_email"},
			{"mail", "Ann <ann@acme.example>", "invalid_email"},
		}
		for _, tt := range tests {
			if _, _, err := service.Create(t.Context(), audit.Operator(), tt.name, tt.email); !problem.Is(err,
				tt.want) {
				t.Errorf("Create(%q, %q) = %v, want %s", tt.name, tt.email, err, tt.want)
			}
		}
		if _, _, err := service.Create(t.Context(), audit.Operator(), "beta", ""); err != nil {
			t.Errorf("a second account without e-mail: %v", err)
		}
		all, err := service.List(t.Context())
		if err != nil || len(all) != 2 || all[0].Name != "beta" || all[1].ID != demo.ID {
			t.Errorf("List = %v, %v", all, err)
		}
		if got, err := service.ByName(t.Context(), "demo"); err != nil || got.ID != demo.ID {
			t.Errorf("ByName = %v, %v", got, err)
		}
		if got, err := service.ByID(t.Context(), demo.ID); err != nil || got.Name != "demo" {
			t.Errorf("ByID = %v, %v", got, err)
		}
		if _, err := service.ByName(t.Context(), "nobody"); !problem.Is(err, "account_not_found") {
			t.Errorf("ByName(nobody) = %v", err)
		}
	})
}

func TestLinkSignsInOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		service, a, owner := newAccount(t, s, "demo", "")
		link, _, err := service.Link(t.Context(), audit.Operator(), a.ID)
		if err != nil {
			t.Fatal(err)
		}
		var in atomic.Int64
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				session, secret, err := service.Redeem(t.Context(), audit.Actor{}, link)
				if problem.Is(err, "link_invalid") {
					return
				}
				if err != nil || session.User.ID != owner.ID || session.Account.ID != a.ID {
					t.Errorf("Redeem = %+v, %v", session, err)
					return
				}
				in.Add(1)
				if again, err := service.Session(t.Context(), secret); err != nil || again == nil ||
					again.Token != session.Token {
					t.Errorf("Session = %+v, %v", again, err)
				}
			})
		}
		callers.Wait()
		if in.Load() != 1 {
			t.Errorf("one link signed in %d times", in.Load())
		}
		if _, _, err := service.Redeem(t.Context(), audit.Actor{}, "made up"); !problem.Is(err, "link_invalid") {
			t.Errorf("a link that was made up: %v", err)
		}
	})
}

func TestPassword(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		service, a, _ := newAccount(t, s, "demo", "ann@acme.example")
		if _, _, err := service.SignIn(t.Context(), audit.Actor{}, "ann@acme.example", ""); !problem.Is(err,
			"sign_in_refused") {
			t.Errorf("without a password set: %v", err)
		}
		session, secret := signIn(t, service, a.ID)
		elsewhere, elsewhereSecret := signIn(t, service, a.ID)
		for _, short := range []string{"", "short", strings.Repeat("x", 257)} {
			if err := service.SetPassword(t.Context(), audit.Actor{}, session, "", short); !problem.Is(err,
				"invalid_password") {
				t.Errorf("SetPassword of %d bytes: %v", len(short), err)
			}
		}
		if err := service.SetPassword(t.Context(), audit.Actor{}, session, "", words); err != nil {
			t.Fatal(err)
		}
		if kept, err := service.Session(t.Context(), secret); err != nil || kept == nil || !kept.User.HasPassword {
			t.Errorf("the session that set the password: %+v, %v", kept, err)
		}
		if gone, err := service.Session(t.Context(), elsewhereSecret); err != nil || gone != nil {
			t.Errorf("session %s elsewhere lives on: %v", elsewhere.ID, err)
		}
		for _, name := range []string{" Ann@ACME.example", "demo", "Demo "} {
			if got, _, err := service.SignIn(t.Context(), audit.Actor{}, name, words); err != nil ||
				got.Account.ID != a.ID {
				t.Errorf("SignIn(%q) = %+v, %v", name, got, err)
			}
		}
		for _, wrong := range [][2]string{
			{"ann@acme.example", "wrong"},
			{"bob@acme.example", words},
			{"beta", words},
			{"demo@", words},
			{"", words},
			{"ann@acme.example", strings.Repeat("x", 1<<20)},
		} {
			if _, _, err := service.SignIn(t.Context(), audit.Actor{}, wrong[0], wrong[1]); !problem.Is(err,
				"sign_in_refused") {
				t.Errorf("SignIn(%q) with a wrong pair: %v", wrong[0], err)
			}
		}
		if err := service.SignOut(t.Context(), audit.Actor{}, session); err != nil {
			t.Fatal(err)
		}
		if gone, err := service.Session(t.Context(), secret); err != nil || gone != nil {
			t.Errorf("after signing out: %+v, %v", gone, err)
		}
		entries(t, s, a.ID)
	})
}

// guess signs in from a network and returns the code of the problem.
func guess(t *testing.T, service *account.Service, name, password, from string) string {
	t.Helper()
	_, _, err := service.SignIn(t.Context(), audit.Actor{IP: from}, name, password)
	p, ok := problem.From(err)
	if err != nil && !ok {
		t.Error(err)
		return "internal"
	}
	if err == nil {
		return ""
	}
	if p.Code == "sign_in_blocked" && p.RetryAfter <= 0 {
		t.Errorf("SignIn(%q) is blocked without a time", name)
	}
	return p.Code
}

// TestParallelGuesses holds that of many guesses at once no more are looked at
// than of guesses one after the other: those that are looked at are refused, the
// others blocked. A name that nobody has is no different.
func TestParallelGuesses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		service, a, _ := newAccount(t, s, "demo", "ann@acme.example")
		session, _ := signIn(t, service, a.ID)
		if err := service.SetPassword(t.Context(), audit.Actor{}, session, "", words); err != nil {
			t.Fatal(err)
		}
		for _, names := range [][]string{{"ann@acme.example", "demo"}, {"nobody@acme.example"}} {
			var looked, blocked atomic.Int64
			var callers sync.WaitGroup
			for n := range 50 {
				callers.Go(func() {
					from := fmt.Sprintf("198.51.100.%d", n)
					switch code := guess(t, service, names[n%len(names)], "wrong", from); code {
					case "sign_in_refused":
						looked.Add(1)
					case "sign_in_blocked":
						blocked.Add(1)
					default:
						t.Errorf("a guess at %s: %q", names, code)
					}
				})
			}
			callers.Wait()
			if looked.Load() != 10 || blocked.Load() != 40 {
				t.Errorf("of 50 guesses at %s %d were looked at and %d blocked, want 10 and 40", names, looked.Load(),
					blocked.Load())
			}
			if code := guess(t, service, names[0], words, "203.0.113.1"); code != "sign_in_blocked" {
				t.Errorf("after ten guesses even the right password: %q", code)
			}
		}
		if again, _ := signIn(t, service, a.ID); again.User.ID != session.User.ID {
			t.Error("a link no longer signs in")
		}
		failed, locked := 0, 0
		for _, e := range entries(t, s, a.ID) {
			switch e.Action {
			case "sign_in.failed":
				failed++
			case "sign_in.blocked":
				locked++
			}
		}
		if failed != 10 || locked != 1 {
			t.Errorf("the audit log has %d failures and %d locks, want 10 and 1", failed, locked)
		}
	})
}

// TestOneNetworkDoesNotLock holds that guesses from one network are slowed down
// before they lock the user out, for users and for names that nobody has, and
// that its neighbors and the other networks are not.
func TestOneNetworkDoesNotLock(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		service, a, _ := newAccount(t, s, "demo", "ann@acme.example")
		session, _ := signIn(t, service, a.ID)
		if err := service.SetPassword(t.Context(), audit.Actor{}, session, "", words); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"ann@acme.example", "nobody@acme.example"} {
			looked := 0
			for n := range 20 {
				switch code := guess(t, service, name, "wrong", fmt.Sprintf("2001:db8:1:1::%x", n)); {
				case code == "sign_in_refused":
					looked++
				case code != "sign_in_blocked" || n < 3:
					t.Errorf("guess %d at %s: %q", n+1, name, code)
				}
			}
			if looked > 8 { // however slow: the eighth waits for a quarter of an hour
				t.Errorf("%d guesses at %s from one network were looked at, want 8 at most", looked, name)
			}
		}
		if code := guess(t, service, "ann@acme.example", words, "2001:db8:1:2::1"); code != "" {
			t.Errorf("the user from another network: %q", code)
		}
	})
}

// TestPasswordNeedsProof holds that a browser that was left open cannot change
// the password: the one so far is needed, or a sign-in by a fresh link.
func TestPasswordNeedsProof(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		service, a, _ := newAccount(t, s, "demo", "ann@acme.example")
		fresh, _ := signIn(t, service, a.ID)
		stale := *fresh
		stale.CreatedAt = stale.CreatedAt.Add(-account.LinkLifetime)
		const next = "eight copper kettles sing"
		for _, tt := range []struct {
			name     string
			session  *account.Session
			old, new string
			want     string
		}{
			{"an older sign-in, no password yet", &stale, "", words, "fresh_sign_in_required"},
			{"a known password", fresh, "", "Password2024!", "invalid_password"},
			{"the name of the account", fresh, "", "ann@acme.example", "invalid_password"},
			{"a fresh link", fresh, "", words, ""},
		} {
			if err := service.SetPassword(
				t.Context(),
				audit.Actor{},
				tt.session,
				tt.old,
				tt.new,
			); code(
				err,
			) != tt.want {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			}
		}
		session, _, err := service.SignIn(t.Context(), audit.Actor{}, "demo", words)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct{ name, old, new, want string }{
			{"without the password so far", "", next, "password_wrong"},
			{"with another", next, next, "password_wrong"},
			{"with the password so far", words, next, ""},
		} {
			err := service.SetPassword(t.Context(), audit.Actor{IP: "192.0.2.1"}, session, tt.old, tt.new)
			if code(err) != tt.want {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			}
		}
		if code := guess(t, service, "demo", next, "192.0.2.1"); code != "" {
			t.Errorf("signing in with the new password: %q", code)
		}
	})
}

// TestSessionsEnd holds that people see where they are signed in and end it, and
// that nobody ends the sign-ins of others.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		service, a, _ := newAccount(t, s, "demo", "ann@acme.example")
		other, _, err := service.Create(t.Context(), audit.Operator(), "beta", "")
		if err != nil {
			t.Fatal(err)
		}
		stranger, _ := signIn(t, service, other.ID)
		here, hereSecret := signIn(t, service, a.ID)
		_, thereSecret := signIn(t, service, a.ID)
		_, thirdSecret := signIn(t, service, a.ID)
		all, err := service.Sessions(t.Context(), here)
		if err != nil || len(all) != 3 {
			t.Fatalf("Sessions = %d, %v, want 3", len(all), err)
		}
		there, err := service.Session(t.Context(), thereSecret)
		if err != nil || there.Method != account.ByLink || there.Address != "192.0.2.7" {
			t.Fatalf("a session = %+v, %v", there, err)
		}
		if err := service.EndSession(
			t.Context(),
			audit.Actor{},
			stranger,
			there.PublicID,
		); code(
			err,
		) != "session_not_found" {
			t.Errorf("a stranger ends a session: %v", err)
		}
		if err := service.EndSession(t.Context(), audit.Actor{}, here, there.PublicID); err != nil {
			t.Error(err)
		}
		if gone, err := service.Session(t.Context(), thereSecret); err != nil || gone != nil {
			t.Errorf("a session that was ended = %+v, %v", gone, err)
		}
		if err := service.EndOtherSessions(t.Context(), audit.Actor{}, here); err != nil {
			t.Error(err)
		}
		for secret, lives := range map[string]bool{hereSecret: true, thirdSecret: false} {
			if got, err := service.Session(t.Context(), secret); err != nil || (got != nil) != lives {
				t.Errorf("after ending the others a session = %+v, %v, want it to live: %v", got, err, lives)
			}
		}
		if all, err := service.Sessions(t.Context(), stranger); err != nil || len(all) != 1 {
			t.Errorf("the stranger's sessions = %d, %v, want 1", len(all), err)
		}
	})
}

// code is the code of a problem, "" without one.
func code(err error) string {
	if p, ok := problem.From(err); ok {
		return p.Code
	}
	return ""
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		service, a, _ := newAccount(t, s, "demo", "ann@acme.example")
		const issuer = "https://id.example"
		tests := []struct{ name, subject, email, want string }{
			{"nobody", "7", "bob@acme.example", "user_unknown"},
			{"an address that is not verified", "1", "", "user_unknown"},
			{"linked by the address", "1", "ann@acme.example", ""},
			{"known from then on", "1", "", ""},
			{"the same address, another identity", "2", "ann@acme.example", "user_unknown"},
		}
		for _, tt := range tests {
			session, _, err := service.SignInIdentity(t.Context(), audit.Actor{}, issuer, tt.subject, tt.email)
			if tt.want != "" && !problem.Is(err, tt.want) || tt.want == "" &&
				(err != nil || session.Account.ID != a.ID) {
				t.Errorf("%s: %+v, %v, want %q", tt.name, session, err, tt.want)
			}
		}
	})
}
