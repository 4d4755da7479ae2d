// Package markdown turns CommonMark with tables into HTML, and makes its links
// absolute.
//
//	Markdown -> HTML   headings get ids; HTML inside is left out, and so are
//	                   addresses such as javascript:
//	Markdown -> Markdown with absolute links, for readers elsewhere
//
// The HTML is safe to show, even for untrusted text.
package markdown

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

// HTML renders a text. It fails only if the renderer itself is at fault.
func HTML(text string) (string, error) {
	var b bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	if err := md.Convert([]byte(text), &b); err != nil {
		return "", fmt.Errorf("rendering markdown: %w", err)
	}
	return b.String(), nil
}

// Absolute resolves the URLs of links and images against base. Code
// is not changed.
func Absolute(text string, base *url.URL) string {
	return Rewrite(text, func(to *url.URL) *url.URL { return base.ResolveReference(to) })
}

// Rewrite replaces the URLs of links and images. Links inside the page,
// such as #top, and code are not changed.
func Rewrite(text string, change func(*url.URL) *url.URL) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(line, " >")
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) {
				fence = ""
			}
			b.WriteString(line)
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			fence = bare[:3]
			b.WriteString(line)
		case strings.HasPrefix(line, "    "), strings.HasPrefix(line, "\t"):
			b.WriteString(line)
		default:
			rewriteLine(&b, line, change)
		}
	}
	return b.String()
}

// rewriteLine rewrites ](address) and, at the start, [name]: address.
func rewriteLine(b *strings.Builder, line string, change func(*url.URL) *url.URL) {
	if name, rest, ok := strings.Cut(line, "]: "); ok && strings.HasPrefix(line, "[") && !strings.Contains(name, "`") {
		address, tail := upTo(rest, " \t\n")
		b.WriteString(name + "]: " + rewritten(address, change) + tail)
		return
	}
	for line != "" {
		at := strings.IndexAny(line, "`]")
		if at < 0 {
			b.WriteString(line)
			return
		}
		if line[at] == '`' {
			end := codeEnd(line[at:])
			b.WriteString(line[:at+end])
			line = line[at+end:]
			continue
		}
		rest, isLink := strings.CutPrefix(line[at:], "](")
		if !isLink {
			b.WriteString(line[:at+1])
			line = line[at+1:]
			continue
		}
		address, tail := upTo(rest, " \t\n)")
		b.WriteString(line[:at] + "](" + rewritten(address, change))
		line = tail
	}
}

// codeEnd is the length of the code span that text begins with, or of its
// backticks if they open none.
func codeEnd(text string) int {
	open := len(text) - len(strings.TrimLeft(text, "`"))
	for at := open; at < len(text); {
		next := strings.IndexByte(text[at:], '`')
		if next < 0 {
			break
		}
		at += next
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		at += run
		if run == open {
			return at
		}
	}
	return open
}

func upTo(s, stops string) (head, tail string) {
	if at := strings.IndexAny(s, stops); at >= 0 {
		return s[:at], s[at:]
	}
	return s, ""
}

func rewritten(address string, change func(*url.URL) *url.URL) string {
	if address == "" || strings.HasPrefix(address, "#") || strings.HasPrefix(address, "<") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return change(u).String()
}
