package jcs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"ace/internal/foundation/jcs"
	"ace/internal/foundation/jsonread"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"spaces go", " { \"b\" : [ 1 , 2 ] ,\n\t\"a\" : { } } ", `{"a":{},"b":[1,2]}`},
		{"empty array", `[]`, `[]`},
		{"scalars", `[true,false,null,"x"]`, `[true,false,null,"x"]`},
		{"one number", `[1.0,1,1e0,10e-1,0.1e1]`, `[1,1,1,1,1]`},
		{"minus zero", `[-0,-0.0,0e5]`, `[0,0,0]`},
		// Appendix B of RFC 8785 lists doubles and their texts; these are a few of them.
		{"small", `[5e-324,-5e-324]`, `[5e-324,-5e-324]`},
		{"large", `[1.7976931348623157e308]`, `[1.7976931348623157e+308]`},
		{"limits of plain", `[1e20,1e21,0.000001,0.0000001]`, `[100000000000000000000,1e+21,0.000001,1e-7]`},
		{"beyond 2^53", `[9007199254740993]`, `[9007199254740992]`},
		{"third", `[333333333.3333333]`, `[333333333.3333333]`},
		{"underflow", `[1e-400]`, `[0]`},
		{"escapes resolved", `"\u0061\/\u00e9\u20ac"`, `"a/é€"`},
		{"control characters", `"\u0000\u001f\u0008\t\n\f\r\"\\"`, `"\u0000\u001f\b\t\n\f\r\"\\"`},
		{"not escaped", "\"\u2028\u007f</script>\"", "\"\u2028\u007f</script>\""},
		{"surrogate pair", `"\ud83d\ude00"`, `"😀"`},
		{"escaped backslash before u", `"\\ud800"`, `"\\ud800"`},
		// Section 3.2.3: by UTF-16 code units, so the emoji comes before U+FB33.
		{
			"order", "{\"\u20ac\":1,\"\\r\":2,\"\ufb33\":3,\"1\":4,\"\U0001f600\":5,\"\u0080\":6,\"\u00f6\":7}",
			"{\"\\r\":2,\"1\":4,\"\u0080\":6,\"\u00f6\":7,\"\u20ac\":1,\"\U0001f600\":5,\"\ufb33\":3}",
		},
		{"prefix first", `{"aa":1,"a":2,"":3}`, `{"":3,"a":2,"aa":1}`},
		{"nested", `{"z":{"y":{"x":[{"b":1,"a":2}]}}}`, `{"z":{"y":{"x":[{"a":2,"b":1}]}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := jcs.Canonical([]byte(tt.in))
			if err != nil || string(got) != tt.want {
				t.Errorf("Canonical(%s) = %s, %v, want %s", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in string }{
		{"nothing", ``},
		{"syntax", `{"a":}`},
		{"two values", `1 2`},
		{"not UTF-8", "\"\xff\""},
		{"named twice", `{"a":1,"a":1}`},
		{"named twice by escape", `{"a":1,"\u0061":1}`},
		{"named twice inside", `[{"x":{"b":1,"c":2,"b":3}}]`},
		{"high half", `"\ud800"`},
		{"low half", `"\udc00"`},
		{"high half before text", `"\ud800x"`},
		{"high half before other escape", `"\ud800\n\udc00"`},
		{"two high halves", `"\ud800\ud800"`},
		{"half in a name", `{"\udfff":1}`},
		{"too large", `1e309`},
		{"too deep", strings.Repeat("[", jsonread.MaxDepth+2) + strings.Repeat("]", jsonread.MaxDepth+2)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := jcs.Canonical([]byte(tt.in)); !errors.Is(err, jcs.ErrInvalid) {
				t.Errorf("Canonical(%q) = %s, %v, want ErrInvalid", tt.in, got, err)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, a, b string
		want       bool
	}{
		{"key order", `{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{"1.0 and 1", `{"quantity":1.0}`, `{"quantity":1}`, true},
		{"null is not absent", `{"a":null}`, `{}`, false},
		{"array order", `[1,2]`, `[2,1]`, false},
		{"string and number", `"1"`, `1`, false},
		{"false and null", `false`, `null`, false},
		{"invalid equals nothing", `{`, `{`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := jcs.Equal([]byte(tt.a), []byte(tt.b)); got != tt.want {
				t.Errorf("Equal(%s, %s) = %t, want %t", tt.a, tt.b, got, tt.want)
			}
		})
	}
}

func TestDoublesSurvive(t *testing.T) {
	t.Parallel()
	bits := uint64(1)
	for range 20_000 {
		bits = bits*6364136223846793005 + 1442695040888963407
		f := math.Float64frombits(bits)
		if math.IsNaN(f) || math.IsInf(f, 0) || f == 0 {
			continue
		}
		in := strconv.FormatFloat(f, 'g', 17, 64)
		out, err := jcs.Canonical([]byte(in))
		if err != nil {
			t.Fatalf("Canonical(%s) = %v, want a number", in, err)
		}
		// encoding/json writes doubles by the rules of ECMAScript as well.
		if want, _ := json.Marshal(f); !bytes.Equal(out, want) {
			t.Fatalf("Canonical(%s) = %s, want %s", in, out, want)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":1.0,"a":[ ]}`, `"\ud83d\ude00"`, `"\ud800"`, `[1e21,1e-7,-0,123456789012345678901234567890]`,
		`{"a":{"c":null,"b":[true,false]},"":""}`, "\"\u2028\"", `{"a":1,"\u0061":2}`, `1e400`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		once, err := jcs.Canonical(in)
		if err != nil {
			return
		}
		twice, err := jcs.Canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("Canonical(Canonical(%q)) = %q, %v, want %q", in, twice, err, once)
		}
		var before, after any
		if json.Unmarshal(in, &before) != nil || json.Unmarshal(once, &after) != nil || !reflect.DeepEqual(before,
			after) {
			t.Fatalf("Canonical(%q) = %q, which means something else", in, once)
		}
	})
}

func ExampleCanonical() {
	out, err := jcs.Canonical([]byte(`{"quantity": 1.0, "item": {"id": "offer_pro"}}`))
	fmt.Println(string(out), err)
	// Output: {"item":{"id":"offer_pro"},"quantity":1} <nil>
}
