package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// endWithin bounds the end of a process, from the signal to the closed database.
// finishWithin is when what has not ended by itself is left to its lease, so
// that there is time for the rest.
const (
	endWithin    = 50 * time.Second
	finishWithin = 46 * time.Second
)

// lifecycle is how a process runs and ends. One deadline holds for the whole
// end; no step waits for its own time after another.
//
//	signal ──> not ready, listeners go on for the drain delay
//	       ──> long polls return, listeners close, lanes claim nothing more
//	       ──> requests end ──> runs in the background end
//	           handlers of jobs end
//	       ──> buffers are written ──> sandbox and admin listeners ──> database
type lifecycle struct {
	log *slog.Logger

	requests shutdownStep    // the listeners of the hosts
	draining <-chan struct{} // closed when the listeners close
	work     shutdownStep    // claims and runs jobs
	finish   shutdownStep    // ends what requests and jobs have started; runs only at the end
	loops    shutdownStep    // what serves all of the above, and writes its buffers at its end
	last     shutdownStep    // what is needed until the very end
	close    func(context.Context) error
}

// run runs everything until ctx ends or a listener fails, and then ends it.
func (l *lifecycle) run(ctx context.Context) error {
	background := context.WithoutCancel(ctx)
	for _, s := range []*shutdownStep{&l.last, &l.loops, &l.work, &l.requests} {
		s.start(background)
	}
	select {
	case <-ctx.Done():
	case <-l.requests.ended: // a listener broke: the process is of no use
	}
	l.log.InfoContext(ctx, "stopping")
	end, cancel := context.WithTimeout(background, endWithin)
	defer cancel()
	finished, cancelFinish := context.WithTimeout(background, finishWithin)
	defer cancelFinish()

	l.requests.stop()
	select {
	case <-l.draining:
	case <-l.requests.ended:
	}
	l.work.stop()
	errs := []error{l.requests.wait(finished)}
	l.finish.start(background)
	errs = append(errs, l.finish.wait(finished), l.work.wait(finished))
	for _, s := range []*shutdownStep{&l.loops, &l.last} {
		s.stop()
		errs = append(errs, s.wait(end))
	}
	return errors.Join(append(errs, l.close(end))...)
}

// shutdownStep is a set of parts that start and stop together.
type shutdownStep struct {
	parts []part

	stop  context.CancelFunc
	ended chan struct{} // closed when all parts have ended

	mu      sync.Mutex
	running []string
	errs    []error
}

// part runs until its context ends.
type part struct {
	name string
	run  func(ctx context.Context) error
}

// loop is a part that cannot fail.
func loop(name string, run func(ctx context.Context)) part {
	return part{name, func(ctx context.Context) error { run(ctx); return nil }}
}

func (s *shutdownStep) start(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	s.ended = make(chan struct{})
	s.mu.Lock()
	for _, p := range s.parts {
		s.running = append(s.running, p.name)
	}
	s.mu.Unlock()
	var parts sync.WaitGroup
	for _, p := range s.parts {
		parts.Go(func() {
			err := p.run(ctx)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.running = slices.DeleteFunc(s.running, func(name string) bool { return name == p.name })
			s.errs = append(s.errs, err)
		})
	}
	go func() { parts.Wait(); close(s.ended) }()
}

// wait returns when all parts have ended, or when the time is over: with an
// error that names the ones that have not.
func (s *shutdownStep) wait(until context.Context) error {
	select {
	case <-s.ended:
	case <-until.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := slices.Clone(s.errs)
	if len(s.running) > 0 {
		errs = append(errs, fmt.Errorf("the process ends without waiting longer for %s",
			strings.Join(s.running, ", ")))
	}
	return errors.Join(errs...)
}
