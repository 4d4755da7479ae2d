// Package definition renders tools in the formats that models and MCP clients
// accept.
//
//	app.App, app.Tool -> Render(format) -> the JSON object that is passed to a model
//	                  -> Version        -> changes when the tool does
package definition

import (
	"bytes"
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
// clients accept.
const (
	Schema    = "json_schema"
	OpenAI    = "openai"
	Responses = "openai_responses"
	Anthropic = "anthropic"
	Gemini    = "gemini"
	MCP       = "mcp"
)

// Render returns a tool in the given format, or nil for Schema and "". It
// returns invalid_request (Invalid) for an unknown format. The formats:
//
//	openai            https://platform.openai.com/docs/guides/function-calling (chat completions)
//	openai_responses  likewise, responses
//	anthropic         https://docs.anthropic.com/en/docs/agents-and-tools/tool-use
//	gemini            https://ai.google.dev/gemini-api/docs/function-calling
//	mcp               Tool of https://modelcontextprotocol.io/specification
func Render(a *app.App, t *app.Tool, format string) (any, error) {
	schema, err := schemaOf(t)
	if err != nil {
		return nil, err
	}
	switch format {
	case "", Schema:
		return nil, nil
	case OpenAI:
		return map[string]any{
			"type":     "function",
			"function": function(a, t, "parameters", schema, isStrict(schema)),
		}, nil
	case Responses:
		f := function(a, t, "parameters", schema, isStrict(schema))
		f["type"] = "function"
		return f, nil
	case Anthropic:
		return function(a, t, "input_schema", schema, false), nil
	case Gemini:
		return function(a, t, "parameters", geminiSchema(schema), false), nil
	case MCP:
		f := function(a, t, "inputSchema", schema, false)
		f["title"] = Title(a, t)
		f["annotations"] = map[string]any{
			"title": Title(a, t), "readOnlyHint": t.ReadOnly(), "destructiveHint": t.Destructive(),
			"idempotentHint": t.SafeToRepeat(), "openWorldHint": true,
		}
		return f, nil
	}
	return nil, problem.New(problem.Invalid, "invalid_request",
		"Formats are json_schema, openai, openai_responses, anthropic, gemini and mcp.").At("format")
}

// Title returns the name of a tool for people.
func Title(a *app.App, t *app.Tool) string {
	if t.Title == "" {
		return a.Name + " " + t.Name
	}
	return t.Title
}

func function(a *app.App, t *app.Tool, field string, schema map[string]any, strict bool) map[string]any {
	f := map[string]any{"name": t.ID, "description": about(a, t), field: schema}
	if strict {
		f["strict"] = true
	}
	return f
}

// about describes a tool to a model: what it does, and in which app.
func about(a *app.App, t *app.Tool) string {
	if t.About == "" {
		return Title(a, t) + " in " + a.Name + "."
	}
	return t.About + " (" + a.Name + ")"
}

func schemaOf(t *app.Tool) (map[string]any, error) {
	var schema map[string]any
	decoder := json.NewDecoder(bytes.NewReader(t.InputSchema))
	decoder.UseNumber()
	if err := decoder.Decode(&schema); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", t.ID, err)
	}
	return schema, nil
}

// Version returns a digest of a tool's definition: it changes when what the tool
// does, or its arguments, change.
func Version(t *app.Tool) string {
	sum := sha256.New()
	for _, part := range [][]byte{
		[]byte(t.Call), []byte(t.Base), []byte(t.About), []byte(t.Effect), []byte(t.GraphQL),
		t.InputSchema,
	} {
		_, _ = fmt.Fprintf(sum, "%d:", len(part))
		_, _ = sum.Write(part)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// isStrict reports whether a schema is one that models follow exactly: every
// property is required, no others are allowed, and no other keywords are used.
func isStrict(schema map[string]any) bool {
	for keyword, value := range schema {
		switch keyword {
		case "type", "description", "enum", "const", "title":
		case "properties":
			properties, ok := value.(map[string]any)
			if !ok || !allStrict(slices.Collect(maps.Values(properties))) {
				return false
			}
		case "items":
			if !allStrict([]any{value}) {
				return false
			}
		case "anyOf":
			list, ok := value.([]any)
			if !ok || !allStrict(list) {
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

func allStrict(list []any) bool {
	for _, one := range list {
		inside, ok := one.(map[string]any)
		if !ok || !isStrict(inside) {
			return false
		}
	}
	return true
}

// geminiSchema returns the part of a schema that Gemini supports, a subset of
// OpenAPI 3.0.
func geminiSchema(schema map[string]any) map[string]any {
	out := map[string]any{}
	for keyword, value := range schema {
		switch keyword {
		case "description", "title", "nullable", "required", "minimum", "maximum", "pattern":
			out[keyword] = value
		case "minItems", "maxItems", "minLength", "maxLength":
			out[keyword] = text(value) // 64-bit integers, which JSON of protocol buffers writes as strings
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

// geminiType writes a union with null as nullable, and other unions as anyOf.
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

// geminiEnum keeps enums of strings; Gemini has no others.
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
