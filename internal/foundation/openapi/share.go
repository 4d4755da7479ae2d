package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// minShared is the size from which a schema that appears in several places is
// moved to the components, in bytes.
const minShared = 160

// sharing moves schemas of described operations that appear in several places
// to the components. Equal schemas are one; a schema that appears only inside of
// another moves with it.
type sharing struct {
	schemas map[string]any    // the components
	texts   map[string]string // canonical text -> name; "" until it is moved
	places  map[string]int    // canonical text -> places among different schemas
	hints   map[string]string // canonical text -> what it may be called
}

// share replaces the schemas of operations, in the order of their registration.
func share(list []described, schemas map[string]any) {
	s := &sharing{schemas: schemas, texts: map[string]string{}, places: map[string]int{}, hints: map[string]string{}}
	each := func(visit func(holder map[string]any, hint string)) {
		for _, d := range list {
			for _, c := range contents(d) {
				for _, media := range sortedKeys(c.content) {
					if holder, ok := c.content[media].(map[string]any); ok && holder["schema"] != nil {
						visit(holder, cmp.Or(nameOf(holder), d.op.ID+c.role))
					}
				}
			}
		}
	}
	each(func(holder map[string]any, hint string) {
		s.count(holder["schema"], hint)
		if schema, ok := holder["schema"].(map[string]any); ok && nameOf(holder) != "" {
			s.hints[canonical(schema)] = hint // it may be inside of another that came first
		}
	})
	each(func(holder map[string]any, _ string) {
		holder["schema"] = s.replace(holder["schema"])
		delete(holder, componentName)
	})
}

func nameOf(holder map[string]any) string {
	name, _ := holder[componentName].(string)
	return name
}

type contentOf struct {
	role    string
	content map[string]any
}

// contents are the bodies of an operation.
func contents(d described) []contentOf {
	var all []contentOf
	if body, ok := d.node["requestBody"].(map[string]any); ok {
		all = append(all, contentOf{"Request", child(body, "content")})
	}
	responses := child(d.node, "responses")
	for _, status := range sortedKeys(responses) {
		if response, ok := responses[status].(map[string]any); ok {
			role := "Answer"
			if status == "default" {
				role = "Failure"
			}
			all = append(all, contentOf{role, child(response, "content")})
		}
	}
	return all
}

// count notes the places of a schema and, the first time it is met, those of
// what is inside.
func (s *sharing) count(node any, hint string) {
	schema, ok := node.(map[string]any)
	if !ok {
		return
	}
	text := canonical(schema)
	s.places[text]++
	if s.places[text] > 1 {
		return
	}
	s.hints[text] = hint
	eachInside(schema, hint, func(inner any, hint string) any {
		s.count(inner, hint)
		return inner
	})
}

// replace returns a reference where a schema is shared, and the schema with its
// insides replaced where it is not.
func (s *sharing) replace(node any) any {
	schema, ok := node.(map[string]any)
	if !ok {
		return node
	}
	text := canonical(schema)
	if s.places[text] < 2 || len(text) < minShared {
		eachInside(schema, "", func(inner any, _ string) any { return s.replace(inner) })
		return schema
	}
	name, moved := s.texts[text]
	if !moved {
		name = s.free(s.hints[text])
		s.texts[text] = name
		s.schemas[name] = nil // taken
		eachInside(schema, "", func(inner any, _ string) any { return s.replace(inner) })
		s.schemas[name] = schema
	}
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// free finds a name that no component has: that of the field, else with the
// names of the fields around it, from the inside out.
func (s *sharing) free(hint string) string {
	fields := strings.Split(hint, ".")
	for n := range slices.Backward(fields) {
		name := camelName(strings.Join(fields[n:], "_"))
		if _, taken := s.schemas[name]; !taken {
			return name
		}
	}
	for n := 2; ; n++ {
		name := fmt.Sprintf("%s%d", camelName(hint), n)
		if _, taken := s.schemas[name]; !taken {
			return name
		}
	}
}

// eachInside visits the direct subschemas of a schema and replaces each by what
// visit returns. Examples and constants are no schemas.
func eachInside(schema map[string]any, hint string, visit func(inner any, hint string) any) {
	properties := child(schema, "properties")
	for _, name := range sortedKeys(properties) {
		properties[name] = visit(properties[name], hint+"."+name)
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[key].(map[string]any); ok {
			schema[key] = visit(inner, hint+"_"+strings.TrimSuffix(strings.TrimPrefix(key, "additional"), "s"))
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[key].([]any)
		for i := range list {
			list[i] = visit(list[i], hint)
		}
	}
}

// canonical is equal for equal schemas.
func canonical(schema map[string]any) string {
	text, err := json.Marshal(schema) // members of maps in order
	if err != nil {
		panic(fmt.Sprintf("openapi: a schema does not encode: %v", err)) // it was decoded from JSON
	}
	return string(text)
}

// camelName turns line_items into LineItems.
func camelName(hint string) string {
	var b strings.Builder
	up := true
	for _, r := range hint {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			up = true
		case up:
			b.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
