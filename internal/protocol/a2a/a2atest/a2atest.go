// Package a2atest is the suite that every a2a.Store must pass, and an in-memory store for tests.
package a2atest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/protocol/a2a"
)

// Run checks that the stores created by newStore implement a2a.Store.
func Run(t *testing.T, newStore func(t *testing.T) a2a.Store) {
	t.Helper()
	tests := map[string]func(t *testing.T, s a2a.Store){
		"a task is stored unchanged":                            roundTrip,
		"a message is stored once":                              sentOnce,
		"of concurrent inserts one succeeds":                    sentAtOnce,
		"save compares the version":                             saveCompares,
		"a follow-up is stored once":                            followUp,
		"lists contain one scope":                               listScope,
		"lists are filtered":                                    listFilters,
		"pages are consecutive":                                 listPages,
		"old tasks of one owner are deleted":                    deletesOldTasks,
		"nobody is there":                                       absent,
		"of concurrent transitions from one state one succeeds": movesAtOnce,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

// start is the start time of the tasks of the suite. Nothing depends on wall time.
var start = time.Date(2026, 11, 21, 10, 0, 0, int(250*time.Millisecond), time.UTC)

// record returns a task that has been in a state since n seconds after start.
func record(t *testing.T, scope string, state a2a.State, n int) a2a.Record {
	t.Helper()
	task := a2a.NewTask("context-of-" + scope)
	task.AddMessage(a2a.Message{
		MessageID: "m", Role: a2a.RoleUser,
		Parts: []a2a.Part{a2a.TextPart("Grüß Gott"), a2a.DataPart([]byte(`{"n":1e3}`))},
	})
	if err := task.Move(state, start.Add(time.Duration(n)*time.Second), a2a.TextPart("because"),
		a2a.URLPart("https://store.example/c/1?a=1&b=2", "text/html")); err != nil {
		t.Fatal(err)
	}
	task.Artifacts = []a2a.Artifact{{
		ArtifactID: "result", Name: "search_pages",
		Parts: []a2a.Part{a2a.DataPart([]byte(`{"pages":[]}`))},
	}}
	return a2a.Record{Task: task, Scope: scope, Owner: "owner of " + scope, ExpiresAt: start.Add(time.Hour)}
}

// insert stores a task with a new message.
func insert(t *testing.T, s a2a.Store, rec a2a.Record) a2a.Record {
	t.Helper()
	if err := s.Insert(t.Context(),
		rec, a2a.Sent{Key: "key of " + rec.Task.ID, Fingerprint: "print of " + rec.Task.ID}); err != nil {
		t.Fatal(err)
	}
	rec.Version = 1
	return rec
}

func roundTrip(t *testing.T, s a2a.Store) {
	want := record(t, "a", a2a.InputRequired, 0)
	want.Ref = "chk_1"
	want = insert(t, s, want)
	got, err := s.Task(t.Context(), want.Task.ID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Task: %v (-want +got):\n%s", err, diff)
	}
	got, fingerprint, err := s.Sent(t.Context(), "key of "+want.Task.ID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" || fingerprint != "print of "+want.Task.ID {
		t.Errorf("Sent: %q, %v (-want +got):\n%s", fingerprint, err, diff)
	}
}

func sentOnce(t *testing.T, s a2a.Store) {
	first, second := record(t, "a", a2a.Completed, 0), record(t, "a", a2a.Completed, 1)
	sent := a2a.Sent{Key: "k", Fingerprint: "f"}
	if err := s.Insert(t.Context(), first, sent); err != nil {
		t.Fatal(err)
	}
	if err := s.Insert(t.Context(), second, sent); !errors.Is(err, a2a.ErrSent) {
		t.Errorf("Insert of the same message = %v, want ErrSent", err)
	}
	if _, err := s.Task(t.Context(), second.Task.ID); !errors.Is(err, a2a.ErrNoTask) {
		t.Errorf("the task of the repetition: %v, want ErrNoTask", err)
	}
	if rec, _, err := s.Sent(t.Context(), "k"); err != nil || rec.Task.ID != first.Task.ID {
		t.Errorf("Sent = %s, %v, want the first task", rec.Task.ID, err)
	}
}

func sentAtOnce(t *testing.T, s a2a.Store) {
	var inserted atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		rec := record(t, "a", a2a.Working, i)
		all.Go(func() {
			switch err := s.Insert(t.Context(), rec, a2a.Sent{Key: "k", Fingerprint: "f"}); {
			case err == nil:
				inserted.Add(1)
			case !errors.Is(err, a2a.ErrSent):
				t.Errorf("Insert = %v, want nil or ErrSent", err)
			}
		})
	}
	all.Wait()
	_, total, err := s.List(t.Context(), a2a.Query{Scope: "a", Limit: 10})
	if inserted.Load() != 1 || total != 1 || err != nil {
		t.Errorf("%d inserts succeeded and %d tasks are stored, %v, want one", inserted.Load(), total, err)
	}
}

func saveCompares(t *testing.T, s a2a.Store) {
	rec := insert(t, s, record(t, "a", a2a.Working, 0))
	next := rec
	if err := next.Task.Move(a2a.Completed, start.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	next.ExpiresAt, next.Ref = start.Add(2*time.Hour), "chk_1"
	if err := s.Save(t.Context(), next, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), rec, nil); !errors.Is(err, a2a.ErrVersion) {
		t.Errorf("Save of an old version = %v, want ErrVersion", err)
	}
	next.Version = 2
	got, err := s.Task(t.Context(), rec.Task.ID)
	if diff := cmp.Diff(next, got); err != nil || diff != "" {
		t.Errorf("after Save: %v (-want +got):\n%s", err, diff)
	}
	gone := record(t, "a", a2a.Working, 0)
	gone.Version = 1
	if err := s.Save(t.Context(), gone, nil); !errors.Is(err, a2a.ErrVersion) {
		t.Errorf("Save of a task that is not stored = %v, want ErrVersion", err)
	}
}

func followUp(t *testing.T, s a2a.Store) {
	rec := insert(t, s, record(t, "a", a2a.InputRequired, 0))
	sent := a2a.Sent{Key: "follow-up", Fingerprint: "f"}
	if err := s.Save(t.Context(), rec, &sent); err != nil {
		t.Fatal(err)
	}
	rec.Version++
	if err := s.Save(t.Context(), rec, &sent); !errors.Is(err, a2a.ErrSent) {
		t.Errorf("Save with the same message = %v, want ErrSent", err)
	}
	got, fingerprint, err := s.Sent(t.Context(), sent.Key)
	if err != nil || got.Task.ID != rec.Task.ID || got.Version != 2 || fingerprint != "f" {
		t.Errorf("Sent = %s, version %d, %q, %v, want the task at version 2", got.Task.ID, got.Version, fingerprint,
			err)
	}
}

func listScope(t *testing.T, s a2a.Store) {
	for i := range 3 {
		insert(t, s, record(t, "a", a2a.Completed, i))
	}
	insert(t, s, record(t, "b", a2a.Completed, 0))
	for scope, want := range map[string]int{"a": 3, "b": 1, "c": 0, "": 0, "A": 0} {
		records, total, err := s.List(t.Context(), a2a.Query{Scope: scope, Limit: 10})
		if err != nil || len(records) != want || total != want {
			t.Errorf("List(%q) = %d of %d, %v, want %d", scope, len(records), total, err, want)
		}
		for _, r := range records {
			if r.Scope != scope {
				t.Errorf("List(%q) has a task of %q", scope, r.Scope)
			}
		}
	}
}

func listFilters(t *testing.T, s a2a.Store) {
	refs := map[int]string{1: "chk_1", 3: "chk_3"}
	for i, state := range []a2a.State{a2a.Completed, a2a.InputRequired, a2a.Working, a2a.Completed, a2a.Rejected} {
		rec := record(t, "a", state, i)
		rec.Ref = refs[i]
		insert(t, s, rec)
	}
	tests := []struct {
		name  string
		query a2a.Query
		want  []a2a.State
	}{
		{
			"all, newest first",
			a2a.Query{},
			[]a2a.State{a2a.Rejected, a2a.Completed, a2a.Working, a2a.InputRequired, a2a.Completed},
		},
		{"of a state", a2a.Query{State: a2a.Completed}, []a2a.State{a2a.Completed, a2a.Completed}},
		{"of a state without tasks", a2a.Query{State: a2a.Canceled}, nil},
		{
			"since, inclusive",
			a2a.Query{Since: start.Add(2 * time.Second)},
			[]a2a.State{a2a.Rejected, a2a.Completed, a2a.Working},
		},
		{"with a Ref, not terminal", a2a.Query{Waiting: true}, []a2a.State{a2a.InputRequired}},
	}
	for _, tt := range tests {
		tt.query.Scope, tt.query.Limit = "a", 10
		records, total, err := s.List(t.Context(), tt.query)
		var got []a2a.State
		for _, r := range records {
			got = append(got, r.Task.Status.State)
		}
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" || total != len(tt.want) {
			t.Errorf("%s: total %d, %v (-want +got):\n%s", tt.name, total, err, diff)
		}
	}
}

// listPages has tasks with equal times, which are ordered by id.
func listPages(t *testing.T, s a2a.Store) {
	want := map[string]bool{}
	for i := range 7 {
		want[insert(t, s, record(t, "a", a2a.Completed, i/3)).Task.ID] = true
	}
	got := map[string]bool{}
	q := a2a.Query{Scope: "a", Limit: 3}
	for page := 1; ; page++ {
		records, total, err := s.List(t.Context(), q)
		if err != nil || total != 7 || page > 3 {
			t.Fatalf("page %d: total %d, %v, want three pages of 7 tasks", page, total, err)
		}
		for _, r := range records {
			if got[r.Task.ID] {
				t.Errorf("%s is on two pages", r.Task.ID)
			}
			got[r.Task.ID] = true
		}
		if len(records) < q.Limit {
			break
		}
		last := records[len(records)-1].Task
		q.After = a2a.Position{At: last.Status.Timestamp.Time, ID: last.ID}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("over all pages (-want +got):\n%s", diff)
	}
}

func deletesOldTasks(t *testing.T, s a2a.Store) {
	sale := record(t, "a", a2a.Completed, 0)
	sale.Ref = "chk_1"
	open := record(t, "a", a2a.InputRequired, 0)
	open.Ref = "chk_2"
	other := record(t, "b", a2a.Completed, 0)
	for _, r := range []a2a.Record{sale, open, other} {
		insert(t, s, r)
	}
	var ids []string
	for i := range a2a.MaxOwned + 2 {
		ids = append(ids, insert(t, s, record(t, "a", []a2a.State{a2a.Completed, a2a.InputRequired}[i%2], i+1)).Task.ID)
	}
	for i, id := range append(ids, sale.Task.ID, open.Task.ID, other.Task.ID) {
		_, err := s.Task(t.Context(), id)
		if gone := errors.Is(err, a2a.ErrNoTask); gone != (i < 2) || err != nil && !gone {
			t.Errorf("task %d of %d: %v, want the first two gone", i, len(ids)+3, err)
		}
	}
	if _, _, err := s.Sent(t.Context(), "key of "+ids[0]); !errors.Is(err, a2a.ErrNoTask) {
		t.Errorf("the message of a task that is gone: %v, want ErrNoTask", err)
	}
}

func absent(t *testing.T, s a2a.Store) {
	for _, id := range []string{"", "task_x", "'; DROP TABLE a2a_task", strings.Repeat("x", 300)} {
		if _, err := s.Task(t.Context(), id); !errors.Is(err, a2a.ErrNoTask) {
			t.Errorf("Task(%q) = %v, want ErrNoTask", id, err)
		}
		if _, _, err := s.Sent(t.Context(), id); !errors.Is(err, a2a.ErrNoTask) {
			t.Errorf("Sent(%q) = %v, want ErrNoTask", id, err)
		}
	}
}

func movesAtOnce(t *testing.T, s a2a.Store) {
	rec := insert(t, s, record(t, "a", a2a.InputRequired, 0))
	var moved atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		next := rec
		to := []a2a.State{a2a.Completed, a2a.Canceled}[i%2]
		if err := next.Task.Move(to, start.Add(time.Minute), a2a.TextPart(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			switch err := s.Save(t.Context(), next, nil); {
			case err == nil:
				moved.Add(1)
			case !errors.Is(err, a2a.ErrVersion):
				t.Errorf("Save = %v, want nil or ErrVersion", err)
			}
		})
	}
	all.Wait()
	if moved.Load() != 1 {
		t.Errorf("%d moves from one state succeeded, want one", moved.Load())
	}
}
