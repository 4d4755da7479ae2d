package usage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/usage"
)

// counter remembers its queries and returns n groups.
type counter struct {
	asked usage.Query
	n     int
}

func (c *counter) Usage(_ context.Context, _ string, q usage.Query) ([]usage.Count, error) {
	c.asked = q
	return make([]usage.Count, min(c.n, q.Limit)), nil
}

func TestCount(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		q    usage.Query
		code string
	}{
		{"a day", usage.Query{From: at, To: at.Add(24 * time.Hour), By: usage.ByDay}, ""},
		{"all there can be", usage.Query{From: at.Add(-usage.MaxRange), To: at, By: usage.ByKey}, ""},
		{"longer", usage.Query{From: at.Add(-usage.MaxRange - time.Millisecond), To: at}, "invalid_request"},
		{"backwards", usage.Query{From: at, To: at.Add(-time.Hour)}, "invalid_request"},
		{"nothing", usage.Query{From: at, To: at}, "invalid_request"},
		{
			"by something else",
			usage.Query{From: at, To: at.Add(time.Hour), By: "connection; DROP TABLE"},
			"invalid_request",
		},
		{"an end long ago alone", usage.Query{To: time.Unix(0, 0)}, ""},
	}
	for _, tt := range tests {
		store := &counter{n: 3}
		_, groups, more, err := (&usage.Service{Store: store}).Count(t.Context(), "acc_a", nil, tt.q)
		if tt.code != "" {
			if !problem.Is(err, tt.code) || store.asked.Limit != 0 {
				t.Errorf("%s: %v, want %s before anything is counted", tt.name, err, tt.code)
			}
			continue
		}
		if err != nil || len(groups) != 3 || more {
			t.Errorf("%s: %d groups, more %v, %v", tt.name, len(groups), more, err)
		}
	}
}

func TestDefaultsAndRestrictions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &counter{n: usage.MaxGroups + 5}
		settled := 0
		s := &usage.Service{Store: store, Settled: func(context.Context) error { settled++; return nil }}
		key := &apikey.Key{Restrict: apikey.Restrictions{
			Apps: []string{"desk"}, Tools: []string{"desk__search"},
			EndUser: "ann",
		}}
		time.Sleep(time.Nanosecond) // within a second and within a millisecond: what was made now counts
		q, groups, more, err := s.Count(t.Context(), "acc_a", key, usage.Query{Apps: []string{"other"}, EndUser: "bob"})
		if err != nil || len(groups) != usage.MaxGroups || !more || settled != 1 {
			t.Errorf("Count = %d groups, more %v, %v, waited %d times", len(groups), more, err, settled)
		}
		if q.By != usage.ByApp || !q.To.Equal(time.Now().Truncate(time.Second).Add(time.Second)) ||
			q.To.Sub(q.From) != 30*24*time.Hour {
			t.Errorf("counted from %v to %v by %s", q.From, q.To, q.By)
		}
		if a := store.asked; len(a.Apps) != 1 || a.Apps[0] != "desk" || a.Tools[0] != "desk__search" ||
			a.EndUser != "ann" {
			t.Errorf("asked for %+v, want what the key may see", a)
		}
		s.Settled = func(context.Context) error { return errors.New("stopping") }
		if _, _, _, err := s.Count(t.Context(), "acc_a", nil, usage.Query{}); err == nil {
			t.Error("Count hides that runs are not written")
		}
	})
}
