// Package broadcast wakes those in this process who wait for a change of
// something that has an id.
//
//	waiter:  news, done := b.Subscribe(id); read it again; wait for news or a
//	         tick; done()
//	writer:  b.Publish(id) after its commit -> every channel of id is closed
//
// Changes that other replicas make are not received: a waiting caller looks again from
// time to time.
package broadcast

import "sync"

// Broadcaster wakes those who wait. Its zero value is ready; it is safe for
// concurrent use.
type Broadcaster struct {
	mu      sync.Mutex
	waiting map[string]map[chan struct{}]bool
}

// Subscribe returns a channel that is closed at the next change of id; done
// ends the interest in it and may be called more than once.
func (b *Broadcaster) Subscribe(id string) (news <-chan struct{}, done func()) {
	ch := make(chan struct{})
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == nil {
		b.waiting = map[string]map[chan struct{}]bool{}
	}
	if b.waiting[id] == nil {
		b.waiting[id] = map[chan struct{}]bool{}
	}
	b.waiting[id][ch] = true
	return ch, func() { b.drop(id, ch) }
}

func (b *Broadcaster) drop(id string, ch chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting[id], ch)
	if len(b.waiting[id]) == 0 {
		delete(b.waiting, id)
	}
}

// Publish wakes everybody who waits for a change of id.
func (b *Broadcaster) Publish(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.waiting[id] {
		close(ch)
	}
	delete(b.waiting, id)
}
