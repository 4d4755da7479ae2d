package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ace/internal/config"
	"ace/internal/foundation/edit"
)

func names() *config.Names {
	return &config.Names{
		Settings: []string{
			"ACE_STORE_ADDR",
			"ACE_STORE_URL",
			"ACE_SERVICE_PRICES",
			"ACE_KEK_URL",
		},
		Nearest: edit.Nearest,
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, value, want string }{ // want: "" for no fault
		{"ACE_STORE_ADDR", "127.0.0.1:1", ""},
		{"HOME", "/root", ""},
		{"ACE_API_KEY", "ace_1", ""},
		{"ACE_NODE", "/usr/bin/node", ""},
		{"ACE_TEST_ENGINES", "sqlite", ""},
		{"ACE_SERVICE_HOST", "10.0.0.1", ""},
		{"ACE_SERVICE_PORT", "8080", ""},
		{"ACE_STORE_SERVICE_PORT_HTTP", "8080", ""},
		{"ACE_STORE_PORT_8080_TCP", "tcp://10.0.0.1:8080", ""},
		{"ACE_STORE_PORT_8080_TCP_ADDR", "10.0.0.1", ""},
		{"ACE_PORT", "tcp://10.0.0.1:8080", ""},
		{"ACE_PORT", "8080", "there is no setting ACE_PORT"},
		{"ACE_STORE_ADRR", "127.0.0.1:1", "did you mean ACE_STORE_ADDR?"},
		{"ACE_SERVICE_PRICE", "1", "did you mean ACE_SERVICE_PRICES?"},
		{"ACE_WHATEVER_IT_IS", "1", "see docs/configuration.md"},
	}
	for _, tt := range tests {
		err := names().Check(tt.name, tt.value)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("Check(%s=%s) = %v, want %q", tt.name, tt.value, err, tt.want)
		}
	}
	err := names().CheckEnvironment(
		[]string{"ACE_STORE_UR=x", "ACE_KEK_URL=env://ACE_KEK", "ACE_KEK=sesame", "ACE_Z=1"},
		"env://ACE_KEK")
	if err == nil || strings.Count(err.Error(), "\n") != 1 || strings.Contains(err.Error(), "sesame") ||
		strings.Contains(err.Error(), "ACE_KEK:") {
		t.Errorf("CheckEnvironment = %v, want two faults", err)
	}
}

func TestUnknownLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ace.conf")
	if err := os.WriteFile(path, []byte("# settings\nACE_STORE_ULR=https://shop.example\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := config.LoadFile(path, names())
	if err == nil ||
		!strings.Contains(err.Error(), "line 2: there is no setting ACE_STORE_ULR: did you mean ACE_STORE_URL?") {
		t.Errorf("LoadFile = %v", err)
	}
}

// TestDevelopmentNames holds that the variables of test.env are no reason to
// refuse a start.
func TestDevelopmentNames(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../../scripts/install-test-needs")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`\bACE_[A-Z0-9_]+`).FindAllString(string(script), -1)
	if len(found) < 10 {
		t.Fatalf("only %d variables in the script", len(found))
	}
	for _, name := range found {
		if err := names().Check(name, "x"); err != nil {
			t.Error(err)
		}
	}
}
