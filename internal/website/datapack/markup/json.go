package markup

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// value is a JSON value with the line that it begins on.
type value struct {
	kind    byte   // 's' text, 'n' number, 'b' true or false, '0' null, '{', '['
	text    string // of s, n, b
	members []member
	items   []value
	line    int
}

type member struct {
	name  string
	value value
}

func (v value) member(name string) (value, bool) {
	for _, m := range v.members {
		if m.name == name {
			return m.value, true
		}
	}
	return value{}, false
}

// Limits of one block.
const (
	maxJSONDepth  = 64
	maxJSONValues = 50_000
	maxJSONFaults = 10
)

// reader reads JSON as people write it: what is wrong is noted, and read in
// the way that was meant wherever there is only one.
type reader struct {
	s      string
	at     int
	line   int
	faults []Fault
	values int
	stop   bool // nothing sensible follows, or a limit is reached
}

// readJSON reads the text of one block that begins on a line of the page. ok is
// false where nothing could be read.
func readJSON(text string, line int) (values []value, faults []Fault, ok bool) {
	r := &reader{s: text, line: line}
	values = r.all()
	if r.stop && strings.Contains(text, "&quot;") {
		again := &reader{s: html.UnescapeString(text), line: line}
		if values := again.all(); len(values) > 0 && !again.stop {
			again.note("json_entities",
				"The block is written with HTML entities, which a script element does not decode: write quotes as "+
					"they are.", line)
			return values, again.faults, true
		}
	}
	return values, r.faults, len(values) > 0
}

func (r *reader) note(code, detail string, line int) {
	if len(r.faults) < maxJSONFaults {
		r.faults = append(r.faults, Fault{Code: code, Detail: detail, Line: line})
	}
}

// broken ends the reading.
func (r *reader) broken(detail string) {
	if !r.stop {
		r.stop = true
		r.note("json_broken", detail, r.line)
	}
}

func (r *reader) all() []value {
	var values []value
	for !r.stop {
		r.space()
		switch {
		case r.at >= len(r.s):
			if len(values) > 1 {
				r.note("json_several",
					"The block holds several values one after another: put them into one array or into blocks of "+
						"their own.", values[1].line)
			}
			return values
		case len(values) > 0 && strings.IndexByte(";,}]", r.s[r.at]) >= 0:
			r.note("json_leftover", "After the end stands "+r.sight()+".", r.line)
			r.at++
		case len(values) > 0 && r.s[r.at] != '{' && r.s[r.at] != '[':
			r.note("json_leftover", "After the end stands "+r.sight()+".", r.line)
			return values
		default:
			v, ok := r.value(0)
			if !ok {
				return values
			}
			if v.kind != '{' && v.kind != '[' {
				r.broken("The block is neither an object nor an array.")
				return values
			}
			values = append(values, v)
		}
	}
	return values
}

// sight quotes what is at the current place.
func (r *reader) sight() string {
	rest := r.s[r.at:]
	if len(rest) > 60 {
		rest = rest[:60]
	}
	rest = strings.ToValidUTF8(rest, "")
	if i := strings.IndexByte(rest, '\n'); i > 0 {
		rest = rest[:i]
	}
	if runes := []rune(rest); len(runes) > 20 {
		rest = string(runes[:20]) + "…"
	}
	if rest == "" {
		return "nothing"
	}
	return strconv.Quote(rest)
}

// space goes over white space, and over comments and wrappers that do not
// belong there.
func (r *reader) space() {
	for r.at < len(r.s) {
		rest := r.s[r.at:]
		switch {
		case rest[0] == '\n':
			r.line++
			r.at++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\f' || rest[0] == '\v':
			r.at++
		case strings.HasPrefix(rest, "\uFEFF") || strings.HasPrefix(rest, "\u00A0"):
			_, size := utf8.DecodeRuneInString(rest)
			r.note("json_space",
				"A character that looks like a space, and is none for JSON, stands between the values.", r.line)
			r.at += size
		default:
			if !r.comment(rest) {
				return
			}
		}
	}
}

func (r *reader) comment(rest string) bool {
	ends := []struct{ start, end string }{
		{"<!--", ""},
		{"-->", ""},
		{"//<![CDATA[", ""},
		{"//]]>", ""},
		{"<![CDATA[", ""},
		{"]]>", ""},
		{"/*", "*/"},
		{"//", "\n"},
	}
	for _, e := range ends {
		if !strings.HasPrefix(rest, e.start) {
			continue
		}
		size := len(e.start)
		if e.end != "" {
			i := strings.Index(rest[size:], e.end)
			if i < 0 {
				i = len(rest) - size - len(e.end)
			}
			size += max(i+len(e.end), 0)
			if e.end == "\n" && size < len(rest) {
				size-- // the line is counted outside
			}
		}
		r.note("json_comment", "JSON has no comments: "+r.sight()+".", r.line)
		r.line += strings.Count(rest[:size], "\n")
		r.at += size
		return true
	}
	return false
}

func (r *reader) value(depth int) (value, bool) {
	r.space()
	if r.values++; r.values > maxJSONValues || depth > maxJSONDepth {
		r.broken(fmt.Sprintf("The block holds more than %d values, or more than %d inside one another.", maxJSONValues,
			maxJSONDepth))
		return value{}, false
	}
	if r.at >= len(r.s) {
		r.broken("The block ends where a value is expected.")
		return value{}, false
	}
	line := r.line
	switch c := r.s[r.at]; c {
	case '{':
		return r.object(depth), true
	case '[':
		return r.array(depth), true
	case '"', '\'':
		text, ok := r.text(c)
		return value{kind: 's', text: text, line: line}, ok
	default:
		return r.word(line)
	}
}

func (r *reader) object(depth int) value {
	v := value{kind: '{', line: r.line}
	r.at++
	for !r.stop {
		if r.closed('}', "object") {
			break
		}
		if r.s[r.at] == ',' {
			r.extraComma()
			continue
		}
		line := r.line
		name, ok := r.name()
		if !ok {
			break
		}
		r.space()
		if r.at < len(r.s) && (r.s[r.at] == ':' || r.s[r.at] == '=') {
			r.at++
		} else {
			r.note("json_colon", "A colon is missing after the name "+strconv.Quote(name)+".", r.line)
		}
		inner, ok := r.value(depth + 1)
		if !ok {
			break
		}
		if _, twice := v.member(name); twice && len(v.members) < 200 {
			r.note("json_duplicate",
				"The member "+strconv.Quote(name)+" stands twice in one object: only one of them counts.", line)
		}
		v.members = append(v.members, member{name, inner})
		r.comma('}')
	}
	return v
}

func (r *reader) array(depth int) value {
	v := value{kind: '[', line: r.line}
	r.at++
	for !r.stop {
		if r.closed(']', "array") {
			break
		}
		if r.s[r.at] == ',' {
			r.extraComma()
			continue
		}
		inner, ok := r.value(depth + 1)
		if !ok {
			break
		}
		v.items = append(v.items, inner)
		r.comma(']')
	}
	return v
}

// closed goes over the end of an object or array. At the end of the block, and
// at the end of what is around, it counts as closed too.
func (r *reader) closed(end byte, what string) bool {
	r.space()
	if r.at >= len(r.s) {
		r.note("json_unclosed", "The block ends inside an "+what+".", r.line)
		return true
	}
	switch r.s[r.at] {
	case end:
		r.at++
		return true
	case '}', ']':
		r.note("json_unclosed", "An "+what+" is not closed before "+r.sight()+".", r.line)
		return true
	}
	return false
}

func (r *reader) extraComma() {
	r.note("json_trailing_comma", "A comma stands where no value follows or none came before.", r.line)
	r.at++
}

// comma goes over what parts two members.
func (r *reader) comma(end byte) {
	r.space()
	if r.at >= len(r.s) || r.stop {
		return
	}
	switch c := r.s[r.at]; c {
	case ',':
		line := r.line
		r.at++
		r.space()
		if r.at < len(r.s) && r.s[r.at] == end {
			r.note("json_trailing_comma", "A comma precedes "+strconv.Quote(string(end))+" and no value follows.",
				line)
		}
	case '}', ']':
	case ';':
		r.note("json_comma", "A semicolon stands where a comma is expected.", r.line)
		r.at++
	default:
		r.note("json_comma", "A comma is missing before "+r.sight()+".", r.line)
	}
}

// name reads the name of a member.
func (r *reader) name() (string, bool) {
	if c := r.s[r.at]; c == '"' || c == '\'' {
		return r.text(c)
	}
	start := r.at
	for r.at < len(r.s) && strings.IndexByte(" \t\r\n:,{}[]\"'", r.s[r.at]) < 0 {
		r.at++
	}
	if r.at == start || r.at-start > 100 {
		r.at = start
		r.broken("A name in quotes is expected before " + r.sight() + ".")
		return "", false
	}
	name := r.s[start:r.at]
	r.note("json_quotes", "The name "+strconv.Quote(name)+" stands without quotes.", r.line)
	return name, true
}

// word reads numbers, true, false, null, and what people write in their place.
func (r *reader) word(line int) (value, bool) {
	start := r.at
	for r.at < len(r.s) && strings.IndexByte(" \t\r\n,}]:;\"", r.s[r.at]) < 0 {
		r.at++
	}
	word := r.s[start:r.at]
	switch word {
	case "true", "false":
		return value{kind: 'b', text: word, line: line}, true
	case "null":
		return value{kind: '0', line: line}, true
	case "True", "False", "TRUE", "FALSE":
		r.note("json_word", "The word "+word+" is written in small letters in JSON.", line)
		return value{kind: 'b', text: strings.ToLower(word), line: line}, true
	case "undefined", "None", "NaN", "NULL", "nil":
		r.note("json_word", "JSON has no value "+word+".", line)
		return value{kind: '0', line: line}, true
	}
	if number(word) {
		return value{kind: 'n', text: word, line: line}, true
	}
	if _, err := strconv.ParseFloat(word, 64); err == nil && len(word) < 40 {
		r.note("json_number", "The number "+word+" is not written as JSON writes numbers.", line)
		return value{kind: 's', text: word, line: line}, true
	}
	r.at = start
	r.broken("A value is expected before " + r.sight() + ".")
	return value{}, false
}

// number reports whether a word is a number by RFC 8259.
func number(word string) bool {
	s := strings.TrimPrefix(word, "-")
	digits := func() int {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n
	}
	zero := strings.HasPrefix(s, "0")
	if n := digits(); n == 0 || zero && n > 1 {
		return false
	}
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		if digits() == 0 {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if digits() == 0 {
			return false
		}
	}
	return s == "" && len(word) < 40
}

// text reads a string up to its quote.
func (r *reader) text(quote byte) (string, bool) {
	if quote == '\'' {
		r.note("json_quotes", "Text is in single quotes: JSON knows double ones only.", r.line)
	}
	first := r.line
	r.at++
	var b strings.Builder
	raw := false
	for r.at < len(r.s) {
		c := r.s[r.at]
		switch {
		case c == quote:
			r.at++
			return b.String(), true
		case c == '\\':
			r.escape(&b)
			continue
		case c < 0x20:
			if !raw {
				raw = true
				r.note("json_control", "Text holds a line break or tabulator as it is: write \\n or \\t.", r.line)
			}
			if c == '\n' {
				r.line++
			}
		}
		b.WriteByte(c)
		r.at++
	}
	r.line = first
	r.broken("Text is not closed by a quote.")
	return b.String(), false
}

// escape reads one escape into b.
func (r *reader) escape(b *strings.Builder) {
	if r.at+1 >= len(r.s) {
		r.at++
		return
	}
	c := r.s[r.at+1]
	r.at += 2
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		b.WriteByte("\"\\/\b\f\n\r\t"[i])
		return
	}
	if c == 'u' {
		if high, ok := r.hex(); ok {
			b.WriteRune(r.pair(high))
			return
		}
	}
	if c == '\n' {
		r.line++
	}
	r.note("json_escape", "Text holds \\"+string(rune(c))+", which is no escape of JSON.", r.line)
	b.WriteByte(c)
}

func (r *reader) hex() (rune, bool) {
	if r.at+4 > len(r.s) {
		return 0, false
	}
	n, err := strconv.ParseUint(r.s[r.at:r.at+4], 16, 32)
	if err != nil {
		return 0, false
	}
	r.at += 4
	return rune(n), true
}

// pair joins two surrogates; a single one is no character.
func (r *reader) pair(high rune) rune {
	if high < 0xD800 || high > 0xDFFF {
		return high
	}
	if high < 0xDC00 && strings.HasPrefix(r.s[r.at:], `\u`) {
		mark := r.at
		r.at += 2
		if low, ok := r.hex(); ok && low >= 0xDC00 && low <= 0xDFFF {
			return (high-0xD800)<<10 + (low - 0xDC00) + 0x10000
		}
		r.at = mark // what follows is an escape of its own
	}
	return utf8.RuneError
}
