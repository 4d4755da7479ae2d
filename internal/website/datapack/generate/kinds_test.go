package generate_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ace/internal/website/datapack/generate"
	"ace/internal/website/datapack/ld"
	"ace/internal/website/datapack/markup"

	"github.com/google/go-cmp/cmp"
)

// long makes a page long enough for an article.
var long = "<p>" + strings.Repeat("Words about sharpening planes and chisels by hand. ", 40) + "</p>"

func TestArticles(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	tests := []struct {
		name, body string
		want       map[string]string // some facts of the article
		needs      []string
	}{
		{
			"byline with links",
			`<p class=byline>By <a href="/people/ann" rel=author>Ann Smith</a>, ` +
				`<time datetime="2026-03-03">3 March</time></p>`,
			map[string]string{"author.name": "Ann Smith", "author.url": "/people/ann", "datePublished": "2026-03-03"},
			[]string{"Article.image"},
		},
		{
			"words", `<p>Written by Ann Smith</p><p>Published 3 March 2026, updated 4 April 2026</p>`,
			map[string]string{
				"author.name": "Ann Smith", "author.url": "", "datePublished": "",
				"dateModified": "2026-04-04",
			},
			[]string{"Article.datePublished"},
		},
		{
			"two blocks", `<p>Published on March 3rd, 2026</p><p>Last updated: 4.4.2026</p>`,
			map[string]string{"datePublished": "2026-03-03", "dateModified": "2026-04-04"},
			[]string{"Article.author"},
		},
		{
			"in doubt", `<p>Published 03/04/2026</p>`,
			map[string]string{"datePublished": ""},
			[]string{"Article.datePublished"},
		},
		{
			"meta",
			`<meta property="article:published_time" content="2026-03-03T10:00:00+01:00">` +
				`<meta name=author content="Ann Smith">`,
			map[string]string{"datePublished": "2026-03-03T10:00:00+01:00", "author.name": "Ann Smith"},
			nil,
		},
		{
			"German", `<p>Von Jürgen Groß am 3. März 2026</p><p>Veröffentlicht: 3. März 2026</p>`,
			map[string]string{"datePublished": "2026-03-03", "author.name": "Jürgen Groß"},
			nil,
		},
		{"no person", `<p class=author>admin</p>`, map[string]string{"author.name": ""}, []string{"Article.author"}},
		{
			"dates of other things", `<p>The fair of 3 March 2026 was large.</p>`,
			map[string]string{"datePublished": ""},
			[]string{"Article.datePublished"},
		},
		{
			"two times", `<p><time datetime="2026-01-01">a</time> <time datetime="2026-02-02">b</time></p>`,
			map[string]string{"datePublished": ""},
			[]string{"Article.datePublished"},
		},
		{
			"a wide image",
			`<img src="/small.png" width=200><img src="/wide.png" width="1200">` +
				`<img src="/wider.png" width="1400" hidden>`,
			map[string]string{"image": "/wide.png"},
			nil,
		},
		{
			"an own og:image", `<meta property="og:image" content="/own.png">`,
			map[string]string{"image": "/own.png"},
			nil,
		},
		{
			"an image that is none", `<meta property="og:image" content="javascript:x">`,
			map[string]string{"image": ""},
			[]string{"Article.image"},
		},
		{
			"a comment's author", `<div class="comments"><p class=author>Bob Jones</p></div>`,
			map[string]string{"author.name": ""},
			[]string{"Article.author"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := m.make("/guides/x", `<meta property="og:type" content="article">`+frame("Sharpen", tt.body+long), nil)
			all := facts(r.Graph, "Article")
			if all["Article.headline"] != "Sharpen" {
				t.Fatalf("no article was made: %s %v", r.Kind, r.Evidence)
			}
			for name, want := range tt.want {
				if got := all["Article."+name]; got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			for _, n := range tt.needs {
				if !slices.Contains(needs(r), n) {
					t.Errorf("needs = %v, want %s", needs(r), n)
				}
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	tests := []struct{ name, html, want, description string }{
		{"heading", `<title>Other</title><h1>The <b>lamp</b></h1>`, "The lamp", ""},
		{"og", `<title>Other</title><meta property="og:title" content="Lamp | Oak Tools">`, "Lamp", ""},
		{"title", `<title>Lamp | Oak Tools</title>`, "Lamp", ""},
		{"title with the name in front", `<title>Oak Tools: Lamp: small</title>`, "Lamp: small", ""},
		{"title with another name", `<title>Lamp - small</title>`, "Lamp - small", ""},
		{"hidden heading", `<title>Lamp</title><h1 hidden>x</h1>`, "Lamp", ""},
		{"description", `<h1>x</h1><meta name=description content=" A  lamp. "><p>Text`, "x", "A lamp."},
		{"og description", `<h1>x</h1><meta property="og:description" content="A lamp.">`, "x", "A lamp."},
		{
			"paragraph", `<h1>x</h1><p>Short.</p><p>A paragraph of the page that is long enough to describe it.</p>`,
			"x", "A paragraph of the page that is long enough to describe it.",
		},
		{
			"long paragraph", `<h1>x</h1><p>` + strings.Repeat("A sentence of eight words stands here now. ", 10), "x",
			strings.TrimSpace(strings.Repeat("A sentence of eight words stands here now. ", 7)),
		},
		{
			"paragraph elsewhere",
			`<h1>x</h1><footer><p>A paragraph of the footer that is long enough to describe it.</p></footer>`, "x", "",
		},
		{"unseen letters", "<h1>La\u200bm\u202ep</h1>", "Lamp", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all := facts(m.make("/x", tt.html, nil).Graph, "WebPage")
			if all["WebPage.name"] != tt.want || all["WebPage.description"] != tt.description {
				t.Errorf("name = %q, description = %q, want %q, %q", all["WebPage.name"], all["WebPage.description"],
					tt.want, tt.description)
			}
		})
	}
}

func TestBreadcrumbs(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	tests := []struct{ name, path, html, want string }{
		{
			"shown",
			"/a/b",
			`<nav aria-label="Breadcrumb"><ol><li><a href="/">Home</a> ›<li><a href="/a">Things</a> ›<li>This</ol>` +
				`</nav><h1>This one</h1>`,
			"Home=/ Things=/a This one=",
		},
		{
			"shown with itself", "/a/b",
			`<div class="breadcrumbs"><a href="/">Home</a> » <a href="/a/b">This</a></div><h1>This one</h1>`,
			"Home=/ This=",
		},
		{
			"by sign", "/a/b", `<nav><a href="/">Home</a> › <a href="/a">Things</a> › This</nav><h1>This one</h1>`,
			"Home=/ Things=/a This one=",
		},
		{
			"address", "/a/b", `<nav><a href="/">Start</a><a href="/a/">Things</a></nav><h1>This one</h1>`,
			"Start=/ Things=/a/ This one=",
		},
		{"address with a gap", "/a/b", `<nav><a href="/">Start</a></nav><h1>This one</h1>`, ""},
		{"nothing", "/a/b", `<h1>This one</h1>`, ""},
		{"home", "/", `<nav aria-label="breadcrumb"><a href="/">Home</a> <a href="/a">A</a></nav><h1>x</h1>`, ""},
		{
			"link without words", "/a/b",
			`<nav aria-label="breadcrumb"><a href="/"></a> <a href="/a">A</a></nav><h1>x</h1>`, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all := facts(m.make(tt.path, tt.html, nil).Graph, "BreadcrumbList")
			var got []string
			for _, i := range []string{"[0]", "[1]", "[2]"} {
				if name, ok := all["BreadcrumbList.itemListElement"+i+".name"]; ok {
					got = append(got, name+"="+all["BreadcrumbList.itemListElement"+i+".item"])
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("breadcrumb = %q, want %q", strings.Join(got, " "), tt.want)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	tests := []struct {
		name, body string
		want       map[string]string
		needs      []string
	}{
		{
			"words", `<p>When: 3 March 2026, 19:30</p><p>Where: Town Hall, 4 Mill Lane, Ludlow SY8 1AA</p>`,
			map[string]string{
				"startDate": "2026-03-03T19:30", "location.name": "Town Hall",
				"location.address.streetAddress": "4 Mill Lane", "location.address.addressLocality": "Ludlow",
				"location.address.postalCode": "SY8 1AA",
			},
			nil,
		},
		{
			"time element",
			`<p>Date: <time datetime="2026-03-03T19:30:00Z">3 March</time></p><p>Venue: Town Hall, Ludlow</p>`,
			map[string]string{"startDate": "2026-03-03T19:30:00Z", "location.address": "Town Hall, Ludlow"},
			nil,
		},
		{"no place", `<p>When: 3 March 2026</p>`, nil, []string{"Event.location"}},
		{"no day", `<p>When: soon</p><p>Where: Town Hall</p>`, nil, []string{"Event.startDate"}},
		{
			"two days", `<p>When: 3 March 2026 or 4 March 2026</p><p>Where: Town Hall</p>`, nil,
			[]string{"Event.startDate"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := m.make("/events/fair", `<meta property="og:type" content="event">`+frame("Spring fair", tt.body), nil)
			all := facts(r.Graph, "Event")
			if (tt.want == nil) != (len(all) == 0) {
				t.Errorf("Event = %v, want %v", all, tt.want)
			}
			for name, want := range tt.want {
				if got := all["Event."+name]; got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			for _, n := range tt.needs {
				if !slices.Contains(needs(r), n) {
					t.Errorf("needs = %v, want %s", needs(r), n)
				}
			}
		})
	}
}

func TestBusinesses(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	const street = `<address>Oak Tools<br>4 Mill Lane<br>Ludlow SY8 1AA</address>`
	tests := []struct {
		name, body string
		want       map[string]string
		hours      []string // "days opens-closes"
	}{
		{
			"English",
			street +
				`<p><a href="tel:+44 1584 555010">Call</a><table><tr><td>Mon - Fri<td>9:00am - 5:30pm<tr>` +
				`<td>Sat<td>10:00–16:00<tr><td>Sun<td>closed</table>`,
			map[string]string{
				"name": "Oak Tools", "address.streetAddress": "4 Mill Lane", "address.addressLocality": "Ludlow",
				"address.postalCode": "SY8 1AA", "address.addressCountry": "GB", "telephone": "+44 1584 555010",
			},
			[]string{"Monday,Tuesday,Wednesday,Thursday,Friday 09:00-17:30", "Saturday 10:00-16:00"},
		},
		{
			"German",
			`<p class="adresse">Mühlgasse 4a, 04109 Leipzig</p><ul>` +
				`<li>Mo–Fr 9 bis 18 Uhr<li>Sa und So geschlossen</ul>`,
			map[string]string{
				"address.streetAddress":   "Mühlgasse 4a",
				"address.postalCode":      "04109",
				"address.addressLocality": "Leipzig",
			},
			nil,
		},
		{
			"American", `<address>123 Main St, Springfield, IL 62701</address><dl><dt>Monday<dd>08:30 to 17:00</dl>`,
			map[string]string{"address.addressRegion": "IL", "address.addressCountry": "US"},
			[]string{"Monday 08:30-17:00"},
		},
		{
			"unsure address", `<address>Old Mill, Mill Lane 4, near Ludlow</address><p>Mon-Fri 9:00-17:00</p>`,
			map[string]string{"address": "Old Mill, Mill Lane 4, near Ludlow"},
			[]string{"Monday,Tuesday,Wednesday,Thursday,Friday 09:00-17:00"},
		},
		{"hours in doubt", street + `<p>Mon-Fri 9-5</p>`, map[string]string{"address.postalCode": "SY8 1AA"}, nil},
		{
			"one day twice", street + `<p>Mon 9:00-12:00</p><p>Monday 13:00-17:00</p>`,
			map[string]string{"address.postalCode": "SY8 1AA"},
			nil,
		},
		{
			"two numbers", street + `<a href="tel:+441584555010">a</a><a href="tel:+441584555011">b</a>`,
			map[string]string{"telephone": ""},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := m.make("/visit", `<meta property="og:type" content="place">`+frame("Visit us", tt.body), nil)
			all := facts(r.Graph, "LocalBusiness")
			for name, want := range tt.want {
				if got := all["LocalBusiness."+name]; got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			if diff := cmp.Diff(tt.hours, openings(r.Graph)); diff != "" {
				t.Errorf("hours (-want +got):\n%s", diff)
			}
		})
	}
	two := m.make("/visit", `<meta property="og:type" content="place">`+frame("Visit us",
		`<address>4 Mill Lane, Ludlow SY8 1AA</address><address>7 High Street, Leeds LS1 4AB</address>`), nil)
	if all := facts(two.Graph, "LocalBusiness"); len(all) > 0 || !slices.Contains(needs(two), "LocalBusiness.address") {
		t.Errorf("two addresses gave %v, needs %v", all, needs(two))
	}
}

// openings writes the opening hours of the business in a graph.
func openings(doc ld.Node) []string {
	nodes, _ := doc.Get("@graph").([]any)
	var all []string
	for _, v := range nodes {
		n := v.(ld.Node)
		if !slices.Contains(n.Types(), "LocalBusiness") {
			continue
		}
		specs, many := n.Get("openingHoursSpecification").([]any)
		if one, ok := n.Get("openingHoursSpecification").(ld.Node); ok && !many {
			specs = []any{one}
		}
		for _, s := range specs {
			spec := s.(ld.Node)
			days, many := spec.Get("dayOfWeek").([]any)
			if !many {
				days = []any{spec.Get("dayOfWeek")}
			}
			var names []string
			for _, d := range days {
				names = append(names, strings.TrimPrefix(d.(string), "https://schema.org/"))
			}
			all = append(all, strings.Join(names, ",")+" "+spec.Text("opens")+"-"+spec.Text("closes"))
		}
	}
	return all
}

func TestSoftware(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	body := `<p>Available for Windows and macOS. Download it free of charge.</p>` +
		`<a href="https://apps.apple.com/gb/app/planer/id123">App Store</a>`
	bare := m.make("/app", frame("Planer", body), nil)
	if all := facts(bare.Graph, "SoftwareApplication"); len(all) > 0 || !slices.Contains(needs(bare),
		"SoftwareApplication.aggregateRating") {
		t.Errorf("without a rating = %v, needs %v", all, needs(bare))
	}
	rated := facts(m.make("/app", frame("Planer", body+`<p>4.8/5 (210 ratings)</p>`), nil).Graph, "SoftwareApplication")
	want := map[string]string{
		"name": "Planer", "operatingSystem": "Windows, macOS",
		"installUrl": "https://apps.apple.com/gb/app/planer/id123", "offers.price": "0",
		"aggregateRating.ratingValue": "4.8", "aggregateRating.reviewCount": "210",
	}
	for name, value := range want {
		if rated["SoftwareApplication."+name] != value {
			t.Errorf("%s = %q, want %q", name, rated["SoftwareApplication."+name], value)
		}
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	page := frame(
		"Questions",
		`<details><summary>Do you ship?</summary><p>Yes, to all of Europe.</p></details><dl><dt>How long?</dt>`+
			`<dd>Three days.</dd><dt>A term</dt><dd>no question</dd></dl><h2>Who pays?</h2><p>You do.</p>`+
			`<p>We refund.</p><h2>No question</h2><p>x</p>`,
	)
	r := m.make("/faq", page, nil)
	if all := facts(r.Graph, "FAQPage"); len(all) > 0 || len(r.Notes) == 0 || !strings.Contains(r.Notes[0],
		"on request") {
		t.Errorf("unasked FAQPage = %v, notes %v", all, r.Notes)
	}
	asked := m.make("/faq", page, &generate.Options{FAQ: true})
	all := facts(asked.Graph, "FAQPage")
	got := []string{}
	for _, i := range []string{"[0]", "[1]", "[2]", "[3]"} {
		if q, ok := all["FAQPage.mainEntity"+i+".name"]; ok {
			got = append(got, q+" "+all["FAQPage.mainEntity"+i+".acceptedAnswer.text"])
		}
	}
	if diff := cmp.Diff([]string{
		"Do you ship? Yes, to all of Europe.", "How long? Three days.",
		"Who pays? You do. We refund.",
	}, got); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	if len(asked.Notes) == 0 || !strings.Contains(asked.Notes[0], "no rich result") {
		t.Errorf("the missing result is not told: %v", asked.Notes)
	}
}

func TestSite(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	const social = `<footer><a href="https://www.linkedin.com/company/oak">in</a><a href="https://x.com/oak">x</a>` +
		`<a href="https://x.com/intent/tweet?url=1">share</a><a href="https://github.com/oak/repo">code</a>
		<a href="mailto:hi@oak.example?subject=x">mail</a><a href="tel:+441584555010">call</a><p>Oak Tools, ` +
		`4 Mill Lane, Ludlow SY8 1AA</p></footer>`
	tests := []struct {
		name  string
		pages []string
		want  map[string]string
	}{
		{
			"og:site_name",
			[]string{`<meta property="og:site_name" content="Oak Tools"><title>x</title>`},
			map[string]string{"WebSite.name": "Oak Tools", "Organization.name": ""},
		},
		{
			"markup",
			[]string{
				block(`"@type":"Organization","@id":"https://shop.example/#me","name":"Oak Tools","logo":"/l.png"`),
			},
			map[string]string{
				"Organization.name": "Oak Tools", "Organization.@id": "/#me",
				"Organization.logo.url": "/l.png", "WebSite.publisher.@id": "/#me",
			},
		},
		{"titles", []string{
			"<title>Oak Tools - hand tools</title>", "<title>Lamp - Oak Tools</title>",
			"<title>Saw - Oak Tools</title>",
		}, map[string]string{"WebSite.name": "Oak Tools", "Organization.name": ""}},
		{
			"home title",
			[]string{"<title>Oak Tools</title><h1>Oak Tools in Ludlow</h1>"},
			map[string]string{"WebSite.name": "Oak Tools", "Organization.name": ""},
		},
		{
			"no name",
			[]string{"<title>Home</title><h1>Welcome</h1>"},
			map[string]string{"Organization.name": "", "WebSite.url": "/"},
		},
		{"contact", []string{`<meta property="og:site_name" content="Oak Tools">` + social}, map[string]string{
			"Organization.sameAs[0]": "https://www.linkedin.com/company/oak",
			"Organization.sameAs[1]": "https://x.com/oak", "Organization.sameAs[2]": "",
			"Organization.contactPoint.email": "hi@oak.example", "Organization.contactPoint.telephone": "+441584555010",
			"Organization.address.postalCode": "SY8 1AA",
		}},
		{
			"logo",
			[]string{
				`<meta property="og:site_name" content="Oak Tools"><header><a href="/">` +
					`<img class=logo src="/logo.svg"></a></header>`,
			},
			map[string]string{"Organization.logo.url": "/logo.svg"},
		},
		{
			"logo of a client",
			[]string{
				`<meta property="og:site_name" content="Oak Tools"><main><img class=logo src="/client.svg"></main>`,
			},
			map[string]string{"Organization.logo.url": ""},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var pages []*generate.Page
			for i, html := range tt.pages {
				pages = append(pages, m.page([]string{"/", "/a", "/b"}[i], html))
			}
			s := m.g.Site(pages)
			all := facts(ld.Node{{Name: "@graph", Value: []any{s.Organization, s.WebSite}}}, "Organization", "WebSite")
			for name, want := range tt.want {
				if all[name] != want {
					t.Errorf("%s = %q, want %q; %v", name, all[name], want, all)
				}
			}
		})
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	const shown = `<p class=price>£49.00</p><p>SKU: L-100</p><button>Add to cart</button>` +
		`<p>More words so that the page can be compared with its data, which needs twenty of them at least.</p>`
	tests := []struct {
		name, data, mode string
		want             map[string]string
		mended           int
	}{
		{
			"nothing there", "", generate.Add,
			map[string]string{"Product.offers.price": "49.00", "Product.sku": "L-100"},
			0,
		},
		{
			"less there", block(`"@type":"Product","@id":"#lamp","name":"Desk lamp","color":"red"`), generate.Merge,
			map[string]string{
				"Product.@id": "/products/lamp#lamp", "Product.color": "red",
				"Product.offers.price": "49.00", "WebPage.mainEntity.@id": "/products/lamp#lamp",
			},
			0,
		},
		{
			"parts of an offer",
			block(`"@type":"Product","name":"Desk lamp","offers":{"@type":"Offer","price":"49.00"}`),
			generate.Merge,
			map[string]string{"Product.offers.price": "49.00", "Product.offers.priceCurrency": "GBP"},
			0,
		},
		{
			"another price",
			block(
				`"@type":"Product","name":"Desk lamp","offers":{"@type":"Offer","price":"39.00","priceCurrency":"GBP"}`,
			),
			generate.Replace,
			map[string]string{"Product.offers.price": "49.00", "Product.offers.priceCurrency": "GBP"},
			1,
		},
		{
			"misspelled", block(`"@type":"Prodcut","naame":"Desk lamp","colour":"red"`), generate.Replace,
			map[string]string{"Product.name": "Desk lamp", "Product.color": "red"},
			3,
		},
		{
			"broken", `<script type="application/ld+json">{"@type":"Product",,,</script>`, generate.Replace,
			map[string]string{"Product.name": "Desk lamp"},
			0,
		},
		{
			"other things",
			block(`"@type":"VideoObject","name":"How it is made","uploadDate":"2026-01-01","thumbnailUrl":"/v.png"`),
			generate.Merge,
			map[string]string{"VideoObject.name": "How it is made", "Product.offers.price": "49.00"},
			0,
		},
		{
			"foreign vocabulary",
			`<script type="application/ld+json">{"@context":["https://schema.org",{"gs1":"https://gs1.org/voc/"}],` +
				`"@type":"Product","name":"Desk lamp","gs1:netWeight":"2 kg"}</script>`,
			generate.Merge,
			map[string]string{"Product.https://gs1.org/voc/netWeight": "2 kg"},
			0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := m.make("/products/lamp", frame("Desk lamp", tt.data+shown), nil)
			if r.Mode != tt.mode || len(r.Mended) != tt.mended {
				t.Errorf("mode = %s, repaired %v, want %s with %d", r.Mode, r.Mended, tt.mode, tt.mended)
			}
			all := facts(r.Graph, "Product", "WebPage", "VideoObject")
			for name, want := range tt.want {
				if all[name] != want {
					t.Errorf("%s = %q, want %q", name, all[name], want)
				}
			}
		})
	}
}

// TestSettles puts a block into its page: the page then needs nothing more.
func TestSettles(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	for _, page := range []string{
		frame("Desk lamp", `<p class=price>£49.00</p><button>Add to cart</button>`),
		frame("Guide", `<p>By Ann Smith</p>`+long),
		`<title>x</title>`, `<h1>` + strings.Repeat("long ", 30) + `</h1>`,
	} {
		first := m.make("/products/x", page, nil)
		again := m.make("/products/x", ld.Script(first.Graph)+page, nil)
		if again.Mode != generate.NoChange {
			t.Errorf("the page with its block asks for %s: %v\n%s", again.Mode, again.Mended, ld.Encode(again.Graph))
		}
	}
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	r := m.make("/x",
		`<h1>&lt;/script>&lt;script>alert(1)&lt;/script> &lt;!-- & "q" \ `+"\u2028"+`</h1>`+
			block(`"@type":"Person","name":"\u003c/script\u003e<!--"`), nil)
	if got := ld.Script(r.Graph); strings.Count(got, "<") != 2 || strings.Count(got, "</script>") != 1 {
		t.Errorf("the block can be ended from inside:\n%s", got)
	}
}

// TestPreMarkup makes data of the plain HTML that the examples of schema.org
// begin with. Whatever is made keeps to the vocabulary and to the page, and what
// both say of the same property is the same.
func TestPreMarkup(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	data, err := os.ReadFile(filepath.Join(shared, "specs/schemaorg/schemaorg-all-examples.txt"))
	if err != nil {
		t.Fatal(err)
	}
	hints := map[string]string{"Product": "product", "Event": "event", "LocalBusiness": "place", "Article": "article"}
	m := newMaker(t)
	parts := regexp.MustCompile(`(?s)\nPRE-MARKUP:(.*?)\nMICRODATA:.*?\nJSON:(.*?)(?:\nTYPES:|$)`).
		FindAllStringSubmatch(string(data), -1)
	made, same := 0, 0
	for i, part := range parts {
		page, hint := `<html lang="en-US"><title>Example</title><body>`+paragraphs(part[1]), ""
		known := m.page("/y", part[2]).Graph
		for _, n := range known.Nodes {
			for kind, og := range hints {
				if hint == "" && slices.Contains(n.Types, kind) {
					hint = `<meta property="og:type" content="` + og + `"><h1>` + n.First("name") + `</h1>`
				}
			}
		}
		all := facts(m.make("/x", hint+page, nil).Graph, "Product", "Event", "LocalBusiness", "Article")
		if len(all) > 0 {
			made++
		}
		for key, value := range all {
			kind, path, _ := strings.Cut(key, ".")
			if !compared.MatchString(path) {
				continue
			}
			want, ok := said(known, kind, strings.Split(path, "."))
			switch {
			case !ok:
			case strings.Contains(want, value) || strings.Contains(value, want):
				same++
			default:
				t.Errorf("no. %d: %s = %q, the example says %q", i+1, key, value, want)
			}
		}
	}
	if len(parts) != 507 || made < 6 || same < 6 {
		t.Errorf("%d parts, %d things made, %d values the same", len(parts), made, same)
	}
	t.Logf("%d parts, %d things made, %d values the same", len(parts), made, same)
}

// paragraphs puts the lines of plain text, which most examples begin with, into
// elements of their own.
func paragraphs(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.HasPrefix(trimmed, "<") {
			line = "<p>" + line + "</p>"
		}
		b.WriteString(line)
	}
	return b.String()
}

// compared are the properties that an example and a page spell alike.
var compared = regexp.MustCompile(
	`^(offers\.(price|priceCurrency|availability)|sku|gtin\d+|brand\.name|startDate|datePublished|author\.name` +
		`|telephone|aggregateRating\.(ratingValue|reviewCount)|address\.(postalCode|addressLocality|addressRegion))$`,
)

// said is what an example says of a property.
func said(g *markup.Graph, kind string, steps []string) (string, bool) {
	for _, n := range g.Nodes {
		if !slices.Contains(n.Types, kind) {
			continue
		}
		for i, step := range steps {
			values := n.Prop(step)
			if len(values) == 0 {
				break
			}
			if i == len(steps)-1 {
				return values[0].String(), true
			}
			if n = g.Follow(values[0]); n == nil {
				break
			}
		}
	}
	return "", false
}

func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		home, frame("Lamp", `<p class=price>£49.00</p><button>Add to cart</button>`), frame("Fair",
			`<p>When: 3 March 2026</p><p>Where: Town Hall, 4 Mill Lane, Ludlow SY8 1AA</p>`),
		frame("x", block(`"@type":["Product","Prodcut"],"offers":[{"@id":"#o"},{"price":[1,"2"]}],"@id":"_:a"`)),
		`<nav aria-label=breadcrumb><a href=/>a</a><a href=b>c</a></nav><address>1 A Street, B, ` +
			`IL 12345</address><p>Mo-Fr 9:00-17:00`,
		`<details><summary>a?</summary>b</details><dl><dt>c?<dd>d</dl><time datetime=2026-01-01>x</time>` +
			`<meta property=og:type content=article><img width=900 src=x>`,
	} {
		f.Add(seed)
	}
	m := newMaker(f)
	f.Fuzz(func(t *testing.T, html string) {
		inner := &maker{t, m.g, m.c}
		inner.make("/a/b", html, &generate.Options{FAQ: true})
		inner.make("/", html, nil)
	})
}
