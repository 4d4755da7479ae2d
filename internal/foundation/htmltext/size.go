package htmltext

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// maxNodes bounds the tree of one page.
const maxNodes = 400_000

// Oversized estimates whether a parser would make too large a tree of a source
// in UTF-8. Parse refuses such a source; other users of the parser ask. A format
// tag that is not closed, such as <b>, is opened again in every block after it:
// a small page can so ask for a tree that fills all memory.
func Oversized(source []byte) bool {
	z := html.NewTokenizer(bytes.NewReader(source))
	open := map[string]int{}
	unclosed, nodes := 0, 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			return z.Err() != io.EOF //nolint:errorlint // the tokenizer returns it unwrapped
		case html.StartTagToken:
			token := z.Token()
			if formats(token.Data) {
				key := spelling(token)
				if open[key] < 3 { // a fourth of the same spelling is not opened again
					open[key]++
					unclosed++
				}
			}
			nodes += 1 + unclosed
		case html.EndTagToken:
			name, _ := z.TagName()
			if formats(string(name)) {
				unclosed -= closeOne(open, string(name))
			}
		case html.TextToken, html.CommentToken, html.SelfClosingTagToken:
			nodes++
		}
		if nodes > maxNodes {
			return true
		}
	}
}

func closeOne(open map[string]int, name string) int {
	for key, n := range open {
		if n > 0 && strings.HasPrefix(key, name+"\x00") {
			if open[key]--; open[key] == 0 {
				delete(open, key) // a page of many links would else be walked for each of them
			}
			return 1
		}
	}
	return 0
}

func formats(name string) bool {
	switch name {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

// spelling is the same for tags that the parser takes for copies.
func spelling(t html.Token) string {
	parts := make([]string, 0, 8)
	for _, a := range t.Attr {
		parts = append(parts, a.Key+"\x01"+a.Val)
	}
	slices.Sort(parts)
	return t.Data + "\x00" + strings.Join(parts, "\x00")
}
