package mcptool_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ace/internal/foundation/jsonschema"
	"ace/internal/platform/app"
	"ace/internal/platform/mcptool"
	"ace/internal/platform/tool"
)

const gateway = "MODULES/supergateway/dist/index.js"

func fit(t *testing.T, c *client) {
	t.Helper()
	for name, one := range c.tools {
		if !regexp.MustCompile(`^[a-z][a-z0-9_]{2,63}$`).MatchString(one.ID) {
			t.Errorf("tool %s has an id that a model does not take: %q", name, one.ID)
		}
		if _, err := jsonschema.Compile(one.InputSchema); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestServerEverything speaks to the reference server, over both transports.
func TestServerEverything(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ mode, transport, path string }{
		{"streamableHttp", "", "/mcp"},
		{"sse", mcptool.TransportSSE, "/sse"},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			base := program(t, nil, "MODULES/@modelcontextprotocol/server-everything/dist/index.js", tt.mode)
			c := connect(t, acme(t, base+tt.path, tt.transport, open()), live(nil))
			fit(t, c)
			got, err := c.run(t.Context(), t, "echo", map[string]any{"message": "hello"})
			if err != nil || !strings.Contains(app.Text(got.Output), "hello") {
				t.Errorf("echo = %v, %v", got, err)
			}
			if got, err = c.run(t.Context(), t, "get_sum", map[string]any{"a": 2, "b": 3}); err != nil ||
				!strings.Contains(app.Text(got.Output), "5") {
				t.Errorf("get_sum = %v, %v", got, err)
			}
			if got, err = c.run(t.Context(), t, "get_tiny_image", map[string]any{}); err != nil || got.File == nil ||
				got.File.MediaType != "image/png" || len(got.File.Data) < 100 {
				t.Errorf("get_tiny_image = %+v, %v", got, err)
			}
			got, err = c.run(t.Context(), t, "get_structured_content", map[string]any{"location": "New York"})
			if err != nil || app.PickText(got.Output, "/temperature") == "" {
				t.Errorf("get_structured_content = %+v, %v", got, err)
			}
			var refused *tool.Failure
			if _, err = c.run(t.Context(), t, "get_sum", map[string]any{"a": "two"}); !errors.As(err, &refused) ||
				refused.Code != tool.CodeBadRequest {
				t.Errorf("get_sum of words: %v, want %s", err, tool.CodeBadRequest)
			}
		})
	}
}

// TestServerMemory keeps something in a server over stdio behind a gateway.
func TestServerMemory(t *testing.T) {
	t.Parallel()
	base := program(t, []string{"MEMORY_FILE_PATH=" + filepath.Join(t.TempDir(), "memory.jsonl")}, gateway,
		"--stdio", "NODE MODULES/@modelcontextprotocol/server-memory/dist/index.js", "--outputTransport",
		"streamableHttp", "--stateful", "--port", "PORT", "--logLevel", "none")
	c := connect(t, acme(t, base+"/mcp", "", open()), live(nil))
	fit(t, c)
	_, err := c.run(t.Context(), t, "create_entities",
		map[string]any{"entities": []any{map[string]any{
			"name": "Ann", "entityType": "person",
			"observations": []any{"drinks tea"},
		}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.run(t.Context(), t, "search_nodes", map[string]any{"query": "tea"})
	if err != nil || app.PickText(got.Output, "/entities/0/name") != "Ann" {
		t.Errorf("search_nodes = %+v, %v", got, err)
	}
	if effect := c.tools["delete_entities"].Effect; effect == app.Reads {
		t.Errorf("delete_entities only reads")
	}
}

// TestServerFilesystem reads a file through the older pair of transports.
func TestServerFilesystem(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("buy milk"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := program(t, nil, gateway, "--stdio",
		"NODE MODULES/@modelcontextprotocol/server-filesystem/dist/index.js "+dir, "--outputTransport", "sse", "--port",
		"PORT", "--logLevel", "none")
	c := connect(t, acme(t, base+"/sse", mcptool.TransportSSE, open()), live(nil))
	fit(t, c)
	got, err := c.run(t.Context(), t, "read_text_file", map[string]any{"path": filepath.Join(dir, "note.txt")})
	if err != nil || !strings.Contains(app.Text(got.Output)+app.PickText(got.Output, "/content"), "buy milk") {
		t.Errorf("read_text_file = %+v, %v", got, err)
	}
	var refused *tool.Failure
	if _, err := c.run(t.Context(), t, "read_text_file", map[string]any{"path": "/etc/passwd"}); !errors.As(err,
		&refused) {
		t.Errorf("a file elsewhere: %v, want a refusal", err)
	}
	if !slices.Contains(c.names(), "write_file") {
		t.Errorf("tools = %v", c.names())
	}
}
