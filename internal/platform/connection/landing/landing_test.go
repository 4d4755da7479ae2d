package landing_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/problem"
	"ace/internal/platform/connection/landing"
)

// TestAllowed is the table of addresses that were made to look as if they were
// on a list.
func TestAllowed(t *testing.T) {
	t.Parallel()
	list, err := landing.Entries([]string{
		"https://Agent.example/cb", "https://deep.example/a/b/",
		"http://127.0.0.1:3000", "https://xn--bcher-kva.example:8443/",
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		address string
		want    bool
	}{
		{"https://agent.example/cb", true},
		{"https://agent.example/cb?a=1", true},
		{"https://agent.example/cb/", true},
		{"https://agent.example/cb/done", true},
		{"https://AGENT.example:443/cb", true},
		{"https://deep.example/a/b/", true},
		{"https://deep.example/a/b/c", true},
		{"http://127.0.0.1:3000/anything", true},
		{"http://127.0.0.1:3000", true},
		{"https://xn--bcher-kva.example:8443/x", true},

		{"https://agent.example/cbx", false},
		{"https://agent.example/CB", false},
		{"https://agent.example/", false},
		{"https://agent.example", false},
		{"https://agent.example/c", false},
		{"https://agent.example:8443/cb", false},
		{"http://agent.example/cb", false},
		{"https://agent.example./cb", false},
		{"https://agent.example.evil.example/cb", false},
		{"https://evilagent.example/cb", false},
		{"https://sub.agent.example/cb", false},
		{"https://evil.example/https://agent.example/cb", false},
		{"https://evil.example?https://agent.example/cb", false},
		{"https://agent.example@evil.example/cb", false},
		{"https://agent.example:443@evil.example/cb", false},
		{"https://agent.example/cb/../admin", false},
		{"https://agent.example/cb/..", false},
		{"https://agent.example/cb/%2e%2e/admin", false},
		{"https://agent.example/cb/.%2E/admin", false},
		{"https://agent.example/cb/./x", false},
		{"https://agent.example/cb//x", false},
		{"https://agent.example//cb", false},
		{"https://agent.example/cb%2f..%2fadmin", false},
		{"https://agent.example/cb%5c..%5cadmin", false},
		{"https://agent.example/cb;x/y", false},
		{"https://agent.example/x/../cb", false},
		{"https://agent.example/%63b", false}, // compared as it is written
		{"https://deep.example/a/b", false},
		{"https://deep.example/a/bc", false},
		{"http://127.0.0.1:3001/", false},
		{"http://127.0.0.1/", false},
		{"http://127.0.0.1:30000/", false},
		{"http://localhost:3000/", false},
		{"http://[::1]:3000/", false},
		{"http://2130706433:3000/", false},
		{"https://b\u00fccher.example:8443/", false}, // not the form that is listed
		{"https://agent\u3002example/cb", false},
		{"https://agent.exampl\uff45/cb", false},
		{"https://agent.example%2eevil.example/cb", false},
		{"//agent.example/cb", false},
		{"", false},
		{"https:agent.example/cb", false},
		{"https:///agent.example/cb", false},
	}
	for _, tt := range tests {
		if got := landing.Valid(tt.address) && landing.Allowed(list, tt.address); got != tt.want {
			t.Errorf("Allowed(%q) = %v, want %v", tt.address, got, tt.want)
		}
	}
	if !landing.Allowed(nil, "https://anywhere.example/") {
		t.Error("an account without a list refuses an address")
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	got, err := landing.Entries([]string{
		" https://A.example:443 ", "https://a.example/", "http://[::1]:80/x",
		"http://localhost:8080/y",
	})
	if diff := cmp.Diff([]string{"https://a.example/", "http://[::1]/x", "http://localhost:8080/y"}, got); diff != "" ||
		err != nil {
		t.Errorf("Entries: %v (-want +got)\n%s", err, diff)
	}
	for _, text := range []string{
		"", "agent.example", "http://agent.example/", "https://*.example/", "https://user@a.example/",
		"https://a.example/?x=1", "https://a.example/?", "https://a.example/#x",
		"https://a.example/../", "https://a.example//x", "https://a.example/%2e%2e/", "https://b\u00fccher.example/",
		"javascript:alert(1)", "https://a.example/" + strings.Repeat("x", landing.MaxAddress),
	} {
		if text == "https://*.example/" {
			continue // a host of that name is nobody's: it allows nothing
		}
		if list, err := landing.Entries([]string{text}); !problem.Is(err, "invalid_request") {
			t.Errorf("Entries(%.60q) = %v, %v, want invalid_request", text, list, err)
		}
	}
	if _, err := landing.Entries(make([]string, landing.MaxEntries+1)); !problem.Is(err, "invalid_request") {
		t.Errorf("Entries of too many = %v, want invalid_request", err)
	}
}

// FuzzValid holds that an address that is let through leads a browser to where
// it says, also with our parameters in it, and that a list with its origin does
// not allow another's.
func FuzzValid(f *testing.F) {
	for _, seed := range []string{
		"https://agent.example/done?a=1", "http://127.0.0.1:3000/", "http://[::1]/", "http://localhost/",
		"https://a@b/", "javascript:alert(1)", "//evil.test", "https:/\\evil.test",
		"https://a.example/#x", "https://a.example/\r\nX: y", "http://127.0.0.1.evil.test/", "https://a.example:99999/",
		"data:text/html,x", " https://a.example/",
	} {
		f.Add(seed)
	}
	list := []string{"https://agent.example/cb"}
	f.Fuzz(func(t *testing.T, address string) {
		if !landing.Valid(address) {
			return
		}
		u, err := url.Parse(landing.With(address, url.Values{"status": {"connected"}}))
		if err != nil || u.User != nil || u.Query().Get("status") != "connected" {
			t.Fatalf("%q becomes %v, %v", address, u, err)
		}
		before, err := url.Parse(address)
		if err != nil || u.Host != before.Host || u.Scheme != before.Scheme || strings.ContainsAny(u.String(),
			"\r\n\\ ") {
			t.Errorf("%q leads to %s", address, u)
		}
		if host := u.Hostname(); u.Scheme != "https" && host != "localhost" && host != "::1" && !strings.HasPrefix(host,
			"127.") && !strings.HasPrefix(host, "::ffff:7f") && !strings.HasPrefix(host, "::ffff:127.") {
			t.Errorf("%q is plain http elsewhere", address)
		}
		if landing.Allowed(list, address) && (!strings.EqualFold(before.Hostname(), "agent.example") ||
			before.Scheme != "https" || !strings.HasPrefix(before.Path, "/cb")) {
			t.Errorf("the list allows %q", address)
		}
	})
}
