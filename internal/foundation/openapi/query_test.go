package openapi_test

import (
	"net/url"
	"strings"
	"testing"

	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
)

func TestCheckQuery(t *testing.T) {
	t.Parallel()
	known := []string{"q", "limit", "cursor"}
	tests := []struct {
		query string
		known []string
		want  string // pointers and what their details hold
	}{
		{"", known, ""},
		{"q=a&limit=1&cursor=x", known, ""},
		{"limt=1", known, "limt Did you mean limit?"},
		{"zebra=secret&curser=1", known, "curser Did you mean cursor? zebra Remove it"},
		{"q=a", nil, "q Remove it"},
	}
	for _, tt := range tests {
		values, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		err = openapi.CheckQuery(values, tt.known...)
		p, ok := problem.From(err)
		if refused := err != nil && ok && p.Code == "unknown_parameter"; refused != (tt.want != "") {
			t.Errorf("CheckQuery(%q) = %v", tt.query, err)
			continue
		}
		if tt.want == "" {
			continue
		}
		var said []string
		for _, item := range p.Items {
			said = append(said, item.Pointer+" "+item.Detail)
		}
		text := strings.NewReplacer("There is no such parameter here. ", "", " or check its spelling.", "").Replace(
			strings.Join(said, " "))
		if text != tt.want || strings.Contains(p.Detail, "secret") {
			t.Errorf("CheckQuery(%q) = %q, want %q", tt.query, text, tt.want)
		}
	}
}
