package ratelimit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/ratelimit"

	"github.com/google/go-cmp/cmp"
)

func TestRefund(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := ratelimit.NewTable(&ratelimit.TableOptions{Slots: 64}).Limiter(perSecond())
		refund := func(key string, cost int) ratelimit.Result {
			r, err := l.Refund(t.Context(), key, cost)
			if err != nil {
				t.Fatal(err)
			}
			r.Policy = ratelimit.Policy{}
			return r
		}
		if got := refund("nobody", 1); got != (ratelimit.Result{Allowed: true, Remaining: 5}) {
			t.Errorf("Refund of an unknown client = %+v, want a whole burst", got)
		}
		take(t, l, "a", 5)
		time.Sleep(300 * time.Millisecond)
		want := ratelimit.Result{Allowed: true, Remaining: 2, Reset: 700 * time.Millisecond}
		if diff := cmp.Diff(want, refund("a", 2)); diff != "" {
			t.Errorf("Refund(2) (-want +got):\n%s", diff)
		}
		if got := take(t, l, "a", 3); got.Allowed {
			t.Error("Take(3) with two units is allowed")
		}
		if got := refund("a", -5); got.Remaining != 2 {
			t.Errorf("Refund(-5) leaves %d, want 2", got.Remaining)
		}
		if got := refund("a", 1<<40); got != (ratelimit.Result{Allowed: true, Remaining: 5}) {
			t.Errorf("Refund of more than was taken = %+v, want a whole burst and no more", got)
		}
		if got := take(t, l, "a", 5); !got.Allowed || got.Remaining != 0 {
			t.Errorf("Take(5) after it = %+v, want allowed", got)
		}
	})
}
