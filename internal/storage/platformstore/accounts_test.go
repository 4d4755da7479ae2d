package platformstore_test

import (
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
			if err := service.SetPassword(t.Context(), audit.Actor{}, session, short); !problem.Is(err,
				"invalid_password") {
				t.Errorf("SetPassword of %d bytes: %v", len(short), err)
			}
		}
		if err := service.SetPassword(t.Context(), audit.Actor{}, session, words); err != nil {
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

func TestGuessingIsBlocked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		service, a, _ := newAccount(t, s, "demo", "ann@acme.example")
		session, _ := signIn(t, service, a.ID)
		if err := service.SetPassword(t.Context(), audit.Actor{}, session, words); err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if _, _, err := service.SignIn(t.Context(), audit.Actor{}, "ann@acme.example", "wrong"); !problem.Is(err,
				"sign_in_refused") {
				t.Fatalf("guess %d: %v", i+1, err)
			}
		}
		_, _, err := service.SignIn(t.Context(), audit.Actor{}, "ann@acme.example", words)
		if p, _ := problem.From(err); p.Code != "sign_in_blocked" || p.RetryAfter <= 0 {
			t.Errorf("after ten guesses even the right password: %v", err)
		}
		if again, _ := signIn(t, service, a.ID); again.User.ID != session.User.ID {
			t.Error("a link no longer signs in")
		}
	})
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
