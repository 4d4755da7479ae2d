package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/jobs/jobstest"
)

type memory struct{ *jobs.Memory }

func (m memory) Schedule(_ *testing.T, js ...jobs.Job) { m.Memory.Schedule(js...) }

func TestMemory(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, func(*testing.T) jobstest.Queue { return memory{jobs.NewMemory(jobstest.Lanes())} })
}

var discard = slog.New(slog.DiscardHandler)

// runWorker works for d of the bubble's time.
func runWorker(t *testing.T, queue jobs.Queue, d time.Duration, handler jobs.Handler) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	jobs.NewWorker(queue, nil, map[string]jobs.Handler{"k": handler}, discard, nil).Run(ctx)
}

func TestWorkerRetriesUntilDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := jobs.NewMemory(nil)
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
		queue := jobs.NewMemory(nil)
		queue.Schedule(jobs.Job{Kind: "k", Ref: "a", RunAt: time.Now()})
		runs := 0
		runWorker(t, queue, 24*time.Hour, jobs.Handler{MaxTries: 3, Run: func(context.Context, jobs.Job) error {
			runs++
			panic("boom")
		}})
		if _, found, err := queue.Lane(jobs.LaneHouse).Next(t.Context()); runs != 3 || queue.Len() != 1 || found ||
			err != nil {
			t.Errorf(
				"%d runs, %d stored, waiting: %v, %v, want 3 runs and the job parked",
				runs,
				queue.Len(),
				found,
				err,
			)
		}
	})
}

// A job of a kind that this version does not know waits for one that does: it
// may have been scheduled by a newer version on the same database.
func TestUnknownKindsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := jobs.NewMemory(nil)
		queue.Schedule(jobs.Job{Kind: "newer", Ref: "a", RunAt: time.Now()})
		runWorker(t, queue, time.Hour, jobs.Handler{Run: func(context.Context, jobs.Job) error { return nil }})
		claimed, err := queue.Lane(jobs.LaneHouse, "newer").Claim(t.Context(), 1, time.Minute)
		if err != nil || len(claimed) != 1 || claimed[0].Tries != 0 || claimed[0].Token != 1 {
			t.Errorf("Claim = %+v, %v, want a job that was not touched", claimed, err)
		}
	})
}

func TestWorkerRunsLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := jobs.NewMemory(nil)
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
	for _, byStop := range []bool{false, true} {
		t.Run(fmt.Sprintf("by Stop %v", byStop), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				queue := jobs.NewMemory(nil)
				queue.Schedule(jobs.Job{Kind: "k", Ref: "a", RunAt: time.Now()},
					jobs.Job{Kind: "k", Ref: "b", RunAt: time.Now().Add(2 * time.Second)})
				var ended atomic.Int32
				worker := jobs.NewWorker(queue, nil, map[string]jobs.Handler{"k": {
					Run: func(ctx context.Context, _ jobs.Job) error {
						time.Sleep(35 * time.Second)
						if ctx.Err() == nil {
							ended.Add(1)
						}
						return nil
					},
				}}, discard, nil)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(time.Second, func() {
					if byStop {
						worker.Stop()
					} else {
						cancel()
					}
				})
				start := time.Now()
				worker.Run(ctx)
				if ended.Load() != 1 || queue.Len() != 1 || time.Since(start) != 35*time.Second {
					t.Errorf("%d ended, %d left after %v: want the job that ran to end, and no other to begin",
						ended.Load(), queue.Len(), time.Since(start))
				}
			})
		})
	}
}

// Work that may be done again is cut off and left to another process at once,
// with no try counted.
func TestInterruptibleWorkIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := jobs.NewMemory(nil)
		queue.Schedule(jobs.Job{Kind: "k", Ref: "a", RunAt: time.Now()})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		jobs.NewWorker(queue, nil, map[string]jobs.Handler{"k": {
			Interruptible: true,
			Run: func(ctx context.Context, _ jobs.Job) error {
				<-ctx.Done()
				return ctx.Err()
			},
		}}, discard, nil).Run(ctx)
		if got := time.Since(start); got != 26*time.Second {
			t.Errorf("the worker ended after %v, want 26 s", got)
		}
		claimed, err := queue.Lane(jobs.LaneHouse).Claim(t.Context(), 1, time.Minute)
		if err != nil || len(claimed) != 1 || claimed[0].Tries != 0 {
			t.Errorf("Claim = %+v, %v, want the job without a failed try", claimed, err)
		}
	})
}

func TestScheduledIsPrompt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lanes := jobs.NewLanes(map[string]jobs.Lane{"k": jobs.LaneRun})
		queue := jobs.NewMemory(lanes)
		done := make(chan time.Time, 1)
		worker := jobs.NewWorker(
			queue,
			lanes,
			map[string]jobs.Handler{"k": {Run: func(context.Context, jobs.Job) error {
				done <- time.Now()
				return nil
			}}},
			discard,
			nil,
		)
		var running sync.WaitGroup
		running.Go(func() { worker.Run(t.Context()) })
		defer running.Wait()
		defer worker.Stop()
		for _, in := range []time.Duration{0, 300 * time.Millisecond, time.Minute} {
			synctest.Wait()
			due := time.Now().Add(in)
			queue.Schedule(jobs.Job{Kind: "k", Ref: "a", RunAt: due})
			if got := <-done; !got.Equal(due) {
				t.Errorf("due in %v, ran %v late", in, got.Sub(due))
			}
			time.Sleep(300 * time.Millisecond)
		}
	})
}

// TestFullLaneDelaysNoOther fills the lane of deliveries with receivers that
// hang, twice over: payments go on, whether this process or another scheduled
// them.
func TestFullLaneDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lanes := jobs.NewLanes(map[string]jobs.Lane{"hang": jobs.LaneDeliver, "pay": jobs.LaneMoney})
		queue := jobs.NewMemory(lanes)
		hung, mostHung := atomic.Int32{}, atomic.Int32{}
		paid := make(chan time.Time, 1)
		counted := &counting{Queue: queue}
		worker := jobs.NewWorker(counted, lanes, map[string]jobs.Handler{
			"hang": {Run: func(ctx context.Context, _ jobs.Job) error {
				mostHung.Store(max(mostHung.Load(), hung.Add(1)))
				defer hung.Add(-1)
				<-ctx.Done()
				return ctx.Err()
			}},
			"pay": {Run: func(context.Context, jobs.Job) error { paid <- time.Now(); return nil }},
		}, discard, nil)
		for i := range 256 {
			queue.Schedule(jobs.Job{Kind: "hang", Ref: fmt.Sprint(i), RunAt: time.Now()})
		}
		var running sync.WaitGroup
		running.Go(func() { worker.Run(t.Context()) })
		defer running.Wait()
		defer worker.Stop()
		synctest.Wait()
		if got := hung.Load(); got != 128 {
			t.Fatalf("%d receivers hang, want 128", got)
		}
		asked := counted.claims.Load()
		for i := range 20 {
			time.Sleep(777 * time.Millisecond)
			at := time.Now()
			queue.Schedule(jobs.Job{Kind: "pay", Ref: fmt.Sprint(i), RunAt: at})
			if late := (<-paid).Sub(at); late != 0 {
				t.Errorf("payment %d waited %v, want none", i, late)
			}
			synctest.Wait()
			at = time.Now()
			queue.ScheduleQuietly(jobs.Job{Kind: "pay", Ref: fmt.Sprint("elsewhere", i), RunAt: at})
			if late := (<-paid).Sub(at); late > 500*time.Millisecond {
				t.Errorf("payment %d from another process waited %v, want at most 0.5 s", i, late)
			}
			synctest.Wait()
		}
		if got := counted.claims.Load() - asked; got != 0 {
			t.Errorf("the full lane asked for work %d times", got)
		}
		if mostHung.Load() != 128 {
			t.Errorf("%d receivers hung at the same time, want 128 at most", mostHung.Load())
		}
	})
}

// counting counts the claims of the lane of deliveries.
type counting struct {
	jobs.Queue
	claims atomic.Int32
}

type countingSource struct {
	jobs.Source
	claims *atomic.Int32
}

func (c *counting) Lane(lane jobs.Lane, kinds ...string) jobs.Source {
	source := c.Queue.Lane(lane, kinds...)
	if lane == jobs.LaneDeliver {
		source = countingSource{source, &c.claims}
	}
	return source
}

func (c countingSource) Claim(ctx context.Context, limit int, lease time.Duration) ([]jobs.Job, error) {
	c.claims.Add(1)
	return c.Source.Claim(ctx, limit, lease)
}
