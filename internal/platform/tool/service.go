package tool

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/tool/breaker"
	"ace/internal/platform/tool/pace"
)

// Options tunes a Service.
type Options struct {
	// Replica names this process as the owner of runs. Default: random.
	Replica string
	// Parallel bounds the background runs that this process performs
	// at the same time; PerAccount those of one account. Default 32 and 8.
	Parallel, PerAccount int
	// Log receives the errors of background runs. Default: none.
	Log *slog.Logger
	// Observer, if set, is notified of every run that ended here.
	Observer Observer
	// Step, if set, is called between two durable steps, so that tests can end the
	// process there.
	Step func(name string)
}

// Observer counts runs. It is called by many goroutines at the same time and
// must not block or keep the run.
type Observer interface{ RunEnded(r *Run) }

// Service runs tools. It is safe for concurrent use, by any number of processes
// on one store.
type Service struct {
	Ports
	options  Options
	sealer   *seal.Sealer
	schemas  schemas
	breaker  breaker.Breaker
	limiter  pace.Limiter
	recorder recorder

	mu         sync.Mutex
	active     map[string]context.CancelCauseFunc // runs of this process, by id
	async      int                                // those of them in the background
	perAccount map[string]int                     // likewise, by account
	closing    bool
	background sync.WaitGroup
}

// New returns a service that seals requests and results with sealer.
func New(p Ports, sealer *seal.Sealer, o *Options) *Service {
	s := &Service{
		Ports: p, sealer: sealer, active: map[string]context.CancelCauseFunc{}, perAccount: map[string]int{},
	}
	if o != nil {
		s.options = *o
	}
	if s.options.Replica == "" {
		s.options.Replica = rand.Text()
	}
	if s.options.Parallel == 0 {
		s.options.Parallel = 32
	}
	if s.options.PerAccount == 0 {
		s.options.PerAccount = 8
	}
	if s.options.Log == nil {
		s.options.Log = slog.New(slog.DiscardHandler)
	}
	if s.options.Step == nil {
		s.options.Step = func(string) {}
	}
	return s
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Run runs a tool. If the app refuses, it returns a Result that is not OK. Its
// errors are the platform's:
//
//	tool_not_found, app_not_found, connection_not_found (NotFound), tool_removed (Gone)
//	key_restricted, insufficient_scope (Forbidden)
//	invalid_arguments, idempotency_key_reused (Unprocessable), invalid_request (Invalid)
//	not_connected, reconnect_required, connection_ambiguous, connection_disabled,
//	  idempotency_in_progress, run_in_progress (Conflict)
//	target_not_allowed (Forbidden): the call would leave the app's hosts
//	run_timeout (Timeout), with run_id and safe_to_retry
//
// A run that waits for approval, or runs in the background, is returned with its
// Status. A caller that disconnects does not end a run that has started.
func (s *Service) Run(ctx context.Context, c *Caller, in Request) (*Result, error) {
	if in.DryRun {
		in.IdempotencyKey = ""
	}
	key, fingerprint := s.digests(c, &in)
	if key != "" {
		r, err := s.Runs.RunByKey(ctx, c.AccountID, key)
		if err != nil {
			return nil, err
		}
		if r != nil {
			return s.replay(ctx, c, r, fingerprint)
		}
	}
	p, err := s.prepare(ctx, c, in)
	if err != nil {
		return nil, err
	}
	p.run.Key, p.run.Fingerprint = key, fingerprint
	switch {
	case in.DryRun:
		out := &Result{Run: p.run, NeedsApproval: p.needsApproval()}
		if p.tool.Call != "" {
			out.Preview, err = s.Executor.Preview(p.call(p.withoutCredentials()))
		}
		return out, err
	case p.needsApproval():
		return s.requestApproval(ctx, p)
	case in.Async || p.run.Timeout > DefaultTimeout:
		return s.enqueue(ctx, p)
	}
	return s.runNow(ctx, p)
}

// runNow runs a tool while its caller waits.
func (s *Service) runNow(ctx context.Context, p *plan) (*Result, error) {
	r := p.run
	r.Status, r.Sent, r.StartedAt = Running, true, r.CreatedAt
	r.Owner, r.LeaseUntil = s.options.Replica, r.CreatedAt.Add(r.Timeout+leaseMargin)
	// A run that is safe to repeat and has no key needs no row before it is sent.
	stored := !r.Safe || r.Key != ""
	if stored {
		earlier, inserted, err := s.Runs.InsertRun(ctx, r, false)
		if err != nil {
			return nil, err
		}
		if !inserted {
			return s.replay(ctx, p.caller, earlier, r.Fingerprint)
		}
	}
	s.options.Step("run: recorded")
	work, end := s.track(context.WithoutCancel(ctx), r)
	defer end()
	outcome := s.perform(work, p)
	s.options.Step("run: answered")
	content, err := s.finish(context.WithoutCancel(ctx), r, p.request.Output, outcome, r.Key != "")
	switch {
	case err != nil:
		return nil, err
	case outcome.err != nil:
		return nil, outcome.err
	case r.Code == CodeRunTimeout:
		return nil, runTimeout(r)
	}
	return s.result(ctx, p.caller, r, content, p.request.Output.MaxBytes)
}

// runTimeout returns the problem of a run that did not end in its time.
func runTimeout(r *Run) error {
	p := problem.New(problem.Timeout, CodeRunTimeout,
		"The app did not respond within the time of this run. It may have done what was requested; check before you "+
			"run it again.").
		With("run_id", r.ID).With("safe_to_retry", r.Safe)
	if r.Safe {
		return p.Advise("retry_later")
	}
	return p.Advise("none")
}

func runNotFound() error {
	return problem.New(problem.NotFound, "run_not_found",
		"This account has no run with this id; runs are kept for 30 days.")
}

// track registers a run as active in this process until end is called. The
// context ends when the run is canceled, or its time has passed.
func (s *Service) track(ctx context.Context, r *Run) (work context.Context, end func()) {
	work, cancel := context.WithCancelCause(ctx)
	work, stop := context.WithTimeout(work, r.Timeout)
	s.mu.Lock()
	s.active[r.ID] = cancel
	s.mu.Unlock()
	return work, func() {
		stop()
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.active, r.ID)
	}
}
