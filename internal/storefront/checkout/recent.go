package checkout

import (
	"sync"
	"time"
)

// recent remembers when sessions were last read from the processor. It holds
// two generations, so that it forgets by itself and never grows beyond what a
// few seconds of reads bring.
type recent struct {
	mu        sync.Mutex
	now, past map[string]time.Time
	turned    time.Time
}

func (r *recent) within(id string, d time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.now[id]
	if !ok {
		at, ok = r.past[id]
	}
	return ok && time.Since(at) < d
}

func (r *recent) note(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil || time.Since(r.turned) > time.Minute {
		r.past, r.now, r.turned = r.now, map[string]time.Time{}, time.Now()
	}
	r.now[id] = time.Now()
}

func (r *recent) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.now, id)
	delete(r.past, id)
}

// broadcaster wakes those who wait for a change of a session.
type broadcaster struct {
	mu      sync.Mutex
	waiting map[string]map[chan struct{}]bool
}

// subscribe answers a channel that is closed at the next change; done ends
// the interest in it.
func (b *broadcaster) subscribe(id string) (news <-chan struct{}, done func()) {
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

func (b *broadcaster) drop(id string, ch chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting[id], ch)
	if len(b.waiting[id]) == 0 {
		delete(b.waiting, id)
	}
}

func (b *broadcaster) publish(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.waiting[id] {
		close(ch)
	}
	delete(b.waiting, id)
}
