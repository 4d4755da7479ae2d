package connection_test

import (
	"context"
	"fmt"
	"path"

	"ace/internal/foundation/seal"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/connectiontest"
)

// An agent asks for a link, a person types a key on its page, and a run takes
// the credentials.
func Example() {
	ctx := context.Background()
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		panic(err)
	}
	vendor := &connectiontest.Vendor{Identity: connection.Identity{ID: "1098", Email: "ann@acme.example"}}
	apps := connectiontest.Catalog()
	service := connection.New(connection.Ports{
		Store: connectiontest.NewMemory(), Apps: apps, Clients: connectiontest.Clients{}, Authorizer: vendor,
		Checker: vendor, Stepper: vendor,
	}, box, &connection.Options{BaseURL: "https://platform.example"})

	session, err := service.Open(ctx, audit.System(), "acc_1",
		connection.Request{App: "keyed", Options: connection.ConnectOptions{Label: "Work"}})
	if err != nil {
		panic(err)
	}
	person := connection.Visitor{Browser: "a-cookie-that-nobody-else-can-have", AccountID: "acc_1"}
	token := path.Base(service.Link(session.ID))
	if _, err := service.Submit(ctx, token, person,
		connection.Form{Fields: connection.Credentials{"key": "sk_secret"}}); err != nil {
		panic(err)
	}

	keyed, err := apps.App(ctx, "acc_1", "keyed")
	if err != nil {
		panic(err)
	}
	chosen, err := service.Choose(ctx, "acc_1", keyed, "", "")
	if err != nil {
		panic(err)
	}
	live, err := service.Use(ctx, "acc_1", chosen.ID)
	if err != nil {
		panic(err)
	}
	key, _ := live.Values.Value("key")
	fmt.Println(chosen.Label, chosen.Identity.Email, chosen.Status, key)
	// Output: Work ann@acme.example active sk_secret
}
