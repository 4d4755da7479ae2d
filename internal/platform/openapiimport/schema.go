package openapiimport

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ace/internal/platform/app"
)

// Limits of one schema.
const (
	maxDepth = 12
	maxNodes = 1200 // of all inputs of one operation
	maxEnum  = 40
	// An enumeration of more values is kept if it is short: countries, currencies.
	maxEnumBytes = 2 << 10
	maxBranches  = 6
	maxPattern   = 120
	maxAbout     = 300
	maxMembers   = 150 // of one object
	maxSchema    = 32 << 10
)

// converter turns schemas of a description into JSON Schema 2020-12.
type converter struct {
	resolver
	nodes int             // left
	seen  map[string]bool // references on the way down
}

func (r resolver) converter() *converter {
	return &converter{resolver: r, nodes: maxNodes, seen: map[string]bool{}}
}

// convert converts a schema. What cannot be expressed becomes a schema that
// allows more. It returns an error for a reference that leads out of the
// document.
func (c *converter) convert(value any, depth int) (map[string]any, error) {
	if c.nodes--; c.nodes < 0 || depth > maxDepth {
		return map[string]any{}, nil
	}
	source, ref, err := c.object(value)
	if err != nil {
		return nil, err
	}
	if source == nil {
		return map[string]any{}, nil
	}
	if ref != "" {
		if c.seen[ref] {
			return map[string]any{"type": "object"}, nil
		}
		c.seen[ref] = true
		defer delete(c.seen, ref)
	}
	if list(source, "allOf") != nil {
		if source, err = c.merge(source, depth); err != nil {
			return nil, err
		}
	}
	out := map[string]any{}
	plainFields(out, source)
	if err := c.branches(out, source, depth); err != nil {
		return nil, err
	}
	if err := c.properties(out, source, depth); err != nil {
		return nil, err
	}
	if items, ok := source["items"]; ok || out["type"] == "array" {
		if out["items"], err = c.convert(items, depth+1); err != nil {
			return nil, err
		}
	}
	nullable(out, source)
	return out, nil
}

// merge returns a schema with its allOf merged: properties of all, for the rest
// the first value.
func (c *converter) merge(source map[string]any, depth int) (map[string]any, error) {
	out := maps.Clone(source)
	delete(out, "allOf")
	properties := maps.Clone(object(source, "properties"))
	if properties == nil {
		properties = map[string]any{}
	}
	required := slices.Clone(list(source, "required"))
	for _, part := range list(source, "allOf") {
		if c.nodes--; c.nodes < 0 || depth > maxDepth {
			break
		}
		one, ref, err := c.object(part)
		if err != nil {
			return nil, err
		}
		if one == nil || c.seen[ref] {
			continue
		}
		if list(one, "allOf") != nil {
			if ref != "" {
				c.seen[ref] = true
			}
			one, err = c.merge(one, depth+1)
			delete(c.seen, ref)
			if err != nil {
				return nil, err
			}
		}
		for name, value := range one {
			switch name {
			case "properties":
				for key, member := range object(one, name) {
					if _, there := properties[key]; !there {
						properties[key] = member
					}
				}
			case "required":
				required = append(required, list(one, name)...)
			default:
				if _, there := out[name]; !there {
					out[name] = value
				}
			}
		}
	}
	if len(properties) > 0 {
		out["properties"] = properties
	}
	if len(required) > 0 {
		out["required"] = required
	}
	return out, nil
}

// plainFields copies keywords with single values.
func plainFields(out, source map[string]any) {
	if types := typesOf(source); len(types) == 1 {
		out["type"] = types[0]
	} else if len(types) > 1 {
		out["type"] = types
	}
	for _, name := range []string{
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
	} {
		if n, ok := source[name].(json.Number); ok && sane(name, n) {
			out[name] = n
		}
	}
	for _, name := range []string{"minimum", "maximum"} { // OpenAPI 3.0 says it by a flag
		if exclusive := "exclusive" + strings.ToUpper(name[:1]) + name[1:]; flag(source, exclusive) &&
			out[name] != nil {
			out[exclusive] = out[name]
			delete(out, name)
		}
	}
	if flag(source, "uniqueItems") {
		out["uniqueItems"] = true
	}
	if pattern := text(source, "pattern"); pattern != "" && len(pattern) <= maxPattern {
		if _, err := regexp.Compile(pattern); err == nil {
			out["pattern"] = pattern
		}
	}
	if format := text(source, "format"); format != "" && len(format) <= 40 && format != fileFormat {
		out["format"] = format
	}
	about := text(source, "description")
	if about == "" {
		about = text(source, "title")
	}
	if about = Prose(about, maxAbout); about != "" {
		out["description"] = about
	}
	values(out, source)
}

// fileFormat marks inputs that reference a file.
const fileFormat = "ace-file"

func sane(name string, n json.Number) bool {
	if strings.HasPrefix(name, "min") && name != "minimum" || strings.HasPrefix(name, "max") && name != "maximum" {
		count, err := n.Int64()
		return err == nil && count >= 0
	}
	number, err := n.Float64()
	return err == nil && (name != "multipleOf" || number > 0)
}

// values copies enum, const and default if they are scalar.
func values(out, source map[string]any) {
	var enum []any
	for _, one := range list(source, "enum") {
		if scalar(one) && !slices.Contains(enum, one) {
			enum = append(enum, one)
		}
	}
	switch {
	case len(enum) > maxEnum && size(enum) > maxEnumBytes:
		out["examples"] = enum[:3] // the rest is for the API to refuse
	case len(enum) > 0:
		out["enum"] = enum
	}
	if value, ok := source["const"]; ok && scalar(value) {
		out["enum"] = []any{value}
	}
	// Defaults are described and not filled in: the API applies its own.
	if value, ok := source["default"]; ok && scalar(value) && value != nil {
		encoded, err := json.Marshal(value)
		if note := "Default: " + Prose(string(encoded), 60) + "."; err == nil {
			if about, _ := out["description"].(string); about != "" {
				note = about + " " + note
			}
			out["description"] = note
		}
	}
}

// size returns the length of values as JSON, in bytes.
func size(values []any) int {
	encoded, err := json.Marshal(values)
	if err != nil {
		return maxSchema
	}
	return len(encoded)
}

func scalar(value any) bool {
	switch v := value.(type) {
	case string:
		return len(v) <= 200
	case json.Number, bool, nil:
		return true
	}
	return false
}

var knownTypes = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

func typesOf(source map[string]any) []string {
	var types []string
	switch t := source["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && !slices.Contains(types, name) {
				types = append(types, name)
			}
		}
	}
	types = slices.DeleteFunc(types, func(name string) bool { return !slices.Contains(knownTypes, name) })
	if len(types) == 0 && object(source, "properties") != nil {
		return []string{"object"}
	}
	return types
}

// branches turns oneOf and anyOf into anyOf.
func (c *converter) branches(out, source map[string]any, depth int) error {
	all := append(slices.Clone(list(source, "oneOf")), list(source, "anyOf")...)
	if len(all) == 0 {
		return nil
	}
	var taken []any
	for _, one := range all[:min(len(all), maxBranches)] {
		branch, err := c.convert(one, depth+1)
		if err != nil {
			return err
		}
		taken = append(taken, branch)
	}
	if len(taken) == 1 {
		for name, value := range taken[0].(map[string]any) {
			if _, there := out[name]; !there {
				out[name] = value
			}
		}
		return nil
	}
	if len(all) <= maxBranches { // otherwise some that are right would be refused
		out["anyOf"] = taken
	}
	return nil
}

// properties converts the properties of an object that a caller may send.
func (c *converter) properties(out, source map[string]any, depth int) error {
	properties := object(source, "properties")
	if properties == nil {
		if extra, ok := source["additionalProperties"].(map[string]any); ok && out["type"] == "object" {
			converted, err := c.convert(extra, depth+1)
			if err != nil {
				return err
			}
			if len(converted) > 0 {
				out["additionalProperties"] = converted
			}
		}
		return nil
	}
	taken := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		member, _, err := c.object(properties[name])
		if err != nil {
			return err
		}
		if flag(member, "readOnly") || !utf8.ValidString(name) || len(name) > 200 || len(taken) == maxMembers {
			continue
		}
		if taken[name], err = c.convert(properties[name], depth+1); err != nil {
			return err
		}
	}
	out["properties"] = taken
	var required []string
	for _, one := range list(source, "required") {
		if name, ok := one.(string); ok && taken[name] != nil && !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	if len(required) > 0 {
		out["required"] = required
	}
	return nil
}

// nullable expresses in 2020-12 what OpenAPI 3.0 expresses by a flag.
func nullable(out, source map[string]any) {
	if !flag(source, "nullable") && !flag(source, "x-nullable") {
		return
	}
	if name, ok := out["type"].(string); ok && name != "null" {
		out["type"] = []string{name, "null"}
		if enum, ok := out["enum"].([]any); ok && !slices.Contains(enum, any(nil)) {
			out["enum"] = append(enum, nil)
		}
	}
}

// Prose returns a sentence of an untrusted document as a model may read it: on
// one line, without invisible characters, at most n characters.
func Prose(written string, n int) string {
	if len(written) > 20*n {
		written = written[:20*n]
	}
	written = strings.ToValidUTF8(written, "")
	var b strings.Builder
	count, space := 0, false
	for _, r := range written {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case !unicode.IsPrint(r):
			continue // control characters, marks that turn the direction, tags
		}
		if count >= n {
			return b.String() + "…"
		}
		if space {
			b.WriteByte(' ')
			count++
			space = false
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}

// Inputs returns the properties of a schema that has no document, such as that
// of a tool of an MCP server, as inputs with names that every model accepts.
// open reports that it allows properties that it does not name. It returns
// import_failed.
func Inputs(schema []byte) (in app.Inputs, open bool, err error) {
	if len(schema) > 4*maxSchema {
		return nil, false, failed(fmt.Sprintf("A schema is larger than %d KB.", 4*maxSchema>>10))
	}
	value, err := readJSON(schema)
	if err != nil {
		return nil, false, err
	}
	root, ok := value.(map[string]any)
	if !ok {
		return nil, false, failed("A schema is no object.")
	}
	c := resolver{root}.converter()
	converted, err := c.convert(root, 0)
	if err != nil {
		return nil, false, failed("A schema refers to another document.")
	}
	properties, _ := converted["properties"].(map[string]any)
	required, _ := converted["required"].([]string)
	if branches, ok := converted["anyOf"].([]any); ok && len(properties) == 0 {
		properties, required = map[string]any{}, nil
		for _, one := range branches { // any of them: none of their members is required
			branch, _ := one.(map[string]any)
			maps.Copy(properties, object(branch, "properties"))
		}
	}
	extra, said := root["additionalProperties"]
	open = len(properties) == 0 && said && extra != false
	w := &draft{taken: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		member, _ := properties[name].(map[string]any)
		one := app.Input{
			Name: w.free(name), Schema: member, Where: app.InBody,
			Required: slices.Contains(required, name),
		}
		if one.Name != name {
			one.Wire = name
		}
		in = append(in, one)
	}
	return in, open, nil
}
