package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ace/internal/server"
)

// apis are the published descriptions. Beside each is a file of released
// versions: one line per version with the digest of its document.
var apis = map[string]func() ([]byte, error){"platform": server.PlatformDocument, "store": server.StoreDocument}

func versionsPath(root, name string) string { return filepath.Join(root, "api", name+".versions") }

// released reads the versions of a document, the newest last.
func released(root, name string) (lines []string, err error) {
	text, err := os.ReadFile(versionsPath(root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the versions of %s: %w", name, err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n"), nil
}

// digestLine is the line of a document in the file of versions.
func digestLine(document []byte) (version, line string, err error) {
	var d struct {
		Info struct {
			Version string `json:"version"`
		} `json:"info"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return "", "", fmt.Errorf("reading a document: %w", err)
	}
	sum := sha256.Sum256(document)
	return d.Info.Version, d.Info.Version + " " + hex.EncodeToString(sum[:]), nil
}

// release notes the version of a document. A version that is known with other
// contents is refused: callers rely on a version to mean one document.
func release(root, name string, document []byte) error {
	version, line, err := digestLine(document)
	if err != nil {
		return err
	}
	lines, err := released(root, name)
	if err != nil {
		return err
	}
	for _, known := range lines {
		switch {
		case known == line:
			return nil
		case strings.HasPrefix(known, version+" "):
			return fmt.Errorf(
				"the document of the API %q changed and its version is still %s: raise the constant Version of the "+
					"face (a new path or member: the second number; anything that breaks callers: the first), then "+
					"run this again", name, version)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "api"), 0o755); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	text := strings.Join(append(lines, line), "\n") + "\n"
	if err := os.WriteFile(versionsPath(root, name), []byte(text), 0o644); err != nil {
		return fmt.Errorf("noting the version of %s: %w", name, err)
	}
	return nil
}
