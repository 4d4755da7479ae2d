package ld_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ace/internal/website/datapack/ld"

	"github.com/google/go-cmp/cmp"
)

func TestNode(t *testing.T) {
	t.Parallel()
	n := ld.Of("@type", "Product", "@id", "#p")
	n.Set("name", "x")
	n.Set("empty", "")
	n.Set("number", ld.Number(""))
	n.Set("node", ld.Node{})
	n.Set("list", []any{})
	n.Set("one", []any{"a"})
	n.Set("two", []any{"a", ld.Of("b", ld.Number("1.50"))})
	n.Set("name", "y")
	n.Set("gone", true)
	n.Drop("gone")
	n = n.Insert(1, "first", false)
	want := `{"@type":"Product","first":false,"@id":"#p","name":"y","one":"a","two":["a",{"b":1.50}]}`
	data, err := json.Marshal(n)
	if err != nil || string(data) != want {
		t.Errorf("node = %s, %v, want %s", data, err, want)
	}
	if n.Text("name") != "y" || n.Text("first") != "" || n.Has("gone") || !n.Has("one") || n.Get("none") != nil {
		t.Errorf("a member of %s is wrong", data)
	}
	for _, tt := range []struct {
		v    any
		want []string
	}{{"A", []string{"A"}}, {[]any{"A", 1, "B"}, []string{"A", "B"}}, {7, nil}} {
		if got := ld.Of("@type", tt.v).Types(); !slices.Equal(got, tt.want) {
			t.Errorf("Types of %v = %v, want %v", tt.v, got, tt.want)
		}
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	doc := ld.Of("@context", "https://schema.org", "name", "</script><!-- & \u2028 \"q\" \x01", "empty", ld.Node{},
		"list", []any{}, "odd", 7)
	got := ld.Encode(doc)
	want := "{\n  \"@context\": \"https://schema.org\",\n  \"name\": \"\\u003c/script\\u003e\\u003c!-- & \\u2028 " +
		"\\\"q\\\" \\u0001\",\n  \"empty\": {},\n  \"list\": [],\n  \"odd\": null\n}"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Encode (-want +got):\n%s", diff)
	}
	if script := ld.Script(doc); strings.Count(script, "<") != 2 || !json.Valid([]byte(got)) {
		t.Errorf("Script = %s", script)
	}
}

func TestCloneAndRename(t *testing.T) {
	t.Parallel()
	n := ld.Of("@id", "#a", "of", ld.Ref("#b"), "list", []any{ld.Ref("#a"), "#a", ld.Number("1")})
	c := ld.Rename(ld.Clone(n), map[string]string{"#a": "#x"}).(ld.Node)
	if got, want := ld.Encode(c), ld.Encode(ld.Of("@id", "#x", "of", ld.Ref("#b"), "list",
		[]any{ld.Ref("#x"), "#a", ld.Number("1")})); got != want {
		t.Errorf("Rename = %s, want %s", got, want)
	}
	if n.Text("@id") != "#a" {
		t.Error("the node that was copied has changed")
	}
	if !ld.IsRef(ld.Ref("#a")) || ld.IsRef(n) || ld.IsRef(nil) {
		t.Error("IsRef is wrong about a node")
	}
}

func FuzzEncode(f *testing.F) {
	for _, seed := range []string{"plain", "</script>", "<!--", "\xff\x00\u2028", "\\\"", "]]>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := ld.Encode(ld.Of("name", text, text, "x"))
		if strings.ContainsAny(got, "<>") || !json.Valid([]byte(got)) {
			t.Errorf("Encode of %q = %s", text, got)
		}
	})
}

func ExampleScript() {
	fmt.Println(ld.Script(ld.Of("@context", "https://schema.org", "@type", "Organization", "name", "Oak & Sons")))
	// Output:
	// <script type="application/ld+json">{
	//   "@context": "https://schema.org",
	//   "@type": "Organization",
	//   "name": "Oak & Sons"
	// }</script>
}
