package acphttp_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/typeid"
	"ace/internal/protocol/acp"
	"ace/internal/sandbox/sandboxtest"
	"ace/internal/schematest"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

const acpSessions = "/agent/commerce/acp/checkout_sessions"

// acpAgent is an agent that keeps to a version of ACP, or to none: then it
// sends bare JSON. Each response it gets is held against the published schemas
// and against the rules that these cannot state.
type acpAgent struct {
	*storetest.Store
	version string
}

// acpAgents runs a test as each kind of agent, each in a world of its own.
func acpAgents(t *testing.T, test func(a *acpAgent)) {
	t.Helper()
	for _, version := range []string{"2026-04-17", "2026-01-30", ""} {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			test(&acpAgent{storetest.Start(t), version})
		})
	}
}

func (a *acpAgent) post(path, body string, headers ...string) storetest.Response {
	a.T.Helper()
	if a.version != "" {
		headers = append([]string{"API-Version", a.version, "Idempotency-Key", typeid.New("key")}, headers...)
	}
	return a.judge(a.Do(http.MethodPost, acpSessions+path, body, headers...))
}

func (a *acpAgent) get(id string, headers ...string) storetest.Response {
	a.T.Helper()
	if a.version != "" {
		headers = append([]string{"API-Version", a.version}, headers...)
	}
	return a.judge(a.Do(http.MethodGet, acpSessions+"/"+id, "", headers...))
}

// judge fails the test unless a response is what the protocol allows.
func (a *acpAgent) judge(r storetest.Response) storetest.Response {
	a.T.Helper()
	version := a.version
	if version == "" {
		version = string(acp.Newest)
	}
	if got := r.Header.Get("API-Version"); got != version {
		a.T.Errorf("API-Version = %q, want %q", got, version)
	}
	return judgeACP(a.T, version, r)
}

func judgeACP(t testing.TB, version string, r storetest.Response) storetest.Response {
	t.Helper()
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type = %q of %s", got, r.Body)
	}
	if got := r.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control = %q", got)
	}
	if r.Status >= 400 {
		validACP(t, version, "Error", r.Body)
		return r
	}
	var session acp.CheckoutSession
	r.Into(t, &session)
	if err := session.Validate(); err != nil {
		t.Errorf("session breaks a rule: %v\n%s", err, r.Body)
	}
	schema := "CheckoutSession"
	if session.Status == acp.Completed {
		schema = "CheckoutSessionWithOrder"
	}
	validACP(t, version, schema, r.Body)
	return r
}

// validACP validates a body where the schemas are at hand.
func validACP(t testing.TB, version, schema string, body []byte) {
	t.Helper()
	if os.Getenv("ACE_SHARED_DIR") == "" {
		t.Log("left out: ACE_SHARED_DIR is not set")
		return
	}
	schematest.ACP(t, version).Validate(t, schema, body)
}

// order opens a session as the version demands, and returns it.
func (a *acpAgent) order(offerID string, quantity int) acp.CheckoutSession {
	a.T.Helper()
	line := map[string]any{"item": map[string]any{"id": offerID}, "quantity": quantity}
	body, err := json.Marshal(map[string]any{
		"line_items": []any{line}, "currency": "usd",
		"capabilities": map[string]any{},
	})
	if err != nil {
		a.T.Fatal(err)
	}
	r := a.post("", string(body))
	if r.Status != http.StatusCreated {
		a.T.Fatalf("create = %d %s, want 201", r.Status, r.Body)
	}
	return a.session(r)
}

func (a *acpAgent) session(r storetest.Response) acp.CheckoutSession {
	a.T.Helper()
	if r.Status >= 300 {
		a.T.Fatalf("answer %d %s, want a session", r.Status, r.Body)
	}
	var session acp.CheckoutSession
	r.Into(a.T, &session)
	return session
}

// until reads a session until it has a status. News travel by webhook, so that
// this takes a moment.
func (a *acpAgent) until(id string, status acp.Status) acp.CheckoutSession {
	a.T.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(30 * time.Millisecond) {
		session := a.session(a.get(id))
		if session.Status == status {
			return session
		}
		if time.Now().After(deadline) {
			a.T.Fatalf("session is %s, want %s", session.Status, status)
		}
	}
}

func wantACPError(t testing.TB, r storetest.Response, status int, code, param string) {
	t.Helper()
	var e acp.Error
	r.Into(t, &e)
	if r.Status != status || e.Code != code || e.Param != param || e.Message == "" {
		t.Errorf("answer = %d %s, want %d %s at %q", r.Status, r.Body, status, code, param)
	}
}

func messages(s acp.CheckoutSession) []string {
	list := []string{}
	for _, m := range s.Messages {
		list = append(list, strings.Trim(string(m.Type)+" "+string(m.Code), " "))
	}
	return list
}

func TestACPPurchase(t *testing.T) {
	t.Parallel()
	acpAgents(t, func(a *acpAgent) {
		t := a.T
		opened := a.order("prompt_handbook", 2)
		if opened.Status != acp.RequiresEscalation || opened.Order != nil || !strings.HasPrefix(opened.ContinueURL,
			a.URL+"/c/") {
			t.Errorf("opened = %+v", opened)
		}
		if read := a.session(a.get(opened.ID)); !cmp.Equal(opened, read) {
			t.Errorf("read differs from created (-created +read):\n%s", cmp.Diff(opened, read))
		}
		if early := a.post("/"+opened.ID+"/complete", `{}`); early.Status != 200 ||
			a.session(early).Status != acp.RequiresEscalation {
			t.Errorf("complete before the payment = %d %s", early.Status, early.Body)
		}
		if seen := sandboxtest.NewPerson(t, nil).Pay(opened.ContinueURL,
			sandboxtest.CardOK); seen.Status != http.StatusSeeOther {
			t.Fatalf("paying answered %d:\n%s", seen.Status, seen.Body)
		}
		paid := a.until(opened.ID, acp.Completed)
		if paid.ContinueURL != "" || paid.Order == nil || paid.Order.Status != "confirmed" ||
			paid.Order.CheckoutSessionID != opened.ID {
			t.Errorf("paid = %+v", paid)
		}
		want := []acp.Total{
			{Type: acp.TotalItemsBaseAmount, DisplayText: "Item total", Amount: 5800},
			{Type: acp.TotalSubtotal, DisplayText: "Subtotal", Amount: 5800},
			{Type: acp.TotalTotal, DisplayText: "Total paid", Amount: 5800},
		}
		if diff := cmp.Diff(want, paid.Totals); diff != "" {
			t.Errorf("totals (-want +got):\n%s", diff)
		}
		if page := a.Do(http.MethodGet, paid.Order.PermalinkURL, ""); page.Status != 200 ||
			!strings.Contains(string(page.Body), paid.Order.ID) {
			t.Errorf("permalink_url answers %d", page.Status)
		}
		if late := a.session(a.post("/"+opened.ID+"/complete", `{"payment_data":{"token":"spt_123"}}`)); late.Order ==
			nil || late.Order.ID != paid.Order.ID {
			t.Errorf("complete after the payment = %+v", late)
		}
		wantACPError(t, a.post("/"+opened.ID+"/cancel", ""), 405, "checkout_session_not_cancelable", "")
		wantACPError(t, a.post("/"+opened.ID, `{"line_items":[{"id":"prompt_handbook","quantity":1}]}`), 409,
			"checkout_not_modifiable", "")
	})
}

func TestACPTermsOfOffers(t *testing.T) {
	t.Parallel()
	a := &acpAgent{storetest.Start(t), "2026-04-17"}
	tests := []struct {
		offer      string
		totals     string
		attributes []string
		delivery   int
		disclosed  string
	}{
		{
			"assistant_pro_monthly",
			"items_base_amount 1900, subtotal 1900, discount 1900 Free for the first 14 days, total 0 Due today",
			[]string{
				"Billing: USD 19.00 every month until canceled",
				"Free trial: Free for 14 days, then USD 19.00 every month",
				"Delivery: Available online right after payment", "Availability: in stock",
			},
			1, "Free for 14 days, then USD 19.00 every month until canceled.",
		},
		{"assistant_pro_yearly", "items_base_amount 19000, subtotal 19000, total 19000 Total before tax", []string{
			"Billing: USD 190.00 every year until canceled", "Delivery: Available online right after payment",
			"Availability: in stock",
		}, 1, "USD 190.00 every year until canceled."},
		{"prompt_handbook", "items_base_amount 2900, subtotal 2900, total 2900 Total", []string{
			"Billing: USD 29.00 once", "Delivery: Available online right after payment", "Availability: in stock",
		}, 1, ""},
		{"home_box", "items_base_amount 14900, subtotal 14900, total 14900 Total before shipping and tax", []string{
			"Billing: USD 149.00 once", "Delivery: Ships to US, DE in 3 to 7 days",
			"Availability: Held for this session until ",
		}, 0, ""},
		{"setup_call", "items_base_amount 9000, subtotal 9000, total 9000 Total before tax", []string{
			"Billing: USD 90.00 once", "Delivery: ", "Availability: in stock",
		}, 0, ""},
	}
	for _, tt := range tests {
		s := a.order(tt.offer, 1)
		line := s.LineItems[0]
		if got := totalsText(s.Totals); got != tt.totals {
			t.Errorf("%s: totals = %s, want %s", tt.offer, got, tt.totals)
		}
		if diff := cmp.Diff(s.Totals, line.Totals); diff != "" {
			t.Errorf("%s: totals of the line differ:\n%s", tt.offer, diff)
		}
		for i, want := range tt.attributes {
			if i >= len(line.CustomAttributes) ||
				!strings.HasPrefix(line.CustomAttributes[i].DisplayName+": "+line.CustomAttributes[i].Value, want) {
				t.Errorf("%s: custom_attributes = %+v, want %q at %d", tt.offer, line.CustomAttributes, want, i)
			}
		}
		if len(s.FulfillmentOptions) != tt.delivery {
			t.Errorf("%s: fulfillment_options = %+v", tt.offer, s.FulfillmentOptions)
		}
		disclosed := ""
		for _, d := range line.Disclosures {
			disclosed += d.Content
		}
		if disclosed != tt.disclosed {
			t.Errorf("%s: disclosures = %q, want %q", tt.offer, disclosed, tt.disclosed)
		}
		if line.AvailabilityStatus != acp.InStock || line.Item.ID != tt.offer ||
			*line.UnitAmount != s.Totals[0].Amount {
			t.Errorf("%s: line = %+v", tt.offer, line)
		}
	}
}

func totalsText(totals []acp.Total) string {
	var lines []string
	for _, total := range totals {
		n, err := json.Marshal(total.Amount)
		if err != nil {
			return err.Error()
		}
		line := string(total.Type) + " " + string(n)
		if total.Type == acp.TotalDiscount || total.Type == acp.TotalTotal {
			line += " " + total.DisplayText
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
}

func TestACPBareForms(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	tests := []struct {
		name, body, currency string
		quantity             int64
	}{
		{"line with item", `{"line_items":[{"item":{"id":"prompt_handbook"},"quantity":1}]}`, "usd", 1},
		{"line with id", `{"line_items":[{"id":"prompt_handbook","quantity":3}]}`, "usd", 3},
		{"legacy", `{"items":[{"id":"prompt_handbook"}]}`, "usd", 1},
		{"offer", `{"offer_id":"prompt_handbook","quantity":2}`, "usd", 2},
		{"item", `{"item":{"id":"prompt_handbook"}}`, "usd", 1},
		{"no decimals", `{"offer_id":"prompt_handbook_jp"}`, "jpy", 1},
		{"name of the price", `{"offer_id":"price_test_prompt_handbook"}`, "usd", 1},
	}
	for _, tt := range tests {
		r := judgeACP(t, "2026-04-17", w.Do(http.MethodPost, acpSessions, tt.body))
		var s acp.CheckoutSession
		r.Into(t, &s)
		if r.Status != 201 || len(s.LineItems) != 1 || s.LineItems[0].Quantity != tt.quantity ||
			s.Currency != tt.currency {
			t.Errorf("%s: %d %s", tt.name, r.Status, r.Body)
		}
	}
}

func TestACPUpdate(t *testing.T) {
	t.Parallel()
	acpAgents(t, func(a *acpAgent) {
		t := a.T
		opened := a.order("prompt_handbook", 1)
		tests := []struct {
			name, body, item string
			quantity         int64
		}{
			{"quantity of the line", `{"line_items":[{"id":"li_1","quantity":3}]}`, "prompt_handbook", 3},
			{"same item", `{"line_items":[{"id":"prompt_handbook"}]}`, "prompt_handbook", 3},
			{"item", `{"line_items":[{"id":"setup_call"}]}`, "setup_call", 1},
			{
				"line and item", `{"line_items":[{"id":"li_1","item":{"id":"prompt_handbook"},"quantity":2}]}`,
				"prompt_handbook", 2,
			},
			{"buyer", `{"buyer":{"email":"ada@example.com"}}`, "prompt_handbook", 2},
			{"currency", `{"currency":"USD"}`, "prompt_handbook", 2},
			{"nothing", `{}`, "prompt_handbook", 2},
		}
		for _, tt := range tests {
			s := a.session(a.post("/"+opened.ID, tt.body))
			line := s.LineItems[0]
			if s.ID != opened.ID || s.ContinueURL != opened.ContinueURL || line.Item.ID != tt.item ||
				line.Quantity != tt.quantity || s.Status != acp.RequiresEscalation {
				t.Errorf("%s: session = %+v", tt.name, s)
			}
			if line.Totals[0].Amount != *line.UnitAmount*tt.quantity {
				t.Errorf("%s: totals = %+v", tt.name, line.Totals)
			}
		}
		bare := a.post("/"+opened.ID, `{"quantity":2}`)
		if a.version != "" {
			wantACPError(t, bare, 400, "invalid_value", "$.quantity")
		} else if s := a.session(bare); s.LineItems[0].Quantity != 2 || s.LineItems[0].Item.ID != "prompt_handbook" {
			t.Errorf("bare quantity: session = %+v", s)
		}
		wantACPError(t, a.post("/"+opened.ID, `{"currency":"eur"}`), 400, "unsupported_currency", "$.currency")
		wantACPError(t, a.post("/"+opened.ID, `{"line_items":[{"id":"founders_mug"}]}`), 409, "out_of_stock",
			"$.line_items[0]")
		if s := a.session(a.get(opened.ID)); s.LineItems[0].Item.ID != "prompt_handbook" ||
			s.LineItems[0].Quantity != 2 {
			t.Errorf("a refused update changed the session: %+v", s.LineItems)
		}
	})
}

func TestACPPriceChange(t *testing.T) {
	t.Parallel()
	a := &acpAgent{storetest.Start(t), "2026-04-17"}
	opened := a.order("prompt_handbook", 1)
	a.Sandbox.Call(http.MethodPost, "/v1/prices",
		"currency=usd&unit_amount=3900&product=prod_test_prompt_handbook&tax_behavior=inclusive"+
			"&lookup_key=prompt_handbook&transfer_lookup_key=true&metadata[agent_offer]=true", nil)
	a.Catalog.Invalidate()
	if s := a.session(a.get(opened.ID)); s.Totals[0].Amount != 2900 {
		t.Errorf("the quote did not hold: %+v", s.Totals)
	}
	s := a.session(a.post("/"+opened.ID, `{"line_items":[{"id":"prompt_handbook"}]}`))
	if diff := cmp.Diff([]string{"info", "warning price_change"}, messages(s)); diff != "" ||
		s.Totals[0].Amount != 3900 {
		t.Errorf("messages (-want +got):\n%s\n%+v", diff, s.Totals)
	}
}

func TestACPCancel(t *testing.T) {
	t.Parallel()
	acpAgents(t, func(a *acpAgent) {
		t := a.T
		opened := a.order("home_box", 1)
		trace := `{"intent_trace":{"reason_code":"shipping_speed","trace_summary":"needed it by friday",` +
			`"metadata":{"days":2}}}`
		canceled := a.session(a.post("/"+opened.ID+"/cancel", trace))
		if canceled.Status != acp.Canceled || canceled.ContinueURL != "" || len(canceled.Messages) != 1 {
			t.Errorf("canceled = %+v", canceled)
		}
		kept, err := a.Storage.Session(t.Context(), opened.ID)
		if want := `{"reason_code":"shipping_speed","trace_summary":"needed it by friday",` +
			`"metadata":{"days":2}}`; err != nil ||
			kept.Agent.Trace != want ||
			kept.Protocol != checkout.ACP {
			t.Errorf("trace = %q, %v, want %q", kept.Agent.Trace, err, want)
		}
		again := a.post("/"+opened.ID+"/cancel", "")
		wantACPError(t, again, 405, "checkout_session_not_cancelable", "")
		if _, there := again.Header["Allow"]; !there {
			t.Error("405 without Allow")
		}
		wantACPError(t, a.post("/"+opened.ID+"/complete", ""), 409, "checkout_not_modifiable", "")
		wantACPError(t, a.post("/"+opened.ID, `{}`), 409, "checkout_not_modifiable", "")
		if bare := a.session(a.post("/"+a.order("home_box", 1).ID+"/cancel", "")); bare.Status != acp.Canceled {
			t.Errorf("cancel without a body = %+v", bare)
		}
	})
}

func TestACPExpiry(t *testing.T) {
	t.Parallel()
	acpAgents(t, func(a *acpAgent) {
		t := a.T
		opened := a.order("prompt_handbook", 1)
		a.Sandbox.Advance(25 * time.Hour)
		expired := a.until(opened.ID, acp.Expired)
		if diff := cmp.Diff([]string{"error expired"}, messages(expired)); diff != "" || expired.ContinueURL != "" {
			t.Errorf("expired = %+v\n%s", expired, diff)
		}
		wantACPError(t, a.post("/"+opened.ID+"/cancel", ""), 405, "checkout_session_not_cancelable", "")
		wantACPError(t, a.post("/"+opened.ID+"/complete", "{}"), 409, "checkout_not_modifiable", "")
	})
}

func TestACPDelayedPayment(t *testing.T) {
	t.Parallel()
	tests := []struct {
		outcome string
		want    acp.Status
		said    []string
	}{
		{"succeeds", acp.Completed, []string{}},
		{"fails", acp.Canceled, []string{"error payment_declined"}},
	}
	for _, tt := range tests {
		t.Run(tt.outcome, func(t *testing.T) {
			t.Parallel()
			acpAgents(t, func(a *acpAgent) {
				t := a.T
				opened := a.order("prompt_handbook", 1)
				if seen := sandboxtest.NewPerson(t, nil).PayLater(opened.ContinueURL,
					tt.outcome); seen.Status != http.StatusSeeOther {
					t.Fatalf("paying answered %d:\n%s", seen.Status, seen.Body)
				}
				pending := a.until(opened.ID, acp.CompleteInProgress)
				if pending.ContinueURL != "" || pending.Order != nil {
					t.Errorf("pending = %+v", pending)
				}
				if s := a.session(a.post("/"+opened.ID+"/complete", "")); s.Status != acp.CompleteInProgress {
					t.Errorf("complete = %+v", s)
				}
				wantACPError(t, a.post("/"+opened.ID+"/cancel", ""), 405, "checkout_session_not_cancelable", "")
				a.Sandbox.Advance(4 * 24 * time.Hour)
				if diff := cmp.Diff(tt.said, messages(a.until(opened.ID, tt.want))); diff != "" {
					t.Errorf("messages (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestACPSoldOutWhileOpen(t *testing.T) {
	t.Parallel()
	a := &acpAgent{storetest.Start(t), "2026-04-17"}
	opened := a.order("home_box", 1)
	a.Sandbox.Call(http.MethodPost, "/v1/prices/price_test_home_box", "metadata[availability]=sold_out", nil)
	a.Catalog.Invalidate()
	if page := a.Do(http.MethodGet, opened.ContinueURL, ""); page.Status != 200 {
		t.Errorf("continue_url of a sold-out offer = %d, want a page that says so", page.Status)
	}
	s := a.until(opened.ID, acp.Canceled)
	if diff := cmp.Diff([]string{"error out_of_stock"}, messages(s)); diff != "" ||
		s.LineItems[0].AvailabilityStatus != acp.OutOfStock {
		t.Errorf("messages (-want +got):\n%s\n%+v", diff, s.LineItems)
	}
}

// TestACPChargedTotals pays what asks for more than a card number, or charges
// nothing yet: the lines of a paid session add up to the money that moved.
func TestACPChargedTotals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		offer  string
		fields []string
		types  []acp.TotalType
	}{
		{"assistant_pro_monthly", nil, []acp.TotalType{"items_base_amount", "subtotal", "discount", "total"}},
		{"home_box", sandboxtest.ShippingAddress(), []acp.TotalType{"items_base_amount", "subtotal", "total"}},
	}
	for _, tt := range tests {
		t.Run(tt.offer, func(t *testing.T) {
			t.Parallel()
			acpAgents(t, func(a *acpAgent) {
				t := a.T
				opened := a.order(tt.offer, 1)
				if seen := sandboxtest.NewPerson(t, nil).Pay(opened.ContinueURL, sandboxtest.CardOK,
					tt.fields...); seen.Status != http.StatusSeeOther {
					t.Fatalf("paying answered %d:\n%s", seen.Status, seen.Body)
				}
				paid := a.until(opened.ID, acp.Completed)
				kept, err := a.Orders.OfCheckout(t.Context(), opened.ID)
				if err != nil {
					t.Fatal(err)
				}
				var got []acp.TotalType
				for _, total := range paid.Totals {
					got = append(got, total.Type)
				}
				if diff := cmp.Diff(tt.types, got); diff != "" ||
					paid.Totals[len(paid.Totals)-1].Amount != kept.Paid.Total {
					t.Errorf("totals = %+v of %+v (-want +got):\n%s", paid.Totals, kept.Paid, diff)
				}
			})
		})
	}
}

func TestACPKeepsWhoSentTheBuyer(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	body := `{"line_items":[{"id":"prompt_handbook"}],"buyer":{"email":"ada@example.com"},` +
		`"affiliate_attribution":{"provider":"helper.example","token":"at_1"}}`
	r := judgeACP(t, "2026-04-17", w.Do(http.MethodPost, acpSessions, body, "User-Agent", "helper/2.0"))
	var s acp.CheckoutSession
	r.Into(t, &s)
	kept, err := w.Storage.Session(t.Context(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := checkout.Agent{
		UserAgent: "helper/2.0", ClientKey: kept.Agent.ClientKey,
		Attribution: map[string]string{"provider": "helper.example", "token": "at_1"},
	}
	if diff := cmp.Diff(want, kept.Agent); diff != "" || kept.Agent.ClientKey == "" ||
		kept.Buyer != (checkout.Buyer{}) {
		t.Errorf("agent (-want +got):\n%s\nbuyer = %+v, want it forgotten once the page is open", diff, kept.Buyer)
	}
	if page := w.Do(http.MethodGet, kept.Page().URL, ""); !strings.Contains(string(page.Body), "ada@example.com") {
		t.Error("the e-mail address does not fill in the form of the hosted page")
	}
	if strings.Contains(string(r.Body), "ada@example.com") || strings.Contains(w.Log.String(), "ada@example.com") {
		t.Error("the e-mail address of the buyer was echoed or logged")
	}
}

// TestOneSessionOverBothProtocols opens a session over one protocol and reads
// it over both.
func TestOneSessionOverBothProtocols(t *testing.T) {
	t.Parallel()
	a := &acpAgent{storetest.Start(t), "2026-04-17"}
	const ucpSessions = "/agent/commerce/ucp/checkout-sessions"
	var viaUCP struct {
		ID          string `json:"id"`
		ContinueURL string `json:"continue_url"`
		Status      string `json:"status"`
	}
	r := a.Do(http.MethodPost, ucpSessions, `{"line_items":[{"item":{"id":"prompt_handbook"},"quantity":1}]}`)
	if r.Into(t, &viaUCP); r.Status != http.StatusCreated {
		t.Fatalf("UCP create = %d %s", r.Status, r.Body)
	}
	if s := a.session(a.get(viaUCP.ID)); s.ContinueURL != viaUCP.ContinueURL || s.Status != acp.RequiresEscalation {
		t.Errorf("read over ACP = %+v, want the link of UCP, %s", s, viaUCP.ContinueURL)
	}
	viaACP := a.order("prompt_handbook", 1)
	for _, link := range []string{viaUCP.ContinueURL, viaACP.ContinueURL} {
		if seen := sandboxtest.NewPerson(t, nil).Pay(link, sandboxtest.CardOK); seen.Status != http.StatusSeeOther {
			t.Fatalf("paying answered %d", seen.Status)
		}
	}
	for _, id := range []string{viaUCP.ID, viaACP.ID} {
		if paid := a.until(id, acp.Completed); paid.Order == nil {
			t.Errorf("%s over ACP has no order", id)
		}
		if a.Do(http.MethodGet, ucpSessions+"/"+id, "").Into(t, &viaUCP); viaUCP.Status != "completed" {
			t.Errorf("%s over UCP = %s, want completed", id, viaUCP.Status)
		}
	}
}
