package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRunPassesOutputAndExitCode(t *testing.T) {
	t.Setenv(variable, "postgres://elsewhere") // no server is started
	tests := []struct {
		name string
		args []string
		code int
		out  string
	}{
		{"success", []string{"sh", "-c", "echo $" + variable}, 0, "postgres://elsewhere\n"},
		{"failure", []string{"sh", "-c", "exit 3"}, 3, ""},
		{"killed", []string{"sh", "-c", "kill -9 $$"}, 1, ""},
		{"nothing there", []string{"/no/such/command"}, 1, ""},
		{"nothing to run", nil, 2, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), tt.args, &stdout, &stderr); code != tt.code || stdout.String() != tt.out {
				t.Errorf("run(%q) = %d, printed %q, %q; want %d, %q", tt.args, code, stdout.String(), stderr.String(),
					tt.code, tt.out)
			}
		})
	}
}

func TestRunStartsAServer(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: -short starts no PostgreSQL")
	}
	t.Setenv(variable, "")
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"sh", "-c", "echo $" + variable}, &stdout, &stderr)
	if code != 0 || !strings.HasPrefix(stdout.String(), "postgres://ace@127.0.0.1:") {
		t.Errorf("run = %d, %q, %q; want the address of a server", code, stdout.String(), stderr.String())
	}
}
