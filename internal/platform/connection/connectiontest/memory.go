// Package connectiontest is what tests of connections share: a store in memory,
// the suite that every store must pass, and a vendor that rotates its tokens.
package connectiontest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
)

// Memory is a connection.Store in memory.
type Memory struct {
	mu        sync.Mutex
	sessions  map[string]connection.Session
	rows      map[string]row
	farewells map[string]connection.Sealed
	entries   []audit.Entry
	// Jobs is what was scheduled.
	Jobs *jobs.Memory
}

type row struct {
	connection.Connection
	secret     string
	leaseUntil time.Time
	leaseSeq   int64
	deleted    time.Time
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		sessions: map[string]connection.Session{}, rows: map[string]row{},
		farewells: map[string]connection.Sealed{}, Jobs: jobs.NewMemory(nil),
	}
}

// Actions are the audit entries so far, by action.
func (m *Memory) Actions() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []string
	for _, e := range m.entries {
		list = append(list, e.Action)
	}
	return list
}

// Swap exchanges the secrets of two connections, as somebody who can write into
// the database might.
func (m *Memory) Swap(a, b string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one, other := m.rows[a], m.rows[b]
	one.secret, other.secret = other.secret, one.secret
	m.rows[a], m.rows[b] = one, other
}

func (m *Memory) record(e audit.Entry) {
	if e.Action != "" {
		m.entries = append(m.entries, e)
	}
}

// InsertSession implements connection.Sessions.
func (m *Memory) InsertSession(_ context.Context, s *connection.Session, e audit.Entry) (*connection.Session, bool,
	error,
) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if there, ok := m.sessions[s.ID]; ok {
		return &there, false, nil
	}
	stored := *s
	stored.Version = 1
	m.sessions[s.ID] = stored
	m.notify(s, s.ExpiresAt)
	m.record(e)
	return &stored, true, nil
}

// Session implements connection.Sessions.
func (m *Memory) Session(_ context.Context, accountID, id string) (*connection.Session, error) {
	s := m.find(func(s *connection.Session) bool { return s.AccountID == accountID && s.ID == id })
	if s == nil {
		return nil, problem.New(problem.NotFound, "connect_session_not_found", "")
	}
	return s, nil
}

// SessionByToken implements connection.Sessions.
func (m *Memory) SessionByToken(_ context.Context, digest string) (*connection.Session, error) {
	return m.find(func(s *connection.Session) bool { return s.TokenDigest == digest }), nil
}

// SessionByState implements connection.Sessions.
func (m *Memory) SessionByState(_ context.Context, digest string) (*connection.Session, error) {
	return m.find(func(s *connection.Session) bool { return s.StateDigest == digest }), nil
}

func (m *Memory) find(is func(*connection.Session) bool) *connection.Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.sessions {
		if is(&s) {
			return &s
		}
	}
	return nil
}

// SaveSession implements connection.Sessions.
func (m *Memory) SaveSession(_ context.Context, s *connection.Session, e audit.Entry) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[s.ID].Version != s.Version {
		return false, nil
	}
	m.saveSession(s)
	m.record(e)
	return true, nil
}

func (m *Memory) saveSession(s *connection.Session) {
	s.Version++
	m.sessions[s.ID] = *s
	if s.Status.Over() {
		m.notify(s, s.EndedAt)
	}
}

func (m *Memory) notify(s *connection.Session, at time.Time) {
	if s.Options.NotifyURL != "" {
		m.Jobs.Schedule(jobs.Job{Kind: connection.JobNotify, Ref: connection.JobRef(s.AccountID, s.ID), RunAt: at})
	}
}

// PruneSessions implements connection.Sessions.
func (m *Memory) PruneSessions(_ context.Context, sessions, connections time.Time) (more bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.sessions, func(_ string, s connection.Session) bool { return s.ExpiresAt.Before(sessions) })
	maps.DeleteFunc(m.rows, func(id string, r row) bool {
		_, found := m.farewells[id]
		return !r.deleted.IsZero() && r.deleted.Before(connections) && !found
	})
	return false, nil
}

func (m *Memory) row(accountID, id string) (row, error) {
	r, ok := m.rows[id]
	if !ok || r.AccountID != accountID {
		return row{}, problem.New(problem.NotFound, "connection_not_found", "")
	}
	return r, nil
}

// Connection implements connection.Connections.
func (m *Memory) Connection(_ context.Context, accountID, id string) (*connection.Connection, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.row(accountID, id)
	if err != nil {
		return nil, err
	}
	return &r.Connection, nil
}

// Connections implements connection.Connections.
func (m *Memory) Connections(_ context.Context, accountID string,
	q connection.Query,
) ([]*connection.Connection, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*connection.Connection
	for _, r := range m.rows {
		c := r.Connection
		text := strings.ToLower(strings.Join([]string{
			c.App, c.Label, c.Identity.Name, c.Identity.Email,
			c.Identity.Tenant, c.Identity.ID,
		}, "\n"))
		right := c.AccountID == accountID && (q.App == "" || c.App == q.App) &&
			(q.AnyEndUser || c.EndUser == q.EndUser) &&
			(q.Status == string(c.Status) || q.Status == "" && c.Status != connection.Revoked) && strings.Contains(text,
			strings.ToLower(q.Search)) &&
			(len(q.Apps) == 0 || slices.Contains(q.Apps, c.App))
		after := c.CreatedAt.Compare(q.AfterTime)
		if right && (after > 0 || after == 0 && c.ID > q.AfterID) {
			list = append(list, &c)
		}
	}
	slices.SortFunc(list, func(a, b *connection.Connection) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	if q.Limit > 0 && len(list) > q.Limit {
		list = list[:q.Limit]
	}
	return list, nil
}

// ChangeConnection implements connection.Connections.
func (m *Memory) ChangeConnection(_ context.Context, accountID, id string, change func(*connection.Connection) error,
	e audit.Entry,
) (*connection.Connection, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.row(accountID, id)
	if err != nil {
		return nil, err
	}
	if err := change(&r.Connection); err != nil {
		return nil, err
	}
	if r.Default {
		for other, there := range m.rows {
			if other != id && there.AccountID == accountID && there.App == r.App && there.EndUser == r.EndUser {
				there.Default = false
				m.rows[other] = there
			}
		}
	}
	m.rows[id] = r
	m.record(e)
	return &r.Connection, nil
}

// TouchConnections implements connection.Connections.
func (m *Memory) TouchConnections(_ context.Context, used map[string]time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, at := range used {
		if r, ok := m.rows[id]; ok && r.LastUsedAt.Before(at) {
			r.LastUsedAt = at
			m.rows[id] = r
		}
	}
	return nil
}

// KeepGrant implements connection.Vault.
func (m *Memory) KeepGrant(_ context.Context, c *connection.Connection, secret string, s *connection.Session,
	e audit.Entry,
) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	there, known := m.rows[c.ID]
	if m.sessions[s.ID].Version != s.Version || known && (!there.deleted.IsZero() || there.AccountID != c.AccountID) {
		return false, nil
	}
	m.saveSession(s)
	c.Version = there.Version + 1
	stored := row{Connection: *c, secret: secret, leaseSeq: there.leaseSeq + 1}
	stored.Default, stored.LastUsedAt = there.Default, there.LastUsedAt
	m.rows[c.ID] = stored
	m.record(e)
	return true, nil
}

// Secret implements connection.Vault.
func (m *Memory) Secret(_ context.Context, accountID, id string) (*connection.Sealed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.row(accountID, id)
	if err == nil && !r.deleted.IsZero() {
		err = problem.New(problem.NotFound, "connection_not_found", "")
	}
	if err != nil {
		return nil, err
	}
	return &connection.Sealed{Connection: &r.Connection, Secret: r.secret}, nil
}

// TakeLease implements connection.Vault.
func (m *Memory) TakeLease(_ context.Context, l connection.Lease) (*connection.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.row(l.AccountID, l.ConnectionID)
	if err != nil || r.Version != l.Version || r.RefreshFailed != l.Failed || !r.leaseUntil.Before(time.Now()) ||
		!r.deleted.IsZero() {
		return nil, nil // nothing to take
	}
	l.Crashed = !r.leaseUntil.IsZero()
	r.leaseUntil = l.Until
	r.leaseSeq++
	l.Seq = r.leaseSeq
	m.rows[l.ConnectionID] = r
	return &l, nil
}

// KeepRefresh implements connection.Vault.
func (m *Memory) KeepRefresh(_ context.Context, c *connection.Connection, secret string, l *connection.Lease,
	e audit.Entry,
) (bool, error) {
	return m.endLease(c, l, e, func(r *row) {
		status, reason := r.Status, r.Reason
		used, label, isDefault := r.LastUsedAt, r.Label, r.Default
		r.Connection = *c
		r.LastUsedAt, r.Label, r.Default = used, label, isDefault
		if status == connection.Disabled {
			r.Status, r.Reason = status, reason
		}
		r.secret = secret
		r.Version = l.Version + 1
		c.Version = r.Version
	})
}

// EndLease implements connection.Vault.
func (m *Memory) EndLease(_ context.Context, c *connection.Connection, l *connection.Lease,
	e audit.Entry,
) (bool, error) {
	return m.endLease(c, l, e, func(r *row) {
		r.NextRefreshAt, r.RefreshTriedAt = c.NextRefreshAt, c.RefreshTriedAt
		r.RefreshFailed, r.RefreshClass = c.RefreshFailed, c.RefreshClass
		if r.Status != connection.Disabled {
			r.Status, r.Reason = c.Status, c.Reason
		}
	})
}

func (m *Memory) endLease(c *connection.Connection, l *connection.Lease, e audit.Entry,
	write func(*row),
) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.row(l.AccountID, l.ConnectionID)
	if err != nil || r.Version != l.Version || r.leaseSeq != l.Seq || !r.deleted.IsZero() {
		return false, nil // the lease is lost
	}
	write(&r)
	r.leaseUntil = time.Time{}
	m.rows[l.ConnectionID] = r
	m.record(e)
	return true, nil
}

// Discard implements connection.Vault.
func (m *Memory) Discard(_ context.Context, c *connection.Connection, secret string, e audit.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.row(c.AccountID, c.ID)
	if err != nil || !r.deleted.IsZero() {
		return nil // it is gone
	}
	if secret != "" {
		copied := *c
		m.farewells[c.ID] = connection.Sealed{Connection: &copied, Secret: secret}
		m.Jobs.Schedule(jobs.Job{Kind: connection.JobFarewell, Ref: connection.JobRef(c.AccountID, c.ID), RunAt: e.At})
	}
	r.Status, r.Reason, r.Default = connection.Revoked, "", false
	r.Params, r.Identity, r.NextRefreshAt = map[string]string{}, connection.Identity{}, time.Time{}
	r.secret, r.deleted, r.leaseUntil = "", e.At, time.Time{}
	r.Version++
	r.leaseSeq++
	m.rows[c.ID] = r
	m.record(e)
	return nil
}

// Farewell implements connection.Vault.
func (m *Memory) Farewell(_ context.Context, accountID, id string) (*connection.Sealed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.farewells[id]
	if !ok || f.Connection.AccountID != accountID {
		return nil, nil
	}
	return &f, nil
}

// EndFarewell implements connection.Vault.
func (m *Memory) EndFarewell(_ context.Context, _, id string, e audit.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.farewells, id)
	m.record(e)
	return nil
}
