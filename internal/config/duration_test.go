package config_test

import (
	"testing"
	"time"

	"ace/internal/config"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	tests := []struct {
		in   string
		want time.Duration // negative: refused
	}{
		{"30d", 30 * day},
		{"2w", 14 * day},
		{"1w1d", 8 * day},
		{"1d12h", 36 * time.Hour},
		{"720h", 30 * day},
		{"45s", 45 * time.Second},
		{"0s", 0},
		{"0", 0},
		{"0d", 0},
		{"", -1},
		{"d", -1},
		{"30", -1},
		{"30 d", -1},
		{"12h1d", -1},
		{"1d-3h", -1},
		{"1y", -1},
		{"999999w", -1},
		{"15250w999999h", -1},
	}
	for _, tt := range tests {
		got, err := config.ParseDuration(tt.in)
		if (err != nil) != (tt.want < 0) || err == nil && got != tt.want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
		}
	}
}
