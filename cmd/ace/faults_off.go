//go:build !faults

package main

// faultStep is for builds with the tag "faults" alone.
func faultStep() func(string) { return nil }
