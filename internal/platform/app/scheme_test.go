package app_test

import (
	"testing"

	"ace/internal/platform/app"
)

func TestRenewable(t *testing.T) {
	t.Parallel()
	refresh := func(kind string) *app.OAuth { return &app.OAuth{Refresh: app.Refresh{Kind: kind}} }
	tests := []struct {
		name          string
		scheme        app.Scheme
		with, without bool // a refresh token
		consents      bool
	}{
		{"OAuth 2", app.Scheme{Type: app.TypeOAuth2}, true, false, true},
		{
			"OAuth 2 by refresh token",
			app.Scheme{Type: app.TypeOAuth2, OAuth: refresh(app.RefreshToken)},
			true, false,
			true,
		},
		{"token for token", app.Scheme{Type: app.TypeOAuth2, OAuth: refresh(app.RefreshExchange)}, true, true, true},
		{"never", app.Scheme{Type: app.TypeOAuth2, OAuth: refresh(app.RefreshNot)}, false, false, true},
		{"MCP", app.Scheme{Type: app.TypeMCP}, true, false, true},
		{"OAuth 1", app.Scheme{Type: app.TypeOAuth1}, false, false, true},
		{"client credentials", app.Scheme{Type: app.TypeClient}, true, true, false},
		{"calls that log in", app.Scheme{Type: app.TypeExchange}, true, true, false},
		{
			"an assertion for a token",
			app.Scheme{Type: app.TypeJWT, JWT: &app.JWTUse{Grant: &app.Step{}}},
			true, true,
			false,
		},
		{"an assertion itself", app.Scheme{Type: app.TypeJWT, JWT: &app.JWTUse{}}, false, false, false},
		{"a key", app.Scheme{Type: app.TypeKey}, false, false, false},
	}
	for _, tt := range tests {
		if with, without, consents := tt.scheme.Renewable(true), tt.scheme.Renewable(
			false), tt.scheme.Consents(); with != tt.with || without != tt.without || consents != tt.consents {
			t.Errorf("%s: renewable with a refresh token %v, without %v, by consent %v", tt.name, with, without,
				consents)
		}
	}
}

func TestCanEnd(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		scheme  app.Scheme
		release []app.Step
		want    bool
	}{
		{
			"consent with an end",
			app.Scheme{Type: app.TypeOAuth2, OAuth: &app.OAuth{Revoke: &app.Revoke{URL: "https://a.example/revoke"}}},
			nil, true,
		},
		{"consent without one", app.Scheme{Type: app.TypeOAuth2, OAuth: &app.OAuth{}}, nil, false},
		{"an MCP server", app.Scheme{Type: app.TypeMCP}, nil, true},
		{"a key", app.Scheme{Type: app.TypeKey}, nil, false},
		{"steps of all schemes", app.Scheme{ID: "key", Type: app.TypeKey}, []app.Step{{Call: "DELETE /hooks"}}, true},
		{
			"steps of another scheme",
			app.Scheme{ID: "key", Type: app.TypeKey},
			[]app.Step{{Call: "DELETE /hooks", Scheme: "oauth"}},
			false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := (&app.App{Release: tt.release}).CanEnd(&tt.scheme); got != tt.want {
				t.Errorf("CanEnd = %v, want %v", got, tt.want)
			}
		})
	}
}
