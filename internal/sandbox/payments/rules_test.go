package payments

import (
	"testing"
	"time"

	"ace/internal/sandbox/object"
)

func TestNextPeriod(t *testing.T) {
	t.Parallel()
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 9, 30, 0, 0, time.UTC) }
	tests := []struct {
		name         string
		anchor, from time.Time
		r            object.Recurring
		want         time.Time
	}{
		{
			"day", day(2026, 2, 28), day(2026, 2, 28),
			object.Recurring{Interval: "day", IntervalCount: 3},
			day(2026, 3, 3),
		},
		{
			"week", day(2026, 12, 28), day(2026, 12, 28),
			object.Recurring{Interval: "week", IntervalCount: 1},
			day(2027, 1, 4),
		},
		{
			"month", day(2026, 1, 15), day(2026, 1, 15),
			object.Recurring{Interval: "month", IntervalCount: 1},
			day(2026, 2, 15),
		},
		{
			"into a short month", day(2026, 1, 31), day(2026, 1, 31),
			object.Recurring{Interval: "month", IntervalCount: 1},
			day(2026, 2, 28),
		},
		{
			"out of a short month", day(2026, 1, 31), day(2026, 2, 28),
			object.Recurring{Interval: "month", IntervalCount: 1},
			day(2026, 3, 31),
		},
		{
			"over the year", day(2026, 11, 30), day(2026, 11, 30),
			object.Recurring{Interval: "month", IntervalCount: 3},
			day(2027, 2, 28),
		},
		{
			"leap day", day(2028, 2, 29), day(2028, 2, 29),
			object.Recurring{Interval: "year", IntervalCount: 1},
			day(2029, 2, 28),
		},
		{
			"back to the leap day", day(2028, 2, 29), day(2031, 2, 28),
			object.Recurring{Interval: "year", IntervalCount: 1},
			day(2032, 2, 29),
		},
	}
	for _, tt := range tests {
		if got := nextPeriod(tt.anchor, tt.from, &tt.r); !got.Equal(tt.want) {
			t.Errorf("%s: nextPeriod = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	attempts := 1
	for ; ; attempts++ {
		pause, more := retryAfter(int64(attempts))
		if !more {
			break
		}
		if pause < 5*time.Second || pause > 24*time.Hour {
			t.Errorf("retryAfter(%d) = %v", attempts, pause)
		}
	}
	if attempts != 12 {
		t.Errorf("attempts in all = %d, want 12", attempts)
	}
}
