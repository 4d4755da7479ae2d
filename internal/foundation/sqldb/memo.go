package sqldb

import "sync"

// maxMemo bounds what a memo holds.
const maxMemo = 1024

// Memo keeps what was read from a database until anything at all is written to
// it, for rows that every request asks for and that seldom change. A caller
// that saw a transaction return, or what it wrote, never gets what was read
// before it. On a database that other processes write to (Shared) it keeps
// nothing. The zero value is ready; it is safe for concurrent use.
type Memo[K comparable, V any] struct {
	mu       sync.Mutex
	revision uint64
	values   map[K]V
}

// Get returns the value stored under key, or else what read returns; store reports
// whether that may be kept. Values are shared between callers: no caller may change
// them.
func (m *Memo[K, V]) Get(db *DB, key K, read func() (value V, store bool, err error)) (V, error) {
	// The revision is taken before the read: what a write overtakes is kept under
	// a revision that is over. It is odd while the one writer commits.
	revision := db.revision.Load()
	if db.Shared() || revision%2 != 0 {
		value, _, err := read()
		return value, err
	}
	if value, ok := m.at(revision, key); ok {
		return value, nil
	}
	value, store, err := read()
	if err == nil && store {
		m.put(revision, key, value)
	}
	return value, err
}

func (m *Memo[K, V]) at(revision uint64, key K) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.revision != revision {
		return value, false
	}
	value, ok = m.values[key]
	return value, ok
}

func (m *Memo[K, V]) put(revision uint64, key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case revision < m.revision: // somebody has read later
		return
	case m.values == nil || revision > m.revision || len(m.values) >= maxMemo:
		m.values, m.revision = map[K]V{}, revision
	}
	m.values[key] = value
}
