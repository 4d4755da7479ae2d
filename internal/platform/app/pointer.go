package app

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Pick returns the value at a JSON Pointer (RFC 6901) of a decoded document.
// The pointer may lack its first slash. "" and "/" are the document. An index
// of -1 is the last entry of an array.
func Pick(document any, pointer string) (value any, ok bool) {
	pointer = strings.TrimPrefix(pointer, "/")
	if pointer == "" {
		return document, document != nil
	}
	for name := range strings.SplitSeq(pointer, "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch inside := document.(type) {
		case map[string]any:
			if document, ok = inside[name]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(name)
			if err == nil && i < 0 {
				i += len(inside)
			}
			if err != nil || i < 0 || i >= len(inside) {
				return nil, false
			}
			document = inside[i]
		default:
			return nil, false
		}
	}
	return document, true
}

// PickText is Pick for a text, number or flag, as text; "" if there is none.
func PickText(document any, pointer string) string {
	value, ok := Pick(document, pointer)
	if !ok {
		return ""
	}
	return Text(value)
}

// Text returns a scalar value as text: numbers as they were written if the
// decoder preserved them (json.Number). Null, arrays and objects are "".
func Text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	}
	return ""
}

// Met reports whether a response is as expected: its status, and the value in
// its decoded body.
func (e Expect) Met(status int, document any) bool {
	if !e.statusMet(status) {
		return false
	}
	if e.Pointer == "" {
		return true
	}
	value, there := Pick(document, e.Pointer)
	switch {
	case e.Absent:
		return !there || value == nil
	case e.Equals != "":
		return there && Text(value) == e.Equals
	}
	return there && value != nil
}

func (e Expect) statusMet(status int) bool {
	if len(e.Status) == 0 {
		return status >= 200 && status < 300
	}
	return slices.Contains(e.Status, status)
}
