package main

import (
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	t.Parallel()
	wide, words := strings.Repeat("x", 90), strings.TrimSpace(strings.Repeat("word ", 17))
	tests := []struct {
		name, in string
		hang     int
		want     string
	}{
		{"nothing", "", 2, ""},
		{"short lines stay", "a\n  b\n\n", 2, "a\n  b\n\n"},
		{"80 columns fit", strings.Repeat("é", 78) + " y", 2, strings.Repeat("é", 78) + " y"},
		{"81 do not", strings.Repeat("é", 79) + " y", 3, strings.Repeat("é", 79) + "\n   y"},
		{
			"further in than the line began", "  " + words + "\nnext",
			2, "  " + strings.TrimSpace(strings.Repeat("word ", 15)) + "\n    word word\nnext",
		},
		{"an address stays whole", "GET " + wide, 2, "GET " + wide},
		{"after a long line", "  " + wide + " z", 2, "  " + wide + "\n    z"},
	}
	for _, tt := range tests {
		if got := fold(tt.in, tt.hang); got != tt.want {
			t.Errorf("%s: fold = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{
			"fields that matter",
			`{"continue_url":"https://a.example/pay","id":"chk_1","ucp":{"id":"x"},"status":"open"}`,
			"{\n  \"id\": \"chk_1\",\n  \"status\": \"open\",\n  \"continue_url\": \"https://a.example/pay\"\n}\n" +
				"… 1 further field; --json prints all",
		},
		{
			"lists",
			`{"offers":[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"}]}`,
			"{\n  \"offers\": [\n    {\n      \"id\": \"a\"\n    },\n    " +
				"{\n      \"id\": \"b\"\n    },\n    {\n      \"id\": \"c\"\n    }" +
				"\n    … 1 more\n  ]\n}",
		},
		{"numbers stay", `{"amount":12345678901234567890}`, "{\n  \"amount\": 12345678901234567890\n}"},
		{"a result is whole", `{"output":{"x":1}}`, "{\n  \"output\": {\n    \"x\": 1\n  }\n}"},
		{"nothing of them", `{"x":1}`, "{\n  \"x\": 1\n}"},
		{"no JSON", "sorry\n", "sorry"},
	}
	for _, tt := range tests {
		if got := strings.Join(shorten([]byte(tt.in)), "\n"); got != tt.want {
			t.Errorf("%s: shorten = %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
