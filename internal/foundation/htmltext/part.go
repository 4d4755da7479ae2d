package htmltext

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// mainPart finds what a page is about: its main element, its only article, or
// the body. Navigation and the like is left out while it is written.
func mainPart(root *html.Node, whole bool) []*html.Node {
	body := first(root, func(n *html.Node) bool { return n.DataAtom == atom.Body })
	if body == nil {
		return []*html.Node{root}
	}
	if whole {
		return []*html.Node{body}
	}
	for _, is := range []func(*html.Node) bool{
		func(n *html.Node) bool { return n.DataAtom == atom.Main || attr(n, "role") == "main" },
		func(n *html.Node) bool { return n.DataAtom == atom.Article },
	} {
		var found []*html.Node
		for n := range body.Descendants() {
			if n.Type == html.ElementNode && is(n) && !dropped(n) {
				found = append(found, n)
			}
		}
		if len(found) == 1 && len(plain(found[0])) > 0 {
			return found
		}
	}
	return []*html.Node{body}
}

// dropped reports whether an element is no part of what a page says: scripts,
// what is hidden, and what serves to move about.
func dropped(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Math, atom.Canvas, atom.Iframe,
		atom.Object, atom.Embed,
		atom.Nav, atom.Footer, atom.Aside, atom.Form, atom.Button, atom.Select, atom.Input, atom.Textarea, atom.Dialog,
		atom.Video, atom.Audio,
		atom.Map, atom.Head, atom.Title, atom.Datalist:
		return true
	case atom.Header:
		return !within(n, atom.Main, atom.Article)
	}
	if n.Namespace != "" || hasAttr(n, "hidden") || attr(n, "aria-hidden") == "true" {
		return true
	}
	switch strings.ToLower(attr(n, "role")) {
	case "navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog", "alertdialog":
		return true
	}
	return invisible(attr(n, "style"))
}

// invisible reads an inline style: text that people do not see is not for
// agents either, since that is how instructions are smuggled to them.
func invisible(style string) bool {
	if style == "" {
		return false
	}
	style = strings.ReplaceAll(strings.ToLower(style), " ", "")
	for _, s := range []string{"display:none", "visibility:hidden", "opacity:0;", "font-size:0;", "font-size:0px"} {
		if strings.Contains(style+";", s) {
			return true
		}
	}
	return false
}

func within(n *html.Node, kinds ...atom.Atom) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if slices.Contains(kinds, p.DataAtom) {
			return true
		}
	}
	return false
}

// blocks are the elements that begin a line of their own.
func block(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Center, atom.Dd, atom.Details,
		atom.Div, atom.Dl, atom.Dt,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Header, atom.Hgroup,
		atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Main, atom.Menu, atom.Ol, atom.P, atom.Pre, atom.Section,
		atom.Summary, atom.Table,
		atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul:
		return true
	}
	return n.Type == html.DocumentNode
}

// holdersOf finds the nodes that hold blocks, in one pass: asking each of many
// nested elements again would take the square of their number.
func holdersOf(root *html.Node) map[*html.Node]bool {
	holders := map[*html.Node]bool{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || !block(n) {
			continue
		}
		for p := n.Parent; p != nil && !holders[p]; p = p.Parent {
			holders[p] = true
		}
	}
	return holders
}
