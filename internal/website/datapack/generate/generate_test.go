package generate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ace/internal/website/datapack/generate"
	"ace/internal/website/datapack/ld"
	"ace/internal/website/datapack/markup"
	"ace/internal/website/datapack/rules"
	"ace/internal/website/datapack/schemaorg"
	"ace/internal/website/dom"

	"github.com/google/go-cmp/cmp"
)

const origin = "https://shop.example"

type maker struct {
	t testing.TB
	g *generate.Generator
	c *rules.Checker
}

func newMaker(t testing.TB) *maker {
	t.Helper()
	v, err := schemaorg.Load()
	if err != nil {
		t.Fatal(err)
	}
	c := rules.New(v)
	return &maker{t, generate.New(v, c), c}
}

func (m *maker) page(path, html string) *generate.Page {
	m.t.Helper()
	d, err := dom.Parse([]byte(html), origin+path, "text/html; charset=utf-8")
	if err != nil {
		m.t.Fatal(err)
	}
	return &generate.Page{Doc: d, Graph: markup.Extract(d), Home: path == "/"}
}

func (m *maker) report(p *generate.Page) *rules.Report {
	r := m.c.Check(p.Doc, p.Graph)
	return &r
}

// home is a first page that names the site and nothing else.
const home = `<html lang="en-GB"><title>Oak</title><meta property="og:site_name" content="Oak Tools"><h1>Oak Tools</h1>`

// make makes the data of one page of a site with a home page.
func (m *maker) make(path, html string, o *generate.Options) *generate.Result {
	m.t.Helper()
	p := m.page(path, html)
	pages := []*generate.Page{m.page("/", home), p}
	if path == "/" {
		pages = pages[1:]
	}
	r := m.g.Page(p, m.g.Site(pages), m.report(p), o)
	m.sound(p, r)
	return r
}

// sound checks what holds for every result: valid JSON that may be in a
// script, no errors by our own rules, no dangling links, every source there.
func (m *maker) sound(p *generate.Page, r *generate.Result) {
	m.t.Helper()
	if r.Mode == generate.NoChange {
		return
	}
	script := ld.Script(r.Graph)
	inner := strings.TrimSuffix(strings.TrimPrefix(script, `<script type="application/ld+json">`), "</script>")
	if strings.ContainsAny(inner, "<>") || !json.Valid([]byte(inner)) {
		m.t.Errorf("the block is no JSON for a script element:\n%s", script)
	}
	d, err := dom.Parse([]byte(script), p.Doc.URL.String(), "text/html; charset=utf-8")
	if err != nil {
		m.t.Fatal(err)
	}
	g := markup.Extract(d)
	for _, i := range m.c.Check(p.Doc, g).Issues {
		if i.Severity == "error" && i.Code != rules.Required || i.Code == rules.Mismatch {
			m.t.Errorf("the block has an issue of its own: %s %s %s %q\n%s", i.Code, i.Message, i.Property, i.Value,
				script)
		}
	}
	own := map[string]bool{} // links of the page's own, which may lead to other pages
	for _, n := range p.Graph.All() {
		for _, prop := range n.Props {
			for _, v := range prop.Values {
				own[v.Text] = true
			}
		}
	}
	for _, n := range g.All() {
		for _, prop := range n.Props {
			for _, v := range prop.Values {
				if v.Kind == markup.Link && !own[v.Text] && strings.HasPrefix(v.Text, origin) &&
					strings.Contains(v.Text, "#") && g.Find(v.Text) == nil {
					m.t.Errorf("%s links to %s, which is not there", prop.Name, v.Text)
				}
			}
		}
	}
	for key, s := range r.Sources {
		if s.Selector == "" || s.From == "" {
			m.t.Errorf("%s has no place: %+v", key, s)
		}
	}
}

// facts flattens the nodes of some types: "Product.offers.price" = "49.00".
func facts(doc ld.Node, types ...string) map[string]string {
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch x := v.(type) {
		case ld.Node:
			for _, m := range x {
				if m.Name != "@type" || strings.Count(path, ".") > 0 {
					walk(path+"."+m.Name, m.Value)
				}
			}
		case []any:
			for i, item := range x {
				walk(fmt.Sprintf("%s[%d]", path, i), item)
			}
		default:
			out[path] = strings.TrimPrefix(fmt.Sprint(x), origin)
		}
	}
	nodes, _ := doc.Get("@graph").([]any)
	for _, v := range nodes {
		n := v.(ld.Node)
		for _, t := range n.Types() {
			if slices.Contains(types, t) {
				walk(t, n)
			}
		}
	}
	return out
}

func needs(r *generate.Result) []string {
	var all []string
	for _, n := range r.Needs {
		all = append(all, n.Path)
	}
	return all
}

// frame is a page with a heading and a body.
func frame(h1, body string) string {
	return `<html lang="en-GB"><title>` + h1 +
		` | Oak Tools</title><body><nav><a href="/">Home</a> <a href="/products">Products</a></nav><main><h1>` + h1 +
		`</h1>` + body + `</main></body></html>`
}

func TestKinds(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	words := strings.Repeat("Words about sharpening planes and chisels by hand. ", 40)
	tests := []struct{ name, path, html, want string }{
		{"nothing", "/x", frame("Page", "<p>Text"), "WebPage"},
		{
			"product by markup", "/x",
			frame("Lamp", `<div itemscope itemtype="https://schema.org/Product"><b itemprop=name>Lamp</b>`), "Product",
		},
		{"product by og", "/x", frame("Lamp", `<meta property="og:type" content="product">`), "Product"},
		{"product by signs", "/x", frame("Lamp", `<p class=price>£49.00</p><button>Add to cart</button>`), "Product"},
		{"product by path and price", "/product-7", frame("Lamp", `<p>It costs £49.00.</p>`), "Product"},
		{"list of products", "/products", frame("Lamps", `<p>£1</p><p>£2</p><p>£3</p><p>£4</p>`), "CollectionPage"},
		{
			"several products in markup", "/x",
			frame("Lamps", block(`"@graph":[{"@type":"Product","name":"a"},{"@type":"Product","name":"b"}]`)),
			"CollectionPage",
		},
		{
			"article by og and path", "/guides/sharpen",
			frame("Sharpen", `<meta property="og:type" content="article"><p>`+words), "Article",
		},
		{
			"blog post", "/blog/sharpen", frame("Sharpen", `<p>By Ann Smith</p><p>Published 3 March 2026</p><p>`+words),
			"BlogPosting",
		},
		{
			"news",
			"/news/fair",
			frame("Fair", `<p>Published on <time datetime="2026-03-03">3 March</time></p><p>`+words),
			"NewsArticle",
		},
		{"event", "/events/fair", frame("Fair", `<p>When: 3 March 2026</p><p>Where: Town Hall, Ludlow`), "Event"},
		{"about", "/about", frame("About", "<p>We"), "AboutPage"},
		{"contact", "/contact", frame("Contact", "<p>Write"), "ContactPage"},
		{
			"questions", "/help",
			frame("Help", `<h2>Why?</h2><p>So.</p><h2>How?</h2><p>Thus.</p><h2>When?</h2><p>Now.</p>`), "FAQPage",
		},
		{
			"business", "/visit",
			frame("Visit",
				`<address>4 Mill Lane, Ludlow SY8 1AA</address><table><tr><td>Mon-Fri<td>9:00-17:00</table>`),
			"LocalBusiness",
		},
		{
			"home is no article", "/",
			`<title>Oak</title><meta property="og:type" content="article"><h1>Oak</h1><article><p>` + words +
				`</article>`, "WebPage",
		},
		{"app", "/app", frame("Planer", `<p>Download for Windows and macOS</p>`), "SoftwareApplication"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := m.make(tt.path, tt.html, nil); got.Kind != tt.want {
				t.Errorf("kind = %s, want %s; evidence %v", got.Kind, tt.want, got.Evidence)
			}
		})
	}
}

func block(json string) string {
	return `<script type="application/ld+json">{"@context":"https://schema.org",` + json + `}</script>`
}

func TestProducts(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	buy := `<button>Add to cart</button>`
	tests := []struct {
		name, body string
		want       map[string]string // without what begin gives each thing; nil: no Product
		needs      []string
	}{
		{
			"price in pounds", `<p class="price">£49.00</p>` + buy,
			map[string]string{"price": "49.00", "priceCurrency": "GBP"},
			nil,
		},
		{
			"price in euros", `<p>1.249,50 €</p>` + buy,
			map[string]string{"price": "1249.50", "priceCurrency": "EUR"},
			nil,
		},
		{
			"price by code", `<p>Price: 149 CHF</p>` + buy,
			map[string]string{"price": "149", "priceCurrency": "CHF"},
			nil,
		},
		{"dollars of nowhere", `<p>$49</p>` + buy, nil, []string{"Product.image", "Product.offers.priceCurrency"}},
		{"US dollars", `<p>US$49</p>` + buy, map[string]string{"price": "49", "priceCurrency": "USD"}, nil},
		{
			"struck out", `<p class=price><del>£60.00</del> £49.00</p>` + buy,
			map[string]string{"price": "49.00", "priceCurrency": "GBP"},
			nil,
		},
		{
			"old price", `<p class=old-price>£60.00</p><p class=price>£49.00</p>` + buy,
			map[string]string{"price": "49.00", "priceCurrency": "GBP"},
			nil,
		},
		{
			"shipping", `<p>£49.00</p><p>Shipping £5.00</p>` + buy,
			map[string]string{"price": "49.00", "priceCurrency": "GBP"},
			nil,
		},
		{
			"others beside",
			`<p class=price>£49.00</p>` + buy + `<div class="related-products"><p class=price>£7.00</p></div>`,
			map[string]string{"price": "49.00", "priceCurrency": "GBP"},
			nil,
		},
		{
			"two prices", `<p class=price>£49.00</p><p class=price>£59.00</p>` + buy,
			nil,
			[]string{"Product.image", "Product.offers.price"},
		},
		{
			"from", `<p class=price>from £24</p>` + buy,
			map[string]string{"@type": "AggregateOffer", "lowPrice": "24", "priceCurrency": "GBP"},
			nil,
		},
		{"range", `<p class=price>£24 – £30</p>` + buy, nil, []string{"Product.image", "Product.offers.price"}},
		{
			"meta",
			`<meta property="product:price:amount" content="49.00">` +
				`<meta property="product:price:currency" content="gbp"><p>£49.00` + buy,
			map[string]string{"price": "49.00", "priceCurrency": "GBP"},
			nil,
		},
		{
			"microdata",
			`<div itemscope itemtype="https://schema.org/Product">` +
				`<p itemprop=offers itemscope itemtype="https://schema.org/Offer">$<b itemprop=price>49.00</b>` +
				`<meta itemprop=priceCurrency content=CAD>` +
				`<link itemprop=itemCondition href="https://schema.org/UsedCondition"></div>`,
			map[string]string{
				"price":         "49.00",
				"priceCurrency": "CAD",
				"itemCondition": "https://schema.org/UsedCondition",
			},
			nil,
		},
		{
			"stock", `<p class=price>£49.00</p><p>In stock</p>` + buy,
			map[string]string{"price": "49.00", "priceCurrency": "GBP", "availability": "https://schema.org/InStock"},
			nil,
		},
		{
			"out of stock", `<p class=price>£49.00</p><p>Currently not in stock</p>` + buy,
			map[string]string{
				"price": "49.00", "priceCurrency": "GBP",
				"availability": "https://schema.org/OutOfStock",
			},
			nil,
		},
		{
			"two states", `<p class=price>£49.00</p><p>In stock</p><p>Sold out</p>` + buy,
			map[string]string{"price": "49.00", "priceCurrency": "GBP"},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := m.make("/products/lamp", `<meta property="og:type" content="product">`+frame("Lamp", tt.body), nil)
			all := facts(r.Graph, "Product")
			if tt.want == nil {
				if len(all) > 0 {
					t.Errorf("a Product was made: %v", all)
				}
				for _, n := range tt.needs {
					if !slices.Contains(needs(r), n) {
						t.Errorf("needs = %v, want %s", needs(r), n)
					}
				}
				return
			}
			got := map[string]string{}
			for key, value := range all {
				if name, ok := strings.CutPrefix(key, "Product.offers."); ok && name != "url" &&
					!(name == "@type" && value == "Offer") {
					got[name] = value
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("offers (-want +got):\n%s", diff)
			}
			for name := range tt.want {
				if _, ok := r.Sources["Product.offers."+name]; !ok && name != "@type" {
					t.Errorf("the source of offers.%s is not told: %v", name, r.Sources)
				}
			}
		})
	}
}

func TestProductFacts(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	r := m.make("/products/lamp",
		frame(
			"Desk lamp",
			`<img src="/i/lamp.jpg" alt="The desk lamp"><p>A lamp for the desk with a long arm and a heavy `+
				`foot.</p><p class=price>£49.00</p><button>Add to cart</button>
		<dl><dt>SKU</dt><dd>L-100</dd></dl><p>EAN: 4006381333931</p><p>Brand: Oak &amp; `+
				`Sons</p><p>4.5 out of 5 stars (1,203 reviews)</p>`,
		), nil)
	want := map[string]string{
		"Product.@id": "/products/lamp#product", "Product.name": "Desk lamp", "Product.url": "/products/lamp",
		"Product.image":       "/i/lamp.jpg",
		"Product.description": "A lamp for the desk with a long arm and a heavy foot.", "Product.sku": "L-100",
		"Product.gtin13":      "4006381333931",
		"Product.brand.@type": "Brand", "Product.brand.name": "Oak & Sons", "Product.offers.@type": "Offer",
		"Product.offers.url":   "/products/lamp",
		"Product.offers.price": "49.00", "Product.offers.priceCurrency": "GBP",
		"Product.aggregateRating.@type":       "AggregateRating",
		"Product.aggregateRating.ratingValue": "4.5", "Product.aggregateRating.reviewCount": "1203",
		"Product.aggregateRating.bestRating": "5",
	}
	if diff := cmp.Diff(want, facts(r.Graph, "Product")); diff != "" {
		t.Errorf("Product (-want +got):\n%s", diff)
	}
	for key, from := range map[string]generate.Source{
		"Product.name": {From: "h1", Selector: "body > main > h1", Line: 1, Text: "Desk lamp"},
		"Product.offers.price": {
			From: "price on the page", Selector: "body > main > p:nth-of-type(2)", Line: 1,
			Text: "£49.00",
		},
		"Product.gtin13": {
			From: "label on the page", Selector: "body > main > p:nth-of-type(3)", Line: 2,
			Text: "EAN: 4006381333931 EAN: 4006381333931",
		},
	} {
		if diff := cmp.Diff(from, r.Sources[key]); diff != "" {
			t.Errorf("source of %s (-want +got):\n%s", key, diff)
		}
	}
	for _, f := range r.Features {
		if f.Feature == "merchant_listing" && f.Status != rules.Eligible {
			t.Errorf("the listing misses %v", f.Missing)
		}
	}
	if r.Mode != generate.Add {
		t.Errorf("mode = %s", r.Mode)
	}
}

func TestCheckDigit(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	for number, want := range map[string]string{
		"4006381333931": "gtin13", "4006381333932": "",
		"036000291452": "gtin12", "96385074": "gtin8", "978-0-306-40615-7": "gtin13", "12345": "",
	} {
		r := m.make("/products/x",
			frame("Thing", `<p class=price>£4.00</p><button>Buy now</button><p>ISBN: `+number+`</p>`), nil)
		got := ""
		for key := range facts(r.Graph, "Product") {
			if name := strings.TrimPrefix(key, "Product."); strings.HasPrefix(name, "gtin") {
				got = name
			}
		}
		if got != want {
			t.Errorf("%s became %q, want %q", number, got, want)
		}
	}
}
