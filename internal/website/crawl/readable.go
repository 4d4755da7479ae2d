package crawl

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of the text of a page, in words.
const (
	shellWords  = 20  // an empty application shell has fewer
	blankWords  = 5   // a page that only loads scripts has fewer
	noticeWords = 60  // a notice that asks for scripts or a person has fewer
	signInWords = 100 // a sign-in form with fewer words around it is a wall
)

// CheckReadable is the one rule for when there is something to deliver: at
// least one of the pages that were read is usable. It returns a problem
// (Unprocessable) that names the reason: site_excludes_crawler if robots.txt
// keeps the crawler out, else site_not_readable.
func (s *Site) CheckReadable(pages ...*Page) error {
	if s.Excluded != nil {
		return problem.New(problem.Unprocessable, "site_excludes_crawler",
			"The website does not allow this crawler, so nothing was read: "+s.exclusion()+".").At("/url")
	}
	why := "has no page"
	for i, p := range pages {
		reason := p.Unusable()
		if reason == "" {
			return nil
		}
		if i == 0 {
			why = reason
		}
	}
	address := s.Origin.String()
	if len(pages) > 0 {
		address = pages[0].URL.String()
	}
	return problem.New(problem.Unprocessable, "site_not_readable",
		"No page of the website could be read: "+clipURL(address)+" "+why+
			". Make it respond with status 200 and HTML that holds its text, then try again.").At("/url")
}

// clipURL shortens a URL for a message.
func clipURL(address string) string {
	if len(address) > 200 {
		return strings.ToValidUTF8(address[:200], "") + "…"
	}
	return address
}

// exclusion names the rule that keeps the crawler out.
func (s *Site) exclusion() string {
	d := s.Excluded
	if d.Rule != "" {
		return fmt.Sprintf("line %d of robots.txt says %q for User-agent %q; allow %s there and try again",
			d.Line, d.Rule, cmp.Or(d.Agent, "*"), s.o.Agent)
	}
	why := fmt.Sprintf("responds with status %d", s.Robots.Response.Status)
	if f := s.Robots.Response.Failure; f != "" {
		why = f.String()
	}
	return "robots.txt " + why + ", which RFC 9309 treats as a ban on everything; make it respond with 200 or 404 " +
		"and try again"
}

// Unusable returns why a page holds nothing to describe, or "" if it does hold
// something. The text continues a sentence that begins with the page.
func (p *Page) Unusable() string {
	switch {
	case p.Failure != "" && (p.Failure != NotHTML || p.Response.Status == 200):
		return p.Failure.String()
	case p.Response.Status != 200 && p.Challenge() != "":
		return "asks visitors to prove that they are human (" + p.Challenge() + ")"
	case p.Response.Status != 200:
		return fmt.Sprintf("responds with status %d", p.Response.Status)
	case p.Document == nil:
		return NotHTML.String()
	case p.Challenge() != "":
		return "asks visitors to prove that they are human (" + p.Challenge() + ")"
	}
	return p.Document.unusable()
}

// scriptNotice is what pages say that show nothing without scripts.
var scriptNotice = regexp.MustCompile(
	`(?i)(enable|requires?|need|activate|turn on) (java ?script|scripts)|java ?script (is|must be|has to be) ` +
		`(disabled|required|enabled|turned on)`)

func (d *Document) unusable() string {
	text := dom.Visible(d.Root)
	words := Words(text)
	scripts, password := false, false
	for n := range d.Root.Descendants() {
		switch n.DataAtom {
		case atom.Script:
			scripts = scripts || loadsScript(n)
		case atom.Input:
			password = password ||
				strings.EqualFold(strings.TrimSpace(dom.Attr(n, "type")), "password") && !dom.Hidden(n)
		}
	}
	switch {
	case password && words < signInWords:
		return "is a sign-in form"
	case words < shellWords && d.AppRoot() != nil, words < blankWords && scripts,
		words < noticeWords && scripts && scriptNotice.MatchString(text):
		return "is empty until a script has run"
	case words == 0:
		return "holds no text"
	}
	return ""
}

func loadsScript(n *html.Node) bool {
	return dom.Attr(n, "src") != "" || strings.EqualFold(dom.Attr(n, "type"), "module")
}

// AppRoot returns the element that a script fills with the whole page: empty,
// and known by its name. It is nil if there is none.
func (d *Document) AppRoot() *html.Node {
	scripts := false
	var root *html.Node
	for n := range d.Root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		scripts = scripts || n.DataAtom == atom.Script && loadsScript(n)
		if root == nil && (n.DataAtom == atom.Div || n.DataAtom == atom.Main || strings.Contains(n.Data, "-")) &&
			isAppName(n) && Words(dom.Visible(n)) < shellWords {
			root = n
		}
	}
	if !scripts {
		return nil
	}
	return root
}

func isAppName(n *html.Node) bool {
	if n.Data == "app-root" {
		return true
	}
	switch strings.ToLower(dom.Attr(n, "id")) {
	case "root", "app", "__next", "__nuxt", "___gatsby", "svelte", "q-app", "app-root", "react-root", "main-app",
		"application":
		return true
	}
	return false
}

// challengeMarks appear in pages that ask a visitor to prove to be human.
var challengeMarks = []string{
	"cf-chl", "/cdn-cgi/challenge-platform", "captcha-delivery.com", "_Incapsula_Resource", "px-captcha",
	"/_sec/cp_challenge", "hcaptcha.com/1/api.js",
	"recaptcha/api.js", "Just a moment...", "awswaf.com", "kpsdk-",
}

// Challenge returns how a page keeps a polite, named crawler out, or "" if it
// does not.
func (p *Page) Challenge() string {
	r := p.Response
	if r.Header.Get("cf-mitigated") == "challenge" {
		return fmt.Sprintf("status %d, cf-mitigated: challenge", r.Status)
	}
	mark := ""
	if p.Document == nil || p.Document.MainWords < noticeWords {
		for _, m := range challengeMarks {
			if bytes.Contains(r.Body, []byte(m)) {
				mark = m
				break
			}
		}
	}
	switch {
	case r.Status == 403 || r.Status == 429:
		if mark != "" {
			return fmt.Sprintf("status %d with %q", r.Status, mark)
		}
		return fmt.Sprintf("status %d", r.Status)
	case r.Status == 503 && mark != "", r.Status == 200 && mark != "":
		return fmt.Sprintf("status %d with %q and hardly any text", r.Status, mark)
	}
	return ""
}
