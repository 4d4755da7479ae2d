// Package jcs writes JSON in its one canonical form, RFC 8785
// (https://www.rfc-editor.org/rfc/rfc8785), so that two texts that mean the
// same are the same bytes and can be compared or hashed.
//
//	{"b":1.0, "a":[ ]}  ->  {"a":[],"b":1}
//
// Fields are sorted, spaces go, 1.0 and 1 are one number, escapes are
// resolved. What stays different: the order of arrays, and a field that is
// null from one that is absent.
//
// Numbers are IEEE 754 doubles, as RFC 8785 demands: integers beyond 2^53 that
// share a double share a form. Text that two readers may understand
// differently is refused: a field named twice, half of a surrogate pair, a
// number too large for a double, bytes that are not UTF-8.
package jcs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"ace/internal/foundation/jsonread"
)

// ErrInvalid is what every error of this package wraps. The text around it says
// what is wrong and never quotes the input, which may hold secrets.
var ErrInvalid = errors.New("not canonicalizable JSON")

// Canonical returns the canonical form of one JSON value.
func Canonical(data []byte) ([]byte, error) {
	v, err := jsonread.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%w: not one sound JSON value", ErrInvalid) // the problem may quote a name
	}
	return Encode(v)
}

// Encode returns the canonical form of a value that was parsed.
func Encode(v *jsonread.Value) ([]byte, error) {
	if v.Ambiguous() {
		return nil, fmt.Errorf("%w: half of a surrogate pair", ErrInvalid)
	}
	return appendValue(make([]byte, 0, v.Size()), v)
}

// Equal reports whether both texts are valid and mean the same.
func Equal(a, b []byte) bool {
	ca, errA := Canonical(a)
	cb, errB := Canonical(b)
	return errA == nil && errB == nil && bytes.Equal(ca, cb)
}

func appendValue(out []byte, v *jsonread.Value) ([]byte, error) {
	var err error
	switch v.Kind() {
	case jsonread.Absent:
		return nil, fmt.Errorf("%w: there is no value", ErrInvalid)
	case jsonread.Null:
		return append(out, "null"...), nil
	case jsonread.True:
		return append(out, "true"...), nil
	case jsonread.False:
		return append(out, "false"...), nil
	case jsonread.String:
		return appendText(out, v.Text()), nil
	case jsonread.Number:
		return appendNumber(out, v.Text())
	case jsonread.Array:
		out = append(out, '[')
		first := true
		for item := range v.Items() {
			if !first {
				out = append(out, ',')
			}
			first = false
			if out, err = appendValue(out, item); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	default: // an object
		out = append(out, '{')
		first := true
		for name, value := range v.SortedFields(compareUTF16) {
			if !first {
				out = append(out, ',')
			}
			first = false
			out = append(appendText(out, name), ':')
			if out, err = appendValue(out, value); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	}
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

// appendNumber writes a number as ECMAScript does (RFC 8785 section 3.2.2.3).
func appendNumber(out []byte, text string) ([]byte, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%w: a number is too large", ErrInvalid)
	}
	if f == 0 {
		return append(out, '0'), nil // -0 too
	}
	format := byte('f')
	if abs := math.Abs(f); abs < 1e-6 || abs >= 1e21 {
		format = 'e'
	}
	start := len(out)
	out = strconv.AppendFloat(out, f, format, -1, 64)
	if n := len(out); format == 'e' && n-start >= 4 && out[n-4] == 'e' && out[n-2] == '0' {
		out = append(out[:n-2], out[n-1]) // e-07 -> e-7
	}
	return out, nil
}
