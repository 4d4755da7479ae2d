//go:build !unix

package server

// lockFolder has no portable lock to take. Without one, two processes that
// start in the same moment in one folder may both replace a stale socket.
func lockFolder(string) (unlock func() error, err error) { return func() error { return nil }, nil }
