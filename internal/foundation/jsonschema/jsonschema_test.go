package jsonschema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jsonschema"
	"ace/internal/foundation/problem"
)

const schema = `{"type":"object","additionalProperties":false,"required":["to"],"properties":{
	"to":{"type":"array","items":{"type":"string","format":"email"},"minItems":1,"maxItems":2},
	"limit":{"type":"integer","minimum":1,"maximum":50,"default":20},
	"kind":{"enum":["a","<b>"],"default":"a"},
	"a/b~c":{"type":"string","pattern":"^x+$"},
	"page":{"type":"object","properties":{"size":{"type":"integer","default":5},"sort":{"type":"object",` +
	`"properties":{"by":{"default":"name"}}}}},
	"rows":{"type":"array","items":{"type":"object","properties":{"open":{"type":"boolean","default":true}}}},
	"either":{"anyOf":[{"type":"string"},{"type":"object","required":["id"]}]}}}`

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCheck(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	tests := []struct{ in, want string }{
		{`{"to":["ann@acme.example"]}`, ""},
		{`{}`, "/to required is required"},
		{`{"to":[]}`, "/to invalid_length must have at least 1 entries"},
		{`{"to":["s3cret"]}`, "/to/0 invalid_format must have the format email: an address such as name@example.com"},
		{`{"to":"s3cret"}`, "/to invalid_type must be an array"},
		{`{"to":["a@b.example"],"limit":51}`, "/limit out_of_range must be at most 50"},
		{`{"to":["a@b.example"],"limit":1.5}`, "/limit invalid_type must be a whole number"},
		{`{"to":["a@b.example"],"kind":"s3cret"}`, `/kind invalid_choice must be one of "a", "<b>"`},
		{`{"to":["a@b.example"],"a/b~c":"s3cret"}`, "/a~1b~0c invalid_format must match the pattern ^x+$"},
		{
			`{"to":["a@b.example"],"cc":"s3cret"}`,
			"/cc unknown_field is not an argument here; remove it or check its spelling",
		},
		{`{"to":["a@b.example"],"either":3}`, "/either invalid_value does not fit the schema of the tool"},
		{
			`{"limit":0,"kind":1}`,
			`/kind invalid_choice must be one of "a", "<b>"; /limit out_of_range must be at least 1; ` +
				`/to required is required`,
		},
	}
	for _, tt := range tests {
		err := s.Check(json.RawMessage(tt.in))
		var lines []string
		if p, ok := problem.From(err); ok {
			for _, item := range p.Items {
				lines = append(lines, item.Pointer+" "+item.Code+" "+item.Detail)
			}
		}
		if got := strings.Join(lines, "; "); got != tt.want || (err == nil) != (tt.want == "") {
			t.Errorf("Check(%s)\n got %s (%v)\nwant %s", tt.in, got, err, tt.want)
		}
		if err != nil && strings.Contains(fmt.Sprint(err), "s3cret") {
			t.Errorf("Check(%s) tells the value: %v", tt.in, err)
		}
	}
	if err := s.Check(json.RawMessage(`{`)); err == nil || problem.Is(err, "invalid_arguments") {
		t.Errorf("Check of no JSON = %v", err)
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	tests := []struct{ in, want string }{
		{`{}`, `{"kind":"a","limit":20}`},
		{`{"limit":null,"kind":"<b>"}`, `{"kind":"<b>","limit":null}`},
		{`{"page":{}}`, `{"kind":"a","limit":20,"page":{"size":5}}`},
		{`{"page":{"sort":{}}}`, `{"kind":"a","limit":20,"page":{"size":5,"sort":{"by":"name"}}}`},
		{`{"rows":[{},{"open":false},3]}`, `{"kind":"a","limit":20,"rows":[{"open":true},{"open":false},3]}`},
		{`{"page":"no object"}`, `{"kind":"a","limit":20,"page":"no object"}`},
	}
	for _, tt := range tests {
		var value map[string]any
		if err := json.Unmarshal([]byte(tt.in), &value); err != nil {
			t.Fatal(err)
		}
		s.Fill(value)
		var want map[string]any
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		got, _ := json.Marshal(value)
		var back map[string]any
		_ = json.Unmarshal(got, &back)
		if diff := cmp.Diff(want, back); diff != "" {
			t.Errorf("Fill(%s) (-want +got):\n%s", tt.in, diff)
		}
	}
}

// What one caller was given must not change what the next one gets.
func TestFillHandsOutCopies(t *testing.T) {
	t.Parallel()
	s, err := jsonschema.Compile(json.RawMessage(`{"type":"object","properties":{"a":{"default":{"b":[1]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	first, second := map[string]any{}, map[string]any{}
	s.Fill(first)
	first["a"].(map[string]any)["b"].([]any)[0] = "changed"
	s.Fill(second)
	if got := second["a"].(map[string]any)["b"].([]any)[0]; got == "changed" {
		t.Error("the default was changed by the first caller that received it")
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		``, `[]`, `{"type":"string"}`, `{"type":"object","properties":3}`,
		`{"type":"object","$ref":"https://elsewhere.example/schema.json"}`,
	} {
		if _, err := jsonschema.Compile(json.RawMessage(in)); err == nil {
			t.Errorf("Compile(%s) took it", in)
		}
	}
}

func ExampleSchema_Check() {
	s, err := jsonschema.Compile(
		json.RawMessage(`{"type":"object","properties":{"limit":{"type":"integer","maximum":50}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := problem.From(s.Check(json.RawMessage(`{"limit":100}`)))
	fmt.Println(p.Items[0].Pointer, p.Items[0].Detail)
	// Output: /limit must be at most 50
}

func FuzzCheck(f *testing.F) {
	s, err := jsonschema.Compile(json.RawMessage(schema))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"to":["a@b.example"]}`)
	f.Add(`{"to":[1e999],"page":{"size":"x"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			return
		}
		if p, ok := problem.From(s.CheckValue(value)); ok && len(p.Items) == 0 {
			t.Errorf("CheckValue(%s) refuses without saying why", text)
		}
	})
}
