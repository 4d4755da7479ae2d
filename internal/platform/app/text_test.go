package app_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/app"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	values := app.Join(app.Map{"key": "abc-us6", "user": "Ann Lee", "empty": ""}, nil, app.Map{"key": "shadowed", "secret": "k"})
	tests := []struct {
		template string
		encode   func(string) string
		want     string // an error where it begins with "error: "
	}{
		{"plain", nil, "plain"},
		{"Bearer {key}", nil, "Bearer abc-us6"},
		{"https://{key|after:-}.api.example/3.0", nil, "https://us6.api.example/3.0"},
		{"{key|before:-}", nil, "abc"},
		{"{user|before:-}|{user|after:-}", nil, "Ann Lee|"},
		{"/u/{user}/a b", url.PathEscape, "/u/Ann%20Lee/a b"},
		{"{user|base64}", nil, "QW5uIExlZQ=="},
		{"{user|lower|urlencode}", nil, "ann+lee"},
		{"{empty|default:none}{missing|default:0}", nil, "none0"},
		{"{{user}}", nil, "{user}"},
		{"{nobody}", nil, `error: there is no value "nobody"`},
		{"{user|shout}", nil, `error: there is no filter "shout"`},
		{"{user|hmac_sha1:nobody}", nil, `error: there is no value "nobody"`},
		{"{user", nil, "error: brace"},
		{"user}", nil, "error: brace"},
	}
	for _, tt := range tests {
		t.Run(tt.template, func(t *testing.T) {
			t.Parallel()
			got, err := app.Expand(tt.template, values, tt.encode)
			if want, failing := strings.CutPrefix(tt.want, "error: "); failing {
				if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Ann") {
					t.Errorf("Expand = %q, %v, want an error about %q", got, err, want)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("Expand(%q) = %q, %v, want %q", tt.template, got, err, tt.want)
			}
		})
	}
}

// The digests are those of openssl dgst.
func TestExpandDigests(t *testing.T) {
	t.Parallel()
	values := app.Map{"text": "The quick brown fox jumps over the lazy dog", "secret": "key"}
	tests := map[string]string{
		"{text|sha256_hex}":                "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592",
		"{text|md5_hex}":                   "9e107d9d372bb6826bd81d3542a419d6",
		"{text|hmac_sha256:secret:hex}":    "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8",
		"{text|hmac_sha1:secret}":          "de7c9b85b8b78aa6bc8a7a36f70a90701c9db4d9",
		"{text|hmac_sha256:secret:base64}": "97yD9DBThCSxMpjmqm+xQ+9NWaFJRhdZl0edvC0aPNg=",
	}
	for template, want := range tests {
		if got, err := app.Expand(template, values, nil); err != nil || got != want {
			t.Errorf("Expand(%s) = %q, %v, want %q", template, got, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	got := app.Names("{a}/{{b}}/{c|lower|hmac_sha1:d:hex}{e")
	if diff := cmp.Diff([]string{"a", "c", "d"}, got); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	var document any
	if err := json.Unmarshal([]byte(`{"a":{"b/c":[1,{"d":"x"},null]},"n":12345678901,"f":false}`), &document); err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"/a/b~1c/1/d": "x", "a/b~1c/1/d": "x", "/a/b~1c/0": "1", "/a/b~1c/-2/d": "x", "/a/b~1c/2": "", "/a/b~1c/3": "", "/a/x": "", "/n": "12345678901", "/f": "false", "/n/x": "", "": "",
	}
	for pointer, want := range tests {
		if got := app.PickText(document, pointer); got != want {
			t.Errorf("PickText(%s) = %q, want %q", pointer, got, want)
		}
	}
}

func TestExpect(t *testing.T) {
	t.Parallel()
	document := map[string]any{"ok": true, "code": float64(0), "error": nil}
	tests := []struct {
		name   string
		expect app.Expect
		status int
		want   bool
	}{
		{"by default 2xx", app.Expect{}, 204, true},
		{"nothing else", app.Expect{}, 302, false},
		{"these", app.Expect{Status: []int{201, 302}}, 302, true},
		{"not these", app.Expect{Status: []int{201}}, 200, false},
		{"a value", app.Expect{Pointer: "/code", Equals: "0"}, 200, true},
		{"another value", app.Expect{Pointer: "/ok", Equals: "false"}, 200, false},
		{"a value, and the status", app.Expect{Pointer: "/ok", Equals: "true"}, 500, false},
		{"there", app.Expect{Pointer: "/ok", Present: true}, 200, true},
		{"null is not there", app.Expect{Pointer: "/error", Present: true}, 200, false},
		{"absent", app.Expect{Pointer: "/error", Absent: true}, 200, true},
		{"not absent", app.Expect{Pointer: "/ok", Absent: true}, 200, false},
	}
	for _, tt := range tests {
		if got := tt.expect.Met(tt.status, document); got != tt.want {
			t.Errorf("%s: Met = %v, want %v", tt.name, got, tt.want)
		}
	}
}
