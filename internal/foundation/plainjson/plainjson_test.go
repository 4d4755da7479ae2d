package plainjson_test

import (
	"strings"
	"testing"

	"ace/internal/foundation/plainjson"
)

func TestMarshal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   any
		want string
	}{
		{map[string]string{"url": "https://a.example/?a=1&b=<2>"}, `{"url":"https://a.example/?a=1&b=<2>"}`},
		{"line\n", `"line\n"`},
		{nil, "null"},
	}
	for _, tt := range tests {
		got, err := plainjson.Marshal(tt.in)
		if err != nil || string(got) != tt.want {
			t.Errorf("Marshal(%v) = %s, %v, want %s", tt.in, got, err, tt.want)
		}
		var b strings.Builder
		if err := plainjson.NewEncoder(&b).Encode(tt.in); err != nil || b.String() != tt.want+"\n" {
			t.Errorf("Encode(%v) = %q, %v, want %s and a line break", tt.in, b.String(), err, tt.want)
		}
	}
	if got, err := plainjson.Marshal(func() {}); err == nil {
		t.Errorf("Marshal of a function = %s", got)
	}
}
