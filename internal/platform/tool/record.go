package tool

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

const (
	recordGather = 100 * time.Millisecond // unless somebody waits
	recordAtOnce = 256
	maxUnwritten = 4096
	recordTries  = 5
	recordPause  = 250 * time.Millisecond
)

// recorder writes the ends of runs that nobody has to find after a crash: the
// caller does not wait for the disk, and what ends within a moment, or while a
// transaction is under way, is written together. Whoever reads runs waits until
// it is empty.
type recorder struct {
	mu      sync.Mutex
	next    *round // gathers; nil: nothing waits
	now     *round // is being written
	writing bool
}

// round is a group of runs that is written together.
type round struct {
	runs  []*Run
	asked chan struct{} // closed when somebody waits for it
	ask   sync.Once
	done  chan struct{} // closed when it is written
}

// record takes a run whose end is to be written. It reports false where too many
// wait already: the caller then writes it himself.
func (s *Service) record(r *Run) bool {
	c := &s.recorder
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = &round{asked: make(chan struct{}), done: make(chan struct{})}
	}
	if len(c.next.runs) >= maxUnwritten {
		return false
	}
	kept := *r
	c.next.runs = append(c.next.runs, &kept)
	if first := c.next; !c.writing {
		c.writing = true
		s.working.Go(func() { s.writeRecords(first) })
	}
	return true
}

// writeRecords writes rounds until nothing waits.
func (s *Service) writeRecords(r *round) {
	for c := &s.recorder; r != nil; {
		select {
		case <-r.asked:
		case <-time.After(recordGather):
		}
		c.mu.Lock()
		c.now, c.next = r, nil
		c.mu.Unlock()
		for batch := range slices.Chunk(r.runs, recordAtOnce) {
			s.writeBatch(batch)
		}
		close(r.done)
		c.mu.Lock()
		r, c.now = c.next, nil
		c.writing = r != nil
		c.mu.Unlock()
	}
}

func (s *Service) writeBatch(batch []*Run) {
	ctx := context.Background() // no caller waits for it
	var err error
	for try := range recordTries {
		if err = s.Store.RecordRuns(ctx, batch); err == nil {
			return
		}
		time.Sleep(recordPause << try)
	}
	s.options.Log.ErrorContext(ctx, "ends of runs are not written down", slog.Int("runs", len(batch)), slog.Any("error", err))
}

// Settled waits until the runs that have ended so far are written.
func (s *Service) Settled(ctx context.Context) error { return s.settled(ctx) }

// settled waits until the runs that have ended so far are written.
func (s *Service) settled(ctx context.Context) error {
	c := &s.recorder
	c.mu.Lock()
	last := c.now
	if c.next != nil {
		last = c.next
	}
	c.mu.Unlock()
	if last == nil {
		return nil
	}
	last.ask.Do(func() { close(last.asked) })
	select {
	case <-last.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
