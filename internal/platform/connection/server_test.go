package connection_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// only is a catalog of one app.
type only struct{ a *app.App }

func (o only) App(context.Context, string, string) (*app.App, error) { return o.a, nil }

// TestClientStaysWithItsServer: a user who types, or lets an agent ask for, a server
// of their own is not sent there with the secret of a client of another.
func TestClientStaysWithItsServer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		extra        map[string]string
		wish, typed  string
		code, detail string
		shown        string // in the form; empty: whatever
	}{
		{name: "the usual server", shown: ""},
		{
			name:  "the client's server",
			extra: map[string]string{"host": "git.acme.example"},
			typed: "git.acme.example",
			shown: "git.acme.example",
		},
		{name: "another server", typed: "evil.example", code: "invalid_fields", detail: "is of git.example"},
		{
			name: "another server that an agent asked for", wish: "evil.example", code: "invalid_fields",
			detail: "is of git.example",
		},
		{
			name:   "the usual server where the client is of another",
			extra:  map[string]string{"host": "git.acme.example"},
			typed:  "git.example",
			code:   "invalid_fields",
			detail: "is of git.acme.example",
			shown:  "git.acme.example",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			git := &app.App{
				ID: "git", Name: "Git",
				Params: map[string]app.Param{"host": {Host: true, Match: "^[a-z.]+$", Default: "git.example"}},
				Schemes: []app.Scheme{
					{
						ID: "oauth2", Type: app.TypeOAuth2,
						OAuth: &app.OAuth{Token: app.Token{URL: "https://{host}/token"}},
					},
					{ID: "key", Type: app.TypeKey, Fields: []app.Field{{Name: "key"}}},
				},
				Who: &app.Who{Get: "/me"},
			}
			w.clients["git"] = &connection.Client{App: "git", ID: "client", Secret: "hush", Extra: tt.extra}
			w.Service = connection.New(connection.Ports{
				Store: w.store, Apps: only{git}, Clients: w.clients, Authorizer: w.vendor, Checker: w.vendor,
				Stepper: w.vendor,
			}, w.sealer, &connection.Options{BaseURL: base, Log: slog.New(slog.DiscardHandler)})
			wish := connection.ConnectOptions{}
			if tt.wish != "" {
				wish.Params = map[string]string{"host": tt.wish}
			}
			_, link := w.ask(t, "git", wish)
			visit, err := w.Visit(t.Context(), link, ann())
			if want := tt.shown; err != nil || want != "" && visit.Servers["oauth2"]["host"] != want ||
				visit.Servers["key"] != nil {
				t.Errorf("the page shows %v, %v", visit.Servers, err)
			}
			typed := map[string]string{"host": tt.typed}
			o, err := w.Submit(t.Context(), link, ann(), connection.Form{Scheme: "oauth2", Params: typed})
			if code(err) != tt.code || err == nil && !strings.HasPrefix(o.Redirect, "https://vendor.test/") {
				t.Fatalf("Submit = %+v, %v, want %q", o, err, tt.code)
			}
			if p, ok := problem.From(err); ok && (len(p.Items) != 1 || p.Items[0].Pointer != "/params/host" ||
				!strings.Contains(p.Items[0].Detail, tt.detail)) {
				t.Errorf("the problem is %+v", p.Items)
			}
			// A key is the person's own, and goes where they say.
			if _, err := w.Submit(t.Context(), link, ann(),
				connection.Form{Scheme: "key", Params: typed, Fields: connection.Credentials{"key": "k"}}); err != nil {
				t.Errorf("by key: %v", err)
			}
		})
	}
}
