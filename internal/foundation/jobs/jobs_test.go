package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/jobs/jobstest"
)

type memory struct{ *jobs.Memory }

func (m memory) Schedule(_ *testing.T, js ...jobs.Job) { m.Memory.Schedule(js...) }

func TestMemoryKeepsThePromises(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, func(*testing.T) jobstest.Queue { return memory{jobs.NewMemory()} })
}

// runWorker works for d of the bubble's time.
func runWorker(t *testing.T, queue jobs.Queue, d time.Duration, handler jobs.Handler) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	jobs.NewWorker(queue, map[string]jobs.Handler{"k": handler}, slog.New(slog.DiscardHandler), nil).Run(ctx)
}

func TestWorkerRetriesUntilDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := jobs.NewMemory()
		queue.Schedule(jobs.Job{Kind: "k", Ref: "a", RunAt: time.Now()})
		start := time.Now()
		var at []time.Duration
		runWorker(t, queue, time.Hour, jobs.Handler{Run: func(_ context.Context, job jobs.Job) error {
			at = append(at, time.Since(start))
			if job.Tries < 3 {
				return errors.New("not yet")
			}
			return nil
		}})
		want := []time.Duration{0, time.Second, 6 * time.Second, 36 * time.Second}
		if len(at) != len(want) || queue.Len() != 0 {
			t.Fatalf("ran at %v with %d left, want four runs and none", at, queue.Len())
		}
		for i, d := range want {
			if at[i] < d*4/5 || at[i] > d*6/5+2*time.Second {
				t.Errorf("run %d after %v, want about %v", i, at[i], d)
			}
		}
	})
}

func TestWorkerParksAfterMaxTries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := jobs.NewMemory()
		queue.Schedule(jobs.Job{Kind: "k", Ref: "a", RunAt: time.Now()}, jobs.Job{Kind: "unknown", Ref: "b", RunAt: time.Now()})
		runs := 0
		runWorker(t, queue, 24*time.Hour, jobs.Handler{MaxTries: 3, Run: func(context.Context, jobs.Job) error {
			runs++
			panic("boom")
		}})
		if runs != 3 || queue.Len() != 2 {
			t.Errorf("%d runs, %d kept, want 3 runs and both jobs parked", runs, queue.Len())
		}
	})
}

func TestWorkerRunsLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := jobs.NewMemory()
		queue.Schedule(jobs.Job{Kind: "k", Ref: "a", RunAt: time.Now()})
		var at []time.Time
		runWorker(t, queue, 3*time.Hour, jobs.Handler{Run: func(_ context.Context, job jobs.Job) error {
			at = append(at, time.Now())
			if len(at) < 3 {
				return jobs.Later(time.Now().Add(time.Hour))
			}
			if job.Tries != 0 {
				t.Errorf("tries = %d after Later, want 0", job.Tries)
			}
			return nil
		}})
		if len(at) != 3 || at[2].Sub(at[0]) < 2*time.Hour {
			t.Errorf("ran at %v, want three runs an hour apart", at)
		}
	})
}

func TestWorkerFinishesWhatRunsWhenStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := jobs.NewMemory()
		queue.Schedule(jobs.Job{Kind: "k", Ref: "a", RunAt: time.Now()})
		var ended atomic.Bool
		runWorker(t, queue, time.Second, jobs.Handler{Run: func(ctx context.Context, _ jobs.Job) error {
			time.Sleep(10 * time.Second)
			ended.Store(ctx.Err() == nil)
			return nil
		}})
		if !ended.Load() || queue.Len() != 0 {
			t.Errorf("ended = %v, %d left: a stop must let running jobs end", ended.Load(), queue.Len())
		}
	})
}

func TestWakeIsPrompt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := jobs.NewMemory()
		done := make(chan time.Time, 1)
		worker := jobs.NewWorker(queue, map[string]jobs.Handler{"k": {Run: func(context.Context, jobs.Job) error {
			done <- time.Now()
			return nil
		}}}, slog.New(slog.DiscardHandler), nil)
		ctx, cancel := context.WithCancel(t.Context())
		go worker.Run(ctx)
		synctest.Wait()
		start := time.Now()
		queue.Schedule(jobs.Job{Kind: "k", Ref: "a", RunAt: start})
		worker.Wake()
		if got := <-done; !got.Equal(start) {
			t.Errorf("ran %v after the wake, want at once", got.Sub(start))
		}
		cancel()
	})
}
