package stripeform

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ExampleParse() {
	form, err := Parse("line_items[0][price]=price_1&line_items[0][quantity]=2&metadata[k]=v&surprise=1")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range form.Objects("line_items") {
		fmt.Println(line.String("price"), *line.Int("quantity"))
	}
	fmt.Println(form.Map("metadata")["k"])
	fmt.Println(form.Err())
	// Output:
	// price_1 2
	// v
	// surprise: Received unknown parameter: surprise
}

// dump reads a form as maps and texts.
func dump(n *node) any {
	if n.isValue {
		return n.value
	}
	out := map[string]any{}
	for k, c := range n.children {
		out[k] = dump(c)
	}
	return out
}

func TestParse(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	tests := []struct {
		name, in string
		want     any
	}{
		{"empty", "", m{}},
		{"flat", "a=1&b=x+y%26z", m{"a": "1", "b": "x y&z"}},
		{"empty value", "a=&b", m{"a": "", "b": ""}},
		{"nested", "a[b][c]=1&a[b][d]=2", m{"a": m{"b": m{"c": "1", "d": "2"}}}},
		{"escaped brackets", "a%5Bb%5D=1", m{"a": m{"b": "1"}}},
		{"indices", "a[0]=x&a[1]=y", m{"a": m{"0": "x", "1": "y"}}},
		{"no indices", "a[]=x&a[]=y", m{"a": m{"0": "x", "1": "y"}}},
		{
			"objects without indices", "a[][b]=1&a[][c]=2&a[][b]=3",
			m{"a": m{"0": m{"b": "1", "c": "2"}, "1": m{"b": "3"}}},
		},
		{"last value wins", "a=1&a=2", m{"a": "2"}},
		{"dots are no brackets", "a.b=1", m{"a.b": "1"}},
	}
	for _, tt := range tests {
		r, err := Parse(tt.in)
		if err != nil {
			t.Errorf("%s: Parse(%q) = %v", tt.name, tt.in, err)
			continue
		}
		if diff := cmp.Diff(tt.want, dump(r.node)); diff != "" {
			t.Errorf("%s: Parse(%q) (-want +got):\n%s", tt.name, tt.in, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"bad escape", "a=%z1", "URL-encoded"},
		{"open bracket", "a[b=1", "brackets"},
		{"text behind a bracket", "a[b]c=1", "brackets"},
		{"nested brackets", "a[[b]]=1", "brackets"},
		{"closing only", "a]=1", "brackets"},
		{"nameless", "[a]=1", "brackets"},
		{"too deep", "a" + strings.Repeat("[b]", MaxDepth) + "=1", "brackets"},
		{"value, then object", "a=1&a[b]=2", "both"},
		{"object, then value", "a[b]=1&a=2", "both"},
		{"not UTF-8", "a=%ff", "UTF-8"},
		{"zero byte", "a=%00", "UTF-8"},
		{"too many", strings.Repeat("a[]=1&", MaxPairs+1), "more than"},
	}
	for _, tt := range tests {
		_, err := Parse(tt.in)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, tt.want) {
			t.Errorf("%s: Parse = %v, want an Error with %q", tt.name, err, tt.want)
		}
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		read     func(*Reader) any
		want     any
		fault    string // in the text of Err
	}{
		{"text", "a=x", func(r *Reader) any { return r.String("a") }, "x", ""},
		{"no text", "", func(r *Reader) any { return r.Text("a") == nil }, true, ""},
		{"empty text", "a=", func(r *Reader) any { return *r.Text("a") }, "", ""},
		{"object as text", "a[b]=1", func(r *Reader) any { return r.String("a") }, "", "Invalid string"},
		{"integer", "a=-12", func(r *Reader) any { return *r.Int("a") }, int64(-12), ""},
		{"no integer", "a=1.5", func(r *Reader) any { return r.Int("a") == nil }, true, "Invalid integer"},
		{
			"huge integer", "a=9223372036854775808", func(r *Reader) any { return r.IntOr("a", 7) }, int64(7),
			"Invalid integer",
		},
		{"truth", "a=true", func(r *Reader) any { return *r.Bool("a") }, true, ""},
		{"no truth", "a=1", func(r *Reader) any { return r.Bool("a") == nil }, true, "Invalid boolean"},
		{
			"array in order", "a[1]=y&a[0]=x", func(r *Reader) any { v, _ := r.Strings("a"); return v },
			[]string{"x", "y"},
			"",
		},
		{"empty array", "a=", func(r *Reader) any { _, given := r.Strings("a"); return given }, true, ""},
		{
			"array of objects as texts", "a[0][b]=x", func(r *Reader) any { _, given := r.Strings("a"); return given },
			true, "one value",
		},
		{
			"array with names", "a[x]=1", func(r *Reader) any { v, _ := r.Strings("a"); return len(v) },
			0, "Invalid array",
		},
		{
			"array with a wild index", "a[1000000]=1", func(r *Reader) any { v, _ := r.Strings("a"); return len(v) },
			0, "Invalid array",
		},
		{"map", "a[x]=1&a[y]=2", func(r *Reader) any { return r.Map("a") }, map[string]string{"x": "1", "y": "2"}, ""},
		{"cleared map", "a=", func(r *Reader) any { return len(r.Map("a")) }, 0, ""},
		{"text as map", "a=x", func(r *Reader) any { return len(r.Map("a")) }, 0, "Invalid hash"},
		{"deep map", "a[x][y]=1", func(r *Reader) any { return len(r.Map("a")) }, 1, "one value"},
		{"text as object", "a=x", func(r *Reader) any { return r.Object("a") == nil }, true, "Invalid object"},
		{"text as objects", "a=x", func(r *Reader) any { return len(r.Objects("a")) }, 0, "Invalid array"},
		{"texts as objects", "a[0]=x", func(r *Reader) any { return len(r.Objects("a")) }, 0, "Invalid object"},
		{
			"unknown inside", "a[b]=1&a[c]=2", func(r *Reader) any { return r.Object("a").String("b") }, "1",
			"unknown parameter: a[c]",
		},
		{
			"unknown before wrong", "x=1&a=no", func(r *Reader) any { return r.Int("a") == nil }, true,
			"unknown parameter: x",
		},
	}
	for _, tt := range tests {
		r, err := Parse(tt.in)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, tt.read(r)); diff != "" {
			t.Errorf("%s: reading %q (-want +got):\n%s", tt.name, tt.in, diff)
		}
		err = r.Err()
		if (err == nil) != (tt.fault == "") || (err != nil && !strings.Contains(err.Error(), tt.fault)) {
			t.Errorf("%s: Err after %q = %v, want %q", tt.name, tt.in, err, tt.fault)
		}
	}
}

// FuzzParse: whatever comes, Parse answers a form or an Error, and a form that
// is read whole holds every value that was sent last.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "a=1", "line_items[0][price]=p&line_items[0][quantity]=1&expand[]=x", "a[]=1&a[]=2", "a[][b]=1&a[][b]=2",
		"a[b=1",
		"a%5B0%5D=%F0%9F%98%80", "=&=&[]=", "a[b][c][d][e][f][g][h][i]=1", "metadata[k]=v&metadata=",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		r, err := Parse(in)
		if err != nil {
			if e := (*Error)(nil); !errors.As(err, &e) {
				t.Fatalf("Parse(%q) = %v, want an *Error", in, err)
			}
			return
		}
		last := url.Values{}
		for pair := range strings.SplitSeq(in, "&") {
			key, value, _ := strings.Cut(pair, "=")
			key, _ = url.QueryUnescape(key)
			value, _ = url.QueryUnescape(value)
			if key != "" && !strings.ContainsAny(key, "[]") {
				last.Set(key, value)
			}
		}
		for key := range last {
			if got := r.String(key); got != last.Get(key) {
				t.Fatalf("Parse(%q): %s = %q, want %q", in, key, got, last.Get(key))
			}
		}
		_, _ = r.Strings("a")
		r.Objects("line_items")
		r.Map("metadata")
		_ = r.Err()
	})
}
