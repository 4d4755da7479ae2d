package connection_test

import (
	"strings"
	"testing"
	"time"

	"ace/internal/platform/connection"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	w := setup(t)
	mine := w.typeKey(t, "keyed", connection.ConnectOptions{}, "sk_1")
	long := strings.Repeat("x", 3000)
	tests := []struct {
		name string
		in   connection.Request
		code string
	}{
		{"an app that is not there", connection.Request{App: "none"}, "app_not_found"},
		{"an app that needs none", connection.Request{App: "weather"}, "app_needs_no_connection"},
		{"no OAuth client", connection.Request{App: "other"}, "app_not_connectable"},
		{
			"another way in",
			connection.Request{App: "notes", Options: connection.ConnectOptions{Scheme: "saml"}},
			"invalid_request",
		},
		{
			"a scope with a space",
			connection.Request{App: "notes", Options: connection.ConnectOptions{Scopes: []string{"read write"}}},
			"invalid_request",
		},
		{"a profile that is not there", connection.Request{App: "notes", Profile: "admin"}, "invalid_request"},
		{
			"params of another app",
			connection.Request{
				App:     "keyed",
				Options: connection.ConnectOptions{Params: map[string]string{"team": "acme"}},
			},
			"unknown_app_params",
		},
		{
			"a learned param",
			connection.Request{
				App:     "notes",
				Options: connection.ConnectOptions{Params: map[string]string{"cloud": "x"}},
			},
			"unknown_app_params",
		},
		{
			"a param that leads elsewhere",
			connection.Request{
				App:     "notes",
				Options: connection.ConnectOptions{Params: map[string]string{"team": "evil.test/"}},
			},
			"invalid_request",
		},
		{
			"a label of two lines",
			connection.Request{App: "notes", Options: connection.ConnectOptions{Label: "a\nb"}},
			"invalid_request",
		},
		{
			"a long label",
			connection.Request{App: "notes", Options: connection.ConnectOptions{Label: long}},
			"invalid_request",
		},
		{
			"http elsewhere",
			connection.Request{App: "notes", Options: connection.ConnectOptions{RedirectURL: "http://agent.example/"}},
			"invalid_request",
		},
		{
			"a script",
			connection.Request{App: "notes", Options: connection.ConnectOptions{RedirectURL: "javascript:alert(1)"}},
			"invalid_request",
		},
		{
			"user information",
			connection.Request{
				App:     "notes",
				Options: connection.ConnectOptions{RedirectURL: "https://platform.test@evil.test/"},
			},
			"invalid_request",
		},
		{
			"a long address",
			connection.Request{
				App:     "notes",
				Options: connection.ConnectOptions{RedirectURL: "https://agent.example/" + long},
			},
			"invalid_request",
		},
		{
			"a header in an address",
			connection.Request{
				App:     "notes",
				Options: connection.ConnectOptions{RedirectURL: "https://agent.example/\r\nSet-Cookie: a"},
			},
			"invalid_request",
		},
		{"too short", connection.Request{App: "notes", TTL: time.Second}, "invalid_request"},
		{"too long", connection.Request{App: "notes", TTL: 25 * time.Hour}, "invalid_request"},
		{
			"no such way to verify",
			connection.Request{App: "notes", Options: connection.ConnectOptions{Verify: "trust"}},
			"invalid_request",
		},
		{
			"a callback without a person",
			connection.Request{
				App:     "notes",
				Options: connection.ConnectOptions{Verify: "callback", VerifyURL: "https://agent.example/"},
			},
			"invalid_request",
		},
		{
			"a callback nowhere",
			connection.Request{App: "notes", Options: connection.ConnectOptions{Verify: "callback", EndUser: "u"}},
			"invalid_request",
		},
		{
			"reconnects an unknown connection",
			connection.Request{App: "keyed", Options: connection.ConnectOptions{Reconnects: "con_none"}},
			"connection_not_found",
		},
		{
			"reconnects another app's",
			connection.Request{App: "notes", Options: connection.ConnectOptions{Reconnects: mine.ID}},
			"connection_not_found",
		},
		{
			"reconnects another end user's",
			connection.Request{App: "keyed", Options: connection.ConnectOptions{Reconnects: mine.ID, EndUser: "bob"}},
			"connection_not_found",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := w.Open(t.Context(), agent(), account, tt.in); code(err) != tt.code {
				t.Errorf("Open = %v, want %s", err, tt.code)
			}
		})
	}
	if _, err := w.Open(t.Context(), agent(), stranger,
		connection.Request{
			App:     "keyed",
			Options: connection.ConnectOptions{Reconnects: mine.ID},
		}); code(err) != "connection_not_found" {
		t.Errorf("another account reconnects it: %v", err)
	}
}

func TestOpenKeepsTheWish(t *testing.T) {
	t.Parallel()
	w := setup(t)
	in := connection.Request{
		ID: connection.NewSessionID(), App: "notes", Profile: "all", TTL: 2 * time.Hour,
		Options: connection.ConnectOptions{
			Label: " Work ", Scopes: []string{"admin"}, Params: map[string]string{"team": "acme"},
			RedirectURL: "http://127.0.0.1:3000/done?x=1", State: "s",
		},
	}
	s, err := w.Open(t.Context(), agent(), account, in)
	if err != nil {
		t.Fatal(err)
	}
	if s.ID != in.ID || s.Status != connection.SessionPending || s.Options.Label != "Work" ||
		strings.Join(s.Options.Scopes,
			" ") != "admin read write" ||
		s.Options.Verify != connection.VerifyAccount ||
		s.ExpiresAt.Sub(s.CreatedAt) != 2*time.Hour ||
		s.AskedBy.Name != "Laptop" {
		t.Errorf("session = %+v", s)
	}
	byType, err := w.Open(t.Context(), agent(), account,
		connection.Request{App: "notes", Options: connection.ConnectOptions{Scheme: "key"}})
	if err != nil || byType.Options.Scheme != "key" {
		t.Errorf("by the kind of sign-in: %+v, %v", byType, err)
	}
	again, err := w.Open(t.Context(), agent(), account, in)
	if err != nil || again.CreatedAt != s.CreatedAt || w.Link(again.ID) != w.Link(s.ID) {
		t.Errorf("a repetition with the id: %+v, %v, want the same session and link", again, err)
	}
	link := w.Link(s.ID)
	if !strings.HasPrefix(link, base+"/connect/") || len(token(link)) != 43 || strings.Contains(link, s.ID) {
		t.Errorf("link %q, want 256 bits that are not the id", link)
	}
	if got := w.store.Actions(); len(got) != 2 || got[0] != "connect.asked" {
		t.Errorf("recorded %v, want two of connect.asked", got)
	}
}

func TestConnectable(t *testing.T) {
	t.Parallel()
	w := setup(t)
	connectable, err := w.ConnectableApps(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"notes": "", "keyed": "", "weather": "", "other": "oauth_client_missing"} {
		a, err := connectionApp(t, id)
		if err != nil {
			t.Fatal(err)
		}
		ok, reason, err := w.Connectable(t.Context(), account, a)
		if err != nil || ok != (want == "") || reason != want {
			t.Errorf("Connectable(%s) = %v, %q, %v, want %q", id, ok, reason, err, want)
		}
		if ok, reason := connectable(a); ok != (want == "") || reason != want {
			t.Errorf("ConnectableApps: %s is %v, %q, want %q", id, ok, reason, want)
		}
	}
}
