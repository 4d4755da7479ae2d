package htmltext_test

import (
	"strings"
	"testing"
)

// BenchmarkHostile converts pages of about 1 MB that are made to be slow.
func BenchmarkHostile(b *testing.B) {
	pages := map[string]string{
		"plain":      strings.Repeat("<p>some words of <b>text</b> and <a href=/x>links</a></p>", 20_000),
		"tables":     strings.Repeat("<table><tr><td>", 90) + strings.Repeat("<p>text</p>", 90_000),
		"marks":      strings.Repeat("<b>", 300) + strings.Repeat("<i></i>x", 120_000),
		"items":      strings.Repeat("<ul><li>", 150) + strings.Repeat("<li>x", 200_000),
		"links":      strings.Repeat("<a href=/x>y", 90_000),
		"entities":   strings.Repeat("&amp;&lt;&#x202e;", 60_000),
		"attributes": "<p " + strings.Repeat("a=b ", 250_000) + ">x",
	}
	for name, page := range pages {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				parse(b, page).Markdown()
			}
		})
	}
}
