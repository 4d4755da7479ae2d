// Package jobs runs work that must happen although the process may die.
//
// A job is a row: a kind, the id of the thing it is about, and a time. It is
// written in the same transaction as the change that makes it necessary, so
// it exists exactly when the change does.
//
//	domain change + Schedule ── one transaction ──> row (kind, ref, lane, ready_at)
//	                                                  |
//	lane of the Worker: Claim (lease, token+1) <──────+
//	   | handler returns nil      -> row deleted, if the lease still holds and the
//	   |                             job was not scheduled again meanwhile
//	   | handler returns Later(t) -> ready at t
//	   | handler returns an error -> ready after a backoff; after MaxTries
//	   |                             parked, stored for the operator to see
//	   + process dies             -> lease expires, another worker claims
//
// There is at most one row per kind and ref: scheduling again pulls the time
// forward, and work that is under way then runs again afterwards. A worker
// that lost its lease cannot end the row, because the token has moved on.
//
// Each kind belongs to a lane with a budget of its own, so that work that waits
// for strangers never delays money. Work that a million rows need from time to
// time has no job rows: a Source claims it from a column of its own table.
// Leases and due times follow the clock of the database.
package jobs

import (
	"context"
	"math/rand/v2"
	"time"
)

// Job is one piece of work to be done.
type Job struct {
	Kind  string
	Ref   string    // what it is about, for example a session id
	RunAt time.Time // when it is due; the zero time schedules it at once

	// The rest is set by Claim.
	Tries      int       // attempts that ended in an error so far
	Token      int64     // fences a worker whose lease has expired
	Sequence   int64     // grows when the job is scheduled again
	LeaseUntil time.Time // in the time of the database
}

// End is how a claimed job ended.
type End struct {
	Job // RunAt and Tries say when it runs again, unless it is done; a zero RunAt parks it
	// Done removes the job, or frees it to run again if it was scheduled again
	// since it was claimed.
	Done   bool
	Reason string // for the operator; never a secret
}

// Source is where a lane finds work: the rows of a lane, or a column of another
// table that says when a row is due. It is safe for concurrent use, also by
// several processes.
type Source interface {
	// Claim leases up to limit jobs that are due and returns them, the one that
	// has waited longest first.
	Claim(ctx context.Context, limit int, lease time.Duration) ([]Job, error)
	// Next returns how long it is until the earliest job is due, zero or less if
	// one is due now; found is false if there is none.
	Next(ctx context.Context) (wait time.Duration, found bool, err error)
	// End records how claimed jobs ended, and reports whether any of them may
	// run again at once because it was scheduled again meanwhile. What has lost
	// its lease is not changed.
	End(ctx context.Context, ended []End) (again bool, err error)
}

// Queue holds the rows of all lanes.
type Queue interface {
	// Lane returns the jobs of a lane that are of one of the kinds, or of any
	// kind if none is named. Other kinds are left to processes that know them.
	Lane(lane Lane, kinds ...string) Source
}

// Handler does jobs of one kind. It must be safe to run again after it did its
// work.
type Handler struct {
	Run func(ctx context.Context, job Job) error
	// Backoff is the wait before each further try; the last entry repeats.
	// Empty: 1 s, 5 s, 30 s, 5 min, 30 min, 2 h.
	Backoff []time.Duration
	// MaxTries parks the job after so many errors. Zero: never.
	MaxTries int
	// Interruptible says that the work may be cut off anywhere and done again
	// from the start: its context ends 25 s after the worker was stopped, and the
	// job is free for another process at once. Other handlers keep their 40 s.
	Interruptible bool
}

type later struct{ at time.Time }

func (l later) Error() string { return "again at " + l.at.Format(time.RFC3339) }

// Later is what a handler returns to run again at a time without counting a
// failed try.
func Later(at time.Time) error { return later{at} }

// wait returns the pause before the next try of a job that failed tries times. It
// is spread by a fifth either way, so that jobs that failed together are not
// tried again together.
func (h Handler) wait(tries int) time.Duration {
	schedule := h.Backoff
	if len(schedule) == 0 {
		schedule = []time.Duration{
			time.Second, 5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
		}
	}
	pause := schedule[min(tries, len(schedule))-1]
	return pause*4/5 + time.Duration(rand.Int64N(int64(pause)*2/5+1))
}
