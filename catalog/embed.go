// Package catalog holds the definitions of third-party apps as they are
// shipped: data that internal/platform/app reads.
//
//	curated/<app>.yaml     apps whose tools were made by hand
//	demo/demo-notes.yaml   the app of the sandbox; ${sandbox} is its address
package catalog

import "embed"

// Files are the definitions, by path.
//
//go:embed curated demo
var Files embed.FS
