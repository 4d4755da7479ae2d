//go:build unix

package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Modes of the data folder and its files.
const (
	privateFolder = 0o700
	privateFile   = 0o600
	others        = 0o077
)

// makePrivate closes the data folder and what is in it to other users of the
// machine: it holds keys, the database and the operators' socket. A folder that is
// not there stays so. What cannot be closed, since somebody else owns it, is an
// error that says what to do.
func makePrivate(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is created private when it is needed
	}
	if err != nil {
		return fmt.Errorf("reading ACE_DATA_DIR: %w", err)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() && os.Geteuid() != 0 {
		return fmt.Errorf("ACE_DATA_DIR %s belongs to another user: chown it to the user that runs ace", dir)
	}
	if info.Mode().Perm()&others != 0 {
		if err := os.Chmod(dir, privateFolder); err != nil {
			return fmt.Errorf("ACE_DATA_DIR %s is open to other users of this machine (%04o): chmod 700 it: %w", dir,
				info.Mode().Perm(), err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading ACE_DATA_DIR: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // the database removes its own
		}
		if err != nil {
			return fmt.Errorf("reading ACE_DATA_DIR: %w", err)
		}
		if !info.Mode().IsRegular() || info.Mode().Perm()&others == 0 {
			continue
		}
		if err := os.Chmod(path, info.Mode().Perm()&privateFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is open to other users of this machine (%04o): chmod 600 it: %w", path,
				info.Mode().Perm(), err)
		}
	}
	return nil
}
