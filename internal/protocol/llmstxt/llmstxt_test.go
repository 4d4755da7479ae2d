package llmstxt_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"ace/internal/protocol/llmstxt"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const whole = `# Ferry

> Ferry is a job queue
> on SQLite.

It needs no server.

- Contact: [mail](mailto:a@b.example)

` + "```\n## not a section\n```" + `

## Docs

- [Install](https://ferry.example/install): one command
- [Queue [v2]](https://ferry.example/queue_(v2)) - with a dash
* [Bare](<https://ferry.example/bare> "Title")

## Optional

- [License](https://ferry.example/license)
`

func TestParse(t *testing.T) {
	t.Parallel()
	want := &llmstxt.File{
		Title: "Ferry", Summary: "Ferry is a job queue on SQLite.",
		Details: "It needs no server.\n\n- Contact: [mail](mailto:a@b.example)\n\n```\n## not a section\n```",
		Sections: []llmstxt.Section{
			{Name: "Docs", Line: 14, Links: []llmstxt.Link{
				{Name: "Install", URL: "https://ferry.example/install", Notes: "one command", Line: 16},
				{Name: "Queue [v2]", URL: "https://ferry.example/queue_(v2)", Notes: "with a dash", Line: 17},
				{Name: "Bare", URL: "https://ferry.example/bare", Line: 18},
			}},
			{
				Name: "Optional", Line: 20,
				Links: []llmstxt.Link{{Name: "License", URL: "https://ferry.example/license", Line: 22}},
			},
		},
	}
	for name, text := range map[string]string{
		"as is": whole, "CR LF": strings.ReplaceAll(whole, "\n", "\r\n"),
		"with a mark": "\ufeff" + whole,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := llmstxt.Parse([]byte(text))
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(llmstxt.File{})); diff != "" {
				t.Errorf("Parse differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	item := "- [Page](https://a.example/p): words\n"
	head := "# A site\n\n> A summary that is long enough for every reader.\n\n"
	tests := []struct {
		name, in string
		level    int
		codes    []string
		invalid  bool
	}{
		{name: "good", in: head + "## Pages\n\n" + item, level: 4},
		{name: "empty", in: " \n", codes: []string{"empty"}, invalid: true},
		{name: "html", in: "<!DOCTYPE html><h1>No</h1>", codes: []string{"html"}, invalid: true},
		{name: "a fragment of html", in: "<h1>llms</h1> see our site", codes: []string{"html"}, invalid: true},
		{name: "binary", in: "# A\x00", codes: []string{"binary"}, invalid: true},
		{name: "a mark", in: "\ufeff" + head + "## Pages\n" + item, level: 4, codes: []string{"bom"}},
		{
			name: "line ends", in: strings.ReplaceAll(head+"## Pages\n"+item, "\n", "\r\n"), level: 4,
			codes: []string{"line_ends"},
		},
		{name: "not UTF-8", in: head + "## P\xe9ges\n" + item, level: 4, codes: []string{"not_utf8"}, invalid: true},
		{
			name: "large", in: head + strings.Repeat("words ", 10_000) + "\n## Pages\n" + item, level: 4,
			codes: []string{"large"},
		},
		{
			name: "too large", in: head + strings.Repeat("words ", 50_000) + "\n## Pages\n" + item, level: 4,
			codes: []string{"too_large"}, invalid: true,
		},
		{name: "short", in: "# A\n> B.\n## C\n- [D](https://a.example/d)\n", level: 4, codes: []string{"too_short"}},
		{
			name: "no title", in: "> A summary that is long enough for every reader, but no title.\n## Pages\n" + item,
			level: 1, codes: []string{"no_title", "no_summary", "text_before_title"}, invalid: true,
		},
		{
			name: "an empty title",
			in:   "# \n> A summary that is long enough for every reader, but no title.\n## Pages\n" + item, level: 1,
			codes: []string{"no_title"}, invalid: true,
		},
		{
			name: "no summary", in: "# A site\n\nWith some text, but without a summary.\n\n## Pages\n" + item, level: 2,
			codes: []string{"no_summary"},
		},
		{name: "a second title", in: head + "# Again\n## Pages\n" + item, level: 4, codes: []string{"second_title"}},
		{
			name: "heading in the details", in: head + "### More\n## Pages\n" + item, level: 4,
			codes: []string{"heading_in_details"},
		},
		{name: "deep heading", in: head + "## Pages\n### More\n" + item, level: 4, codes: []string{"deep_heading"}},
		{
			name:    "no sections",
			in:      head + "Just words that go on for a while.",
			level:   3,
			codes:   []string{"no_sections"},
			invalid: true,
		},
		{
			name: "no links", in: head + "## Pages\n", level: 3, codes: []string{"no_links", "empty_section"},
			invalid: true,
		},
		{
			name: "same section", in: head + "## Pages\n" + item + "## pages\n- [Q](https://a.example/q)\n", level: 4,
			codes: []string{"same_section"},
		},
		{name: "nameless section", in: head + "##\n" + item, level: 4, codes: []string{"no_section_name"}},
		{
			name:  "optional first",
			in:    head + "## Optional\n" + item + "## Pages\n- [Q](https://a.example/q)\n",
			level: 4,
			codes: []string{"optional_not_last"},
		},
		{
			name: "text in a section", in: head + "## Pages\nThese are they:\n" + item, level: 4,
			codes: []string{"text_in_section"},
		},
		{name: "no link", in: head + "## Pages\n- just words\n" + item, level: 4, codes: []string{"item_format"}},
		{
			name: "dash", in: head + "## Pages\n- [Page](https://a.example/p) - words\n", level: 4,
			codes: []string{"item_format"},
		},
		{
			name: "relative", in: head + "## Pages\n- [Page](/p): words\n", level: 4, codes: []string{"relative_link"},
			invalid: true,
		},
		{
			name: "script", in: head + "## Pages\n- [Page](javascript:alert): words\n", level: 4,
			codes: []string{"bad_link"}, invalid: true,
		},
		{
			name: "password", in: head + "## Pages\n- [Page](https://u:p@a.example/): words\n", level: 4,
			codes: []string{"bad_link"}, invalid: true,
		},
		{
			name: "no address", in: head + "## Pages\n- [Page](): words\n", level: 4, codes: []string{"bad_link"},
			invalid: true,
		},
		{
			name: "twice", in: head + "## Pages\n" + item + "- [Again](https://a.example/p#x)\n", level: 4,
			codes: []string{"same_link"},
		},
		{
			name: "foreign", in: head + "## Pages\n- [Page](https://b.example/): words\n", level: 4,
			codes: []string{"foreign_links"},
		},
		{
			name: "no name", in: head + "## Pages\n- [](https://a.example/p)\n", level: 4, codes: []string{"no_name"},
			invalid: true,
		},
		{
			name:  "name is the address",
			in:    head + "## Pages\n- [https://a.example/p](https://a.example/p)\n",
			level: 4,
			codes: []string{"name_is_address"},
		},
		{
			name:  "long notes",
			in:    head + "## Pages\n- [P](https://a.example/p): " + strings.Repeat("long ", 40) + "\n",
			level: 4,
			codes: []string{"long_notes"},
		},
		{
			name: "html inside", in: head + "Some <b>bold</b> words, 1 < 2 > 0.\n## Pages\n" + item, level: 4,
			codes: []string{"html_inside"},
		},
		{name: "many links", in: head + "## Pages\n" + manyLinks(101), level: 4, codes: []string{"many_links"}},
	}
	base := &url.URL{Scheme: "https", Host: "a.example", Path: "/"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := llmstxt.Check([]byte(tt.in), base)
			var codes []string
			for _, f := range got.Findings {
				codes = append(codes, f.Code)
			}
			slices.Sort(codes)
			slices.Sort(tt.codes)
			if got.Level != tt.level || got.Valid() == tt.invalid || !slices.Equal(codes, tt.codes) {
				t.Errorf("Check(%.200q) = level %d, valid %v, %v, want %d, %v, %v", tt.in, got.Level, got.Valid(),
					codes, tt.level, !tt.invalid, tt.codes)
			}
		})
	}
}

func manyLinks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("- [Page](https://a.example/" + strings.Repeat("p", i+1) + ")\n")
	}
	return b.String()
}

func TestFindingsAreBounded(t *testing.T) {
	t.Parallel()
	text := "# A\n## B\n" + strings.Repeat("words\n", 5000) + strings.Repeat("- [](x)\n", 5000)
	if n := len(llmstxt.Check([]byte(text), nil).Findings); n > 200 {
		t.Errorf("Check finds %d things, want at most 200", n)
	}
}

func TestWriteHostileText(t *testing.T) {
	t.Parallel()
	f := &llmstxt.File{
		Title: "A\n## B", Summary: "C\n# D", Details: "Plain.",
		Sections: []llmstxt.Section{{Name: "E\n- [x](http://evil.example/)", Links: []llmstxt.Link{
			{
				Name: "F](http://evil.example/) [g", URL: "https://a.example/h)i (j",
				Notes: "k\n- [l](http://evil.example/)",
			},
		}}},
	}
	text := f.String()
	back := llmstxt.Parse([]byte(text))
	if len(back.Sections) != 1 || len(back.Links()) != 1 || back.Links()[0].URL != "https://a.example/h%29i%20%28j" ||
		strings.Count(text, "\n- ") != 1 {
		t.Errorf("String() =\n%s\nwhich reads as %+v", text, back)
	}
}

// FuzzParse checks that a parsed file that is written and parsed again is unchanged, and that no
// input causes a panic.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		whole, "", "#", "# a\n> b\n## c\n- [d](e): f", "<html>", "\ufeff# x\r\n",
		"# a\n```\n## b\n", "- [a](b)", "## \\\n- [\\]](\\))", "# \u2028x\n## y\n- [z](<a b>)",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		llmstxt.Check(text, &url.URL{Scheme: "https", Host: "a.example"})
		first := llmstxt.Parse(text)
		again := llmstxt.Parse([]byte(first.String()))
		if len(again.Sections) < len(first.Sections) && first.Title != "" && !strings.ContainsAny(first.Details, "`~") {
			t.Errorf("written and read again, %d sections are %d:\n%q\n%q", len(first.Sections), len(again.Sections),
				text, first.String())
		}
	})
}
