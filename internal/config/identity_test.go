package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestIdentitySettings(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret := file("hush\n")
	tests := []struct {
		name                 string
		issuer, client, path string
		fault                string
	}{
		{"none", "", "", "", ""},
		{"all", "https://id.example", "ace", secret, ""},
		{"with a path and a slash", "https://id.example/realms/one/", "ace", secret, ""},
		{"on this machine", "http://127.0.0.1:5556/dex", "ace", secret, ""},
		{"half of it", "https://id.example", "", "", "go together"},
		{"no secret", "https://id.example", "ace", "", "go together"},
		{"over http", "http://id.example", "ace", secret, "ACE_OIDC_ISSUER"},
		{"with a query", "https://id.example?x=1", "ace", secret, "ACE_OIDC_ISSUER"},
		{"with a password", "https://u:sesame@id.example", "ace", secret, "ACE_OIDC_ISSUER"},
		{"no address", "id.example", "ace", secret, "ACE_OIDC_ISSUER"},
		{"no file", "https://id.example", "ace", secret + "x", "cannot be read"},
		{"an empty file", "https://id.example", "ace", file(" \n"), "is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := Settings{OIDCIssuer: tt.issuer, OIDCClientID: tt.client, OIDCSecretFile: tt.path}
			err := s.checkIdentity()
			if tt.fault == "" && err != nil || tt.fault != "" &&
				(err == nil || !strings.Contains(err.Error(), tt.fault)) {
				t.Fatalf("checkIdentity() = %v, want %q", err, tt.fault)
			}
			if err != nil && strings.Contains(err.Error(), "sesame") {
				t.Errorf("the error holds a secret: %v", err)
			}
			if tt.fault == "" && tt.path != "" {
				if got, err := s.OIDCSecret(); err != nil || got != "hush" {
					t.Errorf("OIDCSecret() = %q, %v", got, err)
				}
			}
		})
	}
}
