package crawl

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Place is where something is in the source of a page.
type Place struct {
	Line int // counts from 1; 0: not in the source, the parser added it
	Byte int // counts from 0
}

// Where returns the place of an element's tag or of a comment.
func (d *Document) Where(n *html.Node) Place {
	if n == nil {
		return Place{}
	}
	return d.places()[n]
}

// Find returns the place where a piece of source is first.
func (d *Document) Find(piece string) Place {
	i := bytes.Index(d.Source, []byte(piece))
	if i < 0 || piece == "" {
		return Place{}
	}
	return Place{Line: 1 + bytes.Count(d.Source[:i], []byte("\n")), Byte: i}
}

// locate pairs the elements of a tree with the tags of its source. The parser
// adds elements and moves some; a tag and an element belong together if they
// spell the same, in the order in which they come.
func locate(source []byte, root *html.Node) map[*html.Node]Place {
	tags := map[string][]Place{}
	z := html.NewTokenizer(bytes.NewReader(source))
	at, line := 0, 1
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		raw := z.Raw()
		size, breaks := len(raw), bytes.Count(raw, []byte("\n"))
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken, html.CommentToken:
			token := z.Token()
			key := spelling(token.Type == html.CommentToken, token.Data, token.Attr)
			tags[key] = append(tags[key], Place{Line: line, Byte: at})
		}
		at += size
		line += breaks
	}
	places := map[*html.Node]Place{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode && n.Type != html.CommentNode {
			continue
		}
		key := spelling(n.Type == html.CommentNode, n.Data, n.Attr)
		if queue := tags[key]; len(queue) > 0 {
			places[n], tags[key] = queue[0], queue[1:]
		}
	}
	return places
}

func spelling(comment bool, data string, attrs []html.Attribute) string {
	if comment {
		return "!" + data
	}
	parts := make([]string, 0, 8)
	for _, a := range attrs {
		parts = append(parts, strings.ToLower(a.Key)+"\x01"+a.Val)
	}
	slices.Sort(parts) // the parser sorts those of some elements
	return strings.ToLower(data) + "\x00" + strings.Join(parts, "\x00")
}
