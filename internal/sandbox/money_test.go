package sandbox

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stripe/stripe-go/v85"
)

// TestPayExpireRace lets many people pay and many programs expire one session
// at once: whichever wins, it is charged at most once and ends in one state.
func TestPayExpireRace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name            string
		payers, expires int
	}{{"pay alone", 32, 0}, {"pay and expire", 16, 16}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			o := w.open(t, "price_test_prompt_handbook")
			people := make([]*person, tt.payers)
			forms := make([]url.Values, tt.payers)
			for i := range people {
				people[i] = newPerson(t)
				forms[i] = with(card("4242424242424242"), "csrf", people[i].get(t, o.URL).token(t))
			}
			var wg sync.WaitGroup
			var mu sync.Mutex
			thanked, expired := 0, 0
			start := make(chan struct{})
			for i := range people {
				wg.Go(func() {
					<-start
					if got := people[i].do(t, http.MethodPost, o.URL, forms[i]); got.status == http.StatusSeeOther {
						mu.Lock()
						thanked++
						mu.Unlock()
					}
				})
			}
			for range tt.expires {
				wg.Go(func() {
					<-start
					if _, err := w.stripe.V1CheckoutSessions.Expire(t.Context(), o.ID, nil); err == nil {
						mu.Lock()
						expired++
						mu.Unlock()
					}
				})
			}
			close(start)
			wg.Wait()
			if thanked+expired != 1 {
				t.Errorf("paid %d times and expired %d times, want exactly one of both", thanked, expired)
			}
			if got := w.charges(t); got != thanked {
				t.Errorf("charges = %d, want %d", got, thanked)
			}
			want := map[bool]string{true: "complete paid", false: "expired unpaid"}[thanked == 1]
			if got := w.paymentStatus(t, o); got != want {
				t.Errorf("session = %s, want %s", got, want)
			}
		})
	}
}

func TestPaidOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o := w.open(t, "price_test_prompt_handbook")
	p := newPerson(t)
	form := with(card("4242424242424242"), "csrf", p.get(t, o.URL).token(t))
	first, second := p.do(t, http.MethodPost, o.URL, form), p.do(t, http.MethodPost, o.URL, form)
	if first.status != 303 || second.status != 303 || first.location != second.location {
		t.Errorf("double submit = %d %q then %d %q, want the shop both times", first.status, first.location,
			second.status, second.location)
	}
	stranger := newPerson(t)
	if got := stranger.get(t, o.URL); got.status != 200 || !strings.Contains(got.body, "already paid") ||
		strings.Contains(got.body, "session_id") {
		t.Errorf("a stranger sees %d\n%s\nwant that it is paid, and no way to the order", got.status, got.body)
	}
	if got := w.charges(t); got != 1 {
		t.Errorf("charges = %d, want 1", got)
	}
	if got := w.state(t).Objects["payment_intent"]["succeeded"]; got != 1 {
		t.Errorf("payment intents = %d, want 1", got)
	}
}

func TestOneIntentForManyAttempts(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o := w.open(t, "price_test_prompt_handbook")
	p := newPerson(t)
	for number, reason := range map[string]string{
		"4000000000000002": "was declined", "4000000000009995": "insufficient funds", "4000000000000069": "has expired",
		"4000000000000127": "security code is incorrect", "4000000000000119": "error occurred while processing",
		"4000000000000341": "was declined", "4012888888881881": "takes test cards only",
	} {
		got := p.pay(t, o.URL, card(number))
		if got.status != http.StatusPaymentRequired || !strings.Contains(got.body, reason) {
			t.Errorf("card %s = %d, want 402 with %q\n%s", number, got.status, reason, got.body)
		}
		if strings.Contains(got.body, number) || strings.Contains(got.body, `value="123"`) {
			t.Errorf("the page repeats card %s or its security code", number)
		}
	}
	if got := p.pay(t, o.URL, card("4242 4242 4242 4242")); got.status != http.StatusSeeOther {
		t.Fatalf("paying in the end = %d", got.status)
	}
	counts := w.state(t).Objects
	if counts["payment_intent"]["succeeded"] != 1 || len(counts["payment_intent"]) != 1 ||
		counts["charge"]["succeeded"] != 1 {
		t.Errorf("state = %v, want one intent and one charge", counts)
	}
}

func TestQuestionIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o := w.open(t, "price_test_prompt_handbook")
	p := newPerson(t)
	asked := p.pay(t, o.URL, card("4000002500003155"))
	question := w.url + asked.location
	form := url.Values{"csrf": {p.get(t, question).token(t)}, "decision": {"refuse"}}
	if got := p.do(t, http.MethodPost, question, form); got.status != http.StatusPaymentRequired {
		t.Errorf("refusing = %d, want 402", got.status)
	}
	form.Set("decision", "approve")
	if got := p.do(t, http.MethodPost, question, form); got.status != http.StatusPaymentRequired {
		t.Errorf("approving what was refused = %d, want 402", got.status)
	}
	if got := w.charges(t); got != 0 {
		t.Errorf("charges = %d, want none", got)
	}
}

func TestForgedForm(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o, other := w.open(t, "price_test_prompt_handbook"), w.open(t, "price_test_home_box")
	p, stranger := newPerson(t), newPerson(t)
	mine := p.get(t, o.URL).token(t)
	tests := []struct {
		name  string
		who   *person
		token string
	}{
		{"no token", p, ""},
		{"token of another session", p, p.get(t, other.URL).token(t)},
		{"token of another browser", stranger, mine},
		{"no cookie", newPerson(t), mine},
	}
	stranger.get(t, o.URL)
	for _, tt := range tests {
		got := tt.who.do(t, http.MethodPost, o.URL, with(card("4242424242424242"), "csrf", tt.token))
		if got.status != http.StatusForbidden || !strings.Contains(got.body, "Nothing was charged") {
			t.Errorf("%s = %d, want 403", tt.name, got.status)
		}
	}
	if got := w.charges(t); got != 0 {
		t.Errorf("charges = %d, want none", got)
	}
}

func TestPageHeaders(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o := w.open(t, "price_test_prompt_handbook")
	got := newPerson(t).get(t, o.URL)
	csp := got.header.Get("Content-Security-Policy")
	for _, want := range []string{
		"default-src 'none'", "style-src 'self'", "frame-ancestors 'none'",
		"form-action 'self' " + w.shop.url,
	} {
		if !strings.Contains(csp, want) {
			t.Errorf("Content-Security-Policy = %q, want %q in it", csp, want)
		}
	}
	if strings.Contains(got.body, "<script") || strings.Contains(got.body, "style=") ||
		got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the page holds a script or a style, or may be cached: %v", got.header)
	}
}

// TestPriceIsFrozen sells at the price of the opened session, whatever becomes
// of the catalog.
func TestPriceIsFrozen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o := w.open(t, "price_test_prompt_handbook")
	if _, err := w.stripe.V1Prices.Update(t.Context(), "price_test_prompt_handbook",
		&stripe.PriceUpdateParams{Active: new(false)}); err != nil {
		t.Fatal(err)
	}
	if got := newPerson(t).pay(t, o.URL, card("4242424242424242")); got.status != http.StatusSeeOther {
		t.Errorf("paying = %d, want 303", got.status)
	}
	if _, err := w.stripe.V1CheckoutSessions.Create(t.Context(), w.params("price_test_prompt_handbook")); err == nil {
		t.Error("a session for an inactive price was opened")
	}
}
