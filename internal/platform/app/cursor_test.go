package app_test

import (
	"testing"
	"time"

	"ace/internal/platform/app"
)

func TestTimesOfApps(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.November, 22, 10, 0, 0, 0, time.UTC)
	for _, text := range []string{
		"2026-11-22T10:00:00Z", "2026-11-22T11:00:00.000+0100", "2026-11-22T10:00:00.0000000", "2026-11-22 10:00:00",
		"Sun, 22 Nov 2026 10:00:00 +0000", "1795341600", "1795341600000", "1795341600.000000",
	} {
		if got, ok := app.ReadTime(text); !ok || !got.Equal(at) {
			t.Errorf("ReadTime(%q) = %v, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "yesterday", "12", "true"} {
		if got, ok := app.ReadTime(text); ok {
			t.Errorf("ReadTime(%q) = %v", text, got)
		}
	}
	for form, want := range map[string]string{
		app.TimeRFC3339: "2026-11-22T10:00:00Z", app.TimeMillis: "2026-11-22T10:00:00.000Z",
		app.TimeUnix: "1795341600", app.TimeUnixMS: "1795341600000", app.TimeDate: "2026-11-22", app.TimeAgo: "3",
	} {
		if got := (&app.Poll{Time: form}).WriteTime(at, at.Add(2*time.Minute+time.Second)); got != want {
			t.Errorf("%s: %q, want %q", form, got, want)
		}
	}
}
