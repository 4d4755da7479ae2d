package a2atest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"ace/internal/protocol/a2a"
)

// Memory is an in-memory a2a.Store without expiry.
type Memory struct {
	mu       sync.Mutex
	tasks    map[string]a2a.Record
	sent     map[string]string   // key -> task
	messages map[string]a2a.Sent // key -> message
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{tasks: map[string]a2a.Record{}, sent: map[string]string{}, messages: map[string]a2a.Sent{}}
}

// Task implements a2a.Store.
func (m *Memory) Task(_ context.Context, id string) (a2a.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.task(id)
}

func (m *Memory) task(id string) (a2a.Record, error) {
	rec, ok := m.tasks[id]
	if !ok {
		return rec, a2a.ErrNoTask
	}
	return rec, nil
}

// Sent implements a2a.Store.
func (m *Memory) Sent(_ context.Context, key string) (rec a2a.Record, fingerprint string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rec, err = m.task(m.sent[key])
	return rec, m.messages[key].Fingerprint, err
}

// Insert implements a2a.Store.
func (m *Memory) Insert(_ context.Context, rec a2a.Record, sent a2a.Sent) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.sent[sent.Key]; ok {
		return a2a.ErrSent
	}
	rec.Version = 1
	m.tasks[rec.Task.ID] = rec
	m.store(rec, sent)
	var owned []a2a.Record
	for _, r := range m.tasks {
		if r.Owner == rec.Owner && r.Ref == "" {
			owned = append(owned, r)
		}
	}
	slices.SortFunc(owned, newestFirst)
	for _, r := range owned[min(len(owned), a2a.MaxOwned):] {
		delete(m.tasks, r.Task.ID)
		for key, id := range m.sent {
			if id == r.Task.ID {
				delete(m.sent, key)
			}
		}
	}
	return nil
}

func (m *Memory) store(rec a2a.Record, sent a2a.Sent) {
	m.sent[sent.Key], m.messages[sent.Key] = rec.Task.ID, sent
}

// Save implements a2a.Store.
func (m *Memory) Save(_ context.Context, rec a2a.Record, sent *a2a.Sent) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stored, ok := m.tasks[rec.Task.ID]; !ok || stored.Version != rec.Version {
		return a2a.ErrVersion
	}
	if sent != nil {
		if _, ok := m.sent[sent.Key]; ok {
			return a2a.ErrSent
		}
		m.store(rec, *sent)
	}
	rec.Version++
	m.tasks[rec.Task.ID] = rec
	return nil
}

// List implements a2a.Store.
func (m *Memory) List(_ context.Context, q a2a.Query) (records []a2a.Record, total int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []a2a.Record
	for _, r := range m.tasks {
		status := r.Task.Status
		waiting := r.Ref != "" && !status.State.Terminal()
		if r.Scope == q.Scope && (q.State == "" || q.State == status.State) && !status.Timestamp.Before(q.Since) &&
			(waiting || !q.Waiting) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, newestFirst)
	for _, r := range all {
		at := r.Task.Status.Timestamp.Compare(q.After.At)
		behind := q.After.At.IsZero() || at < 0 || at == 0 && r.Task.ID < q.After.ID
		if behind && len(records) < q.Limit {
			records = append(records, r)
		}
	}
	return records, len(all), nil
}

func newestFirst(a, b a2a.Record) int {
	if c := b.Task.Status.Timestamp.Compare(a.Task.Status.Timestamp.Time); c != 0 {
		return c
	}
	return strings.Compare(b.Task.ID, a.Task.ID)
}
