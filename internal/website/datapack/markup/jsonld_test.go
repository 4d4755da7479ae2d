package markup_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ace/internal/website/datapack/markup"

	gocmp "github.com/google/go-cmp/cmp"
)

// codes lists the faults of a page with their lines.
func codes(g *markup.Graph) []string {
	var all []string
	for _, f := range g.Faults {
		all = append(all, fmt.Sprintf("%s:%d", f.Code, f.Line))
	}
	return all
}

func block(text string) string {
	return `<script type="application/ld+json">` + text + `</script>`
}

// TestTolerantJSON holds what people write in place of JSON: it is read as it
// was meant, and said.
func TestTolerantJSON(t *testing.T) {
	t.Parallel()
	const ctx = `"@context":"https://schema.org","@type":"Product"`
	named := []string{"(Product).name = Lamp"}
	tests := []struct {
		name, in string
		faults   []string
		lines    []string
	}{
		{"plain", `{` + ctx + `,"name":"Lamp"}`, nil, named},
		{"array", `[{` + ctx + `,"name":"Lamp"}]`, nil, named},
		{"graph", `{"@context":"https://schema.org","@graph":[{"@type":"Product","name":"Lamp"}]}`, nil, named},
		{
			"escapes", `{` + ctx + `,"name":"\u004c\"\/\ud83d\ude00\ud83dx"}`,
			nil,
			[]string{`(Product).name = L"/😀` + "\uFFFD" + `x`},
		},
		{"trailing comma", "{" + ctx + ",\n\"name\":\"Lamp\",\n}", []string{"json_trailing_comma:2"}, named},
		{"trailing comma in a list", `{` + ctx + `,"name":["Lamp",]}`, []string{"json_trailing_comma:1"}, named},
		{"two commas", `{` + ctx + `,,"name":"Lamp"}`, []string{"json_trailing_comma:1"}, named},
		{"missing comma", "{" + ctx + "\n\"name\":\"Lamp\"}", []string{"json_comma:2"}, named},
		{"semicolon", `{` + ctx + `;"name":"Lamp"};`, []string{"json_comma:1", "json_leftover:1"}, named},
		{
			"html comment", "<!--\n{" + ctx + ",\"name\":\"Lamp\"}\n-->",
			[]string{"json_comment:1", "json_comment:3"},
			named,
		},
		{
			"cdata", "//<![CDATA[\n{" + ctx + ",\"name\":\"Lamp\"}\n//]]>",
			[]string{"json_comment:1", "json_comment:3"},
			named,
		},
		{
			"comments", "{/* a\n */" + ctx + ", // b\n\"name\":\"Lamp\"}",
			[]string{"json_comment:1", "json_comment:2"},
			named,
		},
		{
			"line break in text", "{" + ctx + ",\"name\":\"La\nmp\",\n\"sku\":1,}",
			[]string{"json_control:1", "json_trailing_comma:3"},
			[]string{
				"(Product).name = La mp",
				"(Product).sku = 1",
			},
		},
		{"bad escape", `{` + ctx + `,"name":"L\'amp"}`, []string{"json_escape:1"}, []string{"(Product).name = L'amp"}},
		{"single quotes", `{` + ctx + `,'name':'Lamp'}`, []string{"json_quotes:1", "json_quotes:1"}, named},
		{"no quotes", `{` + ctx + `,name:"Lamp"}`, []string{"json_quotes:1"}, named},
		{
			"entities around",
			`{&quot;@context&quot;:&quot;https://schema.org&quot;,&quot;@type&quot;:&quot;Product&quot;,` +
				`&quot;name&quot;:&quot;Lamp&quot;}`,
			[]string{"json_entities:1"},
			named,
		},
		{
			"entities inside", `{` + ctx + `,"name":"A &amp; B"}`,
			[]string{"json_entities:1"},
			[]string{"(Product).name = A & B"},
		},
		{"ampersand", `{` + ctx + `,"name":"A & B; C"}`, nil, []string{"(Product).name = A & B; C"}},
		{"not closed", `{` + ctx + `,"name":"Lamp"`, []string{"json_unclosed:1"}, named},
		{"list not closed", `{` + ctx + `,"name":["Lamp"}`, []string{"json_unclosed:1"}, named},
		{
			"several", "{" + ctx + ",\"name\":\"Lamp\"}\n{" + ctx + ",\"name\":\"Lamp\"}",
			[]string{"json_several:2"},
			named,
		},
		{"too many ends", `{` + ctx + `,"name":"Lamp"}}`, []string{"json_leftover:1"}, named},
		{"script after", `{` + ctx + `,"name":"Lamp"} var x = 1`, []string{"json_leftover:1"}, named},
		{
			"twice", `{` + ctx + `,"name":"Lamp","name":"Desk"}`,
			[]string{"json_duplicate:1"},
			[]string{"(Product).name = Desk", "(Product).name = Lamp"},
		},
		{
			"words", `{` + ctx + `,"name":"Lamp","x":True,"y":undefined,"z":null}`,
			[]string{"json_word:1", "json_word:1"},
			[]string{"(Product).name = Lamp", "(Product).x = true"},
		},
		{
			"number", `{` + ctx + `,"name":"Lamp","sku":007,"mpn":-1.5e3}`,
			[]string{"json_number:1"},
			[]string{"(Product).mpn = -1500", "(Product).name = Lamp", "(Product).sku = 7"},
		},
		{"no-break space", "{\u00a0" + ctx + ",\"name\":\"Lamp\"}", []string{"json_space:1"}, named},
		{"open text", `{` + ctx + `,"name":"Lamp}`, []string{"json_broken:1"}, []string{"(Product)"}},
		{"template", `{` + ctx + `,"name":{{ product.name }}}`, []string{"json_broken:1"}, []string{"(Product)"}},
		{"empty", " \n ", []string{"json_empty:1"}, nil},
		{"text", `"hello"`, []string{"json_broken:1"}, nil},
		{"word", `hello`, []string{"json_broken:1"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := extract(t, block(tt.in))
			if diff := gocmp.Diff(tt.faults, codes(g)); diff != "" {
				t.Errorf("faults of %s (-want +got):\n%s", tt.in, diff)
			}
			if diff := gocmp.Diff(tt.lines, lines(g)); diff != "" {
				t.Errorf("graph of %s (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestContexts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		faults   []string
		lines    []string
	}{
		{"http", `{"@context":"http://schema.org/","@type":"Product"}`, nil, []string{"(Product)"}},
		{"www", `{"@context":"https://www.schema.org","@type":"Product"}`, nil, []string{"(Product)"}},
		{
			"file", `{"@context":"https://schema.org/docs/jsonldcontext.json","@type":"Product"}`, nil,
			[]string{"(Product)"},
		},
		{"none", `{"@type":"Product","name":"x"}`, []string{"context_missing:1"}, []string{"(Product).name = x"}},
		{
			"relative", `{"@context":"schema.org","@type":"Product"}`,
			[]string{"context_relative:1"},
			[]string{"(Product)"},
		},
		{
			"foreign", `{"@context":"https://foreign.example/c","@type":"Product","name":"x"}`,
			[]string{"context_foreign:1", "name_undefined:1"},
			[]string{"(Product)"},
		},
		{
			"both", `{"@context":["https://schema.org",{"x":"https://x.example/#"}],"@type":"Product","x:size":"y"}`,
			nil,
			[]string{"(Product).https://x.example/#size = y"},
		},
		{
			"vocab", `{"@context":{"@vocab":"http://schema.org/"},"@type":"Product","name":"x"}`, nil,
			[]string{"(Product).name = x"},
		},
		{
			"vocab without slash", `{"@context":{"@vocab":"https://schema.org"},"@type":"Product"}`,
			nil,
			[]string{"(Product)"},
		},
		{
			"prefix", `{"@context":{"s":"https://schema.org/"},"@type":"s:Product","s:name":"x"}`, nil,
			[]string{"(Product).name = x"},
		},
		{
			"addresses", `{"@type":"https://schema.org/Product","https://schema.org/name":"x"}`, nil,
			[]string{"(Product).name = x"},
		},
		{
			"aliases",
			`{"@context":{"@vocab":"https://schema.org/","kind":"@type","key":"@id"},"kind":"Product","key":"#p",` +
				`"name":"x"}`,
			nil,
			[]string{"(Product).name = x"},
		},
		{
			"aliases of schema.org", `{"@context":"https://schema.org","type":"Product","id":"#p","name":"x"}`, nil,
			[]string{"(Product).name = x"},
		},
		{
			"terms",
			`{"@context":{"title":"https://schema.org/name","maker":{"@id":"https://schema.org/brand",` +
				`"@type":"@id"}},"@type":"https://schema.org/Product","title":"x","maker":"/b"}`,
			nil,
			[]string{"(Product).brand = b", "(Product).name = x"},
		},
		{"circle", `{"@context":{"a":"b:x","b":"a:y"},"@type":"a:T"}`, nil, nil},
		{"null", `{"@context":null,"@type":"Product","name":"x"}`, []string{"name_undefined:1"}, []string{"(Product)"}},
		{
			"number", `{"@context":7,"@type":"Product","name":"x"}`,
			[]string{"context_unreadable:1", "name_undefined:1"},
			[]string{"(Product)"},
		},
		{
			"inner",
			`{"@context":"https://schema.org","@type":"Product",` +
				`"brand":{"@context":{"@vocab":"https://o.example/"},"@type":"B"}}`,
			nil,
			[]string{"(Product).brand(https://o.example/B)"},
		},
		{
			"list of types", `{"@context":"https://schema.org","@type":"Product, Offer"}`,
			[]string{"type_spelling:1", "type_spelling:1"},
			[]string{"(Offer+Product)"},
		},
		{
			"type is a number", `{"@context":"https://schema.org","@type":7,"name":"x"}`,
			[]string{"type_unreadable:1"},
			[]string{"().name = x"},
		},
		{
			"keyword", `{"@context":"https://schema.org","@type":"Product","@foo":"x"}`,
			[]string{"keyword_unknown:1"},
			[]string{"(Product)"},
		},
		{
			"text in a graph", `{"@context":"https://schema.org","@graph":["x",{"@type":"Product"}]}`,
			[]string{"node_expected:1"},
			[]string{"(Product)"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := extract(t, block(tt.in))
			if diff := gocmp.Diff(tt.faults, codes(g)); diff != "" {
				t.Errorf("faults of %s (-want +got):\n%s", tt.in, diff)
			}
			if diff := gocmp.Diff(tt.lines, lines(g)); diff != "" && tt.lines != nil {
				t.Errorf("graph of %s (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	g := extract(t,
		block(
			`{"@context":["https://schema.org",{"@language":"de","label":{"@id":"schema:name",`+
				`"@container":"@language"}}],"@id":"#p","@type":"Product",
		"description":{"@value":"Lampe","@language":"en"},"releaseDate":{"@value":"2026-01-01","@type":"schema:Date"},
		"image":{"@list":["/a.png","/b.png"]},"brand":{"@id":"#b"},"sku":7.50,"isFamilyFriendly":true,`+
				`"label":{"fr":"Lampe"},"color":"rot",
		"offers":{"@set":[{"@type":"Offer","price":"1"}]},"@reverse":{"itemOffered":{"@type":"Demand",`+
				`"name":"wanted"}}}`,
		)+
			block(`{"@context":"https://schema.org","@id":"https://example.com/page#b","@type":"Brand","name":"ACME"}`))
	p := g.Find(corpusURL + "#p")
	if p == nil {
		t.Fatalf("the product is not there: %v", lines(g))
	}
	got := map[string]string{}
	for _, prop := range p.Props {
		for _, v := range prop.Values {
			got[prop.Name] += fmt.Sprintf("%s %s %s %s;", v.Kind, v, v.Language, v.Type)
		}
	}
	want := map[string]string{
		"description": "text Lampe en ;", "releaseDate": "text 2026-01-01 de Date;",
		"image": "text /a.png de ;text /b.png de ;",
		"brand": "link https://example.com/page#b  ;", "sku": "number 7.50  ;", "isFamilyFriendly": "bool true  ;",
		"name":  "text Lampe fr ;",
		"color": "text rot de ;", "offers": "node   ;",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if b := g.Follow(p.Prop("brand")[0]); b == nil || b.First("name") != "ACME" || !b.Is("Brand") {
		t.Errorf("Follow(brand) = %+v", b)
	}
	var demand *markup.Node
	for _, n := range g.Nodes {
		if n.Is("Demand") {
			demand = n
		}
	}
	if demand == nil || g.Follow(demand.Prop("itemOffered")[0]) != p {
		t.Errorf("@reverse: %v", lines(g))
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	g := extract(t,
		"<html>\n<head>\n<script type='application/ld+json'\n "+
			"id=x>\n{\"@context\":\"https://schema.org\",\n\"@graph\":[\n{\"@type\":\"Product\",\n\"offers\":\n"+
			"{\"@type\":\"Offer\",\"price\":1}}]}</script>\n<body>\n"+
			"<div id=m itemscope itemtype='https://schema.org/Person'>\n<b itemprop=name>A</b></div>\n"+
			"<div vocab='https://schema.org/' typeof=Place>\n<b property=name>B</b></div>")
	var got []string
	for _, n := range g.All() {
		got = append(got, fmt.Sprintf("%s %s %s:%d", n.Source, strings.Join(n.Types, "+"), n.Path, n.Line))
	}
	want := []string{
		"json-ld Product json-ld 1/@graph/0:7", "microdata Person #m:11", "rdfa Place body > div:nth-of-type(2):13",
		"json-ld Offer json-ld 1/@graph/0/offers:9",
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}
