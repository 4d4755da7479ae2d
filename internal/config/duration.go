package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

// days are the weeks and days in front of a time: 1w, 30d, 1d12h.
var days = regexp.MustCompile(`^(?:(\d{1,6})w)?(?:(\d{1,6})d)?(.*)$`)

// ParseDuration reads a time as settings and flags write it: what
// time.ParseDuration reads, with weeks and days in front, such as 30d or 1d12h.
func ParseDuration(text string) (time.Duration, error) {
	wrong := fmt.Errorf("%q is no time: write such as 90s, 15m, 36h or 30d", text)
	parts := days.FindStringSubmatch(text)
	whole := time.Duration(0)
	for i, unit := range []time.Duration{7 * 24 * time.Hour, 24 * time.Hour} {
		n, err := strconv.ParseInt(parts[i+1], 10, 64)
		if parts[i+1] != "" && (err != nil || n > int64((math.MaxInt64-whole)/unit)) {
			return 0, wrong
		}
		whole += time.Duration(n) * unit
	}
	if parts[3] == "" && text != "" {
		return whole, nil
	}
	rest, err := time.ParseDuration(parts[3])
	if err != nil || whole > 0 && (rest < 0 || rest > math.MaxInt64-whole) {
		return 0, wrong
	}
	return whole + rest, nil
}
