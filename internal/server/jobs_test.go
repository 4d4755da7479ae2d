package server

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Each kind of job has a handler and a lane: without a lane it would be done
// among the housekeeping.
func TestEachJobHasALane(t *testing.T) {
	t.Parallel()
	s := newHost(t, Options{})
	for !s.front.Ready() {
		time.Sleep(time.Millisecond)
	}
	handled, assigned := slices.Sorted(maps.Keys(s.handlers())), slices.Sorted(maps.Keys(jobLanes()))
	if diff := cmp.Diff(assigned, handled); diff != "" {
		t.Errorf("kinds with a lane (-) and with a handler (+):\n%s", diff)
	}
}
