package tool

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

const (
	recordAtOnce = 256
	maxUnwritten = 4096
	recordTries  = 5
	recordPause  = 250 * time.Millisecond
)

// recorder writes the ends of runs that nobody has to find after a crash: the
// caller does not wait for the disk, and what ends while a transaction is under
// way shares the next one. Whoever reads runs waits until it is empty.
type recorder struct {
	mu      sync.Mutex
	waiting []*Run
	writing bool
	round   chan struct{} // closed when what waits is written
	before  chan struct{} // closed when what is being written is
}

// record takes a run whose end is to be written. It reports false where too many
// wait already: the caller then writes it himself.
func (s *Service) record(r *Run) bool {
	c := &s.recorder
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) >= maxUnwritten {
		return false
	}
	kept := *r
	if len(c.waiting) == 0 {
		c.round = make(chan struct{})
	}
	c.waiting = append(c.waiting, &kept)
	if !c.writing {
		c.writing = true
		s.working.Go(s.writeRecords)
	}
	return true
}

// writeRecords writes until nothing waits.
func (s *Service) writeRecords() {
	c := &s.recorder
	for {
		c.mu.Lock()
		if len(c.waiting) == 0 {
			c.writing, c.before = false, nil
			c.mu.Unlock()
			return
		}
		all, done := c.waiting, c.round
		c.waiting, c.before = nil, done
		c.mu.Unlock()
		for batch := range slices.Chunk(all, recordAtOnce) {
			s.writeBatch(batch)
		}
		close(done)
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
	wait := c.before
	if len(c.waiting) > 0 {
		wait = c.round
	}
	c.mu.Unlock()
	if wait == nil {
		return nil
	}
	select {
	case <-wait:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
