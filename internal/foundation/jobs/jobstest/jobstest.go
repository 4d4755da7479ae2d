// Package jobstest is the suite that every jobs.Queue must pass.
package jobstest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jobs"
)

// Queue is a queue with its entrance for writers, which belongs to the store.
type Queue interface {
	jobs.Queue
	Schedule(t *testing.T, js ...jobs.Job)
}

// Lanes are the lanes of the kinds that the suite schedules.
func Lanes() *jobs.Lanes {
	return jobs.NewLanes(map[string]jobs.Lane{"k": jobs.LaneHouse, "other": jobs.LaneHouse, "paid": jobs.LaneMoney})
}

// Run checks the promises of jobs.Queue against the queues that newQueue
// returns, which schedule into the lanes of Lanes.
func Run(t *testing.T, newQueue func(t *testing.T) Queue) {
	t.Helper()
	tests := map[string]func(t *testing.T, q Queue){
		"due jobs in order":                 dueInOrder,
		"a lease excludes others":           leaseExcludes,
		"done removes":                      doneRemoves,
		"scheduled again runs again":        scheduledAgain,
		"scheduled again keeps the lease":   scheduledWhileLeased,
		"a lost lease ends nothing":         lostLease,
		"postponed counts and waits":        postponed,
		"parked until scheduled":            parked,
		"next":                              next,
		"a lane holds its own kinds":        ownKinds,
		"many ends at once":                 manyEnds,
		"claims at the same time differ":    concurrentClaims,
		"the zero time is due at once":      zeroTime,
		"an expired lease is claimed again": expiredLease,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newQueue(t))
		})
	}
}

const lease = time.Minute

func past(d time.Duration) time.Time { return time.Now().Add(-d) }

func future(d time.Duration) time.Time { return time.Now().Add(d) }

func maintenance(q Queue) jobs.Source { return q.Lane(jobs.LaneHouse, "k") }

func claim(t *testing.T, s jobs.Source, limit int, lease time.Duration) []jobs.Job {
	t.Helper()
	claimed, err := s.Claim(t.Context(), limit, lease)
	if err != nil {
		t.Fatal(err)
	}
	return claimed
}

func claimOne(t *testing.T, s jobs.Source, lease time.Duration) jobs.Job {
	t.Helper()
	claimed := claim(t, s, 1, lease)
	if len(claimed) != 1 {
		t.Fatalf("Claim = %v, want one job", claimed)
	}
	return claimed[0]
}

// wantRefs compares the refs of jobs in order.
func wantRefs(t *testing.T, what string, got []jobs.Job, want ...string) {
	t.Helper()
	refs := []string{}
	for _, job := range got {
		refs = append(refs, job.Ref)
	}
	if diff := cmp.Diff(want, refs); diff != "" && len(want)+len(refs) > 0 {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func end(t *testing.T, s jobs.Source, ends ...jobs.End) (again bool) {
	t.Helper()
	again, err := s.End(t.Context(), ends)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func done(job jobs.Job) jobs.End { return jobs.End{Job: job, Done: true} }

func at(job jobs.Job, when time.Time) jobs.End {
	job.RunAt = when
	return jobs.End{Job: job}
}

func dueInOrder(t *testing.T, q Queue) {
	q.Schedule(t,
		jobs.Job{Kind: "k", Ref: "late", RunAt: future(time.Hour)},
		jobs.Job{Kind: "k", Ref: "third", RunAt: past(time.Second)},
		jobs.Job{Kind: "k", Ref: "first", RunAt: past(time.Hour)},
		jobs.Job{Kind: "k", Ref: "second", RunAt: past(time.Minute)})
	wantRefs(t, "the first claim", claim(t, maintenance(q), 2, lease), "first", "second")
	wantRefs(t, "the second claim", claim(t, maintenance(q), 10, lease), "third")
}

func leaseExcludes(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	first := claimOne(t, maintenance(q), lease)
	if left := time.Until(first.LeaseUntil); left < lease/2 || left > 2*lease {
		t.Errorf("the lease ends in %v, want about %v", left, lease)
	}
	wantRefs(t, "a claim of what is leased", claim(t, maintenance(q), 1, lease))
	end(t, maintenance(q), at(first, past(0)))
	if second := claimOne(t, maintenance(q), lease); second.Token <= first.Token {
		t.Errorf("token %d after %d, want it to grow", second.Token, first.Token)
	}
}

func doneRemoves(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	if end(t, maintenance(q), done(claimOne(t, maintenance(q), lease))) {
		t.Error("End reports that the job runs again")
	}
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "b", RunAt: past(time.Second)})
	wantRefs(t, "after the end of a", claim(t, maintenance(q), 10, lease), "b")
}

func scheduledAgain(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Minute)})
	first := claimOne(t, maintenance(q), lease)
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	wantRefs(t, "while it is leased", claim(t, maintenance(q), 1, lease))
	first.Tries = 3
	if !end(t, maintenance(q), done(first)) {
		t.Error("End reports that nothing runs again")
	}
	second := claimOne(t, maintenance(q), lease)
	if second.Tries != 0 {
		t.Errorf("tries = %d, want 0 after the job was done", second.Tries)
	}
	end(t, maintenance(q), done(second))
	wantRefs(t, "after the second end", claim(t, maintenance(q), 1, lease))
}

// What is scheduled again while it runs is not postponed by how the run ends.
func scheduledWhileLeased(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Minute)})
	first := claimOne(t, maintenance(q), lease)
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	if wait, found, err := maintenance(q).Next(t.Context()); err != nil || !found || wait < lease/2 {
		t.Errorf("Next = %v, %v, %v, want the end of the lease", wait, found, err)
	}
	if !end(t, maintenance(q), at(first, future(time.Hour))) {
		t.Error("End reports that nothing runs again")
	}
	claimOne(t, maintenance(q), lease)
}

func lostLease(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	stale := claimOne(t, maintenance(q), -time.Second) // expires at once
	fresh := claimOne(t, maintenance(q), lease)
	for _, e := range []jobs.End{done(stale), at(stale, past(0)), at(stale, time.Time{})} {
		if end(t, maintenance(q), e) {
			t.Errorf("End(%+v) of a lost lease reports that the job runs again", e)
		}
		wantRefs(t, "after the end of a lost lease", claim(t, maintenance(q), 1, lease))
	}
	end(t, maintenance(q), at(fresh, past(0)))
	claimOne(t, maintenance(q), lease)
}

func expiredLease(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Hour)})
	first := claimOne(t, maintenance(q), -time.Second)
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(0)})
	second := claimOne(t, maintenance(q), lease)
	if second.Token <= first.Token || second.Sequence <= first.Sequence {
		t.Errorf("claimed %+v after %+v, want a higher token and sequence", second, first)
	}
	end(t, maintenance(q), done(second))
	wantRefs(t, "after its end", claim(t, maintenance(q), 1, lease))
}

func postponed(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	job := claimOne(t, maintenance(q), lease)
	job.Tries = 3
	e := at(job, future(time.Hour))
	e.Reason = "no response"
	if end(t, maintenance(q), e) {
		t.Error("End reports that the job runs at once")
	}
	wantRefs(t, "before its time", claim(t, maintenance(q), 1, lease))
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	if got := claimOne(t, maintenance(q), lease); got.Tries != 3 {
		t.Errorf("tries = %d, want 3", got.Tries)
	}
}

func parked(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	end(t, maintenance(q), at(claimOne(t, maintenance(q), lease), time.Time{}))
	wantRefs(t, "what is parked", claim(t, maintenance(q), 1, lease))
	if wait, found, err := maintenance(q).Next(t.Context()); err != nil || found {
		t.Errorf("Next with a parked job = %v, %v, %v, want none", wait, found, err)
	}
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: future(time.Hour)})
	wantRefs(t, "what is scheduled for later", claim(t, maintenance(q), 1, lease))
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a", RunAt: past(time.Second)})
	claimOne(t, maintenance(q), lease)
}

func next(t *testing.T, q Queue) {
	if wait, found, err := maintenance(q).Next(t.Context()); err != nil || found {
		t.Errorf("Next of an empty queue = %v, %v, %v, want none", wait, found, err)
	}
	near := func(what string, want time.Duration) {
		t.Helper()
		wait, found, err := maintenance(q).Next(t.Context())
		if err != nil || !found || (wait-want).Abs() > 10*time.Second {
			t.Errorf("Next %s = %v, %v, %v, want about %v", what, wait, found, err, want)
		}
	}
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "b", RunAt: future(2 * time.Hour)},
		jobs.Job{Kind: "k", Ref: "a", RunAt: future(time.Hour)},
		jobs.Job{Kind: "other", Ref: "c", RunAt: past(0)}, jobs.Job{Kind: "paid", Ref: "d", RunAt: past(0)})
	near("of two jobs", time.Hour)
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "b", RunAt: past(time.Minute)})
	near("when one is overdue", -time.Minute)
	claimOne(t, maintenance(q), lease)
	near("when it is leased", lease)
}

func ownKinds(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "house", RunAt: past(time.Second)},
		jobs.Job{Kind: "paid", Ref: "money", RunAt: past(time.Second)},
		jobs.Job{Kind: "other", Ref: "other", RunAt: past(2 * time.Second)})
	wantRefs(t, "a kind of another lane", claim(t, q.Lane(jobs.LaneHouse, "paid"), 10, lease))
	wantRefs(t, "an empty lane", claim(t, q.Lane(jobs.LaneDeliver), 10, lease))
	wantRefs(t, "one kind of a lane", claim(t, q.Lane(jobs.LaneHouse, "k"), 10, lease), "house")
	wantRefs(t, "another lane", claim(t, q.Lane(jobs.LaneMoney, "paid"), 10, lease), "money")
	wantRefs(t, "all kinds of a lane", claim(t, q.Lane(jobs.LaneHouse), 10, lease), "other")
}

func manyEnds(t *testing.T, q Queue) {
	const n = 64
	var all []jobs.Job
	for i := range n {
		all = append(all, jobs.Job{Kind: "k", Ref: fmt.Sprintf("%02d", i), RunAt: past(time.Minute)})
	}
	q.Schedule(t, all...)
	claimed := claim(t, maintenance(q), n, lease)
	if len(claimed) != n {
		t.Fatalf("%d claimed, want %d", len(claimed), n)
	}
	// One of four is done, done but scheduled again, postponed, parked.
	var ends []jobs.End
	var again []string
	for i, job := range claimed {
		switch i % 4 {
		case 0:
			ends = append(ends, done(job))
		case 1:
			q.Schedule(t, jobs.Job{Kind: "k", Ref: job.Ref, RunAt: past(time.Second)})
			ends = append(ends, done(job))
			again = append(again, job.Ref)
		case 2:
			ends = append(ends, at(job, future(time.Hour)))
		case 3:
			ends = append(ends, at(job, time.Time{}))
		}
	}
	if !end(t, maintenance(q), ends...) {
		t.Error("End reports that nothing runs again")
	}
	wantRefs(t, "what is left", claim(t, maintenance(q), n, lease), again...)
	if end(t, maintenance(q), ends...) {
		t.Error("the same ends were accepted twice")
	}
}

func concurrentClaims(t *testing.T, q Queue) {
	const n, claimers = 200, 4
	var all []jobs.Job
	for i := range n {
		all = append(all, jobs.Job{Kind: "k", Ref: fmt.Sprintf("%03d", i), RunAt: past(time.Minute)})
	}
	q.Schedule(t, all...)
	var mu sync.Mutex
	var refs []string
	var claiming sync.WaitGroup
	for range claimers {
		claiming.Go(func() {
			for {
				claimed, err := maintenance(q).Claim(t.Context(), 16, lease)
				if err != nil {
					t.Error(err)
				}
				if len(claimed) == 0 {
					return
				}
				mu.Lock()
				for _, job := range claimed {
					refs = append(refs, job.Ref)
				}
				mu.Unlock()
			}
		})
	}
	claiming.Wait()
	for len(refs) < n { // a claimer may have ended while another held the last rows
		claimed := claim(t, maintenance(q), 16, lease)
		if len(claimed) == 0 {
			break
		}
		for _, job := range claimed {
			refs = append(refs, job.Ref)
		}
	}
	slices.Sort(refs)
	if len(refs) != n || len(slices.Compact(refs)) != n {
		t.Errorf("%d claims, want each of %d jobs claimed once", len(refs), n)
	}
}

func zeroTime(t *testing.T, q Queue) {
	q.Schedule(t, jobs.Job{Kind: "k", Ref: "a"})
	claimOne(t, maintenance(q), lease)
}
