// Package catalog holds the definitions of third-party apps as they are
// shipped: data that internal/platform/app reads.
//
//	curated/<app>.yaml     apps whose tools were made by hand
//	apps.jsonl             all other apps, one definition a line, sorted by id
//	tools.pack             tools of these apps, derived from the descriptions of their APIs
//	tools.lock             the names of these tools, which stay; see internal/platform/toolpack
//	tools.sources          the files of the descriptions, by app; not shipped
//	names.txt              names of apps that tasks may be about, in the catalog or not
//	demo/demo-notes.yaml   the app of the sandbox; ${sandbox} is its address
//
// These files are not shipped:
//
//	left-out.txt           apps that were judged and left out, with the reason
//	tools.left-out         operations that make no tool, since their requests would not be what the
//	                       description says; "make catalog-requests" finds them
package catalog

import (
	"embed"
	"strings"
)

// Rows is the path of the file with one definition a line.
const Rows = "apps.jsonl"

// Paths of the derived tools, of the lock of their names, of the list of the
// descriptions that they were derived from, and of the operations left out.
const (
	Pack    = "tools.pack"
	Lock    = "tools.lock"
	Sources = "tools.sources"
	Refused = "tools.left-out"
)

// Files are the definitions, by path.
//
//go:embed curated demo apps.jsonl names.txt tools.pack
var Files embed.FS

// Names returns names of apps, in the catalog or not.
func Names() []string {
	text, err := Files.ReadFile("names.txt")
	if err != nil {
		return nil // it is embedded
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}
