package mcpclients_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"ace/internal/platform/mcpclients"
)

const (
	address = "https://platform.example/mcp"
	key     = "ace_000000000000000000000000000000hNAS00"
)

func clients(t *testing.T) map[string]mcpclients.Client {
	t.Helper()
	all := map[string]mcpclients.Client{}
	for _, c := range mcpclients.For(address, key) {
		all[c.ID] = c
		if !strings.Contains(c.Text, address) || !strings.Contains(c.Text, key) {
			t.Errorf("%s names no server or no key:\n%s", c.Name, c.Text)
		}
	}
	return all
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// TestSettings compares the settings of each client with the form that its
// documentation gives.
func TestSettings(t *testing.T) {
	t.Parallel()
	all := clients(t)
	if len(all) != 10 {
		t.Errorf("%d clients, want ten", len(all))
	}
	bearer := map[string]any{"Authorization": "Bearer " + key}
	tests := []struct {
		id, under string
		want      map[string]any
	}{
		{"cursor", "mcpServers", map[string]any{"url": address, "headers": bearer}},
		{"vscode", "servers", map[string]any{"type": "http", "url": address, "headers": bearer}},
		{"windsurf", "mcpServers", map[string]any{"serverUrl": address, "headers": bearer}},
		{"zed", "context_servers", map[string]any{"url": address, "headers": bearer}},
		{"claude-desktop", "mcpServers", map[string]any{
			"command": "npx",
			"args":    []any{"-y", "mcp-remote", address, "--header", "Authorization:${ACE_AUTHORIZATION}"},
			"env":     map[string]any{"ACE_AUTHORIZATION": "Bearer " + key},
		}},
	}
	for _, tt := range tests {
		got, want := decode(t, all[tt.id].Text), map[string]any{tt.under: map[string]any{"ace": tt.want}}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s = %v, want %v", tt.id, got, want)
		}
	}
	want := "claude mcp add --transport http ace " + address + " \\\n  --header \"Authorization: Bearer " + key + `"`
	if got := all["claude-code"].Text; got != want {
		t.Errorf("claude-code = %s, want %s", got, want)
	}
}

// TestLinks reads the links as the clients do.
func TestLinks(t *testing.T) {
	t.Parallel()
	all := clients(t)
	cursor, err := url.Parse(all["cursor"].Link)
	if err != nil || cursor.Scheme != "cursor" || cursor.Host != "anysphere.cursor-deeplink" ||
		cursor.Path != "/mcp/install" || cursor.Query().Get("name") != "ace" {
		t.Fatalf("cursor = %v, %v", cursor, err)
	}
	config, err := base64.StdEncoding.DecodeString(cursor.Query().Get("config"))
	if err != nil {
		t.Fatal(err)
	}
	installed := decode(t, all["cursor"].Text)["mcpServers"].(map[string]any)["ace"]
	if got := decode(t, string(config)); fmt.Sprint(got) != fmt.Sprint(installed) {
		t.Errorf("cursor installs %v, want %v", got, installed)
	}
	text, ok := strings.CutPrefix(all["vscode"].Link, "vscode:mcp/install?")
	if !ok {
		t.Fatalf("vscode = %s", all["vscode"].Link)
	}
	if text, err = url.PathUnescape(text); err != nil {
		t.Fatal(err)
	}
	want := decode(t, all["vscode"].Text)["servers"].(map[string]any)["ace"].(map[string]any)
	want["name"] = "ace"
	if got := decode(t, text); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("vscode installs %v, want %v", got, want)
	}
}

func Example() {
	for _, c := range mcpclients.For("https://platform.example/mcp", mcpclients.Placeholder)[:1] {
		fmt.Println(c.Text)
	}
	// Output:
	// claude mcp add --transport http ace https://platform.example/mcp \
	//   --header "Authorization: Bearer ace_YOUR_KEY"
}
