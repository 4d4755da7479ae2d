package agenttool_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/protocol/ucp"
	"ace/internal/sandbox/sandboxtest"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

// checkoutOf calls a tool that answers a checkout.
func checkoutOf(u *storetest.ToolUser, tool, arguments string) ucp.Checkout {
	u.T.Helper()
	a := u.Call(tool, arguments)
	if a.IsError {
		u.T.Fatalf("%s %s = %s", tool, arguments, a.Text())
	}
	var c ucp.Checkout
	a.Into(u.T, &c)
	return c
}

// TestPurchaseByTools buys: a list, a checkout, a person who pays, an order.
func TestPurchaseByTools(t *testing.T) {
	t.Parallel()
	u := storetest.UseToolsOf(t)
	var catalog struct {
		Offers []struct{ ID string }
	}
	u.Call("list_products", `{"query":"handbook download"}`).Into(t, &catalog)
	if len(catalog.Offers) == 0 {
		t.Fatal("the handbook is not for sale")
	}
	opened := checkoutOf(
		u,
		"create_checkout",
		`{"offer_id":"`+catalog.Offers[0].ID+`","buyer_email":"ada@example.com"}`,
	)
	if opened.Status != ucp.RequiresEscalation || !strings.HasPrefix(opened.ContinueURL, u.URL+"/c/") ||
		opened.LineItems[0].Quantity != 1 {
		t.Fatalf("create_checkout = %+v, want requires_escalation and continue_url", opened)
	}
	if u.Sandbox.Charges() != 0 {
		t.Error("create_checkout charged something")
	}
	if diff := cmp.Diff(opened, checkoutOf(u, "get_checkout", `{"id":"`+opened.ID+`"}`)); diff != "" {
		t.Errorf("get after create (-create +get):\n%s", diff)
	}
	session, err := u.Sales.Get(t.Context(), opened.ID)
	if err != nil || session.Protocol != checkout.MCP {
		t.Errorf("session = %+v, %v, want it filed under mcp", session, err)
	}

	waited := make(chan ucp.Checkout)
	go func() { waited <- checkoutOf(u, "get_checkout", `{"id":"`+opened.ID+`","wait_seconds":25}`) }()
	if seen := sandboxtest.NewPerson(t, nil).Pay(opened.ContinueURL, sandboxtest.CardOK); seen.Status != 303 {
		t.Fatalf("paying answered %d:\n%s", seen.Status, seen.Body)
	}
	paid := <-waited
	for range 20 { // the buyer may be notified before the store is
		if paid.Status == ucp.Completed {
			break
		}
		paid = checkoutOf(u, "get_checkout", `{"id":"`+opened.ID+`","wait_seconds":1}`)
	}
	if paid.Status != ucp.Completed || paid.Order == nil || paid.Order.ID == "" || paid.ContinueURL != "" {
		t.Errorf("get_checkout after the payment = %+v, want completed, an order and no page", paid)
	}
	if a := u.Call("get_checkout", `{"id":"`+opened.ID+`","wait_seconds":25}`); a.IsError {
		t.Errorf("waiting for what is over = %s", a.Text())
	}
}

// A checkout that tools answer is one of UCP.
func TestToolCheckoutIsUCP(t *testing.T) {
	t.Parallel()
	u := storetest.UseToolsOf(t)
	for _, offer := range []string{"prompt_handbook", "assistant_pro_monthly", "home_box", "prompt_handbook_jp"} {
		a := u.Call("create_checkout", `{"offer_id":"`+offer+`"}`)
		storetest.ValidUCP(t, ucp.Newest, "shopping/checkout.json", a.Structured)
	}
}

// TestToolIdempotency repeats calls with and without a key.
func TestToolIdempotency(t *testing.T) {
	t.Parallel()
	u := storetest.UseToolsOf(t)
	create := func(arguments string) string {
		return checkoutOf(u, "create_checkout", arguments).ID
	}
	const plain, keyed = `{"offer_id":"prompt_handbook"}`, `{"offer_id":"prompt_handbook","quantity":1,` +
		`"idempotency_key":"5f0a8a1f-4b11-4d0c-9d6e-7c0ee3c5aaaa"}`
	if one, two := create(plain), create(plain); one == two {
		t.Error("two calls without a key opened one checkout")
	}
	first := create(keyed)
	if again := create(keyed); again != first {
		t.Errorf("the repetition opened %s beside %s", again, first)
	}
	if other := create(
		`{"idempotency_key":"5f0a8a1f-4b11-4d0c-9d6e-7c0ee3c5aaaa","offer_id":"prompt_handbook"}`); other != first {
		t.Errorf("the default left out and another order of members opened %s beside %s", other, first)
	}
	u.Fails("create_checkout", strings.Replace(keyed, `"quantity":1`, `"quantity":2`, 1), "used with other arguments",
		"idempotency_key_reused", "next: call create_checkout")

	const failing = `{"offer_id":"founders_mug","idempotency_key":"once-more"}`
	u.Fails("create_checkout", failing, "sold_out")
	u.Fails("create_checkout", failing, "sold_out")

	const together = `{"offer_id":"prompt_handbook","idempotency_key":"all-at-once-with-one-key"}`
	var calls sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		calls.Go(func() {
			for range 1000 {
				a := u.Call("create_checkout", together)
				var c ucp.Checkout
				if !a.IsError && json.Unmarshal(a.Structured, &c) == nil {
					ids[i] = c.ID
					return
				}
				if !strings.Contains(a.Text(), "idempotency_in_progress") || !strings.Contains(a.Text(),
					"Call again in a second") {
					t.Errorf("a call beside the first = %s", a.Text())
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	calls.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("calls with one key opened %v, want one checkout", ids)
		}
	}
}

// What a caller says about the buyer is neither answered nor logged.
func TestToolsKeepTheBuyerToThemselves(t *testing.T) {
	t.Parallel()
	u := storetest.UseToolsOf(t)
	a := u.Call("create_checkout", `{"offer_id":"prompt_handbook","buyer_email":"secret.person@example.com"}`)
	u.Call("create_checkout", `{"offer_id":"prompt_handbook","buyer_email":"secret person"}`)
	if strings.Contains(string(a.Structured), "secret.person") || strings.Contains(u.Log.String(), "secret") {
		t.Errorf("answer %s, log %s: want neither to name the buyer", a.Structured, u.Log)
	}
}
