package answer

import (
	"sync"
	"sync/atomic"
)

// Memo stores the last value that was made of a basis, so that it is made once
// per change of the basis. The zero Memo is empty. It is safe for concurrent
// use; two callers that come first may both make the value.
type Memo[Basis comparable, Value any] struct {
	last atomic.Pointer[made[Basis, Value]]
}

type made[Basis comparable, Value any] struct {
	basis Basis
	value Value
}

// Get returns the value of basis, which it makes if the stored one is of another
// basis. Errors are not stored.
func (m *Memo[Basis, Value]) Get(basis Basis, create func() (Value, error)) (Value, error) {
	if last := m.last.Load(); last != nil && last.basis == basis {
		return last.value, nil
	}
	value, err := create()
	if err != nil {
		return value, err
	}
	m.last.Store(&made[Basis, Value]{basis, value})
	return value, nil
}

// Cache stores documents by a key, each as long as its basis stays the same. It
// is safe for concurrent use.
type Cache[Key, Basis comparable] struct {
	limit int // of bytes

	mu        sync.RWMutex
	documents map[Key]made[Basis, *Document]
	size      int
}

// NewCache returns a cache of at most limit bytes of bodies. A cache that would
// get larger is emptied: the callers decide what the keys are, so nothing is
// known about which will be asked for again.
func NewCache[Key, Basis comparable](limit int) *Cache[Key, Basis] {
	return &Cache[Key, Basis]{limit: limit, documents: map[Key]made[Basis, *Document]{}}
}

// Get returns the document of key and basis, which it makes if the stored one is
// of another basis. Errors are not stored.
func (c *Cache[Key, Basis]) Get(key Key, basis Basis, create func() (*Document, error)) (*Document, error) {
	c.mu.RLock()
	stored, ok := c.documents[key]
	c.mu.RUnlock()
	if ok && stored.basis == basis {
		return stored.value, nil
	}
	d, err := create()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.documents[key]; ok {
		c.size -= old.value.size()
	}
	if c.size+d.size() > c.limit {
		clear(c.documents)
		c.size = 0
	}
	if d.size() <= c.limit {
		c.documents[key] = made[Basis, *Document]{basis, d}
		c.size += d.size()
	} else {
		delete(c.documents, key)
	}
	return d, nil
}

// perDocument is what a document takes beside its bodies, about.
const perDocument = 2 << 10

func (d *Document) size() int { return len(d.plain.body) + len(d.compressed.body) + perDocument }
