package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker in released builds.
var version = "dev"

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run prints the version.
func (c *versionCmd) Run(w *world) error {
	if c.JSON {
		return json.NewEncoder(w.stdout).Encode(map[string]string{
			"version": version, "revision": revision(),
			"go": runtime.Version(),
		})
	}
	_, err := fmt.Fprintln(w.stdout, versionText())
	return err
}

// versionText is the version on one line.
func versionText() string { return fmt.Sprintf("ace %s %s %s", version, revision(), runtime.Version()) }

// revision is the commit that the program was built from, or "".
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
