// Package jobs runs work that must happen although the process may die.
//
// A job is a row: a kind, the id of the thing it is about, and a time. It is
// written in the same transaction as the change that makes it necessary, so
// it exists exactly when the change does.
//
//	domain change + Schedule ── one transaction ──> row (kind, ref, run_at)
//	                                                  |
//	Worker: Claim (lease, token+1) <──────────────────+
//	   | handler returns nil      -> row deleted, if still ours and not
//	   |                             scheduled anew meanwhile
//	   | handler returns Later(t) -> run_at = t
//	   | handler returns an error -> run_at = now + backoff; after MaxTries
//	   |                             parked, kept for the operator to see
//	   + process dies             -> lease runs out, another worker claims
//
// There is at most one row per kind and ref: scheduling again pulls the time
// forward, and work that is going on then runs once more afterwards. A worker
// that lost its lease cannot finish the row, because the token has moved on.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Job is one piece of work to be done.
type Job struct {
	Kind  string
	Ref   string // what it is about, for example a session id
	RunAt time.Time

	// The rest is set by Claim.
	Tries    int   // attempts that ended in an error so far
	Token    int64 // fences a worker whose lease has run out
	Sequence int64 // grows when the job is scheduled again
}

// Queue keeps jobs. Claim, Finish and Postpone are each atomic and safe
// between replicas.
type Queue interface {
	// Claim leases up to limit jobs that are due and answers them.
	Claim(ctx context.Context, limit int, lease time.Duration) ([]Job, error)
	// Finish removes a claimed job, or frees it to run again if it was
	// scheduled anew since. It does nothing if the lease was lost.
	Finish(ctx context.Context, job Job) error
	// Postpone frees a claimed job to run at job.RunAt with job.Tries. A zero
	// RunAt parks it. reason is for the operator. It does nothing if the lease
	// was lost.
	Postpone(ctx context.Context, job Job, reason string) error
	// NextDue answers when the earliest job is due, or the zero time.
	NextDue(ctx context.Context) (time.Time, error)
}

// Handler does one job. It must be safe to run again after it did its work.
type Handler struct {
	Run func(ctx context.Context, job Job) error
	// Backoff is the wait before each further try; the last entry repeats.
	// Empty: 1 s, 5 s, 30 s, 5 min, 30 min, 2 h.
	Backoff []time.Duration
	// MaxTries parks the job after so many errors. Zero: never.
	MaxTries int
}

var defaultBackoff = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}

type later struct{ at time.Time }

func (l later) Error() string { return "again at " + l.at.Format(time.RFC3339) }

// Later is what a handler returns to run again at a time without counting a
// failed try.
func Later(at time.Time) error { return later{at} }

const (
	lease = 45 * time.Second
	// deadline ends a handler before its lease does.
	deadline = 40 * time.Second
	// idle is the longest time between two looks at the queue; a Wake or a job
	// that falls due shortens it.
	idle = 2 * time.Second
)

// Worker claims jobs and runs their handlers.
type Worker struct {
	queue    Queue
	handlers map[string]Handler
	log      *slog.Logger
	opts     Options
	wake     chan struct{}
}

// Options tunes a Worker; the zero value is right for a server.
type Options struct {
	// Parallel bounds the handlers that run at the same time. Zero: 8.
	Parallel int
}

// NewWorker answers a worker for the kinds that handlers names. Every kind in
// the queue must have a handler: a job without one is parked and logged.
func NewWorker(queue Queue, handlers map[string]Handler, log *slog.Logger, opts *Options) *Worker {
	w := &Worker{queue: queue, handlers: handlers, log: log, wake: make(chan struct{}, 1)}
	if opts != nil {
		w.opts = *opts
	}
	if w.opts.Parallel == 0 {
		w.opts.Parallel = 8
	}
	return w
}

// Wake makes the worker look at the queue now. It never blocks.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run works until ctx ends, then waits for the handlers that are running:
// they are not cut off, and their deadline bounds the wait.
func (w *Worker) Run(ctx context.Context) {
	running := make(chan struct{}, w.opts.Parallel)
	defer func() {
		for range cap(running) {
			running <- struct{}{}
		}
	}()
	for {
		claimed := w.claim(ctx, cap(running)-len(running))
		for _, job := range claimed {
			running <- struct{}{}
			go func() {
				defer func() { <-running; w.Wake() }()
				w.do(context.WithoutCancel(ctx), job)
			}()
		}
		if len(claimed) > 0 && len(running) < cap(running) {
			continue // there may be more
		}
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-time.After(w.pause(ctx)):
		}
	}
}

func (w *Worker) claim(ctx context.Context, free int) []Job {
	if free == 0 || ctx.Err() != nil {
		return nil
	}
	claimed, err := w.queue.Claim(ctx, free, lease)
	if err != nil && ctx.Err() == nil {
		w.log.ErrorContext(ctx, "claiming jobs", "error", err)
	}
	return claimed
}

func (w *Worker) pause(ctx context.Context) time.Duration {
	due, err := w.queue.NextDue(ctx)
	if err != nil || due.IsZero() {
		return idle
	}
	return max(10*time.Millisecond, min(idle, time.Until(due)))
}

// do runs one job and records how it ended.
func (w *Worker) do(ctx context.Context, job Job) {
	handler, known := w.handlers[job.Kind]
	err := fmt.Errorf("no handler for jobs of kind %q", job.Kind)
	if known {
		err = w.run(ctx, handler, job)
	}
	again := later{}
	switch {
	case err == nil:
		err = w.queue.Finish(ctx, job)
	case errors.As(err, &again):
		job.RunAt = again.at
		err = w.queue.Postpone(ctx, job, "")
	default:
		err = w.fail(ctx, handler, known, job, err)
	}
	if err != nil {
		// The lease runs out and the job is done again, which handlers bear.
		w.log.ErrorContext(ctx, "recording the end of a job", "kind", job.Kind, "ref", job.Ref, "error", err)
	}
}

func (w *Worker) run(ctx context.Context, handler Handler, job Job) (err error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return handler.Run(ctx, job)
}

func (w *Worker) fail(ctx context.Context, handler Handler, known bool, job Job, cause error) error {
	job.Tries++
	parked := !known || handler.MaxTries > 0 && job.Tries >= handler.MaxTries
	job.RunAt = time.Now().Add(backoff(handler, job.Tries))
	level := slog.LevelWarn
	if parked {
		job.RunAt = time.Time{}
		level = slog.LevelError
	}
	w.log.Log(ctx, level, "job failed", "kind", job.Kind, "ref", job.Ref, "tries", job.Tries, "parked", parked, "error", cause)
	return w.queue.Postpone(ctx, job, cause.Error())
}

// backoff spreads the waits by a fifth either way, so that what failed
// together is not tried again together.
func backoff(handler Handler, tries int) time.Duration {
	schedule := handler.Backoff
	if len(schedule) == 0 {
		schedule = defaultBackoff
	}
	wait := schedule[min(tries, len(schedule))-1]
	return wait*4/5 + time.Duration(rand.Int64N(int64(wait)*2/5+1))
}
