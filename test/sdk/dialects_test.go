package sdk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"ace/catalog"
	"ace/internal/platform/app"
	"ace/internal/platform/library"
	"ace/internal/platform/tool/definition"
)

// dialect is how a vendor wants tools to be defined.
type dialect struct {
	// parts returns the name and the schema of a definition.
	parts func(one map[string]any) (name string, schema any)
	name  *regexp.Regexp
	more  []string // fields besides the three
}

// dialects are the rules that the vendors' references of function calling state,
// as of November 2026.
func dialects() map[string]dialect {
	plain := func(field string) func(map[string]any) (string, any) {
		return func(one map[string]any) (string, any) { return one["name"].(string), one[field] }
	}
	return map[string]dialect{
		"openai": {
			parts: func(one map[string]any) (string, any) {
				return plain("parameters")(one["function"].(map[string]any))
			},
			name: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), more: []string{"type", "function"},
		},
		"openai_responses": {
			parts: plain("parameters"), name: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
			more: []string{"type", "name", "description", "parameters", "strict"},
		},
		"anthropic": {
			parts: plain("input_schema"), name: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
			more: []string{"name", "description", "input_schema"},
		},
		"gemini": {
			parts: plain("parameters"), name: regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`),
			more: []string{"name", "description", "parameters"},
		},
		"mcp": {
			parts: plain("inputSchema"), name: regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`),
			more: []string{"name", "title", "description", "inputSchema", "annotations"},
		},
	}
}

// TestDefinitionsFitTheDialects holds the definitions of the six tools, those of
// the recorded exchanges and those of every hand-made app to the rules of each
// vendor.
func TestDefinitionsFitTheDialects(t *testing.T) {
	t.Parallel()
	python := newest(t)
	apps, err := library.Read(catalog.Files, "curated", nil)
	if err != nil {
		t.Fatal(err)
	}
	for format, rules := range dialects() {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			var six []map[string]any
			said := output(t, "../../sdk/python", nil, python, "-B", "-c", "import ace, json\n"+
				"print(json.dumps(ace.ACE('k').tools.definitions(format='"+format+"')))")
			if err := json.Unmarshal([]byte(said), &six); err != nil {
				t.Fatal(err)
			}
			var recorded struct{ Returns []map[string]any }
			text := read(t, "../../sdk/exchanges/definitions_"+format+".json")
			if err := json.Unmarshal(text, &recorded); err != nil {
				t.Fatal(err)
			}
			all := slices.Concat(six, recorded.Returns, rendered(t, apps, format))
			if len(all) < 200 {
				t.Fatalf("%d definitions", len(all))
			}
			for _, one := range all {
				rules.check(t, format, one)
			}
		})
	}
}

// rendered are the definitions of all tools of the apps.
func rendered(t *testing.T, apps []*app.App, format string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, a := range apps {
		for _, one := range a.Tools.All() {
			value, err := definition.Render(a, one, format)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			var decoded map[string]any
			if err := json.Unmarshal(text, &decoded); err != nil {
				t.Fatal(err)
			}
			all = append(all, decoded)
		}
	}
	return all
}

func (d *dialect) check(t *testing.T, format string, one map[string]any) {
	t.Helper()
	name, schema := d.parts(one)
	if !d.name.MatchString(name) {
		t.Errorf("%q is no name of a function in %s", name, format)
	}
	for field := range one {
		if !slices.Contains(d.more, field) {
			t.Errorf("%s: %s knows no field %s", name, format, field)
		}
	}
	root, ok := schema.(map[string]any)
	if !ok || root["type"] != "object" {
		t.Errorf("%s: the schema is %v, want an object", name, schema)
		return
	}
	if format == "gemini" {
		for _, wrong := range notGemini("", root) {
			t.Errorf("%s: %s", name, wrong)
		}
		return
	}
	if err := compiles(root); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	function, _ := one["function"].(map[string]any)
	if one["strict"] == true || function["strict"] == true {
		for _, wrong := range notStrict("", root) {
			t.Errorf("%s says strict: %s", name, wrong)
		}
	}
}

// compiles reports whether a schema is one of JSON Schema 2020-12: it has to fit
// the metaschema, and its references have to lead somewhere.
func compiles(schema map[string]any) error {
	text, err := json.Marshal(schema)
	if err != nil {
		return fmt.Errorf("writing the schema: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("tool.json", value); err != nil {
		return fmt.Errorf("adding the schema: %w", err)
	}
	if _, err := compiler.Compile("tool.json"); err != nil {
		return fmt.Errorf("compiling the schema: %w", err)
	}
	return nil
}

// notStrict says where a schema breaks a rule of OpenAI's strict mode: every
// object is closed, and requires all of its properties.
func notStrict(at string, schema map[string]any) (wrong []string) {
	if schema["type"] == "object" {
		properties, _ := schema["properties"].(map[string]any)
		var required []string
		list, _ := schema["required"].([]any)
		for _, one := range list {
			required = append(required, one.(string))
		}
		slices.Sort(required)
		if schema["additionalProperties"] != false {
			wrong = append(wrong, at+" is open")
		}
		if names := slices.Sorted(maps.Keys(properties)); !slices.Equal(names, required) {
			wrong = append(wrong, fmt.Sprintf("%s requires %v of %v", at, required, names))
		}
	}
	for _, keyword := range []string{"allOf", "oneOf", "not", "if", "patternProperties", "dependentRequired"} {
		if _, has := schema[keyword]; has {
			wrong = append(wrong, at+" has "+keyword)
		}
	}
	return append(wrong, below(at, schema, notStrict)...)
}

// notGemini says where a schema has what the type Schema of Gemini does not.
func notGemini(at string, schema map[string]any) (wrong []string) {
	known := strings.Fields(`type format title description nullable enum maxItems minItems properties required
		minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items
		minimum maximum`)
	for keyword, value := range schema {
		if !slices.Contains(known, keyword) {
			wrong = append(wrong, at+" has "+keyword)
		}
		switch keyword {
		case "maxItems", "minItems", "maxLength", "minLength", "minProperties", "maxProperties": // int64
			text, isText := value.(string)
			if _, err := strconv.ParseInt(text, 10, 64); !isText || err != nil {
				wrong = append(wrong, fmt.Sprintf("%s/%s is %v", at, keyword, value))
			}
		case "type":
			one, isText := value.(string)
			if !isText || !slices.Contains(strings.Fields("string number integer boolean array object null"), one) {
				wrong = append(wrong, fmt.Sprintf("%s has the type %v", at, value))
			}
		case "enum":
			for _, one := range value.([]any) {
				if _, isText := one.(string); !isText {
					wrong = append(wrong, fmt.Sprintf("%s has the value %v", at, one))
				}
			}
		}
	}
	return append(wrong, below(at, schema, notGemini)...)
}

// below applies a check to the schemas inside a schema.
func below(at string, schema map[string]any, check func(string, map[string]any) []string) (wrong []string) {
	properties, _ := schema["properties"].(map[string]any)
	for name, one := range properties {
		if inner, ok := one.(map[string]any); ok {
			wrong = append(wrong, check(at+"/"+name, inner)...)
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[keyword].(map[string]any); ok {
			wrong = append(wrong, check(at+"/"+keyword, inner)...)
		}
	}
	choices, _ := schema["anyOf"].([]any)
	for i, one := range choices {
		if inner, ok := one.(map[string]any); ok {
			wrong = append(wrong, check(at+"/anyOf/"+strconv.Itoa(i), inner)...)
		}
	}
	return wrong
}

// TestDialectRules shows that the rules refuse what the vendors refuse.
func TestDialectRules(t *testing.T) {
	t.Parallel()
	parse := func(text string) map[string]any {
		var schema map[string]any
		if err := json.Unmarshal([]byte(text), &schema); err != nil {
			t.Fatal(err)
		}
		return schema
	}
	if err := compiles(parse(`{"type":"object","properties":{"a":{"type":"text"}}}`)); err == nil {
		t.Error("a type that JSON Schema does not have compiles")
	}
	got := notStrict("", parse(`{"type":"object","properties":{"a":{"type":"object"}},"additionalProperties":false}`))
	if diff := cmp.Diff([]string{" requires [] of [a]", "/a is open"}, got); diff != "" {
		t.Errorf("notStrict (-want +got):\n%s", diff)
	}
	got = notGemini("", parse(`{"type":"object","properties":{"a":{"type":["string","null"],"maxLength":3}}}`))
	slices.Sort(got)
	if diff := cmp.Diff([]string{"/a has the type [string null]", "/a/maxLength is 3"}, got); diff != "" {
		t.Errorf("notGemini (-want +got):\n%s", diff)
	}
}

// TestClientsDefineTheSame compares the six tools of the two clients.
func TestClientsDefineTheSame(t *testing.T) {
	t.Parallel()
	node := os.Getenv("ACE_NODE")
	if node == "" {
		t.Skip("left out: ACE_NODE is not set")
	}
	decode := func(text string) (all map[string]any) {
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	formats := `["openai", "openai_responses", "anthropic", "gemini", "mcp"]`
	javascript := decode(output(t, "../../sdk/js", nil, node, "--input-type=module", "-e", `
		import { ACE } from "./ace.mjs";
		const all = {};
		for (const format of `+formats+`) all[format] = await new ACE("k").tools.definitions({ format });
		console.log(JSON.stringify(all));`))
	python := decode(output(t, "../../sdk/python", nil, newest(t), "-B", "-c", "import ace, json\n"+
		"print(json.dumps({f: ace.ACE('k').tools.definitions(format=f) for f in "+formats+"}))"))
	if diff := cmp.Diff(javascript, python); diff != "" || len(python) != 5 {
		t.Errorf("definitions (-JavaScript +Python):\n%s", diff)
	}
}
