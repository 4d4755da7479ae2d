package discovery_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/storetest"
)

// llms is an llms.txt as llmstxt.org describes it.
type llms struct {
	title, summary string
	sections       []llmsSection
}

type llmsSection struct {
	name  string
	links []llmsLink
}

type llmsLink struct{ title, address, note string }

// parseLLMs reads an llms.txt by the rules of the proposal: one H1, a quote,
// text without headings, then sections that hold nothing but lists of links.
func parseLLMs(t *testing.T, text string) llms {
	t.Helper()
	item := regexp.MustCompile(`^- \[((?:[^\]\\]|\\.)+)\]\((\S+)\)(?:: (.+))?$`)
	var l llms
	for i, line := range strings.Split(text, "\n") {
		section := len(l.sections) - 1
		switch {
		case i == 0:
			title, ok := strings.CutPrefix(line, "# ")
			if !ok || title == "" {
				t.Fatalf("line 1 is %q, want the H1", line)
			}
			l.title = title
		case strings.HasPrefix(line, "## "):
			l.sections = append(l.sections, llmsSection{name: line[3:]})
		case strings.HasPrefix(line, "#"):
			t.Errorf("line %d is another heading: %q", i+1, line)
		case strings.HasPrefix(line, "> ") && l.summary == "" && section < 0:
			l.summary = line[2:]
		case section < 0, line == "", strings.HasPrefix(line, "There are "):
		default:
			m := item.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("line %d of a section is no link: %q", i+1, line)
			}
			l.sections[section].links = append(l.sections[section].links, llmsLink{m[1], m[2], m[3]})
		}
	}
	return l
}

func TestLLMsText(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	text := string(w.Do(http.MethodGet, "/llms.txt", "").Body)
	l := parseLLMs(t, text)
	if l.title != "Test Store" || l.summary == "" || utf8.RuneCountInString(text) >= 30_000 {
		t.Errorf("title %q, summary %q, %d characters", l.title, l.summary, utf8.RuneCountInString(text))
	}
	var names []string
	links, markdown := 0, 0
	for _, s := range l.sections {
		names = append(names, s.name)
		for _, link := range s.links {
			links++
			r := w.Do(http.MethodGet, link.address, "")
			if r.Status == http.StatusOK && strings.HasPrefix(r.Header.Get("Content-Type"), "text/markdown") {
				markdown++
			} else {
				t.Errorf("%s = %d %s", link.address, r.Status, r.Header.Get("Content-Type"))
			}
		}
	}
	if got := strings.Join(names, ", "); got != "When to use this site, Pages, Products, Optional" {
		t.Errorf("sections = %s", got)
	}
	if links < 18 || markdown*10 < links*9 {
		t.Errorf("%d of %d links lead to Markdown", markdown, links)
	}
	for _, e := range []string{"/products", "/docs", "/about", "/terms", "/products/home_box", "/index"} {
		if !strings.Contains(text, "("+w.URL+e+".md)") {
			t.Errorf("%s is missing", e)
		}
	}
}

// TestLLMsTextOfALargeSite stays readable and says where the rest is.
func TestLLMsTextOfALargeSite(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t, storetest.Discoverable(t), func(d *storehttp.Deps) {
		base, err := url.Parse(d.Site.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		d.Pages = site.New(base, []site.Source{storetest.ManyPages(20_000)}, d.Log, nil)
		if err := d.Pages.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	text := string(w.Do(http.MethodGet, "/llms.txt", "").Body)
	l := parseLLMs(t, text)
	if n := utf8.RuneCountInString(text); n >= 30_000 || n < 20_000 {
		t.Errorf("%d characters", n)
	}
	if !regexp.MustCompile(`There are 19\d{3} more pages: ` + regexp.QuoteMeta(w.URL) + `/sitemap.xml`).MatchString(
		text) {
		t.Errorf("the end is %q", text[len(text)-200:])
	}
	if last := l.sections[len(l.sections)-1].links[0]; last.address != w.URL+"/p&q/000006.md" {
		t.Errorf("a link = %+v", last)
	}
}

// robotsGroups reads robots.txt by the rules of RFC 9309: the lines of a group,
// by the name of each agent that it is for.
func robotsGroups(t *testing.T, text string) (groups map[string][]string, rest []string) {
	t.Helper()
	groups = map[string][]string{}
	var agents []string
	inRules := false
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch {
		case !ok && strings.TrimSpace(line) == "":
		case !ok:
			t.Errorf("line %q is neither a rule nor a remark", line)
		case name == "user-agent":
			if inRules {
				agents, inRules = nil, false
			}
			agents = append(agents, value)
		case name == "sitemap", name == "agentmap":
			rest = append(rest, name+" "+value)
		default:
			inRules = true
			for _, a := range agents {
				groups[a] = append(groups[a], name+" "+value)
			}
		}
	}
	return groups, rest
}

func TestRobots(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	groups, rest := robotsGroups(t, string(w.Do(http.MethodGet, "/robots.txt", "").Body))
	const want = "content-signal search=yes, ai-input=yes, ai-train=no, allow /, disallow /checkout/, disallow /c/, " +
		"crawl-delay 1"
	if len(groups) != 19 {
		t.Errorf("%d agents", len(groups))
	}
	for _, agent := range []string{"*", "GPTBot", "ClaudeBot", "PerplexityBot", "Google-Extended", "CCBot"} {
		if got := strings.Join(groups[agent], ", "); got != want {
			t.Errorf("%s: %s, want %s", agent, got, want)
		}
	}
	if got := strings.Join(rest,
		", "); got != "sitemap "+w.URL+"/sitemap.xml, agentmap "+w.URL+"/.well-known/ai-catalog.json" {
		t.Errorf("maps = %s", got)
	}
	quiet := storetest.Start(t)
	if r := quiet.Do(http.MethodGet, "/robots.txt", ""); strings.Contains(string(r.Body), "Content-Signal") ||
		!strings.Contains(string(r.Body), "User-agent: *\nAllow: /") {
		t.Errorf("without a policy: %s", r.Body)
	}
}

func TestSecurityText(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	w.Do(http.MethodGet, "/.well-known/security.txt", "").Shows(t,
		"Contact: mailto:security@store.example\nContact: "+w.URL+"/support\nExpires: 20",
		"Preferred-Languages: en\nCanonical: "+w.URL+"/.well-known/security.txt\n")
}

// TestAuthText says the truth about credentials, in the order in which the
// proposal asks.
func TestAuthText(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	text := string(w.Do(http.MethodGet, "/auth.md", "").Body)
	at := 0
	for _, part := range []string{
		"# auth.md: Test Store\n", "Audience: ", "## Registration", "endpoint: none", "## Methods",
		"| anonymous | yes |", "| identity assertion (ID-JAG) | no |", "| verified email | no |",
		"| Web Bot Auth", "accepted, optional", "## Using credentials", "Send no `Authorization` header",
		w.URL + "/mcp", "User-Agent", "one request per second", "429", "Retry-After",
		"## Buying", "hosted checkout page at `continue_url` | yes",
		"Payment instruments sent to the checkout API | no", "Delegated payment tokens | no",
		"MPP HTTP 402 payment credentials | no",
		"x402 for checkout | no", "AP2 mandates | no", "## Revocation", w.URL + "/support",
	} {
		i := strings.Index(text[at:], part)
		if i < 0 {
			t.Fatalf("%q is missing after %q", part, text[max(0, at-40):at])
		}
		at += i
	}
}

// TestSupportPage says how to reach a person and how to have something removed.
func TestSupportPage(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	for _, path := range []string{"/support", "/about", "/contact", "/privacy"} {
		for _, accept := range []string{"text/html", "text/markdown"} {
			if r := w.Do(http.MethodGet, path, "", "Accept", accept); r.Status != http.StatusOK || len(r.Body) < 500 {
				t.Errorf("%s as %s = %d with %d bytes", path, accept, r.Status, len(r.Body))
			}
		}
	}
	w.Do(http.MethodGet, "/support.md", "").Shows(t, "help@store.example", "## Removal", "audit", "working days")
}
