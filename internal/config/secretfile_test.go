package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ace/internal/config"
)

func TestSecretsFromFiles(t *testing.T) {
	const name, value = "ACE_STRIPE_API_KEY", "sk_live_canary"
	dir := t.TempDir()
	write := func(file, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		name, file, want string
		set              bool
	}{
		{name: "of a secret store", file: write("plain", value, 0o444)},
		{name: "with a line end", file: write("line", value+"\n", 0o600)},
		{name: "that is not there", file: filepath.Join(dir, "none"), want: "no such file"},
		{name: "that is a folder", file: dir, want: "is no file"},
		{name: "that is empty", file: write("empty", "\n", 0o600), want: "is empty"},
		{name: "that everybody writes", file: write("open", value, 0o666), want: "every user can write"},
		{name: "that is huge", file: write("huge", strings.Repeat("x", 65<<10), 0o600), want: "larger than"},
		{name: "beside the variable", file: write("both", value, 0o600), set: true, want: "remove one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(name, "") // restores it afterwards
			if !tt.set {
				if err := os.Unsetenv(name); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv(name+"_FILE", tt.file)
			err := config.LoadSecrets()
			switch {
			case tt.want == "" && (err != nil || os.Getenv(name) != value):
				t.Errorf("LoadSecrets = %v, the secret is %q", err, os.Getenv(name))
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(err.Error(), name+"_FILE") || strings.Contains(err.Error(), value)):
				t.Errorf("LoadSecrets = %v, want an error with %q that names the setting alone", err, tt.want)
			}
		})
	}
}

// TestEverySecretHasAFile holds that a setting whose name or help speaks of a
// key, a secret or a password is in the list, or is a file itself.
func TestEverySecretHasAFile(t *testing.T) {
	t.Parallel()
	secrets := config.Secrets()
	for field := range reflect.TypeFor[config.Settings]().Fields() {
		name := field.Tag.Get("env")
		speaks := strings.Contains(field.Tag.Get("help"), "user:password") ||
			strings.HasSuffix(
				name,
				"_SECRET",
			) || strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_TOKEN")
		if speaks && !slices.Contains(secrets, name) {
			t.Errorf("%s holds a secret and cannot be given as a file", name)
		}
		secrets = slices.DeleteFunc(secrets, func(s string) bool { return s == name })
	}
	if len(secrets) > 0 {
		t.Errorf("there are no settings %v", secrets)
	}
}
