package openapiimport

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Limits of an outline.
const (
	maxOutlineLevels = 8
	maxOutlineNodes  = 300
	maxOutlineNames  = 100
	maxOutlineEnum   = 30
	maxOutlineBytes  = 16 << 10
)

var (
	outlineName   = regexp.MustCompile(`^[A-Za-z0-9_.$@:/-]{1,64}$`)
	outlineFormat = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
)

// Outline returns the shape of what a schema describes, as JSON Schema: types,
// names of properties, which are required, short enums. Sentences are omitted:
// the descriptions of an untrusted document would reach a model without
// approval. References are resolved in root alone; what is deeper or longer
// than an outline may be is {}. It returns nil if nothing is known.
func Outline(root map[string]any, schema any) []byte {
	o := &outliner{resolver: resolver{root}}
	encoded, err := json.Marshal(o.of(schema, 0))
	if err != nil || len(encoded) > maxOutlineBytes || string(encoded) == "{}" {
		return nil
	}
	return encoded
}

type outliner struct {
	resolver
	nodes int
}

func (o *outliner) of(value any, level int) map[string]any {
	out := map[string]any{}
	schema, _, err := o.object(value)
	if o.nodes++; err != nil || schema == nil || level > maxOutlineLevels || o.nodes > maxOutlineNodes {
		return out
	}
	if types := o.types(schema); types != nil {
		out["type"] = types
	}
	if format := text(schema, "format"); outlineFormat.MatchString(format) {
		out["format"] = format
	}
	if choices := o.choices(schema); choices != nil {
		out["enum"] = choices
	}
	o.properties(out, schema, level)
	if items, ok := schema["items"]; ok {
		out["items"] = o.of(items, level+1)
	}
	if more, ok := schema["additionalProperties"].(map[string]any); ok {
		out["additionalProperties"] = o.of(more, level+1)
	}
	var any []any
	for _, one := range slices.Concat(list(schema, "anyOf"), list(schema, "oneOf")) {
		if len(any) < 8 {
			any = append(any, o.of(one, level+1))
		}
	}
	if any != nil {
		out["anyOf"] = any
	}
	return out
}

// properties adds the properties of an object, and of all that it is composed
// of, to an outline.
func (o *outliner) properties(out, schema map[string]any, level int) {
	shape := map[string]any{}
	var required []string
	parts := append([]any{schema}, list(schema, "allOf")...)
	for _, part := range parts {
		one, _, err := o.object(part)
		if err != nil {
			continue
		}
		if out["type"] == nil && o.types(one) != nil {
			out["type"] = o.types(one)
		}
		described := object(one, "properties")
		for _, name := range slices.Sorted(maps.Keys(described)) {
			if len(shape) < maxOutlineNames && outlineName.MatchString(name) {
				shape[name] = o.of(described[name], level+1)
			}
		}
		for _, name := range list(one, "required") {
			if s, ok := name.(string); ok && !slices.Contains(required, s) {
				required = append(required, s)
			}
		}
	}
	if len(shape) == 0 {
		return
	}
	out["properties"] = shape
	if required = slices.DeleteFunc(required, func(name string) bool { return shape[name] == nil }); len(required) > 0 {
		out["required"] = required
	}
}

// types returns the type or types of a schema; nil: none are named.
func (o *outliner) types(schema map[string]any) any {
	known := []string{"string", "number", "integer", "boolean", "object", "array", "null"}
	var types []any
	for _, one := range append([]any{schema["type"]}, list(schema, "type")...) {
		if s, ok := one.(string); ok && slices.Contains(known, s) && !slices.Contains(types, one) {
			types = append(types, one)
		}
	}
	if nullable, _ := schema["nullable"].(bool); nullable && len(types) > 0 && !slices.Contains(types, any("null")) {
		types = append(types, "null")
	}
	switch len(types) {
	case 0:
		return nil
	case 1:
		return types[0]
	}
	return types
}

func (o *outliner) choices(schema map[string]any) []any {
	given := list(schema, "enum")
	if len(given) > maxOutlineEnum {
		return nil
	}
	for _, one := range given {
		switch v := one.(type) {
		case string:
			if !outlineName.MatchString(v) {
				return nil // a sentence is no choice
			}
		case nil, bool, json.Number, float64, int, int64:
		default:
			return nil
		}
	}
	return given
}

// output returns the outline of the first successful response in JSON.
func (w *draft) output(operation map[string]any) []byte {
	responses := object(operation, "responses")
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		response, _, err := w.object(responses[status])
		if err != nil {
			return nil
		}
		if w.swagger2 {
			return Outline(w.importer.root, response["schema"])
		}
		content := object(response, "content")
		for _, kind := range slices.Sorted(maps.Keys(content)) {
			if isJSON(kind) {
				return Outline(w.importer.root, object(content, kind)["schema"])
			}
		}
	}
	return nil
}
