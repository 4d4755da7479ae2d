package schema_test

import (
	"path/filepath"
	"testing"

	"ace/internal/foundation/sqldb"
	"ace/internal/sandbox/schema"
)

func TestApply(t *testing.T) {
	t.Parallel()
	db, err := sqldb.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "sandbox.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for range 2 { // each part of the sandbox applies it
		if err := schema.Apply(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{
		"objects", "deliveries", "x402_accounts", "x402_transfers", "notes_grant",
		"notes_note",
	} {
		if _, err := db.Reader().ExecContext(t.Context(), "SELECT 1 FROM "+table+" LIMIT 1"); err != nil {
			t.Errorf("reading %s: %v", table, err)
		}
	}
}
