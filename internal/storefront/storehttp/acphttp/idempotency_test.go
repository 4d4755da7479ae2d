package acphttp_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"ace/internal/foundation/httpserver"
	"ace/internal/protocol/acp"
	"ace/internal/sandbox/sandboxtest"
	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

// keyed makes a POST by the rules of a version with an idempotency key.
func keyed(w *storetest.Store, version, path, key, body string) storetest.Response {
	w.T.Helper()
	return judgeACP(w.T, version, w.Do(http.MethodPost, path, body, "API-Version", version, "Idempotency-Key", key,
		"Request-Id", "req-of-the-agent"))
}

func TestACPRepetition(t *testing.T) {
	t.Parallel()
	const first = `{"line_items":[{"id":"prompt_handbook","quantity":1}],"currency":"usd","capabilities":{}}`
	tests := []struct {
		name, body string
		replayed   bool
	}{
		{"same bytes", first, true},
		{
			"other order", `{"capabilities":{},"currency":"usd","line_items":[{"quantity":1,"id":"prompt_handbook"}]}`,
			true,
		},
		{
			"other spelling of a number",
			`{"line_items":[{"id":"prompt_handbook","quantity":1.0}],"currency":"usd","capabilities":{}}`, true,
		},
		{
			"spaces and escapes",
			"{ \"line_items\": [ {\"id\":\"prompt\\u005fhandbook\",\n\"quantity\":1} ], " +
				"\"currency\":\"usd\",\"capabilities\":{} }", true,
		},
		{
			"null is not absent",
			`{"line_items":[{"id":"prompt_handbook","quantity":1}],"currency":"usd","capabilities":{},"locale":null}`,
			false,
		},
		{
			"other quantity",
			`{"line_items":[{"id":"prompt_handbook","quantity":2}],"currency":"usd","capabilities":{}}`,
			false,
		},
		{
			"other case", `{"line_items":[{"id":"prompt_handbook","quantity":1}],"currency":"USD","capabilities":{}}`,
			false,
		},
	}
	w := storetest.Start(t)
	answered := keyed(w, "2026-04-17", acpSessions, "repetition-of-a-create", first)
	if answered.Status != 201 || answered.Header.Get(acp.HeaderIdempotentReplayed) != "" {
		t.Fatalf("first = %d %v %s", answered.Status, answered.Header, answered.Body)
	}
	for _, tt := range tests {
		r := keyed(w, "2026-04-17", acpSessions, "repetition-of-a-create", tt.body)
		if r.Header.Get("Idempotency-Key") != "repetition-of-a-create" ||
			r.Header.Get("Request-Id") != "req-of-the-agent" {
			t.Errorf("%s: headers = %v, want both echoes", tt.name, r.Header)
		}
		if !tt.replayed {
			wantACPError(t, r, 422, "idempotency_conflict", "")
			continue
		}
		if r.Status != 201 || !bytes.Equal(r.Body, answered.Body) ||
			r.Header.Get(acp.HeaderIdempotentReplayed) != "true" {
			t.Errorf("%s: %d %s %s, want the first answer", tt.name, r.Status,
				r.Header.Get(acp.HeaderIdempotentReplayed), r.Body)
		}
	}
	wantACPError(t, keyed(w, "2026-01-30", acpSessions, "repetition-of-a-create", first), 422, "idempotency_conflict",
		"")
	if n := w.Sandbox.State().Objects["checkout.session"]["open"]; n != 1 {
		t.Errorf("the processor holds %d pages, want 1", n)
	}
}

func TestACPRepetitionOfEveryOperation(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2026-04-17", "2026-01-30"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			a := &acpAgent{storetest.Start(t), version}
			id := a.order("prompt_handbook", 1).ID
			tests := []struct {
				name, path, body, other string
				status                  int
			}{
				{
					"create", "", strictLine, `{"line_items":[{"id":"setup_call"}],"currency":"usd","capabilities":{}}`,
					201,
				},
				{
					"refused create", "", `{"line_items":[{"id":"founders_mug"}],"currency":"usd","capabilities":{}}`,
					strictLine, 409,
				},
				{
					"update", "/" + id, `{"line_items":[{"id":"prompt_handbook","quantity":2}]}`,
					`{"line_items":[{"id":"prompt_handbook","quantity":3}]}`, 200,
				},
				{"complete", "/" + id + "/complete", ``, `{}`, 200},
				{"cancel", "/" + id + "/cancel", ``, `{"intent_trace":{"reason_code":"other"}}`, 200},
				{"second cancel", "/" + id + "/cancel", ``, `{}`, 405},
			}
			for _, tt := range tests {
				key := "same key: " + tt.name
				first := keyed(a.Store, version, acpSessions+tt.path, key, tt.body)
				again := keyed(a.Store, version, acpSessions+tt.path, key, tt.body)
				if first.Status != tt.status || again.Status != tt.status || !bytes.Equal(first.Body, again.Body) {
					t.Errorf("%s: %d %s\nthen %d %s", tt.name, first.Status, first.Body, again.Status, again.Body)
				}
				replays := []string{
					first.Header.Get(acp.HeaderIdempotentReplayed),
					again.Header.Get(acp.HeaderIdempotentReplayed),
				}
				if diff := cmp.Diff([]string{"", "true"}, replays); diff != "" {
					t.Errorf("%s: Idempotent-Replayed (-want +got):\n%s", tt.name, diff)
				}
				wantACPError(t, keyed(a.Store, version, acpSessions+tt.path, key, tt.other), 422,
					"idempotency_conflict", "")
			}
			// One key may serve several operations: the path is part of its scope.
			if r := keyed(a.Store, version, acpSessions, "same key: update", strictLine); r.Status != 201 {
				t.Errorf("the key of another path = %d %s", r.Status, r.Body)
			}
		})
	}
}

func TestACPKeysInPlainMode(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	create := func(headers ...string) string {
		r := judgeACP(t, "2026-04-17", w.Do(http.MethodPost, acpSessions, `{"offer_id":"prompt_handbook"}`, headers...))
		var s acp.CheckoutSession
		r.Into(t, &s)
		return s.ID
	}
	if first, second := create(), create(); first == second {
		t.Error("two requests without a key made one session")
	}
	key := []string{"Idempotency-Key", "k"}
	if first, second := create(key...), create(key...); first != second {
		t.Error("one key in plain mode made two sessions")
	}
}

func TestACPRepetitionInFlight(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	reached, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w.OnStep(func(step string) {
		if step == "inserted" {
			once.Do(func() { close(reached) })
			<-goOn
		}
	})
	first := make(chan storetest.Response, 1)
	go func() {
		defer close(first)
		first <- keyed(w, "2026-04-17", acpSessions, "a-slow-first-request", strictLine)
	}()
	<-reached
	early := keyed(w, "2026-04-17", acpSessions, "a-slow-first-request", strictLine)
	wantACPError(t, early, 409, "idempotency_in_flight", "")
	if early.Header.Get("Retry-After") == "" {
		t.Error("409 without Retry-After")
	}
	close(goOn)
	done := <-first
	late := keyed(w, "2026-04-17", acpSessions, "a-slow-first-request", strictLine)
	if done.Status != 201 || !bytes.Equal(done.Body, late.Body) {
		t.Errorf("first = %d %s\nlater = %d %s", done.Status, done.Body, late.Status, late.Body)
	}
}

// TestACPKeepsNoCard sends card data to every operation, well formed and not,
// and looks for it everywhere it could have been left.
func TestACPKeepsNoCard(t *testing.T) {
	t.Parallel()
	const number, holder, token = "5200828282828210", "Zacharias Quandt", "spt_7YqM0jHbZx31"
	payment := `{"token":"` + token + `","provider":"stripe","instrument":{"number":"` + number +
		`","cvc":"917","exp":"04/44"},"billing_address":{"name":"` + holder + `"}}`
	w := storetest.Start(t)
	a := &acpAgent{w, "2026-04-17"}
	opened := a.order("prompt_handbook", 1)
	var answers bytes.Buffer
	send := func(path, body string, headers ...string) storetest.Response {
		r := w.Do(http.MethodPost, acpSessions+path, body, headers...)
		answers.Write(r.Body)
		for name, values := range r.Header {
			answers.WriteString(name + strings.Join(values, " "))
		}
		return r
	}
	for _, version := range []string{"2026-04-17", "2026-01-30"} {
		headers := []string{"API-Version", version, "Idempotency-Key", "complete-with-a-card-" + version}
		r := send("/"+opened.ID+"/complete", `{"payment_data":`+payment+`,"buyer":{"email":"ada@example.com"}}`,
			headers...)
		var s acp.CheckoutSession
		judgeACP(t, version, r).Into(t, &s)
		want := acp.Problem(acp.ErrUnsupported, acp.RequiresBuyerInput, "$.payment_data",
			"Payment data is not accepted; it was discarded and nothing was charged. Send the buyer to continue_url.")
		if version == "2026-01-30" {
			want.Resolution = ""
		}
		if diff := cmp.Diff([]acp.Message{want}, s.Messages); diff != "" || r.Status != 200 ||
			s.ContinueURL != opened.ContinueURL || s.Status != acp.RequiresEscalation {
			t.Errorf("complete = %d %s\n(-want +got):\n%s", r.Status, r.Body, diff)
		}
		if again := send("/"+opened.ID+"/complete", `{"payment_data":`+payment+`,"buyer":{"email":"ada@example.com"}}`,
			headers...); !bytes.Equal(again.Body, r.Body) {
			t.Errorf("repetition = %s", again.Body)
		}
		send("/"+opened.ID+"/complete", `{"payment_data":{"number":"`+number+`"}}`, headers...) // conflict
	}
	send("", `{"offer_id":"prompt_handbook","payment_data":`+payment+`}`)
	send("", `{"offer_id":"nothing","payment":`+payment+`}`)
	send("/"+opened.ID, `{"payment_data":`+payment+`}`)
	send("/"+opened.ID+"/complete", `{"payment_data":`+payment+`,}`)                      // not JSON
	send("/"+opened.ID+"/complete", `{"payment_data":`+payment+`,"payment_data":1}`)      // twice
	send("/"+opened.ID+"/complete", `{"payment_data":"`+number+" "+holder+" "+token+`"}`) // not an object
	send("/"+opened.ID+"/complete", `payment_data=`+number, "Content-Type", "text/plain") // not JSON at all
	send("/"+opened.ID+"/cancel", `{"payment_data":`+payment+`}`)                         // not a member of it
	send("/chk_aaaaaaaaaaaaaaaaaaaaaaaaaa/complete", `{"payment_data":`+payment+`}`)      // no session
	send("/"+opened.ID+"/nowhere", `{"payment_data":`+payment+`}`)                        // no such path
	answers.Write(a.get(opened.ID).Body)
	for place, text := range map[string]string{
		"answers": answers.String(), "log": w.Log.String(),
		"database": string(w.Stored()),
	} {
		if len(text) < 1000 {
			t.Errorf("%s: only %d bytes to look through", place, len(text))
		}
		for _, secret := range []string{number, holder, token} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %q was kept", place, secret)
			}
		}
	}
	if n := w.Sandbox.Charges(); n != 0 {
		t.Errorf("%d charges, want none", n)
	}
}

func TestACPWaiting(t *testing.T) {
	t.Parallel()
	acpAgents(t, func(a *acpAgent) {
		t := a.T
		opened := a.order("prompt_handbook", 1)
		if r := a.get(opened.ID, "Prefer", "wait=1"); a.session(r).Status != acp.RequiresEscalation ||
			r.Header.Get("Preference-Applied") != "wait=1" {
			t.Errorf("wait in vain = %v %s", r.Header, r.Body)
		}
		answer := make(chan storetest.Response, 1)
		go func() {
			defer close(answer)
			answer <- a.get(opened.ID, "Prefer", "respond-async, wait=25")
		}()
		if seen := sandboxtest.NewPerson(t, nil).Pay(opened.ContinueURL,
			sandboxtest.CardOK); seen.Status != http.StatusSeeOther {
			t.Fatalf("paying answered %d", seen.Status)
		}
		if s := a.session(<-answer); s.Status != acp.Completed || s.Order == nil {
			t.Errorf("wait for the payment = %+v", s)
		}
	})
}

// TestACPWaitingWhileTheServerStops has a long poll open when the process is
// canceled: it returns what it has.
func TestACPWaitingWhileTheServerStops(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	opened := (&acpAgent{w, "2026-04-17"}).order("prompt_handbook", 1)
	entered := make(chan struct{})
	server := httpserver.New(slog.New(slog.DiscardHandler), []httpserver.Listener{{
		Name: "store", Addr: "127.0.0.1:0", Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			close(entered)
			w.Handler.ServeHTTP(rw, r)
		}),
	}}, nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if err := server.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()
	answer := make(chan storetest.Response, 1)
	go func() {
		defer close(answer)
		answer <- w.Do(http.MethodGet, "http://"+server.Addr("store")+acpSessions+"/"+opened.ID, "", "Prefer",
			"wait=25")
	}()
	<-entered
	stop()
	if err := <-stopped; err != nil {
		t.Errorf("stopping = %v, want every request answered", err)
	}
	var s acp.CheckoutSession
	judgeACP(t, "2026-04-17", <-answer).Into(t, &s)
	if s.Status != acp.RequiresEscalation {
		t.Errorf("status = %s, want requires_escalation", s.Status)
	}
}
