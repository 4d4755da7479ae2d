package reply

import (
	"math"
	"strconv"
	"strings"
	"time"

	"ace/internal/platform/app"
)

// tooFar is a time that is meant as never.
const tooFar = 100 * 365 * 24 * time.Hour

// Ends reads one expiry. Zero is for what cannot be read, 0 and less, and times
// so far that never is meant.
func Ends(text string, e *app.Expires, now time.Time) time.Time {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}
	}
	var at time.Time
	switch e.Parse {
	case "iso":
		at = instant(text)
	case "dhms":
		if after := dhms(text); after > 0 {
			at = now.Add(after)
		}
	default:
		at = counted(text, e, now)
	}
	if at.IsZero() || at.Sub(now) > tooFar {
		return time.Time{}
	}
	return at.Truncate(time.Second)
}

// counted is a number of seconds or milliseconds, from now or from 1970.
func counted(text string, e *app.Expires, now time.Time) time.Time {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n <= 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return time.Time{}
	}
	if e.Unit == "ms" {
		n /= 1000
	}
	if n > 1e11 { // further than any calendar, and than a duration can hold
		return time.Time{}
	}
	if e.Kind == "at" {
		return time.UnixMilli(int64(n * 1000)).UTC()
	}
	if n > tooFar.Seconds() {
		return time.Time{}
	}
	return now.Add(time.Duration(n * float64(time.Second))).UTC()
}

// instant reads a time as ISO 8601 has it; without a zone it is UTC.
func instant(text string) time.Time {
	for _, layout := range []string{
		time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05",
		"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05", time.RFC1123,
	} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// dhms reads days, hours, minutes and seconds, such as 0:02:00:00; leading parts
// may be missing.
func dhms(text string) time.Duration {
	units := []time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour}
	pieces := strings.Split(text, ":")
	if len(pieces) > len(units) {
		return 0
	}
	var sum time.Duration
	for i, piece := range pieces {
		n, err := strconv.Atoi(strings.TrimSpace(piece))
		if err != nil || n < 0 || n > 100000 {
			return 0
		}
		sum += time.Duration(n) * units[len(pieces)-1-i]
	}
	return sum
}

// Moment reads a time as it comes: ISO 8601, or seconds or milliseconds since
// 1970, which differ by their size for all times of this century.
func Moment(text string) time.Time {
	now := time.Now()
	if at := Ends(text, &app.Expires{Parse: "iso"}, now); !at.IsZero() {
		return at
	}
	if at := Ends(text, &app.Expires{Kind: "at"}, now); !at.IsZero() {
		return at
	}
	return Ends(text, &app.Expires{Kind: "at", Unit: "ms"}, now)
}
