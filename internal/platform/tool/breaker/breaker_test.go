package breaker_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/platform/tool/breaker"
)

const host = "notes api.notes.example"

// call makes a call with an outcome, if it is admitted.
func call(b *breaker.Breaker, o breaker.Outcome) (admitted bool, retryAfter time.Duration) {
	done, retryAfter := b.Admit(host)
	if done == nil {
		return false, retryAfter
	}
	done(o)
	return true, retryAfter
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	type step struct {
		outcome breaker.Outcome
		times   int
		apart   time.Duration
	}
	fail := func(times int, apart time.Duration) step { return step{breaker.Unanswered, times, apart} }
	for _, tt := range []struct {
		name  string
		steps []step
		want  bool // the next call is admitted
	}{
		{"no call", nil, true},
		{"four failures", []step{fail(4, 0)}, true},
		{"five failures", []step{fail(5, 0)}, false},
		{"five failures, slowly", []step{fail(5, 3*time.Second)}, true},
		{"a response between", []step{fail(4, 0), {breaker.Answered, 1, 0}, fail(4, 0)}, true},
		{"unknown outcomes between", []step{fail(4, 0), {breaker.Unknown, 9, 0}, fail(1, 0)}, false},
		{"five failures and a minute", []step{fail(4, 0), fail(1, time.Minute)}, true},
		{"a probe that fails", []step{fail(4, 0), fail(1, time.Minute), fail(1, 0)}, false},
		{"a probe that ends early", []step{fail(4, 0), fail(1, time.Minute), {breaker.Unknown, 1, 0}}, true},
		{"a probe that succeeds", []step{fail(4, 0), fail(1, time.Minute), {breaker.Answered, 1, 0}, fail(4, 0)}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var b breaker.Breaker
				for _, s := range tt.steps {
					for range s.times {
						if admitted, _ := call(&b, s.outcome); !admitted {
							t.Fatalf("a call before was not admitted")
						}
						time.Sleep(s.apart)
					}
				}
				admitted, retryAfter := call(&b, breaker.Answered)
				if admitted != tt.want || !admitted && (retryAfter <= 0 || retryAfter > time.Minute) {
					t.Errorf("Admit = %v, %v, want %v", admitted, retryAfter, tt.want)
				}
				if done, _ := b.Admit("another host"); done == nil {
					t.Error("a call of another host was not admitted")
				}
			})
		})
	}
}

func TestOneProbeAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b breaker.Breaker
		for range 5 {
			call(&b, breaker.Unanswered)
		}
		time.Sleep(time.Minute)
		probe, _ := b.Admit(host)
		if probe == nil {
			t.Fatal("no probe after a minute")
		}
		if second, retryAfter := b.Admit(host); second != nil || retryAfter != time.Second {
			t.Errorf("Admit during a probe = %v, want it refused for a second", retryAfter)
		}
		probe(breaker.Answered)
		if done, _ := b.Admit(host); done == nil {
			t.Error("Admit after a probe that succeeded was refused")
		}
	})
}

// TestManyHosts fails with more hosts than are remembered.
func TestManyHosts(t *testing.T) {
	t.Parallel()
	var b breaker.Breaker
	for i := range 25_000 {
		done, _ := b.Admit(fmt.Sprint(i))
		if done == nil {
			t.Fatalf("the first call of host %d was refused", i)
		}
		done(breaker.Unanswered)
	}
}
