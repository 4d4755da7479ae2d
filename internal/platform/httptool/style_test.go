package httptool_test

import (
	"testing"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/httptool"
	"ace/internal/platform/tool"
)

// TestQueryStyles writes lists and objects into a query as the API reads them.
func TestQueryStyles(t *testing.T) {
	t.Parallel()
	list, object := []any{"a", "b c"}, map[string]any{"from": "x", "to": map[string]any{"day": "y"}}
	tests := []struct {
		style string
		value any
		want  string
	}{
		{"", list, "q=a&q=b+c"},
		{app.StyleComma, list, "q=a%2Cb+c"},
		{app.StyleSpace, list, "q=a+b+c"},
		{app.StylePipe, list, "q=a%7Cb+c"},
		{app.StyleTab, list, "q=a%09b+c"},
		{app.StyleEmpty, list, "q%5B%5D=a&q%5B%5D=b+c"},
		{app.StyleDeep, object, "q%5Bfrom%5D=x&q%5Bto%5D%5Bday%5D=y"},
		{app.StyleMembers, map[string]any{"from": "x", "to": "y"}, "from=x&to=y"},
		{"", map[string]any{"from": "x"}, "q=%7B%22from%22%3A%22x%22%7D"},
	}
	for _, tt := range tests {
		t.Run(tt.style+" "+tt.want, func(t *testing.T) {
			t.Parallel()
			a := &app.App{ID: "x-acme", Name: "Acme", Base: "https://api.acme.example"}
			call := &tool.Call{
				App: a, Tool: &app.Tool{
					Call: "GET /x", Body: app.BodyNone,
					In: app.Inputs{{Name: "q", Where: app.InQuery, Style: tt.style, Schema: map[string]any{}}},
				},
				Live:      &connection.Live{Connection: &connection.Connection{}, Values: app.Map{}},
				Arguments: map[string]any{"q": tt.value},
			}
			got, err := httptool.New(nil, nil).Preview(call)
			if err != nil {
				t.Fatal(err)
			}
			if want := "https://api.acme.example/x?" + tt.want; got.URL != want {
				t.Errorf("Preview = %s, want %s", got.URL, want)
			}
		})
	}
}
