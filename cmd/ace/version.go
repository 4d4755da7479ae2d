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
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	if c.JSON {
		return json.NewEncoder(w.stdout).Encode(map[string]string{
			"version": version, "revision": revision,
			"go": runtime.Version(),
		})
	}
	_, err := fmt.Fprintf(w.stdout, "ace %s %s %s\n", version, revision, runtime.Version())
	return err
}
