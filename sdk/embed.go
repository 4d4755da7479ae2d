// Package sdk holds the sources of the JavaScript and Python clients. They have
// no dependencies and no build step: what is served is what is here.
package sdk

import "embed"

// Files are the sources:
//
//	js/ace.mjs, js/ace.d.ts, js/package.json, js/README.md
//	python/ace/*.py, python/ace/py.typed, python/README.md
//
//go:embed js/ace.mjs js/ace.d.ts js/package.json js/README.md python/README.md
//go:embed python/ace/*.py python/ace/py.typed
var Files embed.FS
