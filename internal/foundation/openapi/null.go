package openapi

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// nullFields writes into the components that a field may be null which points
// to an object and is tagged null:"true": the library knows this of plain values
// alone (nullable:"true").
func nullFields(registry huma.Registry, schemas map[string]any) {
	for name, node := range schemas {
		schema, ok := node.(map[string]any)
		if !ok {
			continue
		}
		if t := registry.TypeFromRef("#/components/schemas/" + name); t != nil {
			nullFieldsOf(t, schema)
		}
	}
}

func nullFieldsOf(t reflect.Type, schema map[string]any) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	properties := child(schema, "properties")
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property, ok := properties[name].(map[string]any)
		if !ok || field.Tag.Get("null") != "true" || property["anyOf"] != nil {
			continue
		}
		union := map[string]any{}
		if about, ok := property["description"]; ok {
			delete(property, "description")
			union["description"] = about
		}
		union["anyOf"] = []any{property, map[string]any{"type": "null"}}
		properties[name] = union
	}
}
