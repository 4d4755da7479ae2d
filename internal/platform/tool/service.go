package tool

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/app"
)

// Ports are what a Service calls.
type Ports struct {
	Store       Store
	Apps        Apps
	Connections Connections
	Executor    Executor
	Opener      Opener  // nil: refusals hold no sign-in links
	Keys        Keys    // asked before a run goes on that nobody waits for
	Fetcher     Fetcher // nil: files come by id or data: alone
}

// Options tunes a Service.
type Options struct {
	// BaseURL is the address of the platform host, without a slash at the end. It
	// stands in addresses of files and approvals.
	BaseURL string
	// Replica names this process in holds. Default: random.
	Replica string
	// Parallel bounds the runs that nobody waits for and that this process works
	// on at the same time; PerAccount those of one account. Default 32 and 8.
	Parallel, PerAccount int
	// FileQuota bounds the files of an account that are alive, in bytes. Default
	// 1 GiB.
	FileQuota int64
	// Log is told about runs that nobody waits for. Default: nothing is logged.
	Log *slog.Logger
	// Step, if set, is called between two durable steps; tests end the process
	// there.
	Step func(name string)
}

func (o *Options) complete() {
	if o.Replica == "" {
		o.Replica = rand.Text()
	}
	if o.Parallel == 0 {
		o.Parallel = 32
	}
	if o.PerAccount == 0 {
		o.PerAccount = 8
	}
	if o.FileQuota == 0 {
		o.FileQuota = 1 << 30
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Step == nil {
		o.Step = func(string) {}
	}
}

// Service runs tools. It is safe for concurrent use, by any number of processes
// on one store.
type Service struct {
	Ports
	options  Options
	box      *seal.Box
	schemas  schemas
	breakers breakers
	paces    paces
	recorder recorder

	mu      sync.Mutex
	going   map[string]context.CancelCauseFunc // runs of this process, by id
	jobs    int                                // those among them that nobody waits for
	perAcc  map[string]int                     // likewise, by account
	closing bool
	working sync.WaitGroup
}

// New answers a service that seals with box.
func New(p Ports, box *seal.Box, o *Options) *Service {
	s := &Service{Ports: p, box: box, going: map[string]context.CancelCauseFunc{}, perAcc: map[string]int{}}
	if o != nil {
		s.options = *o
	}
	s.options.complete()
	return s
}

// NewRunID answers an id for Request.RunID.
func NewRunID() string { return typeid.New(RunPrefix) }

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Run runs a tool. The app refusing is a Result that is not OK; its errors are
// the platform's refusals:
//
//	tool_not_found, app_not_found, connection_not_found (NotFound), tool_removed (Gone)
//	key_restricted, insufficient_scope (Forbidden)
//	invalid_arguments (Unprocessable), invalid_request (Invalid)
//	not_connected, reconnect_required, connection_ambiguous, connection_disabled,
//	  run_in_progress (Conflict)
//	target_not_allowed (Forbidden): the call would leave the app's hosts
//	run_timeout (Timeout), with run_id and safe_to_retry
//
// A run that waits for approval, or that nobody waits for, is answered with its
// Status. A caller who goes away does not end a run that was begun.
func (s *Service) Run(ctx context.Context, c *Caller, in Request) (*Result, error) {
	if in.RunID != "" && !in.DryRun {
		if done, err := s.repeated(ctx, c, &in); done != nil || err != nil {
			return done, err
		}
	}
	p, err := s.prepare(ctx, c, in)
	if err != nil {
		return nil, err
	}
	switch {
	case in.DryRun:
		return s.dryRun(ctx, p)
	case p.waits(c):
		return s.askApproval(ctx, p)
	case in.Async || p.run.Timeout > DefaultTimeout:
		return s.queue(ctx, p)
	}
	return s.runNow(ctx, p)
}

// dryRun shows the request that would be sent.
func (s *Service) dryRun(_ context.Context, p *plan) (*Result, error) {
	out := &Result{Run: p.run, NeedsApproval: p.waits(p.caller)}
	if p.tool.Call == "" { // nothing would be sent
		return out, nil
	}
	var err error
	out.Preview, err = s.Executor.Preview(p.call(p.bare()))
	return out, err
}

// runNow runs a tool while its caller waits.
func (s *Service) runNow(ctx context.Context, p *plan) (*Result, error) {
	r := p.run
	r.Status, r.Sent, r.StartedAt = Running, true, r.CreatedAt
	r.Owner, r.LeaseUntil = s.options.Replica, r.CreatedAt.Add(r.Timeout+holdMargin)
	// What may be repeated needs no trace that is there before it is sent.
	if !r.Safe || p.named {
		kept, inserted, err := s.Store.InsertRun(ctx, r, false)
		if err != nil {
			return nil, err
		}
		if !inserted {
			return s.resume(ctx, p.caller, kept)
		}
	}
	s.options.Step("run: recorded")
	work, end := s.begin(context.WithoutCancel(ctx), r)
	defer end()
	outcome := s.perform(work, p)
	s.options.Step("run: answered")
	kept, err := s.finish(context.WithoutCancel(ctx), r, p.request.Output, outcome, p.named)
	if err != nil {
		return nil, err
	}
	if outcome.refused != nil {
		return nil, outcome.refused
	}
	if r.Code == CodeRunTimeout {
		return nil, runTimeout(r)
	}
	return s.told(ctx, p.caller, r, kept, p.request.Output.MaxBytes)
}

// runTimeout is the refusal of a run whose time was over.
func runTimeout(r *Run) error {
	p := problem.New(problem.Timeout, CodeRunTimeout, "The app did not answer within the time of this run. It may have done what it was asked; read before you repeat it.").
		With("run_id", r.ID).With("safe_to_retry", r.Safe)
	if r.Safe {
		return p.Advise("retry_later")
	}
	return p.Advise("none")
}

// repeated answers a run that was begun before under the same id; nil where
// there is none, or it has to be done again.
func (s *Service) repeated(ctx context.Context, c *Caller, in *Request) (*Result, error) {
	r, err := s.Store.Run(ctx, c.AccountID, in.RunID)
	if problem.Is(err, "run_not_found") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.resume(ctx, c, r)
}

// resume answers a run that is there already. One that nobody works on any more
// is ended: whether it was carried out is not known.
func (s *Service) resume(ctx context.Context, c *Caller, r *Run) (*Result, error) {
	if r.Status == Running && !r.Async {
		if time.Now().Before(r.LeaseUntil) {
			return nil, problem.New(problem.Conflict, "run_in_progress", "The first request for this run is still being worked on. Ask again in a moment.").
				After(time.Second).With("run_id", r.ID).Advise("retry_later")
		}
		taken, mine, err := s.Store.TakeRun(ctx, r.ID, s.options.Replica, now(), now().Add(holdFor))
		if err != nil || taken == nil {
			return nil, errors.Join(err, notFoundIf(taken == nil && err == nil))
		}
		if r = taken; mine {
			if _, err := s.finish(ctx, r, Shape{}, interrupted(), true); err != nil {
				return nil, err
			}
		}
	}
	if r.Code == CodeRunTimeout && !r.Async {
		return nil, runTimeout(r)
	}
	kept, err := s.open(r)
	if err != nil {
		return nil, err
	}
	return s.told(ctx, c, r, kept, 0)
}

func notFoundIf(missing bool) error {
	if !missing {
		return nil
	}
	return runNotFound()
}

func runNotFound() error {
	return problem.New(problem.NotFound, "run_not_found", "This account has no run with this id; runs are kept for 30 days.")
}

// begin notes that this process works on a run; end takes the note away. The
// context ends when the run is cancelled, or its time is over.
func (s *Service) begin(ctx context.Context, r *Run) (work context.Context, end func()) {
	work, cancel := context.WithCancelCause(ctx)
	work, stop := context.WithTimeout(work, r.Timeout)
	s.mu.Lock()
	s.going[r.ID] = cancel
	s.mu.Unlock()
	return work, func() {
		stop()
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.going, r.ID)
	}
}

// Tool answers a tool as the caller may see it. It returns tool_not_found
// (NotFound) with did_you_mean, and key_restricted (Forbidden).
func (s *Service) Tool(ctx context.Context, c *Caller, id string) (*app.App, *app.Tool, error) {
	a, t, err := s.Apps.Tool(ctx, c.AccountID, id)
	if problem.Is(err, "tool_not_found") {
		return nil, nil, s.suggest(ctx, c, id, err)
	}
	if err != nil {
		return nil, nil, err
	}
	return a, t, restricted(c, a, t)
}
