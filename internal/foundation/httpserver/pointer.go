package httpserver

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
}

// level is one object or array on the way to a value.
type level struct {
	array bool
	index int
	name  string
	value bool // in an object: the next token is a value, not a name
}

// pointerAt is the JSON Pointer (RFC 6901) of the value of data, which is valid
// JSON, that holds the byte before offset. "" is the whole text.
func pointerAt(data []byte, offset int64) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var stack []level
	for {
		token, err := dec.Token()
		if err != nil {
			return pointerOf(stack)
		}
		delim, isDelim := token.(json.Delim)
		if isDelim && (delim == '}' || delim == ']') {
			stack = stack[:len(stack)-1]
			if dec.InputOffset() >= offset {
				return pointerOf(stack)
			}
			after(stack)
			continue
		}
		if top := len(stack) - 1; top >= 0 && !stack[top].array && !stack[top].value {
			stack[top].name, stack[top].value = token.(string), true
			continue
		}
		if dec.InputOffset() >= offset {
			return pointerOf(stack)
		}
		if isDelim {
			stack = append(stack, level{array: delim == '['})
			continue
		}
		after(stack)
	}
}

// after moves the innermost level past a value.
func after(stack []level) {
	if len(stack) == 0 {
		return
	}
	top := &stack[len(stack)-1]
	top.index++
	top.value = false
}

func pointerOf(stack []level) string {
	var b strings.Builder
	for _, l := range stack {
		b.WriteByte('/')
		if l.array {
			b.WriteString(strconv.Itoa(l.index))
		} else {
			b.WriteString(escapePointer(l.name))
		}
	}
	return b.String()
}
