package operation

import (
	"context"
	"time"

	"ace/internal/platform/usage"
)

// Usage is what was run in a time.
type Usage struct {
	From    time.Time    `json:"from"`
	To      time.Time    `json:"to" doc:"Not included."`
	GroupBy string       `json:"group_by" enum:"app,tool,key,day"`
	Groups  []UsageGroup `json:"usage" doc:"The busiest first; days in their order. At most 1000."`
	More    bool         `json:"truncated" doc:"There are further groups."`
}

// UsageGroup is what was run by one app, tool or key, or on one day.
type UsageGroup struct {
	Group       string    `json:"group" doc:"Id of the app, the tool or the key, or the day of UTC, as 2026-11-21."`
	Runs        int64     `json:"runs" doc:"All of them, also those that have not ended."`
	Succeeded   int64     `json:"succeeded"`
	Failed      int64     `json:"failed" doc:"The app refused, or the run was interrupted."`
	Attempts    int64     `json:"attempts" doc:"Calls that were made."`
	OutputBytes int64     `json:"output_bytes"`
	DurationMS  int64     `json:"duration_ms" doc:"Of all of them together."`
	LastRunAt   time.Time `json:"last_run_at"`
}

// UsageRequest selects what is counted.
type UsageRequest struct {
	From    time.Time `query:"from" json:"from,omitzero" doc:"Default: 30 days before to. At most 31 days before it; runs are stored for 30 days."`
	To      time.Time `query:"to" json:"to,omitzero" doc:"Default: the end of this second."`
	GroupBy string    `query:"group_by" json:"group_by,omitempty" enum:"app,tool,key,day" default:"app"`
}

// Usage returns how much was run. A restricted key counts what it may see. Its
// problem is invalid_request (Invalid).
func (s *Service) Usage(ctx context.Context, c *Caller, in UsageRequest) (*Usage, error) {
	if err := Authorize(c, GetUsage); err != nil {
		return nil, err
	}
	key := c.Key
	if key != nil {
		within, err := s.Tools.Tools.Restrictions(ctx, key)
		if err != nil {
			return nil, err
		}
		narrowed := *key
		narrowed.Restrict = within
		key = &narrowed
	}
	q, groups, more, err := s.Counts.Count(ctx, c.Account, key,
		usage.Query{From: in.From.UTC(), To: in.To.UTC(), By: usage.By(in.GroupBy)})
	if err != nil {
		return nil, err
	}
	out := &Usage{
		From:    inSeconds(q.From),
		To:      inSeconds(q.To),
		GroupBy: string(q.By),
		Groups:  []UsageGroup{},
		More:    more,
	}
	for _, g := range groups {
		out.Groups = append(out.Groups, UsageGroup{
			Group: g.Group, Runs: g.Runs, Succeeded: g.Succeeded, Failed: g.Failed, Attempts: g.Attempts,
			OutputBytes: g.OutputBytes, DurationMS: g.Duration.Milliseconds(), LastRunAt: inSeconds(g.LastRunAt),
		})
	}
	return out, nil
}
