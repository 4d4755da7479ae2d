package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// process is a lifecycle whose parts take as long to end as a test says, and
// the log of when they were stopped and ended.
type process struct {
	lifecycle
	draining chan struct{}
	began    time.Time // of the end

	mu  sync.Mutex
	log []string
}

func (p *process) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, what+" "+time.Since(p.began).String())
}

// noted returns the notes so far; a part that never ends may still take some.
func (p *process) noted() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.log)
}

// slow is a part that takes some time to end.
func (p *process) slow(name string, takes time.Duration) part {
	return loop(name, func(ctx context.Context) {
		<-ctx.Done()
		p.note(name + " told")
		time.Sleep(takes)
		p.note(name + " ended")
	})
}

// stop runs the process for an hour, ends it, and returns how long that took.
func (p *process) stop(t *testing.T) (time.Duration, error) {
	t.Helper()
	p.lifecycle.log = slog.New(slog.DiscardHandler)
	p.lifecycle.draining = p.draining
	p.close = func(context.Context) error { p.note("closed"); return nil }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.run(ctx) }()
	time.Sleep(time.Hour)
	p.began = time.Now()
	cancel()
	err := <-ended
	return time.Since(p.began), err
}

// requests is the hosts: they go on for the delay and then need some time.
func (p *process) requests(delay, takes time.Duration) part {
	return loop("requests", func(ctx context.Context) {
		<-ctx.Done()
		time.Sleep(delay)
		p.note("listeners closed")
		close(p.draining)
		time.Sleep(takes)
	})
}

// atEnd is a part that only runs at the end.
func (p *process) atEnd(name string, takes time.Duration) part {
	return loop(name, func(context.Context) { time.Sleep(takes); p.note(name + " ended") })
}

func newProcess(delay, requests, jobs, runs time.Duration) *process {
	p := &process{draining: make(chan struct{})}
	p.lifecycle.requests.parts = []part{p.requests(delay, requests)}
	p.work.parts = []part{p.slow("jobs", jobs)}
	p.finish.parts = []part{p.atEnd("runs", runs)}
	p.loops.parts = []part{p.slow("buffers", time.Second)}
	p.last.parts = []part{p.slow("admin", 2*time.Second)}
	return p
}

func TestProcessEndsInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(5*time.Second, 10*time.Second, 20*time.Second, 5*time.Second)
		took, err := p.stop(t)
		want := []string{
			"listeners closed 5s", "jobs told 5s", "runs ended 20s", "jobs ended 25s", "buffers told 25s",
			"buffers ended 26s", "admin told 26s", "admin ended 28s", "closed 28s",
		}
		if err != nil || took != 28*time.Second || !slices.Equal(p.log, want) {
			t.Errorf("ended after %s with %v:\n%s", took, err, strings.Join(p.log, "\n"))
		}
	})
}

// Whatever takes too long, the process ends within 50 s, with its buffers
// written and its database closed.
func TestProcessEndsInTime(t *testing.T) {
	t.Parallel()
	const forever = 24 * time.Hour
	for name, tt := range map[string]struct {
		p    func() *process
		most time.Duration
		says string
	}{
		"the longest of all that end by themselves": {
			func() *process {
				return newProcess(5*time.Second, 20*time.Second, 40*time.Second, 20*time.Second)
			}, 48 * time.Second, "",
		},
		"jobs that never end": {func() *process {
			return newProcess(5*time.Second, 0, forever, 0)
		}, endWithin, "jobs"},
		"requests that never end": {func() *process { return newProcess(0, forever, 0, 0) }, endWithin, "requests"},
		"runs that never end":     {func() *process { return newProcess(0, 0, 0, forever) }, endWithin, "runs"},
		"nothing ever ends": {func() *process {
			return newProcess(15*time.Second, forever, forever, forever)
		}, endWithin, "requests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := tt.p()
				took, err := p.stop(t)
				log := p.noted()
				if took > tt.most || !strings.HasPrefix(log[len(log)-1], "closed") {
					t.Errorf("ended after %s, want at most %s and the database closed last:\n%s", took, tt.most,
						strings.Join(log, "\n"))
				}
				if !slices.ContainsFunc(log, func(s string) bool { return strings.HasPrefix(s, "buffers ended") }) {
					t.Errorf("the buffers were not written:\n%s", strings.Join(log, "\n"))
				}
				if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
					t.Errorf("error %v, want it to name %q", err, tt.says)
				}
				time.Sleep(2 * forever) // the parts that hung end with the test
			})
		})
	}
}

// A listener that fails ends the process at once, without a drain delay.
func TestProcessEndsWithItsListener(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("the listener broke")
		p := newProcess(0, 0, 0, 0)
		p.lifecycle.requests.parts = []part{{"requests", func(context.Context) error { return broken }}}
		p.lifecycle.log, p.lifecycle.draining = slog.New(slog.DiscardHandler), p.draining
		p.close = func(context.Context) error { return nil }
		if err := p.run(t.Context()); !errors.Is(err, broken) {
			t.Errorf("run = %v, want the failure of the listener", err)
		}
	})
}
