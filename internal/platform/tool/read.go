package tool

import (
	"context"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/tool/output"
)

const maxList = 200

// Get returns a run with the first part of its output. It returns run_not_found
// (NotFound).
func (s *Service) Get(ctx context.Context, c *Caller, id string) (*Result, error) {
	r, err := s.visible(ctx, c, id)
	if err != nil {
		return nil, err
	}
	k, err := s.unseal(r)
	if err != nil {
		return nil, err
	}
	return s.result(ctx, c, r, k, 0)
}

// visible returns a run of the caller's account, if its API key may read it.
func (s *Service) visible(ctx context.Context, c *Caller, id string) (*Run, error) {
	if !typeid.Valid(RunPrefix, id) {
		return nil, runNotFound()
	}
	if err := s.Settled(ctx); err != nil {
		return nil, err
	}
	r, err := s.History.Run(ctx, c.AccountID, id)
	if err != nil {
		return nil, err
	}
	if allowed, err := s.mayRead(ctx, c, r); err != nil || !allowed {
		return nil, orRunNotFound(err)
	}
	return r, nil
}

// mayRead reports whether a run of the caller's account is within the
// restrictions of its API key.
func (s *Service) mayRead(ctx context.Context, c *Caller, r *Run) (bool, error) {
	if c.Key == nil {
		return true, nil
	}
	within, err := s.Tools.Restrictions(ctx, c.Key)
	return within.AllowsTool(r.App, r.Tool) && (within.EndUser == "" || within.EndUser == r.EndUser), err
}

// endUser returns the end user that the caller's API key is restricted to, or "".
func (c *Caller) endUser() string {
	if c.Key == nil {
		return ""
	}
	return c.Key.Restrict.EndUser
}

// List returns runs, newest first, without their outputs.
func (s *Service) List(ctx context.Context, c *Caller, q Query) ([]*Run, error) {
	q.Limit = min(max(q.Limit, 1), maxList)
	if some, err := s.narrow(ctx, c, &q); !some || err != nil {
		return nil, err
	}
	return s.History.Runs(ctx, c.AccountID, q)
}

// Count returns the number of runs on all pages of List.
func (s *Service) Count(ctx context.Context, c *Caller, q Query) (int, error) {
	if some, err := s.narrow(ctx, c, &q); !some || err != nil {
		return 0, err
	}
	return s.History.CountRuns(ctx, c.AccountID, q)
}

// narrow restricts a query to what the caller's API key may read, and waits until
// ended runs are written. It returns false if nothing can match.
func (s *Service) narrow(ctx context.Context, c *Caller, q *Query) (some bool, err error) {
	if c.Key != nil {
		within, err := s.Tools.Restrictions(ctx, c.Key)
		if err != nil || within.EndUser != "" && q.EndUser != "" && q.EndUser != within.EndUser {
			return false, err
		}
		if within.EndUser != "" {
			q.EndUser = within.EndUser
		}
		q.Apps, q.Tools = within.Apps, within.Tools
	}
	return true, s.Settled(ctx)
}

// Output returns a part of an output: that of the cursor, or else the first.
// Nothing is run again. It returns run_not_found (NotFound), invalid_cursor
// (Invalid), output_expired (Gone) and run_not_over (Conflict).
func (s *Service) Output(ctx context.Context, c *Caller, id, cursor string) (*Result, error) {
	at := output.Position{Run: id, Max: output.DefaultPart}
	if cursor != "" {
		var err error
		if at, err = output.ReadCursor(cursor); err != nil {
			return nil, err
		}
		if id != "" && id != at.Run {
			return nil, problem.New(problem.Invalid, "invalid_cursor",
				"This cursor belongs to another run.").At("/cursor")
		}
	}
	r, err := s.visible(ctx, c, at.Run)
	if err != nil {
		return nil, err
	}
	k, err := s.unseal(r)
	if err != nil {
		return nil, err
	}
	if cursor == "" && k.Part > 0 {
		at.Max = k.Part
	}
	switch {
	case !r.Status.Ended():
		return nil, problem.New(problem.Conflict, "run_not_over", "This run has no output yet.").With("run_id",
			r.ID).With("status", string(r.Status)).Advise("retry_later")
	case r.Result == "" && !r.StoredUntil.IsZero():
		return nil, problem.New(problem.Gone, "output_expired",
			"Outputs are kept for 24 hours. Run the tool again for a fresh one.").With("run_id", r.ID)
	case k.Output == nil:
		return s.result(ctx, c, r, k, at.Max)
	}
	part, err := output.Cut(k.Output, at)
	if err != nil {
		return nil, err
	}
	out := &Result{Run: r, Failure: k.Failure, Part: *part, Next: k.Next}
	return out, nil
}
