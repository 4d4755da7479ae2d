// Package catalog holds the definitions of third-party apps as they are
// shipped: data that internal/platform/app reads.
//
//	demo/demo-notes.yaml   the app of the sandbox; ${sandbox} is its address
package catalog

import "embed"

// Files are the definitions, by path.
//
//go:embed demo
var Files embed.FS
