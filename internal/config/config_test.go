package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"ace/internal/config"
)

// parse parses settings as the command does.
func parse(t *testing.T, args ...string) *config.Settings {
	t.Helper()
	s := &config.Settings{}
	parser, err := kong.New(s, kong.Exit(func(int) { t.Fatal("the parser left") }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDefaultsRun(t *testing.T) {
	t.Parallel()
	s := parse(t)
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if got := s.BaseURL(); got != "http://127.0.0.1:8080" || !s.SandboxOn() || s.Database() != "sqlite:data/ace.db" {
		t.Errorf("BaseURL %s, sandbox %v, database %s", got, s.SandboxOn(), s.Database())
	}
	terms, privacy, refunds := s.Policies()
	if terms != "http://127.0.0.1:8080/terms" || privacy != "http://127.0.0.1:8080/privacy" ||
		refunds != "http://127.0.0.1:8080/refunds" {
		t.Errorf("policies = %s, %s, %s", terms, privacy, refunds)
	}
}

func TestCheckNamesTheSetting(t *testing.T) {
	t.Parallel()
	const public = "--store-url=https://shop.example"
	tests := []struct {
		name string
		args []string
		want string // empty: no error
	}{
		{"no port", []string{"--store-addr=localhost"}, "ACE_STORE_ADDR"},
		{"no admin", []string{"--admin-addr="}, ""},
		{"slash at the end", []string{"--store-url=http://localhost:9/"}, ""},
		{"no scheme", []string{"--store-url=shop.example"}, "ACE_STORE_URL"},
		{"secret in an address", []string{"--stripe-url=https://user:sesame@pay.example"}, "ACE_STRIPE_URL"},
		{"redis", []string{"--redis-url=redis://user:sesame@cache.internal:6379/0"}, ""},
		{"redis with TLS", []string{"--redis-url=rediss://cache.internal"}, ""},
		{"redis without a scheme", []string{"--redis-url=cache.internal:6379"}, "ACE_REDIS_URL cannot be used"},
		{"redis over http", []string{"--redis-url=http://user:sesame@cache.internal"}, "ACE_REDIS_URL cannot be used"},
		{
			"two sources of pages",
			[]string{"--site-dir=.", "--site-upstream=https://www.example.com"},
			"ACE_SITE_DIR and ACE_SITE_UPSTREAM exclude each other",
		},
		{"a website", []string{"--site-upstream=https://www.example.com/"}, ""},
		{"part of a website", []string{"--site-upstream=https://www.example.com/blog"}, "ACE_SITE_UPSTREAM has a path"},
		{"no website", []string{"--site-upstream=www.example.com"}, "ACE_SITE_UPSTREAM cannot be used"},
		{"a folder", []string{"--site-dir=."}, ""},
		{"no folder", []string{"--site-dir=/does/not/exist"}, "ACE_SITE_DIR names"},
		{"no folder of definitions", []string{"--catalog-dir=/does/not/exist"}, "ACE_CATALOG_DIR names"},
		{"admin beyond loopback", []string{"--admin-addr=0.0.0.0:9464"}, "ACE_ADMIN_TOKEN_FILE"},
		{"admin beyond loopback with a token", []string{"--admin-addr=0.0.0.0:9464", "--admin-token-file=x"}, ""},
		{"a platform alone", []string{"--hosts=platform", "--platform-url=https://p.example"}, ""},
		{"a platform alone without a sandbox", []string{"--hosts=platform", "--sandbox=off"}, ""},
		{
			"a public platform beside a local store",
			[]string{"--platform-url=https://p.example"},
			"ACE_STRIPE_API_KEY",
		},
		{"public without tls", []string{"--store-url=http://shop.example"}, "ACE_STORE_URL is public and not https"},
		{"public without a processor", []string{public}, "ACE_STRIPE_API_KEY"},
		{"public with a sandbox on purpose", []string{public, "--sandbox=on"}, ""},
		{"public with stripe", []string{public, "--stripe-key=sk_live_1", "--stripe-webhook-secrets=whsec_1"}, ""},
		{"stripe without a webhook", []string{"--stripe-key=sk_live_1"}, "/webhooks/stripe"},
		{"publishable key", []string{"--stripe-key=pk_live_sesame"}, "ACE_STRIPE_API_KEY is not a secret key"},
		{"nothing to sell with", []string{"--sandbox=off"}, "nothing can be sold"},
		{"limits off in public", []string{public, "--sandbox=on", "--rate-limit=off"}, "ACE_RATE_LIMIT"},
		{"limits off here", []string{"--rate-limit=off"}, ""},
		{"no burst", []string{"--rate-burst=0"}, "ACE_RATE_BURST_API"},
		{"bad network", []string{"--egress-allow=127.0.0.1"}, "ACE_EGRESS_ALLOW"},
		{"bad proxies", []string{"--trusted-proxies=all"}, "ACE_TRUSTED_PROXIES"},
		{
			"webhook without secret",
			[]string{"--order-webhook-url=https://erp.example/hook"},
			"ACE_ORDER_WEBHOOK_SECRET",
		},
		{"mail without sender", []string{"--smtp-url=smtp://mail.example"}, "ACE_MAIL_FROM"},
		{
			"mail over something else",
			[]string{"--smtp-url=http://user:sesame@mail.example", "--mail-from=a@b.example"},
			"ACE_SMTP_URL",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := parse(t, tt.args...).Check()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Check(%v) = %v, want %q", tt.args, err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "sesame") {
				t.Errorf("the error holds a secret: %v", err)
			}
		})
	}
}

func TestCheckReportsAllErrors(t *testing.T) {
	t.Parallel()
	err := parse(t, "--store-addr=x", "--egress-allow=y", "--rate-burst=0").Check()
	for _, want := range []string{"ACE_STORE_ADDR", "ACE_EGRESS_ALLOW", "ACE_RATE_BURST_API"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v, want it to name %s", err, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"--store-addr=0.0.0.0:80"}, "http://127.0.0.1:80"},
		{[]string{"--store-addr=:80"}, "http://127.0.0.1:80"},
		{[]string{"--store-addr=[::]:80"}, "http://127.0.0.1:80"},
		{[]string{"--store-addr=[::1]:80"}, "http://[::1]:80"},
		{[]string{"--dev-tls"}, "https://127.0.0.1:8080"},
		{[]string{"--store-url=https://shop.example/", "--store-addr=0.0.0.0:80"}, "https://shop.example"},
	}
	for _, tt := range tests {
		s := parse(t, tt.args...)
		_ = s.Check() // removes the slash
		if got := s.BaseURL(); got != tt.want {
			t.Errorf("BaseURL(%v) = %s, want %s", tt.args, got, tt.want)
		}
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost": true, "http://pay.localhost:1": true, "http://[::1]": true,
		"http://[::ffff:127.0.0.1]": true,
		"http://127.0.0.1.example":  false, "https://shop.example": false, "http://10.0.0.1": false,
		"http://0.0.0.0": false, "%": false,
	} {
		if got := config.Local(address); got != want {
			t.Errorf("Local(%s) = %v, want %v", address, got, want)
		}
	}
}

func TestLoadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ace.conf")
	text := "# a comment\n\nACE_TEST_ONE=1\n ACE_TEST_TWO = \"two words\" \nACE_TEST_SET=file\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ACE_TEST_SET", "environment")
	for _, name := range []string{"ACE_TEST_ONE", "ACE_TEST_TWO"} {
		t.Cleanup(func() { _ = os.Unsetenv(name) })
	}
	if err := config.LoadFile(path, names()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"ACE_TEST_ONE": "1", "ACE_TEST_TWO": "two words",
		"ACE_TEST_SET": "environment",
	} {
		if got := os.Getenv(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

func TestLoadFileRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ACE_STORE_URL=1\nPATH=/tmp\n": "line 2", "ACE_STORE_URL\n": "line 1",
		"ACE_STORE_URL=1\nACE_STORE_URL=2\n": "set twice",
	} {
		path := filepath.Join(t.TempDir(), "ace.conf")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := config.LoadFile(path, names()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("LoadFile(%q) = %v, want %q", text, err, want)
		}
	}
	if err := config.LoadFile(filepath.Join(t.TempDir(), "missing"), names()); err == nil {
		t.Error("LoadFile of nothing = nil")
	}
}
