package jsonschema

import "slices"

// defaults are the defaults inside a schema: those of the properties of an
// object, and of their own properties in turn.
type defaults struct {
	values map[string]any       // by member
	inside map[string]*defaults // by member
	items  *defaults            // of arrays
}

const maxDepth = 32

// defaultsOf returns the defaults of a schema, or nil if there are none.
// Alternatives are skipped: it is unknown which one applies.
func defaultsOf(schema map[string]any) *defaults { return defaultsAt(schema, 0) }

func defaultsAt(schema map[string]any, depth int) *defaults {
	if depth > maxDepth {
		return nil
	}
	d := &defaults{values: map[string]any{}, inside: map[string]*defaults{}}
	properties, _ := schema["properties"].(map[string]any)
	for name, one := range properties {
		property, ok := one.(map[string]any)
		if !ok {
			continue
		}
		if value, ok := property["default"]; ok {
			d.values[name] = value
		}
		if inner := defaultsAt(property, depth+1); inner != nil {
			d.inside[name] = inner
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		d.items = defaultsAt(items, depth+1)
	}
	if len(d.values) == 0 && len(d.inside) == 0 && d.items == nil {
		return nil
	}
	return d
}

// Fill sets the missing properties of a decoded object that have defaults. It
// does not create missing objects, whatever the defaults of their properties.
func (s *Schema) Fill(object map[string]any) { s.defaults.fill(object) }

func (d *defaults) fill(value any) {
	if d == nil {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for name, otherwise := range d.values {
			if _, there := v[name]; !there {
				v[name] = clone(otherwise)
			}
		}
		for name, inner := range d.inside {
			inner.fill(v[name])
		}
	case []any:
		for _, one := range v {
			d.items.fill(one)
		}
	}
}

// clone copies a default, so that callers cannot change the schema.
func clone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, one := range v {
			out[name] = clone(one)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = clone(out[i])
		}
		return out
	}
	return value
}
