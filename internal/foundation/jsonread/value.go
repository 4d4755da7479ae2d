package jsonread

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"ace/internal/foundation/problem"
)

// Kind is the type of a value.
type Kind uint8

// The kinds of values. The zero Kind is that of an absent value.
const (
	Absent Kind = iota
	Null
	False
	True
	Number
	String
	Array
	Map
)

// Value is one value of a parsed text. A nil *Value is an absent one. A Value
// holds on to the text that it was parsed from; what its methods return, except
// other values, does not.
type Value struct {
	raw     string // as it was sent
	items   []Value
	fields  []field
	index   map[string]int // of fields by name, where there are many
	kind    Kind
	escaped bool // a string with escapes
	halves  bool // it holds half of a surrogate pair
}

type field struct {
	name  string
	value Value
}

// Kind returns the type of the value.
func (v *Value) Kind() Kind {
	if v == nil {
		return Absent
	}
	return v.kind
}

// Ambiguous reports whether a string or a name in the value holds half of a
// surrogate pair: readers understand it differently, so that it has no canonical
// form. Text returns U+FFFD for it.
func (v *Value) Ambiguous() bool { return v != nil && v.halves }

// Raw returns a copy of the value's text as it was sent, nil if it is absent.
func (v *Value) Raw() []byte {
	if v == nil {
		return nil
	}
	return []byte(v.raw)
}

// Text returns the string that the value is, escapes resolved, or the digits of
// a number as they were sent; "" for every other kind.
func (v *Value) Text() string {
	switch v.Kind() {
	case String:
		inner := v.raw[1 : len(v.raw)-1]
		if v.escaped {
			return unescape(inner)
		}
		return strings.Clone(inner)
	case Number:
		return strings.Clone(v.raw)
	default:
		return ""
	}
}

// Size is the length of the value's text, in bytes.
func (v *Value) Size() int {
	if v == nil {
		return 0
	}
	return len(v.raw)
}

// Items yields the values of an array in order.
func (v *Value) Items() iter.Seq[*Value] {
	return func(yield func(*Value) bool) {
		if v == nil {
			return
		}
		for i := range v.items {
			if !yield(&v.items[i]) {
				return
			}
		}
	}
}

// Fields yields the fields of an object as they were sent. The names share
// memory with the text.
func (v *Value) Fields() iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) {
		if v == nil {
			return
		}
		for i := range v.fields {
			if !yield(v.fields[i].name, &v.fields[i].value) {
				return
			}
		}
	}
}

// Len is how many items an array or fields an object has.
func (v *Value) Len() int {
	if v == nil {
		return 0
	}
	return len(v.items) + len(v.fields)
}

// Field returns the field with a name, nil if there is none.
func (v *Value) Field(name string) *Value {
	if v == nil {
		return nil
	}
	if v.index != nil {
		if i, ok := v.index[name]; ok {
			return &v.fields[i].value
		}
		return nil
	}
	for i := range v.fields {
		if v.fields[i].name == name {
			return &v.fields[i].value
		}
	}
	return nil
}

// Object returns the value for reading field by field. It returns the problem
// invalid_type if the value is none, and invalid_json if it is absent.
func (v *Value) Object() (Object, error) {
	switch v.Kind() {
	case Map:
		return Object{value: v, faults: &faults{}}, nil
	case Absent:
		return Object{}, emptyText()
	default:
		return Object{}, problem.New(problem.Invalid, "invalid_type",
			"Expected an object, found "+kindOf(v)+".").At("").Advise("fix_arguments")
	}
}

// Without returns an object without some of its fields. What is no object has
// none.
func (v *Value) Without(names ...string) *Value {
	out := &Value{kind: Map, halves: v.Ambiguous()}
	for name, value := range v.Fields() {
		if !slices.Contains(names, name) {
			out.fields = append(out.fields, field{name, *value})
		}
	}
	return out.written()
}

// WithText returns an object with one field more, a string. A field of that name
// is replaced.
func (v *Value) WithText(name, text string) *Value {
	out := v.Without(name)
	out.fields = append(
		out.fields,
		field{name, Value{kind: String, escaped: true, raw: string(appendString(nil, text))}},
	)
	return out.written()
}

// written sets the text of an object that was put together.
func (v *Value) written() *Value {
	v.raw = string(v.AppendJSON(nil))
	return v
}

// OptionalObject is Object where an absent value counts as an empty object.
func (v *Value) OptionalObject() (Object, error) {
	if v == nil {
		return Object{value: &Value{kind: Map, raw: "{}"}, faults: &faults{}}, nil
	}
	return v.Object()
}

// AppendJSON appends the value without spaces, the fields of objects sorted.
// Numbers keep their spelling.
func (v *Value) AppendJSON(out []byte) []byte {
	switch v.Kind() {
	case Absent:
		return out
	case String:
		if v.escaped {
			return appendString(out, v.Text())
		}
	case Array:
		out = append(out, '[')
		for i := range v.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = v.items[i].AppendJSON(out)
		}
		return append(out, ']')
	case Map:
		out = append(out, '{')
		for i, f := range v.sorted(strings.Compare) {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, f.name), ':')
			out = f.value.AppendJSON(out)
		}
		return append(out, '}')
	default:
	}
	return append(out, v.raw...)
}

// SortedFields yields the fields of an object in the order of their names.
func (v *Value) SortedFields(compare func(a, b string) int) iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) {
		for _, f := range v.sorted(compare) {
			if !yield(f.name, &f.value) {
				return
			}
		}
	}
}

func (v *Value) sorted(compare func(a, b string) int) []field {
	byName := func(a, b field) int { return compare(a.name, b.name) }
	if slices.IsSortedFunc(v.fields, byName) {
		return v.fields
	}
	fields := slices.Clone(v.fields)
	slices.SortFunc(fields, byName)
	return fields
}

// appendString appends a string in quotation marks.
func appendString(out []byte, text string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c >= ' ':
			out = append(out, c)
		case c == '\n':
			out = append(out, '\\', 'n')
		case c == '\r':
			out = append(out, '\\', 'r')
		case c == '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(out, '"')
}

// scalar returns a string, a number, true or false as encoding/json decodes it
// with UseNumber, nil for other kinds.
func (v *Value) scalar() any {
	switch v.Kind() {
	case False, True:
		return v.kind == True
	case Number:
		return json.Number(v.Text())
	case String:
		return v.Text()
	default:
		return nil
	}
}
