package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ace/test/harness"
)

// TestCompletion has bash load the script and complete with the binary.
func TestCompletion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink(harness.Build(t, ""), filepath.Join(dir, "ace")); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ line, want string }{
		{"ace cata", "catalog"},
		{"ace key ", "create list revoke"},
		{"ace trigger ", "list replay show"},
		{"ace key create --approval d", "destructive"},
		{"ace key create --approval=d", "destructive"},
		{"ace nothing of it", ""},
	}
	for _, tt := range tests {
		script := `source <(ace completion bash); COMP_LINE=$1; COMP_POINT=${#COMP_LINE}; _ace; echo "${COMPREPLY[@]}"`
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script, "bash", tt.line)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != tt.want {
			t.Errorf("completion of %q = %q (%v), want %q", tt.line, got, err, tt.want)
		}
	}
}
