package crawl_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/website/crawl/crawltest"

	"ace/internal/website/crawl"

	"github.com/google/go-cmp/cmp"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, robots, agent, path string
		want                      crawl.Decision
	}{
		{"no rules", "", "GPTBot", "/", crawl.Decision{Allowed: true}},
		{
			"a group of its own", "User-agent: *\nDisallow: /\n\nUser-agent: GPTBot\nAllow: /\n", "GPTBot", "/x",
			crawl.Decision{Allowed: true, Rule: "Allow: /", Line: 5, Agent: "GPTBot"},
		},
		{
			"the group for all", "User-agent: *\nDisallow: /", "GPTBot", "/x",
			crawl.Decision{Rule: "Disallow: /", Line: 2, Agent: "*"},
		},
		{
			"its own group hides that for all",
			"User-agent: *\nDisallow: /\nUser-agent: GPTBot\nDisallow: /y",
			"GPTBot",
			"/x",
			crawl.Decision{Allowed: true, Agent: "GPTBot"},
		},
		{
			"case of the token", "user-AGENT: gptbot\ndisALLOW: /", "GPTBot",
			"/x",
			crawl.Decision{Rule: "Disallow: /", Line: 2, Agent: "gptbot"},
		},
		{
			"a version does not count", "User-agent: GPTBot/1.2\nDisallow: /", "GPTBot", "/x",
			crawl.Decision{Rule: "Disallow: /", Line: 2, Agent: "GPTBot/1.2"},
		},
		{
			"not by the beginning of a token", "User-agent: Claude\nDisallow: /", "ClaudeBot", "/x",
			crawl.Decision{Allowed: true},
		},
		{
			"groups of one token are one",
			"User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /\nUser-agent: a\nDisallow: /y", "a", "/y",
			crawl.Decision{Rule: "Disallow: /y", Line: 6, Agent: "a"},
		},
		{
			"several tokens above one group", "User-agent: a\nUser-agent: b\nDisallow: /x", "a", "/x",
			crawl.Decision{Rule: "Disallow: /x", Line: 3, Agent: "a"},
		},
		{
			"a sitemap does not end the tokens", "User-agent: a\nSitemap: /s.xml\nUser-agent: b\nDisallow: /x", "a",
			"/x",
			crawl.Decision{Rule: "Disallow: /x", Line: 4, Agent: "a"},
		},
		{
			"the longest rule", "User-agent: *\nDisallow: /shop\nAllow: /shop/open", "a", "/shop/open/1",
			crawl.Decision{Allowed: true, Rule: "Allow: /shop/open", Line: 3, Agent: "*"},
		},
		{
			"the longest rule, first", "User-agent: *\nAllow: /shop/open\nDisallow: /shop", "a", "/shop/open/1",
			crawl.Decision{Allowed: true, Rule: "Allow: /shop/open", Line: 2, Agent: "*"},
		},
		{
			"allow wins a tie", "User-agent: *\nDisallow: /x\nAllow: /x", "a", "/x",
			crawl.Decision{Allowed: true, Rule: "Allow: /x", Line: 3, Agent: "*"},
		},
		{
			"allow wins a tie, first", "User-agent: *\nAllow: /x\nDisallow: /x", "a",
			"/x",
			crawl.Decision{Allowed: true, Rule: "Allow: /x", Line: 2, Agent: "*"},
		},
		{"an empty rule is none", "User-agent: *\nDisallow:", "a", "/x", crawl.Decision{Allowed: true, Agent: "*"}},
		{
			"star", "User-agent: *\nDisallow: /*/private", "a", "/x/y/private/z",
			crawl.Decision{Rule: "Disallow: /*/private", Line: 2, Agent: "*"},
		},
		{
			"star first", "User-agent: *\nDisallow: *.pdf", "a", "/x/y.pdf?z",
			crawl.Decision{Rule: "Disallow: *.pdf", Line: 2, Agent: "*"},
		},
		{
			"end", "User-agent: *\nDisallow: /*.pdf$", "a", "/x.pdf",
			crawl.Decision{Rule: "Disallow: /*.pdf$", Line: 2, Agent: "*"},
		},
		{"not the end", "User-agent: *\nDisallow: /*.pdf$", "a", "/x.pdf?y", crawl.Decision{Allowed: true, Agent: "*"}},
		{"end without star", "User-agent: *\nDisallow: /x$", "a", "/xy", crawl.Decision{Allowed: true, Agent: "*"}},
		{
			"the end and the beginning overlap", "User-agent: *\nDisallow: /aba*ba$", "a", "/aba",
			crawl.Decision{Allowed: true, Agent: "*"},
		},
		{
			"query", "User-agent: *\nDisallow: /?s=", "a", "/?s=x",
			crawl.Decision{Rule: "Disallow: /?s=", Line: 2, Agent: "*"},
		},
		{
			"escaped in the rule", "User-agent: *\nDisallow: /%62ar", "a", "/bar",
			crawl.Decision{Rule: "Disallow: /%62ar", Line: 2, Agent: "*"},
		},
		{
			"escaped in the path", "User-agent: *\nDisallow: /ツ", "a", "/%e3%83%84",
			crawl.Decision{Rule: "Disallow: /ツ", Line: 2, Agent: "*"},
		},
		{
			"an escaped slash is no slash", "User-agent: *\nDisallow: /a/b", "a", "/a%2Fb",
			crawl.Decision{Allowed: true, Agent: "*"},
		},
		{
			"remark", "User-agent: * # all\nDisallow: /x # not this", "a", "/x",
			crawl.Decision{Rule: "Disallow: /x", Line: 2, Agent: "*"},
		},
		{"rules before a token", "Disallow: /\nUser-agent: b\nDisallow: /", "a", "/x", crawl.Decision{Allowed: true}},
		{
			"byte order mark and old line ends", "\ufeffUser-agent: *\rDisallow: /x\r", "a",
			"/x",
			crawl.Decision{Rule: "Disallow: /x", Line: 2, Agent: "*"},
		},
		{"robots.txt itself", "User-agent: *\nDisallow: /", "a", "/robots.txt", crawl.Decision{Allowed: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, crawl.ParseRobots([]byte(tt.robots)).Decide(tt.agent, tt.path)); diff != "" {
				t.Errorf("Decide(%q, %q) (-want +got):\n%s", tt.agent, tt.path, diff)
			}
		})
	}
}

func TestRobotsFields(t *testing.T) {
	t.Parallel()
	r := crawl.ParseRobots(
		[]byte(
			"Content-Signal: search=yes\nUser-agent: *\nCrawl-delay: 2.5\nContent-Signal: ai-train=no\nSitemap: " +
				"https://a.example/s.xml\nSitemap: /t.xml\nnonsense\n: x"))
	if got := r.Delay("x"); got != 2500*time.Millisecond {
		t.Errorf("Delay = %s, want 2.5s", got)
	}
	want := []crawl.Line{
		{Line: 5, Name: "sitemap", Value: "https://a.example/s.xml"},
		{Line: 6, Name: "sitemap", Value: "/t.xml"},
	}
	if diff := cmp.Diff(want, r.Sitemaps); diff != "" {
		t.Errorf("Sitemaps (-want +got):\n%s", diff)
	}
	if len(r.Others) != 2 || len(r.Groups[0].Others) != 1 || r.Groups[0].Others[0].Value != "ai-train=no" {
		t.Errorf("Others = %v, of the group %v", r.Others, r.Groups[0].Others)
	}
	if r.Names("x") || !crawl.ParseRobots([]byte("User-agent: X")).Names("x") {
		t.Error("Names does not tell a group of its own from the one for all")
	}
}

func TestRobotsSize(t *testing.T) {
	t.Parallel()
	text := "User-agent: *\n" + strings.Repeat("# remark\n", crawl.MaxRobots/9) + "Disallow: /\n"
	if d := crawl.ParseRobots([]byte(text)).Decide("a", "/"); !d.Allowed {
		t.Errorf("a rule behind %d bytes counts: %+v", crawl.MaxRobots, d)
	}
}

func FuzzRobots(f *testing.F) {
	for _, seed := range []string{
		"User-agent: *\nDisallow: /*a*b$\nAllow: /%zz", "\ufeffuser-agent:\r\rdisallow",
		"Disallow: /", "User-agent: a\nUser-agent: *\nCrawl-delay: 1e309",
	} {
		f.Add([]byte(seed), "/a/b")
	}
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		r := crawl.ParseRobots(text)
		for _, agent := range []string{"GPTBot", crawl.Agent} {
			d := r.Decide(agent, path)
			if !d.Allowed && (d.Line == 0 || d.Rule == "") {
				t.Errorf("Decide(%q) forbids without a rule: %+v", path, d)
			}
			if d.Line > r.Lines {
				t.Errorf("Decide(%q) names line %d of %d", path, d.Line, r.Lines)
			}
			if r.Delay(agent) < 0 {
				t.Errorf("Delay = %s", r.Delay(agent))
			}
		}
	})
}

func ExampleRobots_Decide() {
	robots := crawl.ParseRobots([]byte("User-agent: *\nDisallow: /drafts/\n\nUser-agent: GPTBot\nDisallow: /\n"))
	for _, agent := range []string{"GPTBot", "OAI-SearchBot"} {
		d := robots.Decide(agent, "/prices")
		fmt.Printf("%s: allowed %v, line %d %s\n", agent, d.Allowed, d.Line, d.Rule)
	}
	// Output:
	// GPTBot: allowed false, line 5 Disallow: /
	// OAI-SearchBot: allowed true, line 0
}

// TestPermittedPace: a group that names this crawler sets its pace, also a quicker one;
// a group for all only slows it down.
func TestPermittedPace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, robots string
		want         time.Duration
	}{
		{"nothing", "User-agent: *\nAllow: /\n", time.Second},
		{"slower for all", "User-agent: *\nCrawl-delay: 4\n", 4 * time.Second},
		{"quicker for all is no permission", "User-agent: *\nCrawl-delay: 0\n", time.Second},
		{"permission", "User-agent: ACE-Audit\nCrawl-delay: 0.25\n", 250 * time.Millisecond},
		{"permission without measure", "User-agent: ACE-Audit\nCrawl-delay: 0\n", crawl.LeastDelay},
		{"slower for us", "User-agent: ACE-Audit\nCrawl-delay: 60\n", crawl.MaxDelay},
		{"named without a pace", "User-agent: ACE-Audit\nAllow: /\n", time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				site, err := crawl.Open(t.Context(), crawltest.New(map[string]crawltest.Answer{
					"https://a.example/robots.txt": crawltest.Text("text/plain", tt.robots),
					"https://a.example/":           crawltest.Page("<p>x"),
				}), "https://a.example/", nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := site.Gap(); got != tt.want {
					t.Errorf("Gap = %v, want %v", got, tt.want)
				}
			})
		})
	}
}
