package kek

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadFile reads Size secret bytes from the file at path. It refuses a file that
// others may read, and returns ErrNoKey where there is none: with make, it makes
// the file with random bytes and mode 0600 instead.
func ReadFile(path string, make bool) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if !make {
			return nil, fmt.Errorf("the master key %s %w", path, ErrNoKey)
		}
		if err := create(path); err != nil {
			return nil, err
		}
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the master key: %w", err)
	}
	if info.Mode().Perm()&forbidden(path) != 0 {
		return nil, fmt.Errorf("the master key %s can be read by others: run chmod 600 on it", path)
	}
	master, err := os.ReadFile(path) //nolint:gosec // the operator says where the key is
	if err != nil {
		return nil, fmt.Errorf("reading the master key: %w", err)
	}
	if len(master) != Size {
		return nil, fmt.Errorf("a master key has %d bytes, the one in %s has %d", Size, path, len(master))
	}
	return master, nil
}

// forbidden returns the permissions that the file at path must not have. Files
// in the credentials folder of systemd are readable for a group that is empty: it
// is the mask of the access list that lets the service's user read them.
func forbidden(path string) fs.FileMode {
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); dir != "" && filepath.Dir(path) == filepath.Clean(dir) {
		return 0o037
	}
	return 0o077
}

// create creates the key file whole or not at all, and leaves the file of a
// process that was faster.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the folder of the master key: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".master-*")
	if err != nil {
		return fmt.Errorf("making the master key: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	key := make([]byte, Size)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	_, err = f.Write(key)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("writing the master key: %w", err)
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("keeping the master key: %w", err)
	}
	return nil
}
