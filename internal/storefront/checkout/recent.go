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

// note remembers that the processor was asked about a session at a time.
func (r *recent) note(id string, asked time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil || time.Since(r.turned) > time.Minute {
		r.past, r.now, r.turned = r.now, map[string]time.Time{}, time.Now()
	}
	r.now[id] = asked
}

func (r *recent) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.now, id)
	delete(r.past, id)
}
