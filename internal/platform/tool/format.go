package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
)

// Formats of definitions: the plain schema, and the objects that models and MCP
// clients take.
const (
	FormatSchema    = "json_schema"
	FormatOpenAI    = "openai"
	FormatResponses = "openai_responses"
	FormatAnthropic = "anthropic"
	FormatGemini    = "gemini"
	FormatMCP       = "mcp"
)

// Definition is a tool in a format that a model takes; nil for FormatSchema and
// "". It returns invalid_request (Invalid) for an unknown format.
//
//	openai            https://platform.openai.com/docs/guides/function-calling (chat completions)
//	openai_responses  likewise, responses
//	anthropic         https://docs.anthropic.com/en/docs/agents-and-tools/tool-use
//	gemini            https://ai.google.dev/gemini-api/docs/function-calling
//	mcp               Tool of https://modelcontextprotocol.io/specification
func Definition(a *app.App, t *app.Tool, format string) (any, error) {
	schema, err := schemaOf(t)
	if err != nil {
		return nil, err
	}
	switch format {
	case "", FormatSchema:
		return nil, nil
	case FormatOpenAI:
		return map[string]any{"type": "function", "function": function(a, t, "parameters", schema, strict(schema))}, nil
	case FormatResponses:
		f := function(a, t, "parameters", schema, strict(schema))
		f["type"] = "function"
		return f, nil
	case FormatAnthropic:
		return function(a, t, "input_schema", schema, false), nil
	case FormatGemini:
		return function(a, t, "parameters", geminiSchema(schema), false), nil
	case FormatMCP:
		f := function(a, t, "inputSchema", schema, false)
		f["title"] = Title(a, t)
		f["annotations"] = map[string]any{
			"title": Title(a, t), "readOnlyHint": t.ReadOnly(), "destructiveHint": t.Destructive(), "idempotentHint": t.SafeToRepeat(), "openWorldHint": true,
		}
		return f, nil
	}
	return nil, problem.New(problem.Invalid, "invalid_request", "Formats are json_schema, openai, openai_responses, anthropic, gemini and mcp.").At("format")
}

// Title is the name of a tool for people.
func Title(a *app.App, t *app.Tool) string {
	if t.Title == "" {
		return a.Name + " " + t.Name
	}
	return t.Title
}

func function(a *app.App, t *app.Tool, member string, schema map[string]any, strictly bool) map[string]any {
	f := map[string]any{"name": t.ID, "description": About(a, t), member: schema}
	if strictly {
		f["strict"] = true
	}
	return f
}

// About describes a tool to a model: what it does, and in which app.
func About(a *app.App, t *app.Tool) string {
	if t.About == "" {
		return Title(a, t) + " in " + a.Name + "."
	}
	return t.About + " (" + a.Name + ")"
}

func schemaOf(t *app.Tool) (map[string]any, error) {
	var schema map[string]any
	if err := decode(t.InputSchema, &schema); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", t.ID, err)
	}
	return schema, nil
}

// Version names the definition of a tool: it changes when what the tool does, or
// takes, changes.
func Version(t *app.Tool) string {
	sum := sha256.New()
	for _, part := range [][]byte{[]byte(t.Call), []byte(t.Base), []byte(t.About), []byte(t.Effect), []byte(t.GraphQL), t.InputSchema} {
		_, _ = fmt.Fprintf(sum, "%d:", len(part))
		_, _ = sum.Write(part)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// strict reports whether a schema is within what models follow to the letter:
// every member is required, nothing else is let in, and no other keyword stands
// there.
func strict(schema map[string]any) bool {
	for keyword, value := range schema {
		switch keyword {
		case "type", "description", "enum", "const", "title":
		case "properties":
			properties, ok := value.(map[string]any)
			if !ok || !strictAll(slices.Collect(maps.Values(properties))) {
				return false
			}
		case "items":
			if !strictAll([]any{value}) {
				return false
			}
		case "anyOf":
			list, ok := value.([]any)
			if !ok || !strictAll(list) {
				return false
			}
		case "required", "additionalProperties":
		default:
			return false
		}
	}
	if schema["type"] != "object" {
		return true
	}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	return schema["additionalProperties"] == false && len(required) == len(properties)
}

func strictAll(list []any) bool {
	for _, one := range list {
		inside, ok := one.(map[string]any)
		if !ok || !strict(inside) {
			return false
		}
	}
	return true
}

// geminiSchema keeps what the schemas of Gemini know: a part of OpenAPI 3.0.
func geminiSchema(schema map[string]any) map[string]any {
	out := map[string]any{}
	for keyword, value := range schema {
		switch keyword {
		case "description", "title", "nullable", "required", "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "pattern":
			out[keyword] = value
		case "type":
			geminiType(out, value)
		case "const":
			out["enum"] = []any{text(value)}
		case "enum":
			geminiEnum(out, value)
		case "format":
			if value == "date-time" || value == "enum" {
				out[keyword] = value
			}
		case "items":
			if inside, ok := value.(map[string]any); ok {
				out[keyword] = geminiSchema(inside)
			}
		case "properties":
			properties := map[string]any{}
			all, _ := value.(map[string]any)
			for name, one := range all {
				if inside, ok := one.(map[string]any); ok {
					properties[name] = geminiSchema(inside)
				}
			}
			out[keyword] = properties
		case "anyOf", "oneOf":
			list, _ := value.([]any)
			var branches []any
			for _, one := range list {
				if inside, ok := one.(map[string]any); ok {
					branches = append(branches, geminiSchema(inside))
				}
			}
			out["anyOf"] = branches
		}
	}
	if out["type"] == "array" && out["items"] == nil {
		out["items"] = map[string]any{"type": "string"}
	}
	if out["type"] == nil && out["anyOf"] == nil {
		out["type"] = "string"
	}
	return out
}

// geminiType writes a union with null as nullable, and other unions as branches.
func geminiType(out map[string]any, value any) {
	list, ok := value.([]any)
	if !ok {
		out["type"] = value
		return
	}
	var types []any
	for _, one := range list {
		if one == "null" {
			out["nullable"] = true
			continue
		}
		types = append(types, one)
	}
	if len(types) == 1 {
		out["type"] = types[0]
		return
	}
	var branches []any
	for _, one := range types {
		branches = append(branches, map[string]any{"type": one})
	}
	out["anyOf"] = branches
}

// geminiEnum keeps choices between texts; others are no choices there.
func geminiEnum(out map[string]any, value any) {
	list, _ := value.([]any)
	var texts []any
	for _, one := range list {
		if s, ok := one.(string); ok && s != "" {
			texts = append(texts, s)
		}
	}
	if len(texts) == len(list) {
		out["enum"] = texts
	}
}

func text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(encoded)
}
