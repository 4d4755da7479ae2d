package tooltest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/audit"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
)

// Memory is a Store in memory.
type Memory struct {
	Jobs *jobs.Memory // the jobs that it schedules

	mu      sync.Mutex
	runs    map[string]tool.Run
	files   map[string]file.Info
	pieces  map[string][]string
	entries []audit.Entry
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		Jobs: jobs.NewMemory(nil), runs: map[string]tool.Run{}, files: map[string]file.Info{},
		pieces: map[string][]string{},
	}
}

// Entries returns the audit entries of decisions.
func (m *Memory) Entries() []audit.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.entries)
}

// All returns every run as it is stored.
func (m *Memory) All() []tool.Run {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []tool.Run
	for _, r := range m.runs {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b tool.Run) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// InsertRun implements Store.
func (m *Memory) InsertRun(_ context.Context, r *tool.Run, queued bool) (*tool.Run, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stored, found := m.runs[r.ID]; found {
		if stored.AccountID != r.AccountID {
			return nil, false, runNotFound()
		}
		return &stored, false, nil
	}
	if earlier := m.byKey(r.AccountID, r.Key); earlier != nil {
		return earlier, false, nil
	}
	m.runs[r.ID] = *r
	if queued {
		m.schedule(r.ID)
	}
	return r, true, nil
}

// RunByKey implements tool.Runs.
func (m *Memory) RunByKey(_ context.Context, accountID, key string) (*tool.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byKey(accountID, key), nil
}

func (m *Memory) byKey(accountID, key string) *tool.Run {
	for _, r := range m.runs {
		if key != "" && r.Key == key && r.AccountID == accountID &&
			time.Now().Before(r.CreatedAt.Add(tool.KeyLifetime)) {
			return &r
		}
	}
	return nil
}

func (m *Memory) schedule(id string) {
	m.Jobs.Schedule(jobs.Job{Kind: tool.JobRun, Ref: id, RunAt: time.Now()})
}

func runNotFound() error { return problem.New(problem.NotFound, "run_not_found", "There is none.") }

// Run implements Store.
func (m *Memory) Run(_ context.Context, accountID, id string) (*tool.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, found := m.runs[id]
	if !found || r.AccountID != accountID {
		return nil, runNotFound()
	}
	return &r, nil
}

// RunByID implements Store.
func (m *Memory) RunByID(_ context.Context, id string) (*tool.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, found := m.runs[id]; found {
		return &r, nil
	}
	return nil, nil
}

// Runs implements Store.
func (m *Memory) Runs(_ context.Context, accountID string, q tool.Query) ([]*tool.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, bounded := m.runs[q.Before]
	var list []*tool.Run
	for _, r := range m.runs {
		is := func(want, got string) bool { return want == "" || want == got }
		among := func(want []string, got string) bool { return len(want) == 0 || slices.Contains(want, got) }
		if r.AccountID == accountID && is(q.Tool, r.Tool) && is(q.App, r.App) && is(q.Status, string(r.Status)) &&
			is(q.ConnectionID, r.ConnectionID) && is(q.KeyID, r.KeyID) &&
			is(q.EndUser, r.EndUser) && among(q.Apps, r.App) && among(q.Tools, r.Tool) &&
			(!bounded || newest(&before, &r) < 0) {
			list = append(list, &r)
		}
	}
	slices.SortFunc(list, newest)
	return list[:min(len(list), q.Limit)], nil
}

// CountRuns implements Store.
func (m *Memory) CountRuns(ctx context.Context, accountID string, q tool.Query) (int, error) {
	q.Before, q.Limit = "", math.MaxInt
	list, err := m.Runs(ctx, accountID, q)
	return len(list), err
}

func newest(a, b *tool.Run) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
}

// change applies fn to a run, if fn returns true.
func (m *Memory) change(id string, fn func(*tool.Run) bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, found := m.runs[id]
	if !found || !fn(&r) {
		return false
	}
	m.runs[id] = r
	return true
}

// TakeRun implements Store.
func (m *Memory) TakeRun(ctx context.Context, id, owner string, now, until time.Time) (*tool.Run, bool, error) {
	taken := m.change(id, func(r *tool.Run) bool {
		if r.Status != tool.Running || r.LeaseUntil.After(now) {
			return false
		}
		r.Owner, r.LeaseUntil = owner, until
		if r.StartedAt.IsZero() {
			r.StartedAt = now
		}
		return true
	})
	r, err := m.RunByID(ctx, id)
	return r, taken, err
}

// HoldRun implements Store.
func (m *Memory) HoldRun(_ context.Context, id, owner string, until time.Time,
	sent bool,
) (held, cancel bool, err error) {
	held = m.change(id, func(r *tool.Run) bool {
		if r.Status != tool.Running || r.Owner != owner {
			return false
		}
		r.LeaseUntil, r.Sent, cancel = until, r.Sent || sent, r.Cancelling
		return true
	})
	return held, cancel, nil
}

// FinishRun implements Store.
func (m *Memory) FinishRun(_ context.Context, end *tool.Run) (bool, error) {
	return m.change(end.ID, func(r *tool.Run) bool {
		if r.Status != tool.Running || r.Owner != end.Owner {
			return false
		}
		r.Status, r.Attempts = end.Status, end.Attempts
		r.AppStatus, r.Code, r.OutputBytes = end.AppStatus, end.Code, end.OutputBytes
		r.EndedAt, r.Request = end.EndedAt, ""
		r.Result, r.StoredUntil, r.LeaseUntil = end.Result, end.StoredUntil, time.Time{}
		return true
	}), nil
}

// RecordRuns implements Store.
func (m *Memory) RecordRuns(ctx context.Context, runs []*tool.Run) error {
	for _, r := range runs {
		if _, inserted, err := m.InsertRun(ctx, r, false); err != nil || inserted {
			continue // that of another account does not change
		}
		if _, err := m.FinishRun(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// ReleaseRun implements Store.
func (m *Memory) ReleaseRun(_ context.Context, id, owner string) error {
	if m.change(id, func(r *tool.Run) bool {
		if r.Status != tool.Running || r.Owner != owner {
			return false
		}
		r.LeaseUntil = time.Time{}
		return true
	}) {
		m.schedule(id)
	}
	return nil
}

// CancelRun implements Store.
func (m *Memory) CancelRun(ctx context.Context, accountID, id string, now time.Time) (*tool.Run, error) {
	if _, err := m.Run(ctx, accountID, id); err != nil {
		return nil, err
	}
	m.change(id, func(r *tool.Run) bool {
		switch {
		case r.Status == tool.AwaitingApproval, r.Status == tool.Running && r.Owner == "":
			r.Status, r.Code, r.EndedAt, r.Request = tool.Canceled, tool.CodeRunCancelled, now, ""
		case r.Status == tool.Running:
			r.Cancelling = true
		}
		return true
	})
	return m.Run(ctx, accountID, id)
}

// RunByApproval implements Store.
func (m *Memory) RunByApproval(_ context.Context, accountID, approvalID string) (*tool.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		if r.AccountID == accountID && r.Approval.ID == approvalID && approvalID != "" {
			return &r, nil
		}
	}
	return nil, problem.New(problem.NotFound, "approval_not_found", "There is none.")
}

// DecideRun implements Store.
func (m *Memory) DecideRun(_ context.Context, as *tool.Run, e audit.Entry) (bool, error) {
	decided := m.change(as.ID, func(r *tool.Run) bool {
		if r.AccountID != as.AccountID || r.Status != tool.AwaitingApproval ||
			!r.Approval.ExpiresAt.After(as.Approval.DecidedAt) {
			return false
		}
		r.Status, r.Code, r.EndedAt, r.Request, r.Approval = as.Status, as.Code, as.EndedAt, as.Request, as.Approval
		return true
	})
	if decided {
		m.mu.Lock()
		m.entries = append(m.entries, e)
		m.mu.Unlock()
		if as.Status == tool.Running {
			m.schedule(as.ID)
		}
	}
	return decided, nil
}

// InsertFile implements Store.
func (m *Memory) InsertFile(_ context.Context, f *file.Info, pieces []string, quota int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := f.Size
	for _, other := range m.files {
		if other.AccountID == f.AccountID && other.ExpiresAt.After(f.CreatedAt) {
			used += other.Size
		}
	}
	if used > quota {
		return problem.New(problem.Conflict, "file_quota_reached", "There is no room.")
	}
	m.files[f.ID], m.pieces[f.ID] = *f, slices.Clone(pieces)
	return nil
}

// File implements Store.
func (m *Memory) File(ctx context.Context, accountID, id string, now time.Time) (*file.Info, error) {
	f, err := m.FileByID(ctx, id, now)
	if err != nil || f.AccountID != accountID {
		return nil, file.NotFound()
	}
	return f, nil
}

// FileByID implements Store.
func (m *Memory) FileByID(_ context.Context, id string, now time.Time) (*file.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, found := m.files[id]
	if !found || !f.ExpiresAt.After(now) {
		return nil, file.NotFound()
	}
	return &f, nil
}

// Pieces implements Store.
func (m *Memory) Pieces(_ context.Context, id string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.pieces[id]), nil
}

// SweepRuns implements Store.
func (m *Memory) SweepRuns(_ context.Context, now time.Time) (more bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	over := func(t time.Time) bool { return !t.After(now) }
	for id, r := range m.runs {
		switch {
		case r.Status == tool.Running && !r.Async && over(r.LeaseUntil):
			r.Status, r.Code, r.EndedAt, r.Request = tool.Interrupted, tool.CodeRunInterrupted, now, ""
		case r.Status == tool.AwaitingApproval && over(r.Approval.ExpiresAt):
			r.Status, r.Code, r.EndedAt, r.Request = tool.Denied, tool.CodeApprovalExpired, now, ""
		}
		if r.Result != "" && over(r.StoredUntil) {
			r.Result = ""
		}
		m.runs[id] = r
		if r.Status.Ended() && over(r.CreatedAt.Add(tool.RunLifetime)) {
			delete(m.runs, id)
		}
	}
	for id, f := range m.files {
		if over(f.ExpiresAt) {
			delete(m.files, id)
			delete(m.pieces, id)
		}
	}
	return false, nil
}
