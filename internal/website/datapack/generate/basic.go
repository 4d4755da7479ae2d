package generate

import (
	"cmp"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"ace/internal/website/naming"

	"ace/internal/website/datapack/written"
	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// name is what the page is called, by the rules of naming.
func (v *view) name(site *Site) Fact {
	d := site.described(v.Page)
	if d.Name == "" {
		return Fact{}
	}
	if d.NameNode.DataAtom == atom.Meta {
		return v.found("og:title", d.NameNode, d.Name, dom.Squeeze(dom.Attr(d.NameNode, "content")))
	}
	return v.found(d.NameNode.Data, d.NameNode, d.Name, dom.Squeeze(dom.Text(d.NameNode)))
}

const maxDescription = 300 // characters

// description is how the page describes itself: what it alone says of itself in
// its head, or else its opening.
func (v *view) description(site *Site) Fact {
	d := site.described(v.Page)
	if d.Description != "" {
		return v.found("description", d.DescriptionNode, sentences(d.Description, 500), d.Description)
	}
	if v.Home && site.slogan != "" {
		if f := v.meta("description"); f.Text == site.slogan {
			return f
		}
	}
	if f := v.meta("og:description", "twitter:description"); f.ok() && !naming.Placeholder(f.Text) &&
		f.Text != site.slogan && v.metas["description"] == nil {
		f.Text = sentences(f.Text, 500)
		return f
	}
	if text := cmp.Or(naming.Sentences(d.Opening, maxDescription), sentences(d.Opening, maxDescription)); text != "" {
		return v.found("first paragraph", d.OpeningNode, text, d.Opening)
	}
	return Fact{}
}

// sentences cuts a text behind the last sentence that fits, or else between
// words.
func sentences(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	cut := string(runes[:most])
	if i := strings.LastIndexAny(cut, ".!?"); i > most/3 {
		return cut[:i+1]
	}
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		return cut[:i]
	}
	return cut
}

// leastImage is the width in pixels that Google asks of images of articles.
const leastImage = 696

// image is the picture of the page: the one that it names for sharing, or the
// largest of its main part. A picture that other pages name as well shows the
// website, not the page.
func (v *view) image(about string, site *Site) Fact {
	for _, name := range []string{"og:image:secure_url", "og:image", "og:image:url", "twitter:image"} {
		if f := v.meta(name); f.ok() && v.web(f.Text) != "" && (v.Home || f.Text != site.picture) {
			f.Text = v.web(f.Text)
			return f
		}
	}
	var best *html.Node
	width := leastImage - 1
	for _, n := range dom.All(v.main, 300, func(n *html.Node) bool { return n.DataAtom == atom.Img }) {
		w, err := strconv.Atoi(strings.TrimSuffix(dom.Attr(n, "width"), "px"))
		if err == nil && w > width && !aside(n) && v.web(dom.Attr(n, "src")) != "" {
			best, width = n, w
		}
		// A picture without its width counts where it shows what the page is about.
		if err != nil && best == nil && about != "" && !aside(n) && sameThing(dom.Attr(n, "alt"), about) &&
			v.web(dom.Attr(n, "src")) != "" {
			best = n
		}
	}
	if best == nil {
		return Fact{}
	}
	return v.found("largest image", best, v.web(dom.Attr(best, "src")), dom.Attr(best, "src"))
}

// sameThing reports whether two texts share most of the words of the second.
func sameThing(alt, name string) bool {
	words := strings.Fields(strings.ToLower(name))
	if len(words) == 0 || alt == "" {
		return false
	}
	alt = " " + strings.ToLower(alt) + " "
	shared := 0
	for _, w := range words {
		if strings.Contains(alt, w) {
			shared++
		}
	}
	return shared*2 > len(words)
}

// web makes a link absolute; what is no web address is "".
func (v *view) web(link string) string {
	u, err := v.Doc.Base.Parse(strings.TrimSpace(link))
	if err != nil || link == "" || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}

// published and modified are the days of the page.
func (v *view) published(g *Generator) Fact {
	if f := timeFact(v.meta("article:published_time", "og:article:published_time", "dc.date", "dcterms.created", "date",
		"citation_publication_date")); f.ok() {
		return f
	}
	if f := timeFact(v.existing(g, []string{"CreativeWork"}, "datePublished")); f.ok() {
		return f
	}
	if f := v.dated(publishedWords); f.ok() {
		return f
	}
	return v.firstTime()
}

func (v *view) modified(g *Generator) Fact {
	if f := timeFact(v.meta("article:modified_time", "og:updated_time", "dcterms.modified")); f.ok() {
		return f
	}
	if f := timeFact(v.existing(g, []string{"CreativeWork"}, "dateModified")); f.ok() {
		return f
	}
	return v.dated(modifiedWords)
}

var (
	publishedWords = regexp.MustCompile(
		`(?i)\b(published|posted|first published|veröffentlicht|erschienen|publié|publicado|pubblicato|gepubliceerd)\b`)
	modifiedWords = regexp.MustCompile(
		`(?i)\b(updated|last updated|modified|revised|reviewed|aktualisiert|geändert|mis à ` +
			`jour|actualizado|aggiornato|bijgewerkt)\b`,
	)
)

// timeFact keeps a fact that is a day or a moment of ISO 8601.
func timeFact(f Fact) Fact {
	text := strings.TrimSpace(f.Text)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05-0700", "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			f.Text = t.Format(time.RFC3339)
			return f
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if _, err := time.Parse(layout, text); err == nil {
			f.Text = text
			return f
		}
	}
	return Fact{}
}

// dated finds a small block that names one day beside a word such as
// "published".
func (v *view) dated(words *regexp.Regexp) Fact {
	for _, b := range v.blocks {
		place := words.FindStringIndex(b.text)
		if place == nil || len(b.text) > 160 {
			continue
		}
		if n := dom.First(b.node, isTime); n != nil {
			if f := timeFact(v.found("time beside "+b.text[place[0]:place[1]], n, dom.Attr(n, "datetime"),
				b.text)); f.ok() && len(dom.All(b.node, 2, isTime)) == 1 {
				return f
			}
		}
		rest := b.text[place[1]:]
		if i := strings.IndexAny(rest, ";·|"); i >= 0 {
			rest = rest[:i]
		}
		if days := written.Dates(rest); len(days) == 1 {
			return v.found("text", b.node, days[0], b.text)
		}
	}
	return Fact{}
}

func isTime(n *html.Node) bool { return n.DataAtom == atom.Time && dom.Has(n, "datetime") }

// firstTime is the only time element of the heading's surroundings: a byline.
func (v *view) firstTime() Fact {
	times := dom.All(v.main, 3, func(n *html.Node) bool { return isTime(n) && !aside(n) })
	if len(times) != 1 {
		return Fact{}
	}
	text := dom.Text(times[0])
	f := timeFact(v.found("time", times[0], dom.Attr(times[0], "datetime"), text))
	if len(f.Text) < len(time.DateOnly) {
		return Fact{}
	}
	return f
}

var (
	byline     = regexp.MustCompile(`(?i)(^|[\s_-])(by-?line|author|p-author|post-author|entry-author)($|[\s_-])`)
	byWords    = regexp.MustCompile(`^(?i:written by|by|von|par|por|di|door)\s+`)
	personName = regexp.MustCompile(
		`^\p{Lu}[\p{L}'’.-]*(\s+(?:(?:van|von|de|der|den|la|le|da|di|du|bin|al|del|dos)\s+)*\p{Lu}[\p{L}'’.-]*){1,3}$`)
)

// author is who wrote the page: name and, where it is linked, the address.
func (v *view) author(g *Generator) (name, address Fact) {
	if n := dom.First(v.Doc.Root, func(n *html.Node) bool {
		return n.DataAtom == atom.A && dom.Words(dom.Attr(n, "rel"), "author") && dom.Visible(n) != ""
	}); n != nil {
		if text := person(dom.Visible(n)); text != "" {
			return v.found("rel=author", n, text, dom.Visible(n)), v.found("rel=author", n, v.web(dom.Attr(n, "href")),
				dom.Attr(n, "href"))
		}
	}
	if f := v.existing(g, []string{"CreativeWork"}, "author"); f.ok() && person(f.Text) != "" {
		return f, Fact{}
	}
	for _, b := range v.blocks {
		called := dom.Within(b.node, func(n *html.Node) bool { return class(n, byline) })
		begins := byWords.MatchString(b.text) && len(b.text) < 100
		if !called && !begins {
			continue
		}
		if text := person(b.text); text != "" {
			name = v.found("byline", b.node, text, b.text)
			if a := dom.First(b.node, func(n *html.Node) bool {
				return n.DataAtom == atom.A &&
					strings.Contains(dom.Visible(n), text)
			}); a != nil {
				address = v.found("byline", a, v.web(dom.Attr(a, "href")), dom.Attr(a, "href"))
			}
			return name, address
		}
	}
	if f := v.meta("author", "article:author", "dc.creator", "citation_author"); f.ok() {
		if text := person(f.Text); text != "" {
			f.Text = text
			return f, Fact{}
		}
	}
	return Fact{}, Fact{}
}

// person takes a person's name out of a byline, or returns "".
func person(text string) string {
	text = byWords.ReplaceAllString(strings.TrimSpace(text), "")
	for _, cut := range []string{"|", "·", "•", ",", " on ", " am ", " le ", " – ", " — "} {
		text, _, _ = strings.Cut(text, cut)
	}
	text = strings.TrimSpace(text)
	if len(text) > 60 || !personName.MatchString(text) {
		return ""
	}
	return text
}

// sameAddress reports whether two addresses are the same page.
func sameAddress(a, b *url.URL) bool {
	return a.Host == b.Host && strings.TrimSuffix(a.Path, "/") == strings.TrimSuffix(b.Path, "/") &&
		a.RawQuery == b.RawQuery
}
