package tool

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

const (
	recordGather = 100 * time.Millisecond // unless a reader waits
	recordAtOnce = 256
	maxUnwritten = 4096
	recordTries  = 5
	recordPause  = 250 * time.Millisecond
)

// recorder writes the ends of runs that need no row after a crash. The caller does
// not wait for the disk, and the runs that end within a moment, or during a
// transaction, are written together. Readers of runs wait until it is empty.
type recorder struct {
	mu      sync.Mutex
	next    *batch // collects; nil: nothing waits
	current *batch // is being written
	writing bool
}

// batch is a group of runs that is written together.
type batch struct {
	runs   []*Run
	wanted chan struct{} // closed when a reader waits for it
	want   sync.Once
	done   chan struct{} // closed when it is written
}

// record queues the end of a run to be written. It returns false if too many are
// queued: the caller then writes it itself.
func (s *Service) record(r *Run) bool {
	c := &s.recorder
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = &batch{wanted: make(chan struct{}), done: make(chan struct{})}
	}
	if len(c.next.runs) >= maxUnwritten {
		return false
	}
	copied := *r
	c.next.runs = append(c.next.runs, &copied)
	if first := c.next; !c.writing {
		c.writing = true
		s.background.Go(func() { s.writeRecords(first) })
	}
	return true
}

// writeRecords writes batches until none is queued.
func (s *Service) writeRecords(b *batch) {
	for c := &s.recorder; b != nil; {
		select {
		case <-b.wanted:
		case <-time.After(recordGather):
		}
		c.mu.Lock()
		c.current, c.next = b, nil
		c.mu.Unlock()
		for runs := range slices.Chunk(b.runs, recordAtOnce) {
			s.writeRuns(runs)
		}
		close(b.done)
		c.mu.Lock()
		b, c.current = c.next, nil
		c.writing = b != nil
		c.mu.Unlock()
	}
}

func (s *Service) writeRuns(runs []*Run) {
	ctx := context.Background() // no caller waits for it
	var err error
	for try := range recordTries {
		if err = s.Runs.RecordRuns(ctx, runs); err == nil {
			return
		}
		time.Sleep(recordPause << try)
	}
	s.options.Log.ErrorContext(ctx, "ended runs not written", slog.Int("runs", len(runs)),
		slog.Any("error", err))
}

// Settled waits until the runs that have ended so far are written.
func (s *Service) Settled(ctx context.Context) error {
	c := &s.recorder
	c.mu.Lock()
	last := c.current
	if c.next != nil {
		last = c.next
	}
	c.mu.Unlock()
	if last == nil {
		return nil
	}
	last.want.Do(func() { close(last.wanted) })
	select {
	case <-last.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
