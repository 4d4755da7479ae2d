//go:build unix

package main

import "syscall"

// privateFiles makes everything that this process creates its user's own: the
// database and what it writes beside it take their modes from it.
func privateFiles() { syscall.Umask(0o077) }
