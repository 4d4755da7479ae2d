package platformstore_test

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/storage/platformstore"
)

var (
	anywhere   = netip.MustParseAddr("192.0.2.7")
	sameValues = cmp.Options{cmpopts.EquateComparable(netip.Prefix{})}
)

func TestKeyLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		_, a, u := newAccount(t, s, "demo", "")
		keys := apikey.New(s, box(t).MAC)
		by := audit.Actor{Kind: audit.ByUser, ID: u.ID}
		want := apikey.Settings{
			Name: "CI", Permissions: apikey.Read | apikey.Run, Approval: apikey.ApproveWrites,
			ExpiresAt: time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond),
			Restrict: apikey.Restrictions{
				Apps: []string{"notes"}, ReadOnlyTools: true,
				Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, EndUser: "u_1",
			},
		}
		made, secret, err := keys.Create(t.Context(), by, a.ID, want)
		if err != nil || made.CreatedBy != u.ID || made.Prefix != secret[:8] || made.Last4 != secret[36:] ||
			!apikey.WellFormed(secret) {
			t.Fatalf("Create = %+v, %q, %v", made, secret, err)
		}
		got, err := keys.Authenticate(t.Context(), secret, anywhere)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(made, got, sameValues); diff != "" {
			t.Errorf("key that was read (-made +read):\n%s", diff)
		}
		if _, err := keys.Authenticate(t.Context(), secret, netip.MustParseAddr("198.51.100.1")); !problem.Is(err,
			"ip_not_allowed") {
			t.Errorf("from another network: %v", err)
		}
		changed, err := keys.Update(t.Context(), by, a.ID, made.ID,
			apikey.Settings{Name: "CI 2", Permissions: apikey.Read})
		if err != nil || changed.Name != "CI 2" || !changed.ExpiresAt.IsZero() {
			t.Errorf("Update = %+v, %v", changed, err)
		}
		next, nextSecret, err := keys.Rotate(t.Context(), by, a.ID, made.ID, time.Hour)
		if err != nil || next.Name != "CI 2" || nextSecret == secret {
			t.Fatalf("Rotate = %+v, %v", next, err)
		}
		for _, both := range []string{secret, nextSecret} {
			if _, err := keys.Authenticate(t.Context(), both, anywhere); err != nil {
				t.Errorf("within the grace: %v", err)
			}
		}
		for range 2 { // revoking twice is as good as once
			if err := keys.Revoke(t.Context(), by, a.ID, made.ID); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := keys.Authenticate(t.Context(), secret, anywhere); !problem.Is(err, "key_revoked") {
			t.Errorf("after the revocation: %v", err)
		}
		if _, err := keys.Update(t.Context(), by, a.ID, made.ID, want); !problem.Is(err, "key_revoked") {
			t.Errorf("Update of a revoked key: %v", err)
		}
		if _, _, err := keys.Rotate(t.Context(), by, a.ID, made.ID, 0); !problem.Is(err, "key_revoked") {
			t.Errorf("Rotate of a revoked key: %v", err)
		}
		wantActions := []string{
			"account.created", "key.created", "key.changed", "key.created", "key.rotated",
			"key.revoked",
		}
		if diff := cmp.Diff(wantActions, actions(entries(t, s, a.ID))); diff != "" {
			t.Errorf("audit (-want +got):\n%s", diff)
		}
	})
}

// TestRotationGoesOn repeats a rotation that ended after its new key was made:
// there is no third key, and the old one ends as it was asked.
func TestRotationGoesOn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		_, a, u := newAccount(t, s, "demo", "")
		keys, by := apikey.New(s, box(t).MAC), audit.Actor{Kind: audit.ByUser, ID: u.ID}
		for _, grace := range []time.Duration{0, time.Hour} {
			old, _, err := keys.Create(t.Context(), by, a.ID, apikey.Settings{Name: "CI", Permissions: apikey.Read})
			if err != nil {
				t.Fatal(err)
			}
			next, _, err := keys.Create(t.Context(), by, a.ID,
				apikey.Settings{ID: apikey.NewID(), Name: "CI", Permissions: apikey.Read})
			if err != nil {
				t.Fatal(err)
			}
			before, err := keys.List(t.Context(), a.ID)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				got, secret, err := keys.RotateTo(t.Context(), by, a.ID, old.ID, next.ID, grace)
				if err != nil || got.ID != next.ID || secret != "" {
					t.Fatalf("RotateTo again, grace %v = %+v, %v, want the key that is there, without a secret", grace,
						got, err)
				}
			}
			ended, err := keys.Get(t.Context(), a.ID, old.ID)
			if err != nil || ended.RevokedAt.IsZero() != (grace > 0) || ended.ExpiresAt.IsZero() != (grace == 0) {
				t.Errorf("the old key, grace %v: %+v, %v", grace, ended, err)
			}
			if after, err := keys.List(t.Context(), a.ID); err != nil || len(after) != len(before) {
				t.Errorf("%d keys after, %d before, %v", len(after), len(before), err)
			}
		}
	})
}

func TestKeysOfAnotherAccount(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		_, mine, _ := newAccount(t, s, "mine", "")
		_, other, _ := newAccount(t, s, "other", "")
		keys := apikey.New(s, box(t).MAC)
		k, secret, err := keys.Create(t.Context(), audit.Operator(), mine.ID,
			apikey.Settings{Name: "a", Permissions: apikey.All})
		if err != nil {
			t.Fatal(err)
		}
		tests := map[string]func() error{
			"Get":    func() error { _, err := keys.Get(t.Context(), other.ID, k.ID); return err },
			"Revoke": func() error { return keys.Revoke(t.Context(), audit.Operator(), other.ID, k.ID) },
			"Update": func() error {
				_, err := keys.Update(t.Context(), audit.Operator(), other.ID, k.ID,
					apikey.Settings{Name: "b", Permissions: apikey.All})
				return err
			},
			"Rotate": func() error {
				_, _, err := keys.Rotate(t.Context(), audit.Operator(), other.ID, k.ID,
					0)
				return err
			},
		}
		for name, call := range tests {
			if err := call(); !problem.Is(err, "api_key_not_found") {
				t.Errorf("%s with another account: %v, want api_key_not_found", name, err)
			}
		}
		if list, err := keys.List(t.Context(), other.ID); err != nil || len(list) != 0 {
			t.Errorf("List of another account = %v, %v", list, err)
		}
		if _, err := keys.Authenticate(t.Context(), secret, anywhere); err != nil {
			t.Errorf("the key after all that: %v", err)
		}
	})
}

func TestAuthenticateRefuses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		_, a, _ := newAccount(t, s, "demo", "")
		keys := apikey.New(s, box(t).MAC)
		_, secret, err := keys.Create(t.Context(), audit.Operator(), a.ID,
			apikey.Settings{Name: "a", Permissions: apikey.All})
		if err != nil {
			t.Fatal(err)
		}
		other := apikey.New(s, func(label string, parts ...[]byte) string { return "another master key" })
		tests := []struct {
			name      string
			service   *apikey.Service
			presented string
			want      string
		}{
			{"nothing", keys, "", "missing_key"},
			{"a typo", keys, secret[:20] + "_" + secret[21:], "invalid_key"},
			{"cut off", keys, secret[:39], "invalid_key"},
			{"too long", keys, secret + "0", "invalid_key"},
			{"another kind of secret", keys, "sk_live_0123456789", "invalid_key"},
			{"another installation", other, secret, "invalid_key"},
		}
		for _, tt := range tests {
			if _, err := tt.service.Authenticate(t.Context(), tt.presented, anywhere); !problem.Is(err, tt.want) {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
			}
		}
	})
}

func TestLastUse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		_, a, _ := newAccount(t, s, "demo", "")
		keys := apikey.New(s, box(t).MAC)
		k, secret, err := keys.Create(t.Context(), audit.Operator(), a.ID,
			apikey.Settings{Name: "a", Permissions: apikey.All})
		if err != nil {
			t.Fatal(err)
		}
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				if _, err := keys.Authenticate(t.Context(), secret, anywhere); err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		if err := keys.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := keys.Get(t.Context(), a.ID, k.ID); err != nil || got.LastUsedAt.Before(k.CreatedAt) {
			t.Errorf("last use = %v, %v", got, err)
		}
		// A replica whose clock is behind does not move it back.
		if err := s.TouchKeys(t.Context(), map[string]time.Time{k.ID: k.CreatedAt.Add(-time.Hour)}); err != nil {
			t.Fatal(err)
		}
		if got, err := keys.Get(t.Context(), a.ID, k.ID); err != nil || got.LastUsedAt.Before(k.CreatedAt) {
			t.Errorf("last use after an old one = %v, %v", got, err)
		}
	})
}
