package connection_test

import (
	"log/slog"
	"net/url"
	"path"
	"strings"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/connectiontest"
)

const (
	account  = "acc_a"
	stranger = "acc_b"
	browser  = "browser-cookie-of-32-characters-0"
	base     = "https://platform.test"
)

// world is a service over a store in memory and a vendor.
type world struct {
	*connection.Service
	store   *connectiontest.Memory
	vendor  *connectiontest.Vendor
	clients connectiontest.Clients
	sealer  *seal.Sealer
}

func setup(t *testing.T) *world {
	t.Helper()
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		store:  connectiontest.NewMemory(),
		vendor: &connectiontest.Vendor{Identity: connection.Identity{ID: "u1", Email: "ann@acme.example"}},
		clients: connectiontest.Clients{"notes": {
			App: "notes", ID: "client", Secret: "hush",
			Extra: map[string]string{"developer_token": "dev"},
		}}, sealer: box,
	}
	w.Service = w.replica(nil)
	return w
}

// replica is another process over the same store.
func (w *world) replica(step func(string)) *connection.Service {
	return connection.New(connection.Ports{
		Store: w.store, Apps: connectiontest.Catalog(), Clients: w.clients, Authorizer: w.vendor, Checker: w.vendor,
		Stepper: w.vendor,
	}, w.sealer, &connection.Options{BaseURL: base, Log: slog.New(slog.DiscardHandler), Step: step})
}

func ann() connection.Visitor {
	return connection.Visitor{
		Browser: browser, AccountID: account,
		Actor: audit.Actor{Kind: audit.ByUser, ID: "usr_ann"},
	}
}

func agent() audit.Actor { return audit.Actor{Kind: audit.ByKey, ID: "key_1", Name: "Laptop"} }

// ask opens a session and returns it with the token of its link.
func (w *world) ask(t *testing.T, appID string, wish connection.ConnectOptions) (*connection.Session, string) {
	t.Helper()
	s, err := w.Open(t.Context(), agent(), account, connection.Request{App: appID, Options: wish})
	if err != nil {
		t.Fatalf("Open(%s): %v", appID, err)
	}
	return s, token(w.Link(s.ID))
}

func token(link string) string { return path.Base(link) }

// signIn walks a session of notes to the vendor and back.
func (w *world) signIn(t *testing.T, wish connection.ConnectOptions) *connection.Connection {
	t.Helper()
	wish.Scheme = "oauth2"
	s, link := w.ask(t, "notes", wish)
	o, err := w.Submit(t.Context(), link, ann(), connection.Form{})
	if err != nil {
		t.Fatalf("Submit: %v", err)
	}
	o, err = w.Callback(t.Context(), "notes", ann(), url.Values{"state": {state(t, o)}, "code": {"good"}})
	if err != nil || o.Connection == nil {
		t.Fatalf("Callback of %s: %+v, %v", s.ID, o, err)
	}
	return o.Connection
}

// typeKey connects the app by a key.
func (w *world) typeKey(t *testing.T, appID string, wish connection.ConnectOptions, key string) *connection.Connection {
	t.Helper()
	wish.Scheme = "key"
	_, link := w.ask(t, appID, wish)
	o, err := w.Submit(t.Context(), link, ann(), connection.Form{Fields: connection.Credentials{"key": key}})
	if err != nil || o.Connection == nil {
		t.Fatalf("Submit(%s): %+v, %v", appID, o, err)
	}
	return o.Connection
}

// state is the state that a redirect to the vendor carries.
func state(t *testing.T, o *connection.Outcome) string {
	t.Helper()
	u, err := url.Parse(o.Redirect)
	if err != nil || !strings.HasPrefix(o.Redirect, "https://vendor.test/") {
		t.Fatalf("redirect %q does not lead to the vendor", o.Redirect)
	}
	return u.Query().Get("state")
}

// code is the code of a problem, empty for no error.
func code(err error) string {
	if err == nil {
		return ""
	}
	p, known := problem.From(err)
	if !known {
		return "internal: " + err.Error()
	}
	return p.Code
}

func value(live *connection.Live, name string) string {
	text, _ := live.Values.Value(name)
	return text
}
