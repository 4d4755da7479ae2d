package jsonread_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
)

func TestParseErrors(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `"n%d":0,`, i)
	}
	tests := []struct{ name, in, want string }{
		{"nothing", "", "The body is empty. Send a JSON value."},
		{"space", " \t\r\n", "The body is empty. Send a JSON value."},
		{"open object", `{"a":1`, "The JSON ends too early, at line 1, column 7."},
		{"open array", "[1,\n", "The JSON ends too early, at line 2, column 1."},
		{"open string", `"a`, "The JSON ends too early, at line 1, column 3."},
		{"open escape", `"\`, "The JSON ends too early, at line 1, column 3."},
		{"open unicode escape", `"\u00`, "The JSON ends too early, at line 1, column 6."},
		{"open word", `nul`, "The JSON ends too early, at line 1, column 4."},
		{"open number", `-`, "The JSON ends too early, at line 1, column 2."},
		{"open fraction", `1.`, "The JSON ends too early, at line 1, column 3."},
		{"open exponent", `1e+`, "The JSON ends too early, at line 1, column 4."},
		{"bare word", "{\n  \"a\": x\n}", "The body is not JSON: unexpected character at line 2, column 8."},
		{"column in characters", `{"äö": x}`, "The body is not JSON: unexpected character at line 1, column 8."},
		{"misspelt word", `trve`, "The body is not JSON: unexpected character at line 1, column 3."},
		{"comma before the end", `[1,]`, "The body is not JSON: unexpected character at line 1, column 4."},
		{"comma in an object", `{"a":1,}`, "The body is not JSON: unexpected character at line 1, column 8."},
		{"no comma", `[1 2]`, "The body is not JSON: unexpected character at line 1, column 4."},
		{"no colon", `{"a" 1}`, "The body is not JSON: unexpected character at line 1, column 6."},
		{"name without quotes", `{a:1}`, "The body is not JSON: unexpected character at line 1, column 2."},
		{"leading zero", `01`, "The body is not JSON: unexpected character at line 1, column 2."},
		{"plus", `+1`, "The body is not JSON: unexpected character at line 1, column 1."},
		{"line break in a string", "\"a\nb\"", "The body is not JSON: unexpected character at line 1, column 3."},
		{"unknown escape", `"\x"`, "The body is not JSON: unexpected character at line 1, column 3."},
		{"bad hex", `"\u12g4"`, "The body is not JSON: unexpected character at line 1, column 6."},
		{"second value", `{} {}`, "The body is not JSON: unexpected character at line 1, column 4."},
		{"not UTF-8 in a string", "{\"a\":\"\xff\"}", "The text is not valid UTF-8 at line 1, column 7."},
		{"half a character", "\"\xe2\x82\"", "The text is not valid UTF-8 at line 1, column 2."},
		{"encoded surrogate", "\"\xed\xa0\x80\"", "The text is not valid UTF-8 at line 1, column 2."},
		{"not UTF-8 outside", "\xff{}", "The text is not valid UTF-8 at line 1, column 1."},
		{"named twice", `{"a":1,"b":2,"\u0061":3}`, `The field "a" appears twice in one object at line 1, column 14.`},
		{
			"named twice inside",
			`[{"x":{"b":1,"b":3}}]`,
			`The field "b" appears twice in one object at line 1, column 14.`,
		},
		{
			"named twice among many", `{` + many.String() + `"n7":1}`,
			`The field "n7" appears twice in one object at line 1, column 792.`,
		},
		{
			"long name twice", `{"` + strings.Repeat("x", 70) + `":1,"` + strings.Repeat("x", 70) + `":1}`,
			`The field "` + strings.Repeat("x", 64) + `…" appears twice in one object at line 1, column 77.`,
		},
		{"too deep", deep(65), "The JSON nests deeper than 64 levels at line 1, column 65."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := jsonread.Parse([]byte(tt.in))
			p, ok := problem.From(err)
			if !ok || p.Code != "invalid_json" || p.Kind != problem.Malformed || p.Detail != tt.want {
				t.Errorf("Parse(%q) = %v, want invalid_json: %s", tt.in, err, tt.want)
			}
			if again := jsonread.Check([]byte(tt.in)); again == nil || again.Error() != err.Error() {
				t.Errorf("Check(%q) = %v, Parse returns %v", tt.in, again, err)
			}
		})
	}
	if _, err := jsonread.Parse([]byte(deep(64))); err != nil {
		t.Errorf("Parse of 64 levels = %v", err)
	}
	if _, err := jsonread.Parse([]byte(`[{"a":1},{"a":2}]`)); err != nil {
		t.Errorf("Parse of one name in two objects = %v", err)
	}
}

func TestValueMethods(t *testing.T) {
	t.Parallel()
	v, err := jsonread.Parse([]byte(` {"b": [1.50, "\u00e9\n\ud83d\ude00", null, true], "a": {"y": false, "x": {}}} `))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(v.AppendJSON(nil)), `{"a":{"x":{},"y":false},"b":[1.50,"é\n😀",null,true]}`; got != want {
		t.Errorf("AppendJSON = %s, want %s", got, want)
	}
	if got, want := string(v.Field("b").Raw()), `[1.50, "\u00e9\n\ud83d\ude00", null, true]`; got != want {
		t.Errorf("Raw = %s, want %s", got, want)
	}
	var names, texts []string
	for name := range v.Fields() {
		names = append(names, name)
	}
	for item := range v.Field("b").Items() {
		texts = append(texts, item.Text())
	}
	if fmt.Sprint(names) != "[b a]" || fmt.Sprintf("%q", texts) != `["1.50" "é\n😀" "" ""]` {
		t.Errorf("fields %v with items %q", names, texts)
	}
	if v.Len() != 2 || v.Field("b").Len() != 4 || v.Field("a").Field("none").Len() != 0 {
		t.Errorf("lengths %d and %d", v.Len(), v.Field("b").Len())
	}
	changed := v.Without("b", "nothing").WithText("a", `"`).WithText("c", "d")
	if got := string(changed.Raw()); got != `{"a":"\"","c":"d"}` {
		t.Errorf("Without and WithText = %s", got)
	}
}

func TestAmbiguous(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		`"\ud83d\ude00"`: false, `"\\ud800"`: false, `"\ud800"`: true, `"\udc00"`: true, `"\ud800x"`: true,
		`"\ud800\ud800"`: true, `"\ud800\u0041"`: true, `{"a":[{"\udfff":1}]}`: true, `{"a":["\ud800"]}`: true,
	} {
		v, err := jsonread.Parse([]byte(in))
		if err != nil || v.Ambiguous() != want {
			t.Errorf("Parse(%s) = %v, ambiguous %t, want %t", in, err, v.Ambiguous(), want)
		}
	}
}

// Many fields are found by a map, and searching them is not quadratic.
func TestManyFields(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	const count = 20_000
	b.WriteString(`{"first":0`)
	for i := range count {
		fmt.Fprintf(&b, `,"n%d":%d`, i, i)
	}
	b.WriteString("}")
	o, err := jsonread.Read([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(count) {
		if n, ok := o.Int(fmt.Sprintf("n%d", i), 0, count); !ok || n != i {
			t.Fatalf("n%d = %d, %t", i, n, ok)
		}
	}
	if o.Has("n20000") || len(o.Names()) != count+1 {
		t.Errorf("%d names", len(o.Names()))
	}
}

// Parse accepts what encoding/json does, less what two readers may understand
// differently, and reads it as encoding/json does.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"b":1.0,"a":[ ]}`, `"\ud83d\ude00"`, `"\ud800\u0041"`, `[1e21,1E-7,-0,12345678901234567890]`, `nulx`,
		`{"a":1,"\u0061":2}`, "\"\u2028\xff\"", `1e400`, `01`, `-`, `"\u12`, `[[[[]]],{}]`, "\x00",
		`{"a":{"a":{"a":1}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := jsonread.Parse(in)
		if again := jsonread.Check(in); (again == nil) != (err == nil) {
			t.Fatalf("Check(%q) = %v, Parse returns %v", in, again, err)
		}
		if err != nil {
			p, _ := problem.From(err)
			strict := utf8.Valid(in) && json.Valid(in) && !strings.Contains(p.Detail, "appears twice") &&
				!strings.Contains(p.Detail, "nests deeper")
			if strict {
				t.Fatalf("Parse(%q) = %v, encoding/json accepts it", in, err)
			}
			return
		}
		if !json.Valid(in) {
			t.Fatalf("Parse accepts %q, encoding/json does not", in)
		}
		if !bytes.Equal(v.Raw(), bytes.TrimSpace(in)) &&
			strings.TrimSpace(string(in)) == strings.Trim(string(in), " \t\r\n") {
			t.Fatalf("Raw of %q = %q", in, v.Raw())
		}
		written := v.AppendJSON(nil)
		if got, want := decoded(t, written), decoded(t, in); !reflect.DeepEqual(got, want) {
			t.Fatalf("AppendJSON of %q = %q, which means something else", in, written)
		}
	})
}

func decoded(t *testing.T, text []byte) (value any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		t.Fatalf("decoding %q: %v", text, err)
	}
	return value
}

const request = `{"line_items":[{"item":{"id":"offer_monthly"},"quantity":1},{"item":{"id":"handbook"},` +
	`"quantity":2}],` +
	`"buyer":{"first_name":"Ada","last_name":"Lovelace","email":"ada@example.com"},` +
	`"context":{"address_country":"GB","intent":"a gift for the \u201cteam\u201d"}}`

func BenchmarkParse(b *testing.B) {
	data := []byte(request)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jsonread.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	data := []byte(request)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := jsonread.Check(data); err != nil {
			b.Fatal(err)
		}
	}
}
