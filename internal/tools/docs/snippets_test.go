package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFill(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.py"), []byte("print(1)\n\nprint(2)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, page, want, err string }{
		{
			"a file", "A\n\n<!-- from a.py -->\n```python\nold\n```\nB\n",
			"A\n\n<!-- from a.py -->\n```python\nprint(1)\n\nprint(2)\n```\nB\n", "",
		},
		{
			"run",
			"<!-- run, a person connects -->\n```sh\nls\n```\n",
			"<!-- run, a person connects -->\n```sh\nls\n```\n",
			"",
		},
		{"text", "```text\nls\n```\n", "```text\nls\n```\n", ""},
		{"what nothing runs", "```sh\nls\n```\n", "```sh\nls\n```\n", "that nothing runs"},
		{
			"a mark of another block",
			"<!-- run -->\nwords\n```js\n1\n```\n",
			"<!-- run -->\nwords\n```js\n1\n```\n",
			"nothing runs",
		},
		{"no file", "<!-- from b.py -->\n```python\n```\n", "<!-- from b.py -->\n```python\n\n```\n", "b.py"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := fill(root, "page.md", tt.page)
			if got != tt.want {
				t.Errorf("fill = %q, want %q", got, tt.want)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}
