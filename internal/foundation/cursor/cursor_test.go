package cursor_test

import (
	"testing"

	"ace/internal/foundation/cursor"
	"ace/internal/foundation/problem"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, position := range []string{"", "offer_a", "ümlaut/…", "1\x002"} {
		got, err := cursor.Decode("offers?q=a", cursor.Encode("offers?q=a", position))
		if err != nil || got != position {
			t.Errorf("Decode(Encode(%q)) = %q, %v", position, got, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"other list": cursor.Encode("offers?q=b", "offer_a"), "not base64": "%%%", "too short": "AAA",
		"padded": cursor.Encode("offers?q=a", "x") + "=",
	} {
		if _, err := cursor.Decode("offers?q=a", in); !problem.Is(err, "invalid_cursor") {
			t.Errorf("%s: Decode = %v, want invalid_cursor", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("offers", cursor.Encode("offers", "a"))
	f.Add("offers", "")
	f.Add("", "////")
	f.Fuzz(func(t *testing.T, query, in string) {
		position, err := cursor.Decode(query, in)
		if err == nil && in != "" && cursor.Encode(query, position) != in {
			t.Errorf("Decode(%q, %q) = %q does not encode back", query, in, position)
		}
	})
}
