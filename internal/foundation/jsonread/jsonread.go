// Package jsonread reads JSON of foreign callers: it parses and validates a text
// in one pass and reads objects field by field.
//
// Protocols have to be read liberally: fields that we do not know are ignored,
// null counts as absent, and all errors of a request are reported at once, each
// with its location. Decoding into structs cannot do that: it stops at the first
// wrong type and matches names in any case.
//
//	Parse(data)             -> Value (problem invalid_json)
//	  v.Object()            -> Object (problem invalid_type)
//	    o.Text("id", …)        values, checked; an error is noted and the
//	    o.Object("item")       zero value returned
//	  o.Err()               -> nil, or one problem with an item for each error
//	  jcs.Encode(v)         -> the canonical form of the same text
//	Check(data)             -> the rules of Parse alone, for other decoders
//
//	parse.go  the grammar and its rules      value.go  values as they were sent
//	path.go   locations as JSONPath
package jsonread

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ace/internal/foundation/problem"
)

// MaxFaults is how many errors one reading reports.
const MaxFaults = 20

// Object is a JSON object and its location in the text. The zero Object is an
// absent one: reading from it returns zero values and notes nothing.
type Object struct {
	value  *Value
	place  string
	faults *faults
}

type faults struct{ items []problem.Item }

// Read parses data, which must be one JSON object. It returns problems
// invalid_json and invalid_type.
func Read(data []byte) (Object, error) {
	v, err := Parse(data)
	if err != nil {
		return Object{}, err
	}
	return v.Object()
}

// ParseOptional is Parse where an empty text is an absent value, nil.
func ParseOptional(data []byte) (*Value, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil //nolint:nilnil // an absent value
	}
	return Parse(data)
}

func (o Object) field(name string) *Value { return o.value.Field(name) }

// Err returns the errors noted so far in any object of the text: nil, or a
// problem of kind Invalid with an item for each. Its code is that of the first.
func (o Object) Err() error {
	if o.faults == nil || len(o.faults.items) == 0 {
		return nil
	}
	first := o.faults.items[0]
	detail := first.Detail
	if more := len(o.faults.items) - 1; more > 0 {
		detail += fmt.Sprintf(" %d more errors are listed.", more)
	}
	return problem.New(problem.Invalid, first.Code, detail).WithItems(o.faults.items...).Advise("fix_arguments")
}

// Fault notes an error at a field; name "" is the object itself.
func (o Object) Fault(name, code, detail string) {
	o.note(o.Place(name), code, detail)
}

func (o Object) note(place, code, detail string) {
	if o.faults != nil && len(o.faults.items) < MaxFaults {
		o.faults.items = append(o.faults.items, problem.Item{Pointer: place, Code: code, Detail: detail})
	}
}

// Place is the JSON Pointer of a field; name "" is the object itself.
func (o Object) Place(name string) string {
	if name == "" {
		return o.place
	}
	if strings.ContainsAny(name, "~/") {
		name = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return o.place + "/" + name
}

// Present reports whether the object is there.
func (o Object) Present() bool { return o.value != nil }

// Value returns the object as it was sent, nil if it is absent.
func (o Object) Value() *Value { return o.value }

// Has reports whether a field is there and not null.
func (o Object) Has(name string) bool { return o.field(name).Kind() > Null }

// Names lists the fields, sorted.
func (o Object) Names() []string {
	if o.value == nil {
		return nil
	}
	names := make([]string, 0, len(o.value.fields))
	for _, f := range o.value.fields {
		names = append(names, strings.Clone(f.name))
	}
	slices.Sort(names)
	return names
}

// Filled reports whether a field holds anything at all: a number, true or
// false, text that is not empty, or something inside an object or array. It
// shows that a secret was sent without looking at it.
func (o Object) Filled(name string) bool { return filled(o.field(name)) }

func filled(v *Value) bool {
	switch v.Kind() {
	case Absent, Null:
		return false
	case String:
		return v.raw != `""`
	case Array:
		return slices.ContainsFunc(v.items, func(item Value) bool { return filled(&item) })
	case Map:
		return slices.ContainsFunc(v.fields, func(f field) bool { return filled(&f.value) })
	default:
		return true
	}
}

// Need notes the error missing_field for a field that is absent or null.
func (o Object) Need(name, detail string) bool {
	if o.value == nil || o.Has(name) {
		return true
	}
	o.Fault(name, "missing_field", detail)
	return false
}

// wrong notes that the value of a field has another type than wanted.
func (o Object) wrong(name, wanted string) {
	o.Fault(name, "invalid_type", "Expected "+wanted+", found "+kindOf(o.field(name))+".")
}

// Text reads a string of up to most characters. An absent one is "".
func (o Object) Text(name string, most int) string {
	if !o.Has(name) {
		return ""
	}
	value := o.field(name)
	if value.Kind() != String {
		o.wrong(name, "a string")
		return ""
	}
	text := value.Text()
	if !o.fits(o.Place(name), text, most) {
		return ""
	}
	return text
}

func (o Object) fits(place, text string, most int) bool {
	if utf8.RuneCountInString(text) > most {
		o.note(place, "too_long", fmt.Sprintf("This text may have %d characters at most.", most))
		return false
	}
	if strings.ContainsRune(text, 0) {
		o.note(place, "invalid_value", "Text must not contain the character U+0000.")
		return false
	}
	return true
}

// Bool reads true or false; an absent one is false.
func (o Object) Bool(name string) bool {
	if !o.Has(name) {
		return false
	}
	value := o.field(name)
	if value.Kind() != True && value.Kind() != False {
		o.wrong(name, "true or false")
	}
	return value.Kind() == True
}

// Int reads a whole number from least to most; 2.0 counts as one. ok is false
// where it is absent or invalid.
func (o Object) Int(name string, least, most int64) (n int64, ok bool) {
	if !o.Has(name) {
		return 0, false
	}
	value := o.field(name)
	if value.Kind() != Number {
		o.wrong(name, "a whole number")
		return 0, false
	}
	n, err := strconv.ParseInt(value.raw, 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(value.raw, 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			o.Fault(name, "invalid_value", fmt.Sprintf("Send a whole number from %d to %d.", least, most))
			return 0, false
		}
		n = int64(f)
	}
	if n < least || n > most {
		o.Fault(name, "invalid_value", fmt.Sprintf("Send a whole number from %d to %d.", least, most))
		return 0, false
	}
	return n, true
}

// Object reads an object; an absent or invalid one is the zero Object.
func (o Object) Object(name string) Object {
	if !o.Has(name) {
		return Object{}
	}
	value := o.field(name)
	if value.Kind() != Map {
		o.wrong(name, "an object")
		return Object{}
	}
	return Object{value: value, place: o.Place(name), faults: o.faults}
}

// Objects reads an array of up to most objects.
func (o Object) Objects(name string, most int) []Object {
	values := o.array(name, most)
	objects := make([]Object, 0, len(values))
	for i := range values {
		value := &values[i]
		place := o.Place(name) + "/" + strconv.Itoa(i)
		if value.Kind() != Map {
			o.note(place, "invalid_type", "Expected an object, found "+kindOf(value)+".")
			continue
		}
		objects = append(objects, Object{value: value, place: place, faults: o.faults})
	}
	return objects
}

// Texts reads an array of up to count strings of up to most characters each.
func (o Object) Texts(name string, count, most int) []string {
	var texts []string
	for i, value := range o.array(name, count) {
		place := o.Place(name) + "/" + strconv.Itoa(i)
		if value.Kind() != String {
			o.note(place, "invalid_type", "Expected a string, found "+kindOf(&value)+".")
			continue
		}
		text := value.Text()
		if o.fits(place, text, most) {
			texts = append(texts, text)
		}
	}
	return texts
}

func (o Object) array(name string, most int) []Value {
	if !o.Has(name) {
		return nil
	}
	value := o.field(name)
	if value.Kind() != Array {
		o.wrong(name, "an array")
		return nil
	}
	if len(value.items) > most {
		o.Fault(name, "too_many", fmt.Sprintf("This array may have %d items at most.", most))
		return nil
	}
	return value.items
}

// bounded returns the object under name, if it has fields and at most count of
// them; more are an error.
func (o Object) bounded(name string, count int) (inner Object, ok bool) {
	inner = o.Object(name)
	if inner.Value().Len() > count {
		o.Fault(name, "too_many", fmt.Sprintf("This object may have %d fields at most.", count))
		return inner, false
	}
	return inner, inner.Value().Len() > 0
}

// TextMap reads an object of up to count strings of up to most characters
// each. Fields that are not strings are errors.
func (o Object) TextMap(name string, count, most int) map[string]string {
	inner, ok := o.bounded(name, count)
	if !ok {
		return nil
	}
	texts := make(map[string]string, inner.Value().Len())
	for _, key := range inner.Names() {
		if !o.fits(o.Place(name), key, 128) {
			continue
		}
		if inner.Has(key) {
			texts[key] = inner.Text(key, most)
		}
	}
	return texts
}

// Scalars reads an object of up to count strings, numbers, truths and
// falsehoods, as JSON; text may have up to most characters.
func (o Object) Scalars(name string, count, most int) map[string]any {
	inner, ok := o.bounded(name, count)
	if !ok {
		return nil
	}
	scalars := make(map[string]any, inner.Value().Len())
	for _, key := range inner.Names() {
		if !o.fits(o.Place(name), key, 128) {
			continue
		}
		switch value := inner.field(key); value.Kind() {
		case String:
			scalars[key] = inner.Text(key, most)
		case True, False:
			scalars[key] = value.scalar()
		case Number:
			if len(value.raw) > 32 {
				inner.Fault(key, "too_long", "This number may have 32 characters at most.")
				continue
			}
			scalars[key] = value.scalar()
		case Null:
		default:
			inner.wrong(key, "a string, a number, true or false")
		}
	}
	return scalars
}

// JSON returns a field as JSON text without spaces, the fields of objects
// sorted; an absent one is nil. Numbers keep their spelling.
func (o Object) JSON(name string) []byte {
	if !o.Has(name) {
		return nil
	}
	return o.field(name).AppendJSON(nil)
}

func kindOf(v *Value) string {
	switch v.Kind() {
	case Absent, Null:
		return "null"
	case String:
		return "a string"
	case True, False:
		return "true or false"
	case Number:
		return "a number"
	case Array:
		return "an array"
	default:
		return "an object"
	}
}

// IsText reports whether a field is a string.
func (o Object) IsText(name string) bool { return o.field(name).Kind() == String }
