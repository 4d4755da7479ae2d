package platformstore_test

import (
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/authserver"
	"ace/internal/storage/platformstore"
)

const (
	mcpResource = "https://platform.example/mcp"
	verifier    = "0123456789012345678901234567890123456789012345"
	clientID    = "https://app.example/client"
)

// mcpSignIn is an authorization server and the account of the person who signs in.
type mcpSignIn struct {
	*authserver.Service
	keys    *apikey.Service
	account *account.Account
	by      audit.Actor
	store   *platformstore.Store
}

func newMCPSignIn(t *testing.T, s *platformstore.Store) *mcpSignIn {
	t.Helper()
	_, a, u := newAccount(t, s, "demo", "")
	keys := apikey.New(s, box(t).MAC)
	return &mcpSignIn{
		authserver.New(platformstore.Grants{Store: s}, keys, nil, box(t), mcpResource), keys, a,
		audit.Actor{Kind: audit.ByUser, ID: u.ID, Name: u.Name},
		s,
	}
}

// code approves a request and returns the code of it.
func (s *mcpSignIn) code(t *testing.T, choice authserver.Choice) string {
	t.Helper()
	sum := sha256.Sum256([]byte(verifier))
	code, err := s.Approve(t.Context(), &authserver.Request{
		ClientID: clientID, ClientName: "App", Publisher: "app.example", RedirectURI: "https://app.example/cb",
		Challenge: base64.RawURLEncoding.EncodeToString(sum[:]),
	}, s.account.ID, s.by, choice)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func exchangeOf(code string) authserver.Code {
	return authserver.Code{
		ClientID:    clientID,
		Code:        code,
		Verifier:    verifier,
		RedirectURI: "https://app.example/cb",
		Resource:    mcpResource,
	}
}

func (s *mcpSignIn) tokens(t *testing.T) *authserver.Tokens {
	t.Helper()
	tokens, err := s.Exchange(t.Context(), exchangeOf(s.code(t, authserver.Choice{Permissions: apikey.All})), "")
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func (s *mcpSignIn) refresh(t *testing.T, token string) (*authserver.Tokens, error) {
	t.Helper()
	return s.Refresh(t.Context(), authserver.Renewal{ClientID: clientID, Refresh: token}, "192.0.2.1")
}

// works reports whether an access token opens anything.
func (s *mcpSignIn) works(t *testing.T, access string) bool {
	t.Helper()
	_, err := s.keys.Authenticate(t.Context(), access, anywhere)
	if p, ok := problem.From(err); err != nil && (!ok || p.Kind != problem.Unauthenticated) {
		t.Fatal(err)
	}
	return err == nil
}

// TestGrantLife takes a grant from the code over two refreshes to its end.
func TestGrantLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, store *platformstore.Store) {
		s := newMCPSignIn(t, store)
		code := s.code(t, authserver.Choice{
			Permissions: apikey.Read | apikey.Run, Approval: apikey.ApproveWrites, Days: 30,
		})
		first, err := s.Exchange(t.Context(), exchangeOf(code), "192.0.2.9")
		if err != nil || first.Scope != "read run" || first.ExpiresIn != time.Hour {
			t.Fatalf("Exchange = %+v, %v", first, err)
		}
		key, err := s.keys.Authenticate(t.Context(), first.Access, anywhere)
		if err != nil || key.Client == nil || key.Client.Host != "app.example" || key.Client.Audience != mcpResource ||
			key.Name != "App" || key.Approval != apikey.ApproveWrites || key.CreatedBy != s.by.ID ||
			time.Until(key.ExpiresAt) < 29*24*time.Hour {
			t.Fatalf("the key is %+v, %v", key, err)
		}
		second, err := s.refresh(t, first.Refresh)
		if err != nil || second.Access == first.Access || second.Refresh == first.Refresh {
			t.Fatalf("Refresh = %+v, %v", second, err)
		}
		if s.works(t, first.Access) || !s.works(t, second.Access) {
			t.Error("after the refresh the older access token works, or the newer does not")
		}
		// The answer was lost, or another process of the client was slower.
		again, err := s.refresh(t, first.Refresh)
		if err != nil || again.Access != second.Access || again.Refresh != second.Refresh {
			t.Fatalf("the same refresh again = %+v, %v, want the same tokens", again, err)
		}
		third, err := s.refresh(t, second.Refresh)
		if err != nil {
			t.Fatal(err)
		}
		if all, err := s.keys.List(t.Context(), s.account.ID); err != nil || len(all) != 1 || all[0].ID != key.ID {
			t.Errorf("keys of one grant: %+v, %v, want one", all, err)
		}
		// The successor of the first was used: the caller has stolen the first, or was
		// stolen from.
		if _, err := s.refresh(t, first.Refresh); !problem.Is(err, "invalid_grant") {
			t.Errorf("a refresh token from before = %v, want invalid_grant", err)
		}
		if _, err := s.refresh(t, third.Refresh); !problem.Is(err, "invalid_grant") || s.works(t, third.Access) {
			t.Errorf("the grant goes on after a refresh token was used twice: %v", err)
		}
		want := []string{"account.created", "key.created", "key.revoked"}
		log := entries(t, s.store, s.account.ID)
		if got := actions(log); len(got) != 3 || got[1] != want[1] || got[2] != want[2] ||
			log[2].Detail["reason"] != "refresh token used twice" || log[1].Actor.ID != s.by.ID {
			t.Errorf("audit = %+v, want %v", log, want)
		}
	})
}

// TestCodes: a code works once, for its client, its redirect URI and its verifier.
func TestCodes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, store *platformstore.Store) {
		s := newMCPSignIn(t, store)
		for name, change := range map[string]func(*authserver.Code){
			"another client":       func(c *authserver.Code) { c.ClientID = "https://evil.example/client" },
			"another redirect URI": func(c *authserver.Code) { c.RedirectURI = "https://evil.example/cb" },
			"another verifier":     func(c *authserver.Code) { c.Verifier += "x" },
			"another code":         func(c *authserver.Code) { c.Code += "x" },
			"the challenge itself": func(c *authserver.Code) { c.Verifier = "plain" },
		} {
			in := exchangeOf(s.code(t, authserver.Choice{Permissions: apikey.Read}))
			right := in
			change(&in)
			if got, err := s.Exchange(t.Context(), in, ""); !problem.Is(err, "invalid_grant") {
				t.Errorf("%s: %+v, %v, want invalid_grant", name, got, err)
			}
			if name == "another code" {
				continue
			}
			if got, err := s.Exchange(t.Context(), right, ""); !problem.Is(err, "invalid_grant") {
				t.Errorf("after %s, the code still works: %+v, %v", name, got, err)
			}
		}
		in := exchangeOf(s.code(t, authserver.Choice{Permissions: apikey.Read}))
		other := in
		other.Resource = "https://platform.example/api"
		if _, err := s.Exchange(t.Context(), other, ""); !problem.Is(err, "invalid_target") {
			t.Errorf("another resource: %v, want invalid_target", err)
		}
		tokens, err := s.Exchange(t.Context(), in, "")
		if err != nil || !s.works(t, tokens.Access) {
			t.Fatalf("Exchange = %v, %v", tokens, err)
		}
		if _, err := s.Exchange(t.Context(), in, ""); !problem.Is(err, "invalid_grant") || s.works(t, tokens.Access) {
			t.Errorf("a code that is used twice: %v, want invalid_grant and the end of what it became", err)
		}
		for _, choice := range []authserver.Choice{
			{}, {Permissions: 64}, {Permissions: apikey.Read, Approval: "all"}, {Permissions: apikey.Read, Days: -1},
		} {
			if _, err := s.Approve(t.Context(), &authserver.Request{ClientName: "App"}, s.account.ID, s.by,
				choice); problemKind(err) != problem.Invalid {
				t.Errorf("Approve(%+v) = %v, want a problem of the form", choice, err)
			}
		}
	})
}

func problemKind(err error) problem.Kind {
	if p, ok := problem.From(err); ok {
		return p.Kind
	}
	return problem.Internal
}

// TestGrantEndsWithItsKey: what revokes a key ends the refresh token, too, and the
// other way round.
func TestGrantEndsWithItsKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, store *platformstore.Store) {
		s := newMCPSignIn(t, store)
		tokens := s.tokens(t)
		key, err := s.keys.Authenticate(t.Context(), tokens.Access, anywhere)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.keys.Rotate(t.Context(), s.by, s.account.ID, key.ID, 0); !problem.Is(err, "key_of_client") {
			t.Errorf("Rotate = %v, want key_of_client", err)
		}
		for name, in := range map[string]authserver.Renewal{
			"another client":  {ClientID: "other", Refresh: tokens.Refresh},
			"a made-up tag":   {ClientID: clientID, Refresh: tokens.Refresh[:len(tokens.Refresh)-2] + "zz"},
			"an access token": {ClientID: clientID, Refresh: tokens.Access},
		} {
			if _, err := s.Refresh(t.Context(), in, ""); !problem.Is(err, "invalid_grant") {
				t.Errorf("%s: %v, want invalid_grant", name, err)
			}
		}
		if !s.works(t, tokens.Access) {
			t.Fatal("a foreign or made-up refresh token has ended the grant")
		}
		if err := s.keys.Revoke(t.Context(), s.by, s.account.ID, key.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.refresh(t, tokens.Refresh); !problem.Is(err, "invalid_grant") || s.works(t, tokens.Access) {
			t.Errorf("after the key was revoked: %v, want invalid_grant", err)
		}
		for _, pick := range []func(*authserver.Tokens) string{
			func(t *authserver.Tokens) string { return t.Access },
			func(t *authserver.Tokens) string { return t.Refresh },
		} {
			tokens := s.tokens(t)
			if err := s.Revoke(t.Context(), "other", pick(tokens), ""); !problem.Is(err, "invalid_grant") ||
				!s.works(t, tokens.Access) {
				t.Errorf("Revoke by another client = %v, want invalid_grant and no effect", err)
			}
			for range 2 { // revoking twice is as good as once
				if err := s.Revoke(t.Context(), clientID, pick(tokens), ""); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.refresh(t, tokens.Refresh); !problem.Is(err, "invalid_grant") || s.works(t, tokens.Access) {
				t.Errorf("after Revoke: %v, want invalid_grant", err)
			}
		}
		_, secret, err := s.keys.Create(t.Context(), s.by, s.account.ID,
			apikey.Settings{Name: "CI", Permissions: apikey.Read})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Revoke(t.Context(), clientID, secret, ""); err != nil || !s.works(t, secret) {
			t.Errorf("Revoke of an API key = %v, want no effect", err)
		}
	})
}

// TestRefreshRace lets two replicas refresh with one token at the same moment: both
// get the same tokens, which work, and the grant goes on.
func TestRefreshRace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, store *platformstore.Store) {
		s := newMCPSignIn(t, store)
		tokens := s.tokens(t)
		for range 3 {
			results := make([]*authserver.Tokens, 2)
			start := make(chan struct{})
			var both sync.WaitGroup
			for i := range results {
				replica := authserver.New(
					platformstore.Grants{Store: store},
					apikey.New(store, box(t).MAC),
					nil,
					box(t),
					mcpResource,
				)
				both.Go(func() {
					<-start
					var err error
					results[i], err = replica.Refresh(t.Context(),
						authserver.Renewal{ClientID: clientID, Refresh: tokens.Refresh}, "")
					if err != nil {
						t.Errorf("replica %d: %v", i, err)
					}
				})
			}
			close(start)
			both.Wait()
			if t.Failed() {
				return
			}
			if results[0].Access != results[1].Access || results[0].Refresh != results[1].Refresh {
				t.Fatal("two replicas gave different tokens for one refresh token")
			}
			tokens = results[0]
			if !s.works(t, tokens.Access) {
				t.Fatal("the access token of a race does not work")
			}
		}
	})
}

// TestCodeRace presents one code twice at the same moment: at most one caller gets
// tokens, and what it got does not work.
func TestCodeRace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, store *platformstore.Store) {
		s := newMCPSignIn(t, store)
		in := exchangeOf(s.code(t, authserver.Choice{Permissions: apikey.Read}))
		results := make([]*authserver.Tokens, 2)
		var both sync.WaitGroup
		for i := range results {
			both.Go(func() {
				var err error
				if results[i], err = s.Exchange(t.Context(), in, ""); err != nil && !problem.Is(err, "invalid_grant") {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if results[0] != nil && results[1] != nil {
			t.Error("one code became two grants")
		}
		for _, tokens := range results {
			if tokens != nil && s.works(t, tokens.Access) {
				t.Error("the grant of a code that was presented twice goes on")
			}
		}
	})
}
