// Package jsonread reads JSON of foreign callers member by member.
//
// Protocols have to be read liberally: members that we do not know are
// ignored, null counts as absent, and all faults of a request are told at once,
// each with its place. Decoding into structs cannot do that: it stops at the
// first wrong type, matches names in any case and keeps what it is given.
//
//	Read(data)            -> Object (invalid_json, invalid_type)
//	  o.Text("id", …)        values, checked; a fault is noted and the
//	  o.Object("item")       zero value answered
//	o.Err()               -> nil, or one problem with an item per fault
//
// An Object keeps nothing beyond the call: what is not asked for is gone when
// the reader is.
package jsonread

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
)

// MaxFaults is how many faults one reading tells.
const MaxFaults = 20

// Object is a JSON object under its place in the text. The zero Object is an
// absent one: reading from it answers zero values and notes nothing.
type Object struct {
	members map[string]any
	place   string
	faults  *faults
}

type faults struct{ items []problem.Item }

// Read parses data, which must be one JSON object. The problems are
// invalid_json and invalid_type.
func Read(data []byte) (Object, error) {
	if err := httpserver.CheckJSON(data); err != nil {
		return Object{}, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return Object{}, problem.New(problem.Malformed, "invalid_json", "The body is not JSON.").Advise("fix_arguments")
	}
	members, ok := value.(map[string]any)
	if !ok {
		return Object{}, problem.New(problem.Invalid, "invalid_type", "Expected an object, found "+kindOf(value)+".").At("").Advise("fix_arguments")
	}
	return Object{members: members, faults: &faults{}}, nil
}

// ReadOptional is Read where an empty text counts as an empty object.
func ReadOptional(data []byte) (Object, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}")
	}
	return Read(data)
}

// Err answers the faults noted so far in any object of the text: nil, or a
// problem of kind Invalid with an item for each. Its code is that of the first.
func (o Object) Err() error {
	if o.faults == nil || len(o.faults.items) == 0 {
		return nil
	}
	first := o.faults.items[0]
	detail := first.Detail
	if more := len(o.faults.items) - 1; more > 0 {
		detail += fmt.Sprintf(" %d more faults are listed.", more)
	}
	return problem.New(problem.Invalid, first.Code, detail).WithItems(o.faults.items...).Advise("fix_arguments")
}

// Fault notes a fault at a member; name "" is the object itself.
func (o Object) Fault(name, code, detail string) {
	o.note(o.Place(name), code, detail)
}

func (o Object) note(place, code, detail string) {
	if o.faults != nil && len(o.faults.items) < MaxFaults {
		o.faults.items = append(o.faults.items, problem.Item{Pointer: place, Code: code, Detail: detail})
	}
}

// Place is the JSON Pointer of a member; name "" is the object itself.
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
func (o Object) Present() bool { return o.members != nil }

// Has reports whether a member is there and not null.
func (o Object) Has(name string) bool { return o.members[name] != nil }

// Names lists the members, sorted.
func (o Object) Names() []string { return slices.Sorted(maps.Keys(o.members)) }

// Filled reports whether a member holds anything at all: a number, true or
// false, text that is not empty, or something inside an object or array. It
// tells that a secret was sent without looking at it.
func (o Object) Filled(name string) bool { return filled(o.members[name]) }

func filled(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case []any:
		return slices.ContainsFunc(v, filled)
	case map[string]any:
		for _, inner := range v {
			if filled(inner) {
				return true
			}
		}
		return false
	}
	return true
}

// Need notes the fault missing_field for a member that is absent or null.
func (o Object) Need(name, detail string) bool {
	if o.members == nil || o.Has(name) {
		return true
	}
	o.Fault(name, "missing_field", detail)
	return false
}

// wrong notes that the value of a member has another type than wanted.
func (o Object) wrong(name, wanted string) {
	o.Fault(name, "invalid_type", "Expected "+wanted+", found "+kindOf(o.members[name])+".")
}

// Text reads a string of up to most characters. An absent one is "".
func (o Object) Text(name string, most int) string {
	if !o.Has(name) {
		return ""
	}
	text, ok := o.members[name].(string)
	if !ok {
		o.wrong(name, "a string")
		return ""
	}
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
	b, ok := o.members[name].(bool)
	if !ok {
		o.wrong(name, "true or false")
	}
	return b
}

// Int reads a whole number from least to most; 2.0 counts as one. ok is false
// where it is absent or faulty.
func (o Object) Int(name string, least, most int64) (n int64, ok bool) {
	if !o.Has(name) {
		return 0, false
	}
	number, isNumber := o.members[name].(json.Number)
	if !isNumber {
		o.wrong(name, "a whole number")
		return 0, false
	}
	n, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil {
		f, err := number.Float64()
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

// Object reads an object; an absent or faulty one is the zero Object.
func (o Object) Object(name string) Object {
	if !o.Has(name) {
		return Object{}
	}
	members, ok := o.members[name].(map[string]any)
	if !ok {
		o.wrong(name, "an object")
		return Object{}
	}
	return Object{members: members, place: o.Place(name), faults: o.faults}
}

// Objects reads an array of up to most objects.
func (o Object) Objects(name string, most int) []Object {
	values := o.array(name, most)
	objects := make([]Object, 0, len(values))
	for i, value := range values {
		place := o.Place(name) + "/" + strconv.Itoa(i)
		members, ok := value.(map[string]any)
		if !ok {
			o.note(place, "invalid_type", "Expected an object, found "+kindOf(value)+".")
			continue
		}
		objects = append(objects, Object{members: members, place: place, faults: o.faults})
	}
	return objects
}

// Texts reads an array of up to count strings of up to most characters each.
func (o Object) Texts(name string, count, most int) []string {
	var texts []string
	for i, value := range o.array(name, count) {
		place := o.Place(name) + "/" + strconv.Itoa(i)
		text, ok := value.(string)
		if !ok {
			o.note(place, "invalid_type", "Expected a string, found "+kindOf(value)+".")
			continue
		}
		if o.fits(place, text, most) {
			texts = append(texts, text)
		}
	}
	return texts
}

func (o Object) array(name string, most int) []any {
	if !o.Has(name) {
		return nil
	}
	values, ok := o.members[name].([]any)
	if !ok {
		o.wrong(name, "an array")
		return nil
	}
	if len(values) > most {
		o.Fault(name, "too_many", fmt.Sprintf("This array may have %d members at most.", most))
		return nil
	}
	return values
}

// bounded answers the object under name, if it has members and at most count
// of them; more are a fault.
func (o Object) bounded(name string, count int) (inner Object, ok bool) {
	inner = o.Object(name)
	if len(inner.members) > count {
		o.Fault(name, "too_many", fmt.Sprintf("This object may have %d members at most.", count))
		return inner, false
	}
	return inner, len(inner.members) > 0
}

// TextMap reads an object of up to count strings of up to most characters
// each. Members that are not strings are faults.
func (o Object) TextMap(name string, count, most int) map[string]string {
	inner, ok := o.bounded(name, count)
	if !ok {
		return nil
	}
	texts := make(map[string]string, len(inner.members))
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
	scalars := make(map[string]any, len(inner.members))
	for _, key := range inner.Names() {
		if !o.fits(o.Place(name), key, 128) {
			continue
		}
		switch v := inner.members[key].(type) {
		case string:
			scalars[key] = inner.Text(key, most)
		case bool:
			scalars[key] = v
		case json.Number:
			if len(v) > 32 {
				inner.Fault(key, "too_long", "This number may have 32 characters at most.")
				continue
			}
			scalars[key] = v
		case nil:
		default:
			inner.wrong(key, "a string, a number, true or false")
		}
	}
	return scalars
}

// JSON answers a member as JSON text; an absent one is nil. Numbers keep their
// spelling, spaces and the order of members are lost.
func (o Object) JSON(name string) []byte {
	if !o.Has(name) {
		return nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(o.members[name]); err != nil {
		return nil // unreachable: the value came out of a JSON parser
	}
	return bytes.TrimSpace(out.Bytes())
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "true or false"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	}
	return "an object"
}

// IsText reports whether a member is a string.
func (o Object) IsText(name string) bool {
	_, ok := o.members[name].(string)
	return ok
}
