// Package jsonschema validates values that programs send against a JSON Schema
// and reports errors in plain sentences.
//
//	Compile(schema) -> Schema, once
//	   Fill(arguments)  what is missing and has a default
//	   Check(text), CheckValue(decoded)
//	      -> nil, or invalid_arguments with an item per error: a JSON Pointer,
//	         a code, what would be valid; never the value itself
//
// A schema is self-contained: references to other documents are refused.
package jsonschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"ace/internal/foundation/plainjson"
	"ace/internal/foundation/problem"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Schema is a compiled JSON Schema of an object. It is safe for concurrent use.
type Schema struct {
	schema   *jsonschema.Schema
	defaults *defaults
}

type noLoader struct{}

// Load refuses: a schema must be self-contained.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("the schema refers to %s outside of itself", url)
}

// Compile parses a JSON Schema (draft 2020-12 unless it names another) that is
// self-contained and describes an object.
func Compile(schema json.RawMessage) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("reading it: %w", err)
	}
	root, ok := doc.(map[string]any)
	if !ok || root["type"] != "object" {
		return nil, errors.New(`it must be an object with "type":"object"`)
	}
	const name = "schema.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("reading it: %w", err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("compiling it: %w", err)
	}
	return &Schema{compiled, defaultsOf(root)}, nil
}

// maxErrors bounds the reported errors.
const maxErrors = 8

// Check validates a JSON value. It returns invalid_arguments with one item per
// error: where it is and what is valid, never the value.
func (s *Schema) Check(data json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return fmt.Errorf("decoding arguments: %w", err)
	}
	return s.CheckValue(value)
}

// CheckValue is Check for a decoded value with numbers as json.Number.
func (s *Schema) CheckValue(value any) error {
	err := s.schema.Validate(value)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return fmt.Errorf("validating arguments: %w", err)
	}
	var items []problem.Item
	collect(invalid, &items)
	slices.SortFunc(items, func(a, b problem.Item) int { // the library walks maps
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Code, b.Code))
	})
	return problem.New(problem.Invalid, "invalid_arguments", "Some arguments are wrong.").WithItems(items...).Advise(
		"fix_arguments")
}

// collect returns the leaves of a tree of errors. Alternatives are reported as
// a whole: the errors of every branch would confuse.
func collect(e *jsonschema.ValidationError, items *[]problem.Item) {
	if len(*items) >= maxErrors {
		return
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Not, *kind.Contains, *kind.MinContains, *kind.MaxContains:
	default:
		if len(e.Causes) > 0 {
			for _, c := range e.Causes {
				collect(c, items)
			}
			return
		}
	}
	at := pointer(e.InstanceLocation)
	add := func(at, code, format string, args ...any) {
		*items = append(*items, problem.Item{Pointer: at, Code: code, Detail: fmt.Sprintf(format, args...)})
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			add(at+pointer([]string{name}), "required", "is required")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(at+pointer([]string{name}), "unknown_field", "is not an argument here; remove it or check its spelling")
		}
	case *kind.Type:
		add(at, "invalid_type", "must be %s", typeWords(k.Want))
	case *kind.Enum:
		add(at, "invalid_choice", "must be one of %s", choices(k.Want))
	case *kind.Const:
		add(at, "invalid_choice", "must be %s", choices([]any{k.Want}))
	case *kind.Pattern:
		add(at, "invalid_format", "must match the pattern %s", k.Want)
	case *kind.Format:
		add(at, "invalid_format", "must have the format %s%s", k.Want, formatHint(k.Want))
	default:
		addBound(e.ErrorKind, at, add)
	}
}

// addBound describes the limits of numbers, strings, arrays and objects.
func addBound(k jsonschema.ErrorKind, at string, add func(at, code, format string, args ...any)) {
	switch k := k.(type) {
	case *kind.Minimum:
		add(at, "out_of_range", "must be at least %s", number(k.Want))
	case *kind.Maximum:
		add(at, "out_of_range", "must be at most %s", number(k.Want))
	case *kind.ExclusiveMinimum:
		add(at, "out_of_range", "must be more than %s", number(k.Want))
	case *kind.ExclusiveMaximum:
		add(at, "out_of_range", "must be less than %s", number(k.Want))
	case *kind.MultipleOf:
		add(at, "out_of_range", "must be a multiple of %s", number(k.Want))
	case *kind.MinLength:
		add(at, "invalid_length", "must have at least %d characters", k.Want)
	case *kind.MaxLength:
		add(at, "invalid_length", "must have at most %d characters", k.Want)
	case *kind.MinItems:
		add(at, "invalid_length", "must have at least %d entries", k.Want)
	case *kind.MaxItems:
		add(at, "invalid_length", "must have at most %d entries", k.Want)
	case *kind.UniqueItems:
		add(at, "duplicate", "must not have equal entries")
	default:
		add(at, "invalid_value", "does not fit the schema of the tool")
	}
}

// formatHint describes a format whose name does not say it.
func formatHint(format string) string {
	switch format {
	case "uri":
		return ": a whole address, such as https://example.com/"
	case "email":
		return ": an address such as name@example.com"
	case "date-time":
		return ": such as 2026-01-31T12:00:00Z"
	}
	return ""
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(6), "0")
}

func typeWords(want []string) string {
	words := map[string]string{
		"string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false",
		"array": "an array", "object": "an object", "null": "null",
	}
	out := make([]string, len(want))
	for i, w := range want {
		out[i] = words[w]
	}
	return strings.Join(out, " or ")
}

func choices(want []any) string {
	out := make([]string, len(want))
	for i, w := range want {
		out[i] = text(w)
	}
	return strings.Join(out, ", ")
}

// text returns a value of a schema as JSON, without unnecessary escapes.
func text(v any) string {
	encoded, err := plainjson.Marshal(v)
	if err != nil {
		return "?" // it was decoded from JSON
	}
	return string(encoded)
}

func pointer(path []string) string {
	var b strings.Builder
	for _, part := range path {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(part))
	}
	return b.String()
}
