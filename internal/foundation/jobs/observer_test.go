package jobs_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/jobs"
)

// tally counts what an Observer is notified of.
type tally struct {
	mu       sync.Mutex
	running  int
	outcomes map[jobs.Outcome]int
}

func (c *tally) JobStarted(jobs.Lane) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running++
}

func (c *tally) JobEnded(_ jobs.Lane, _ string, o jobs.Outcome, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	c.outcomes[o]++
}

// TestObserver holds that each job is reported once, by how it ended.
func TestObserver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := jobs.NewMemory(nil)
		for _, ref := range []string{"done", "later", "fails", "hangs"} {
			queue.Schedule(jobs.Job{Kind: "k", Ref: ref, RunAt: time.Now()})
		}
		seen := &tally{outcomes: map[jobs.Outcome]int{}}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		jobs.NewWorker(queue, nil, map[string]jobs.Handler{"k": {
			MaxTries: 2, Interruptible: true, Backoff: []time.Duration{time.Second},
			Run: func(ctx context.Context, job jobs.Job) error {
				switch job.Ref {
				case "later":
					return jobs.Later(time.Now().Add(time.Hour))
				case "fails":
					return errors.New("no")
				case "hangs": // until its deadline, and then until the worker stops
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			},
		}}, discard, &jobs.Options{
			Observer: seen, Budgets: map[jobs.Lane]int{jobs.LaneHouse: 4},
		}).Run(ctx)
		want := map[jobs.Outcome]int{
			jobs.OutcomeDone: 1, jobs.OutcomeLater: 1, jobs.OutcomeFailed: 2, jobs.OutcomeParked: 1,
			jobs.OutcomeStopped: 1,
		}
		if !maps.Equal(seen.outcomes, want) || seen.running != 0 {
			t.Errorf("outcomes %v with %d left running, want %v and none", seen.outcomes, seen.running, want)
		}
	})
}
