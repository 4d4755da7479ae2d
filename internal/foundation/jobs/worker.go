package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	lease = 45 * time.Second
	// deadline ends a handler before its lease does.
	deadline = 40 * time.Second
	// patience is how long a stopped worker waits for handlers that may be
	// interrupted.
	patience = 25 * time.Second
	// maxClaim is how many jobs are claimed at once, at most.
	maxClaim = 128
	// maxEnds is how many ends are written at once, at most.
	maxEnds = 256
	// contention is the pause after a claim that found nothing although a job was
	// due: another process is claiming it.
	contention = 10 * time.Millisecond
)

// Worker claims the jobs of all lanes and runs their handlers.
type Worker struct {
	handlers map[string]Handler
	log      *slog.Logger
	observer Observer // nil: none
	feeds    []*feed

	stop     chan struct{} // closed: nothing more is claimed
	stopOnce sync.Once
}

// Options tunes a Worker; the zero value is right for a server.
type Options struct {
	// Budgets replaces how many handlers of a lane run at the same time.
	Budgets map[Lane]int
	// Sources hold the work of kinds that have no job rows, by kind.
	Sources map[string]Source
	// Observer, if set, is notified of every job that runs.
	Observer Observer
}

// Observer counts jobs. Its methods are called by many goroutines at the same
// time and must not block.
type Observer interface {
	// JobStarted is called before a handler runs.
	JobStarted(lane Lane)
	// JobEnded is called once for each JobStarted.
	JobEnded(lane Lane, kind string, o Outcome, elapsed time.Duration)
}

// Outcome is how a handler ended.
type Outcome string

// The outcomes.
const (
	OutcomeDone    Outcome = "done"
	OutcomeLater   Outcome = "later"   // runs again, as it wanted
	OutcomeStopped Outcome = "stopped" // cut off by the end of the process
	OutcomeFailed  Outcome = "failed"  // tried again after a pause
	OutcomeParked  Outcome = "parked"  // failed for the last time
)

// NewWorker returns a worker for the kinds that handlers names. It claims no
// job of another kind: those are left to processes that know them.
func NewWorker(queue Queue, lanes *Lanes, handlers map[string]Handler, log *slog.Logger, opts *Options) *Worker {
	if opts == nil {
		opts = &Options{}
	}
	if lanes == nil {
		lanes = NewLanes(nil)
	}
	w := &Worker{handlers: handlers, log: log, observer: opts.Observer, stop: make(chan struct{})}
	for _, lane := range AllLanes() {
		budget := lane.budget()
		if n := opts.Budgets[lane]; n > 0 {
			budget = n
		}
		slots := make(chan struct{}, budget)
		add := func(source Source) {
			w.feeds = append(w.feeds, &feed{
				worker: w, lane: lane, source: source, slots: slots, wake: lanes.wake[lane].subscribe(),
				ends: make(chan End, maxEnds),
			})
		}
		var rows []string
		for _, kind := range slices.Sorted(maps.Keys(handlers)) {
			switch source := opts.Sources[kind]; {
			case lanes.Of(kind) != lane:
			case source != nil:
				add(source)
			default:
				rows = append(rows, kind)
			}
		}
		if len(rows) > 0 {
			add(queue.Lane(lane, rows...))
		}
	}
	return w
}

// Stop ends claiming, at once and for good; handlers that run go on. It does not
// wait: Run returns when they have ended. It may be called more than once, and
// before Run.
func (w *Worker) Stop() { w.stopOnce.Do(func() { close(w.stop) }) }

// Run works until ctx ends or Stop is called. Then it waits for the handlers
// that are running, at most 40 s, and returns when their ends are written. The
// end of ctx cuts no handler off, except that interruptible ones have 25 s.
func (w *Worker) Run(ctx context.Context) {
	unregister := context.AfterFunc(ctx, w.Stop)
	defer unregister()
	// What runs, and the record of how it ended, outlive ctx.
	ctx = context.WithoutCancel(ctx)
	interruptible, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	var feeding sync.WaitGroup
	for _, f := range w.feeds {
		feeding.Go(func() { f.run(ctx, interruptible) })
	}
	<-w.stop
	timer := time.AfterFunc(patience, func() { interrupt(errStopped) })
	defer timer.Stop()
	feeding.Wait()
}

var errStopped = errors.New("the worker was stopped")

// feed takes the work of one source through its lane.
type feed struct {
	worker *Worker
	lane   Lane
	source Source
	slots  chan struct{} // of the lane: shared by all its feeds
	wake   chan struct{}
	ends   chan End
}

func (f *feed) run(ctx, interruptible context.Context) {
	var running, writing sync.WaitGroup
	writing.Go(func() { f.record(ctx) })
	for f.wait(ctx) {
		for more := true; more; {
			var claimed []Job
			var err error
			if claimed, more, err = f.claim(ctx); err != nil {
				f.worker.log.ErrorContext(ctx, "claiming jobs", "lane", f.lane, "error", err)
				f.pause(f.lane.idle())
			} else if len(claimed) == 0 {
				f.pause(contention)
			}
			for _, job := range claimed {
				running.Go(func() {
					f.ends <- f.observe(ctx, interruptible, job)
					<-f.slots
				})
			}
			runtime.Gosched() // what is short ends now, and makes the next claim larger
		}
	}
	running.Wait()
	close(f.ends)
	writing.Wait()
}

// observe runs one job, tells the observer about it, and returns how it ended.
func (f *feed) observe(ctx, interruptible context.Context, job Job) End {
	observer := f.worker.observer
	if observer == nil {
		end, _ := f.worker.do(ctx, interruptible, job)
		return end
	}
	observer.JobStarted(f.lane)
	start := time.Now()
	end, outcome := f.worker.do(ctx, interruptible, job)
	observer.JobEnded(f.lane, job.Kind, outcome, time.Since(start))
	return end
}

// wait returns true when there is a job to claim, false when the worker was
// stopped.
func (f *feed) wait(ctx context.Context) bool {
	for !f.worker.stopped() {
		pause := f.lane.idle()
		next, found, err := f.source.Next(ctx)
		switch {
		case err != nil:
			f.worker.log.ErrorContext(ctx, "looking for jobs", "lane", f.lane, "error", err)
		case found && next <= 0:
			return true
		case found:
			pause = min(pause, next)
		}
		f.pause(pause)
	}
	return false
}

// pause waits for d, for a wake-up or for the end of the worker.
func (f *feed) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-f.worker.stop:
	case <-f.wake:
	case <-timer.C:
	}
}

// claim takes as many jobs as the lane has room for, and waits until it has room
// for one: a lane that is full asks for nothing. more says that there may be
// further jobs that are due.
func (f *feed) claim(ctx context.Context) (claimed []Job, more bool, err error) {
	select {
	case <-f.worker.stop:
		return nil, false, nil
	case f.slots <- struct{}{}:
	}
	free := 1
	for free < maxClaim && f.another() {
		free++
	}
	if !f.worker.stopped() {
		claimed, err = f.source.Claim(ctx, free, lease)
	}
	for range free - len(claimed) {
		<-f.slots
	}
	return claimed, len(claimed) == free, err
}

// another takes a further slot of the lane if one is free.
func (f *feed) another() bool {
	select {
	case f.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// record writes how jobs ended, as many at once as have ended while the ones
// before them were written.
func (f *feed) record(ctx context.Context) {
	for end := range f.ends {
		batch := append(make([]End, 0, maxEnds), end)
		for len(batch) < maxEnds && len(f.ends) > 0 {
			batch = append(batch, <-f.ends)
		}
		again, err := f.source.End(ctx, batch)
		if err != nil {
			// The leases expire and the jobs are done again, which handlers bear.
			f.worker.log.ErrorContext(ctx, "recording the ends of jobs", "lane", f.lane, "jobs", len(batch),
				"error", err)
		}
		soon := func(e End) bool { return !e.Done && !e.RunAt.IsZero() && time.Until(e.RunAt) < f.lane.idle() }
		if again || slices.ContainsFunc(batch, soon) {
			notify(f.wake)
		}
	}
}

func (w *Worker) stopped() bool {
	select {
	case <-w.stop:
		return true
	default:
		return false
	}
}

// do runs one job and returns how it ended.
func (w *Worker) do(ctx, interruptible context.Context, job Job) (End, Outcome) {
	handler := w.handlers[job.Kind]
	if handler.Interruptible {
		ctx = interruptible
	}
	err := run(ctx, handler, job)
	again := later{}
	switch {
	case err == nil:
		return End{Job: job, Done: true}, OutcomeDone
	case errors.As(err, &again):
		job.RunAt = again.at
		return End{Job: job}, OutcomeLater
	case errors.Is(context.Cause(ctx), errStopped):
		job.RunAt = time.Now()
		return End{Job: job, Reason: errStopped.Error()}, OutcomeStopped
	}
	job.Tries++
	parked := handler.MaxTries > 0 && job.Tries >= handler.MaxTries
	job.RunAt = time.Now().Add(handler.wait(job.Tries))
	level, outcome := slog.LevelWarn, OutcomeFailed
	if parked {
		job.RunAt = time.Time{}
		level, outcome = slog.LevelError, OutcomeParked
	}
	w.log.Log(ctx, level, "job failed", "kind", job.Kind, "ref", job.Ref, "tries", job.Tries, "parked", parked,
		"error", err)
	return End{Job: job, Reason: err.Error()}, outcome
}

func run(ctx context.Context, handler Handler, job Job) (err error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return handler.Run(ctx, job)
}
