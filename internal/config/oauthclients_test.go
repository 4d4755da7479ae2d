package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/config"
)

func TestOAuthClients(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		mode       os.FileMode
		want       int
		err        string
	}{
		{
			"two",
			`{"gmail":{"client_id":"a","client_secret":"s3cret","extra":{"developer_token":"d"}},` +
				`"slack":{"client_id":"b"}}`,
			0o600,
			2,
			"",
		},
		{"for everybody", `{}`, 0o644, 0, "chmod 600"},
		{"no JSON", `gmail: s3cret`, 0o600, 0, "no JSON"},
		{"an unknown field", `{"gmail":{"id":"a","client_secret":"s3cret"}}`, 0o600, 0, "no JSON"},
		{"no id", `{"gmail":{"client_secret":"s3cret"}}`, 0o600, 0, "client_id for gmail"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "clients.json")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(file, tt.mode); err != nil {
				t.Fatal(err)
			}
			got, err := (&config.Settings{OAuthClientsFile: file}).OAuthClients()
			if len(got) != tt.want || (err == nil) != (tt.err == "") {
				t.Fatalf("OAuthClients = %v, %v", got, err)
			}
			if err != nil && (!strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("error %q, want %q and no secret", err, tt.err)
			}
		})
	}
	if got, err := (&config.Settings{}).OAuthClients(); got != nil || err != nil {
		t.Errorf("without a file: %v, %v", got, err)
	}
	if _, err := (&config.Settings{OAuthClientsFile: "none.json"}).OAuthClients(); err == nil ||
		!strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a file that is not there: %v", err)
	}
}
