package markdown_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"ace/internal/foundation/markdown"

	"github.com/google/go-cmp/cmp"
)

func TestHTML(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"heading", "# A b", `<h1 id="a-b">A b</h1>`},
		{"table", "| a | b |\n| --- | --- |\n| 1 | 2 |", "<table>"},
		{
			"html is left out", "<script>alert(1)</script>\n\nx <b onclick=y>z</b>",
			"x <!-- raw HTML omitted -->z<!-- raw HTML omitted -->",
		},
		{"script address", "[a](javascript:alert(1))", `<a href="">a</a>`},
		{"data address", "![a](data:text/html,x)", `<img src="" alt="a">`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := markdown.HTML(tt.in)
			if err != nil || !strings.Contains(got, tt.want) || strings.Contains(got, "alert(1)") &&
				strings.Contains(got, "<script") {
				t.Errorf("HTML(%q) = %q, %v, want %q in it", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestAbsolute(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://shop.example/docs/intro")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, in, want string }{
		{
			"rooted", "see [a](/b) and [c](/d \"t\").\n",
			"see [a](https://shop.example/b) and [c](https://shop.example/d \"t\").\n",
		},
		{"beside", "[a](setup)", "[a](https://shop.example/docs/setup)"},
		{"image", "![a](/i.png)", "![a](https://shop.example/i.png)"},
		{
			"absolute already", "[a](https://x.example/) [m](mailto:a@b.example)",
			"[a](https://x.example/) [m](mailto:a@b.example)",
		},
		{"inside the page", "[a](#b)", "[a](#b)"},
		{
			"code span", "`[a](/b)` [a](/b) ``x` [a](/b)`` [c](/d)",
			"`[a](/b)` [a](https://shop.example/b) ``x` [a](/b)`` [c](https://shop.example/d)",
		},
		{"open backtick", "` [a](/b)", "` [a](https://shop.example/b)"},
		{"fence", "```\n[a](/b)\n```\n[a](/b)", "```\n[a](/b)\n```\n[a](https://shop.example/b)"},
		{"indented", "    [a](/b)\n", "    [a](/b)\n"},
		{"definition", "[a]: /b \"t\"\n", "[a]: https://shop.example/b \"t\"\n"},
		{"in a table", "| [a](/b) | ] |", "| [a](https://shop.example/b) | ] |"},
		{"not an address", "[a](%zz)", "[a](%zz)"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, markdown.Absolute(tt.in, base)); diff != "" {
				t.Errorf("Absolute(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func FuzzAbsolute(f *testing.F) {
	f.Add("[a](/b) `x` [c]: /d")
	f.Add("```\n](")
	base := &url.URL{Scheme: "https", Host: "shop.example", Path: "/x"}
	f.Fuzz(func(t *testing.T, text string) {
		once := markdown.Absolute(text, base)
		if twice := markdown.Absolute(once, base); twice != once {
			t.Errorf("Absolute(%q) = %q, again %q", text, once, twice)
		}
		if _, err := markdown.HTML(text); err != nil {
			t.Error(err)
		}
	})
}

func ExampleHTML() {
	html, err := markdown.HTML("Read the [terms](/terms).")
	if err != nil {
		return
	}
	fmt.Print(html)
	// Output: <p>Read the <a href="/terms">terms</a>.</p>
}
