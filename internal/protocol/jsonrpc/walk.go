package jsonrpc

import (
	"encoding/json"
	"slices"
)

// WalkObject calls visit with each member of data, which must be a JSON object
// that CheckJSON of httpserver has found sound. Values are slices of data.
func WalkObject(data []byte, visit func(name string, value []byte)) {
	i := skipSpace(data, 1)
	for data[i] != '}' {
		end := skipValue(data, i)
		name := nameOf(data[i:end])
		i = skipSpace(data, end) + 1 // the colon
		i = skipSpace(data, i)
		end = skipValue(data, i)
		visit(name, data[i:end])
		if i = skipSpace(data, end); data[i] == ',' {
			i = skipSpace(data, i+1)
		}
	}
}

func walkArray(data []byte, visit func(value []byte)) {
	i := skipSpace(data, 1)
	for data[i] != ']' {
		end := skipValue(data, i)
		visit(data[i:end])
		if i = skipSpace(data, end); data[i] == ',' {
			i = skipSpace(data, i+1)
		}
	}
}

func nameOf(quoted []byte) string {
	if slices.Contains(quoted, '\\') {
		var name string
		_ = json.Unmarshal(quoted, &name) // sound, as promised
		return name
	}
	return string(quoted[1 : len(quoted)-1])
}

func skipSpace(data []byte, i int) int {
	for data[i] == ' ' || data[i] == '\t' || data[i] == '\n' || data[i] == '\r' {
		i++
	}
	return i
}

// skipValue answers the end of the value that begins at i.
func skipValue(data []byte, i int) int {
	depth := 0
	for ; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			} else if depth < 0 {
				return i // the end of what holds a bare number or word
			}
		case ',', ' ', '\t', '\n', '\r', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}
