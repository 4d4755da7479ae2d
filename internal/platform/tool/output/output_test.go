package output_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/tool/output"
)

// outputs returns all parts of a value, each of at most max bytes, with only the
// given fields.
func outputs(t *testing.T, value any, limit int, fields ...string) []output.Part {
	t.Helper()
	text, err := output.Encode(output.Project(value, fields))
	if err != nil {
		t.Fatal(err)
	}
	var parts []output.Part
	for at := (output.Position{Run: "run_1", Max: limit}); ; {
		part, err := output.Cut(text, at)
		if err != nil {
			t.Fatal(err)
		}
		if parts = append(parts, *part); part.Cursor == "" {
			return parts
		}
		if at, err = output.ReadCursor(part.Cursor); err != nil {
			t.Fatal(err)
		}
		if len(parts) > 100_000 {
			t.Fatal("the parts have no end")
		}
	}
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// joined joins parts as a caller would: each continues at its pointer.
func joined(t *testing.T, parts []output.Part) any {
	t.Helper()
	whole := decoded(t, parts[0].Output)
	for _, p := range parts[1:] {
		var way []string
		if p.Continues != "" {
			way = strings.Split(strings.TrimPrefix(p.Continues, "/"), "/")
		}
		whole = join(t, whole, decoded(t, p.Output), way)
	}
	return whole
}

func join(t *testing.T, whole, part any, way []string) any {
	t.Helper()
	switch p := part.(type) {
	case []any:
		list, ok := whole.([]any)
		if !ok || len(way) == 0 {
			t.Fatalf("a list goes on where there is none: %v", whole)
		}
		i, err := strconv.Atoi(way[0])
		if err != nil || i > len(list) {
			t.Fatalf("%q is no place in a list of %d", way[0], len(list))
		}
		if i < len(list) {
			list[i] = join(t, list[i], p[0], way[1:])
			p = p[1:]
		}
		return append(list, p...)
	case map[string]any:
		object, ok := whole.(map[string]any)
		if !ok || len(way) == 0 {
			t.Fatalf("an object goes on where there is none: %v", whole)
		}
		first := strings.NewReplacer("~1", "/", "~0", "~").Replace(way[0])
		for name, value := range p {
			if before, there := object[name]; there {
				if name != first {
					t.Fatalf("member %q comes twice", name)
				}
				value = join(t, before, value, way[1:])
			}
			object[name] = value
		}
		return object
	case string:
		before, ok := whole.(string)
		if !ok || len(way) != 0 {
			t.Fatalf("a text goes on where there is none: %v", whole)
		}
		return before + p
	}
	t.Fatalf("%v goes on", part)
	return nil
}

func list(n int, entry func(i int) any) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = entry(i)
	}
	return out
}

func TestParts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä\"\n", 400)
	tests := []struct {
		name    string
		value   any
		max     int
		parts   int
		omitted map[string]int // of the first part
	}{
		{"small", map[string]any{"a": 1}, 500, 1, nil},
		{
			"entries stay whole",
			map[string]any{"items": list(10, func(i int) any { return strings.Repeat(string(rune('a'+i)), 100) })},
			500, 3,
			map[string]int{"items": 6},
		},
		{"members after a list", map[string]any{
			"items": list(10, func(int) any { return strings.Repeat("x", 100) }),
			"next":  "c", "total": 10,
		}, 500, 3, map[string]int{"items": 6, ".": 2}},
		{
			"a list at the top", list(10, func(int) any { return strings.Repeat("x", 100) }), 500, 3,
			map[string]int{".": 6},
		},
		{"a text at the top", long, 1000, 3, map[string]int{".": 701}},
		{
			"a text inside",
			map[string]any{"items": []any{map[string]any{"body": long, "id": 1}}},
			1000, 3,
			map[string]int{"items.0.body": 712, "items.0": 1},
		},
		{
			"empty lists and objects", list(300, func(i int) any { return []any{map[string]any{}, []any{}}[i%2] }), 500,
			2,
			map[string]int{".": 134},
		},
		{"null", nil, 500, 1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			parts := outputs(t, tt.value, tt.max)
			if len(parts) != tt.parts {
				t.Errorf("%d parts, want %d", len(parts), tt.parts)
			}
			if diff := cmp.Diff(tt.omitted, parts[0].Omitted); diff != "" {
				t.Errorf("omitted (-want +got):\n%s", diff)
			}
			check(t, tt.value, tt.max, parts)
		})
	}
}

// check verifies that parts together are the whole, and none is too large.
func check(t *testing.T, value any, most int, parts []output.Part) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decoded(t, text), joined(t, parts)); diff != "" {
		t.Errorf("the parts are not the whole (-whole +parts):\n%s", diff)
	}
	_, bare := value.(string) // its pointer is the empty one
	for i, p := range parts {
		if len(p.Output) > most {
			t.Errorf("part %d has %d bytes, may have %d", i, len(p.Output), most)
		}
		if (p.Cursor == "") != (i == len(parts)-1) || (p.Cursor == "") != (len(p.Omitted) == 0) ||
			!bare && (i == 0) != (p.Continues == "") {
			t.Errorf("part %d of %d: cursor %q, omitted %v, continues %q", i, len(parts), p.Cursor, p.Omitted,
				p.Continues)
		}
	}
}

// random returns any JSON of limited depth.
func random(r *rand.Rand, depth int) any {
	kinds := 7
	if depth == 0 {
		kinds = 5
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return json.Number(strconv.Itoa(r.IntN(1_000_000)))
	case 3, 4:
		return strings.Repeat([]string{"a", "é", "\"", "\u2028", "\t", "<", "😀", "\x01"}[r.IntN(8)], r.IntN(300))
	case 5:
		return list(r.IntN(8), func(int) any { return random(r, depth-1) })
	default:
		o := map[string]any{}
		for range r.IntN(6) {
			o[[]string{"", "a", "b/c", "d~e", "f.g", "h"}[r.IntN(6)]] = random(r, depth-1)
		}
		return o
	}
}

func TestPartsMakeTheWhole(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same values each time
	for i := range 300 {
		value := random(r, 4)
		most := 500 + r.IntN(600)
		parts := outputs(t, value, most)
		check(t, value, most, parts)
		if t.Failed() {
			t.Fatalf("value %d: %v in parts of %d", i, value, most)
		}
	}
}

// A part that is too small for a single name still holds something.
func TestDeepParts(t *testing.T) {
	t.Parallel()
	var value any = strings.Repeat("x", 3000)
	for i := range 30 {
		value = map[string]any{strings.Repeat(string(rune('a'+i%26)), 40): value}
	}
	parts := outputs(t, value, 500)
	text, _ := json.Marshal(value)
	if diff := cmp.Diff(decoded(t, text), joined(t, parts)); diff != "" {
		t.Errorf("the parts are not the whole:\n%s", diff)
	}
}

func TestProjection(t *testing.T) {
	t.Parallel()
	value := map[string]any{
		"id": "1", "items": []any{
			map[string]any{"subject": "a", "from": map[string]any{"name": "Ann", "mail": "a@b"}},
			map[string]any{"subject": "b"},
			3,
		}, "a.b": 1, "a": map[string]any{"b": 2, "c": 3},
	}
	tests := []struct {
		fields []string
		want   string
	}{
		{[]string{"id"}, `{"id":"1"}`},
		{[]string{"items.subject"}, `{"items":[{"subject":"a"},{"subject":"b"},null]}`},
		{[]string{"items.from.name", "id"}, `{"id":"1","items":[{"from":{"name":"Ann"}},{},null]}`},
		{
			[]string{"items", "items.subject"},
			`{"items":[{"from":{"mail":"a@b","name":"Ann"},"subject":"a"},{"subject":"b"},3]}`,
		},
		{
			[]string{"items.subject", "items"},
			`{"items":[{"from":{"mail":"a@b","name":"Ann"},"subject":"a"},{"subject":"b"},3]}`,
		},
		{[]string{"a.b"}, `{"a":{"b":2},"a.b":1}`},
		{[]string{"id.x"}, `{"id":null}`},
		{[]string{"nothing"}, `{}`},
	}
	for _, tt := range tests {
		parts := outputs(t, value, output.DefaultPart, tt.fields...)
		if got := string(parts[0].Output); got != tt.want {
			t.Errorf("%v keeps %s, want %s", tt.fields, got, tt.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add(`{"r":"run_1","p":[{"m":true,"n":"a"}],"o":3,"m":500}`)
	f.Add(`{"r":"run_1","p":[{"i":1},{"i":0}],"m":500}`)
	f.Add(`{"m":1,"o":9}`)
	whole := []byte(`{"a":"some text that is long enough","b":[[1,2,{"c":"d"}],{},[]],"c":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		var at output.Position
		if json.Unmarshal([]byte(text), &at) != nil {
			return
		}
		at.Max, at.Offset = min(max(at.Max, 1), output.MaxPart), max(at.Offset, 0)
		part, err := output.Cut(whole, at)
		if err == nil && (!json.Valid(part.Output) || !utf8.Valid(part.Output)) {
			t.Errorf("Cut at %s = %s", text, part.Output)
		}
	})
}
