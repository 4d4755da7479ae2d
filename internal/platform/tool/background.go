package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/tool/output"
)

// Kinds of jobs.
const (
	JobRun   = "tool_run"   // its ref is the id of a run
	JobSweep = "tool_sweep" // keeps house; a row like all others, so that one replica does it
)

const (
	holdFor    = 30 * time.Second
	holdEvery  = 8 * time.Second
	busyPause  = time.Second
	sweepEvery = time.Minute
	// drainFor is how long runs that nobody waits for may go on at the end of the
	// process.
	drainFor = 20 * time.Second
)

// queue keeps a run that nobody waits for.
func (s *Service) queue(ctx context.Context, p *plan) (*Result, error) {
	r := p.run
	r.Status, r.Async = Running, true
	return s.keepRequest(ctx, p, true)
}

// askApproval keeps a run that waits for a person.
func (s *Service) askApproval(ctx context.Context, p *plan) (*Result, error) {
	r := p.run
	r.Status, r.Async = AwaitingApproval, true
	r.Approval = Approval{ID: typeid.New(ApprovalPrefix), ExpiresAt: r.CreatedAt.Add(ApprovalLifetime)}
	return s.keepRequest(ctx, p, false)
}

func (s *Service) keepRequest(ctx context.Context, p *plan, queued bool) (*Result, error) {
	arguments, err := output.Encode(p.arguments)
	if err != nil {
		return nil, err
	}
	r := p.run
	if r.Request, err = s.seal(r, "request", asked{Arguments: arguments, ConnectionID: r.ConnectionID, Output: p.request.Output}); err != nil {
		return nil, err
	}
	kept, inserted, err := s.Store.InsertRun(ctx, r, queued)
	if err != nil {
		return nil, err
	}
	if !inserted {
		return s.resume(ctx, p.caller, kept)
	}
	return &Result{Run: r}, nil
}

// Jobs are what the worker has to call.
func (s *Service) Jobs() map[string]jobs.Handler {
	return map[string]jobs.Handler{
		JobRun: {Run: s.work},
		JobSweep: {Run: func(ctx context.Context, _ jobs.Job) error {
			if err := s.Store.SweepRuns(ctx, now()); err != nil {
				return err
			}
			return jobs.Later(time.Now().Add(sweepEvery))
		}},
	}
}

// work takes a run and goes on with it in the background: runs take longer than
// a job may. The job comes back when the hold of whoever works on the run is
// over, and ends when the run has.
func (s *Service) work(ctx context.Context, job jobs.Job) error {
	r, err := s.Store.RunByID(ctx, job.Ref)
	switch {
	case err != nil:
		return err
	case r == nil || r.Status.Over():
		return nil
	case time.Now().Before(r.LeaseUntil):
		return jobs.Later(r.LeaseUntil.Add(time.Second))
	case !s.reserve(r.AccountID):
		return jobs.Later(time.Now().Add(busyPause))
	}
	account, until := r.AccountID, now().Add(holdFor)
	r, taken, err := s.Store.TakeRun(ctx, job.Ref, s.options.Replica, now(), until)
	if err != nil || !taken {
		s.release(account)
	}
	switch {
	case err != nil:
		return err
	case r == nil || r.Status.Over():
		return nil
	case !taken:
		return jobs.Later(r.LeaseUntil.Add(time.Second))
	}
	s.working.Go(func() {
		defer s.release(account)
		s.goOn(context.WithoutCancel(ctx), r)
	})
	return jobs.Later(until.Add(time.Second))
}

// reserve takes a place of this process for one more run of an account, if there
// is one.
func (s *Service) reserve(accountID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.jobs >= s.options.Parallel || s.perAcc[accountID] >= s.options.PerAccount {
		return false
	}
	s.jobs++
	s.perAcc[accountID]++
	return true
}

func (s *Service) release(accountID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs--
	if s.perAcc[accountID]--; s.perAcc[accountID] == 0 {
		delete(s.perAcc, accountID)
	}
}

// goOn does a run that this process holds.
func (s *Service) goOn(ctx context.Context, r *Run) {
	work, end := s.begin(ctx, r)
	defer end()
	work, lost := s.hold(work, r)
	shape, o := s.carryOut(work, r)
	if _, expected := problem.From(o.refused); o.refused != nil && !expected && !errors.Is(o.refused, errLost) {
		o = ended(work, r, r.App, o) // whatever broke off because the run was ended from outside
	}
	if lost() || errors.Is(o.refused, errLost) {
		return // somebody else has it
	}
	if errors.Is(o.refused, errStopping) {
		if r.Safe || !r.Sent {
			s.report(ctx, r, s.Store.LetGoRun(ctx, r.ID, r.Owner))
			return
		}
		o = interrupted()
	}
	if o.refused != nil {
		if _, expected := problem.From(o.refused); !expected {
			s.report(ctx, r, o.refused)
		}
	}
	_, err := s.finish(ctx, r, shape, o, true)
	s.report(ctx, r, err)
}

func (s *Service) report(ctx context.Context, r *Run, err error) {
	if err != nil {
		s.options.Log.ErrorContext(ctx, "a run that nobody waits for met a fault", slog.String("run_id", r.ID), slog.String("tool", r.Tool), slog.Any("error", err))
	}
}

// carryOut makes the call of a run that was asked for earlier. One that may have
// been sent already, and is not safe to repeat, is not sent.
func (s *Service) carryOut(ctx context.Context, r *Run) (shape Shape, o outcome) {
	defer func() {
		if fault := recover(); fault != nil { // it must not end every other run
			o = outcome{refused: fmt.Errorf("panic: %v", fault)}
		}
	}()
	in, err := s.asked(r)
	if err != nil {
		return Shape{}, outcome{refused: err}
	}
	if r.Sent && !r.Safe {
		return in.Output, interrupted()
	}
	if r.Cancelling {
		return in.Output, outcome{failure: cancelled(r.Sent)}
	}
	p, err := s.planAgain(ctx, r, in)
	if err != nil {
		return in.Output, outcome{refused: err}
	}
	held, cancel, err := s.Store.HoldRun(ctx, r.ID, r.Owner, now().Add(holdFor), true)
	switch {
	case err != nil:
		return in.Output, outcome{refused: err}
	case !held:
		return in.Output, outcome{refused: errLost}
	case cancel:
		return in.Output, outcome{failure: cancelled(false)}
	}
	r.Sent = true
	s.options.Step("run: sent is noted")
	o = s.perform(ctx, p)
	s.options.Step("run: answered")
	return in.Output, o
}

// planAgain prepares a run once more: what was allowed when it was asked for may
// no longer be.
func (s *Service) planAgain(ctx context.Context, r *Run, in *asked) (*plan, error) {
	c := &Caller{AccountID: r.AccountID, Actor: r.By}
	if r.KeyID != "" {
		key, err := s.Keys.Get(ctx, r.AccountID, r.KeyID)
		if err != nil {
			return nil, err
		}
		if !key.Live(time.Now()) {
			return nil, problem.New(problem.Forbidden, "key_revoked", "The key that asked for this run is at its end. It was not sent.")
		}
		if err := key.Require(apikey.Run); err != nil {
			return nil, err
		}
		c.Key = key
	}
	p, err := s.prepare(ctx, c, Request{
		Tool: r.Tool, Arguments: in.Arguments, ConnectionID: in.ConnectionID, EndUser: r.EndUser, Timeout: r.Timeout, Async: true, Output: in.Output, RunID: r.ID,
	})
	if err != nil {
		return nil, err
	}
	p.run = r
	return p, nil
}

// hold keeps hold of a run while it is worked on. The context ends when the hold
// is lost or the caller cancels; lost tells the former, and ends the holding.
func (s *Service) hold(ctx context.Context, r *Run) (work context.Context, lost func() bool) {
	work, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	gone := make(chan bool, 1)
	go func() {
		tick := time.NewTicker(holdEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				gone <- false
				return
			case <-ctx.Done(): // what is left is to write the end down
				gone <- false
				return
			case <-tick.C:
			}
			held, wanted, err := s.Store.HoldRun(context.WithoutCancel(ctx), r.ID, r.Owner, now().Add(holdFor), false)
			switch {
			case err != nil:
				continue // the hold outlives a few of these
			case !held:
				cancel(errStopping)
				gone <- true
				return
			case wanted:
				cancel(errCancelled)
			}
		}
	}()
	return work, func() bool {
		close(done)
		cancel(nil)
		return <-gone
	}
}

// Close lets the runs of this process that nobody waits for come to their end
// for a while; then those that may be sent again are left to another process.
// The worker must have ended before.
func (s *Service) Close() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	timer := time.AfterFunc(drainFor, s.stop)
	defer timer.Stop()
	s.working.Wait()
}

func (s *Service) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.going {
		cancel(errStopping)
	}
}

// Cancel ends a run as far as it can be ended. It returns run_not_found
// (NotFound). What the app has begun it may complete.
func (s *Service) Cancel(ctx context.Context, c *Caller, id string) (*Result, error) {
	if _, err := s.visible(ctx, c, id); err != nil {
		return nil, err
	}
	r, err := s.Store.CancelRun(ctx, c.AccountID, id, now())
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if cancel := s.going[id]; cancel != nil {
		cancel(errCancelled)
	}
	s.mu.Unlock()
	k, err := s.open(r)
	if err != nil {
		return nil, err
	}
	return s.told(ctx, c, r, k, 0)
}

// Approve decides on a run that waits: it goes on, or is over. Its problems:
// approval_not_found (NotFound), approval_over (Conflict).
func (s *Service) Approve(ctx context.Context, by audit.Actor, accountID, approvalID string, agreed bool, reason string) (*Run, error) {
	r, err := s.Store.ApprovalOf(ctx, accountID, approvalID)
	if err != nil {
		return nil, err
	}
	over := problem.New(problem.Conflict, "approval_over", "This run does not wait for an approval any more.").With("run_id", r.ID).With("status", string(r.Status))
	if r.Status != AwaitingApproval || !now().Before(r.Approval.ExpiresAt) {
		return nil, over
	}
	r.Approval.DecidedBy, r.Approval.DecidedAt, r.Approval.Reason = by, now(), reason
	r.Status = Running
	action := "run.approved"
	if !agreed {
		r.Status, r.Code, r.EndedAt, r.Request, action = Denied, CodeApprovalDenied, now(), "", "run.denied"
	}
	entry := audit.New(accountID, by, action, r.ID, map[string]string{"tool": r.Tool, "approval": approvalID})
	decided, err := s.Store.DecideRun(ctx, r, entry)
	if err != nil {
		return nil, err
	}
	if !decided {
		return nil, over
	}
	return r, nil
}

// Awaiting is what a person decides on: a run with its arguments, which they
// must see.
type Awaiting struct {
	Run       *Run
	App       *app.App  // nil: it is gone
	Tool      *app.Tool // likewise
	Arguments json.RawMessage
}

// Approval answers a run that waits, or waited, for a person. It returns
// approval_not_found (NotFound). Arguments are kept while it waits.
func (s *Service) Approval(ctx context.Context, accountID, approvalID string) (*Awaiting, error) {
	r, err := s.Store.ApprovalOf(ctx, accountID, approvalID)
	if err != nil {
		return nil, err
	}
	return s.awaiting(ctx, r)
}

func (s *Service) awaiting(ctx context.Context, r *Run) (*Awaiting, error) {
	w := &Awaiting{Run: r}
	var err error
	w.App, w.Tool, err = s.Apps.Tool(ctx, r.AccountID, r.Tool)
	if _, expected := problem.From(err); err != nil && !expected {
		return nil, err
	}
	if r.Request != "" {
		in, err := s.asked(r)
		if err != nil {
			return nil, err
		}
		w.Arguments = in.Arguments
	}
	return w, nil
}

// Approvals answers the runs that wait for a person, the oldest first; at most a
// hundred.
func (s *Service) Approvals(ctx context.Context, accountID string) ([]*Awaiting, error) {
	runs, err := s.Store.Runs(ctx, accountID, Query{Status: string(AwaitingApproval), Limit: 100})
	if err != nil {
		return nil, err
	}
	var list []*Awaiting
	for _, r := range slices.Backward(runs) {
		w, err := s.awaiting(ctx, r)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}
