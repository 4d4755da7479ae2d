package idempotency_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/idempotency/idempotencytest"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
)

func TestMemoryKeepsThePromises(t *testing.T) {
	t.Parallel()
	idempotencytest.Run(t, func(*testing.T) idempotency.Store { return idempotency.NewMemory() })
}

// newKeeper returns a keeper on a store.
func newKeeper(t *testing.T, store idempotency.Store) *idempotency.Keeper {
	t.Helper()
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return idempotency.New(store, box.MAC)
}

// TestTimes walks over one key: who may run the request, and what a repetition
// gets, just before and just after each bound.
func TestTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keeper := newKeeper(t, idempotency.NewMemory())
		start := func(id string) (*idempotency.Attempt, error) {
			return keeper.Start(t.Context(), "scope", "key", []byte("{}"), func() string { return id })
		}
		running := func(when string) {
			t.Helper()
			if _, err := start("x"); !problem.Is(err, "idempotency_in_progress") {
				t.Errorf("%s: error %v, want idempotency_in_progress", when, err)
			}
		}
		first, err := start("a")
		if err != nil || first.ResourceID != "a" {
			t.Fatalf("the first attempt = %+v, %v", first, err)
		}
		running("at once")
		time.Sleep(time.Minute - time.Nanosecond)
		running("at the end of the lease")
		time.Sleep(time.Nanosecond)
		second, err := start("b")
		if err != nil || second.ResourceID != "a" {
			t.Fatalf("after the lease = %+v, %v, want the resource of the first attempt", second, err)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		running("at the end of the second lease")
		if err := second.Finish(t.Context(), idempotency.Answer{Status: 201, Body: []byte("made")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(idempotency.Retention - time.Nanosecond)
		again, err := start("c")
		if err != nil || again.Replay == nil || again.Replay.Status != 201 || string(again.Replay.Body) != "made" {
			t.Errorf("at the end of the retention = %+v, %v, want the first response", again, err)
		}
		time.Sleep(time.Nanosecond)
		if third, err := start("d"); err != nil || third.Replay != nil || third.ResourceID != "d" {
			t.Errorf("after the retention = %+v, %v, want a new attempt", third, err)
		}
	})
}

// strict is a store that, like a database, does nothing for a caller who has
// gone.
type strict struct{ *idempotency.Memory }

func (s strict) Answer(ctx context.Context, scope, key string, answer idempotency.Answer, until time.Time) error {
	return errors.Join(ctx.Err(), s.Memory.Answer(ctx, scope, key, answer, until))
}

func (s strict) Release(ctx context.Context, scope, key string) error {
	return errors.Join(ctx.Err(), s.Memory.Release(ctx, scope, key))
}

// TestCallerGoesAway ends attempts after their caller hung up: the response is
// kept, and a released key is free.
func TestCallerGoesAway(t *testing.T) {
	t.Parallel()
	keeper := newKeeper(t, strict{idempotency.NewMemory()})
	for key, end := range map[string]func(context.Context, *idempotency.Attempt) error{
		"finished": func(ctx context.Context, a *idempotency.Attempt) error {
			return a.Finish(ctx, idempotency.Answer{Status: 200})
		},
		"released": func(ctx context.Context, a *idempotency.Attempt) error { return a.Release(ctx) },
	} {
		start := func(ctx context.Context) (*idempotency.Attempt, error) {
			return keeper.Start(ctx, "scope", key, []byte("{}"), func() string { return "a" })
		}
		ctx, hangUp := context.WithCancel(t.Context())
		first, err := start(ctx)
		if err != nil {
			t.Fatal(err)
		}
		hangUp()
		if err := end(ctx, first); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		again, err := start(t.Context())
		if err != nil || (again.Replay != nil) != (key == "finished") {
			t.Errorf("%s: a repetition = %+v, %v", key, again, err)
		}
	}
}
