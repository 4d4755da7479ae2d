package generate

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"ace/internal/website/datapack/ld"
	"ace/internal/website/datapack/markup"
	"ace/internal/website/dom"
	"ace/internal/website/naming"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Site is what all pages of a website share: who runs it.
type Site struct {
	Origin string
	Name   Fact
	// Organization and WebSite are the nodes that are in the graph of every
	// page; Organization is empty where the pages do not say who runs the site.
	Organization, WebSite ld.Node
	Sources               map[string]Source
	Needs                 []Need

	picture string // that several pages share: it shows none of them
	names   map[*Page]naming.Described
	slogan  string // description of the site as a whole
}

// Ids of the two nodes, below the origin, unless the site has given them ids.
const (
	organizationID = "/#organization"
	websiteID      = "/#website"
)

// Site reads the facts that the pages share. The first page is the home page.
func (g *Generator) Site(pages []*Page) *Site {
	s := &Site{Sources: map[string]Source{}}
	if len(pages) == 0 {
		return s
	}
	views := make([]*view, len(pages))
	for i, p := range pages {
		views[i] = newView(p)
	}
	home := views[0]
	s.Origin = home.origin
	s.Name = g.statedName(views)
	if f := s.call(views, s.Name.Text); f.ok() && !s.Name.ok() {
		s.Name = f
	}
	s.picture = sharedPicture(views)
	b := &notebook{sources: s.Sources}
	s.organization(g, b, views)
	s.website(g, b, home)
	s.Needs = b.needs
	return s
}

// sharedPicture is the og:image of more than one page.
func sharedPicture(views []*view) string {
	seen := map[string]bool{}
	for _, v := range views {
		f := v.meta("og:image:secure_url", "og:image", "og:image:url", "twitter:image")
		if f.ok() && seen[f.Text] {
			return f.Text
		}
		seen[f.Text] = true
	}
	return ""
}

// call lets the rules of naming decide what the pages are called. It returns
// the name of the site.
func (s *Site) call(views []*view, stated string) Fact {
	pages := make([]naming.Page, len(views))
	for i, v := range views {
		pages[i] = naming.Page{Root: v.Doc.Root, URL: v.Doc.URL, Home: i == 0}
	}
	site := naming.Read(pages, stated)
	s.names, s.slogan = map[*Page]naming.Described{}, site.Description
	for i, v := range views {
		s.names[v.Page] = site.Of(i)
	}
	v := views[site.NamePage]
	home := views[0]
	said := home.Home && home.h1 != nil && len(strings.Fields(site.Name)) <= 6 &&
		strings.Contains(strings.ToLower(dom.Visible(home.h1)), strings.ToLower(site.Name))
	if site.Name == "" || v.title == nil || !site.Sure && !said || strings.Contains(site.Name, ",") {
		return Fact{}
	}
	return v.found("titles", v.title, site.Name, dom.Squeeze(dom.Text(v.title)))
}

// described is what a page is called.
func (s *Site) described(p *Page) naming.Described {
	if d, ok := s.names[p]; ok {
		return d
	}
	return naming.Read([]naming.Page{{Root: p.Doc.Root, URL: p.Doc.URL, Home: p.Home}}, s.Name.Text).Of(0)
}

// statedName is the name that the pages state: og:site_name, or their markup.
func (g *Generator) statedName(views []*view) Fact {
	for _, v := range views {
		if f := v.meta("og:site_name", "application-name"); f.ok() && !naming.Placeholder(f.Text) &&
			!naming.IsHost(f.Text, v.Doc.URL) {
			return f
		}
	}
	for _, types := range [][]string{{"WebSite"}, {"Organization"}} {
		for _, v := range views {
			for _, n := range v.Graph.Nodes {
				if name := dom.Squeeze(n.First("name")); name != "" && slices.ContainsFunc(n.Types,
					func(t string) bool { return g.vocabulary.IsA(t, types[0]) }) && vocabularySource(n) {
					return v.stated(n, n.Line, name)
				}
			}
		}
	}
	return Fact{}
}

func vocabularySource(n *markup.Node) bool {
	return n.Source == markup.JSONLD || n.Source == markup.Microdata || n.Source == markup.RDFa
}

// organization describes who runs the website.
func (s *Site) organization(g *Generator, b *notebook, views []*view) {
	home := views[0]
	if !s.Name.ok() {
		b.need("Organization.name",
			"The pages do not agree on a name: no og:site_name, no markup, no common part of the titles.")
		return
	}
	n := ld.Of("@type", "Organization", "@id", g.idOf(views, "Organization", s.Origin+organizationID))
	n.Set("name", b.use("Organization.name", s.Name))
	n.Set("url", s.Origin+"/")
	if logo := g.logo(views, s.Name.Text); logo.ok() {
		n.Set("logo", ld.Of("@type", "ImageObject", "@id", s.Origin+"/#logo", "url", b.use("Organization.logo", logo)))
	} else {
		b.need("Organization.logo", "No image of the header is called a logo.")
	}
	if f := s.existing(g, views, "description"); f.ok() {
		n.Set("description", b.use("Organization.description", f))
	}
	if links := g.sameAs(b, views, s.Name.Text); len(links) > 0 {
		n.Set("sameAs", links)
	} else {
		b.need("Organization.sameAs", "The pages link no profile on another website.")
	}
	s.contact(g, b, views, &n)
	for _, name := range []string{"legalName", "vatID", "taxID", "foundingDate"} {
		if f := s.existing(g, views, name); f.ok() {
			n.Set(name, b.use("Organization."+name, f))
		}
	}
	if f := home.lang(); f.ok() {
		b.use("WebSite.inLanguage", f)
	}
	if len(n) <= 4 && !stated(g, views) { // type, id, name, url: the name may be that of a product or a book
		delete(s.Sources, "Organization.name")
		b.needs = slices.DeleteFunc(b.needs, func(need Need) bool {
			return strings.HasPrefix(need.Path, "Organization.")
		})
		b.need("Organization.name", "The pages do not say who runs the website: no logo, profile, contact or markup.")
		return
	}
	s.Organization = n
}

// stated reports whether the pages' own markup describes an organization.
func stated(g *Generator, views []*view) bool {
	return slices.ContainsFunc(views, func(v *view) bool { return len(v.things(g, "Organization")) > 0 })
}

// idOf keeps the id that the pages use for their thing of a type.
func (g *Generator) idOf(views []*view, typ, fallback string) string {
	for _, v := range views {
		for _, n := range v.things(g, typ) {
			if n.Source == markup.JSONLD && n.Is(typ) && strings.HasPrefix(n.ID, v.origin) && strings.Contains(n.ID,
				"#") {
				return n.ID
			}
		}
	}
	return fallback
}

// existing reads a property of the organization from the pages' own markup.
func (s *Site) existing(g *Generator, views []*view, name string) Fact {
	for _, v := range views {
		for _, n := range v.things(g, "Organization") {
			if !strings.EqualFold(dom.Squeeze(n.First("name")), s.Name.Text) {
				continue
			}
			for _, value := range n.Prop(name) {
				if text := dom.Squeeze(value.String()); text != "" && value.Kind != markup.Thing {
					return v.stated(n, value.Line, text)
				}
			}
		}
	}
	return Fact{}
}

var logoWords = regexp.MustCompile(`(?i)(^|[^a-z])logo([^a-z]|$)`)

// logo is the image that a page calls the logo.
func (g *Generator) logo(views []*view, name string) Fact {
	for _, v := range views {
		for _, n := range v.things(g, "Organization") {
			if !strings.EqualFold(dom.Squeeze(n.First("name")), name) {
				continue
			}
			for _, value := range n.Prop("logo") {
				if address := v.web(value.String()); address != "" {
					return v.stated(n, value.Line, address)
				}
			}
		}
	}
	for _, v := range views {
		n := dom.First(v.Doc.Root, func(n *html.Node) bool {
			if n.DataAtom != atom.Img || v.web(dom.Attr(n, "src")) == "" || dom.Hidden(n) {
				return false
			}
			called := logoWords.MatchString(dom.Attr(n, "class") + " " + dom.Attr(n, "id") + " " + dom.Attr(n,
				"alt") + " " + dom.Attr(n, "src"))
			return called && dom.Within(n, func(p *html.Node) bool {
				return p.DataAtom == atom.Header || p.DataAtom == atom.Nav || p.DataAtom == atom.A && v.leadsHome(p)
			})
		})
		if n != nil {
			return v.found("logo", n, v.web(dom.Attr(n, "src")), dom.Attr(n, "src"))
		}
	}
	return Fact{}
}

func (v *view) leadsHome(a *html.Node) bool {
	u, err := v.Doc.Base.Parse(dom.Attr(a, "href"))
	return err == nil && u.Host == v.here().Host && strings.Trim(u.Path, "/") == ""
}

// profiles are the hosts whose pages are profiles of people and organizations,
// with the form of their paths.
var profiles = []struct {
	host string
	path *regexp.Regexp
}{
	{"facebook.com", regexp.MustCompile(`^/[\w.-]{3,}/?$`)},
	{"instagram.com", regexp.MustCompile(`^/[\w.]{2,}/?$`)},
	{"twitter.com", regexp.MustCompile(`^/\w{2,15}/?$`)},
	{"x.com", regexp.MustCompile(`^/\w{2,15}/?$`)},
	{"linkedin.com", regexp.MustCompile(`^/(company|in|school)/[^/]+/?$`)},
	{"youtube.com", regexp.MustCompile(`^/(@[^/]+|c/[^/]+|channel/[^/]+|user/[^/]+)/?$`)},
	{"tiktok.com", regexp.MustCompile(`^/@[^/]+/?$`)},
	{"pinterest.com", regexp.MustCompile(`^/[\w-]+/?$`)},
	{"github.com", regexp.MustCompile(`^/[\w-]+/?$`)},
	{"gitlab.com", regexp.MustCompile(`^/[\w-]+/?$`)},
	{"bsky.app", regexp.MustCompile(`^/profile/[^/]+/?$`)},
	{"threads.net", regexp.MustCompile(`^/@[^/]+/?$`)},
	{"crunchbase.com", regexp.MustCompile(`^/organization/[^/]+/?$`)},
	{"wikidata.org", regexp.MustCompile(`^/(wiki|entity)/Q\d+$`)},
	{"wikipedia.org", regexp.MustCompile(`^/wiki/[^/:]+$`)},
	{"xing.com", regexp.MustCompile(`^/(pages|companies|profile)/[^/]+/?$`)},
}

// notProfiles are first words of paths that are no profiles.
var notProfiles = regexp.MustCompile(
	`(?i)^/(share|sharer|sharer\.php|intent|home|login|signup|search|explore|hashtag|dialog|plugins|tr|pin|about` +
		`|features|pricing|topics|orgs|marketplace|settings|privacy|legal|policies|help|watch|embed|i)\b`,
)

const maxProfiles = 12

// sameAs are the profiles that the pages link outside their main parts, or that
// their markup names.
func (g *Generator) sameAs(b *notebook, views []*view, name string) []any {
	var links []any
	add := func(f Fact) {
		if f.ok() && len(links) < maxProfiles && !slices.Contains(links, any(f.Text)) {
			if len(links) == 0 {
				b.use("Organization.sameAs", f)
			}
			links = append(links, f.Text)
		}
	}
	for _, v := range views {
		for _, n := range v.things(g, "Organization") {
			if !strings.EqualFold(dom.Squeeze(n.First("name")), name) {
				continue
			}
			for _, value := range n.Prop("sameAs") {
				if address := v.web(value.Text); address != "" {
					add(v.stated(n, value.Line, address))
				}
			}
		}
		for _, a := range v.links {
			if isProfile(a.url) && (!a.main || dom.Words(dom.Attr(a.node, "rel"), "me")) {
				add(v.found("link to a profile", a.node, a.url.String(), dom.Attr(a.node, "href")))
			}
		}
	}
	slices.SortFunc(links, func(x, y any) int { return cmp.Compare(x.(string), y.(string)) })
	return links
}

func isProfile(u *url.URL) bool {
	host := strings.TrimPrefix(strings.ToLower(u.Host), "www.")
	if u.RawQuery != "" || notProfiles.MatchString(u.Path) {
		return false
	}
	for _, p := range profiles {
		if (host == p.host || strings.HasSuffix(host, "."+p.host)) && p.path.MatchString(u.Path) {
			return true
		}
	}
	return false
}

// contact adds how to reach the organization: from the footer of the home page,
// or from a page about contact.
func (s *Site) contact(g *Generator, b *notebook, views []*view, n *ld.Node) {
	var mail, phone Fact
	g.existingAddress(b, views, s.Name.Text, n)
	for _, v := range s.contactPages(views) {
		for _, part := range v.contactParts() {
			if !mail.ok() {
				mail = v.email(part)
			}
			if !phone.ok() {
				phone = v.telephone(part)
			}
			if a, ok := v.address(part); ok && !n.Has("address") {
				n.Set("address", a.node(b, "Organization"))
			}
		}
	}
	point := ld.Of("@type", "ContactPoint", "contactType", "customer service")
	if mail.ok() {
		point.Set("email", b.use("Organization.contactPoint.email", mail))
	}
	if phone.ok() {
		point.Set("telephone", b.use("Organization.contactPoint.telephone", phone))
	}
	if len(point) > 2 {
		point.Drop("contactType") // what the contact is for is not said
		n.Set("contactPoint", point)
	}
}

// contactPages are the home page and those that are about contact by their
// address.
func (s *Site) contactPages(views []*view) []*view {
	all := []*view{views[0]}
	for _, v := range views[1:] {
		if contactPath.MatchString(v.here().Path) {
			all = append(all, v)
		}
	}
	return all
}

var contactPath = regexp.MustCompile(
	`(?i)/(contact(-us)?|kontakt|about(-us)?|imprint|impressum|legal-notice)(\.html?|/)?$`)

// contactParts are the footer, and on a page about contact the main part too.
func (v *view) contactParts() []*html.Node {
	parts := dom.All(v.Doc.Root, 3, func(n *html.Node) bool {
		return n.DataAtom == atom.Footer || footerName.MatchString(dom.Attr(n, "id")+" "+dom.Attr(n, "class"))
	})
	if contactPath.MatchString(v.here().Path) {
		parts = append(parts, v.main)
	}
	return parts
}

var footerName = regexp.MustCompile(`(?i)(^|[\s_-])footer($|[\s_-])`)

// existingAddress keeps the address that the pages' own markup gives.
func (g *Generator) existingAddress(b *notebook, views []*view, name string, n *ld.Node) {
	for _, v := range views {
		for _, o := range v.things(g, "Organization") {
			if !strings.EqualFold(dom.Squeeze(o.First("name")), name) {
				continue
			}
			for _, value := range o.Prop("address") {
				if inner := v.Graph.Follow(value); inner != nil {
					n.Set("address", g.retain(v.Graph, inner, 0))
					b.use("Organization.address", v.stated(inner, inner.Line, inner.First("streetAddress")))
					return
				}
				if value.Text != "" {
					n.Set("address", value.Text)
					return
				}
			}
		}
	}
}

// website describes the website as a whole.
func (s *Site) website(g *Generator, b *notebook, home *view) {
	n := ld.Of("@type", "WebSite", "@id", g.idOf([]*view{home}, "WebSite", s.Origin+websiteID))
	if s.Name.ok() {
		n.Set("name", b.use("WebSite.name", s.Name))
	} else {
		b.need("WebSite.name", "The pages do not agree on a name.")
	}
	n.Set("url", s.Origin+"/")
	if home.Home {
		if f := home.description(s); f.ok() {
			n.Set("description", b.use("WebSite.description", f))
		}
	}
	if f := home.lang(); f.ok() {
		n.Set("inLanguage", b.use("WebSite.inLanguage", f))
	}
	if id := s.Organization.Text("@id"); id != "" {
		n.Set("publisher", ld.Ref(id))
	}
	s.WebSite = n
}
