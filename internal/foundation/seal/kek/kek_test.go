package kek_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/foundation/seal/kek"
)

func options(t *testing.T) *kek.Options {
	t.Helper()
	return &kek.Options{
		File: filepath.Join(t.TempDir(), "master.key"), Setting: "ACE_KEK_URL", TokenName: "ACE_KEK_TOKEN_FILE",
		Client: func(*url.URL) *http.Client { return http.DefaultClient },
	}
}

func keyFile(t *testing.T, key []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.key")
	if err := os.WriteFile(path, key, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The same bytes are the same key, wherever they come from, and another key
// opens nothing.
func TestLocalKeys(t *testing.T) {
	master, other := bytes.Repeat([]byte{1}, kek.Size), bytes.Repeat([]byte{2}, kek.Size)
	path := keyFile(t, master)
	t.Setenv("KEK_OF_TEST", base64.StdEncoding.EncodeToString(master)+"\n")
	byDefault := options(t)
	byDefault.File = path
	var keys []kek.Key
	for _, address := range []string{"", "file://" + path, "env://KEK_OF_TEST"} {
		key, err := kek.Open(address, byDefault)
		if err != nil {
			t.Fatalf("Open(%q) = %v", address, err)
		}
		keys = append(keys, key)
	}
	wrapped, err := keys[0].Wrap(t.Context(), []byte("ring"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if got, err := key.Unwrap(t.Context(), wrapped); err != nil || string(got) != "ring" ||
			key.Name() != keys[0].Name() {
			t.Errorf("%s: Unwrap = %q, %v, want ring", key.Name(), got, err)
		}
	}
	stranger, err := kek.Local(other)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{wrapped, "", "local1.", "local1.!", wrapped[:len(wrapped)-4], "vault:v1:x"} {
		if got, err := stranger.Unwrap(t.Context(), text); !errors.Is(err, kek.ErrWrong) || got != nil {
			t.Errorf("another key: Unwrap(%q) = %q, %v, want ErrWrong", text, got, err)
		}
	}
	if stranger.Name() == keys[0].Name() {
		t.Error("two keys have one name")
	}
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		if text := fmt.Sprintf(verb, keys[0]); text != keys[0].Name() {
			t.Errorf("%s prints %q, want the name alone", verb, text)
		}
	}
}

// Every address that cannot work is refused with the setting's name, and
// nothing of what a secret might be.
func TestOpenRefuses(t *testing.T) {
	const secret = "c2VzYW1lc2VzYW1l"
	t.Setenv("KEK_SHORT", secret)
	t.Setenv("KEK_NO_BASE64", "sesame!sesame!")
	t.Setenv("KEK_EMPTY", "")
	tests := []struct{ name, address, want string }{
		{"unknown scheme", "aws-kms://arn:aws:kms:x", "write file:///path"},
		{"no address", "://", "write file:///path"},
		{"file of a host", "file://host/x", "file:///path"},
		{"file without path", "file://", "file:///path"},
		{"file that is not there", "file:///none/x.key", "is not there"},
		{"variable without name", "env://", "env://NAME"},
		{"variable that is not set", "env://KEK_NOT_SET", "KEK_NOT_SET"},
		{"empty variable", "env://KEK_EMPTY", "is not there"},
		{"short variable", "env://KEK_SHORT", "openssl rand -base64 32"},
		{"variable without base64", "env://KEK_NO_BASE64", "openssl rand -base64 32"},
		{"password in the address", "hcvault://u:" + secret + "@vault.example/transit/keys/ace", "ACE_KEK_URL"},
		{"no key", "hcvault://vault.example/transit", "hcvault://host:8200/transit/keys/NAME"},
		{"path that leads out", "hcvault://vault.example/transit/../sys/keys/ace", "hcvault://host"},
		{"key that leads out", "hcvault://vault.example/transit/keys/..%2Fx", "hcvault://host"},
		{"unknown option", "hcvault://vault.example/transit/keys/ace?token=" + secret, "hcvault://host"},
		{"no host", "hcvault:///transit/keys/ace", "hcvault://host"},
		{"http elsewhere", "hcvault+http://vault.example/transit/keys/ace", "in the open"},
		{"no token file", "hcvault://vault.example/transit/keys/ace", "ACE_KEK_TOKEN_FILE"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := kek.Open(tt.address, options(t))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "ACE_KEK") ||
				strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "sesame") {
				t.Errorf("Open = %v, want text with the setting and %q, without secrets", err, tt.want)
			}
		})
	}
}
