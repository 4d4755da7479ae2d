//go:build !unix

package sqldb

// lockFile has no portable lock to take here; SQLite's own locking still
// keeps the file whole.
func lockFile(string) (unlock func() error, err error) {
	return func() error { return nil }, nil
}
