package markup_test

import (
	"fmt"
	"strings"
	"testing"

	"ace/internal/website/datapack/markup"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestMicrodata(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		faults   []string
		lines    []string
	}{
		{
			"values of elements",
			`<div itemscope itemtype="https://schema.org/Thing"><meta itemprop=a content=" 1 ">` +
				`<a itemprop=b href="/x">t</a><img itemprop=c src=y.png><object itemprop=d data=z></object>
				<data itemprop=e value=5>five</data><meter itemprop=f value=.5></meter>` +
				`<time itemprop=g datetime=2026-01-01>today</time><time itemprop=h>noon</time><span itemprop=i> some
				text</span><span itemprop=j content=k>l</span><a itemprop=l>no link</a>` +
				`<link itemprop=m href="https://schema.org/InStock"></div>`,
			nil,
			[]string{
				"(Thing).a = 1", "(Thing).b = x", "(Thing).c = y.png", "(Thing).d = z", "(Thing).e = 5",
				"(Thing).f = 0.5", "(Thing).g = 2026-01-01",
				"(Thing).h = noon", "(Thing).i = some text", "(Thing).j = k", "(Thing).l = no link",
				"(Thing).m = InStock",
			},
		},
		{
			"inside one another",
			`<div itemscope itemtype="http://schema.org/Product">` +
				`<p itemprop="offers" itemscope itemtype="http://schema.org/Offer"><b itemprop=price>5</b></p></div>`,
			nil,
			[]string{"(Product).offers(Offer).price = 5"},
		},
		{
			"two names", `<div itemscope itemtype="https://schema.org/A"><b itemprop="x y">1</b></div>`, nil,
			[]string{"(A).x = 1", "(A).y = 1"},
		},
		{
			"a thing with two names",
			`<div itemscope itemtype="https://schema.org/A"><b itemprop="x y" itemscope><i itemprop=z>1</i></b></div>`,
			nil,
			[]string{"(A).x().z = 1", "(A).y().z = 1"},
		},
		{
			"itemref",
			`<div itemscope itemtype="https://schema.org/A" itemref="r s"></div><b id=r itemprop=x>1</b><p id=s>` +
				`<i itemprop=y>2</i></p>`,
			nil,
			[]string{"(A).x = 1", "(A).y = 2"},
		},
		{
			"itemref to nothing", "<div itemscope itemref=q itemtype='https://schema.org/A'></div>",
			[]string{"itemref_missing:1"},
			[]string{"(A)"},
		},
		{
			"itemref to itself",
			"<div itemscope itemtype='https://schema.org/A' id=a itemref=a><b itemprop=x>1</b></div>",
			[]string{"itemref_cycle:1"},
			[]string{"(A).x = 1"},
		},
		{
			"itemref in a circle",
			"<div itemscope itemtype='https://schema.org/A' itemref=b></div>\n<div id=b itemprop=x itemscope " +
				"itemref=b><i itemprop=y>1</i></div>",
			[]string{"itemref_cycle:2"},
			[]string{"(A).x().y = 1"},
		},
		{
			"relative type", "\n<div itemscope itemtype=Product><b itemprop=name>x</b></div>",
			[]string{"itemtype_relative:2"},
			[]string{"(Product).name = x"},
		},
		{"outside", "<b itemprop=name>x</b>", []string{"itemprop_outside:1"}, nil},
		{"type alone", "<b itemtype='https://schema.org/Product'>x</b>", []string{"itemscope_missing:1"}, nil},
		{
			"whole names",
			`<div itemscope itemtype="https://schema.org/A"><b itemprop="https://schema.org/name">1</b>` +
				`<b itemprop="https://o.example/n">2</b></div>`,
			nil,
			[]string{"(A).https://o.example/n = 2", "(A).name = 1"},
		},
		{
			"linked by id",
			`<div itemscope itemid="#a" itemtype="https://schema.org/A"><b itemprop=name>1</b></div>` +
				`<div itemscope itemtype="https://schema.org/B"><link itemprop=of href="#a"></div>`,
			nil,
			[]string{"(B).of(A).name = 1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, tt.in, tt.faults, tt.lines)
		})
	}
}

func check(t *testing.T, page string, faults, want []string) {
	t.Helper()
	g := extract(t, "<!doctype html><body>"+page)
	if diff := gocmp.Diff(faults, codes(g)); diff != "" {
		t.Errorf("faults of %s (-want +got):\n%s", page, diff)
	}
	if diff := gocmp.Diff(want, lines(g)); diff != "" {
		t.Errorf("graph of %s (-want +got):\n%s", page, diff)
	}
}

func TestRDFa(t *testing.T) {
	t.Parallel()
	const vocab = `vocab="https://schema.org/"`
	tests := []struct {
		name, in string
		faults   []string
		lines    []string
	}{
		{
			"lite",
			`<div ` + vocab +
				` typeof=Product><b property=name>x</b><p property=offers typeof=Offer>` +
				`<i property=price content="5.00">five</i></p></div>`, nil,
			[]string{"(Product).name = x", "(Product).offers(Offer).price = 5"},
		},
		{
			"links",
			`<div ` + vocab +
				` typeof=Product><a property=url href="/x">x</a><img property=image src="/y">` +
				`<b property=brand resource="https://b.example/">B</b></div>`, nil,
			[]string{"(Product).brand = https://b.example/", "(Product).image = y", "(Product).url = x"},
		},
		{
			"text about a link", `<div ` + vocab + ` typeof=Product><a property=name content="x" href="/y">z</a></div>`,
			nil,
			[]string{"().name = x", "(Product)"},
		},
		{
			"time", `<div ` + vocab + ` typeof=Event><time property=startDate datetime="2026-01-01">1 Jan</time></div>`,
			nil,
			[]string{"(Event).startDate = 2026-01-01"},
		},
		{
			"prefix",
			`<div prefix="s: http://schema.org/ o: https://o.example/" typeof="s:Product o:T">` +
				`<b property="s:name o:n">x</b></div>`,
			nil,
			[]string{"(Product+https://o.example/T).https://o.example/n = x", "(Product+https://o.example/T).name = x"},
		},
		{
			"known prefix", `<div typeof="schema:Product"><b property="schema:name">x</b></div>`, nil,
			[]string{"(Product).name = x"},
		},
		{
			"no vocabulary", `<div typeof=Product><b property=name>x</b></div>`,
			[]string{"vocab_missing:1"},
			[]string{"(Product).name = x"},
		},
		{
			"two places",
			`<div ` + vocab +
				`><p resource="#a" typeof=Person><b property=name>x</b></p><p resource="#a"><b property=email>y</b>` +
				`</p></div>`, nil,
			[]string{"(Person).email = y", "(Person).name = x"},
		},
		{
			"circle",
			`<div ` + vocab +
				` resource="#a" typeof=Person><b property=name>x</b><p property=knows resource="#b" typeof=Person>` +
				`<i property=knows resource="#a"></i></p></div>`, nil,
			[]string{"(Person).knows(Person).knows = a thing around this one", "(Person).name = x"},
		},
		{
			"rel",
			`<div ` + vocab +
				` typeof=Person><b property=name>x</b><p rel=knows><i typeof=Person><u property=name>y</u></i>` +
				`<i typeof=Person><u property=name>z</u></i></p></div>`, nil,
			[]string{"(Person).knows(Person).name = y", "(Person).knows(Person).name = z", "(Person).name = x"},
		},
		{
			"rel with a link",
			`<div ` + vocab +
				` typeof=Person><a rel=homepage href="/h"><b property=name>x</b></a><a rel=nofollow href=/n>n</a>` +
				`</div>`, nil,
			[]string{"(Person).homepage().name = x"},
		},
		{
			"rev",
			`<div ` + vocab + ` resource="#p" typeof=Person><b property=name>x</b><link rev=author href="#book"></div>`,
			nil,
			[]string{"().author(Person).name = x"},
		},
		{
			"type as a relation",
			`<div ` + vocab +
				` typeof=Place><b property=name>x</b><link rel="rdf:type" resource="https://schema.org/City"></div>`,
			nil,
			[]string{"(City+Place).name = x"},
		},
		{
			"pattern",
			`<div ` + vocab +
				`><p typeof=Person><b property=name>x</b><link property="rdfa:copy" href="#c"></p>` +
				`<p resource="#c" typeof="rdfa:Pattern"><b property=email>y</b></p></div>`, nil,
			[]string{"(Person).email = y", "(Person).name = x"},
		},
		{
			"open graph in it",
			`<div ` + vocab + ` typeof=Thing><meta property="og:title" content=x><b property=name>y</b></div>`, nil,
			[]string{"().og:title = x", "(Thing).name = y"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, tt.in, tt.faults, tt.lines)
		})
	}
}

func TestMeta(t *testing.T) {
	t.Parallel()
	g := extract(
		t,
		`<head><meta property="og:type" content="product"><meta property="OG:Title" content=" A  lamp ">`+
			`<meta name="og:image" content="/a.png"><meta property="og:image" content="/b.png">
		<meta property="product:price:amount" content="5.00"><meta name="twitter:card" content="summary">`+
			`<meta name="Description" content="Light"><meta name="viewport" content="x">`+
			`<meta property="og:url" content="">`,
	)
	var got []string
	for _, n := range g.Nodes {
		for _, p := range n.Props {
			got = append(got, fmt.Sprint(n.Source, n.Types, p.Name, len(p.Values), n.First(p.Name)))
		}
	}
	want := []string{
		"opengraph[product]og:type1product", "opengraph[product]og:title1A lamp", "opengraph[product]og:image2/a.png",
		"opengraph[product]product:price:amount15.00",
		"twitter[]twitter:card1summary", "meta[]description1Light",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
}

// TestHostile reads pages that are made to cost much: they end soon, with a
// graph within the limits.
func TestHostile(t *testing.T) {
	t.Parallel()
	scope := `<div itemscope itemtype="https://schema.org/A"`
	refs := &strings.Builder{}
	for i := range 40 { // each item holds the next twice
		fmt.Fprintf(
			refs,
			`<div id=a%d itemprop=x itemscope itemref="b%d c%d"></div><p id=b%d>`+
				`<i itemprop=x itemscope itemref=a%d></i></p><p id=c%d><i itemprop=y itemscope itemref=a%d></i></p>`,
			i,
			i,
			i,
			i,
			i+1,
			i,
			i+1,
		)
	}
	pages := map[string]string{
		"deep JSON":  block(`{"@context":"https://schema.org","a":` + strings.Repeat(`{"a":`, 50_000)),
		"deep lists": block(strings.Repeat("[", 100_000)),
		"many values": block(`{"@context":"https://schema.org","@type":"A","a":[` + strings.Repeat("1,",
			200_000) + `1]}`),
		"many members": block(`{"@context":"https://schema.org",` + manyMembers(20_000) + `}`),
		"many nodes": block(`{"@context":"https://schema.org","@graph":[` + strings.Repeat(`{"@type":"A"},`,
			20_000) + `{}]}`),
		"one id": block(`{"@context":"https://schema.org","@graph":[` +
			strings.Repeat(`{"@id":"#a","a":["1","2"]},`, 5_000) + `{}]}`),
		"contexts":            block(strings.Repeat(`{"@context":{"a":"b","b":"a"},"@type":"a","x":`, 60)),
		"comments":            block(strings.Repeat("/*", 100_000)),
		"items in items":      strings.Repeat(scope+" itemprop=x>", 300),
		"many items":          strings.Repeat(scope+"></div>", 50_000),
		"items that multiply": scope + ` itemref=a0></div>` + refs.String(),
		"items that share": strings.Repeat(scope+" itemref=all></div>",
			2_000) + "<div id=all>" + strings.Repeat("<b itemprop=x>1</b>", 5_000) + "</div>",
		"names":          scope + `><b itemprop="` + strings.Repeat("a b c ", 50_000) + `">x</b></div>`,
		"names in names": scope + ">" + strings.Repeat(`<b itemscope itemprop="a b c">`, 300),
		"huge attribute": scope + ` itemid="` + strings.Repeat("a", 1<<20) + `"></div>`,
		"rdfa in rdfa": `<div vocab="https://schema.org/">` + strings.Repeat(`<b property="a b c" typeof=A>`,
			300),
		"rdfa of one id": `<div vocab="https://schema.org/">` +
			strings.Repeat(`<b resource="#a" property=x typeof=A><i property=y resource="#b" typeof=B></i></b>`, 5_000),
		"rels": `<div vocab="https://schema.org/" typeof=A>` + strings.Repeat(`<b rel=x>`,
			200) + strings.Repeat("<i typeof=A></i>", 3_000),
		"prefixes": `<div prefix="` + strings.Repeat("a: https://a.example/ ",
			20_000) + `" typeof="a:B"></div>`,
		"metas": strings.Repeat(`<meta property="og:title" content=x>`, 50_000),
	}
	for name, page := range pages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := extract(t, page)
			values := 0
			for _, n := range g.All() {
				for _, p := range n.Props {
					values += len(p.Values)
				}
			}
			if len(g.All()) > markup.MaxNodes+10 || values > markup.MaxValues {
				t.Errorf("%d nodes with %d values", len(g.All()), values)
			}
			if len(g.Faults) > 200 {
				t.Errorf("%d faults", len(g.Faults))
			}
		})
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"m%d":%d,`, i, i)
	}
	return b.String() + `"z":1`
}

func FuzzExtract(f *testing.F) {
	for _, seed := range []string{
		block(`{"@context":"https://schema.org","@type":"Product","offers":{"@id":"#o"}}`),
		block(`[{'a':01,},/*x*/{"@graph":[[]]}];`),
		block(`{"@context":{"a":{"@id":"b","@container":"@language"}},"a":{"en":"x"}}`),
		`<div itemscope itemid=#a itemref="b b"><b id=b itemprop="x y" itemscope itemref=c></b></div>` +
			`<p id=c itemprop=z>`, `<meta property=og:title content=x>`,
		`<div vocab="https://schema.org/" prefix="a: b" typeof="A a:B" resource="#a">` +
			`<b rel=x rev=y about="#b" property="p q" content=c></b><i typeof=C property=p resource="#a"></i></div>`,
		block(`{"@reverse":{"a":{"@id":"x"}},"@type":["a",7,"b,c"],"\ud800":"\u12"}`),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, page string) {
		g := extract(t, page)
		for _, n := range g.All() {
			if n.Source == "" || n.Path == "" {
				t.Errorf("a node of %q has no place: %+v", page, n)
			}
		}
		lines(g)
	})
}

func BenchmarkExtract(b *testing.B) {
	page := strings.Repeat(
		`<div itemscope itemtype="https://schema.org/Product"><b itemprop=name>x</b>`+
			`<p itemprop=offers itemscope itemtype="https://schema.org/Offer"><i itemprop=price>5</i></p></div>`,
		50,
	) +
		block(`{"@context":"https://schema.org","@graph":[`+
			strings.Repeat(`{"@type":"Product","name":"x","offers":{"@type":"Offer","price":5}},`,
				50)+`{}]}`) + strings.Repeat("<p>Some text in <b>between</b></p>", 2_000)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		extract(b, page)
	}
}
