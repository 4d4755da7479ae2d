// Package output returns the output of a run in parts that fit: what a model can
// read at once.
//
//	Project(value, paths)       what was asked for
//	Cut(text, Position) -> Part ends between values; a Cursor leads on
//	ReadCursor(text)            where the next part begins
//
// Parts in the order of their cursors make up the whole.
package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ace/internal/foundation/cursor"
	"ace/internal/foundation/plainjson"
	"ace/internal/foundation/problem"
)

// Sizes of one part of an output, in bytes.
const (
	DefaultPart = 1 << 20
	MinPart     = 500
	MaxPart     = 4 << 20
)

// Part is a piece of an output. Parts in the order of their cursors make up the
// whole.
type Part struct {
	Output json.RawMessage // nil: none
	// Continues is the JSON Pointer of the value at which the piece continues; empty
	// for the first.
	Continues string
	// Omitted counts what follows, by dot path of the array, object or text.
	Omitted map[string]int
	Cursor  string // of the next piece; empty: this is the last
}

// Position is where a part of an output begins: a value, by the way there, and
// within a text the bytes before it.
type Position struct {
	Run    string `json:"r"`
	Path   []step `json:"p,omitempty"`
	Offset int    `json:"o,omitempty"`
	Max    int    `json:"m"`
}

// step leads to a member of an object or to an entry of an array.
type step struct {
	Member bool   `json:"m,omitempty"`
	Name   string `json:"n,omitempty"`
	Index  int    `json:"i,omitempty"`
}

const (
	cursorPrefix = "oc_"
	cursorQuery  = "output of a run"
)

func (p Position) cursor() (string, error) {
	text, err := json.Marshal(p)
	return cursorPrefix + cursor.Encode(cursorQuery, string(text)), err
}

// ReadCursor returns invalid_cursor (Invalid) for what no response held.
func ReadCursor(text string) (Position, error) {
	var p Position
	refused := problem.New(problem.Invalid, "invalid_cursor",
		"This is not a cursor of an output. Use next_output_cursor as it was answered.").At("/cursor")
	rest, ok := strings.CutPrefix(text, cursorPrefix)
	if !ok || len(text) > 8<<10 {
		return p, refused
	}
	inside, err := cursor.Decode(cursorQuery, rest)
	if err != nil || json.Unmarshal([]byte(inside), &p) != nil || p.Max < 1 || p.Max > MaxPart || p.Offset < 0 ||
		len(p.Path) > maxDepth {
		return p, refused
	}
	return p, nil
}

const maxDepth = 512

// Cut returns the part of an output that begins at a Position, as large as its
// Max allows. It ends between entries of an array or members of an object; only
// what is too large for a part of its own is divided, a text between two
// characters. Every part holds something, so that the parts come to an end.
func Cut(output []byte, at Position) (*Part, error) {
	if len(at.Path) == 0 && at.Offset == 0 && len(output) <= at.Max {
		return &Part{Output: output}, nil
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(output))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("reading an output: %w", err)
	}
	c := cutter{most: at.Max, offset: at.Offset}
	if !c.emit(value, at.Path, nil) && !c.stopped {
		return nil, problem.New(problem.Invalid, "invalid_cursor",
			"This cursor does not belong to this output.").At("/cursor")
	}
	part := &Part{Output: c.out.Bytes(), Continues: pointerOf(at.Path)}
	if !c.stopped {
		return part, nil
	}
	part.Omitted = map[string]int{}
	count(value, c.path, c.stop, "", part.Omitted)
	var err error
	part.Cursor, err = Position{Run: at.Run, Path: c.path, Offset: c.stop, Max: at.Max}.cursor()
	return part, err
}

// cutter writes one part.
type cutter struct {
	most   int
	out    bytes.Buffer
	open   int // brackets that have to be closed
	values int // pieces written so far

	offset  int // in the text at which the part begins
	stopped bool
	path    []step // where it stopped
	stop    int
}

func (c *cutter) remaining() int { return c.most - c.out.Len() - c.open }

func (c *cutter) stopAt(path []step, offset int) bool {
	c.stopped, c.path, c.stop = true, slices.Clone(path), offset
	return false
}

// emit writes a value from a Position inside it; empty: from its beginning. It
// reports whether all of it is written.
func (c *cutter) emit(value any, from, path []step) bool {
	begins := len(from) == 0 && c.offset == 0
	if begins && c.fits(value) {
		return c.whole(value)
	}
	switch v := value.(type) {
	case []any:
		if len(v) > 0 && (begins || len(from) > 0) {
			return c.array(v, from, path)
		}
	case map[string]any:
		if len(v) > 0 && (begins || len(from) > 0) {
			return c.object(v, from, path)
		}
	case string:
		if len(from) == 0 {
			return c.text(v, path)
		}
	}
	switch {
	case !begins:
		return false // a Position that is not in this output
	case c.values > 0:
		return c.stopAt(path, 0)
	}
	return c.whole(value)
}

// fits reports whether there is room for all of a value.
func (c *cutter) fits(value any) bool {
	remaining := c.remaining()
	return remaining > 0 && size(value, remaining) <= remaining
}

func (c *cutter) whole(value any) bool {
	text, err := Encode(value)
	if err != nil {
		text = []byte("null") // it was decoded from JSON
	}
	_, _ = c.out.Write(text)
	c.values++
	return true
}

func (c *cutter) array(list []any, from, path []step) bool {
	first := 0
	if len(from) > 0 {
		if first = from[0].Index; from[0].Member || first < 0 || first >= len(list) {
			return false
		}
	}
	c.openBracket('[')
	for i := first; i < len(list); i++ {
		var inside []step
		if i == first && len(from) > 0 {
			inside = from[1:]
		}
		here := append(slices.Clip(path), step{Index: i})
		if !c.entry(list[i], inside, here, i > first, nil) {
			return c.end(']', false)
		}
	}
	return c.end(']', true)
}

func (c *cutter) object(o map[string]any, from, path []step) bool {
	names := slices.Sorted(maps.Keys(o))
	first := 0
	if len(from) > 0 {
		var there bool
		if first, there = slices.BinarySearch(names, from[0].Name); !there || !from[0].Member {
			return false
		}
	}
	c.openBracket('{')
	for i := first; i < len(names); i++ {
		var inside []step
		if i == first && len(from) > 0 {
			inside = from[1:]
		}
		name := names[i]
		here := append(slices.Clip(path), step{Member: true, Name: name})
		label, err := Encode(name)
		if err != nil {
			return false
		}
		if !c.entry(o[name], inside, here, i > first, label) {
			return c.end('}', false)
		}
	}
	return c.end('}', true)
}

// entry writes one entry or member. An entry of an array, and a member that is
// no array or object, is written whole in a part of its own rather than divided
// here.
func (c *cutter) entry(value any, from, path []step, comma bool, label []byte) bool {
	mark, before := c.out.Len(), c.values
	if comma {
		_ = c.out.WriteByte(',')
	}
	if label != nil {
		_, _ = c.out.Write(label)
		_ = c.out.WriteByte(':')
	}
	begins := len(from) == 0 && c.offset == 0
	if begins && c.values > 0 && (label == nil || !container(value)) && !c.fits(value) && c.fitsAlone(value, path) {
		c.out.Truncate(mark)
		return c.stopAt(path, 0)
	}
	done := c.emit(value, from, path)
	if !done && c.stopped && c.values == before {
		c.out.Truncate(mark) // nothing of it found room
		return c.stopAt(path, 0)
	}
	return done
}

func container(value any) bool {
	switch value.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

// text writes as much of a text as has room, and at least a character where
// there is nothing else.
func (c *cutter) text(s string, path []step) bool {
	start := c.offset
	c.offset = 0
	if start >= len(s) || !utf8.RuneStart(s[start]) {
		return false
	}
	rest := s[start:]
	n, used := 0, len(`""`)
	for n < len(rest) {
		r, width := utf8.DecodeRuneInString(rest[n:])
		used += cost(r, width)
		if used > c.remaining() && (n > 0 || c.values > 0) {
			break
		}
		n += width
	}
	if n == 0 {
		return c.stopAt(path, start)
	}
	c.whole(rest[:n])
	if n == len(rest) {
		return true
	}
	return c.stopAt(path, start+n)
}

func (c *cutter) openBracket(bracket byte) { _ = c.out.WriteByte(bracket); c.open++ }

func (c *cutter) end(bracket byte, done bool) bool {
	_ = c.out.WriteByte(bracket)
	c.open--
	return done
}

// fitsAlone reports whether a value fits whole into a part that holds nothing
// else.
func (c *cutter) fitsAlone(value any, path []step) bool {
	around := 0
	for _, s := range path {
		around += 2
		if s.Member {
			around += quoted(s.Name) + 1
		}
	}
	return around+size(value, c.most) <= c.most
}

// size is how long a value is as JSON. It stops counting above most.
func size(value any, most int) int {
	var n int
	switch v := value.(type) {
	case map[string]any:
		n = 1 + max(1, len(v))
		for name, one := range v {
			if n > most {
				break
			}
			n += quoted(name) + 1
			n += size(one, most-n)
		}
	case []any:
		n = 1 + max(1, len(v))
		for _, one := range v {
			if n > most {
				break
			}
			n += size(one, most-n)
		}
	case string:
		if n = len(v); n <= most {
			n = quoted(v)
		}
	default:
		text, _ := Encode(v) // numbers, true, false, null
		n = len(text)
	}
	return n
}

// quoted is how long a text is as JSON.
func quoted(s string) int {
	n := len(`""`)
	for i := 0; i < len(s); {
		r, width := utf8.DecodeRuneInString(s[i:])
		n += cost(r, width)
		i += width
	}
	return n
}

// cost is how long a character is inside a text of JSON.
func cost(r rune, width int) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t', r == '\b', r == '\f':
		return 2
	case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError && width == 1:
		return 6
	}
	return width
}

// count describes what follows a position: the entries of each array, the members
// of each object, the characters of a text.
func count(value any, path []step, offset int, name string, into map[string]int) {
	label := name
	if label == "" {
		label = "."
	}
	if len(path) == 0 {
		if s, ok := value.(string); ok && offset > 0 {
			into[label] = utf8.RuneCountInString(s[offset:])
		}
		return
	}
	below := func(part string) string { return strings.TrimPrefix(name+"."+part, ".") }
	// What the Position names itself is left out whole unless it continues inside.
	whole := 0
	if len(path) == 1 && offset == 0 {
		whole = 1
	}
	switch v := value.(type) {
	case []any:
		if rest := len(v) - path[0].Index - 1 + whole; rest > 0 {
			into[label] = rest
		}
		count(v[path[0].Index], path[1:], offset, below(strconv.Itoa(path[0].Index)), into)
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		i, _ := slices.BinarySearch(names, path[0].Name)
		if rest := len(names) - i - 1 + whole; rest > 0 {
			into[label] = rest
		}
		count(v[path[0].Name], path[1:], offset, below(path[0].Name), into)
	}
}

// pointerOf is a way as a JSON Pointer.
func pointerOf(path []step) string {
	var b strings.Builder
	for _, s := range path {
		_ = b.WriteByte('/')
		if !s.Member {
			_, _ = b.WriteString(strconv.Itoa(s.Index))
			continue
		}
		_, _ = b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(s.Name))
	}
	return b.String()
}

// Encode is the JSON of a value, written as models read it: without escapes for
// HTML.
func Encode(v any) ([]byte, error) {
	text, err := plainjson.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing an output: %w", err)
	}
	return text, nil
}
