package definition_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/tool/definition"
)

func TestRender(t *testing.T) {
	t.Parallel()
	a := &app.App{ID: "x", Name: "X"}
	searching := &app.Tool{
		ID: "x__search", Name: "search", Title: "Search", About: "Finds.", Call: "GET /", Effect: app.Reads,
		InputSchema: []byte(
			`{"type":"object","additionalProperties":false,"required":["q"],"properties":{"q":{"type":"string",` +
				`"format":"uri"},"n":{"type":["integer","null"],"default":1},"k":{"const":"a"},` +
				`"l":{"type":"array"},"e":{"type":"integer","enum":[1,2]}}}`,
		),
	}
	strict := &app.Tool{
		ID: "x__get", Name: "get", About: "Gets.", Call: "DELETE /", Effect: app.Destroys,
		InputSchema: []byte(
			`{"type":"object","additionalProperties":false,"required":["id"],"properties":{"id":{"type":"string"}}}`),
	}
	tests := []struct {
		tool   *app.Tool
		format string
		want   string
	}{
		{searching, "", `null`},
		{searching, definition.Schema, `null`},
		{
			strict,
			definition.OpenAI,
			`{"function":{"description":"Gets. (X)","name":"x__get","parameters":{"additionalProperties":false,` +
				`"properties":{"id":{"type":"string"}},"required":["id"],"type":"object"},"strict":true},` +
				`"type":"function"}`,
		},
		{
			strict,
			definition.Responses,
			`{"description":"Gets. (X)","name":"x__get","parameters":{"additionalProperties":false,` +
				`"properties":{"id":{"type":"string"}},"required":["id"],"type":"object"},"strict":true,` +
				`"type":"function"}`,
		},
		{
			strict,
			definition.Anthropic,
			`{"description":"Gets. (X)","input_schema":{"additionalProperties":false,` +
				`"properties":{"id":{"type":"string"}},"required":["id"],"type":"object"},"name":"x__get"}`,
		},
		{
			strict,
			definition.MCP,
			`{"annotations":{"destructiveHint":true,"idempotentHint":true,"openWorldHint":true,` +
				`"readOnlyHint":false,"title":"X get"},"description":"Gets. (X)",` +
				`"inputSchema":{"additionalProperties":false,"properties":{"id":{"type":"string"}},` +
				`"required":["id"],"type":"object"},"name":"x__get","title":"X get"}`,
		},
		{
			searching,
			definition.Gemini,
			`{"description":"Finds. (X)","name":"x__search","parameters":{"properties":{"e":{"type":"integer"},` +
				`"k":{"enum":["a"],"type":"string"},"l":{"items":{"type":"string"},"type":"array"},` +
				`"n":{"nullable":true,"type":"integer"},"q":{"type":"string"}},"required":["q"],"type":"object"}}`,
		},
	}
	for _, tt := range tests {
		got, err := definition.Render(a, tt.tool, tt.format)
		text, _ := json.Marshal(got)
		if err != nil || string(text) != tt.want {
			t.Errorf("Render(%s, %s) = %v\n got %s\nwant %s", tt.tool.ID, tt.format, err, text, tt.want)
		}
	}
	if got, err := definition.Render(a, searching, definition.OpenAI); err != nil ||
		got.(map[string]any)["function"].(map[string]any)["strict"] != nil {
		t.Errorf("a schema with choices that strict models do not know is strict: %v, %v", got, err)
	}
	if _, err := definition.Render(a, strict, "yaml"); !problem.Is(err, "invalid_request") {
		t.Errorf("an unknown format = %v", err)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	one := app.Tool{Call: "GET /a", About: "b", InputSchema: []byte("{}")}
	same, other := one, one
	same.Phrases = []string{"find"}
	other.Call, other.About = "GET /ab", ""
	if definition.Version(&one) != definition.Version(&same) || definition.Version(&one) == definition.Version(&other) {
		t.Errorf("versions %s, %s, %s", definition.Version(&one), definition.Version(&same), definition.Version(&other))
	}
}

func ExampleRender() {
	a := &app.App{ID: "notes", Name: "Notes"}
	t := &app.Tool{
		ID: "notes__count", About: "Counts notes.", Call: "GET /count",
		InputSchema: []byte(`{"type":"object"}`),
	}
	rendered, err := definition.Render(a, t, definition.Anthropic)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := json.Marshal(rendered)
	fmt.Println(string(text))
	// Output: {"description":"Counts notes. (Notes)","input_schema":{"type":"object"},"name":"notes__count"}
}
