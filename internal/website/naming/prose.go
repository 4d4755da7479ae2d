package naming

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of prose, in characters and pieces per page.
const (
	shortestProse = 20
	maxProse      = 60
	maxSections   = 4 // behind the headline: an opening is near the top
)

// findProse collects the pieces of text that may be prose, in document order.
func (p *page) findProse() {
	var before, behind, cells []block
	seen, sections := len(p.h1s) == 0, 0
	for n := range p.Root.Descendants() {
		if n.Type != html.ElementNode || len(behind) >= maxProse {
			continue
		}
		if len(p.h1s) > 0 && n == p.h1s[0] {
			seen = true
		}
		if seen && (n.DataAtom == atom.H2 || n.DataAtom == atom.H3) && !around(n) {
			if sections++; sections > maxSections && len(behind) > 0 {
				break
			}
		}
		if !leaf(n) || dom.Hidden(n) || skipped(n) {
			continue
		}
		text := proseText(n)
		if utf8.RuneCountInString(text) < shortestProse {
			continue
		}
		switch b := (block{n, text}); {
		case within(n, atom.Td, atom.Th):
			cells = append(cells, b)
		case seen:
			behind = append(behind, b)
		default:
			before = append(before, b)
		}
	}
	if len(behind)+len(before) == 0 { // a page that is laid out by tables
		behind = cells
	}
	p.before, p.behind = before, behind
}

// inOrder returns the prose in the order in which it may open the page: behind
// the headline first, or from the top if the page is not named by its headline.
func (p *page) inOrder(name *html.Node) []block {
	if len(p.h1s) > 0 && name == p.h1s[0] {
		return slices.Concat(p.behind, p.before)
	}
	return slices.Concat(p.before, p.behind)
}

// leaf reports whether an element holds text itself and no block inside.
func leaf(n *html.Node) bool {
	switch n.DataAtom {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Td, atom.Dd, atom.Body, atom.Center:
	default:
		return false
	}
	own := false
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			own = own || strings.TrimSpace(c.Data) != ""
		case c.Type == html.ElementNode && dom.Block(c) && c.DataAtom != atom.Br && !dom.Silent(c) &&
			c.DataAtom != atom.Img:
			return false
		case c.Type == html.ElementNode && n.DataAtom == atom.P:
			own = own || dom.Visible(c) != ""
		}
	}
	return own
}

// skipped reports whether text at a node is no prose of the page by its place.
func skipped(n *html.Node) bool {
	if around(n) || within(n, atom.Li, atom.Pre, atom.Form, atom.Blockquote, atom.Figure, atom.Figcaption,
		atom.Address, atom.Button, atom.Dt, atom.Details, atom.Table) && !within(n, atom.Td) {
		return true
	}
	return dom.Within(n, func(p *html.Node) bool {
		return notProse.MatchString(dom.Attr(p, "class")) ||
			p.DataAtom == atom.Li || p.DataAtom == atom.Pre || p.DataAtom == atom.Blockquote
	})
}

// notProse is how pages call text that is not what they are about.
var notProse = regexp.MustCompile(`(?i)(^|[\s_-])(toc|contents|copyright|byline|author|date|meta|footnotes?|caption|` +
	`admonition|alert|warning|notice|legalnotice|releaseinfo|pubdate|revhistory|blockquote|acknowledge?ments?|` +
	`description-list|versionmodified|deprecated)($|[\s_-])`)

// proseText is the text of an element without the notes that hang on it.
func proseText(n *html.Node) string {
	text := dom.Visible(n)
	text = footnote.ReplaceAllString(text, "")
	return strings.TrimSpace(strings.TrimRight(text, "¶"))
}

var footnote = regexp.MustCompile(`\s?\[\d{1,3}\]|¶`)

var (
	// byline is how lines begin that say who, when or by what right.
	byline = regexp.MustCompile(`(?i)^(by |written by|posted|published|author|authors|last (updated|modified|change)|` +
		`updated|created|modified|copyright|©|\(c\)|all rights reserved|this (document|page|file|manual|website) ` +
		`(was|is) ` +
		`(generated|created|copyright|part of|for)|generated (by|on|with)|table of contents|contents|keyboard ` +
		`navigation|` +
		`thanks to|special thanks|with thanks|many thanks|acknowledge?ments?|credits|version \d|release ` +
		`\d|date:|note:|` +
		`warning:|see also|also available|other lists|skip to|you are here|license|permission is|permission to|` +
		`portions of this|this (manual|document|program|software) is free|redistribution and use|this is ` +
		`distributed in the hope|` +
		`tel\.?:|phone:|fax:|e-?mail:|published on|edition)`)
	// labels are pairs such as "Author: Joey".
	labels = regexp.MustCompile(`\b\p{Lu}[\p{L} ]{2,24}: ?\S`)
	// postal is a line of an address.
	postal = regexp.MustCompile(
		`(?i)^\d+[a-z]? [\p{L}. ]+,? .*\b(street|st|road|rd|avenue|ave|lane|ln|drive|dr|square|` +
			`boulevard|blvd)\b|\b[A-Z]{2} \d{5}\b|\b(street|road|avenue|lane) [\p{Lu}][\p{L}]+ [\p{Lu}]`,
	)
	// script is what pages say about their own technique.
	script = regexp.MustCompile(
		`(?i)(enable java ?script|cookies? (to|policy)|java ?script is|your browser|page has moved|` +
			`(are|being|be) redirected)`,
	)
	announces = regexp.MustCompile(`(?i)\b(following|below|these|steps)\b`)
	ends      = regexp.MustCompile(`[.!?…。！？]["”’')\]]*(\s|$)`)
)

// usableProse returns the sentences of a block that may open a page, or "".
func usableProse(b block, name string) string {
	text := b.text
	switch {
	case byline.MatchString(text), Placeholder(text), isDate(text), postal.MatchString(text), !isProse(text),
		len(labels.FindAllString(text, 3)) >= 2 && !ends.MatchString(text), script.MatchString(text),
		strings.ContainsRune(text, utf8.RuneError), strings.HasPrefix(text, "("), linkShare(b.node) > 0.8:
		return ""
	case len(labels.FindAllString(text, 4)) >= 3, sameText(text, name):
		return ""
	}
	if announced, ok := strings.CutSuffix(text, ":"); ok && announces.MatchString(announced) {
		text = announced + "." // what it announces is not part of it
	}
	text = Sentences(text, 600)
	if text == "" || len(strings.Fields(text)) < 5 && !dense(text) {
		return ""
	}
	return text
}

// isProse reports whether a text reads like sentences, not like code or a list
// of options.
func isProse(text string) bool {
	letters, others := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsSpace(r):
			letters++
		case strings.ContainsRune(".,;:'’\"“”-–?!", r) || unicode.IsDigit(r):
		default:
			others++
		}
	}
	return others*12 <= letters
}

func dense(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= 0x3040 && unicode.IsLetter(r) }) >= 0
}

// linkShare is the part of the text of a node that is in links.
func linkShare(n *html.Node) float64 {
	whole := len(dom.Visible(n))
	if whole == 0 {
		return 0
	}
	linked := 0
	for _, a := range dom.All(n, 50, func(n *html.Node) bool { return n.DataAtom == atom.A && dom.Has(n, "href") }) {
		linked += len(dom.Visible(a))
	}
	return float64(linked) / float64(whole)
}

// Sentences returns the whole sentences at the beginning of a text that fit
// into a number of characters. It is empty if there is no whole sentence.
func Sentences(text string, most int) string {
	runes := []rune(text)
	end := 0
	for i, r := range runes {
		if i >= most {
			break
		}
		if !strings.ContainsRune(".!?…。！？", r) || abbreviated(runes[:i]) {
			continue
		}
		j := i + 1
		for j < len(runes) && strings.ContainsRune(`"”’')]`, runes[j]) {
			j++
		}
		if j == len(runes) || r > 0x2fff || unicode.IsSpace(runes[j]) && beginsSentence(runes[j:]) {
			end = min(j, most)
		}
	}
	return strings.TrimSpace(string(runes[:end]))
}

// beginsSentence reports whether a sentence begins behind white space: a small
// letter continues the one before.
func beginsSentence(rest []rune) bool {
	for _, r := range rest {
		if unicode.IsSpace(r) {
			continue
		}
		return !unicode.IsLower(r)
	}
	return true
}

// abbreviated reports whether the full stop behind a text ends no sentence.
func abbreviated(before []rune) bool {
	i := len(before)
	for i > 0 && (unicode.IsLetter(before[i-1]) || before[i-1] == '.') {
		i--
	}
	word := strings.ToLower(string(before[i:]))
	switch word {
	case "e.g", "i.e", "e", "g", "i", "z", "b", "z.b", "etc", "st", "dr", "mr", "mrs", "ms", "no", "nr", "vs", "ca",
		"approx", "inc", "ltd", "co", "prof", "fig", "eq", "sec", "vol", "ed", "cf", "al", "resp", "d.h", "u.a", "bzw",
		"usw", "ff", "jr", "sr", "u.s", "a.m", "p.m":
		return true
	}
	return len(before) > i && i+1 == len(before) && unicode.IsUpper(before[i]) // an initial
}

var dates = regexp.MustCompile(`(?i)^\W*((mon|tue|wed|thu|fri|sat|sun)\w*,?\s+)?(\d{1,2}(st|nd|rd|th|\.)?\s+)?` +
	`((jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.?,?\s+)?(\d{1,2}(st|nd|rd|th)?,?\s+)?` +
	`(\d{4}|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})?\W*(\d{1,2}:\d{2}(:\d{2})?)?\W*$`)

// isDate reports whether a text is nothing but a date.
func isDate(text string) bool {
	return strings.ContainsAny(text, "0123456789") && len(text) < 60 && dates.MatchString(text)
}

// IsDate reports whether a text is nothing but a date.
func IsDate(text string) bool { return isDate(strings.TrimSpace(text)) }

// placeholders are words of templates that were not replaced.
var placeholders = regexp.MustCompile(`(?i)\b(lorem ipsum|dolor sit amet|consectetur adipisi?cing|sed do eiusmod|` +
	`start ?bootstrap( theme)?|your (company|website|site|name|logo|title|text) (here|name|goes here)|\[your [a-z ` +
	`]+\]|` +
	`(company|site|website|business) name here|insert (text|title|name) here|your website ` +
	`\d{4}|name@(email|example)\.com|` +
	`adipisi?c(i|ing) elit|(nostrum|quisquam|aspernatur|voluptat\w+|laboriosam|perspiciatis|similique)\W.*` +
	`\b(nostrum|quisquam|aspernatur|voluptat\w+|laboriosam|perspiciatis|dolor\w*|deserunt))\b`)

// Placeholder reports whether a text is one of a template that was not
// replaced.
func Placeholder(text string) bool { return placeholders.MatchString(text) }

// placeholderOf returns a placeholder that the main text of a page holds.
func placeholderOf(p *page) string {
	if m := placeholders.FindString(dom.Visible(p.Root)); m != "" {
		return m
	}
	return ""
}
