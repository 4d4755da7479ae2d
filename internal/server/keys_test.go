package server

import (
	"bytes"
	"strings"
	"testing"

	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage"
)

// TestSigners finds the same keys at every start, and none with another master
// key.
func TestSigners(t *testing.T) {
	t.Parallel()
	db, err := sqldb.Open(t.Context(), sqldbtest.SQLite(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	store := storage.New(db, nil)
	start := func(master byte) ([]string, error) {
		box, err := seal.New(bytes.Repeat([]byte{master}, seal.KeySize))
		if err != nil {
			t.Fatal(err)
		}
		signers, err := (&Server{sealer: box}).signers(t.Context(), store)
		if err != nil {
			return nil, err
		}
		var keys []string
		for _, signer := range signers {
			keys = append(keys, signer.Alg()+" "+signer.JWK().KID)
		}
		return keys, nil
	}
	first, err := start(1)
	if err != nil || len(first) != 2 || !strings.HasPrefix(first[0], "ecdsa-p256-sha256 ") ||
		!strings.HasPrefix(first[1], "ed25519 ") {
		t.Fatalf("first start: %v, %v", first, err)
	}
	second, err := start(1)
	if err != nil || strings.Join(second, " ") != strings.Join(first, " ") {
		t.Errorf("second start: %v, %v, want %v", second, err, first)
	}
	if keys, err := start(2); err == nil {
		t.Errorf("with another master key: %v, want an error", keys)
	}
}
