package platformstore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/clients"
	"ace/internal/storage/platformstore"
)

func TestOAuthClients(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		_, account, _ := newAccount(t, s, "demo", "")
		at := time.Now().UTC().Truncate(time.Millisecond)
		mine := &clients.Sealed{
			Client:     connection.Client{App: "gmail", AccountID: account.ID, ID: "one"},
			Ciphertext: "sealed", UpdatedAt: at,
		}
		other := &clients.Sealed{Client: connection.Client{
			App: "mcp", AccountID: account.ID, ID: "two",
			Issuer: "https://as.example",
		}, Ciphertext: "sealed", UpdatedAt: at}
		for _, c := range []*clients.Sealed{mine, other, mine} {
			if err := s.KeepClient(t.Context(), c,
				audit.New(account.ID, audit.System(), "oauth_client.set", c.App, nil)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.Client(t.Context(), account.ID, "gmail", "")
		if diff := cmp.Diff(mine, got); err != nil || diff != "" {
			t.Errorf("Client: %v (-want +got):\n%s", err, diff)
		}
		for _, wrong := range [][3]string{
			{"", "gmail", ""},
			{account.ID, "slack", ""},
			{account.ID, "gmail", "https://as.example"},
		} {
			if got, err := s.Client(t.Context(), wrong[0], wrong[1], wrong[2]); got != nil || err != nil {
				t.Errorf("Client(%v) = %v, %v, want none", wrong, got, err)
			}
		}
		if list, err := s.Clients(t.Context(), account.ID); err != nil || len(list) != 2 || list[0].App != "gmail" {
			t.Errorf("Clients = %v, %v", list, err)
		}
		for id, broken := range map[string]bool{"another": false, "one": true} {
			if err := s.BreakClient(t.Context(),
				&connection.Client{App: "gmail", AccountID: account.ID, ID: id}); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Client(t.Context(), account.ID, "gmail", ""); err != nil || id == "one" &&
				got.Broken != broken {
				t.Errorf("after breaking %s: %+v, %v", id, got, err)
			}
		}
		for _, want := range []bool{true, false} {
			if found, err := s.DeleteClient(t.Context(), account.ID, "gmail", "",
				audit.New(account.ID, audit.System(), "oauth_client.deleted", "gmail", nil)); found != want ||
				err != nil {
				t.Errorf("DeleteClient = %v, %v, want %v", found, err, want)
			}
		}
		if got := actions(entries(t, s, account.ID)); len(got) < 4 || got[len(got)-1] != "oauth_client.deleted" {
			t.Errorf("recorded %v", got)
		}
	})
}
