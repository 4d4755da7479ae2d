package discovery_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/storefront/storehttp/discovery"
)

// TestOnlyWhatIsThere builds stores with less and less, and looks for the names
// of what they do not have in every document.
func TestOnlyWhatIsThere(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*discovery.Config)
		absent []string // parts of addresses
		keys   []string // of the links
	}{
		{
			"all", nil,
			[]string{"/v1/services", "example/.well-known/http-message"},
			[]string{"mcp", "a2a", "ai_catalog"},
		},
		{
			"no MCP", func(c *discovery.Config) { c.MCP = nil },
			[]string{"/mcp", "server-card"},
			[]string{"a2a", "ai_catalog"},
		},
		{
			"no A2A", func(c *discovery.Config) { c.AgentCard = nil },
			[]string{"/agent/a2a", "agent-card"},
			[]string{"mcp", "ai_catalog"},
		},
		{
			"neither", func(c *discovery.Config) { c.MCP, c.AgentCard = nil, nil },
			[]string{"/mcp", "/agent/a2a", "ai-catalog"},
			[]string{"skill", "auth"},
		},
		{"services", func(c *discovery.Config) { c.Services = true }, nil, []string{"services"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := store(t, tt.change)
			h := served(r)
			texts := []string{strings.Join(r.Header(), ", ")}
			for key, address := range r.Links() {
				texts = append(texts, key+" "+address)
			}
			for _, e := range r.Entries() {
				if e.ID == "" || e.Key == "openapi" || e.Key == "sitemap" || e.Key == "status" {
					continue // served by other parts
				}
				w := get(h, e.Path)
				if w.Code != http.StatusOK {
					t.Errorf("%s = %d %s", e.Path, w.Code, w.Body)
				}
				texts = append(texts, e.Path+": "+w.Body.String())
			}
			for _, text := range texts {
				for _, part := range tt.absent {
					if strings.Contains(text, part) {
						t.Errorf("%q is named: %s", part, text)
					}
				}
			}
			for _, key := range tt.keys {
				if r.Links()[key] == "" {
					t.Errorf("%s has no link", key)
				}
			}
		})
	}
}

// TestServices tells of paid services where they are sold.
func TestServices(t *testing.T) {
	t.Parallel()
	r := store(t, func(c *discovery.Config) { c.Services = true })
	h := served(r)
	for path, want := range map[string]string{
		"/.well-known/api-catalog": `{"anchor":"https://shop.store.example/v1/services",` +
			`"service-desc":[{"href":"https://shop.store.example/openapi.json"`,
		"/agent/connect.json":   `"services":{"catalog":"https://shop.store.example/v1/services","payment":"x402"}`,
		"/auth.md":              "x402 is used for one thing",
		"/llms.txt":             "over x402: https://shop.store.example/v1/services",
		"/.well-known/mcp.json": "run paid site services",
		"/.well-known/agent-skills/buy-products/SKILL.md": "tool `create_checkout` at https://shop.store.example/mcp",
	} {
		if w := get(h, path); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s = %s, want %s", path, w.Body, want)
		}
	}
	if diff := cmp.Diff([]string{"read", "search", "buy", "paid_services"}, r.Capabilities()); diff != "" {
		t.Errorf("capabilities (-want +got):\n%s", diff)
	}
}

// TestNamesOfServers turns the host around.
func TestNamesOfServers(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://shop.store.example": "example.store.shop/store", "http://127.0.0.1:8080": "localhost/store",
		"http://[::1]:8080": "localhost/store", "http://localhost:1": "localhost/store",
	} {
		var card struct{ Name string }
		w := get(served(store(t, func(c *discovery.Config) { c.BaseURL = base })), "/mcp/server-card")
		if err := json.Unmarshal(w.Body.Bytes(), &card); err != nil || card.Name != want {
			t.Errorf("name at %s = %s, %v, want %s", base, card.Name, err, want)
		}
	}
}

// TestSecurityTextExpires within a year, whatever the day.
func TestSecurityTextExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // begins at 2000-01-01
		h := served(store(t, nil))
		bodies := map[string]bool{}
		for range 800 {
			body := get(h, "/.well-known/security.txt").Body.String()
			text := regexp.MustCompile(`(?m)^Expires: (\S+)$`).FindStringSubmatch(body)
			expires, err := time.Parse(time.RFC3339, text[1])
			if left := time.Until(expires); err != nil || left < 180*24*time.Hour || left > 230*24*time.Hour {
				t.Fatalf("on %s it expires at %s, %v", time.Now(), text[1], err)
			}
			bodies[body] = true
			time.Sleep(24 * time.Hour)
		}
		if len(bodies) != 27 {
			t.Errorf("%d texts in 800 days, want one each month", len(bodies))
		}
	})
}

// TestContacts of security.txt.
func TestContacts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, contact, security string
		want                    []string
	}{
		{"nobody", "", "", []string{"https://shop.store.example/support"}},
		{
			"the contact", "a@store.example",
			"",
			[]string{"mailto:a@store.example", "https://shop.store.example/support"},
		},
		{
			"somebody else", "a@store.example", "b@store.example",
			[]string{"mailto:b@store.example", "https://shop.store.example/support"},
		},
		{
			"a form", "", "https://store.example/report",
			[]string{"https://store.example/report", "https://shop.store.example/support"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := served(store(t, func(c *discovery.Config) { c.Contact, c.SecurityContact = tt.contact, tt.security }))
			var got []string
			for _, m := range regexp.MustCompile(`(?m)^Contact: (\S+)$`).FindAllStringSubmatch(
				get(h, "/.well-known/security.txt").Body.String(), -1) {
				got = append(got, m[1])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("contacts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLastModified stays while a document says the same.
func TestLastModified(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := "one"
		r := store(t, nil)
		h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if err := r.Serve(w, req, "site", []byte(text), 300); err != nil {
				t.Error(err)
			}
		})
		first := get(h, "/").Header()
		time.Sleep(time.Hour)
		if again := get(h, "/").Header(); again.Get("Last-Modified") != first.Get("Last-Modified") ||
			again.Get("ETag") != first.Get("ETag") {
			t.Errorf("the same an hour later: %v, want %v", again, first)
		}
		if w := get(h, "/", "If-Modified-Since", first.Get("Last-Modified")); w.Code != http.StatusNotModified ||
			w.Body.Len() != 0 {
			t.Errorf("If-Modified-Since = %d", w.Code)
		}
		text = "two"
		changed := get(h, "/", "If-Modified-Since", first.Get("Last-Modified"))
		if changed.Code != http.StatusOK || changed.Header().Get("ETag") == first.Get("ETag") {
			t.Errorf("after a change = %d %v", changed.Code, changed.Header())
		}
		if at, err := http.ParseTime(changed.Header().Get("Last-Modified")); err != nil || !at.Equal(time.Now()) {
			t.Errorf("Last-Modified = %v, %v, want %v", at, err, time.Now())
		}
		if w := get(h, "/", "If-Modified-Since", "yesterday"); w.Code != http.StatusOK {
			t.Errorf("an unreadable time = %d", w.Code)
		}
	})
}

// TestFailures are problems, and no key of theirs is known.
func TestFailures(t *testing.T) {
	t.Parallel()
	r := store(t, func(c *discovery.Config) { c.Keys = brokenKeys{} })
	if w := get(served(r),
		"/.well-known/http-message-signatures-directory"); w.Code != http.StatusInternalServerError ||
		strings.Contains(w.Body.String(), "secret") || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("a directory that fails = %d %s", w.Code, w.Body)
	}
	if _, ok := r.Link("nothing"); ok {
		t.Error("a key that nobody has is known")
	}
	defer func() {
		if recover() == nil {
			t.Error("a handler for nothing is made")
		}
	}()
	r.Static("nothing", nil)
}

type brokenKeys struct{}

func (brokenKeys) Directory(time.Time) (http.Header, []byte, error) {
	return nil, nil, errors.New("secret")
}

// TestLinesOfOthers keeps titles and notes of pages in their lines.
func TestLinesOfOthers(t *testing.T) {
	t.Parallel()
	h := served(store(t, func(c *discovery.Config) { c.Name = "A\n\n# B ] ( " + strings.Repeat("x", 300) }))
	lines := strings.Split(get(h, "/llms.txt").Body.String(), "\n")
	if !strings.HasPrefix(lines[0], "# A # B ] ( xxx") || len(lines[0]) > 260 {
		t.Errorf("line 1 = %s", lines[0])
	}
	if n := len(slices.DeleteFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "# ") })); n != 1 {
		t.Errorf("%d headings of the first order", n)
	}
}
