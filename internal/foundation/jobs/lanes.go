package jobs

import (
	"slices"
	"sync"
	"time"
)

// Lane is a class of work with a budget of its own. A lane that is full delays
// no other one.
type Lane string

// The lanes.
const (
	LaneMoney   Lane = "money"   // what was paid, and what is owed
	LaneDeliver Lane = "deliver" // messages to servers of others
	LaneRefresh Lane = "refresh" // credentials at vendors
	LanePoll    Lane = "poll"    // events at vendors
	LaneRun     Lane = "run"     // tools that run in the background
	LaneHouse   Lane = "house"   // housekeeping
)

// AllLanes returns every lane.
func AllLanes() []Lane {
	return []Lane{LaneMoney, LaneDeliver, LaneRefresh, LanePoll, LaneRun, LaneHouse}
}

// budget returns how many handlers of the lane run at the same time in one
// process, unless Options say otherwise.
func (l Lane) budget() int {
	switch l {
	case LaneMoney:
		return 8
	case LaneDeliver:
		return 128
	case LaneRefresh, LanePoll:
		return 64
	case LaneRun:
		return 32
	case LaneHouse:
	}
	return 2
}

// idle returns the longest time between two looks at the lane. A job that this
// process schedules, or one that falls due, shortens it: it bounds how long a
// job waits that another process has scheduled.
func (l Lane) idle() time.Duration {
	if l == LaneMoney {
		return 500 * time.Millisecond
	}
	return 2 * time.Second
}

// Lanes says in which lane each kind of job is done, and wakes the lanes that
// have something to do. Whatever schedules jobs shares one with the Worker. A
// nil *Lanes serves tests: every kind is done in LaneHouse, and nothing is
// woken. It is safe for concurrent use.
type Lanes struct {
	lanes map[string]Lane
	wake  map[Lane]*signal
}

// NewLanes returns lanes for the kinds. A kind without an entry belongs to
// LaneHouse.
func NewLanes(kinds map[string]Lane) *Lanes {
	l := &Lanes{lanes: kinds, wake: map[Lane]*signal{}}
	for _, lane := range AllLanes() {
		l.wake[lane] = &signal{}
	}
	return l
}

// Of returns the lane of a kind.
func (l *Lanes) Of(kind string) Lane {
	if l == nil {
		return LaneHouse
	}
	if lane, ok := l.lanes[kind]; ok {
		return lane
	}
	return LaneHouse
}

// Kinds returns the kinds that have an entry, in order.
func (l *Lanes) Kinds() []string {
	if l == nil {
		return nil
	}
	kinds := make([]string, 0, len(l.lanes))
	for kind := range l.lanes {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// Scheduled wakes the lanes of jobs that fall due before the lane would look by
// itself. Call it after the transaction that scheduled them. It never blocks.
func (l *Lanes) Scheduled(js ...Job) {
	if l == nil {
		return
	}
	for _, job := range js {
		if lane := l.Of(job.Kind); time.Until(job.RunAt) < lane.idle() {
			l.wake[lane].notify()
		}
	}
}

// Wake makes the lane of a kind look for work now. It never blocks.
func (l *Lanes) Wake(kind string) {
	if l != nil {
		l.wake[l.Of(kind)].notify()
	}
}

// signal wakes every feed of a lane.
type signal struct {
	mu    sync.Mutex
	feeds []chan struct{}
}

// subscribe returns a channel that holds a value after a notification.
func (s *signal) subscribe() chan struct{} {
	feed := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feeds = append(s.feeds, feed)
	return feed
}

func (s *signal) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, feed := range s.feeds {
		notify(feed)
	}
}

func notify(feed chan struct{}) {
	select {
	case feed <- struct{}{}:
	default:
	}
}
