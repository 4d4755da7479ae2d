package app

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Times as apps read them.
const (
	TimeRFC3339 = "rfc3339"     // 2026-11-22T10:00:00Z
	TimeMillis  = "rfc3339_ms"  // 2026-11-22T10:00:00.000Z
	TimeUnix    = "unix"        // seconds since 1970
	TimeUnixMS  = "unix_ms"     // milliseconds
	TimeDate    = "date"        // 2026-11-22, of UTC
	TimeAgo     = "minutes_ago" // for apps that read times in the zone of the person
)

// WriteTime returns how the app of a poll reads a time.
func (p *Poll) WriteTime(at, now time.Time) string {
	switch p.Time {
	case TimeMillis:
		return at.UTC().Format("2006-01-02T15:04:05.000Z")
	case TimeUnix:
		return strconv.FormatInt(at.Unix(), 10)
	case TimeUnixMS:
		return strconv.FormatInt(at.UnixMilli(), 10)
	case TimeDate:
		return at.UTC().Format(time.DateOnly)
	case TimeAgo:
		return strconv.FormatInt(int64(math.Ceil(max(now.Sub(at), 0).Minutes())), 10)
	}
	return at.UTC().Truncate(time.Second).Format(time.RFC3339)
}

// ReadTime reads a time as apps write it: RFC 3339 with any zone, or none (UTC),
// the date of an e-mail, or seconds or milliseconds since 1970.
func ReadTime(text string) (at time.Time, ok bool) {
	if seconds, fraction, _ := strings.Cut(text, "."); len(seconds) >= 9 {
		number, err := strconv.ParseInt(seconds, 10, 64)
		nanos, wrong := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
		switch {
		case err == nil && wrong == nil && number < 1e11:
			return time.Unix(number, nanos).UTC(), true
		case err == nil:
			return time.UnixMilli(number).UTC(), true
		}
	}
	for _, layout := range []string{
		time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", time.DateTime, time.RFC1123Z, time.DateOnly,
	} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
