package jsonread_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, text string) jsonread.Object {
	t.Helper()
	o, err := jsonread.Read([]byte(text))
	if err != nil {
		t.Fatalf("Read(%s) = %v, want an object", text, err)
	}
	return o
}

// faultsOf lists the faults as "place code".
func faultsOf(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var p *problem.Problem
	if !errors.As(err, &p) {
		t.Fatalf("Err() = %v, want a problem", err)
	}
	var list []string
	for _, item := range p.Items {
		list = append(list, item.Pointer+" "+item.Code)
	}
	return list
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, code string }{
		{"nothing", ``, "invalid_json"},
		{"syntax", `{"a"`, "invalid_json"},
		{"array", `[]`, "invalid_type"},
		{"null", `null`, "invalid_type"},
		{"text", `"x"`, "invalid_type"},
		{"named twice", `{"a":1,"a":2}`, "invalid_json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := jsonread.Read([]byte(tt.in)); !problem.Is(err, tt.code) {
				t.Errorf("Read(%s) = %v, want %s", tt.in, err, tt.code)
			}
		})
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	o := read(t, `{"text":"é","no":null,"yes":true,"one":1.0,"two":2e0,"obj":{"in":"x"},
		"list":[{"id":"a"},{"id":"b"}],"words":["x","y"],"map":{"k":"v","n":null},"mixed":{"a":1.5,"b":"t","c":false}}`)
	one, oneOK := o.Int("one", 1, 9)
	two, _ := o.Int("two", 1, 9)
	_, absentOK := o.Int("absent", 1, 9)
	var ids []string
	for _, inner := range o.Objects("list", 5) {
		ids = append(ids, inner.Text("id", 9)+"@"+inner.Place("id"))
	}
	got := fmt.Sprintln(o.Text("text", 1), o.Text("no", 1), o.Text("absent", 1), o.Bool("yes"), o.Bool("absent"),
		one, oneOK, two, absentOK, o.Object("obj").Text("in", 9), ids, o.Texts("words", 2, 1), o.TextMap("map", 2, 9),
		o.Scalars("mixed", 3, 9), o.Has("no"), o.Has("text"))
	want := "é true false 1 true 2 false x [a@/list/0/id b@/list/1/id] [x y] map[k:v] map[a:1.5 b:t c:false] false true"
	if strings.Join(strings.Fields(got), " ") != want {
		t.Errorf("values = %s, want %s", got, want)
	}
	if err := o.Err(); err != nil {
		t.Errorf("Err() = %v, want nil", err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		use      func(o jsonread.Object)
		want     []string
	}{
		{"wrong types", `{"a":1,"b":"x","c":[],"d":{},"e":"1","f":{}}`, func(o jsonread.Object) {
			o.Text("a", 9)
			o.Bool("b")
			o.Object("c")
			o.Objects("d", 9)
			o.Int("e", 0, 9)
			o.Texts("f", 9, 9)
		}, []string{
			"/a invalid_type", "/b invalid_type", "/c invalid_type", "/d invalid_type", "/e invalid_type",
			"/f invalid_type",
		}},
		{"numbers", `{"a":1.5,"b":0,"c":10,"d":1e300,"e":9223372036854775808}`, func(o jsonread.Object) {
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				o.Int(name, 1, 9)
			}
		}, []string{
			"/a invalid_value", "/b invalid_value", "/c invalid_value", "/d invalid_value",
			"/e invalid_value",
		}},
		{"long", `{"a":"ééé","b":["ok","ééé"],"c":{"k":"ééé"}}`, func(o jsonread.Object) {
			o.Text("a", 2)
			o.Texts("b", 2, 2)
			o.TextMap("c", 2, 2)
		}, []string{"/a too_long", "/b/1 too_long", "/c/k too_long"}},
		{"many", `{"a":[1,2],"b":{"x":"1","y":"2"},"c":{"x":1,"y":2}}`, func(o jsonread.Object) {
			o.Objects("a", 1)
			o.TextMap("b", 1, 9)
			o.Scalars("c", 1, 9)
		}, []string{"/a too_many", "/b too_many", "/c too_many"}},
		{"inside arrays", `{"a":[{"id":1},2],"b":[3]}`, func(o jsonread.Object) {
			for _, inner := range o.Objects("a", 9) {
				inner.Text("id", 9)
			}
			o.Texts("b", 9, 9)
		}, []string{"/a/1 invalid_type", "/a/0/id invalid_type", "/b/0 invalid_type"}},
		{"zero byte", `{"a":"x\u0000"}`, func(o jsonread.Object) { o.Text("a", 9) }, []string{"/a invalid_value"}},
		{
			"scalars", `{"a":{"x":[],"y":{},"z":12345678901234567890123456789012345}}`,
			func(o jsonread.Object) { o.Scalars("a", 9, 9) },
			[]string{"/a/x invalid_type", "/a/y invalid_type", "/a/z too_long"},
		},
		{"missing", `{"a":null}`, func(o jsonread.Object) {
			o.Need("a", "Send a.")
			o.Need("b", "Send b.")
			o.Object("c").Need("d", "an absent object misses nothing")
		}, []string{"/a missing_field", "/b missing_field"}},
		{
			"escaped place", `{"a/b":{"~":1}}`, func(o jsonread.Object) { o.Object("a/b").Text("~", 9) },
			[]string{"/a~1b/~0 invalid_type"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := read(t, tt.in)
			tt.use(o)
			if diff := cmp.Diff(tt.want, faultsOf(t, o.Err())); diff != "" {
				t.Errorf("faults of %s (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestFaultsAreLimited(t *testing.T) {
	t.Parallel()
	o := read(t, `{"a":[`+strings.TrimSuffix(strings.Repeat("1,", 100), ",")+`]}`)
	o.Texts("a", 1000, 1)
	if got := len(faultsOf(t, o.Err())); got != jsonread.MaxFaults {
		t.Errorf("faults = %d, want %d", got, jsonread.MaxFaults)
	}
}

func TestFilled(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want bool
	}{
		{`{}`, false},
		{`{"p":null}`, false},
		{`{"p":{}}`, false},
		{`{"p":[]}`, false},
		{`{"p":""}`, false},
		{`{"p":{"instruments":[]}}`, false},
		{`{"p":{"instruments":[{}]}}`, false},
		{`{"p":{"instruments":[{"id":"x"}]}}`, true},
		{`{"p":0}`, true},
		{`{"p":false}`, true},
		{`{"p":"x"}`, true},
	}
	for _, tt := range tests {
		if got := read(t, tt.in).Filled("p"); got != tt.want {
			t.Errorf("Filled of %s = %t, want %t", tt.in, got, tt.want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	o := read(t, `{"a":{"z":1.50,"b":"<"},"n":null}`)
	if got := string(o.JSON("a")); got != `{"b":"<","z":1.50}` {
		t.Errorf("JSON(a) = %s", got)
	}
	if got := o.JSON("n"); got != nil {
		t.Errorf("JSON(n) = %s, want nothing", got)
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"", "$"},
		{"/line_items/0/item/id", "$.line_items[0].item.id"},
		{"/meta/ucp-agent/profile", "$.meta['ucp-agent'].profile"},
		{"/a~1b/~0", "$['a/b']['~']"},
		{"/it's", `$['it\'s']`},
		{"/a\n", `$['a\u000a']`},
		{"/007", "$['007']"},
		{"/", "$['']"},
		{"/é", "$['é']"},
	}
	for _, tt := range tests {
		if got := jsonread.Path(tt.in); got != tt.want {
			t.Errorf("Path(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"b":[1,"x",null]}}`, `{}`, `[]`, `{"a":"\ud800"}`, `{"a":1e999}`,
		`{"a":{"":{"":1}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		o, err := jsonread.Read(in)
		if err != nil {
			return
		}
		for _, name := range o.Names() {
			o.Text(name, 5)
			o.Bool(name)
			o.Int(name, 0, 5)
			o.Texts(name, 5, 5)
			o.TextMap(name, 5, 5)
			o.Scalars(name, 5, 5)
			for _, inner := range append(o.Objects(name, 5), o.Object(name)) {
				inner.Need("x", "Send x.")
			}
			if text := o.JSON(name); text != nil && !json.Valid(text) {
				t.Fatalf("JSON(%q) of %q = %q, which is not JSON", name, in, text)
			}
			jsonread.Path(o.Place(name))
		}
		if err := o.Err(); err != nil && len(faultsOf(t, err)) > jsonread.MaxFaults {
			t.Fatalf("too many faults for %q", in)
		}
	})
}

func ExampleRead() {
	o, _ := jsonread.Read([]byte(`{"line_items":[{"item":{"id":7},"quantity":0}]}`))
	for _, line := range o.Objects("line_items", 100) {
		line.Object("item").Text("id", 200)
		line.Int("quantity", 1, 1000)
	}
	p, _ := problem.From(o.Err())
	for _, item := range p.Items {
		fmt.Println(jsonread.Path(item.Pointer), item.Detail)
	}
	// Output:
	// $.line_items[0].item.id Expected a string, found a number.
	// $.line_items[0].quantity Send a whole number from 1 to 1000.
}
