package pace_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/platform/tool/pace"
)

// TestWait starts many calls at once: each begins as early as the rate permits,
// and no second holds more of them than allowed.
func TestWait(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0.5, 1, 3, 10} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var l pace.Limiter
				begin := time.Now()
				var mu sync.Mutex
				var calls []time.Duration
				var all sync.WaitGroup
				n := max(2, int(rate*4))
				for range n {
					all.Go(func() {
						if err := l.Wait(t.Context(), "key", rate); err != nil {
							t.Errorf("Wait = %v", err)
						}
						mu.Lock()
						defer mu.Unlock()
						calls = append(calls, time.Since(begin))
					})
				}
				all.Wait()
				burst := max(1, int(rate))
				window := time.Duration(float64(burst) / rate * float64(time.Second))
				for i := burst; i < n; i++ { // in the order in which they began
					if calls[i]-calls[i-burst] < window {
						t.Errorf(
							"calls %d and %d began within %v, want %v",
							i-burst,
							i,
							calls[i]-calls[i-burst],
							window,
						)
					}
				}
				if last := time.Duration((n-1)/burst) * window; calls[n-1] > last {
					t.Errorf("the last call began after %v, want at most %v", calls[n-1], last)
				}
			})
		})
	}
}

func TestWaitRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l pace.Limiter
		if err := l.Wait(t.Context(), "key", 0.05); err != nil { // one in 20 s
			t.Fatal(err)
		}
		var busy *pace.Busy
		if err := l.Wait(t.Context(), "key", 0.05); !errors.As(err, &busy) || busy.RetryAfter != 20*time.Second {
			t.Errorf("Wait = %v, %+v, want Busy for 20 s", err, busy)
		}
		if err := l.Wait(t.Context(), "other", 0.05); err != nil {
			t.Errorf("Wait for another key = %v", err)
		}
		time.Sleep(15 * time.Second)
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := l.Wait(short, "key", 0.05); !errors.As(err, &busy) || busy.RetryAfter != 5*time.Second {
			t.Errorf("Wait with a short deadline = %v, %+v, want Busy for 5 s", err, busy)
		}
		canceled, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := l.Wait(canceled, "key", 0.05); !errors.As(err, &busy) || busy.RetryAfter != 0 {
			t.Errorf("Wait that is canceled = %v, %+v, want Busy", err, busy)
		}
	})
}

func TestHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l pace.Limiter
		begin := time.Now()
		l.Hold("key", 3*time.Second)
		l.Hold("key", time.Second) // the longer one counts
		if err := l.Wait(t.Context(), "other", 0); err != nil || time.Since(begin) != 0 {
			t.Errorf("Wait for another key = %v after %v", err, time.Since(begin))
		}
		if err := l.Wait(t.Context(), "key", 0); err != nil || time.Since(begin) != 3*time.Second {
			t.Errorf("Wait = %v after %v, want 3 s", err, time.Since(begin))
		}
		l.Hold("key", time.Hour)
		var busy *pace.Busy
		if err := l.Wait(t.Context(), "key", 0); !errors.As(err, &busy) || busy.RetryAfter != time.Minute {
			t.Errorf("Wait after a long hold = %v, want Busy for a minute", err)
		}
	})
}

// TestManyKeys uses more keys than are remembered.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l pace.Limiter
		for i := range 30_000 {
			if err := l.Wait(t.Context(), fmt.Sprint(i), 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Wait(t.Context(), "29999", 1); err != nil {
			t.Errorf("Wait = %v", err)
		}
	})
}
