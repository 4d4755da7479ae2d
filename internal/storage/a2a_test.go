package storage_test

import (
	"errors"
	"testing"
	"time"

	"ace/internal/protocol/a2a"
	"ace/internal/protocol/a2a/a2atest"
	"ace/internal/storage"
	"ace/internal/storefront/checkout"
)

func TestTasks(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newStore func(t *testing.T) *storage.Store) {
		a2atest.Run(t, func(t *testing.T) a2a.Store { return storage.Tasks{Store: newStore(t)} })
	})
}

// Tasks go when their time is over, but for those whose checkout goes on.
func TestPruneTasks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		tasks := storage.Tasks{Store: s}
		now := time.Now()
		tests := []struct {
			name    string
			state   checkout.State // of the session; "": the task has none
			expires time.Time
			kept    bool
		}{
			{"fresh", "", now.Add(time.Hour), true},
			{"old", "", now.Add(-time.Second), false},
			{"old, of an open session", checkout.Open, now.Add(-time.Hour), true},
			{"old, of a session whose page opens", checkout.Creating, now.Add(-time.Hour), true},
			{"old, of a session whose money is on its way", checkout.Processing, now.Add(-time.Hour), true},
			{"old, of a paid session", checkout.Completed, now.Add(-time.Second), false},
			{"old, of an expired session", checkout.Expired, now.Add(-time.Second), false},
			{"fresh, of a paid session", checkout.Completed, now.Add(time.Minute), true},
		}
		ids := make([]string, len(tests))
		for i, tt := range tests {
			rec := a2a.Record{Task: a2a.NewTask(""), Scope: "a", Owner: "o", ExpiresAt: tt.expires}
			if err := rec.Task.Move(a2a.InputRequired, now); err != nil {
				t.Fatal(err)
			}
			if tt.state != "" {
				session := newSession("box", 1)
				session.State = tt.state
				insert(t, s, session)
				rec.Ref = session.ID
			}
			ids[i] = rec.Task.ID
			if err := tasks.Insert(t.Context(), rec, a2a.Sent{Key: tt.name}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, tt := range tests {
			_, err := tasks.Task(t.Context(), ids[i])
			if gone := errors.Is(err, a2a.ErrNoTask); gone == tt.kept || err != nil && !gone {
				t.Errorf("%s: Task = %v, want kept %v", tt.name, err, tt.kept)
			}
		}
	})
}
