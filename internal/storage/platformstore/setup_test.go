package platformstore_test

import (
	"testing"

	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/account"
	"ace/internal/platform/audit"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"

	"ace/internal/foundation/password"
)

// each runs a test on a fresh database of each engine.
func each(t *testing.T, test func(t *testing.T, s *platformstore.Store)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := sqldb.Open(t.Context(), address(t), &sqldb.Options{MaxConns: 8})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := db.Close(); err != nil {
					t.Errorf("closing: %v", err)
				}
			})
			if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
				t.Fatal(err)
			}
			test(t, platformstore.New(db, nil))
		})
	}
}

func box(t testing.TB) *seal.Sealer {
	t.Helper()
	b, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// newAccount creates an account and returns it with the service behind it.
func newAccount(t *testing.T, s *platformstore.Store, name, email string) (*account.Service, *account.Account,
	*account.User,
) {
	t.Helper()
	service := account.New(s, password.New(), box(t).MAC)
	a, u, err := service.Create(t.Context(), audit.Operator(), name, email)
	if err != nil {
		t.Fatal(err)
	}
	return service, a, u
}

// entries are the audit entries of an account, oldest first, and sound.
func entries(t *testing.T, s *platformstore.Store, accountID string) []audit.Entry {
	t.Helper()
	found, err := s.AuditEntries(t.Context(), accountID, audit.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i, j := 0, len(found)-1; i < j; i, j = i+1, j-1 {
		found[i], found[j] = found[j], found[i]
	}
	if broken, err := audit.Verify(found); err != nil || broken != 0 {
		t.Errorf("the chain of %s breaks at %d (%v)", accountID, broken, err)
	}
	return found
}

func actions(entries []audit.Entry) []string {
	var list []string
	for _, e := range entries {
		list = append(list, e.Action)
	}
	return list
}
