package app_test

import (
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/platform/app"
)

func TestMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := app.Moment()
		if first["now"] != "946684800" || first["now_ms"] != "946684800000" ||
			first["now_iso"] != "2000-01-01T00:00:00Z" {
			t.Errorf("Moment = %v", first)
		}
		if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(
			first["uuid"]) {
			t.Errorf("uuid = %s", first["uuid"])
		}
		time.Sleep(time.Second)
		if next := app.Moment(); next["uuid"] == first["uuid"] || next["now"] != "946684801" {
			t.Errorf("Moment again = %v", next)
		}
	})
}
