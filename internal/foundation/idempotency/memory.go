package idempotency

import (
	"context"
	"sync"
	"time"
)

// Memory is a Store in memory, for tests of what uses a Keeper.
type Memory struct {
	mu   sync.Mutex
	rows map[[2]string]Record
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{rows: map[[2]string]Record{}} }

// Claim implements Store.
func (m *Memory) Claim(_ context.Context, rec Record) (Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id, now := [2]string{rec.Scope, rec.Key}, time.Now()
	stored, found := m.rows[id]
	if !found || !stored.ExpiresAt.After(now) {
		m.rows[id] = rec
		return rec, true, nil
	}
	if stored.Answer != nil || stored.Fingerprint != rec.Fingerprint || stored.LeaseUntil.After(now) {
		return stored, false, nil
	}
	stored.LeaseUntil, stored.ExpiresAt = rec.LeaseUntil, rec.ExpiresAt
	m.rows[id] = stored
	return stored, true, nil
}

// Answer implements Store.
func (m *Memory) Answer(_ context.Context, scope, key string, answer Answer, expiresAt time.Time) error {
	m.update(scope, key, func(rec *Record) { rec.Answer, rec.ExpiresAt = &answer, expiresAt })
	return nil
}

// Release implements Store.
func (m *Memory) Release(_ context.Context, scope, key string) error {
	m.update(scope, key, func(rec *Record) { rec.LeaseUntil = time.Time{} })
	return nil
}

func (m *Memory) update(scope, key string, change func(*Record)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := [2]string{scope, key}
	if rec, ok := m.rows[id]; ok && rec.Answer == nil {
		change(&rec)
		m.rows[id] = rec
	}
}
