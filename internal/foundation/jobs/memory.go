package jobs

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Memory is a Queue in memory, for tests of what schedules jobs.
type Memory struct {
	mu   sync.Mutex
	rows map[[2]string]*memoryRow
}

type memoryRow struct {
	Job
	leasedUntil time.Time
	parked      bool
}

// NewMemory answers an empty queue.
func NewMemory() *Memory { return &Memory{rows: map[[2]string]*memoryRow{}} }

// Schedule adds jobs, or pulls forward the ones that are there.
func (m *Memory) Schedule(jobs ...Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, job := range jobs {
		key := [2]string{job.Kind, job.Ref}
		row, ok := m.rows[key]
		if !ok {
			m.rows[key] = &memoryRow{Job: Job{Kind: job.Kind, Ref: job.Ref, RunAt: job.RunAt}}
			continue
		}
		if row.parked || job.RunAt.Before(row.RunAt) {
			row.RunAt = job.RunAt
		}
		row.parked = false
		row.Sequence++
	}
}

// Claim implements Queue.
func (m *Memory) Claim(_ context.Context, limit int, lease time.Duration) ([]Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	var due []*memoryRow
	for _, row := range m.rows {
		if !row.parked && !row.RunAt.After(now) && !row.leasedUntil.After(now) {
			due = append(due, row)
		}
	}
	slices.SortFunc(due, func(a, b *memoryRow) int {
		return cmp.Or(a.RunAt.Compare(b.RunAt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Ref, b.Ref))
	})
	var claimed []Job
	for _, row := range due[:min(limit, len(due))] {
		row.leasedUntil = now.Add(lease)
		row.Token++
		claimed = append(claimed, row.Job)
	}
	return claimed, nil
}

// Finish implements Queue.
func (m *Memory) Finish(_ context.Context, job Job) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ours := m.ours(job)
	switch {
	case !ours:
	case row.Sequence == job.Sequence:
		delete(m.rows, [2]string{job.Kind, job.Ref})
	default:
		row.leasedUntil, row.Tries = time.Time{}, 0
	}
	return nil
}

// Postpone implements Queue.
func (m *Memory) Postpone(_ context.Context, job Job, _ string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ours := m.ours(job)
	if !ours {
		return nil
	}
	row.leasedUntil, row.Tries = time.Time{}, job.Tries
	if row.Sequence == job.Sequence {
		row.RunAt, row.parked = job.RunAt, job.RunAt.IsZero()
	}
	return nil
}

// NextDue implements Queue.
func (m *Memory) NextDue(context.Context) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var next time.Time
	for _, row := range m.rows {
		at := row.RunAt
		if row.leasedUntil.After(at) {
			at = row.leasedUntil
		}
		if !row.parked && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next, nil
}

// Len answers how many jobs are kept, parked ones included.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.rows)
}

func (m *Memory) ours(job Job) (*memoryRow, bool) {
	row, ok := m.rows[[2]string{job.Kind, job.Ref}]
	return row, ok && row.Token == job.Token
}
