package typeid_test

import (
	"testing"

	"ace/internal/foundation/typeid"
)

func TestNewIsValid(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		id := typeid.New("chk")
		if !typeid.Valid("chk", id) || seen[id] {
			t.Fatalf("New = %q: invalid or seen before", id)
		}
		seen[id] = true
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	tests := []struct {
		id   string
		want bool
	}{
		{"chk_abcdefghijklmnopqrstuvwxyz", true},
		{"chk_ABCDEFGHIJKLMNOPQRSTUVWXYZ", false},
		{"ord_abcdefghijklmnopqrstuvwxyz", false},
		{"chk_abcdefghijklmnopqrstuvwxy", false},
		{"chk_abcdefghijklmnopqrstuvwxy1", false},
		{"chk_../../etc/passwd-aaaaaaaaa", false},
		{"", false},
	}
	for _, tt := range tests {
		if got := typeid.Valid("chk", tt.id); got != tt.want {
			t.Errorf("Valid(chk, %q) = %v, want %v", tt.id, got, tt.want)
		}
	}
}
