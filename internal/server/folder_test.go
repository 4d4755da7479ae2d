//go:build unix

package server

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/config"
)

// TestDataFolderIsPrivate holds that a server closes the data folder and its
// files to others, those that were there before and those that it makes.
func TestDataFolderIsPrivate(t *testing.T) {
	t.Parallel()
	h := newHostWith(t, Options{}, func(c *config.Settings) {
		if err := os.Chmod(c.DataDir, 0o755); err != nil { //nolint:gosec // the test is about it
			t.Fatal(err)
		}
		left := filepath.Join(c.DataDir, "left.txt")
		if err := os.WriteFile(left, []byte("secret"), 0o644); err != nil { //nolint:gosec // the test is about it
			t.Fatal(err)
		}
	})
	info, err := os.Stat(h.cfg.DataDir)
	if err != nil || info.Mode().Perm() != privateFolder {
		t.Errorf("the data folder = %v, %v, want mode 0700", info.Mode(), err)
	}
	info, err = os.Stat(filepath.Join(h.cfg.DataDir, "left.txt"))
	if err != nil || info.Mode().Perm() != privateFile {
		t.Errorf("a file that was open = %v, %v, want mode 0600", info.Mode(), err)
	}
}

// TestDataFolderOfOthers holds that a folder which cannot be made private is
// refused with what to do.
func TestDataFolderOfOthers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "no-folder")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := New(t.Context(), &config.Settings{DataDir: filepath.Join(file, "data")}, slog.New(slog.DiscardHandler),
		Options{})
	if err == nil || !strings.Contains(err.Error(), "ACE_DATA_DIR") {
		t.Errorf("New in a folder below a file = %v, want an error that names the setting", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("the superuser may use every folder")
	}
	if err := makePrivate("/"); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("makePrivate of somebody else's folder = %v, want a refusal", err)
	}
}
