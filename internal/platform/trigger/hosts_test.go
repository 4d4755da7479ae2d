package trigger

import (
	"slices"
	"testing"
	"time"
)

// TestHosts bounds what runs to one destination at a time, and sends nothing for a
// minute to one that was silent five times in a row, then one delivery.
func TestHosts(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	var h hosts
	enter := func(name string) func(time.Time, bool) bool {
		done, _ := h.enter(name, now)
		return done
	}
	open := make([]func(time.Time, bool) bool, 0, PerDestination)
	for range PerDestination {
		open = append(open, enter("a"))
	}
	if slices.ContainsFunc(open, func(f func(time.Time, bool) bool) bool { return f == nil }) {
		t.Fatalf("fewer than %d deliveries run to one destination", PerDestination)
	}
	if enter("a") != nil || !slices.Equal(h.busy(now), []string{"a"}) {
		t.Errorf("more than %d deliveries run to one destination", PerDestination)
	}
	if done := enter("b"); done == nil {
		t.Error("one destination that is full keeps another one waiting")
	}
	if !open[0](now, true) {
		t.Error("it does not say that there is room again")
	}
	for i, done := range open[1 : 1+breakAfter] {
		if blocked := slices.Contains(h.busy(now), "a"); blocked {
			t.Errorf("blocked after %d deliveries without a response", i)
		}
		done(now, false)
	}
	if _, ready := h.enter("a", now.Add(breakFor-1)); !ready.Equal(now.Add(breakFor)) {
		t.Errorf("after %d in a row without a response it is ready at %v", breakAfter, ready)
	}
	for _, done := range open[1+breakAfter:] {
		done(now, false)
	}
	now = now.Add(breakFor)
	probe := enter("a")
	if probe == nil || enter("a") != nil {
		t.Fatal("after the pause not exactly one delivery is sent")
	}
	probe(now, false)
	if enter("a") != nil {
		t.Error("after a probe without a response there is no second pause")
	}
	now = now.Add(breakFor)
	probe = enter("a")
	probe(now, true)
	if first, second := enter("a"), enter("a"); first == nil || second == nil || len(h.busy(now)) != 0 {
		t.Error("after a response it stays blocked")
	}
}
