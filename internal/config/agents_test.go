package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAgentSettings(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(key, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		in     Settings
		signal string
		want   string // part of the error
	}{
		{"nothing said", Settings{}, "", ""},
		{
			"the default",
			Settings{ContentSignals: []string{"search=yes", "ai-input=yes", "ai-train=no"}},
			"search=yes, ai-input=yes, ai-train=no", "",
		},
		{"spaces", Settings{ContentSignals: []string{"search=yes", " ai-train=no"}}, "search=yes, ai-train=no", ""},
		{"none", Settings{ContentSignals: []string{"none"}}, "", ""},
		{
			"an unknown name",
			Settings{ContentSignals: []string{"search=yes", "train=no"}},
			"", `ACE_CONTENT_SIGNAL holds "train=no"`,
		},
		{"an unknown value", Settings{ContentSignals: []string{"search=maybe"}}, "", "with yes or no"},
		{"twice", Settings{ContentSignals: []string{"search=yes", "search=no"}}, "", "each once"},
		{"none and more", Settings{ContentSignals: []string{"none", "search=yes"}}, "", `holds "none"`},
		{"a line break", Settings{ContentSignals: []string{"search=yes\nDisallow: /"}}, "", "ACE_CONTENT_SIGNAL"},
		{"security by mail", Settings{SecurityContact: "security@store.example"}, "", ""},
		{"security by form", Settings{SecurityContact: "https://store.example/report"}, "", ""},
		{"security by phone", Settings{SecurityContact: "tel:1"}, "", "ACE_SECURITY_CONTACT"},
		{
			"security with a line break",
			Settings{SecurityContact: "a@b.example\nContact: c@d.example"},
			"",
			"ACE_SECURITY_CONTACT",
		},
		{"a key", Settings{BotSigning: "on", BotKeyFiles: []string{key}}, "", ""},
		{
			"a key that is not there",
			Settings{BotSigning: "on", BotKeyFiles: []string{key + "x"}},
			"", "openssl genpkey",
		},
		{"a folder", Settings{BotSigning: "on", BotKeyFiles: []string{filepath.Dir(key)}}, "", "cannot be read"},
		{"five keys", Settings{BotSigning: "on", BotKeyFiles: []string{key, key, key, key, key}}, "", "more than four"},
		{"a key for nothing", Settings{BotSigning: "off", BotKeyFiles: []string{key}}, "", "remove one of them"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.in.checkAgents()
			if tt.want == "" && err != nil || tt.want != "" &&
				(err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Fatalf("checkAgents() = %v, want %q", err, tt.want)
			}
			if got := tt.in.ContentSignal(); tt.want == "" && got != tt.signal {
				t.Errorf("ContentSignal() = %q, want %q", got, tt.signal)
			}
		})
	}
}
