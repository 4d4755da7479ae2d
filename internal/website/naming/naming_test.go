package naming_test

import (
	"net/url"
	"strings"
	"testing"

	"ace/internal/website/naming"

	"golang.org/x/net/html"
)

// read names pages of one website; a page is its path and its HTML.
func read(t *testing.T, pages ...string) *naming.Site {
	t.Helper()
	var all []naming.Page
	for i, p := range pages {
		path, text, _ := strings.Cut(p, " ")
		root, err := html.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse("https://www.oak.example" + path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, naming.Page{Root: root, URL: u, Home: i == 0})
	}
	return naming.Read(all, "")
}

func TestNames(t *testing.T) {
	t.Parallel()
	const home = "/ <title>Oak Tools</title><h1>Oak Tools</h1>"
	tests := []struct{ name, page, want string }{
		{"headline that the title confirms", "/a <title>Lamp | Oak Tools</title><h1>Lamp</h1>", "Lamp"},
		{"permalink", `/a <title>Lamp — Oak Tools</title><h1>Lamp<a class="headerlink" href="#l">¶</a></h1>`, "Lamp"},
		{"first headline is another", "/a <title>Roadmap - Oak Tools</title><h1>1.0</h1><h1>2.0</h1>", "Roadmap"},
		{"separator --", "/a <title>Oak Tools -- Support</title>", "Support"},
		{"separator ›", "/a <title>Lamp › Oak Tools</title>", "Lamp"},
		{"separator »", "/a <title>Oak Tools » Lamp</title>", "Lamp"},
		{"brackets", "/a <title>Expansion (Oak Tools)</title>", "Expansion"},
		{
			"a headline in the header of all pages",
			"/a <title>Lamp · Oak Tools</title><header><h1>Oak Tools</h1></header>",
			"Lamp",
		},
		{"a host is no name", "/a <title>www.oak.example</title>", ""},
		{"a placeholder is no name", "/a <title>Start Bootstrap Theme</title><h1>About us</h1>", "About us"},
		{"a generic name", "/a <title>Untitled Document</title><h2>x</h2>", ""},
		{"a date is no name", "/a <title>2026-11-22</title>", ""},
		{"headline in the navigation", "/a <title>Lamp | Oak Tools</title><nav><h1>Menu of lamps</h1></nav>", "Lamp"},
		{"a title that differs", "/a <title>Page | Oak Tools</title><h1>Sharpening a plane</h1>", "Sharpening a plane"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := read(t, home, tt.page, "/b <title>Bench | Oak Tools</title><h1>Bench</h1>")
			if got := s.Of(1).Name; got != tt.want || s.Name != "Oak Tools" {
				t.Errorf("name = %q of %q, want %q of Oak Tools", got, s.Name, tt.want)
			}
		})
	}
}

func TestOpenings(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, html, want string }{
		{
			"first prose",
			"<p>We make lamps that last for life.</p><p>They are made of oak.</p>",
			"We make lamps that last for life.",
		},
		{
			"byline",
			"<p>By Ada Young, 3 March 2026.</p><p>Oak moves with the seasons.</p>",
			"Oak moves with the seasons.",
		},
		{"date", "<p>Sunday, 22 November 2026</p><p>Oak moves with the seasons.</p>", "Oak moves with the seasons."},
		{
			"generated",
			"<p>This document was generated on February 5, 2023.</p><p>Oak moves with the seasons.</p>",
			"Oak moves with the seasons.",
		},
		{
			"acknowledgement",
			"<p>Thanks to all who helped with this page.</p><p>Oak moves with the seasons.</p>",
			"Oak moves with the seasons.",
		},
		{
			"contents",
			`<div class="toc"><p>Table of contents of this long page.</p></div><p>Oak moves with the seasons.</p>`,
			"Oak moves with the seasons.",
		},
		{
			"address",
			"<p>1116 Orchard Street, Golden Valley, Minnesota.</p><p>Oak moves with the seasons.</p>",
			"Oak moves with the seasons.",
		},
		{
			"code",
			"<pre>go get oak.example/lamp and run it now.</pre><p>Oak moves with the seasons.</p>",
			"Oak moves with the seasons.",
		},
		{
			"abbreviation",
			"<p>Use oak, e.g. for a bench, and ask Dr. Young first. Then plane it.</p>",
			"Use oak, e.g. for a bench, and ask Dr. Young first. Then plane it.",
		},
		{
			"announcement",
			"<p>The following steps are needed for a bench:</p><ul><li>Saw</ul>",
			"The following steps are needed for a bench.",
		},
		{"placeholder", "<p>Lorem ipsum dolor sit amet, consectetur adipisicing elit.</p>", ""},
		{"footer", "<footer><p>We make lamps that last for life.</p></footer>", ""},
		{"no sentence", "<p>Lamps and benches and chairs</p>", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := read(t, "/ <title>Oak</title><h1>Oak</h1>", "/a <title>A page</title><h1>A page</h1>"+tt.html)
			if got := s.Of(1).Opening; got != tt.want {
				t.Errorf("opening = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestSharedText: what pages share names and describes none of them.
func TestSharedText(t *testing.T) {
	t.Parallel()
	const shared = `<meta name="description" content="Tools of oak."><p>Order before noon and we ship today.</p>`
	s := read(t, "/ <title>Oak</title><h1>Oak</h1>"+shared,
		"/a <title>Lamp - Oak</title><h1>Lamp</h1>"+shared+"<p>A lamp for the desk, of oak.</p>",
		"/b <title>Bench - Oak</title><h1>Bench</h1>"+shared+"<p>A bench for two people, of oak.</p>")
	if s.Description != "Tools of oak." || s.Of(1).Description != "" {
		t.Errorf("site %q, page %q, want the description at the site alone", s.Description, s.Of(1).Description)
	}
	if got := s.Of(1).Opening; got != "A lamp for the desk, of oak." {
		t.Errorf("opening = %q, want what the page alone says", got)
	}
}
