package httpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ace/internal/foundation/problem"
)

// MaxJSONDepth is how deep objects and arrays may nest in a body.
const MaxJSONDepth = 64

// CheckJSON refuses, with the problem invalid_json, everything that two JSON
// readers might understand differently: text that is not UTF-8, a member named
// twice in one object, nesting over MaxJSONDepth, a second value. The sentence
// says where, by line and column.
func CheckJSON(data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return invalidJSON("The body is empty. Send a JSON value.")
	}
	if at := invalidUTF8(data); at >= 0 {
		return invalidJSON("The text is not valid UTF-8 at " + place(data, at) + ".")
	}
	if !json.Valid(data) {
		return syntaxProblem(data)
	}
	s := scanner{data: data}
	s.value(0)
	if s.fault != "" {
		return invalidJSON(s.fault + " at " + place(data, s.at) + ".")
	}
	return nil
}

func invalidJSON(detail string) *problem.Problem {
	return problem.New(problem.Malformed, "invalid_json", detail).Advise("fix_arguments")
}

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

func syntaxProblem(data []byte) error {
	var discard json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(data, &discard); errors.As(err, &syntax) {
		at := max(int(syntax.Offset)-1, 0)
		if strings.Contains(syntax.Error(), "unexpected end") {
			return invalidJSON("The JSON ends too early, at " + place(data, len(data)) + ".")
		}
		return invalidJSON("The body is not JSON: unexpected character at " + place(data, at) + ".")
	}
	return invalidJSON("The body is not JSON.")
}

func place(data []byte, offset int) string {
	before := data[:min(offset, len(data))]
	line := bytes.Count(before, []byte{'\n'}) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

// scanner walks JSON that is known to be valid and looks for members named
// twice and for depth. It stops at the first fault.
type scanner struct {
	data  []byte
	pos   int
	fault string
	at    int
}

func (s *scanner) fail(at int, fault string) { s.fault, s.at = fault, at }

func (s *scanner) space() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) value(depth int) {
	switch c := s.space(); c {
	case '{', '[':
		if depth >= MaxJSONDepth {
			s.fail(s.pos, fmt.Sprintf("The JSON nests deeper than %d levels", MaxJSONDepth))
			return
		}
		s.pos++
		if c == '{' {
			s.object(depth + 1)
		} else {
			s.array(depth + 1)
		}
	case '"':
		s.text()
	default:
		for s.pos < len(s.data) && strings.IndexByte(",]} \t\n\r", s.data[s.pos]) < 0 {
			s.pos++
		}
	}
}

func (s *scanner) object(depth int) {
	var seen names
	for s.space() != '}' {
		at := s.pos
		name := s.text()
		if !seen.add(name) {
			s.fail(at, fmt.Sprintf("The member %s appears twice in one object", strconv.Quote(shorten(name))))
			return
		}
		s.space()
		s.pos++ // the colon
		if s.value(depth); s.fault != "" {
			return
		}
		if s.space() == ',' {
			s.pos++
		}
	}
	s.pos++
}

func (s *scanner) array(depth int) {
	for s.space() != ']' {
		if s.value(depth); s.fault != "" {
			return
		}
		if s.space() == ',' {
			s.pos++
		}
	}
	s.pos++
}

// text moves over a string and answers what it says, escapes resolved, so that
// "a" and "\u0061" are one name.
func (s *scanner) text() string {
	start, escaped := s.pos, false
	for s.pos++; s.data[s.pos] != '"'; s.pos++ {
		if s.data[s.pos] == '\\' {
			escaped = true
			s.pos++
		}
	}
	s.pos++
	if !escaped {
		return string(s.data[start+1 : s.pos-1])
	}
	var out string
	_ = json.Unmarshal(s.data[start:s.pos], &out) // valid: json.Valid saw it
	return out
}

// names is a small set: most objects have few members, and a slice is then
// cheaper than a map.
type names struct {
	list []string
	set  map[string]struct{}
}

func (n *names) add(name string) bool {
	if n.set == nil {
		if slices.Contains(n.list, name) {
			return false
		}
		if n.list = append(n.list, name); len(n.list) > 16 {
			n.set = make(map[string]struct{}, 64)
			for _, have := range n.list {
				n.set[have] = struct{}{}
			}
		}
		return true
	}
	_, have := n.set[name]
	n.set[name] = struct{}{}
	return !have
}
