package idempotency_test

import (
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/idempotency/idempotencytest"
	"ace/internal/foundation/seal"
)

func TestMemoryKeepsThePromises(t *testing.T) {
	t.Parallel()
	idempotencytest.Run(t, func(*testing.T) idempotency.Store { return idempotency.NewMemory() })
}

func TestADeadAttemptIsTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box, err := seal.New(make([]byte, seal.KeySize))
		if err != nil {
			t.Fatal(err)
		}
		keeper := idempotency.New(idempotency.NewMemory(), box.MAC)
		begin := func(id string) (*idempotency.Attempt, error) {
			return keeper.Start(t.Context(), "scope", "key", []byte("{}"), func() string { return id })
		}
		if _, err := begin("a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		second, err := begin("b")
		if err != nil || second.ResourceID != "a" {
			t.Fatalf("Begin after the lease = %+v, %v, want resource a", second, err)
		}
		if err := second.Finish(t.Context(), idempotency.Answer{Status: 200}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(idempotency.Retention + time.Second)
		if third, err := begin("c"); err != nil || third.Replay != nil || third.ResourceID != "c" {
			t.Errorf("Begin after retention = %+v, %v, want a fresh attempt", third, err)
		}
	})
}
