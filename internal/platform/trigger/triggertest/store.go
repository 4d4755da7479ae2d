// Package triggertest holds the suite that every implementation of trigger.Store
// passes.
package triggertest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/audit"
	"ace/internal/platform/trigger"
)

// lease is how long a test claims an event for. A lease of nothing has expired.
const lease = time.Minute

// Run checks an implementation. fresh returns an empty store that has the account.
func Run(t *testing.T, account string, fresh func(t *testing.T) trigger.Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, *world){
		"triggers are inserted once and found by their account": triggers,
		"an event is stored once and numbered without a gap":    ingest,
		"many at once store an event once":                      together,
		"the history has the newest fifty":                      history,
		"a claim that was lost writes nothing":                  fencing,
		"a claim without a record is an interruption":           interruptions,
		"of one destination a few are claimed":                  destinations,
		"what failed is delivered again":                        replay,
		"a poll that lost its claim stores nothing":             polls,
		"too many events that wait are refused":                 backlog,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, &world{fresh(t), account})
		})
	}
}

type world struct {
	trigger.Store
	account string
}

func (w *world) trigger(t *testing.T, change func(*trigger.Trigger)) *trigger.Trigger {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	one := &trigger.Trigger{
		ID:           trigger.NewID(),
		AccountID:    w.account,
		App:          "demo-notes",
		Event:        "new_note",
		ConnectionID: "con_a",
		Config: map[string]any{
			"limit": "5",
		},
		Filter:      "data.size > 5",
		WebhookURL:  "https://hooks.example/in",
		Destination: "hooks.example",
		Mode:        trigger.ModeHook,
		Status:      trigger.Active,
		Generation:  1,
		Revision:    1,
		CreatedAt:   now,
		UpdatedAt:   now,
	}
	if change != nil {
		change(one)
	}
	stored, inserted, err := w.InsertTrigger(t.Context(), one, audit.Entry{})
	if err != nil || !inserted {
		t.Fatalf("InsertTrigger = %v, %v", inserted, err)
	}
	return stored
}

func items(keys ...string) (list []trigger.Item) {
	for _, key := range keys {
		list = append(list, trigger.Item{Key: key, Type: "demo-notes.new_note", Body: func(n int64) []byte {
			return fmt.Appendf(nil, `{"sequence":%d,"data":%q}`, n, key)
		}})
	}
	return list
}

func (w *world) ingest(t *testing.T, id string, keys ...string) *trigger.Ingested {
	t.Helper()
	done, err := w.Ingest(t.Context(), &trigger.Batch{TriggerID: id, Items: items(keys...)})
	if err != nil {
		t.Fatalf("Ingest: %v", err)
	}
	return done
}

func (w *world) deliveries() jobs.Source { return w.Deliveries(func() []string { return nil }) }

func (w *world) claim(t *testing.T, term time.Duration) []jobs.Job {
	t.Helper()
	claimed, err := w.deliveries().Claim(t.Context(), 100, term)
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	return claimed
}

func idOf(job jobs.Job) string {
	_, id, _ := strings.Cut(job.Ref, "/")
	return id
}

func (w *world) record(t *testing.T, job jobs.Job, state trigger.State, next time.Time) bool {
	t.Helper()
	recorded, err := w.Record(t.Context(), &trigger.Outcome{
		EventID: idOf(job), Token: job.Token, State: state, Attempt: 1, NextAt: next,
		Attempts: []trigger.Attempt{{Number: 1, Status: 500}},
	})
	if err != nil {
		t.Fatalf("Record: %v", err)
	}
	return recorded
}

func triggers(t *testing.T, w *world) {
	one := w.trigger(t, nil)
	again := *one
	again.Description = "another"
	if stored, inserted, err := w.InsertTrigger(t.Context(), &again, audit.Entry{}); err != nil || inserted ||
		stored.Description != "" {
		t.Errorf("inserted again: %v, %v, %v", stored, inserted, err)
	}
	if found, err := w.Trigger(t.Context(), w.account, one.ID); err != nil || found.Config["limit"] != "5" ||
		found.Filter != one.Filter ||
		!found.CreatedAt.Equal(one.CreatedAt) {
		t.Errorf("Trigger = %+v, %v", found, err)
	}
	if _, err := w.Trigger(t.Context(), "acc_other", one.ID); !problem.Is(err, "trigger_not_found") {
		t.Errorf("by another account: %v", err)
	}
	soon := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	for range 2 { // a time that has not changed stays as it is
		changed, err := w.ChangeTrigger(t.Context(), one.ID, func(t *trigger.Trigger) error {
			t.Description = "changed"
			if t.NextAt.IsZero() {
				t.NextAt = soon
			}
			return nil
		}, audit.Entry{})
		if err != nil || changed.Description != "changed" {
			t.Fatalf("ChangeTrigger = %+v, %v", changed, err)
		}
	}
	if wait, found, err := w.Tending().Next(t.Context()); err != nil || !found || wait < 50*time.Minute ||
		wait > 70*time.Minute {
		t.Errorf("Next = %v, %v, %v, want an hour", wait, found, err)
	}
	hidden := w.trigger(t, func(t *trigger.Trigger) { t.Status = trigger.Registering })
	if _, err := w.Trigger(t.Context(), w.account, hidden.ID); !problem.Is(err, "trigger_not_found") {
		t.Errorf("one that is being created: %v", err)
	}
	if n, err := w.CountTriggers(t.Context(), w.account, trigger.Query{App: "demo-notes"}); err != nil || n != 1 {
		t.Errorf("CountTriggers = %d, %v", n, err)
	}
	if list, err := w.ListTriggers(t.Context(), w.account, trigger.Query{Apps: []string{"x"}}); err != nil ||
		len(list) != 0 {
		t.Errorf("of another app: %v, %v", list, err)
	}
	w.ingest(t, one.ID, "a")
	if err := w.PurgeTrigger(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	if left, err := w.AnyTrigger(t.Context(), one.ID); err != nil || left != nil {
		t.Errorf("after PurgeTrigger: %v, %v", left, err)
	}
}

func ingest(t *testing.T, w *world) {
	one := w.trigger(t, nil)
	if done := w.ingest(t, one.ID, "a", "b"); done.Stored != 2 {
		t.Errorf("first: %+v", done)
	}
	if done := w.ingest(t, one.ID, "b", "c", "a"); done.Stored != 1 || done.Duplicates != 2 {
		t.Errorf("second: %+v", done)
	}
	events, err := w.ListEvents(t.Context(), w.account, one.ID)
	if err != nil || len(events) != 3 {
		t.Fatalf("ListEvents = %v, %v", events, err)
	}
	for i, e := range events {
		if e.Sequence != int64(3-i) || e.State != trigger.Pending {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	if events[0].ID != trigger.EventID(one.ID, "c") || string(events[0].Body) != `{"sequence":3,"data":"c"}` {
		t.Errorf("the newest is %s %s", events[0].ID, events[0].Body)
	}
}

func together(t *testing.T, w *world) {
	one := w.trigger(t, nil)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := w.Ingest(t.Context(), &trigger.Batch{TriggerID: one.ID, Items: items("same")}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if events, err := w.ListEvents(t.Context(), w.account, one.ID); err != nil || len(events) != 1 {
		t.Errorf("ListEvents = %d events, %v", len(events), err)
	}
}

func history(t *testing.T, w *world) {
	one := w.trigger(t, nil)
	for i := range 76 {
		w.ingest(t, one.ID, fmt.Sprint(i))
		for _, job := range w.claim(t, lease) {
			w.record(t, job, trigger.Delivered, time.Time{})
		}
	}
	events, err := w.ListEvents(t.Context(), w.account, one.ID)
	if err != nil || len(events) != trigger.HistoryLength || events[0].Sequence != 76 ||
		events[len(events)-1].Sequence != 27 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	if done := w.ingest(t, one.ID, "0"); done.Stored != 0 {
		t.Errorf("an event whose row is gone was stored again: %+v", done)
	}
}

func fencing(t *testing.T, w *world) {
	one := w.trigger(t, nil)
	w.ingest(t, one.ID, "a")
	first := w.claim(t, -time.Second) // it has expired already
	second := w.claim(t, lease)
	if len(first) != 1 || len(second) != 1 {
		t.Fatalf("claimed %d, then %d", len(first), len(second))
	}
	if w.record(t, first[0], trigger.Failed, time.Time{}) {
		t.Error("a record was written under a claim that was lost")
	}
	if d, err := w.Delivery(t.Context(), idOf(first[0]), first[0].Token); err != nil || d != nil {
		t.Errorf("Delivery of a claim that was lost = %v, %v", d, err)
	}
	if d, err := w.Delivery(t.Context(), idOf(second[0]), second[0].Token); err != nil || d == nil ||
		d.Trigger.WebhookURL != one.WebhookURL {
		t.Errorf("Delivery = %+v, %v", d, err)
	}
	if !w.record(t, second[0], trigger.Delivered, time.Time{}) {
		t.Error("the record of the claim was not written")
	}
	if e, err := w.Event(t.Context(), w.account, one.ID, idOf(second[0])); err != nil || e.State != trigger.Delivered ||
		len(e.Attempts) != 1 || e.EndedAt.IsZero() || !e.NextAttemptAt.IsZero() {
		t.Errorf("Event = %+v, %v", e, err)
	}
}

func interruptions(t *testing.T, w *world) {
	one := w.trigger(t, nil)
	w.ingest(t, one.ID, "a")
	for want := range 3 {
		claimed := w.claim(t, -time.Second)
		if len(claimed) != 1 {
			t.Fatalf("claimed %d", len(claimed))
		}
		d, err := w.Delivery(t.Context(), idOf(claimed[0]), claimed[0].Token)
		if err != nil || d.Event.Interruptions != want {
			t.Fatalf("Delivery = %+v, %v; want %d interruptions", d, err, want)
		}
	}
	claimed := w.claim(t, lease)
	w.record(t, claimed[0], trigger.Pending, time.Now().Add(-time.Second))
	claimed = w.claim(t, lease)
	if d, err := w.Delivery(t.Context(), idOf(claimed[0]), claimed[0].Token); err != nil || d.Event.Interruptions != 0 {
		t.Errorf("after a record: %+v, %v", d, err)
	}
}

func destinations(t *testing.T, w *world) {
	dead := w.trigger(t, func(t *trigger.Trigger) { t.Destination = "dead.example" })
	var keys []string
	for i := range 40 {
		keys = append(keys, fmt.Sprint(i))
	}
	w.ingest(t, dead.ID, keys...)
	alive := w.trigger(t, nil)
	w.ingest(t, alive.ID, "a")
	claimed := w.claim(t, lease)
	if len(claimed) != trigger.PerDestination+1 {
		t.Errorf("claimed %d, want %d", len(claimed), trigger.PerDestination+1)
	}
	busy := w.Deliveries(func() []string { return []string{"dead.example"} })
	if more, err := busy.Claim(t.Context(), 100, lease); err != nil || len(more) != 0 {
		t.Errorf("claimed %d for a busy destination, %v", len(more), err)
	}
	if wait, found, err := busy.Next(t.Context()); err != nil || found && wait <= 0 {
		t.Errorf("Next = %v, %v, %v while nothing else is due", wait, found, err)
	}
}

func replay(t *testing.T, w *world) {
	one := w.trigger(t, nil)
	w.ingest(t, one.ID, "a", "b", "c")
	for i, job := range w.claim(t, lease) {
		state := trigger.Failed
		if i == 0 {
			state = trigger.Delivered
		}
		w.record(t, job, state, time.Time{})
	}
	if n, err := w.Replay(t.Context(), w.account, one.ID, ""); err != nil || n != 2 {
		t.Errorf("Replay of all that failed = %d, %v", n, err)
	}
	if n, err := w.Replay(t.Context(), w.account, one.ID, ""); err != nil || n != 0 {
		t.Errorf("again = %d, %v", n, err)
	}
	if n, err := w.Replay(t.Context(), "acc_other", one.ID, trigger.EventID(one.ID, "a")); err != nil || n != 0 {
		t.Errorf("by another account = %d, %v", n, err)
	}
	for _, job := range w.claim(t, lease) {
		if d, err := w.Delivery(t.Context(), idOf(job), job.Token); err != nil || d.Event.Series != 1 ||
			d.Event.Attempt != 0 {
			t.Errorf("replayed: %+v, %v", d, err)
		}
	}
}

func polls(t *testing.T, w *world) {
	one := w.trigger(t, func(t *trigger.Trigger) {
		t.Mode, t.NextAt, t.Interval = trigger.ModePoll, time.Now().Add(-time.Minute), time.Minute
	})
	claimed, err := w.Tending().Claim(t.Context(), 10, lease)
	if err != nil || len(claimed) != 1 {
		t.Fatalf("Claim = %v, %v", claimed, err)
	}
	batch := func(token int64, key string) *trigger.Ingested {
		t.Helper()
		done, err := w.Ingest(
			t.Context(),
			&trigger.Batch{TriggerID: one.ID, Items: items(key), Poll: &trigger.PollState{
				Token: token, Cursor: "c1", NextAt: time.Now().Add(time.Minute), Interval: time.Minute,
			}},
		)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	if done := batch(claimed[0].Token+1, "a"); !done.Lost || done.Stored != 0 {
		t.Errorf("a poll that lost its claim: %+v", done)
	}
	if done := batch(claimed[0].Token, "a"); done.Lost || done.Stored != 1 {
		t.Errorf("a poll: %+v", done)
	}
	now, err := w.Trigger(t.Context(), w.account, one.ID)
	if err != nil || now.Cursor != "c1" || now.NextAt.Before(time.Now()) || now.LastPollAt.IsZero() {
		t.Errorf("after the poll: %+v, %v", now, err)
	}
}

func backlog(t *testing.T, w *world) {
	one := w.trigger(t, nil)
	for i := range 4 {
		var keys []string
		for j := range trigger.MaxPending / 4 {
			keys = append(keys, fmt.Sprint(i, " ", j))
		}
		w.ingest(t, one.ID, keys...)
	}
	_, err := w.Ingest(t.Context(), &trigger.Batch{TriggerID: one.ID, Items: items("one more")})
	if !problem.Is(err, "backlog_full") {
		t.Errorf("Ingest = %v, want backlog_full", err)
	}
	w.record(t, w.claim(t, lease)[0], trigger.Delivered, time.Time{})
	if done := w.ingest(t, one.ID, "one more"); done.Stored != 1 {
		t.Errorf("when there is room: %+v", done)
	}
}
