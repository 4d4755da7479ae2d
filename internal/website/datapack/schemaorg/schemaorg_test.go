package schemaorg_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/website/datapack/schemaorg"

	"github.com/google/go-cmp/cmp"
)

func load(t testing.TB) *schemaorg.Vocabulary {
	t.Helper()
	v, err := schemaorg.Load()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestCounts counts the terms in the source by another way than the tool that
// wrote the table.
func TestCounts(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	data, err := os.ReadFile(filepath.Join(shared, "specs/schemaorg/schemaorg-current-https.jsonld"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Graph []map[string]any `json:"@graph"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	var want [3]int
	v := load(t)
	for _, term := range doc.Graph {
		name, ours := strings.CutPrefix(term["@id"].(string), "schema:")
		if !ours {
			continue
		}
		known := v.IsType(name)
		switch kind := fmt.Sprint(term["@type"]); {
		case strings.Contains(kind, "rdfs:Class"):
			want[0]++
		case strings.Contains(kind, "rdf:Property"):
			want[1]++
			_, known = v.Property(name)
		default:
			want[2]++
			known = len(v.Member(name)) > 0
		}
		if !known {
			t.Errorf("the vocabulary does not know %q", name)
		}
		if want := term["schema:supersededBy"] != nil; want != (v.Successor(name) != "") {
			t.Errorf("Successor(%q) = %q", name, v.Successor(name))
		}
	}
	var got [3]int
	got[0], got[1], got[2] = v.Counts()
	if got != want {
		t.Errorf("Counts = %v, want %v", got, want)
	}
}

func TestHierarchy(t *testing.T) {
	t.Parallel()
	v := load(t)
	if v.Release() != "30.0" {
		t.Errorf("Release = %q", v.Release())
	}
	tests := []struct {
		name, ancestor string
		want           bool
	}{
		{"Product", "Thing", true},
		{"Product", "Product", true},
		{"Thing", "Product", false},
		{"Restaurant", "LocalBusiness", true},
		{"Restaurant", "Place", true},
		{"Restaurant", "Organization", true},
		{"NewsArticle", "Article", true},
		{"Nothing", "Nothing", false},
		{"URL", "Text", true},
		{"Integer", "Number", true},
		{"Distance", "Quantity", true},
	}
	for _, tt := range tests {
		if got := v.IsA(tt.name, tt.ancestor); got != tt.want {
			t.Errorf("IsA(%s, %s) = %v, want %v", tt.name, tt.ancestor, got, tt.want)
		}
	}
	for name, want := range map[string]bool{
		"Text": true, "URL": true, "Duration": true, "Product": false,
		"name": false, "Nothing": false,
	} {
		if got := v.IsData(name); got != want {
			t.Errorf("IsData(%s) = %v, want %v", name, got, want)
		}
	}
}

func TestProperties(t *testing.T) {
	t.Parallel()
	v := load(t)
	price, ok := v.Property("price")
	want := schemaorg.Property{
		Domains: []string{"DonateAction", "Offer", "PriceSpecification", "TradeAction"},
		Ranges:  []string{"Number", "Text"},
	}
	if diff := cmp.Diff(want, price); !ok || diff != "" {
		t.Errorf("Property(price) (-want +got):\n%s", diff)
	}
	tests := []struct {
		property, typ string
		want          bool
	}{
		{"price", "Offer", true},
		{"price", "AggregateOffer", true}, // by its parent
		{"price", "Product", false},
		{"name", "Restaurant", true},
		{"servesCuisine", "Restaurant", true},
		{"servesCuisine", "Store", false},
		{"nothing", "Thing", false},
		{"interactionCount", "Product", true}, // an old one without domains
	}
	for _, tt := range tests {
		if got := v.Allows(tt.property, tt.typ); got != tt.want {
			t.Errorf("Allows(%s, %s) = %v, want %v", tt.property, tt.typ, got, tt.want)
		}
	}
	if got := v.Member("InStock"); len(got) != 1 || got[0] != "ItemAvailability" {
		t.Errorf("Member(InStock) = %v", got)
	}
	if got := v.Successor("awards"); got != "award" {
		t.Errorf("Successor(awards) = %q", got)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	v := load(t)
	tests := []struct{ name, typ, property string }{
		{"product", "Product", ""},
		{"PRICE", "", "price"},
		{"Prodcut", "Product", ""},
		{"descriptio", "", "description"},
		{"imagee", "", "image"},
		{"review", "Review", "review"},
		{"InStocc", "", ""}, // a member is no type
		{"xyz", "", ""},
		{"completelyOther", "", ""},
		{"", "", ""},
		{strings.Repeat("a", 1000), "", ""},
	}
	for _, tt := range tests {
		if got := v.NearestType(tt.name); got != tt.typ {
			t.Errorf("NearestType(%q) = %q, want %q", tt.name, got, tt.typ)
		}
		if got := v.NearestProperty(tt.name); got != tt.property {
			t.Errorf("NearestProperty(%q) = %q, want %q", tt.name, got, tt.property)
		}
	}
}

func TestNearestMember(t *testing.T) {
	t.Parallel()
	v := load(t)
	tests := []struct{ name, enumeration, want string }{
		{"instock", "ItemAvailability", "InStock"},
		{"InStokc", "ItemAvailability", "InStock"},
		{"InStock", "DayOfWeek", ""},
		{"monday", "DayOfWeek", "Monday"},
		{"Product", "ItemAvailability", ""},
		{"", "DayOfWeek", ""},
	}
	for _, tt := range tests {
		if got := v.NearestMember(tt.name, tt.enumeration); got != tt.want {
			t.Errorf("NearestMember(%q, %s) = %q, want %q", tt.name, tt.enumeration, got, tt.want)
		}
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in, want string
		ok       bool
	}{
		{"https://schema.org/Product", "Product", true},
		{"http://schema.org/Product", "Product", true},
		{"HTTP://Schema.org/Product", "Product", true},
		{"http://www.schema.org/Product", "Product", true},
		{"https://schema.org/#Product", "Product", true},
		{"https://schema.org/", "", true},
		{"https://example.com/Product", "https://example.com/Product", false},
		{"Product", "Product", false},
		{"", "", false},
	}
	for _, tt := range tests {
		if got, ok := schemaorg.Short(tt.in); got != tt.want || ok != tt.ok {
			t.Errorf("Short(%q) = %q, %v, want %q, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func ExampleLoad() {
	v, err := schemaorg.Load()
	if err != nil {
		return
	}
	fmt.Println(v.IsA("Restaurant", "LocalBusiness"), v.Allows("menu", "Restaurant"), v.Successor("menu"))
	// Output: true true hasMenu
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		load(b)
	}
}
