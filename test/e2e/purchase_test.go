// Package e2e runs the real binary as its users do: agents over HTTP, people
// in Chromium, operators on the command line.
package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ace/internal/browsertest"
	"ace/internal/sandbox/sandboxtest"
	"ace/test/harness"
)

// world is a store with its sandbox, in one process with no configuration but
// ports and a folder.
type world struct {
	t       *testing.T
	store   string
	sandbox *sandboxtest.World
	dir     string
	binary  string
	process *harness.Process
}

func start(t *testing.T, env ...string) *world {
	t.Helper()
	storeAddr, sandboxAddr := harness.FreeAddr(t), harness.FreeAddr(t)
	w := &world{
		t: t, store: "http://" + storeAddr, sandbox: sandboxtest.At(t, "http://"+sandboxAddr),
		dir: harness.DataDir(t), binary: harness.Build(t, ""),
	}
	w.process = harness.Start(t, w.binary, append([]string{
		"ACE_STORE_ADDR=" + storeAddr, "ACE_SANDBOX_ADDR=" + sandboxAddr, "ACE_ADMIN_ADDR=", "ACE_DATA_DIR=" + w.dir,
		"ACE_RATE_LIMIT=off",
	}, env...), "serve")
	if !w.process.Ready(w.store + "/healthz") {
		t.Fatal("the store did not start")
	}
	return w
}

// ace runs a command of the operator's and returns its output, with the errors of
// one that failed.
func (w *world) ace(args ...string) string {
	w.t.Helper()
	p := harness.Start(w.t, w.binary, []string{"ACE_DATA_DIR=" + w.dir, "ACE_STORE_URL=" + w.store}, args...)
	<-p.Ended()
	if p.Code() == 0 {
		return p.Stdout()
	}
	return p.Output()
}

type session struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	ContinueURL string `json:"continue_url"`
	Order       *struct {
		ID           string `json:"id"`
		PermalinkURL string `json:"permalink_url"`
	} `json:"order"`
}

const (
	overUCP = "/agent/commerce/ucp/checkout-sessions"
	overACP = "/agent/commerce/acp/checkout_sessions"
)

func (w *world) call(method, path, body string) (int, session) {
	w.t.Helper()
	status, answer, err := harness.Call(w.t, method, w.store+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	var s session
	if err := json.Unmarshal([]byte(answer), &s); err != nil {
		w.t.Fatalf("%s %s answered %d %s", method, path, status, answer)
	}
	return status, s
}

// open opens a checkout the plain way: a bare POST with the offer's id.
func (w *world) open(path, offer string) session {
	w.t.Helper()
	status, s := w.call(http.MethodPost, path, `{"line_items":[{"item":{"id":"`+offer+`"},"quantity":1}]}`)
	if status != http.StatusCreated || s.Status != "requires_escalation" || !strings.HasPrefix(s.ContinueURL, "http") {
		w.t.Fatalf("create = %d, %+v", status, s)
	}
	return s
}

// reads waits until the session has the status over both protocols.
func (w *world) reads(id, ucp, acp string) session {
	w.t.Helper()
	var over [2]session
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		_, over[0] = w.call(http.MethodGet, overUCP+"/"+id, "")
		_, over[1] = w.call(http.MethodGet, overACP+"/"+id, "")
		if over[0].Status == ucp && over[1].Status == acp {
			return over[0]
		}
	}
	w.t.Fatalf("session %s reads %s over UCP and %s over ACP, want %s and %s", id, over[0].Status, over[1].Status,
		ucp, acp)
	return session{}
}

func TestAgentWithCurlOnly(t *testing.T) {
	t.Parallel()
	w := start(t)
	status, answer, err := harness.Call(t, http.MethodGet, w.store+"/agent/commerce/products", "")
	if err != nil || status != http.StatusOK || !strings.Contains(answer, `"prompt_handbook"`) {
		t.Fatalf("catalog = %d %s %v", status, answer, err)
	}
	for _, path := range []string{overUCP, overACP} {
		s := w.open(path, "prompt_handbook")
		if status, got := w.call(http.MethodGet, path+"/"+s.ID, ""); status != http.StatusOK ||
			got.Status != "requires_escalation" || got.ContinueURL != s.ContinueURL {
			t.Errorf("get = %d, %+v", status, got)
		}
		if status, got := w.call(http.MethodPost, path+"/"+s.ID+"/complete",
			`{"payment_data":{"token":"spt_1"},"payment":{"instruments":[]}}`); status != http.StatusOK ||
			got.ContinueURL == "" {
			t.Errorf("complete = %d, %+v, want the session with its continue_url", status, got)
		}
		if status, got := w.call(http.MethodPost, path+"/"+s.ID+"/cancel", ""); status != http.StatusOK ||
			got.Status != "canceled" || got.ContinueURL != "" {
			t.Errorf("cancel = %d, %+v", status, got)
		}
	}
}

func TestPersonPays(t *testing.T) {
	t.Parallel()
	w := start(t)
	browser := browsertest.Start(t)
	walks := []struct {
		name  string
		offer string
		walk  func(t *testing.T, w *world, tab *browsertest.Tab, s session)
	}{
		{"success", "prompt_handbook", walkSuccess},
		{"decline then success", "prompt_handbook", walkDecline},
		{"3-D Secure refused", "prompt_handbook", walkRefused},
		{"trial subscription", "assistant_pro_monthly", walkTrial},
		{"hardware with address", "home_box", walkHardware},
		{"expired link", "prompt_handbook", walkExpired},
		{"double submit", "prompt_handbook", walkDouble},
		{"back button", "prompt_handbook", walkBack},
		{"leaving without paying", "prompt_handbook", walkLeave},
		{"delayed method", "prompt_handbook", walkDelayed},
	}
	for i, tt := range walks {
		t.Run(tt.name, func(t *testing.T) {
			path := []string{overUCP, overACP}[i%2]
			options := []browsertest.Options{{}, browsertest.Phone(), {Dark: true}}[i%3]
			tt.walk(t, w, browser.Tab(t, options), w.open(path, tt.offer))
		})
	}
}

const payButton = ".button-wide"

func fill(tab *browsertest.Tab, card string) {
	tab.Fill("#email", "ada@example.com")
	fillCard(tab, card)
	tab.Fill("#name", "Ada Lovelace")
	tab.Choose("#country", "US")
	tab.Fill("#postal_code", "94107")
}

func fillCard(tab *browsertest.Tab, card string) {
	tab.Fill("#card_number", card)
	tab.Fill("#card_expiry", "04/44")
	tab.Fill("#card_cvc", "123")
}

// thanked fails unless the person is back at the store and told what happens
// next, and both protocols say so.
func thanked(t *testing.T, w *world, tab *browsertest.Tab, s session) {
	t.Helper()
	if !strings.HasPrefix(tab.URL(), w.store+"/checkout/") {
		t.Fatalf("the person is at %s:\n%s", tab.URL(), tab.Text("body"))
	}
	tab.See("Thank you")
	tab.See("What happens next")
	if got := w.reads(s.ID, "completed", "completed"); got.Order == nil || got.ContinueURL != "" {
		t.Errorf("a completed session reads %+v", got)
	}
}

func walkSuccess(t *testing.T, w *world, tab *browsertest.Tab, s session) {
	t.Helper()
	tab.Open(s.ContinueURL)
	fill(tab, sandboxtest.CardOK)
	tab.Press(payButton)
	thanked(t, w, tab, s)
	tab.Shot("done")
	tab.See("USD 29.00")
}

func walkDecline(t *testing.T, w *world, tab *browsertest.Tab, s session) {
	t.Helper()
	tab.Open(s.ContinueURL)
	fill(tab, sandboxtest.CardDeclined)
	tab.Press(payButton)
	tab.See("declined")
	w.reads(s.ID, "requires_escalation", "requires_escalation")
	fillCard(tab, sandboxtest.CardOK)
	tab.Press(payButton)
	thanked(t, w, tab, s)
}

func walkRefused(t *testing.T, w *world, tab *browsertest.Tab, s session) {
	t.Helper()
	tab.Open(s.ContinueURL)
	fill(tab, sandboxtest.Card3DS)
	tab.Press(payButton)
	tab.Press("button[value=refuse]")
	tab.See("did not confirm")
	w.reads(s.ID, "requires_escalation", "requires_escalation")
}

func walkTrial(t *testing.T, w *world, tab *browsertest.Tab, s session) {
	t.Helper()
	tab.Open(s.ContinueURL)
	tab.See("Free for 14 days")
	fill(tab, sandboxtest.CardOK)
	tab.Press(payButton)
	thanked(t, w, tab, s)
	tab.See("USD 0.00")
	tab.See("unless you cancel before")
}

func walkHardware(t *testing.T, w *world, tab *browsertest.Tab, s session) {
	t.Helper()
	tab.Open(s.ContinueURL)
	tab.Fill("#shipping_name", "Ada Lovelace")
	tab.Choose("#shipping_country", "US")
	tab.Fill("#shipping_line1", "1 Analytical Way")
	tab.Fill("#shipping_city", "San Francisco")
	tab.Fill("#shipping_state", "CA")
	tab.Fill("#shipping_postal_code", "94107")
	fill(tab, sandboxtest.CardOK)
	tab.Press(payButton)
	thanked(t, w, tab, s)
	tab.See("Ships to")
}

func walkExpired(t *testing.T, w *world, tab *browsertest.Tab, s session) {
	t.Helper()
	tab.Open(s.ContinueURL)
	fill(tab, sandboxtest.CardOK)
	w.call(http.MethodPost, overUCP+"/"+s.ID+"/cancel", "")
	tab.Press(payButton)
	tab.See("Nothing was charged")
	tab.Open(s.ContinueURL)
	tab.See("This purchase was canceled")
	tab.Shot("canceled")
}

func walkDouble(t *testing.T, w *world, tab *browsertest.Tab, s session) {
	t.Helper()
	tab.Open(s.ContinueURL)
	fill(tab, sandboxtest.CardOK)
	charges := w.sandbox.Charges()
	tab.DoublePress(payButton)
	w.reads(s.ID, "completed", "completed")
	if got := w.sandbox.Charges() - charges; got != 1 {
		t.Errorf("%d charges for two clicks, want 1", got)
	}
}

func walkBack(t *testing.T, w *world, tab *browsertest.Tab, s session) {
	t.Helper()
	tab.Open(s.ContinueURL)
	fill(tab, sandboxtest.CardOK)
	charges := w.sandbox.Charges()
	tab.Press(payButton)
	thanked(t, w, tab, s)
	tab.Back()
	tab.See("already paid")
	tab.Open(s.ContinueURL) // the agent's link still leads somewhere sensible
	tab.See("Thank you")
	if got := w.sandbox.Charges() - charges; got != 1 {
		t.Errorf("%d charges, want 1", got)
	}
}

func walkLeave(t *testing.T, w *world, tab *browsertest.Tab, s session) {
	t.Helper()
	tab.Open(s.ContinueURL)
	pay := tab.URL()
	_, token, _ := strings.Cut(s.ContinueURL, "/c/")
	tab.Open(w.store + "/checkout/" + token + "/back")
	tab.See("Nothing has been charged")
	tab.Shot("left")
	tab.Press(".button")
	if tab.URL() != pay {
		t.Errorf("the way on leads to %s, want %s", tab.URL(), pay)
	}
}

func walkDelayed(t *testing.T, w *world, tab *browsertest.Tab, s session) {
	t.Helper()
	seen := sandboxtest.NewPerson(t, nil).PayLater(s.ContinueURL, "succeeds")
	if seen.Status != http.StatusSeeOther {
		t.Fatalf("paying by debit answered %d", seen.Status)
	}
	w.reads(s.ID, "complete_in_progress", "complete_in_progress")
	tab.Open(s.ContinueURL)
	tab.See("Your payment is on its way")
	w.sandbox.Advance(4 * 24 * time.Hour)
	w.reads(s.ID, "completed", "completed")
}

// A link that is past its time at the processor, whose clock decides.
func TestExpiryIsTheProcessors(t *testing.T) {
	t.Parallel()
	w := start(t)
	s := w.open(overUCP, "prompt_handbook")
	w.sandbox.Advance(24 * time.Hour)
	w.reads(s.ID, "canceled", "expired")
}

func TestAgentWaitsForThePayment(t *testing.T) {
	t.Parallel()
	w := start(t)
	s := w.open(overUCP, "prompt_handbook")
	answered := make(chan string)
	go func() {
		_, answer, err := harness.Call(t, http.MethodGet, w.store+overUCP+"/"+s.ID, "", "Prefer", "wait=25")
		if err != nil {
			answer = err.Error()
		}
		answered <- answer
	}()
	if seen := sandboxtest.NewPerson(t, nil).Pay(s.ContinueURL,
		sandboxtest.CardOK); seen.Status != http.StatusSeeOther {
		t.Fatalf("paying answered %d", seen.Status)
	}
	if got := <-answered; !strings.Contains(got, `"completed"`) {
		t.Errorf("the waiting agent got %s", got)
	}
}

func TestOperator(t *testing.T) {
	t.Parallel()
	w := start(t)
	if got := w.ace("order", "list"); !strings.Contains(got, "No orders yet") {
		t.Errorf("order list = %s", got)
	}
	s := w.open(overACP, "prompt_handbook")
	sandboxtest.NewPerson(t, nil).Pay(s.ContinueURL, sandboxtest.CardOK)
	id := w.reads(s.ID, "completed", "completed").Order.ID
	for _, step := range []struct{ args, want string }{
		{"order list", id},
		{"order list --status confirmed --json", `"status": "confirmed"`},
		{"order show " + id, "Prompt Handbook"},
		{"order refund " + id + " --amount 900", "USD 9.00"},
		{"order refund " + id + " --amount 9000", "at most USD 20.00"},
		{"order refund " + id, "USD 20.00"},
		{"order refund " + id, "nothing_to_refund"},
		{"order show " + id, "refunded"},
		{"order accept " + id, "order_not_in_review"},
		{"order show ord_nobody", "order_not_found"},
	} {
		if got := w.ace(strings.Fields(step.args)...); !strings.Contains(got, step.want) {
			t.Errorf("ace %s printed %q, want %q", step.args, got, step.want)
		}
	}
}

func TestTour(t *testing.T) {
	t.Parallel()
	w := start(t)
	got := w.ace("tour", "--pay", "--platform-url=http://"+harness.FreeAddr(t))
	for _, want := range []string{
		"200 OK", "201 Created", "requires_escalation", "Paid: the session is completed",
		`"canceled"`, "402 Payment Required", "Signed; the store charges when the result is ready", "Paid 0.10",
		"all that a store sells", "No platform of this server",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the tour lacks %q:\n%s", want, got)
		}
	}
}

// TestTourOfThePlatform goes on to the platform: a key, the demo app connected,
// a tool found and run, an event posted. It leaves nothing behind.
func TestTourOfThePlatform(t *testing.T) {
	t.Parallel()
	a := newcomer(t)
	args := []string{"tour", "--pay", "--platform-url=" + a.platform}
	got := a.world.ace(args...)
	for _, want := range []string{
		"ace key create --account demo", `"key": "ace_`, "Authorization: Bearer ace_",
		`"tool": "demo_notes__create_note"`, `"connection_status": "not_connected"`,
		"The tour plays the user: it creates a key", `"status": "connected"`, `"ok": true`, `"title": "Milk"`,
		`"status": "succeeded"`, `"name": "Ann"`, "204 No Content", "401 Unauthorized", `"key_revoked"`,
		`"webhook_url": "http://`, `"webhook-signature": "v1,`, "demo-notes.new_note",
		"The signature matches the secret",
		"Deleting the trigger", "That was the platform",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the tour lacks %q:\n%s", want, got)
		}
	}
	for line := range strings.Lines(got) {
		if words := strings.Fields(line); len(words) > 2 && utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("a line is wider than 80 columns: %q", line)
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(a.world.ace(append(args, "--json")...)), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("ace tour --json printed %q", line)
		}
	}
	if _, left := a.call(http.MethodGet, "/connections", ""); len(left["connections"].([]any)) > 0 {
		t.Errorf("the tour leaves %v", left)
	}
	if _, left := a.call(http.MethodGet, "/triggers", ""); len(left["triggers"].([]any)) > 0 {
		t.Errorf("the tour leaves %v", left)
	}
	if secret := regexp.MustCompile(`ace_[0-9A-Za-z]{36}|nk_[A-Z2-7]+`).FindString(got); secret != "" {
		t.Errorf("the tour prints %q", secret)
	}
	if keys := a.world.ace("key", "list", "--account", "demo"); strings.Count(keys, "revoked") != 2 ||
		strings.Count(keys, "ace tour") != 2 {
		t.Errorf("keys of the tours:\n%s", keys)
	}
}

// Each process says what is wrong when it cannot start.
func TestStartRefuses(t *testing.T) {
	t.Parallel()
	w := start(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(w.store, "http://"), ":")
	tests := []struct {
		name string
		env  []string
		want string
	}{
		{"folder in use", []string{"ACE_DATA_DIR=" + w.dir}, "ACE_DATA_DIR"},
		{"port in use", []string{
			"ACE_DATA_DIR=" + harness.DataDir(t), "ACE_STORE_ADDR=127.0.0.1:" + port,
			"ACE_SANDBOX_ADDR=" + harness.FreeAddr(t), "ACE_ADMIN_ADDR=",
		}, "ACE_STORE_ADDR"},
		{"public without a processor", []string{"ACE_STORE_URL=https://shop.example"}, "ACE_STRIPE_API_KEY"},
		{"bad database", []string{"ACE_DATA_DIR=" + harness.DataDir(t), "ACE_DATABASE_URL=mysql://x"}, "postgres://"},
	}
	for _, tt := range tests {
		p := harness.Start(t, w.binary, tt.env, "serve")
		<-p.Ended()
		if got := p.Output(); !strings.Contains(got, tt.want) {
			t.Errorf("%s: serve printed %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The whole purchase over https, as UCP asks for.
func TestDevTLS(t *testing.T) {
	t.Parallel()
	binary, dir, addr, sandboxAddr := harness.Build(t, ""), harness.DataDir(t), harness.FreeAddr(t), harness.FreeAddr(t)
	p := harness.Start(t, binary, []string{
		"ACE_DEV_TLS=1", "ACE_STORE_ADDR=" + addr, "ACE_SANDBOX_ADDR=" + sandboxAddr, "ACE_ADMIN_ADDR=",
		"ACE_DATA_DIR=" + dir, "ACE_RATE_LIMIT=off",
	}, "serve")
	client := trusting(t, dir, p)
	res, err := client.Post(fmt.Sprintf("https://%s%s", addr, overUCP), "application/json",
		strings.NewReader(`{"offer_id":"prompt_handbook"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var s session
	if err := json.NewDecoder(res.Body).Decode(&s); err != nil || !strings.HasPrefix(s.ContinueURL, "https://"+addr) {
		t.Fatalf("create = %s, %+v, %v", res.Status, s, err)
	}
	if seen := sandboxtest.NewPerson(t, client).Pay(s.ContinueURL,
		sandboxtest.CardOK); seen.Status != http.StatusSeeOther {
		t.Fatalf("paying answered %d\n%s", seen.Status, seen.Body)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		res, err := client.Get(fmt.Sprintf("https://%s%s/%s", addr, overUCP, s.ID))
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(res.Body).Decode(&s)
		_ = res.Body.Close()
		if err == nil && s.Status == "completed" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("session = %+v, %v", s, err)
		}
	}
}
