package toolhttp_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"ace/internal/platform/apikey"
	"ace/internal/platform/tool/file"
)

func TestTools(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	one := w.decode(w.call(http.MethodGet, "/api/v1/tools/desk__search", "", bearer(key)...))
	text, _ := json.Marshal(one)
	for _, piece := range []string{
		`"tool":"desk__search"`, `"app":"desk"`, `"name":"Desk search"`, `"phrases":["find a ticket"]`,
		`"examples":[{"arguments":{"query":"printer"}}]`, `"pagination":{"kind":"cursor"}`,
		`"annotations":{"destructive":false,"idempotent":true,"open_world":true,"read_only":true}`, `"definition":null`,
		`"additionalProperties":false`, `"deprecated":null`,
	} {
		if !strings.Contains(string(text), piece) {
			t.Errorf("%s lacks %s", text, piece)
		}
	}
	for format, piece := range map[string]string{
		"openai": `"definition":{"function":{"description"`, "openai_responses": `"definition":{"description"`,
		"anthropic": `"input_schema":{"additionalProperties"`,
		"gemini":    `"parameters":{"properties"`, "mcp": `"inputSchema":{`,
	} {
		if got := w.call(http.MethodGet, "/api/v1/tools/desk__search?format="+format, "",
			bearer(key)...); got.Code != 200 || !strings.Contains(got.Body.String(), piece) {
			t.Errorf("%s: %d %s", format, got.Code, got.Body)
		}
	}
	if got := w.call(http.MethodGet, "/api/v1/tools/desk__search?format=yaml", "", bearer(key)...); got.Code != 400 {
		t.Errorf("an unknown format: %d %s", got.Code, got.Body)
	}
	first := w.call(http.MethodGet, "/api/v1/tools/desk__search", "", bearer(key)...)
	tag := first.Header().Get("ETag")
	if again := w.call(http.MethodGet, "/api/v1/tools/desk__search",
		"", append(bearer(key), "If-None-Match", tag)...); tag == "" || again.Code != http.StatusNotModified ||
		again.Body.Len() != 0 || again.Header().Get("ETag") != tag {
		t.Errorf("read again with %s: %d %s", tag, again.Code, again.Body)
	}
	if other := w.call(http.MethodGet, "/api/v1/tools/desk__search?format=mcp", "",
		append(bearer(key), "If-None-Match", tag)...); other.Code != http.StatusOK ||
		first.Header().Get("Cache-Control") != "private, max-age=300" {
		t.Errorf("another format is taken for the same: %d, kept %q", other.Code, first.Header().Get("Cache-Control"))
	}
	if one["output_schema"] != nil {
		t.Errorf("a tool whose answer nobody knows has the output schema %v", one["output_schema"])
	}
	attach := w.decode(w.call(http.MethodGet, "/api/v1/tools/desk__attach", "", bearer(key)...))
	if files := attach["files"].(map[string]any)["inputs"].([]any); len(files) != 1 || files[0] != "file" {
		t.Errorf("files = %v", attach["files"])
	}
}

func TestToolLists(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	tests := []struct {
		query  string
		key    func(*apikey.Settings)
		status int
		want   string // ids, or a code
	}{
		{
			"app=desk", nil,
			200, "desk__search desk__create desk__remove desk__attach desk__download desk__whoami desk__request",
		},
		{"app=desk&limit=2", nil, 200, "desk__search desk__create …"},
		{"tools=desk__create,%20desk__search,", nil, 200, "desk__create desk__search"},
		{
			"app=desk", func(s *apikey.Settings) { s.Restrict = apikey.Restrictions{ReadOnlyTools: true} }, 200,
			"desk__search desk__download desk__whoami",
		},
		{"", nil, 400, "invalid_request"},
		{"app=mail", nil, 404, "app_not_found"},
		{"tools=desk__creat", nil, 404, "tool_not_found"},
		{
			"tools=desk__create", func(s *apikey.Settings) { s.Restrict.Tools = []string{"desk__search"} }, 403,
			"key_restricted",
		},
		{"app=desk&cursor=xyz", nil, 400, "invalid_cursor"},
	}
	for _, tt := range tests {
		by := key
		if tt.key != nil {
			by = w.key(tt.key)
		}
		got := w.call(http.MethodGet, "/api/v1/tools?"+tt.query, "", bearer(by)...)
		body := w.decode(got)
		text, _ := body["code"].(string)
		if list, ok := body["tools"].([]any); ok {
			var ids []string
			for _, one := range list {
				ids = append(ids, one.(map[string]any)["tool"].(string))
			}
			if body["next_cursor"] != nil {
				ids = append(ids, "…")
			}
			text = strings.Join(ids, " ")
		}
		if got.Code != tt.status || text != tt.want {
			t.Errorf("%s: %d %s, want %d %s", tt.query, got.Code, text, tt.status, tt.want)
		}
	}
	first := w.decode(w.call(http.MethodGet, "/api/v1/tools?app=desk&limit=5", "", bearer(key)...))
	rest := w.decode(w.call(http.MethodGet, "/api/v1/tools?app=desk&limit=5&cursor="+first["next_cursor"].(string),
		"", bearer(key)...))
	if n := len(first["tools"].([]any)) + len(rest["tools"].([]any)); n != 7 || rest["next_cursor"] != nil {
		t.Errorf("two pages hold %d tools", n)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	data := append([]byte("file content "), bytes.Repeat([]byte("x"), 3<<20)...) // more than any other body may have
	got := w.upload(key, "file", "note.txt", data)
	file := w.decode(got)
	sum := sha256.Sum256(data)
	if got.Code != 201 || file["name"] != "note.txt" || file["size"] != float64(len(data)) || file["sha256"] !=
		hex.EncodeToString(sum[:]) || got.Header().Get("Location") != "/api/v1/files/"+file["file_id"].(string) {
		t.Fatalf("%d %v", got.Code, file)
	}
	_, run := w.run(key, "desk__attach", `{"arguments":{"file":"`+file["file_id"].(string)+`"}}`)
	if output, _ := run["output"].(map[string]any); output["holds"] != true || output["named"] != true {
		t.Errorf("run = %v", run)
	}
	for name, read := range map[string]func() (int, http.Header, []byte){
		"by key": func() (int, http.Header, []byte) {
			got := w.call(http.MethodGet, "/api/v1/files/"+file["file_id"].(string), "", bearer(key)...)
			return got.Code, got.Header(), got.Body.Bytes()
		},
		"by its address": func() (int, http.Header, []byte) {
			got := w.call(http.MethodGet, strings.TrimPrefix(file["url"].(string), base), "")
			return got.Code, got.Header(), got.Body.Bytes()
		},
	} {
		status, h, body := read()
		if status != 200 || !bytes.Equal(body, data) || h.Get("Content-Type") != "text/plain" ||
			h.Get("Content-Disposition") != `attachment; filename=note.txt` ||
			h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"),
			"sandbox") || h.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s: %d %v, %d bytes", name, status, h, len(body))
		}
	}
	if got := w.call(http.MethodGet, "/api/v1/files/"+file["file_id"].(string)+"/forged.signature",
		""); got.Code != 404 {
		t.Errorf("a forged address: %d", got.Code)
	}
	_, run = w.run(key, "desk__download", `{}`)
	files, _ := run["files"].([]any)
	if run["ok"] != true || run["output"] != nil || len(files) != 1 || files[0].(map[string]any)["name"] != "a.png" ||
		files[0].(map[string]any)["mime_type"] != "image/png" {
		t.Errorf("run = %v", run)
	}
}

func TestUploadsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	tests := []struct {
		name   string
		status int
		code   string
		send   func() (int, map[string]any)
	}{
		{"no form", 415, "unsupported_media_type", func() (int, map[string]any) {
			got := w.call(http.MethodPost, "/api/v1/files", `{"file":"x"}`, bearer(key)...)
			return got.Code, w.decode(got)
		}},
		{"no part of that name", 400, "invalid_request", func() (int, map[string]any) {
			got := w.upload(key, "document", "a.txt", []byte("x"))
			return got.Code, w.decode(got)
		}},
		{"broken off", 400, "body_unreadable", func() (int, map[string]any) {
			got := w.call(http.MethodPost, "/api/v1/files",
				"--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nabc", append(bearer(key), "Content-Type",
					"multipart/form-data; boundary=b")...)
			return got.Code, w.decode(got)
		}},
		{"too large", 413, "file_too_large", func() (int, map[string]any) {
			got := w.upload(key, "file", "a.txt", make([]byte, file.MaxSize+1))
			return got.Code, w.decode(got)
		}},
		{"far too large", 413, "file_too_large", func() (int, map[string]any) {
			got := w.upload(key, "file", "a.txt", make([]byte, file.MaxSize+1<<20))
			return got.Code, w.decode(got)
		}},
		{"for readers", 403, "permission_required", func() (int, map[string]any) {
			got := w.upload(w.key(func(s *apikey.Settings) { s.Permissions = apikey.Read }), "file", "a.txt", nil)
			return got.Code, w.decode(got)
		}},
	}
	for _, tt := range tests {
		if status, body := tt.send(); status != tt.status || body["code"] != tt.code {
			t.Errorf("%s: %d %v, want %d %s", tt.name, status, body["code"], tt.status, tt.code)
		}
	}
}
