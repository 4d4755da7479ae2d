package openapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// SchemaOf is the JSON Schema (draft 2020-12) of T as a program sends it:
// self-contained, open to members that come later, and with unions with null
// only for the fields that are tagged nullable:"true", or null:"true" where
// they point to an object. It panics on a type that
// contains itself or that JSON cannot hold.
func SchemaOf[T any]() json.RawMessage { return schemaOf(reflect.TypeFor[T](), false) }

// InputSchemaOf is SchemaOf for what a caller sends: members that T does not
// have are refused (additionalProperties false).
func InputSchemaOf[T any]() json.RawMessage { return schemaOf(reflect.TypeFor[T](), true) }

func schemaOf(t reflect.Type, closed bool) json.RawMessage {
	registry := huma.NewMapRegistry("#/", uniqueName)
	root := registry.Schema(t, false, "Root")
	markNullable(t, root)
	for name, schema := range registry.Map() {
		markNullable(registry.TypeFromRef("#/"+name), schema)
	}
	encoded, err := json.Marshal(root)
	if err != nil {
		panic(fmt.Sprintf("openapi: schema of %s: %v", t, err))
	}
	tree := decodeTree(encoded)
	inliner := inliner{registry: registry, closed: closed, root: t}
	plain, err := json.Marshal(inliner.inline(tree, nil))
	if err != nil {
		panic(fmt.Sprintf("openapi: schema of %s: %v", t, err))
	}
	return plain
}

// keepNull marks the schema of a field that says itself that it may be null. The
// mark never leaves this file.
const keepNull = "x-keep-null"

func markNullable(t reflect.Type, schema *huma.Schema) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		switch {
		case property == nil || property.AnyOf != nil: // the root is among the components, too
		case field.Tag.Get("nullable") == "true":
			property.Extensions = map[string]any{keepNull: true}
		case field.Tag.Get("null") == "true":
			// The field points to an object, of which the library holds a
			// reference: that, or null.
			union := &huma.Schema{Description: property.Description, AnyOf: []*huma.Schema{property, {Type: "null"}}}
			property.Description = ""
			schema.Properties[name] = union
		}
	}
}

// uniqueName distinguishes equal names of different packages; the names never
// leave this file.
func uniqueName(t reflect.Type, hint string) string {
	name := strings.NewReplacer("/", "_", "~", "_").Replace(t.String())
	if t.Name() == "" {
		return hint + name
	}
	return strings.ReplaceAll(t.PkgPath(), "/", "_") + name
}

type inliner struct {
	registry huma.Registry
	closed   bool
	root     reflect.Type
}

// inline replaces references by what they name and tidies every schema.
func (in *inliner) inline(node any, path []string) any {
	switch n := node.(type) {
	case []any:
		for i := range n {
			n[i] = in.inline(n[i], path)
		}
	case map[string]any:
		if ref, ok := n["$ref"].(string); ok {
			return in.resolve(n, ref, path)
		}
		tidy(n, in.closed)
		for key, value := range n {
			if key != "default" && key != "examples" && key != "enum" {
				n[key] = in.inline(value, path)
			}
		}
	}
	return node
}

func (in *inliner) resolve(n map[string]any, ref string, path []string) any {
	for _, seen := range path {
		if seen == ref {
			panic(fmt.Sprintf("openapi: schema of %s: %s contains itself", in.root, strings.TrimPrefix(ref, "#/")))
		}
	}
	encoded, err := json.Marshal(in.registry.SchemaFromRef(ref))
	if err != nil {
		panic(fmt.Sprintf("openapi: schema of %s: %v", in.root, err))
	}
	target, _ := in.inline(decodeTree(encoded), append(slices.Clip(path), ref)).(map[string]any)
	for key, value := range n { // a description beside the reference wins
		if key != "$ref" {
			target[key] = value
		}
	}
	return target
}

// tidy drops what the library adds to a schema and our readers do not want:
// unwanted unions with null, and in what we send the promise that nothing is added.
func tidy(schema map[string]any, closed bool) {
	_, nullable := schema[keepNull]
	delete(schema, keepNull)
	if types, ok := schema["type"].([]any); ok && !nullable {
		for _, t := range types {
			if t != "null" {
				schema["type"] = t
				break
			}
		}
	}
	if only, ok := schema["additionalProperties"].(bool); ok && !only && !closed {
		delete(schema, "additionalProperties")
	}
	delete(schema, "patternDescription")
}
