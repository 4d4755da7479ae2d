package tool

import (
	"context"
	"slices"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/tool/output"
)

const maxList = 200

// Get answers a run with the first part of its output. It returns run_not_found
// (NotFound).
func (s *Service) Get(ctx context.Context, c *Caller, id string) (*Result, error) {
	r, err := s.visible(ctx, c, id)
	if err != nil {
		return nil, err
	}
	k, err := s.open(r)
	if err != nil {
		return nil, err
	}
	return s.told(ctx, c, r, k, 0)
}

// visible answers a run that the caller may see: one of its account, and within
// the restrictions of its key.
func (s *Service) visible(ctx context.Context, c *Caller, id string) (*Run, error) {
	if !typeid.Valid(RunPrefix, id) {
		return nil, runNotFound()
	}
	if err := s.settled(ctx); err != nil {
		return nil, err
	}
	r, err := s.Store.Run(ctx, c.AccountID, id)
	if err != nil {
		return nil, err
	}
	if c.Key == nil {
		return r, nil
	}
	within, err := s.Within(ctx, c.Key)
	if err != nil {
		return nil, err
	}
	if !within.AllowsTool(r.App, r.Tool) || within.EndUser != "" && within.EndUser != r.EndUser {
		return nil, runNotFound()
	}
	return r, nil
}

// Within are the restrictions of a key with every id of its tools: runs are kept
// by the id that their tool had then.
func (s *Service) Within(ctx context.Context, k *apikey.Key) (apikey.Restrictions, error) {
	within := k.Restrict
	for _, id := range k.Restrict.Tools {
		_, t, err := s.Apps.Tool(ctx, k.AccountID, id)
		if problem.Is(err, "tool_not_found") { // it is gone; its runs are not
			continue
		}
		if err != nil {
			return within, err
		}
		within.Tools = append(slices.Clip(within.Tools), t.IDs()...)
	}
	return within, nil
}

// List answers runs, newest first, without their outputs.
func (s *Service) List(ctx context.Context, c *Caller, q Query) ([]*Run, error) {
	q.Limit = min(max(q.Limit, 1), maxList)
	if some, err := s.narrow(ctx, c, &q); !some || err != nil {
		return nil, err
	}
	return s.Store.Runs(ctx, c.AccountID, q)
}

// Count answers how many runs List has on all its pages.
func (s *Service) Count(ctx context.Context, c *Caller, q Query) (int, error) {
	if some, err := s.narrow(ctx, c, &q); !some || err != nil {
		return 0, err
	}
	return s.Store.CountRuns(ctx, c.AccountID, q)
}

// narrow keeps a query within a caller's key, and waits until it can be
// answered; false: nothing is left of it.
func (s *Service) narrow(ctx context.Context, c *Caller, q *Query) (some bool, err error) {
	if c.Key != nil {
		within, err := s.Within(ctx, c.Key)
		if err != nil || within.EndUser != "" && q.EndUser != "" && q.EndUser != within.EndUser {
			return false, err
		}
		if within.EndUser != "" {
			q.EndUser = within.EndUser
		}
		q.Apps, q.Tools = within.Apps, within.Tools
	}
	return true, s.settled(ctx)
}

// Output answers a part of an output: the one that a cursor names, or else the
// first. Nothing is run again. Its problems: run_not_found (NotFound),
// invalid_cursor (Invalid), output_expired (Gone), run_not_over (Conflict).
func (s *Service) Output(ctx context.Context, c *Caller, id, cursor string) (*Result, error) {
	at := output.Position{Run: id, Max: output.DefaultPart}
	if cursor != "" {
		var err error
		if at, err = output.ReadCursor(cursor); err != nil {
			return nil, err
		}
		if id != "" && id != at.Run {
			return nil, problem.New(problem.Invalid, "invalid_cursor", "This cursor belongs to another run.").At("/cursor")
		}
	}
	r, err := s.visible(ctx, c, at.Run)
	if err != nil {
		return nil, err
	}
	k, err := s.open(r)
	if err != nil {
		return nil, err
	}
	if cursor == "" && k.Part > 0 {
		at.Max = k.Part
	}
	switch {
	case !r.Status.Over():
		return nil, problem.New(problem.Conflict, "run_not_over", "This run has no output yet.").With("run_id", r.ID).With("status", string(r.Status)).Advise("retry_later")
	case r.Result == "" && !r.KeptUntil.IsZero():
		return nil, problem.New(problem.Gone, "output_expired", "Outputs are kept for 24 hours. Run the tool again for a fresh one.").With("run_id", r.ID)
	case k.Output == nil:
		return s.told(ctx, c, r, k, at.Max)
	}
	part, err := output.Cut(k.Output, at)
	if err != nil {
		return nil, err
	}
	out := &Result{Run: r, Failure: k.Failure, Part: *part, Next: k.Next}
	return out, nil
}

// suggest completes tool_not_found with ids that look alike.
func (s *Service) suggest(ctx context.Context, c *Caller, id string, refused error) error {
	p, _ := problem.From(refused)
	apps, err := s.Apps.Apps(ctx, c.AccountID)
	if err != nil {
		return err
	}
	near := nearest(id, apps, func(a *app.App, t *app.Tool) bool { return c.Key == nil || c.Key.Restrict.AllowsTool(a.ID, t.IDs()...) })
	if len(near) == 0 {
		return p.Advise("find_tools")
	}
	return p.With("did_you_mean", slices.Clone(near)).Advise("find_tools")
}

// Tools answers tools that the caller may see: those of an app, or those that
// are named. Its problems: app_not_found, tool_not_found (NotFound),
// key_restricted (Forbidden) for what is named.
func (s *Service) Tools(ctx context.Context, c *Caller, appID string, ids []string) (apps []*app.App, tools []*app.Tool, err error) {
	for _, id := range ids {
		a, t, err := s.Tool(ctx, c, id)
		if err != nil {
			return nil, nil, err
		}
		if appID == "" || appID == a.ID {
			apps, tools = append(apps, a), append(tools, t)
		}
	}
	if len(ids) > 0 {
		return apps, tools, nil
	}
	a, err := s.Apps.App(ctx, c.AccountID, appID)
	if err != nil {
		return nil, nil, err
	}
	all, err := a.AllTools()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range all {
		if restricted(c, a, t) == nil {
			apps, tools = append(apps, a), append(tools, t)
		}
	}
	return apps, tools, nil
}
