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
	JobSweep = "tool_sweep" // deletes what has expired
)

const (
	holdFor    = 30 * time.Second
	holdEvery  = 8 * time.Second
	busyPause  = time.Second
	sweepEvery = time.Minute
	// drainFor is how long background runs may continue when the process
	// stops.
	drainFor = 20 * time.Second
)

// enqueue stores a run that a job performs.
func (s *Service) enqueue(ctx context.Context, p *plan) (*Result, error) {
	r := p.run
	r.Status, r.Async = Running, true
	return s.storeRequest(ctx, p, true)
}

// requestApproval stores a run that waits for a user.
func (s *Service) requestApproval(ctx context.Context, p *plan) (*Result, error) {
	r := p.run
	r.Status, r.Async = AwaitingApproval, true
	r.Approval = Approval{ID: typeid.New(ApprovalPrefix), ExpiresAt: r.CreatedAt.Add(ApprovalLifetime)}
	return s.storeRequest(ctx, p, false)
}

func (s *Service) storeRequest(ctx context.Context, p *plan, queued bool) (*Result, error) {
	arguments, err := output.Encode(p.arguments)
	if err != nil {
		return nil, err
	}
	r := p.run
	if r.Request, err = s.seal(r, "request",
		storedRequest{Arguments: arguments, ConnectionID: r.ConnectionID, Output: p.request.Output}); err != nil {
		return nil, err
	}
	earlier, inserted, err := s.Runs.InsertRun(ctx, r, queued)
	if err != nil {
		return nil, err
	}
	if !inserted {
		return s.replay(ctx, p.caller, earlier, r.Fingerprint)
	}
	return &Result{Run: r}, nil
}

// Jobs returns the handlers of this service's jobs.
func (s *Service) Jobs() map[string]jobs.Handler {
	return map[string]jobs.Handler{
		JobRun: {Run: s.work},
		JobSweep: {Run: func(ctx context.Context, _ jobs.Job) error {
			more, err := s.Queue.SweepRuns(ctx, now())
			switch {
			case err != nil:
				return err
			case more:
				return jobs.Later(time.Now())
			}
			return jobs.Later(time.Now().Add(sweepEvery))
		}},
	}
}

// work takes a run and performs it in the background: a run may take longer than
// a job. The job runs again when the hold of the run expires, until the run has
// ended.
func (s *Service) work(ctx context.Context, job jobs.Job) error {
	r, err := s.Queue.RunByID(ctx, job.Ref)
	switch {
	case err != nil:
		return err
	case r == nil || r.Status.Ended():
		return nil
	case time.Now().Before(r.LeaseUntil):
		return jobs.Later(r.LeaseUntil.Add(time.Second))
	case !s.reserve(r.AccountID):
		return jobs.Later(time.Now().Add(busyPause))
	}
	account, until := r.AccountID, now().Add(holdFor)
	r, taken, err := s.Runs.TakeRun(ctx, job.Ref, s.options.Replica, now(), until)
	if err != nil || !taken {
		s.release(account)
	}
	switch {
	case err != nil:
		return err
	case r == nil || r.Status.Ended():
		return nil
	case !taken:
		return jobs.Later(r.LeaseUntil.Add(time.Second))
	}
	s.background.Go(func() {
		defer s.release(account)
		s.performHeld(context.WithoutCancel(ctx), r)
	})
	return jobs.Later(until.Add(time.Second))
}

// reserve counts one more run of an account, if this process may perform it.
func (s *Service) reserve(accountID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.async >= s.options.Parallel || s.perAccount[accountID] >= s.options.PerAccount {
		return false
	}
	s.async++
	s.perAccount[accountID]++
	return true
}

func (s *Service) release(accountID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.async--
	if s.perAccount[accountID]--; s.perAccount[accountID] == 0 {
		delete(s.perAccount, accountID)
	}
}

// performHeld performs and ends a run that this process holds.
func (s *Service) performHeld(ctx context.Context, r *Run) {
	work, end := s.track(ctx, r)
	defer end()
	work, lost := s.hold(work, r)
	shape, o := s.performStored(work, r)
	if _, expected := problem.From(o.err); o.err != nil && !expected && !errors.Is(o.err, errLost) {
		o = ended(work, r, r.App, o) // the error may follow from the end of the context
	}
	if lost() || errors.Is(o.err, errLost) {
		return // another process performs it
	}
	if errors.Is(o.err, errStopping) {
		if r.Safe || !r.Sent {
			s.report(ctx, r, s.Queue.ReleaseRun(ctx, r.ID, r.Owner))
			return
		}
		o = interrupted()
	}
	if o.err != nil {
		if _, expected := problem.From(o.err); !expected {
			s.report(ctx, r, o.err)
		}
	}
	_, err := s.finish(ctx, r, shape, o, true)
	s.report(ctx, r, err)
}

func (s *Service) report(ctx context.Context, r *Run, err error) {
	if err != nil {
		s.options.Log.ErrorContext(ctx, "background run failed", slog.String("run_id", r.ID),
			slog.String("tool", r.Tool), slog.Any("error", err))
	}
}

// performStored makes the call of a stored run. A run that may have been sent
// already and is not safe to repeat is not sent.
func (s *Service) performStored(ctx context.Context, r *Run) (shape Shape, o outcome) {
	defer func() {
		if recovered := recover(); recovered != nil { // other runs of this process continue
			o = outcome{err: fmt.Errorf("panic: %v", recovered)}
		}
	}()
	in, err := s.unsealRequest(r)
	if err != nil {
		return Shape{}, outcome{err: err}
	}
	if r.Sent && !r.Safe {
		return in.Output, interrupted()
	}
	if r.Cancelling {
		return in.Output, outcome{failure: canceled(r.Sent)}
	}
	p, err := s.prepareStored(ctx, r, in)
	if err != nil {
		return in.Output, outcome{err: err}
	}
	held, cancel, err := s.Queue.HoldRun(ctx, r.ID, r.Owner, now().Add(holdFor), true)
	switch {
	case err != nil:
		return in.Output, outcome{err: err}
	case !held:
		return in.Output, outcome{err: errLost}
	case cancel:
		return in.Output, outcome{failure: canceled(false)}
	}
	r.Sent = true
	s.options.Step("run: sent is noted")
	o = s.perform(ctx, p)
	s.options.Step("run: answered")
	return in.Output, o
}

// prepareStored prepares a stored run: what was allowed when it was requested may
// not be allowed now.
func (s *Service) prepareStored(ctx context.Context, r *Run, in *storedRequest) (*plan, error) {
	c := &Caller{AccountID: r.AccountID, Actor: r.By}
	if r.KeyID != "" {
		key, err := s.Keys.Get(ctx, r.AccountID, r.KeyID)
		if err != nil {
			return nil, err
		}
		if !key.Live(time.Now()) {
			return nil, problem.New(problem.Forbidden, "key_revoked",
				"The API key that requested this run has expired or was revoked. It was not sent.")
		}
		if err := key.Require(apikey.Run); err != nil {
			return nil, err
		}
		c.Key = key
	}
	p, err := s.prepare(ctx, c, Request{
		Tool: r.Tool, Arguments: in.Arguments, ConnectionID: in.ConnectionID, EndUser: r.EndUser, Timeout: r.Timeout,
		Async: true, Output: in.Output,
	})
	if err != nil {
		return nil, err
	}
	p.run = r
	return p, nil
}

// hold extends the hold of a run until lost is called. The context ends when the
// hold is lost, which lost reports, or the caller cancels.
func (s *Service) hold(ctx context.Context, r *Run) (work context.Context, lost func() bool) {
	work, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	result := make(chan bool, 1) // whether the hold was lost
	go func() {
		tick := time.NewTicker(holdEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				result <- false
				return
			case <-ctx.Done(): // only the end is left to be written
				result <- false
				return
			case <-tick.C:
			}
			held, wantsEnd, err := s.Queue.HoldRun(context.WithoutCancel(ctx), r.ID, r.Owner, now().Add(holdFor), false)
			switch {
			case err != nil:
				continue // the hold lasts longer than a few intervals
			case !held:
				cancel(errStopping)
				result <- true
				return
			case wantsEnd:
				cancel(errCanceled)
			}
		}
	}()
	return work, func() bool {
		close(done)
		cancel(nil)
		return <-result
	}
}

// Close waits for the background runs of this process, for a limited time; then
// those that may be sent again are left to another process. The worker must have
// ended before.
func (s *Service) Close() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	timer := time.AfterFunc(drainFor, s.stop)
	defer timer.Stop()
	s.background.Wait()
}

func (s *Service) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.active {
		cancel(errStopping)
	}
}

// Cancel ends a run if that is still possible. It returns run_not_found
// (NotFound). The app may complete what it has started.
func (s *Service) Cancel(ctx context.Context, c *Caller, id string) (*Result, error) {
	if _, err := s.visible(ctx, c, id); err != nil {
		return nil, err
	}
	r, err := s.Queue.CancelRun(ctx, c.AccountID, id, now())
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if cancel := s.active[id]; cancel != nil {
		cancel(errCanceled)
	}
	s.mu.Unlock()
	content, err := s.unseal(r)
	if err != nil {
		return nil, err
	}
	return s.result(ctx, c, r, content, 0)
}

// Decide approves or denies a run that waits. It returns approval_not_found
// (NotFound), and approval_over (Conflict) if it does not wait any more.
func (s *Service) Decide(ctx context.Context, by audit.Actor, accountID, approvalID string, approve bool,
	reason string,
) (*Run, error) {
	r, err := s.History.RunByApproval(ctx, accountID, approvalID)
	if err != nil {
		return nil, err
	}
	ended := problem.New(problem.Conflict, "approval_over",
		"This run no longer waits for approval.").With("run_id", r.ID).With("status", string(r.Status))
	if r.Status != AwaitingApproval || !now().Before(r.Approval.ExpiresAt) {
		return nil, ended
	}
	r.Approval.DecidedBy, r.Approval.DecidedAt, r.Approval.Reason = by, now(), reason
	r.Status = Running
	action := "run.approved"
	if !approve {
		r.Status, r.Code, r.EndedAt, r.Request, action = Denied, CodeApprovalDenied, now(), "", "run.denied"
	}
	entry := audit.New(accountID, by, action, r.ID, map[string]string{"tool": r.Tool, "approval": approvalID})
	decided, err := s.History.DecideRun(ctx, r, entry)
	if err != nil {
		return nil, err
	}
	if !decided {
		return nil, ended
	}
	return r, nil
}

// Awaiting is a run that a user decides on, with its arguments.
type Awaiting struct {
	Run       *Run
	App       *app.App  // nil: it was removed
	Tool      *app.Tool // likewise
	Arguments json.RawMessage
	Failure   *Failure // of a run that was approved and failed; its Detail may have expired
}

// Approval returns a run that waits, or waited, for approval; its arguments while
// it waits. It returns approval_not_found (NotFound).
func (s *Service) Approval(ctx context.Context, accountID, approvalID string) (*Awaiting, error) {
	r, err := s.History.RunByApproval(ctx, accountID, approvalID)
	if err != nil {
		return nil, err
	}
	return s.awaiting(ctx, r)
}

func (s *Service) awaiting(ctx context.Context, r *Run) (*Awaiting, error) {
	w := &Awaiting{Run: r}
	var err error
	w.App, w.Tool, err = s.Tools.Apps.Tool(ctx, r.AccountID, r.Tool)
	if _, expected := problem.From(err); err != nil && !expected {
		return nil, err
	}
	if r.Request != "" {
		in, err := s.unsealRequest(r)
		if err != nil {
			return nil, err
		}
		w.Arguments = in.Arguments
	}
	if r.Code == "" {
		return w, nil
	}
	k, err := s.unseal(r)
	if err != nil {
		return nil, err
	}
	if w.Failure = k.Failure; w.Failure == nil { // it was kept for a day
		w.Failure = &Failure{Code: r.Code, AppStatus: r.AppStatus, NextAction: "none"}
	}
	return w, nil
}

// Approvals returns the runs that wait for approval, oldest first, at most a
// hundred.
func (s *Service) Approvals(ctx context.Context, accountID string) ([]*Awaiting, error) {
	runs, err := s.History.Runs(ctx, accountID, Query{Status: string(AwaitingApproval), Limit: 100})
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
