package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestAccountCommands makes an account and keys on the command line, and holds
// the keys to what was said of them.
func TestAccountCommands(t *testing.T) {
	t.Parallel()
	a := newcomer(t)
	ace := func(args string) string { return a.world.ace(strings.Fields(args)...) }
	tests := []struct{ args, want string }{
		{"account create acme --email ann@acme.example", "ace key create --account acme"},
		{"account create acme", "account_exists"},
		{"account create Acme!", "invalid_account_name"},
		{"account list", "acme"},
		{"account link acme", a.platform + "/sign-in/"},
		{"account link nobody", "account_not_found"},
		{"account redirects acme", "any https address"},
		{
			"account redirects acme --add https://Agent.example/done --add http://localhost:3000/a,b",
			"https://agent.example/done\nhttp://localhost:3000/a,b\n",
		},
		{"account redirects acme --json", `"redirect_urls": [`},
		{
			"account redirects acme --remove http://localhost:3000/a,b --add https://agent.example/more",
			"https://agent.example/done\nhttps://agent.example/more\n",
		},
		{"account redirects acme --add http://agent.example/", "invalid_request"},
		{"account redirects acme --remove https://elsewhere.example/", "not on the list"},
		{"account redirects acme", "https://agent.example/done\nhttps://agent.example/more\n"},
		{"account redirects nobody --add https://agent.example/", "account_not_found"},
		{"key list --account acme", "No keys yet. Create one: ace key create --account acme"},
		{"key create --account nobody", "account_not_found"},
		{"key create --account acme --permissions write", "invalid_permissions"},
		{"key create --account acme --networks here", "invalid_network"},
		{"key create --account acme --approval often", "--approval must be one of"},
		{"key create", `Run "ace key create --help"`},
		{"account", `Run "ace account --help"`},
		{"key revoke key_none", "api_key_not_found"},
	}
	for _, tt := range tests { // one after the other: the account is made by the first
		if got := ace(tt.args); !strings.Contains(got, tt.want) {
			t.Errorf("ace %s printed %q, want %q", tt.args, got, tt.want)
		}
	}
	var made struct {
		ID       string         `json:"id"`
		Key      string         `json:"key"`
		Restrict map[string]any `json:"restrict"`
		Approval string         `json:"approval"`
	}
	out := ace(
		"key create --account demo --apps demo-notes --read-only --raw-requests --networks 127.0.0.0/8 --approval " +
			"writes --expires-in 1h --json")
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		t.Fatalf("ace key create --json printed %q: %v", out, err)
	}
	if len(made.Restrict) != 4 || made.Approval != "writes" {
		t.Errorf("made %+v", made)
	}
	a.key = made.Key
	for path, body := range map[string]string{
		"/tools/demo_notes__create_note/run": `{"arguments":{"title":"Milk"}}`,
		"/apps/github/connect":               "{}",
	} {
		if status, refused := a.call(http.MethodPost, path, body); status != http.StatusForbidden ||
			refused["code"] != "key_restricted" {
			t.Errorf("%s with a key that may not: %d %v", path, status, refused)
		}
	}
	if got := ace("key revoke " + made.ID); !strings.Contains(got, "no longer opens anything") {
		t.Errorf("ace key revoke printed %q", got)
	}
	if status, refused := a.call(http.MethodGet, "/me", ""); status != http.StatusUnauthorized ||
		refused["code"] != "key_revoked" {
		t.Errorf("after the revocation: %d %v", status, refused)
	}
}

// TestHelp holds what people read first: what a command takes, and not the
// settings of a server beside it.
func TestHelp(t *testing.T) {
	t.Parallel()
	w := start(t)
	tests := []struct {
		args         string
		want, absent []string
	}{
		{"--help", []string{"key create", "account create", "catalog lint", "tour", "serve"}, []string{"--store-addr"}},
		{
			"key create --help",
			[]string{"--approval", "--expires-in", "--apps", "--data-dir", "--json"},
			[]string{"--store-addr", "--smtp-url", "--catalog-dir"},
		},
		{"account list --help", []string{"--data-dir"}, []string{"--store-addr"}},
		{"catalog lint --help", []string{"--catalog-dir", "--egress-allow"}, []string{"--store-addr"}},
		{"vault status --help", []string{"--kek-url", "--data-dir"}, []string{"--store-addr"}},
		{"serve --help", []string{"--store-addr", "--catalog-dir", "--smtp-url"}, nil},
	}
	for _, tt := range tests {
		got := w.ace(strings.Fields(tt.args)...)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("ace %s lacks %q:\n%s", tt.args, want, got)
			}
		}
		for _, absent := range tt.absent {
			if strings.Contains(got, absent) {
				t.Errorf("ace %s speaks of %q", tt.args, absent)
			}
		}
	}
}
