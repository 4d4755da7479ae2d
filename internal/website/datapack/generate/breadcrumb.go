package generate

import (
	"net/url"
	"regexp"
	"strings"

	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// crumb is one step of the way to the page; the last has no link of its own.
type crumb struct {
	name Fact
	url  string
}

const maxCrumbs = 8

var crumbClass = regexp.MustCompile(`(?i)bread-?crumbs?`)

// breadcrumb is the way to the page: as the page shows it, or else the parts of
// its address as far as the page links them.
func (v *view) breadcrumb(self Fact) []crumb {
	if v.Home {
		return nil
	}
	holder := dom.First(v.Doc.Root, func(n *html.Node) bool {
		return crumbClass.MatchString(dom.Attr(n, "aria-label")) || crumbClass.MatchString(dom.Attr(n, "class")) ||
			crumbClass.MatchString(dom.Attr(n, "id")) ||
			n.DataAtom == atom.Nav && strings.ContainsAny(dom.Visible(n), "›»") && len(dom.Visible(n)) < 200
	})
	if holder != nil {
		if crumbs := v.shown(holder, self); len(crumbs) >= 2 {
			return crumbs
		}
	}
	return v.path(self)
}

// shown reads the links of the element that shows the way.
func (v *view) shown(holder *html.Node, self Fact) []crumb {
	here := v.here()
	var crumbs []crumb
	for _, n := range dom.All(holder, maxCrumbs+1,
		func(n *html.Node) bool { return n.DataAtom == atom.A && dom.Has(n, "href") }) {
		name := strings.Trim(dom.Visible(n), " ›»>/\u00a0")
		u, err := url.Parse(v.web(dom.Attr(n, "href")))
		if name == "" {
			name = dom.Squeeze(dom.Attr(n, "aria-label"))
		}
		if name == "" || err != nil || u.Host == "" || len(crumbs) == maxCrumbs {
			return nil
		}
		u.Fragment = ""
		if sameAddress(u, here) {
			crumbs = append(crumbs, crumb{name: v.found("breadcrumb", n, name, name)})
			return crumbs
		}
		crumbs = append(crumbs, crumb{v.found("breadcrumb", n, name, name), u.String()})
	}
	if !self.ok() {
		return nil
	}
	return append(crumbs, crumb{name: self})
}

func (v *view) here() *url.URL {
	here, err := url.Parse(v.url)
	if err != nil {
		return v.Doc.URL
	}
	return here
}

// path follows the parts of the address: each must be linked from the page
// under a short name.
func (v *view) path(self Fact) []crumb {
	here := v.here()
	parts := strings.Split(strings.Trim(here.Path, "/"), "/")
	if !self.ok() || len(parts) > maxCrumbs-1 {
		return nil
	}
	var crumbs []crumb
	for i := range parts {
		step := &url.URL{Scheme: here.Scheme, Host: here.Host, Path: "/" + strings.Join(parts[:i], "/")}
		found, ok := v.called(step)
		if !ok {
			return nil
		}
		crumbs = append(crumbs, found)
	}
	if len(crumbs) == 0 {
		return nil
	}
	return append(crumbs, crumb{name: self})
}

// called finds what the page calls an address that it links.
func (v *view) called(step *url.URL) (crumb, bool) {
	for _, a := range v.links {
		if sameAddress(a.url, step) && a.text != "" && len(a.text) <= 60 {
			return crumb{v.found("link to "+a.url.Path, a.node, a.text, a.text), a.url.String()}, true
		}
	}
	return crumb{}, false
}
