// Package dom reads an HTML page so that what is found in it can be pointed at:
// each element knows its line in the source and a CSS selector that finds it.
//
//	bytes -> charset -> mark each start tag with its line -> parser
//	      -> *Document: Root, URL, Base
//	           Attr, Text, Visible   what an element says
//	           Line, Selector        where it is
//
// It works on pages of strangers: depth, length of texts and selectors are
// bounded.
package dom

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// Limits of a document.
const (
	MaxBytes = 8 << 20    // of the page, after decompression
	MaxText  = 20_000     // bytes of one text that Text and Visible return
	lineMark = "\x01line" // attribute that carries the line of a start tag
)

// Errors of Parse.
var (
	ErrTooLarge = errors.New("the page is larger than the limit")
	ErrTooDeep  = errors.New("the page nests its elements too deep")
)

// Document is a page.
type Document struct {
	Root   *html.Node
	URL    *url.URL // of the page
	Base   *url.URL // what its links are resolved against
	Source string   // the page in UTF-8
}

// Parse reads a page that is at address. contentType is the header that
// came with it, which may name the charset; empty is fine. The errors are
// ErrTooLarge, ErrTooDeep and those of an address that is none.
func Parse(page []byte, address, contentType string) (*Document, error) {
	if len(page) > MaxBytes {
		return nil, ErrTooLarge
	}
	at, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("reading the address of a page: %w", err)
	}
	source, err := decode(page, contentType)
	if err != nil {
		return nil, err
	}
	root, err := html.Parse(strings.NewReader(markLines(source)))
	if err != nil { // reading memory does not fail: the parser gave up on the depth
		return nil, ErrTooDeep
	}
	d := &Document{Root: root, URL: at, Base: at, Source: source}
	if base := First(root, func(n *html.Node) bool { return n.DataAtom == atom.Base && Has(n, "href") }); base != nil {
		if u, err := at.Parse(strings.TrimSpace(Attr(base, "href"))); err == nil &&
			(u.Scheme == "http" || u.Scheme == "https") {
			d.Base = u
		}
	}
	return d, nil
}

func decode(page []byte, contentType string) (string, error) {
	r, err := charset.NewReader(bytes.NewReader(page), contentType)
	if errors.Is(err, io.EOF) { // an empty page has no charset
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the charset of a page: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("reading the charset of a page: %w", err)
	}
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return strings.TrimPrefix(string(text), "\uFEFF"), nil
}

// markLines writes into each start tag the line that it is on, as its first
// attribute. The parser keeps no positions.
func markLines(source string) string {
	z := html.NewTokenizer(strings.NewReader(source))
	var b strings.Builder
	b.Grow(len(source) + len(source)/4)
	line := 1
	for {
		kind := z.Next()
		raw := z.Raw()
		if kind == html.ErrorToken {
			b.Write(raw) // an unfinished tag at the end
			return b.String()
		}
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken {
			if cut := bytes.IndexAny(raw, " \t\n\f\r/>"); cut > 1 {
				b.Write(raw[:cut])
				end := line + bytes.Count(raw, []byte{'\n'})
				b.WriteString(" " + lineMark + `="` + strconv.Itoa(line) + " " + strconv.Itoa(end) + `"`)
				line = end
				b.Write(raw[cut:])
				continue
			}
		}
		line += bytes.Count(raw, []byte{'\n'})
		b.Write(raw)
	}
}

// Line is the line that an element begins on, or the nearest one around it
// that the page wrote itself; 0 is unknown.
func Line(n *html.Node) int {
	for ; n != nil; n = n.Parent {
		if start, _ := marked(n); start > 0 {
			return start
		}
	}
	return 0
}

// TextLine is the line on which the start tag of an element ends and its
// content begins.
func TextLine(n *html.Node) int {
	if _, end := marked(n); end > 0 {
		return end
	}
	return Line(n)
}

// marked reads the mark of an element; without one both lines are 0.
func marked(n *html.Node) (start, end int) {
	if n.Type != html.ElementNode || len(n.Attr) == 0 || n.Attr[0].Key != lineMark {
		return 0, 0
	}
	first, second, _ := strings.Cut(n.Attr[0].Val, " ")
	start, err := strconv.Atoi(first)
	if err != nil {
		return 0, 0
	}
	end, err = strconv.Atoi(second)
	if err != nil {
		return 0, 0
	}
	return start, end
}

// Attr returns an attribute, or "" if it is absent.
func Attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// Has reports whether an attribute is there.
func Has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return true
		}
	}
	return false
}

// First finds the first element in reading order for which is returns true.
func First(root *html.Node, is func(*html.Node) bool) *html.Node {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && is(n) {
			return n
		}
	}
	return nil
}

// All finds up to most elements in reading order for which is returns true.
func All(root *html.Node, most int, is func(*html.Node) bool) []*html.Node {
	var found []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && is(n) {
			if len(found) == most {
				break
			}
			found = append(found, n)
		}
	}
	return found
}

// Within reports whether n is inside an element for which is returns true,
// itself included.
func Within(n *html.Node, is func(*html.Node) bool) bool {
	for ; n != nil; n = n.Parent {
		if n.Type == html.ElementNode && is(n) {
			return true
		}
	}
	return false
}

// Resolve makes a link absolute. Other links are returned as they are.
func (d *Document) Resolve(link string) string {
	link = strings.TrimSpace(link)
	u, err := d.Base.Parse(link)
	if err != nil {
		return link
	}
	return u.String()
}

// Words reports whether a list of words, as in class or rel, has a word.
func Words(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// Squeeze puts a text on one line with single spaces.
func Squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
