// Package idempotencytest is the suite that every idempotency.Store must pass.
package idempotencytest

import (
	"testing"
	"time"

	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/problem"
)

// Run checks the promises of idempotency.Store, through a Keeper.
func Run(t *testing.T, newStore func(t *testing.T) idempotency.Store) {
	t.Helper()
	tests := map[string]func(t *testing.T, s idempotency.Store){
		"replay": replay, "conflict": conflict, "in flight": inFlight, "takeover keeps the resource": takeover,
		"expired record is gone": expired, "one owner of many": oneOwner, "an answer stays": answerStays,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func keeper(s idempotency.Store) *idempotency.Keeper {
	return idempotency.New(s, func(label string, parts ...[]byte) string {
		for _, p := range parts {
			label += "|" + string(p)
		}
		return label
	})
}

func startRequest(t *testing.T, s idempotency.Store, body, id string) (*idempotency.Attempt, error) {
	t.Helper()
	return keeper(s).Start(t.Context(), "ucp POST /x", "key-1", []byte(body), func() string { return id })
}

func mustBegin(t *testing.T, s idempotency.Store, body, id string) *idempotency.Attempt {
	t.Helper()
	a, err := startRequest(t, s, body, id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func finish(t *testing.T, a *idempotency.Attempt) {
	t.Helper()
	if err := a.Finish(t.Context(), idempotency.Answer{Status: 201, Body: []byte(`{"id":"a"}`)}); err != nil {
		t.Fatal(err)
	}
}

func replay(t *testing.T, s idempotency.Store) {
	t.Helper()
	first := mustBegin(t, s, "body", "a")
	if first.Replay != nil || first.ResourceID != "a" {
		t.Fatalf("first Begin = %+v, want a fresh attempt for a", first)
	}
	finish(t, first)
	again := mustBegin(t, s, "body", "b")
	if again.Replay == nil || again.Replay.Status != 201 || string(again.Replay.Body) != `{"id":"a"}` {
		t.Errorf("second Begin = %+v, want the first answer", again.Replay)
	}
}

func conflict(t *testing.T, s idempotency.Store) {
	t.Helper()
	finish(t, mustBegin(t, s, "body", "a"))
	if _, err := startRequest(t, s, "other", "b"); !problem.Is(err, "idempotency_key_reused") {
		t.Errorf("Begin with another body = %v, want idempotency_key_reused", err)
	}
}

func inFlight(t *testing.T, s idempotency.Store) {
	t.Helper()
	mustBegin(t, s, "body", "a")
	if _, err := startRequest(t, s, "body", "b"); !problem.Is(err, "idempotency_in_progress") {
		t.Errorf("Begin while running = %v, want idempotency_in_progress", err)
	}
	if _, err := startRequest(t, s, "other", "b"); !problem.Is(err, "idempotency_key_reused") {
		t.Errorf("Begin with another body while running = %v, want idempotency_key_reused", err)
	}
}

func takeover(t *testing.T, s idempotency.Store) {
	first := mustBegin(t, s, "body", "a")
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if second := mustBegin(t, s, "body", "b"); second.ResourceID != "a" {
		t.Errorf("resource after a takeover = %q, want a", second.ResourceID)
	}
}

func expired(t *testing.T, s idempotency.Store) {
	now := time.Now()
	old := idempotency.Record{
		Scope: "s", Key: "k", Fingerprint: "f", ResourceID: "a", LeaseUntil: now,
		ExpiresAt: now.Add(-time.Second),
	}
	if _, owned, err := s.Claim(t.Context(), old); err != nil || !owned {
		t.Fatalf("Claim = %v, %v", owned, err)
	}
	fresh := old
	fresh.Fingerprint, fresh.ResourceID, fresh.ExpiresAt = "g", "b", now.Add(time.Hour)
	stored, owned, err := s.Claim(t.Context(), fresh)
	if err != nil || !owned || stored.ResourceID != "b" || stored.Fingerprint != "g" {
		t.Errorf("Claim over an expired record = %+v, %v, %v, want the new one", stored, owned, err)
	}
}

func oneOwner(t *testing.T, s idempotency.Store) {
	const callers = 8
	owners := make(chan string, callers)
	for i := range callers {
		go func() {
			a, err := keeper(s).Start(t.Context(), "scope", "key", []byte("body"),
				func() string { return string(rune('a' + i)) })
			if err == nil {
				owners <- a.ResourceID
				return
			}
			if !problem.Is(err, "idempotency_in_progress") {
				t.Errorf("Begin = %v", err)
			}
			owners <- ""
		}()
	}
	n := 0
	for range callers {
		if <-owners != "" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d callers own the attempt, want 1", n)
	}
}

func answerStays(t *testing.T, s idempotency.Store) {
	first := mustBegin(t, s, "body", "a")
	finish(t, first)
	if err := first.Finish(t.Context(), idempotency.Answer{Status: 500}); err != nil {
		t.Fatal(err)
	}
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := mustBegin(t, s, "body", "b"); again.Replay == nil || again.Replay.Status != 201 {
		t.Errorf("a kept answer was changed: %+v", again.Replay)
	}
}
