package trigger

import (
	"sync"
	"time"
)

// PerDestination is how many deliveries to one host run at the same time in one
// process.
const PerDestination = 8

// Figures of the breaker: a host that did not respond to so many deliveries in a
// row gets none for a while, then one.
const (
	breakAfter = 5
	breakFor   = time.Minute
)

// hosts counts what is under way to each destination, so that one that hangs or
// is down delays no other. The zero value is ready for use.
type hosts struct {
	mu    sync.Mutex
	known map[string]*host
}

type host struct {
	running int
	silent  int       // deliveries in a row without a response
	until   time.Time // none before
}

// enter reserves a delivery to a destination. done is nil where there is no room;
// ready then says when to ask again. done is called with whether the host
// responded; it reports whether there is room again where there was none.
func (h *hosts) enter(
	destination string,
	now time.Time,
) (done func(now time.Time, responded bool) bool, ready time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil {
		h.known = map[string]*host{}
	}
	one := h.known[destination]
	if one == nil {
		one = &host{}
		h.known[destination] = one
	}
	if blocked, until := one.blocked(now); blocked {
		return nil, until
	}
	one.running++
	return func(now time.Time, responded bool) bool { return h.leave(destination, now, responded) }, time.Time{}
}

// blocked reports whether nothing may be sent to the host now, and when to ask
// again.
func (o *host) blocked(now time.Time) (bool, time.Time) {
	switch {
	case now.Before(o.until):
		return true, o.until
	case o.silent >= breakAfter && o.running > 0, o.running >= PerDestination:
		return true, now.Add(postpone)
	}
	return false, time.Time{}
}

func (h *hosts) leave(destination string, now time.Time, responded bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.known[destination]
	before, _ := one.blocked(now)
	one.running--
	if responded {
		one.silent, one.until = 0, time.Time{}
	} else if one.silent++; one.silent >= breakAfter {
		one.until = now.Add(breakFor)
	}
	after, _ := one.blocked(now)
	if one.running == 0 && one.silent == 0 {
		delete(h.known, destination)
	}
	return before && !after
}

// busy returns the destinations that nothing may be sent to now.
func (h *hosts) busy(now time.Time) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []string
	for name, one := range h.known {
		if blocked, _ := one.blocked(now); blocked {
			list = append(list, name)
		}
	}
	return list
}
