// Package catalog holds the definitions of third-party apps as they are
// shipped: data that internal/platform/app reads.
//
//	curated/<app>.yaml     apps whose tools were made by hand
//	demo/demo-notes.yaml   the app of the sandbox; ${sandbox} is its address
//
// These files are not shipped yet:
//
//	apps.jsonl             apps without tools of their own, one definition a line
//	candidates.jsonl       likewise, whose facts still have to be checked at the source
//	left-out.txt           apps that were judged and left out, with the reason
package catalog

import "embed"

// Files are the definitions, by path.
//
//go:embed curated demo
var Files embed.FS
