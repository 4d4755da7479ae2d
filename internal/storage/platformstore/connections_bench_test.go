package platformstore_test

import (
	"net/url"
	"strings"
	"testing"

	"ace/internal/foundation/password"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/account"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/clients"
	"ace/internal/platform/connection/connectiontest"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

// BenchmarkChooseAndUse is what each run of a tool costs before its call: the
// connection chosen, its fresh credentials read and opened.
func BenchmarkChooseAndUse(b *testing.B) {
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		b.Run(name, func(b *testing.B) {
			db, err := sqldb.Open(b.Context(), address(b), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			if _, err := db.Migrate(b.Context(), storage.Migrations()); err != nil {
				b.Fatal(err)
			}
			service, accountID := connectedService(b, platformstore.New(db, nil))
			notes, err := connectiontest.Catalog().App(b.Context(), accountID, "notes")
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for b.Loop() {
				c, err := service.Choose(b.Context(), accountID, notes, "", "")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := service.Use(b.Context(), accountID, c.ID); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// connectedService is a service with one connection of notes.
func connectedService(b *testing.B, store *platformstore.Store) (service *connection.Service, accountID string) {
	b.Helper()
	box := box(b)
	a, _, err := account.New(store, password.New(), box.MAC).Create(b.Context(), audit.Operator(), "demo", "")
	if err != nil {
		b.Fatal(err)
	}
	keeper, vendor := clients.New(store, box), &connectiontest.Vendor{}
	if err := keeper.Store(b.Context(), audit.Operator(),
		&connection.Client{App: "notes", ID: "client", Secret: "hush"}); err != nil {
		b.Fatal(err)
	}
	service = connection.New(connection.Ports{
		Store: platformstore.Connections{Store: store}, Apps: connectiontest.Catalog(), Clients: keeper,
		Authorizer: vendor, Checker: vendor, Stepper: vendor,
	}, box, nil)
	session, err := service.Open(b.Context(), audit.System(), a.ID,
		connection.Request{App: "notes", Options: connection.ConnectOptions{Scheme: "oauth2"}})
	if err != nil {
		b.Fatal(err)
	}
	person := connection.Visitor{Browser: strings.Repeat("b", 40), AccountID: a.ID}
	link := service.Link(session.ID)
	o, err := service.Submit(b.Context(), link[strings.LastIndexByte(link, '/')+1:], person, connection.Form{})
	if err != nil {
		b.Fatal(err)
	}
	at, err := url.Parse(o.Redirect)
	if err != nil {
		b.Fatal(err)
	}
	if o, err = service.Callback(b.Context(), "notes", person,
		url.Values{"state": {at.Query().Get("state")}, "code": {"good"}}); err != nil || o.Connection == nil {
		b.Fatalf("Callback = %+v, %v", o, err)
	}
	return service, a.ID
}
