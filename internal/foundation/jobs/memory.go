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
	lanes *Lanes

	mu   sync.Mutex
	rows map[[2]string]*memoryRow
}

type memoryRow struct {
	Job
	lane   Lane
	leased bool
	parked bool
}

// readyAt returns when the row may be claimed.
func (r *memoryRow) readyAt() time.Time {
	if r.leased {
		return r.LeaseUntil
	}
	return r.RunAt
}

// NewMemory returns an empty queue.
func NewMemory(lanes *Lanes) *Memory { return &Memory{lanes: lanes, rows: map[[2]string]*memoryRow{}} }

// Schedule adds jobs, or pulls forward the ones that are there.
func (m *Memory) Schedule(jobs ...Job) {
	m.ScheduleQuietly(jobs...)
	m.lanes.Scheduled(jobs...)
}

// ScheduleQuietly is Schedule by another process: it wakes no lane of this one.
func (m *Memory) ScheduleQuietly(jobs ...Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, job := range jobs {
		key := [2]string{job.Kind, job.Ref}
		if job.RunAt.IsZero() {
			job.RunAt = time.Now()
		}
		row, ok := m.rows[key]
		if !ok {
			m.rows[key] = &memoryRow{
				Job: Job{Kind: job.Kind, Ref: job.Ref, RunAt: job.RunAt}, lane: m.lanes.Of(job.Kind),
			}
			continue
		}
		if row.parked || job.RunAt.Before(row.RunAt) {
			row.RunAt = job.RunAt
		}
		row.parked, row.lane = false, m.lanes.Of(job.Kind)
		row.Sequence++
	}
}

// Lane implements Queue.
func (m *Memory) Lane(lane Lane, kinds ...string) Source { return &memorySource{m, lane, kinds} }

// Len returns how many jobs are stored, parked ones included.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.rows)
}

type memorySource struct {
	*Memory
	lane  Lane
	kinds []string
}

// waiting returns the jobs that are not parked, the earliest first.
func (s *memorySource) waiting() []*memoryRow {
	var rows []*memoryRow
	for _, row := range s.rows {
		if !row.parked && row.lane == s.lane && (len(s.kinds) == 0 || slices.Contains(s.kinds, row.Kind)) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b *memoryRow) int {
		return cmp.Or(a.readyAt().Compare(b.readyAt()), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Ref, b.Ref))
	})
	return rows
}

// Claim implements Source.
func (s *memorySource) Claim(_ context.Context, limit int, lease time.Duration) ([]Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	var claimed []Job
	for _, row := range s.waiting() {
		if len(claimed) == limit || row.readyAt().After(now) {
			break
		}
		row.leased, row.LeaseUntil = true, now.Add(lease)
		row.Token++
		claimed = append(claimed, row.Job)
	}
	return claimed, nil
}

// Next implements Source.
func (s *memorySource) Next(context.Context) (time.Duration, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.waiting()
	if len(waiting) == 0 {
		return 0, false, nil
	}
	return time.Until(waiting[0].readyAt()), true, nil
}

// End implements Source.
func (s *memorySource) End(_ context.Context, ended []End) (again bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, end := range ended {
		key := [2]string{end.Kind, end.Ref}
		row, ok := s.rows[key]
		if !ok || row.Token != end.Token || !row.leased {
			continue
		}
		row.leased, row.LeaseUntil, row.Tries = false, time.Time{}, end.Tries
		switch {
		case row.Sequence != end.Sequence:
			again = true
			if end.Done {
				row.Tries = 0
			}
		case end.Done:
			delete(s.rows, key)
		default:
			row.RunAt, row.parked = end.RunAt, end.RunAt.IsZero()
		}
	}
	return again, nil
}
