package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestVersionFlag holds that --version prints what the command version prints.
func TestVersionFlag(t *testing.T) {
	t.Parallel()
	var byFlag, byCommand, failed bytes.Buffer
	if code := run(t.Context(), []string{"--version"}, &byFlag, &failed); code != 0 {
		t.Fatalf("ace --version = %d %s", code, failed.String())
	}
	if code := run(t.Context(), []string{"version"}, &byCommand, &failed); code != 0 {
		t.Fatalf("ace version = %d %s", code, failed.String())
	}
	if byFlag.String() != byCommand.String() || !strings.HasPrefix(byFlag.String(), "ace ") {
		t.Errorf("ace --version prints %q, ace version %q", byFlag.String(), byCommand.String())
	}
}
