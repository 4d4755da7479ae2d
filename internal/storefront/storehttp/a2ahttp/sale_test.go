package a2ahttp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/protocol/a2a"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp/a2ahttp"
)

// A checkout is a task that waits at the address where a person pays.
func TestSale(t *testing.T) {
	t.Parallel()
	w := setup(t)
	task := w.send(message("1",
		dataPart(
			`{"skill":"checkout","action":"create_checkout","input":{"offer_id":"box","quantity":2.0,`+
				`"buyer_email":"ada@example.com"}}`,
		)))
	session := w.sales.only(t)
	if task.Status.State != a2a.InputRequired || len(task.History) != 1 || task.Artifacts != nil {
		t.Fatalf("task = %+v, want one that waits", task)
	}
	parts := task.Status.Message.Parts
	address := "https://store.example/c/" + session.Token
	if len(parts) != 3 || parts[1].URL != address || parts[1].MediaType != "text/html" ||
		!strings.Contains(*parts[0].Text, address) ||
		string(parts[2].Data) != `{"id":"`+session.ID+`","status":"open"}` {
		t.Errorf("it says %+v, want words, the address and the session", parts)
	}
	want := checkout.Request{
		ID: session.ID, Protocol: checkout.A2A, OfferID: "box", Quantity: 2,
		Buyer: checkout.Buyer{Email: "ada@example.com"},
		Agent: checkout.Agent{UserAgent: "tester/1", ClientKey: "a"},
	}
	if got := w.sales.requests[0]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("asked for %+v, want %+v", got, want)
	}
	rec, err := w.tasks.Task(t.Context(), task.ID)
	if err != nil || rec.ExpiresAt.Before(session.ExpiresAt()) {
		t.Errorf("kept until %s, %v, want longer than the page, %s", rec.ExpiresAt, err, session.ExpiresAt())
	}

	w.sales.move(session.ID, checkout.Completed, "")
	paid := w.get(task.ID)
	if paid.Status.State != a2a.Completed || words(paid.Status.Message) != "Paid. The order is ord_1." ||
		len(paid.Artifacts) != 1 ||
		string(paid.Artifacts[0].Parts[0].Data) != `{"id":"`+session.ID+`","status":"completed"}` {
		t.Errorf("after the payment: %+v", paid)
	}
	if again := w.get(task.ID); len(again.History) != len(paid.History) {
		t.Errorf("reading it again changed it: %+v", again)
	}
}

// TestWhereASaleEnds moves sessions; the task follows when it is read, listed or
// written to.
func TestWhereASaleEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		moves []checkout.State
		end   string
		want  a2a.State
		see   string
	}{
		{"open", nil, "", a2a.InputRequired, "Send the person to"},
		{"on its way", []checkout.State{checkout.Processing}, "", a2a.Working, "when the money has arrived"},
		{"paid", []checkout.State{checkout.Completed}, "", a2a.Completed, "Paid."},
		{"paid slowly", []checkout.State{checkout.Processing, checkout.Completed}, "", a2a.Completed, "Paid."},
		{
			"payment failed",
			[]checkout.State{checkout.Processing, checkout.Canceled},
			checkout.EndingPaymentFailed,
			a2a.Failed, "The payment has failed. Nothing was charged.",
		},
		{
			"expired",
			[]checkout.State{checkout.Expired},
			"", a2a.Failed,
			"The payment page has expired. Nothing was charged.",
		},
		{"sold out", []checkout.State{checkout.Canceled}, checkout.EndingSoldOut, a2a.Failed, "sold out"},
		{
			"canceled by another door",
			[]checkout.State{checkout.Canceled},
			checkout.EndingAgent, a2a.Canceled,
			"Nothing was charged.",
		},
		{
			"paid after all, expired before",
			[]checkout.State{checkout.Expired, checkout.Completed},
			"", a2a.Completed,
			"Paid.",
		},
		{
			"paid after all, canceled before",
			[]checkout.State{checkout.Canceled, checkout.Completed},
			checkout.EndingAgent, a2a.Completed, "Paid.",
		},
	}
	const mine = "context-of-some-length"
	for _, tt := range tests {
		for _, how := range []string{"read", "listed", "written to"} {
			w := setup(t)
			task := w.send(message("1", dataPart(buyBox), `"contextId":"`+mine+`"`))
			id := w.sales.only(t).ID
			var got a2a.Task
			look := func() {
				switch how {
				case "read":
					got = w.get(task.ID)
				case "listed":
					got = w.list(`{"contextId":"` + mine + `","historyLength":0}`).Tasks[0]
					if tt.want == a2a.Completed && len(tt.moves) == 2 && tt.moves[0] != checkout.Processing {
						got = w.get(task.ID) // lists look after what is still open
					}
				default:
					var f *fault
					if got, f = w.try(message(fmt.Sprint("m", len(got.History)), hello, `"taskId":"`+task.ID+`"`)); f !=
						nil {
						if f.Code != -32004 {
							t.Errorf("%s: %+v, want -32004", tt.name, f)
						}
						got = w.get(task.ID)
					}
				}
			}
			look()
			for _, state := range tt.moves {
				w.sales.move(id, state, tt.end)
				look()
			}
			if got.Status.State != tt.want || !strings.Contains(words(got.Status.Message), tt.see) {
				t.Errorf("%s, %s: %s %q, want %s %q", tt.name, how, got.Status.State, words(got.Status.Message),
					tt.want, tt.see)
			}
		}
	}
}

// TestRefusedSales asks for what cannot be sold.
func TestRefusedSales(t *testing.T) {
	t.Parallel()
	ask := func(input string) string {
		return dataPart(`{"skill":"checkout","action":"create_checkout","input":` + input + `}`)
	}
	tests := []struct {
		name, parts string
		state       a2a.State
		code        int
		see         string
	}{
		{"sold out", ask(`{"offer_id":"sold_out"}`), a2a.Rejected, 0, "The box is sold out."},
		{"unknown offer", ask(`{"offer_id":"unknown"}`), a2a.Rejected, 0, "No offer has this id."},
		{"too many", ask(`{"offer_id":"few","quantity":4}`), a2a.Rejected, 0, "from 1 to 3"},
		{"no offer", ask(`{}`), "", -32602, "message.parts[0].data.input.offer_id REQUIRED"},
		{
			"no input", dataPart(`{"skill":"checkout","action":"create_checkout"}`), "", -32602,
			"message.parts[0].data.input.offer_id REQUIRED",
		},
		{
			"quantity of none", ask(`{"offer_id":"box","quantity":0}`), "", -32602,
			"message.parts[0].data.input.quantity OUT_OF_RANGE",
		},
		{
			"half a box", ask(`{"offer_id":"box","quantity":0.5}`), "", -32602,
			"message.parts[0].data.input.quantity INVALID_TYPE",
		},
		{
			"no address", ask(`{"offer_id":"box","buyer_email":"ada"}`), "", -32602,
			"message.parts[0].data.input.buyer_email INVALID_FORMAT",
		},
		{
			"payment data", ask(`{"offer_id":"box","card":"4242"}`), "", -32602,
			"message.parts[0].data.input.card UNKNOWN_FIELD",
		},
		{"a fault of ours", ask(`{"offer_id":"broken"}`), "", -32603, ""},
	}
	for _, tt := range tests {
		w := setup(t)
		task, f := w.try(message("1", tt.parts))
		if tt.code != 0 {
			if f == nil || f.Code != tt.code || f.fields() != tt.see {
				t.Errorf("%s: %+v %+v, want %d %q", tt.name, task, f, tt.code, tt.see)
			}
		} else if f != nil || task.Status.State != tt.state || !strings.Contains(words(task.Status.Message), tt.see) {
			t.Errorf("%s: %+v %+v, want %s %q", tt.name, task, f, tt.state, tt.see)
		}
		if len(w.sales.sessions) != 0 {
			t.Errorf("%s: there is a session", tt.name)
		}
		if again, f2 := w.try(message("1", tt.parts)); tt.code == 0 &&
			(f2 != nil || again.ID != task.ID || again.Status.State != tt.state) {
			t.Errorf("%s, again: %+v %+v, want the same task", tt.name, again, f2)
		}
	}
}

// A message whose checkout could not be opened goes on where it stopped when it
// is sent again: with the same session.
func TestSaleGoesOn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.sales.set(func(s *sales) { s.away = true })
	const mine = "context-of-some-length"
	params := message("1", dataPart(buyBox), `"contextId":"`+mine+`"`)
	_, f := w.try(params)
	if f == nil || f.Code != -32603 || len(f.Data) != 2 || f.Data[0].Metadata["code"] != "processor_unavailable" ||
		f.Data[1].Delay != "2s" {
		t.Fatalf("while the processor is unavailable: %+v, want -32603 and when to retry", f)
	}
	page := w.list(`{"contextId":"` + mine + `"}`)
	if len(page.Tasks) != 1 || page.Tasks[0].Status.State != a2a.Working {
		t.Fatalf("tasks = %+v, want one at work", page.Tasks)
	}
	w.sales.set(func(s *sales) { s.away = false })
	task := w.send(params)
	if task.ID != page.Tasks[0].ID || task.Status.State != a2a.InputRequired {
		t.Errorf("again = %+v, want the task to wait for the payment", task)
	}
	if ids := w.sales.requests; len(ids) != 2 || ids[0].ID != ids[1].ID {
		t.Errorf("asked for %+v, want the same session twice", ids)
	}
	w.sales.only(t)
}

// The process ends after the session was made: a reader of the task finds it.
func TestSaleIsFound(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const mine = "context-of-some-length"
	params := message("1", dataPart(buyBox), `"contextId":"`+mine+`"`)
	w.sales.set(func(s *sales) { s.away = true })
	_, _ = w.try(params)
	w.sales.set(func(s *sales) { s.away = false })
	if _, err := w.sales.Create(context.Background(), w.sales.requests[0]); err != nil {
		t.Fatal(err)
	}
	page := w.list(`{"contextId":"` + mine + `"}`)
	if len(page.Tasks) != 1 || page.Tasks[0].Status.State != a2a.InputRequired ||
		page.Tasks[0].Status.Message.Parts[1].URL == "" {
		t.Errorf("tasks = %+v, want one that waits at its address", page.Tasks)
	}
}

// A task whose session was never made has failed after a while; one whose page
// is being opened has not.
func TestLostSale(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		const mine = "context-of-some-length"
		w.sales.set(func(s *sales) { s.away = true })
		_, _ = w.try(message("1", dataPart(buyBox), `"contextId":"`+mine+`"`))
		_, _ = w.try(message("2", dataPart(buyBox), `"contextId":"`+mine+`"`))
		opening := w.sales.requests[1].ID
		w.sales.set(func(s *sales) {
			s.sessions[opening] = &checkout.Session{ID: opening, State: checkout.Creating, Pages: []checkout.Page{{}}}
		})
		states := func() string {
			count := map[a2a.State]int{}
			for _, task := range w.list(`{"contextId":"` + mine + `"}`).Tasks {
				count[task.Status.State]++
			}
			return fmt.Sprint(count)
		}
		time.Sleep(time.Minute)
		if got, want := states(), fmt.Sprint(map[a2a.State]int{a2a.Working: 2}); got != want {
			t.Errorf("after a minute: %s, want %s", got, want)
		}
		time.Sleep(2 * time.Minute)
		if got, want := states(), fmt.Sprint(map[a2a.State]int{a2a.Working: 1, a2a.Failed: 1}); got != want {
			t.Errorf("after three minutes: %s, want %s", got, want)
		}
	})
}

// TestCancelSale cancels tasks of checkouts in each state.
func TestCancelSale(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		move checkout.State
		away bool
		want a2a.State // of the response
		code int
		then a2a.State // of the task
	}{
		{"open", "", false, a2a.Canceled, 0, a2a.Canceled},
		{"paid meanwhile", checkout.Completed, false, "", -32002, a2a.Completed},
		{"on its way", checkout.Processing, false, "", -32002, a2a.Working},
		{"expired", checkout.Expired, false, "", -32002, a2a.Failed},
		{"canceled", checkout.Canceled, false, "", -32002, a2a.Canceled},
		{"being opened", checkout.Creating, false, "", -32002, a2a.InputRequired},
		{"the processor is unavailable", "", true, "", -32603, a2a.InputRequired},
	}
	for _, tt := range tests {
		w := setup(t)
		task := w.send(message("1", dataPart(buyBox)))
		id := w.sales.only(t).ID
		if tt.move != "" {
			w.sales.move(id, tt.move, checkout.EndingAgent)
		}
		w.sales.set(func(s *sales) { s.away = tt.away })
		var canceled a2a.Task
		f := w.call("CancelTask", `{"id":"`+task.ID+`"}`, &canceled)
		if tt.code != 0 {
			if f == nil || f.Code != tt.code {
				t.Errorf("%s: %+v, want %d", tt.name, f, tt.code)
			}
		} else if f != nil || canceled.Status.State != tt.want {
			t.Errorf("%s: %+v %+v, want %s", tt.name, canceled, f, tt.want)
		}
		if got := w.get(task.ID); got.Status.State != tt.then {
			t.Errorf("%s: then %s, want %s", tt.name, got.Status.State, tt.then)
		}
	}
}

// A task that is canceled while its page is being opened leaves no page that
// could be paid.
func TestCancelWhileOpening(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const mine = "context-of-some-length"
	w.sales.set(func(s *sales) {
		s.during = func() {
			w.sales.set(func(s *sales) { s.during = nil })
			var canceled a2a.Task
			id := w.list(`{"contextId":"` + mine + `"}`).Tasks[0].ID
			if f := w.call("CancelTask", `{"id":"`+id+`"}`, &canceled); f != nil ||
				canceled.Status.State != a2a.Canceled {
				t.Errorf("CancelTask = %+v %+v, want it canceled", canceled, f)
			}
		}
	})
	task := w.send(message("1", dataPart(buyBox), `"contextId":"`+mine+`"`))
	if session := w.sales.only(t); task.Status.State != a2a.Canceled || session.State != checkout.Canceled {
		t.Errorf("task %s, session %s, want both canceled", task.Status.State, session.State)
	}
}

// A task that waits for a payment takes words, and no further request.
func TestWaitingTaskTakesWords(t *testing.T) {
	t.Parallel()
	w := setup(t)
	task := w.send(message("1", dataPart(buyBox)))
	follow := `"taskId":"` + task.ID + `"`
	still := w.send(message("2", hello, follow))
	if still.Status.State != a2a.InputRequired || len(still.History) != 3 ||
		still.Status.Message.Parts[1].URL != task.Status.Message.Parts[1].URL {
		t.Errorf("after words: %+v, want it to say the same again", still)
	}
	for _, data := range []string{buyBox, search, `{"action":"fly"}`} {
		if _, f := w.try(message("3", dataPart(data), follow)); f == nil || f.Code != -32602 ||
			f.fields() != "message.taskId TASK_WAITS" {
			t.Errorf("%s: %+v, want -32602", data, f)
		}
	}
	w.sales.move(w.sales.only(t).ID, checkout.Processing, "")
	if on := w.send(message("4", hello, follow)); on.Status.State != a2a.Working || words(on.Status.Message) == "" {
		t.Errorf("while the money is on its way: %+v", on)
	}
	if on := w.send(message("5", hello, follow)); on.Status.State != a2a.Working || words(on.Status.Message) == "" {
		t.Errorf("a little later: %+v", on)
	}
	w.sales.only(t)
}

// Another replica's clock is ahead: what it wrote is reported once, not at each read.
func TestClockAhead(t *testing.T) {
	t.Parallel()
	w := setup(t)
	task := w.send(message("1", dataPart(buyBox)))
	id := w.sales.only(t).ID
	w.sales.set(
		func(s *sales) { s.sessions[id].UpdatedAt = time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond) })
	first := w.get(task.ID)
	if second := w.get(task.ID); len(second.History) != len(first.History) || len(first.History) != 2 {
		t.Errorf("read twice: %d, then %d messages, want 2", len(first.History), len(second.History))
	}
}

// A store that loses every race is busy, and says so.
func TestBusy(t *testing.T) {
	t.Parallel()
	w := setup(t, func(d *a2ahttp.Deps) { d.Tasks = losing{d.Tasks} })
	task := w.send(message("1", hello))
	for _, f := range []*fault{
		w.call("CancelTask", `{"id":"`+task.ID+`"}`, &a2a.Task{}),
		second(w.try(message("2", hello, `"taskId":"`+task.ID+`"`))),
	} {
		if f == nil || f.Code != -32603 || f.Data[0].Metadata["code"] != "task_busy" {
			t.Errorf("= %+v, want task_busy", f)
		}
	}
}

// losing is a store in which somebody else is always faster.
type losing struct{ a2a.Store }

func (losing) Save(context.Context, a2a.Record, *a2a.Sent) error { return a2a.ErrVersion }

func second[A, B any](_ A, b B) B { return b }
