// Package jcs writes JSON in its one canonical form, RFC 8785
// (https://www.rfc-editor.org/rfc/rfc8785), so that two texts that mean the
// same are the same bytes and can be compared or hashed.
//
//	{"b":1.0, "a":[ ]}  ->  {"a":[],"b":1}
//
// Members are sorted, spaces go, 1.0 and 1 are one number, escapes are
// resolved. What stays different: the order of arrays, and a member that is
// null from one that is absent.
//
// Numbers are IEEE 754 doubles, as RFC 8785 demands: integers beyond 2^53 that
// share a double share a form. Text that two readers may understand
// differently is refused: a member named twice, half of a surrogate pair, a
// number too large for a double, bytes that are not UTF-8.
package jcs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays may nest.
const MaxDepth = 64

// ErrInvalid is what every error of Canonical wraps. The text around it says
// what is wrong and never quotes the input, which may hold secrets.
var ErrInvalid = errors.New("not canonicalizable JSON")

// Canonical answers the canonical form of one JSON value.
func Canonical(data []byte) ([]byte, error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w: not UTF-8", ErrInvalid)
	}
	if !json.Valid(data) {
		return nil, fmt.Errorf("%w: syntax error", ErrInvalid)
	}
	w := walker{in: data, out: make([]byte, 0, len(data))}
	if err := w.value(0); err != nil {
		return nil, err
	}
	return w.out, nil
}

// Equal reports whether both texts are valid and mean the same.
func Equal(a, b []byte) bool {
	ca, errA := Canonical(a)
	cb, errB := Canonical(b)
	return errA == nil && errB == nil && bytes.Equal(ca, cb)
}

// walker moves over JSON that is known to be valid.
type walker struct {
	in  []byte
	pos int
	out []byte
}

// space moves to the next byte that means something and answers it.
func (w *walker) space() byte {
	for strings.IndexByte(" \t\r\n", w.in[w.pos]) >= 0 {
		w.pos++
	}
	return w.in[w.pos]
}

func (w *walker) value(depth int) error {
	if depth > MaxDepth {
		return fmt.Errorf("%w: nested deeper than %d levels", ErrInvalid, MaxDepth)
	}
	switch c := w.space(); c {
	case '{':
		return w.object(depth)
	case '[':
		return w.array(depth)
	case '"':
		text, err := w.text()
		w.out = appendText(w.out, text)
		return err
	case 't', 'n':
		w.out = append(w.out, w.in[w.pos:w.pos+4]...)
		w.pos += 4
	case 'f':
		w.out = append(w.out, "false"...)
		w.pos += 5
	default:
		return w.number()
	}
	return nil
}

func (w *walker) array(depth int) error {
	w.pos++
	w.out = append(w.out, '[')
	for w.space() != ']' {
		if w.in[w.pos] == ',' {
			w.pos++
			w.out = append(w.out, ',')
		}
		if err := w.value(depth + 1); err != nil {
			return err
		}
	}
	w.pos++
	w.out = append(w.out, ']')
	return nil
}

// member is one member of an object: its name and where its value lies in the
// output that is being built.
type member struct {
	name       string
	from, upto int
}

func (w *walker) object(depth int) error {
	w.pos++
	start := len(w.out)
	var members []member
	for w.space() != '}' {
		if w.in[w.pos] == ',' {
			w.pos++
			w.space()
		}
		name, err := w.text()
		if err != nil {
			return err
		}
		w.space()
		w.pos++ // the colon
		from := len(w.out)
		if err := w.value(depth + 1); err != nil {
			return err
		}
		members = append(members, member{name, from, len(w.out)})
	}
	w.pos++
	slices.SortStableFunc(members, func(a, b member) int { return compareUTF16(a.name, b.name) })
	values := slices.Clone(w.out[start:])
	w.out = append(w.out[:start], '{')
	for i, m := range members {
		if i > 0 {
			if m.name == members[i-1].name {
				return fmt.Errorf("%w: a member is named twice in one object", ErrInvalid)
			}
			w.out = append(w.out, ',')
		}
		w.out = append(appendText(w.out, m.name), ':')
		w.out = append(w.out, values[m.from-start:m.upto-start]...)
	}
	w.out = append(w.out, '}')
	return nil
}

// compareUTF16 orders names by their UTF-16 code units (RFC 8785 section
// 3.2.3), which differs from the order of bytes beyond the basic plane.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if ra != rb {
			return slices.Compare(utf16.AppendRune(nil, ra), utf16.AppendRune(nil, rb))
		}
		a, b = a[na:], b[nb:]
	}
	return len(a) - len(b)
}

// text reads a string, escapes resolved.
func (w *walker) text() (string, error) {
	start, escaped := w.pos, false
	for w.pos++; w.in[w.pos] != '"'; w.pos++ {
		if w.in[w.pos] == '\\' {
			escaped = true
			w.pos++
		}
	}
	w.pos++
	raw := w.in[start:w.pos]
	if !escaped {
		return string(raw[1 : len(raw)-1]), nil
	}
	if loneSurrogate(raw) {
		return "", fmt.Errorf("%w: half of a surrogate pair", ErrInvalid)
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", fmt.Errorf("%w: unreadable string", ErrInvalid)
	}
	return text, nil
}

// loneSurrogate looks for \u escapes that name half a character, which
// encoding/json would silently make U+FFFD.
func loneSurrogate(raw []byte) bool {
	high := false // the escape before this byte was the first half of a pair
	for i := 1; i < len(raw)-1; {
		var unit rune
		width := 1
		if raw[i] == '\\' {
			width = 2
			if raw[i+1] == 'u' {
				n, _ := strconv.ParseUint(string(raw[i+2:i+6]), 16, 32)
				unit, width = rune(n), 6
			}
		}
		low := unit >= 0xDC00 && unit <= 0xDFFF
		if high != low {
			return true
		}
		high = unit >= 0xD800 && unit <= 0xDBFF
		i += width
	}
	return high
}

func appendText(out []byte, text string) []byte {
	const short = "\bb\tt\nn\ff\rr\"\"\\\\"
	out = append(out, '"')
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			out = append(out, c)
			continue
		}
		out = append(out, '\\')
		found := false
		for j := 0; j < len(short); j += 2 {
			if short[j] == c {
				out, found = append(out, short[j+1]), true
				break
			}
		}
		if !found {
			out = fmt.Appendf(out, "u%04x", c)
		}
	}
	return append(out, '"')
}

// number writes a number as ECMAScript does (RFC 8785 section 3.2.2.3).
func (w *walker) number() error {
	start := w.pos
	for w.pos < len(w.in) && strings.IndexByte("+-.0123456789eE", w.in[w.pos]) >= 0 {
		w.pos++
	}
	f, err := strconv.ParseFloat(string(w.in[start:w.pos]), 64)
	if err != nil || math.IsInf(f, 0) {
		return fmt.Errorf("%w: a number is too large", ErrInvalid)
	}
	if f == 0 {
		w.out = append(w.out, '0') // -0 too
		return nil
	}
	format := byte('f')
	if abs := math.Abs(f); abs < 1e-6 || abs >= 1e21 {
		format = 'e'
	}
	at := len(w.out)
	w.out = strconv.AppendFloat(w.out, f, format, -1, 64)
	if n := len(w.out); format == 'e' && n-at >= 4 && w.out[n-4] == 'e' && w.out[n-2] == '0' {
		w.out = append(w.out[:n-2], w.out[n-1]) // e-07 -> e-7
	}
	return nil
}
