package toolhttp

import (
	"context"
	"time"

	"ace/internal/platform/platformhttp/gate"
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
	Runs        int64     `json:"runs" doc:"All of them, also those that are not over."`
	Succeeded   int64     `json:"succeeded"`
	Failed      int64     `json:"failed" doc:"The app refused, or the run broke off."`
	Attempts    int64     `json:"attempts" doc:"Calls that were made."`
	OutputBytes int64     `json:"output_bytes"`
	DurationMS  int64     `json:"duration_ms" doc:"Of all of them together."`
	LastRunAt   time.Time `json:"last_run_at"`
}

type usageInput struct {
	From    time.Time `query:"from" doc:"Default: 30 days before to. At most 31 days before it; runs are kept for 30 days."`
	To      time.Time `query:"to" doc:"Default: now."`
	GroupBy string    `query:"group_by" enum:"app,tool,key,day" default:"app"`
}

func (f *Face) usage(ctx context.Context, in *usageInput) (*body[Usage], error) {
	by := gate.From(ctx)
	within, err := f.Tools.Within(ctx, by.Key)
	if err != nil {
		return nil, err
	}
	key := *by.Key
	key.Restrict = within
	q, groups, more, err := f.Usage.Count(ctx, by.Account, &key, usage.Query{From: in.From.UTC(), To: in.To.UTC(), By: usage.By(in.GroupBy)})
	if err != nil {
		return nil, err
	}
	out := &body[Usage]{Usage{From: q.From, To: q.To, GroupBy: string(q.By), Groups: []UsageGroup{}, More: more}}
	for _, g := range groups {
		out.Body.Groups = append(out.Body.Groups, UsageGroup{
			Group: g.Group, Runs: g.Runs, Succeeded: g.Succeeded, Failed: g.Failed, Attempts: g.Attempts, OutputBytes: g.OutputBytes, DurationMS: g.Took.Milliseconds(), LastRunAt: g.LastRunAt,
		})
	}
	return out, nil
}
