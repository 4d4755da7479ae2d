package tool_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/platform/tool"
)

// hostDown fails as a call does whose host cannot be reached.
func hostDown(after time.Duration) func(context.Context, int, *tool.Call) (*tool.Answer, error) {
	return func(context.Context, int, *tool.Call) (*tool.Answer, error) {
		time.Sleep(after)
		return nil, failure(tool.CodeUnavailable,
			func(f *tool.Failure) { f.AppStatus, f.Unanswered, f.Unsent = 0, true, after == 0 })
	}
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	const call = `desk__create {"title":"a"}`
	tests := []struct {
		name   string
		script func(w *world, run func() *tool.Result) // before the call that counts
		calls  int                                     // that the app sees for it
		code   string
	}{
		{"four failures", func(w *world, run func() *tool.Result) {
			w.script(failure(tool.CodeUnavailable,
				func(f *tool.Failure) { f.Unanswered, f.Unsent, f.RetryAfter = true, true, time.Hour }))
			for range 4 {
				run()
			}
			w.script("ok")
		}, 1, ""},
		{
			"five", func(w *world, run func() *tool.Result) { fail(w, run, 5, 0); w.script("ok") }, 0,
			tool.CodeUnavailable,
		},
		{
			"five, slowly", func(w *world, run func() *tool.Result) { fail(w, run, 5, 3*time.Second); w.script("ok") },
			1, "",
		},
		{"an answer between", func(w *world, run func() *tool.Result) {
			fail(w, run, 4, 0)
			w.script(failure(tool.CodeBadRequest, nil))
			run()
			fail(w, run, 4, 0)
			w.script("ok")
		}, 1, ""},
		{"five, and a minute", func(w *world, run func() *tool.Result) {
			fail(w, run,
				5, 0)
			wait(61 * time.Second)
			w.script("ok")
		}, 1, ""},
		{"a probe that fails", func(w *world, run func() *tool.Result) {
			fail(w, run, 5, 0)
			wait(61 * time.Second)
			fail(w, run, 1, 0)
			w.script("ok")
		}, 0, tool.CodeUnavailable},
		{"callers without patience", func(w *world, run func() *tool.Result) {
			w.reply = hostDown(time.Second) // silence of a second says nothing
			for range 6 {
				run()
			}
			w.script("ok")
		}, 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := setup(t)
				run := func() *tool.Result {
					id, arguments, _ := strings.Cut(call, " ")
					in := request(id, arguments)
					res, err := w.Run(t.Context(), w.by(nil), in)
					if err != nil {
						t.Fatal(err)
					}
					return res
				}
				tt.script(w, run)
				before := len(w.called())
				res := run()
				if n := len(w.called()) - before; n != tt.calls || code(res, nil) != tt.code {
					t.Errorf("%d calls and %q, want %d and %q", n, code(res, nil), tt.calls, tt.code)
				}
				if tt.calls == 0 && (res.Failure.RetryAfter <= 0 || !res.Failure.Retryable) {
					t.Errorf("failure = %+v, want one that says when to come back", res.Failure)
				}
				// Another tenant of the same app is not concerned.
				w.connections.chosen.Params = map[string]string{"tenant": "other"}
				w.script("ok")
				if res := run(); !res.OK() {
					t.Errorf("another host of the app: %+v", res.Failure)
				}
			})
		})
	}
}

// fail makes n calls that find nobody.
func fail(w *world, run func() *tool.Result, n int, apart time.Duration) {
	w.script(failure(tool.CodeUnavailable,
		func(f *tool.Failure) { f.AppStatus, f.Unanswered, f.Unsent, f.RetryAfter = 0, true, true, time.Hour }))
	for range n {
		run()
		wait(apart)
	}
}

func TestOneProbeAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		run := func() *tool.Result {
			res, err := w.Run(t.Context(), w.by(nil), request("desk__create", `{"title":"a"}`))
			if err != nil {
				t.Error(err)
			}
			return res
		}
		fail(w, run, 5, 0)
		wait(61 * time.Second)
		w.reply = takes(5*time.Second, "ok")
		before := len(w.called())
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { run() })
		}
		all.Wait()
		if n := len(w.called()) - before; n != 1 {
			t.Errorf("%d calls tried a host that was down, want 1", n)
		}
	})
}

func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		began := time.Now()
		var at []time.Duration
		w.reply = func(context.Context, int, *tool.Call) (*tool.Answer, error) {
			at = append(at, time.Since(began))
			return &tool.Answer{Output: "ok"}, nil
		}
		for range 6 { // two a second
			if _, err := w.Run(t.Context(), w.by(nil), request("weather__now", "")); err != nil {
				t.Fatal(err)
			}
		}
		for i := range at {
			if i >= 2 && at[i]-at[i-2] < time.Second-time.Millisecond {
				t.Errorf("calls at %v, want two a second", at)
				break
			}
		}
		if at[len(at)-1] > 3*time.Second {
			t.Errorf("calls at %v, want them as soon as they may be", at)
		}
	})
}

func TestPaceRefusesWhatWouldTakeTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		in := request("weather__now", "")
		in.Timeout = 2 * time.Second
		codes := map[string]int{}
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				res, err := w.Run(t.Context(), w.by(nil), in)
				mu.Lock()
				defer mu.Unlock()
				codes[code(res, err)]++
				if res != nil && res.Failure != nil && res.Failure.RetryAfter <= 0 {
					t.Errorf("failure = %+v, want one that says when to come back", res.Failure)
				}
			})
		}
		all.Wait()
		if codes[""] < 4 || codes[tool.CodeRateLimited] < 10 || codes[""] != len(w.called()) {
			t.Errorf("20 calls at a time with two seconds each: %v, %d sent", codes, len(w.called()))
		}
	})
}

// Where the app has asked to wait, calls of others wait as well.
func TestHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		w.script(failure(tool.CodeRateLimited, func(f *tool.Failure) { f.RetryAfter, f.Unsent = 5*time.Second, true }),
			"ok")
		began := time.Now()
		var all sync.WaitGroup
		all.Go(func() { _, _ = w.Run(t.Context(), w.by(nil), request("desk__create", `{"title":"a"}`)) })
		synctest.Wait()
		if _, err := w.Run(t.Context(), w.by(nil), request("desk__create", `{"title":"b"}`)); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		if calls := w.called(); len(calls) != 3 || time.Since(began) < 5*time.Second {
			t.Errorf("%d calls in %v, want the second caller to wait too", len(calls), time.Since(began))
		}
	})
}
