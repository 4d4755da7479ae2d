package site

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"ace/internal/foundation/problem"
)

func TestCleanPath(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want, code string }{
		{"/", "/", ""},
		{"", "/", ""},
		{"/docs", "/docs", ""},
		{"docs/setup", "/docs/setup", ""},
		{"/docs/", "/docs", ""},
		{"//docs///setup", "/docs/setup", ""},
		{"/docs/./setup", "/docs/setup", ""},
		{"/docs/../about", "/about", ""},
		{"/docs?x=1#y", "/docs", ""},
		{"/caf%C3%A9", "/café", ""},
		{"/a%2Fb", "/a/b", ""},
		{"/%252e%252e/x", "/%2e%2e/x", ""}, // decoded once: a name like any other
		{"/..", "", "path_outside_site"},
		{"/docs/../../etc/passwd", "", "path_outside_site"},
		{"/%2e%2e/%2e%2e/etc/passwd", "", "path_outside_site"},
		{"/..%2f..%2fetc", "", "path_outside_site"},
		{`/..\..\etc`, "", "invalid_path"},
		{"/a\x00b", "", "invalid_path"},
		{"/a%00b", "", "invalid_path"},
		{"/a%0d%0aSet-Cookie:x", "", "invalid_path"},
		{"/%zz", "", "invalid_path"},
		{"/%ff", "", "invalid_path"},
		{"/" + strings.Repeat("a", 2048), "", "invalid_path"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			got, err := CleanPath(tt.in)
			if got != tt.want || (tt.code == "") != (err == nil) || err != nil && !problem.Is(err, tt.code) {
				t.Errorf("CleanPath(%q) = %q, %v, want %q, %s", tt.in, got, err, tt.want, tt.code)
			}
		})
	}
}

func FuzzCleanPath(f *testing.F) {
	for _, seed := range []string{
		"/", "/docs/../..", "/%2e%2e/", "\\", "/a//b/", "?", "#", "/%", "/é", "/\x00",
		"/.../..a", "/a%2f..%2f..",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := CleanPath(raw)
		if err != nil {
			return
		}
		if !strings.HasPrefix(got, "/") || got != "/" && strings.HasSuffix(got, "/") || strings.Contains(got, "//") {
			t.Fatalf("CleanPath(%q) = %q", raw, got)
		}
		if parts := strings.Split(got, "/"); slices.Contains(parts, "..") || slices.Contains(parts, ".") {
			t.Fatalf("CleanPath(%q) = %q climbs", raw, got)
		}
		if again, err := CleanPath(EscapePath(got)); err != nil || again != got {
			t.Fatalf("CleanPath(%q) = %q, escaped again %q, %v", raw, got, again, err)
		}
	})
}

func TestPathOf(t *testing.T) {
	t.Parallel()
	hosts := []string{"https://shop.example", "https://www.origin.example:8443"}
	tests := []struct{ in, want, code string }{
		{"https://shop.example/docs", "/docs", ""},
		{"http://SHOP.example:80/docs?x#y", "/docs", ""},
		{"https://shop.example", "", ""},
		{"https://www.origin.example:8443/a", "/a", ""},
		{"https://www.origin.example/a", "", "other_host"},
		{"https://evil.example/docs", "", "other_host"},
		{"https://shop.example.evil.example/docs", "", "other_host"},
		{"https://shop.example@evil.example/docs", "", "invalid_url"},
		{"https://user:pw@shop.example/docs", "", "invalid_url"},
		{"//shop.example/docs", "", "invalid_url"},
		{"file:///etc/passwd", "", "invalid_url"},
		{"ftp://shop.example/docs", "", "invalid_url"},
		{"/docs", "", "invalid_url"},
		{"https://[::1", "", "invalid_url"},
		{"", "", "invalid_url"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			got, err := pathOf(tt.in, hosts)
			if got != tt.want || (tt.code == "") != (err == nil) || err != nil && !problem.Is(err, tt.code) {
				t.Errorf("pathOf(%q) = %q, %v, want %q, %s", tt.in, got, err, tt.want, tt.code)
			}
		})
	}
}

func FuzzPathOf(f *testing.F) {
	f.Add("https://shop.example/docs")
	f.Add("https://shop.example:443@evil.example/")
	f.Fuzz(func(t *testing.T, address string) {
		if _, err := pathOf(address, []string{"https://shop.example"}); err != nil {
			return
		}
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || !strings.EqualFold(strings.TrimSuffix(u.Hostname(), "."), "shop.example") {
			t.Errorf("pathOf takes %q", address)
		}
	})
}

func TestShut(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/c/x": true, "/checkout": true, "/checkout/x/done": true,
		"/webhooks/stripe": true, "/contact": false, "/checkouts": false, "/": false,
	} {
		if got := shut(path); got != want {
			t.Errorf("shut(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestParseMatter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in, text, fault string
		want                  matter
	}{
		{"none", "# A\n", "# A\n", "", matter{}},
		{
			"some", "---\ntitle: \"A: b\"\nnav: 2\nprivate: true\nlayout: x\n\n# note\n---\ntext\n", "text\n",
			"",
			matter{title: "A: b", nav: 2, private: true},
		},
		{"windows", "\ufeff---\r\ntitle: A\r\n---\r\ntext\r\n", "text\n", "", matter{title: "A"}},
		{"only a head", "---\ntitle: A\n---", "", "", matter{title: "A"}},
		{"no end", "---\ntitle: A\n", "", "has no end", matter{}},
		{"no colon", "---\ntitle\n---\n", "", "is not name: value", matter{}},
		{"no day", "---\nupdated: soon\n---\n", "", `updated is "soon"`, matter{}},
		{"no number", "---\nnav: first\n---\n", "", `nav is "first"`, matter{}},
		{"unknown list", "---\nlist: all\n---\n", "", "write offers or services", matter{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, text, err := parseMatter(tt.in)
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("parseMatter = %v, want %q", err, tt.fault)
				}
				return
			}
			if err != nil || got != tt.want || text != tt.text {
				t.Errorf("parseMatter = %+v, %q, %v, want %+v, %q", got, text, err, tt.want, tt.text)
			}
		})
	}
}

func FuzzParseMatter(f *testing.F) {
	f.Add("---\ntitle: A\n---\ntext")
	f.Add("---\nupdated: 2026-01-31\n---")
	f.Fuzz(func(t *testing.T, in string) {
		if _, text, err := parseMatter(in); err == nil && len(text) > len(in) {
			t.Errorf("parseMatter(%q) grew to %q", in, text)
		}
	})
}
