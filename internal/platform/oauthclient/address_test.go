package oauthclient_test

import (
	"net/url"
	"strings"
	"testing"

	"ace/internal/platform/app"
	"ace/internal/platform/oauthclient"
)

// No value leads a call elsewhere than the template means.
func FuzzAddress(f *testing.F) {
	for _, value := range []string{
		"bobs", "a/b", "evil.test/", "x@evil.test", "evil.test#", "evil.test?",
		"\\evil.test", "a.b", "..", "[::1]", "127.1", "a:1",
	} {
		f.Add(value)
	}
	a := &app.App{ID: "app", Params: map[string]app.Param{"sub": {}, "dc": {Learned: true}}}
	s := &app.Scheme{Type: app.TypeKey}
	f.Fuzz(func(t *testing.T, value string) {
		params := map[string]string{"sub": value, "dc": value}
		for _, template := range []string{
			"https://{sub}.desk.example/{sub}/x?y={sub}",
			"https://api.example/{dc}/token",
		} {
			address, err := oauthclient.Address(a, s, params, template)
			if err != nil {
				continue
			}
			u, err := url.Parse(address)
			if err != nil || u.User != nil || u.Scheme != "https" || u.Fragment != "" ||
				!strings.HasSuffix(u.Hostname(), ".example") || u.Port() != "" {
				t.Errorf("%q in %s leads to %s", value, template, address)
			}
		}
		for _, template := range []string{
			"https://{sub}/x", "https://{dc}/x", "{dc}/x", "https://api.{sub}/x",
			"https://{sub}.com/x",
		} {
			if address, err := oauthclient.Address(a, s, params, template); err == nil {
				t.Errorf("%q in %s leads to %s", value, template, address)
			}
		}
	})
}

func TestSafeCode(t *testing.T) {
	t.Parallel()
	const secret = "nrt_abcdef"
	tests := map[string]string{
		"invalid_grant": "invalid_grant", "AADSTS70008": "AADSTS70008", "10010": "10010",
		"Auth.Token-Expired": "Auth.Token-Expired", "": "",
		"an error with words":                   "unrecognized",
		"nrt_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567":  "unrecognized",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.": "unrecognized",
		"1234567890123456":                      "unrecognized",
		secret:                                  "unrecognized",
		"abcdef":                                "unrecognized",
		"bad_nrt_abcdef_x":                      "unrecognized",
		"a\nb":                                  "unrecognized",
		strings.Repeat("a", 61):                 "unrecognized",
		strings.Repeat("word_", 20):             "unrecognized",
	}
	for code, want := range tests {
		if got := oauthclient.SafeCode(code, secret); got != want {
			t.Errorf("SafeCode(%q) = %q, want %q", code, got, want)
		}
	}
}
