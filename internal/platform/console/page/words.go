package page

import (
	"fmt"
	"hash/fnv"
	"time"
	"unicode"
)

// Ago says how long ago a time was, the way people do.
func Ago(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := time.Since(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return Count(int(d/time.Minute), "minute") + " ago"
	case d < 24*time.Hour:
		return Count(int(d/time.Hour), "hour") + " ago"
	case d < 30*24*time.Hour:
		return Count(int(d/(24*time.Hour)), "day") + " ago"
	}
	return "on " + Day(t)
}

// Used says when something was used last.
func Used(t time.Time) string {
	if t.IsZero() {
		return "never used"
	}
	return "used " + Ago(t)
}

// Count is a number of things in words.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Day is a date.
func Day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// Hour is the time of a day.
func Hour(t time.Time) string { return t.UTC().Format("15:04") }

// Stamp is a time for machines, in the attribute datetime.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// hues is the number of colours of tiles in the style sheet.
const hues = 8

// hue picks a colour for a name, always the same.
func hue(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	sum := h.Sum32()
	return fmt.Sprintf("hue-%d", (sum^sum>>15)%hues) // the low bits alone are alike for names that are
}

// initial is the letter that stands for a name.
func initial(name string) string {
	for _, c := range name {
		return string(unicode.ToUpper(c))
	}
	return "?"
}
