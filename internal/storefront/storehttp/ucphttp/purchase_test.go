package ucphttp_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/typeid"
	"ace/internal/protocol/ucp"
	"ace/internal/sandbox/sandboxtest"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

func ucpTotals(totals []ucp.Total) map[string]int64 {
	got := map[string]int64{}
	for _, t := range totals {
		got[t.Type] += t.Amount
	}
	return got
}

// TestUCPTermsOfOffers opens a checkout for each kind of offer.
func TestUCPTermsOfOffers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		offer    string
		quantity int
		currency string
		totals   map[string]int64
		said     []string
		terms    string // in the disclosure
	}{
		{
			"prompt_handbook", 1, "USD",
			map[string]int64{"subtotal": 2900, "total": 2900},
			[]string{"error payment_required"},
			"",
		},
		{
			"prompt_handbook_jp", 1, "JPY",
			map[string]int64{"subtotal": 4200, "total": 4200},
			[]string{"error payment_required"},
			"",
		},
		{
			"assistant_pro_monthly", 1, "USD",
			map[string]int64{"subtotal": 1900, "trial_credit": -1900, "total": 0},
			[]string{"error payment_required", "warning recurring_charge", "info tax_at_payment"},
			"Free for 14 days, then USD 19.00 every month until canceled.",
		},
		{
			"assistant_pro_yearly", 1, "USD",
			map[string]int64{"subtotal": 19000, "total": 19000},
			[]string{"error payment_required", "warning recurring_charge", "info tax_at_payment"},
			"USD 190.00 every year until canceled.",
		},
		{
			"home_box", 1, "USD",
			map[string]int64{"subtotal": 14900, "total": 14900},
			[]string{"error payment_required", "info tax_at_payment", "info shipping_at_payment"},
			"",
		},
		{
			"setup_call", 1, "USD",
			map[string]int64{"subtotal": 9000, "total": 9000},
			[]string{"error payment_required", "info tax_at_payment"},
			"",
		},
	}
	ucpAgents(t, func(a *ucpAgent) {
		for _, tt := range tests {
			c := a.order(tt.offer, tt.quantity)
			if c.Status != ucp.RequiresEscalation || c.Currency != tt.currency || c.LineItems[0].Item.ID != tt.offer ||
				c.Order != nil {
				a.T.Errorf("%s: %+v", tt.offer, c)
			}
			if diff := cmp.Diff(tt.totals, ucpTotals(c.Totals)); diff != "" {
				a.T.Errorf("totals of %s (-want +got):\n%s", tt.offer, diff)
			}
			if diff := cmp.Diff(tt.said, said(c.Messages)); diff != "" {
				a.T.Errorf("messages of %s (-want +got):\n%s", tt.offer, diff)
			}
			if !strings.HasPrefix(c.ContinueURL, a.URL+"/c/") || !c.ExpiresAt.After(time.Now()) {
				a.T.Errorf("%s: continue_url %q, expires_at %s", tt.offer, c.ContinueURL, c.ExpiresAt)
			}
			for _, m := range c.Messages {
				if m.Code == ucp.RecurringCharge &&
					(m.Content != tt.terms || m.Presentation != ucp.PresentationDisclosure) {
					a.T.Errorf("disclosure of %s = %+v, want %q", tt.offer, m, tt.terms)
				}
			}
			if diff := cmp.Diff(c, a.checkout(a.call(ucp.ToolGetCheckout, c.ID, ""))); diff != "" {
				a.T.Errorf("get after create (-create +get):\n%s", diff)
			}
			a.call(ucp.ToolCancelCheckout, c.ID, "") // gives back what is held
		}
	})
}

// TestUCPPurchase lets a person pay what an agent opened, and follows it from
// there: the order, and what can no longer be done.
func TestUCPPurchase(t *testing.T) {
	t.Parallel()
	tests := []struct {
		offer  string
		fields []string
		totals map[string]int64
	}{
		{"prompt_handbook", nil, map[string]int64{"subtotal": 2900, "total": 2900}},
		{"assistant_pro_monthly", nil, map[string]int64{"subtotal": 1900, "trial_credit": -1900, "total": 0}},
		{"home_box", sandboxtest.ShippingAddress(), nil},
	}
	ucpAgents(t, func(a *ucpAgent) {
		for _, tt := range tests {
			opened := a.order(tt.offer, 1)
			if seen := sandboxtest.NewPerson(a.T, nil).Pay(opened.ContinueURL, sandboxtest.CardOK,
				tt.fields...); seen.Status != http.StatusSeeOther {
				a.T.Fatalf("paying %s answered %d:\n%s", tt.offer, seen.Status, seen.Body)
			}
			paid := a.until(opened.ID, ucp.Completed)
			if paid.Order == nil || !typeid.Valid("ord", paid.Order.ID) || paid.ContinueURL != "" ||
				len(paid.Messages) != 0 {
				a.T.Errorf("completed = %+v, want an order and nothing left to say", paid)
			}
			if diff := cmp.Diff(tt.totals, ucpTotals(paid.Totals)); tt.totals != nil && diff != "" {
				a.T.Errorf("totals of %s (-want +got):\n%s", tt.offer, diff)
			}
			if tt.offer == "home_box" {
				order, err := a.Orders.OfCheckout(a.T.Context(), opened.ID)
				if err != nil {
					a.T.Fatal(err)
				}
				want := map[string]int64{"subtotal": 14900, "total": order.Paid.Total}
				for kind, amount := range map[string]int64{"fulfillment": order.Paid.Shipping, "tax": order.Paid.Tax} {
					if amount != 0 {
						want[kind] = amount
					}
				}
				if diff := cmp.Diff(want, ucpTotals(paid.Totals)); diff != "" {
					a.T.Errorf("totals of hardware (-want +got):\n%s", diff)
				}
			}
			if page := a.Do(http.MethodGet, paid.Order.PermalinkURL, ""); page.Status != 200 ||
				!strings.Contains(string(page.Body), "Thank you") {
				a.T.Errorf("permalink_url = %d", page.Status)
			}
			if again := a.checkout(a.call(ucp.ToolCompleteCheckout, opened.ID,
				`{"payment":{"instruments":[{"id":"x"}]}}`)); again.Status != ucp.Completed || again.Order == nil {
				a.T.Errorf("complete after payment = %+v, want the order", again)
			}
			a.wantOutcome(a.call(ucp.ToolCancelCheckout, opened.ID, ""), 409, ucp.CheckoutNotModifiable, "")
			a.wantOutcome(a.call(ucp.ToolUpdateCheckout, opened.ID, wish("setup_call", 1)),
				409, ucp.CheckoutNotModifiable, "")
		}
	})
}

func TestUCPDelayedPayment(t *testing.T) {
	t.Parallel()
	tests := []struct {
		result string
		want   ucp.CheckoutStatus
		said   []string
	}{
		{"succeeds", ucp.Completed, []string{}},
		{"fails", ucp.Canceled, []string{"error payment_failed"}},
	}
	for _, tt := range tests {
		t.Run(tt.result, func(t *testing.T) {
			t.Parallel()
			ucpAgentsApart(t, func(a *ucpAgent) {
				opened := a.order("prompt_handbook", 1)
				if seen := sandboxtest.NewPerson(a.T, nil).PayLater(opened.ContinueURL,
					tt.result); seen.Status != http.StatusSeeOther {
					a.T.Fatalf("paying answered %d:\n%s", seen.Status, seen.Body)
				}
				pending := a.until(opened.ID, ucp.CompleteInProgress)
				if diff := cmp.Diff([]string{"info payment_pending"}, said(pending.Messages)); diff != "" ||
					pending.ContinueURL != "" || pending.Order != nil {
					a.T.Errorf("pending = %+v\n%s", pending, diff)
				}
				if c := a.checkout(a.call(ucp.ToolCompleteCheckout, opened.ID, "{}")); c.Status !=
					ucp.CompleteInProgress {
					a.T.Errorf("complete = %+v, want it still in progress", c)
				}
				a.wantOutcome(a.call(ucp.ToolCancelCheckout, opened.ID, ""), 409, ucp.CheckoutNotModifiable, "")
				a.Sandbox.Advance(4 * 24 * time.Hour)
				if diff := cmp.Diff(tt.said, said(a.until(opened.ID, tt.want).Messages)); diff != "" {
					a.T.Errorf("messages (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestUCPEnds are the ways in which a checkout ends unpaid.
func TestUCPEnds(t *testing.T) {
	t.Parallel()
	ucpAgentsApart(t, func(a *ucpAgent) {
		canceled := a.checkout(a.call(ucp.ToolCancelCheckout, a.order("setup_call", 1).ID, ""))
		late := a.order("prompt_handbook", 1)
		gone := a.order("home_box", 1)
		a.Sandbox.Call(http.MethodPost, "/v1/prices/price_test_home_box", "metadata[availability]=sold_out", nil)
		a.Catalog.Invalidate()
		if page := a.Do(http.MethodGet, gone.ContinueURL, ""); page.Status != 200 {
			a.T.Errorf("continue_url of a sold-out offer = %d, want a page that says so", page.Status)
		}
		a.Sandbox.Advance(25 * time.Hour)
		tests := []struct {
			name string
			got  ucp.Checkout
			said string
		}{
			{"canceled", canceled, "info canceled"},
			{"expired", a.until(late.ID, ucp.Canceled), "info expired"},
			{"sold out", a.until(gone.ID, ucp.Canceled), "error out_of_stock"},
		}
		for _, tt := range tests {
			if diff := cmp.Diff([]string{tt.said}, said(tt.got.Messages)); diff != "" ||
				tt.got.Status != ucp.Canceled || tt.got.ContinueURL != "" || tt.got.Order != nil {
				a.T.Errorf("%s = %+v\n%s", tt.name, tt.got, diff)
			}
			a.wantOutcome(a.call(ucp.ToolCancelCheckout, tt.got.ID, ""), 409, ucp.CheckoutNotModifiable, "")
			a.wantOutcome(a.call(ucp.ToolCompleteCheckout, tt.got.ID, "{}"), 409, ucp.CheckoutNotModifiable, "")
			a.wantOutcome(a.call(ucp.ToolUpdateCheckout, tt.got.ID, wish("setup_call", 1)),
				409, ucp.CheckoutNotModifiable, "")
		}
	})
}

func TestUCPUpdate(t *testing.T) {
	t.Parallel()
	ucpAgents(t, func(a *ucpAgent) {
		opened := a.order("prompt_handbook", 1)
		changed := a.checkout(a.call(
			ucp.ToolUpdateCheckout,
			opened.ID,
			`{"id":"chk_ignored","status":"completed","line_items":[{"id":"li_1","item":{"id":"setup_call",`+
				`"title":"x","price":1},"quantity":1}],"buyer":{"email":"ada@example.com"},`+
				`"context":{"eligibility":["org.example.student"]}}`,
		))
		if changed.ID != opened.ID || changed.ContinueURL != opened.ContinueURL ||
			changed.LineItems[0].Item.Price != 9000 {
			a.T.Errorf("update = %+v, want the same checkout with another item", changed)
		}
		if diff := cmp.Diff([]string{
			"error payment_required", "info tax_at_payment",
			"warning eligibility_not_accepted",
		}, said(changed.Messages)); diff != "" {
			a.T.Errorf("messages (-want +got):\n%s", diff)
		}
		if page := sandboxtest.NewPerson(a.T,
			nil).Get(a.Do(http.MethodGet, changed.ContinueURL, "").Header.Get("Location")); !strings.Contains(page.Body,
			"Setup Call") || !strings.Contains(page.Body, "ada@example.com") {
			a.T.Errorf("the payment page shows neither the new item nor the buyer's e-mail:\n%s", page.Body)
		}
		a.wantOutcome(a.call(ucp.ToolUpdateCheckout, opened.ID, wish("founders_mug", 1)), 200, ucp.OutOfStock,
			"$.line_items[0]")
		if c := a.checkout(a.call(ucp.ToolGetCheckout, opened.ID, "")); c.LineItems[0].Item.ID != "setup_call" ||
			c.Status != ucp.RequiresEscalation {
			a.T.Errorf("after a refused update = %+v, want it unchanged", c)
		}
	})
}

func TestUCPPriceChange(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	opened := a.order("setup_call", 1)
	a.Sandbox.Call(
		http.MethodPost,
		"/v1/prices",
		"product=prod_test_setup_call&currency=usd&unit_amount=9900&lookup_key=setup_call&transfer_lookup_key=true"+
			"&tax_behavior=exclusive&metadata[agent_offer]=true&metadata[category]=service&metadata[delivery]=service",
		nil,
	)
	a.Catalog.Invalidate()
	if c := a.checkout(a.call(ucp.ToolGetCheckout, opened.ID, "")); ucpTotals(c.Totals)["total"] != 9000 {
		t.Errorf("total after a price change = %+v, want the promised one", c.Totals)
	}
	c := a.checkout(a.call(ucp.ToolUpdateCheckout, opened.ID, wish("setup_call", 1)))
	if diff := cmp.Diff([]string{"error payment_required", "warning price_changed", "info tax_at_payment"},
		said(c.Messages)); diff != "" || ucpTotals(c.Totals)["total"] != 9900 {
		t.Errorf("update after a price change = %+v\n%s", c.Totals, diff)
	}
}

// TestUCPBareForms are what callers send who do not speak UCP.
func TestUCPBareForms(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	for _, body := range []string{
		`{"line_items":[{"item":{"id":"prompt_handbook"},"quantity":1}]}`,
		`{"line_items":[{"item":{"id":"prompt_handbook"}}]}`,
		`{"line_items":[{"id":"prompt_handbook"}]}`,
		`{"line_items":[{"offer_id":"prompt_handbook"}]}`,
		`{"offer_id":"prompt_handbook"}`,
		`{"item":{"id":"prompt_handbook"},"quantity":1}`,
		`{"line_items":[{"item":{"id":"price_test_prompt_handbook"}}]}`,
		`{"ucp":{"version":"1"},"id":"x","status":"completed","currency":"EUR","totals":[],"messages":[],` +
			`"links":[],"order":{},"line_items":[{"item":{"id":"prompt_handbook","title":"?","price":1},` +
			`"quantity":1,"totals":[]}]}`,
	} {
		r := a.call(ucp.ToolCreateCheckout, "", body)
		if c := a.checkout(r); r.Status != 201 || c.LineItems[0].Item.ID != "prompt_handbook" ||
			c.LineItems[0].Quantity != 1 {
			t.Errorf("create %s = %d %s", body, r.Status, r.Body)
		}
	}
}

func TestUCPWaiting(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	opened := a.order("prompt_handbook", 1)
	answers := make(chan storetest.Response)
	go func() { answers <- a.call(ucp.ToolGetCheckout, opened.ID, "", "Prefer", "wait=25") }()
	if seen := sandboxtest.NewPerson(t, nil).Pay(opened.ContinueURL,
		sandboxtest.CardOK); seen.Status != http.StatusSeeOther {
		t.Fatalf("paying answered %d", seen.Status)
	}
	r := <-answers
	if c := a.checkout(r); c.Status != ucp.Completed || r.Header.Get("Preference-Applied") != "wait=25" {
		t.Errorf("waiting get = %s, %q", c.Status, r.Header.Get("Preference-Applied"))
	}
	if r := a.call(ucp.ToolGetCheckout, typeid.New("chk"), "", "Prefer", "wait=25"); r.Status != 200 {
		t.Errorf("waiting for an unknown checkout = %d %s", r.Status, r.Body)
	}
}

func TestUCPDirectContinueURL(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t, func(d *storehttp.Deps) { d.Site.DirectContinueURL = true })
	if c := a.order("prompt_handbook", 1); !strings.HasPrefix(c.ContinueURL, a.Sandbox.URL+"/stripe/") {
		t.Errorf("continue_url = %q, want the payment page itself", c.ContinueURL)
	}
}

// TestUCPKeepsWhoAsked reads what a session remembers of the agent.
func TestUCPKeepsWhoAsked(t *testing.T) {
	t.Parallel()
	ucpAgents(t, func(a *ucpAgent) {
		r := a.call(
			ucp.ToolCreateCheckout,
			"",
			`{"line_items":[{"item":{"id":"setup_call"},"quantity":1}],"buyer":{"email":"ada@example.com",`+
				`"first_name":"Ada"},"attribution":{"campaign":"spring"}}`,
		)
		c := a.checkout(r)
		if strings.Contains(string(r.Body), "ada@") || strings.Contains(string(r.Body), "Ada") {
			a.T.Errorf("the answer repeats the buyer: %s", r.Body)
		}
		session, err := a.Storage.Session(a.T.Context(), c.ID)
		if err != nil {
			a.T.Fatal(err)
		}
		want := checkout.Agent{
			UserAgent: "Go-http-client/1.1", Attribution: map[string]string{"campaign": "spring"},
			ClientKey: session.Agent.ClientKey,
		}
		if a.version != "" {
			want.Profile = a.profile()
		}
		if diff := cmp.Diff(want, session.Agent); diff != "" || len(session.Agent.ClientKey) < 20 ||
			session.Protocol != checkout.UCP || session.Buyer.Email != "" {
			a.T.Errorf("session = %+v\n%s", session, diff)
		}
	})
}
