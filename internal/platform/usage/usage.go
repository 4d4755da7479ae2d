// Package usage counts what an account has run.
//
//	Count(account, key, from … to, by app, tool, key or day)
//	   range and grouping are judged, the key's restrictions added
//	   -> Store: one statement over the runs that are kept
//	   -> Count per group, the busiest first; days in their order
//
// Runs are kept for 30 days, and so is what can be counted.
package usage

import (
	"context"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
)

// By is what runs are grouped by.
type By string

// The groupings.
const (
	ByApp  By = "app"
	ByTool By = "tool"
	ByKey  By = "key"
	ByDay  By = "day" // of UTC
)

// Limits of a count.
const (
	MaxRange  = 31 * 24 * time.Hour
	MaxGroups = 1000
)

// Query selects the runs that are counted: those made at From or later and
// before To. Zero times are the end of this second and 30 days before To.
type Query struct {
	From, To time.Time
	By       By
	// Apps, Tools and EndUser are the restrictions of the key that asks; empty:
	// none.
	Apps, Tools []string
	EndUser     string
	Limit       int
}

// Count is what was run in one group.
type Count struct {
	// Group is the id of an app, a tool or a key, or a day as 2026-11-21.
	Group       string
	Runs        int64
	Succeeded   int64
	Failed      int64 // the app refused, or the run broke off
	Attempts    int64 // calls that were made
	OutputBytes int64
	Duration    time.Duration // of all of them together
	LastRunAt   time.Time
}

// Store counts runs.
type Store interface {
	// Usage returns at most q.Limit groups of an account's runs, the busiest
	// first; days in their order.
	Usage(ctx context.Context, accountID string, q Query) ([]Count, error)
}

// Service counts. Its fields are set once.
type Service struct {
	Store Store
	// Settled waits until the runs that have ended are written; nil: they are.
	Settled func(ctx context.Context) error
}

// Count returns the groups of a query, with its times completed; more says that
// there are further groups. Its problem is invalid_request, with the pointers of
// the REST parameters.
func (s *Service) Count(ctx context.Context, accountID string, key *apikey.Key,
	q Query,
) (counted Query, groups []Count, more bool, err error) {
	if err := q.complete(); err != nil {
		return q, nil, false, err
	}
	if key != nil {
		q.Apps, q.Tools, q.EndUser = key.Restrict.Apps, key.Restrict.Tools, key.Restrict.EndUser
	}
	if s.Settled != nil {
		if err := s.Settled(ctx); err != nil {
			return q, nil, false, err
		}
	}
	q.Limit = MaxGroups + 1
	if groups, err = s.Store.Usage(ctx, accountID, q); err != nil {
		return q, nil, false, err
	}
	return q, groups[:min(len(groups), MaxGroups)], len(groups) > MaxGroups, nil
}

// complete fills in what was left out and refuses what makes no sense.
func (q *Query) complete() error {
	refuse := func(at, detail string) error {
		return problem.New(problem.Invalid, "invalid_request", detail).At(at).Advise("fix_arguments")
	}
	if q.To.IsZero() {
		// The end of this second: To is not included, and a run of this very
		// millisecond counts.
		q.To = time.Now().UTC().Truncate(time.Second).Add(time.Second)
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-30 * 24 * time.Hour)
	}
	if q.By == "" {
		q.By = ByApp
	}
	switch {
	case q.By != ByApp && q.By != ByTool && q.By != ByKey && q.By != ByDay:
		return refuse("group_by", "group_by is app, tool, key or day.")
	case !q.From.Before(q.To):
		return refuse("from", "from is a time before to.")
	case q.To.Sub(q.From) > MaxRange:
		return refuse("from", "At most 31 days at once; runs are kept for 30 days.")
	}
	return nil
}
