package connectiontest

import (
	"context"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/platform/connection"
)

// Refreshes returns the connections whose credentials are due to be renewed, as
// jobs of the kind connection.JobRefresh.
func (m *Memory) Refreshes() jobs.Source { return refreshes{m} }

type refreshes struct{ *Memory }

func waits(r row) bool {
	return !r.NextRefreshAt.IsZero() && r.deleted.IsZero() &&
		(r.Status == connection.Active || r.Status == connection.Failing)
}

// Claim implements jobs.Source.
func (m refreshes) Claim(_ context.Context, limit int, lease time.Duration) ([]jobs.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	var claimed []jobs.Job
	for id, r := range m.rows {
		if len(claimed) < limit && waits(r) && !r.NextRefreshAt.After(now) {
			r.NextRefreshAt = now.Add(lease).Truncate(time.Millisecond)
			m.rows[id] = r
			claimed = append(claimed, jobs.Job{
				Kind: connection.JobRefresh, Ref: connection.JobRef(r.AccountID, id),
				Token: r.NextRefreshAt.UnixMilli(), LeaseUntil: r.NextRefreshAt,
			})
		}
	}
	return claimed, nil
}

// Next implements jobs.Source.
func (m refreshes) Next(context.Context) (wait time.Duration, found bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rows {
		if until := time.Until(r.NextRefreshAt); waits(r) && (!found || until < wait) {
			wait, found = until, true
		}
	}
	return wait, found, nil
}

// End implements jobs.Source.
func (m refreshes) End(_ context.Context, ended []jobs.End) (again bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, end := range ended {
		for id, r := range m.rows {
			if connection.JobRef(r.AccountID, id) != end.Ref || r.NextRefreshAt.UnixMilli() != end.Token {
				continue
			}
			r.NextRefreshAt = end.RunAt.Truncate(time.Millisecond)
			if end.Done {
				r.NextRefreshAt = time.Time{}
			}
			m.rows[id] = r
		}
	}
	return false, nil
}
