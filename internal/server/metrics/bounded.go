package metrics

import "sync"

// other is the value of a label for everything beyond its bound.
const other = "other"

// bounded admits the first values of a label. It is safe for concurrent use.
type bounded struct {
	most int

	mu   sync.RWMutex
	seen map[string]struct{}
}

// value returns the value of the label for s: s itself, or other if there are
// as many as may be.
func (b *bounded) value(s string) string {
	b.mu.RLock()
	_, ok := b.seen[s]
	full := len(b.seen) >= b.most
	b.mu.RUnlock()
	switch {
	case ok:
		return s
	case full:
		return other
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.seen[s]; !ok && len(b.seen) >= b.most {
		return other
	}
	if b.seen == nil {
		b.seen = map[string]struct{}{}
	}
	b.seen[s] = struct{}{}
	return s
}
