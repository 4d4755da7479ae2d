package jsonread

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ace/internal/foundation/excerpt"
	"ace/internal/foundation/problem"
)

// MaxDepth is how deep objects and arrays may nest in a text.
const MaxDepth = 64

// Parse reads a text that holds one JSON value, in one pass. It returns the
// problem invalid_json, with line and column, for everything that two JSON
// readers might understand differently: bytes that are not UTF-8, a field named
// twice in one object, nesting over MaxDepth, a second value.
func Parse(data []byte) (*Value, error) {
	p := parser{text: string(data), build: true}
	return p.document()
}

// Check is Parse for those who decode the text themselves: it builds no value.
func Check(data []byte) error {
	p := parser{text: string(data)}
	_, err := p.document()
	return err
}

// parser reads text from pos on. Its methods report whether they succeeded; the
// first error ends the parse.
type parser struct {
	text  string
	pos   int
	build bool
	names []string // of the objects that are open
	err   error

	unused Value // what is read where no values are built
}

func (p *parser) document() (*Value, error) {
	p.space()
	if p.pos == len(p.text) {
		return nil, emptyText()
	}
	v := new(Value)
	if !p.value(v, 0) {
		return nil, p.err
	}
	if p.space(); p.pos < len(p.text) {
		p.unexpected()
		return nil, p.err
	}
	return v, nil
}

func emptyText() error { return invalidJSON("The body is empty. Send a JSON value.") }

func invalidJSON(detail string) *problem.Problem {
	return problem.New(problem.Malformed, "invalid_json", detail).Advise("fix_arguments")
}

func (p *parser) failAt(pos int, text string) bool {
	p.err = invalidJSON(text + " at " + position(p.text, pos) + ".")
	return false
}

// unexpected refuses the character at pos, or the end of the text.
func (p *parser) unexpected() bool {
	if p.pos >= len(p.text) {
		p.err = invalidJSON("The JSON ends too early, at " + position(p.text, len(p.text)) + ".")
		return false
	}
	if r, size := utf8.DecodeRuneInString(p.text[p.pos:]); r == utf8.RuneError && size == 1 {
		return p.failAt(p.pos, "The text is not valid UTF-8")
	}
	return p.failAt(p.pos, "The body is not JSON: unexpected character")
}

// position is the line and the column of a byte, counted from 1.
func position(text string, offset int) string {
	before := text[:min(offset, len(text))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

func (p *parser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\n', '\t', '\r':
			p.pos++
		default:
			return
		}
	}
}

// next skips space and returns the next byte, 0 at the end of the text.
func (p *parser) next() byte {
	p.space()
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// value reads the value at pos into v.
func (p *parser) value(v *Value, depth int) bool {
	var ok bool
	start := p.pos
	switch c := p.next(); {
	case c == '{' || c == '[':
		if depth >= MaxDepth {
			return p.failAt(p.pos, fmt.Sprintf("The JSON nests deeper than %d levels", MaxDepth))
		}
		p.pos++
		if c == '{' {
			v.kind = Map
			ok = p.object(v, depth+1)
		} else {
			v.kind = Array
			ok = p.array(v, depth+1)
		}
	case c == '"':
		v.kind = String
		v.escaped, v.halves, ok = p.quoted()
	case c == '-' || c >= '0' && c <= '9':
		v.kind = Number
		ok = p.number()
	case c == 't':
		v.kind, ok = True, p.word("true")
	case c == 'f':
		v.kind, ok = False, p.word("false")
	case c == 'n':
		v.kind, ok = Null, p.word("null")
	default:
		return p.unexpected()
	}
	v.raw = p.text[start:p.pos]
	return ok
}

func (p *parser) word(word string) bool {
	for i := range len(word) {
		if p.pos >= len(p.text) || p.text[p.pos] != word[i] {
			return p.unexpected()
		}
		p.pos++
	}
	return true
}

// number reads a number as RFC 8259 section 6 spells it.
func (p *parser) number() bool {
	p.accept("-")
	if !p.accept("0") && !p.digits() {
		return p.unexpected()
	}
	if p.accept(".") && !p.digits() {
		return p.unexpected()
	}
	if p.accept("eE") {
		p.accept("+-")
		if !p.digits() {
			return p.unexpected()
		}
	}
	return true
}

// accept moves past one byte of set, if there is one.
func (p *parser) accept(set string) bool {
	ok := p.pos < len(p.text) && strings.IndexByte(set, p.text[p.pos]) >= 0
	if ok {
		p.pos++
	}
	return ok
}

func (p *parser) digits() bool {
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
	}
	return p.pos > start
}

// quoted moves past a string. halves reports whether it has an escape for half
// of a surrogate pair alone, which readers understand differently.
func (p *parser) quoted() (escaped, halves, ok bool) {
	text := p.text
	i := p.pos + 1
	for i < len(text) {
		switch c := text[i]; {
		case c == '"':
			p.pos = i + 1
			return escaped, halves, true
		case c == '\\':
			escaped = true
			p.pos = i
			half, ok := p.escape()
			if !ok {
				return false, false, p.unexpected()
			}
			halves = halves || half
			i = p.pos
		case c < ' ':
			p.pos = i
			return false, false, p.unexpected()
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				p.pos = i
				return false, false, p.unexpected()
			}
			i += size
		}
	}
	p.pos = i
	return false, false, p.unexpected()
}

// escape moves past an escape, and past both of a surrogate pair. It stops at
// the byte that is wrong.
func (p *parser) escape() (half, ok bool) {
	p.pos++
	if !p.accept(`"\/bfnrtu`) {
		return false, false
	}
	if p.text[p.pos-1] != 'u' {
		return false, true
	}
	unit, ok := p.hex()
	if !ok || !utf16.IsSurrogate(unit) {
		return false, ok
	}
	if !strings.HasPrefix(p.text[p.pos:], `\u`) {
		return true, true
	}
	first := p.pos
	p.pos += 2
	low, ok := p.hex()
	if ok && utf16.DecodeRune(unit, low) == utf8.RuneError {
		p.pos = first // an escape of its own
		return true, true
	}
	return false, ok
}

func (p *parser) hex() (unit rune, ok bool) {
	for range 4 {
		if !p.accept("0123456789abcdefABCDEF") {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(p.text[p.pos-4:p.pos], 16, 16)
	return rune(n), err == nil
}

func (p *parser) array(v *Value, depth int) bool {
	if p.next() == ']' {
		p.pos++
		return true
	}
	for {
		p.space()
		item := &p.unused
		if p.build {
			v.items = append(v.items, Value{})
			item = &v.items[len(v.items)-1]
		}
		if !p.value(item, depth) {
			return false
		}
		v.halves = v.halves || item.halves
		switch p.next() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return true
		default:
			return p.unexpected()
		}
	}
}

func (p *parser) object(v *Value, depth int) bool {
	seen := nameSet{from: len(p.names)}
	defer func() { p.names = p.names[:seen.from] }()
	if p.next() == '}' {
		p.pos++
		return true
	}
	for {
		if p.next() != '"' {
			return p.unexpected()
		}
		at := p.pos
		escaped, halves, ok := p.quoted()
		if !ok {
			return false
		}
		name := p.text[at+1 : p.pos-1]
		if escaped {
			name = unescape(name)
		}
		if !seen.add(p, name) {
			return p.failAt(at, fmt.Sprintf("The field %q appears twice in one object", excerpt.Bytes(name, 64)))
		}
		if p.next() != ':' {
			return p.unexpected()
		}
		p.pos++
		p.space()
		value := &p.unused
		if p.build {
			if v.fields == nil {
				v.fields = make([]field, 0, usualFields)
			}
			v.fields = append(v.fields, field{name: name})
			value = &v.fields[len(v.fields)-1].value
		}
		if !p.value(value, depth) {
			return false
		}
		v.halves = v.halves || halves || value.halves
		switch p.next() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			if seen.set != nil && p.build {
				v.index = make(map[string]int, len(v.fields))
				for i := range v.fields {
					v.index[v.fields[i].name] = i
				}
			}
			return true
		default:
			return p.unexpected()
		}
	}
}

// usualFields is the capacity that an object starts with.
const usualFields = 4

// manyNames is where a search through all names costs more than a map.
const manyNames = 16

// nameSet is the names of one object so far: the end of parser.names from an
// index on, and a map as well once there are many.
type nameSet struct {
	from int
	set  map[string]struct{}
}

// add reports whether the name is new.
func (s *nameSet) add(p *parser, name string) bool {
	if s.set != nil {
		if _, have := s.set[name]; have {
			return false
		}
		s.set[name] = struct{}{}
		return true
	}
	if slices.Contains(p.names[s.from:], name) {
		return false
	}
	if p.names = append(p.names, name); len(p.names)-s.from > manyNames {
		s.set = make(map[string]struct{}, 4*manyNames)
		for _, have := range p.names[s.from:] {
			s.set[have] = struct{}{}
		}
	}
	return true
}

// unescape resolves the escapes of a string that was parsed. Half of a
// surrogate pair becomes U+FFFD, as encoding/json has it.
func unescape(raw string) string {
	var b strings.Builder
	b.Grow(len(raw))
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 {
			b.WriteString(raw)
			return b.String()
		}
		b.WriteString(raw[:i])
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'u':
			unit := unitOf(raw)
			raw = raw[4:]
			if utf16.IsSurrogate(unit) {
				pair := rune(utf8.RuneError)
				if strings.HasPrefix(raw, `\u`) {
					pair = utf16.DecodeRune(unit, unitOf(raw[2:]))
				}
				if pair != utf8.RuneError {
					raw = raw[6:]
				}
				unit = pair
			}
			b.WriteRune(unit)
		default: // a quotation mark, a slash or a backslash
			b.WriteByte(c)
		}
	}
}

func unitOf(hex string) rune {
	n, _ := strconv.ParseUint(hex[:4], 16, 16) // the parser saw four digits
	return rune(n)
}
