package kek_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ace/internal/foundation/seal/kek"
)

func TestReadFileMakesOneKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys", "master.key")
	var keys [8][]byte
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, err := kek.ReadFile(path, true)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, key := range keys {
		if len(key) != kek.Size || !bytes.Equal(key, keys[0]) {
			t.Fatal("processes that start together got different keys")
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v, want 0600", info.Mode(), err)
	}
}

func TestReadFileRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, n int, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct{ name, path, want string }{
		{"readable by others", write("open", kek.Size, 0o644), "chmod 600"},
		{"short", write("short", 5, 0o600), "32 bytes"},
		{"a folder", dir, "master key"},
		{"not there", filepath.Join(dir, "none"), "is not there"},
	}
	for _, tt := range tests {
		if _, err := kek.ReadFile(tt.path, false); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: ReadFile = %v, want text with %q", tt.name, err, tt.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("a key was made although none was asked for")
	}
}
