package app_test

import (
	"testing"

	"ace/internal/platform/app"
)

// TestBoundTo: a client is of one server where an app runs on servers of many.
func TestBoundTo(t *testing.T) {
	t.Parallel()
	own := app.Param{Host: true, Match: `^[a-z.]+$`, Default: "git.example"}
	vendors := app.Param{Host: true, Match: `^[a-z.]+\.force\.example$`, Default: "login.force.example"}
	consent := func(token string) *app.Scheme {
		return &app.Scheme{Type: app.TypeOAuth2, OAuth: &app.OAuth{Token: app.Token{URL: token}}}
	}
	tests := []struct {
		what       string
		param      app.Param
		scheme     *app.Scheme
		extra      map[string]string
		name, host string
	}{
		{"the usual one", own, consent("https://{host}/token"), nil, "host", "git.example"},
		{
			"the one that the client names", own, consent("https://{host}/token"),
			map[string]string{"host": "git.acme.example"},
			"host", "git.acme.example",
		},
		{"none is usual", app.Param{Host: true}, consent("https://{host}/token"), nil, "host", ""},
		{"hosts of the vendor alone", vendors, consent("https://{host}/token"), nil, "", ""},
		{"a label", app.Param{Match: "^[a-z]+$"}, consent("https://{host}.desk.example/token"), nil, "", ""},
		{
			"a host that an answer told",
			app.Param{Host: true, Learned: true},
			consent("https://{host}/token"), nil,
			"", "",
		},
		{"another address for tokens", own, consent("https://login.example/token"), nil, "", ""},
		{"a key", own, &app.Scheme{Type: app.TypeKey}, nil, "", ""},
		{
			"a client that the person types",
			own, &app.Scheme{Type: app.TypeClient, OAuth: &app.OAuth{Token: app.Token{URL: "https://{host}/token"}}},
			nil, "", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			a := &app.App{Params: map[string]app.Param{"host": tt.param}}
			if name, host := a.BoundTo(tt.scheme, tt.extra); name != tt.name || host != tt.host {
				t.Errorf("BoundTo = %q, %q, want %q, %q", name, host, tt.name, tt.host)
			}
		})
	}
}
