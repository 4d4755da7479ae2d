// Package jobstest is the suite that every jobs.Queue must pass.
package jobstest

import (
	"testing"
	"time"

	"ace/internal/foundation/jobs"
)

// Queue is a queue with its door for writers, which belongs to the store.
type Queue interface {
	jobs.Queue
	Schedule(t *testing.T, js ...jobs.Job)
}

// Run checks the promises of jobs.Queue against the queues that newQueue makes.
func Run(t *testing.T, newQueue func(t *testing.T) Queue) {
	t.Helper()
	tests := map[string]func(t *testing.T, q Queue){
		"due jobs in order":              dueInOrder,
		"a lease keeps others away":      leaseKeepsAway,
		"finish removes":                 finishRemoves,
		"scheduling anew runs once more": scheduledAnew,
		"a lost lease finishes nothing":  lostLease,
		"postpone counts and waits":      postponed,
		"parked until scheduled":         parked,
		"next due":                       nextDue,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newQueue(t))
		})
	}
}

const lease = time.Minute

func past(d time.Duration) time.Time { return time.Now().Add(-d).Truncate(time.Millisecond) }

func claim(t *testing.T, q Queue, limit int, lease time.Duration) []jobs.Job {
	t.Helper()
	claimed, err := q.Claim(t.Context(), limit, lease)
	if err != nil {
		t.Fatal(err)
	}
	return claimed
}

func claimOne(t *testing.T, q Queue, lease time.Duration) jobs.Job {
	t.Helper()
	claimed := claim(t, q, 1, lease)
	if len(claimed) != 1 {
		t.Fatalf("Claim = %v, want one job", claimed)
	}
	return claimed[0]
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func dueInOrder(t *testing.T, q Queue) {
	q.Schedule(t,
		jobs.Job{Kind: "k", Ref: "late", RunAt: past(-time.Hour)},
		jobs.Job{Kind: "k", Ref: "second", RunAt: past(time.Second)},
		jobs.Job{Kind: "k", Ref: "first", RunAt: past(time.Minute)})
	claimed := claim(t, q, 10, lease)
	if len(claimed) != 2 || claimed[0].Ref != "first" || claimed[1].Ref != "second" {
		t.Errorf("Claim = %v, want first, second", claimed)
	}
}

func leaseKeepsAway(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	first := claimOne(t, q, lease)
	if again := claim(t, q, 1, lease); len(again) != 0 {
		t.Errorf("a leased job was claimed again: %v", again)
	}
	must(t, q.Postpone(t.Context(), jobs.Job{Kind: "k", Ref: "a", RunAt: past(0), Token: first.Token}, ""))
	if second := claimOne(t, q, lease); second.Token <= first.Token {
		t.Errorf("token %d after %d, want it to grow", second.Token, first.Token)
	}
}

func finishRemoves(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	must(t, q.Finish(t.Context(), claimOne(t, q, lease)))
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "b", RunAt: past(time.Second)})
	if got := claim(t, q, 10, lease); len(got) != 1 || got[0].Ref != "b" {
		t.Errorf("Claim after Finish = %v, want b alone", got)
	}
}

func scheduledAnew(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Minute)})
	first := claimOne(t, q, lease)
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	if during := claim(t, q, 1, lease); len(during) != 0 {
		t.Errorf("claimed while leased: %v", during)
	}
	must(t, q.Finish(t.Context(), first))
	must(t, q.Finish(t.Context(), claimOne(t, q, lease)))
	if left := claim(t, q, 1, lease); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

func lostLease(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	stale := claimOne(t, q, -time.Second) // has run out at once
	fresh := claimOne(t, q, lease)
	must(t, q.Finish(t.Context(), stale))
	stale.RunAt = past(-time.Hour)
	must(t, q.Postpone(t.Context(), stale, "stale"))
	must(t, q.Postpone(t.Context(), jobs.Job{Kind: "k", Ref: "a", RunAt: past(0), Token: fresh.Token, Sequence: fresh.Sequence}, ""))
	claimOne(t, q, lease)
}

func postponed(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	job := claimOne(t, q, lease)
	job.RunAt, job.Tries = past(-time.Hour), 3
	must(t, q.Postpone(t.Context(), job, "no answer"))
	if early := claim(t, q, 1, lease); len(early) != 0 {
		t.Errorf("claimed before its time: %v", early)
	}
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	if got := claimOne(t, q, lease); got.Tries != 3 {
		t.Errorf("tries = %d, want 3", got.Tries)
	}
}

func parked(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	job := claimOne(t, q, lease)
	job.RunAt = time.Time{}
	must(t, q.Postpone(t.Context(), job, "gave up"))
	if got := claim(t, q, 1, lease); len(got) != 0 {
		t.Errorf("a parked job was claimed: %v", got)
	}
	if due, err := q.NextDue(t.Context()); err != nil || !due.IsZero() {
		t.Errorf("NextDue with a parked job = %v, %v, want zero", due, err)
	}
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	claimOne(t, q, lease)
}

func nextDue(t *testing.T, q Queue) {
	if due, err := q.NextDue(t.Context()); err != nil || !due.IsZero() {
		t.Errorf("NextDue of an empty queue = %v, %v", due, err)
	}
	at := past(-time.Hour)
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "b", RunAt: at.Add(time.Hour)}, jobs.Job{Kind: "k", Ref: "a", RunAt: at})
	if due, err := q.NextDue(t.Context()); err != nil || !due.Equal(at) {
		t.Errorf("NextDue = %v, %v, want %v", due, err, at)
	}
}
