package console

import (
	"fmt"
	"hash/fnv"
	"time"
	"unicode"
)

// ago says how long ago a time was, the way people do.
func ago(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := time.Since(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return count(int(d/time.Minute), "minute") + " ago"
	case d < 24*time.Hour:
		return count(int(d/time.Hour), "hour") + " ago"
	case d < 30*24*time.Hour:
		return count(int(d/(24*time.Hour)), "day") + " ago"
	}
	return "on " + day(t)
}

// used says when something was used last.
func used(t time.Time) string {
	if t.IsZero() {
		return "never used"
	}
	return "used " + ago(t)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// day is a date.
func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// hour is the time of a day.
func hour(t time.Time) string { return t.UTC().Format("15:04") }

// stamp is a time for machines, in the attribute datetime.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// hues is the number of colours of tiles in the style sheet.
const hues = 8

// hue picks a colour for a name, always the same.
func hue(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return fmt.Sprintf("hue-%d", h.Sum32()%hues)
}

// initial is the letter that stands for a name.
func initial(name string) string {
	for _, c := range name {
		return string(unicode.ToUpper(c))
	}
	return "?"
}
