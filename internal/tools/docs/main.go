// Command docs writes the documents that follow from the code, and a test
// compares them with what is committed:
//
//	struct tags of config.Settings    -> docs/configuration.md
//	calls of problem.New, advice.go   -> docs/errors.md
//	routes of the store host          -> api/store.openapi.json
//	routes of the platform host       -> api/platform.openapi.json
//	internal/server/mixin             -> deploy/observability, docs/runbooks.md
//	files that the tests run          -> the code on all pages (snippets.go)
//
// Run it in the root of the repository: go run ./internal/tools/docs. It
// refuses to write an API document that changed while its version did not.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"ace/internal/server/mixin"
)

func main() {
	if err := write("."); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

// documents lists each generated document, relative to the root.
func documents(root string) (map[string][]byte, error) {
	settings, err := configuration()
	if err != nil {
		return nil, err
	}
	failures, err := errorsPage(root)
	if err != nil {
		return nil, err
	}
	all, err := snippets(root)
	if err != nil {
		return nil, err
	}
	all["docs/configuration.md"], all["docs/errors.md"] = settings, failures
	observability, err := mixin.Files()
	if err != nil {
		return nil, err
	}
	maps.Copy(all, observability)
	for name, describe := range apis {
		document, err := describe()
		if err != nil {
			return nil, fmt.Errorf("describing %s: %w", name, err)
		}
		all["api/"+name+".openapi.json"] = document
	}
	return all, nil
}

// write brings all documents up to date and says what changed.
func write(root string) error {
	all, err := documents(root)
	if err != nil {
		return err
	}
	var errs []error
	for name := range apis {
		errs = append(errs, release(root, name, all["api/"+name+".openapi.json"]))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for name, text := range all {
		path := filepath.Join(root, filepath.FromSlash(name))
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("making a folder: %w", err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		_, _ = fmt.Println("wrote", name)
	}
	return nil
}
