package kek_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"ace/internal/foundation/seal/kek"
)

// TestCredentialOfSystemd holds that a credential which systemd passes on with an
// access list is a key, and that the same permissions are refused elsewhere.
func TestCredentialOfSystemd(t *testing.T) {
	credentials, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", credentials)
	tests := []struct {
		dir  string
		mode os.FileMode
		want bool
	}{
		{credentials, 0o440, true},
		{credentials, 0o400, true},
		{credentials, 0o444, false},
		{credentials, 0o460, false},
		{elsewhere, 0o440, false},
		{elsewhere, 0o400, true},
	}
	for _, tt := range tests {
		path := filepath.Join(tt.dir, tt.mode.String())
		if err := os.WriteFile(path, bytes.Repeat([]byte{1}, kek.Size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := kek.ReadFile(path, false); (err == nil) != tt.want {
			t.Errorf("a key with mode %o in the credentials %v = %v", tt.mode, tt.dir == credentials, err)
		}
	}
}
