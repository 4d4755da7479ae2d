package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ace/internal/website/datapack/markup"
	"ace/internal/website/datapack/rules"
	"ace/internal/website/datapack/schemaorg"
	"ace/internal/website/dom"

	"github.com/google/go-cmp/cmp"
)

func checker(t testing.TB) *rules.Checker {
	t.Helper()
	v, err := schemaorg.Load()
	if err != nil {
		t.Fatal(err)
	}
	return rules.New(v)
}

func check(t testing.TB, page string) rules.Report {
	t.Helper()
	d, err := dom.Parse([]byte(page), "https://example.com/page", "text/html; charset=utf-8")
	if err != nil {
		t.Fatal(err)
	}
	return checker(t).Check(d, markup.Extract(d))
}

func block(json string) string {
	return `<script type="application/ld+json">{"@context":"https://schema.org",` + json + `}</script>`
}

// short writes issues in one line each, those of the given codes.
func short(issues []rules.Issue, codes string) []string {
	var all []string
	for _, i := range issues {
		if strings.Contains(codes, string(i.Code)) {
			all = append(all,
				strings.TrimRight(fmt.Sprintf("%s %s %s %s %s", i.Code, i.Name, i.Property, i.Value, i.Fix), " "))
		}
	}
	return all
}

func TestVocabulary(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     []string
	}{
		{
			"good",
			`"@type":"Product","name":"x","offers":{"@type":"Offer","price":5,` +
				`"availability":"https://schema.org/InStock"}`,
			nil,
		},
		{"unknown type", `"@type":"Prodcut"`, []string{"E2 unknown_type  Prodcut Product"}},
		{
			"unknown type and property", `"@type":"Prodcut","naame":"x"`,
			[]string{"E2 unknown_type  Prodcut Product", "E2 unknown_property Prodcut.naame x name"},
		},
		{"member as type", `"@type":"InStock"`, []string{"E2 unknown_type  InStock"}},
		{"unknown property", `"@type":"Product","prize":"5"`, []string{"E2 unknown_property Product.prize 5 price"}},
		{"other case", `"@type":"Product","Name":"x"`, []string{"E2 unknown_property Product.Name x name"}},
		{"foreign names", `"@type":"http://o.example/T","x":"y","http://o.example/p":"z"`, nil},
		{"no type", `"@type":"Product","brand":{"name":"x"}`, []string{"E2 type_missing"}},
		{"domain", `"@type":"Product","price":"5"`, []string{"E3 wrong_type_for_property Product.price"}},
		{"domain of one type", `"@type":["Product","Offer"],"price":"5"`, nil},
		{
			"role",
			`"@type":"Organization","name":"x","member":{"@type":"OrganizationRole","member":{"@type":"Person",` +
				`"name":"y"}}`,
			nil,
		},
		{
			"search action",
			`"@type":"WebSite","potentialAction":{"@type":"SearchAction","target":"https://e.example/?q={q}",` +
				`"query-input":"required name=q"}`,
			nil,
		},
		{
			"superseded", `"@type":"Restaurant","menu":"https://e.example/m"`,
			[]string{"E5 superseded_property Restaurant.menu  hasMenu"},
		},
		{
			"date", `"@type":"Article","datePublished":"March 3rd"`,
			[]string{"E4 wrong_format Article.datePublished March 3rd"},
		},
		{
			"dates",
			`"@type":"Event","startDate":["2026","2026-03","2026-03-19","2026-03-19T10:00",` +
				`"2026-03-19T10:00:00.5Z","2026-03-19 10:00:00+01:00"]`,
			nil,
		},
		{
			"no such day", `"@type":"Event","startDate":"2026-02-30"`,
			[]string{"E4 wrong_format Event.startDate 2026-02-30"},
		},
		{
			"duration", `"@type":"Recipe","cookTime":"30 minutes"`,
			[]string{"E4 wrong_format Recipe.cookTime 30 minutes"},
		},
		{"durations", `"@type":"Recipe","cookTime":["PT30M","P1DT2H","P2W"]`, nil},
		{
			"not a duration", `"@type":"Recipe","cookTime":["P","PT","PT5"]`,
			[]string{
				"E4 wrong_format Recipe.cookTime P", "E4 wrong_format Recipe.cookTime PT",
				"E4 wrong_format Recipe.cookTime PT5",
			},
		},
		{"address", `"@type":"Product","url":"not an address"`, []string{"E4 wrong_format Product.url not an address"}},
		{"addresses", `"@type":"Product","url":["/x","x.html","https://a.example/?q=1"]`, nil},
		{
			"number", `"@type":"QuantitativeValue","minValue":"five"`,
			[]string{"E4 wrong_format QuantitativeValue.minValue five"},
		},
		{"huge number", `"@type":"Offer","price":-1e999`, []string{"E4 wrong_format Offer.price -1e999"}},
		{"boolean", `"@type":"JobPosting","directApply":"yes"`, []string{"E4 wrong_format JobPosting.directApply yes"}},
		{
			"enumeration", `"@type":"Offer","availability":"in stock"`,
			[]string{"E4 unknown_value Offer.availability in stock https://schema.org/InStock"},
		},
		{"short enumeration", `"@type":"Offer","availability":"InStock"`, nil},
		{
			"wrong enumeration", `"@type":"Offer","availability":"https://schema.org/NewCondition"`,
			[]string{"E4 wrong_enumeration Offer.availability https://schema.org/NewCondition"},
		},
		{
			"unknown term", `"@type":"Offer","availability":"https://schema.org/InnStock"`,
			[]string{"E4 unknown_value Offer.availability https://schema.org/InnStock"},
		},
		{
			"wrong thing", `"@type":"Product","offers":{"@type":"Person","name":"x"}`,
			[]string{"E4 wrong_type_of_value Product.offers x"},
		},
		{
			"thing for text", `"@type":"Product","sku":{"@type":"Person","name":"x"}`,
			[]string{"E4 text_expected Product.sku x"},
		},
		{"text for a thing", `"@type":"Product","brand":"ACME"`, nil},
		{"empty", `"@type":"Product","name":" "`, []string{"E4 empty_value Product.name"}},
		{
			"link",
			`"@graph":[{"@id":"#o","@type":"Organization","name":"x"},{"@type":"Article","publisher":{"@id":"#o"}}]`,
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, short(check(t, block(tt.in)).Issues, "E2 E3 E4 E5")); diff != "" {
				t.Errorf("issues of %s (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestSyntax(t *testing.T) {
	t.Parallel()
	report := check(t,
		"\n"+
			`<script type="application/ld+json">{"@context":["https://foreign.example","https://schema.org"],`+
			`"@type":["Product","Odd"],"odd":1,}</script><b itemprop=x>y</b>`)
	var got []string
	for _, i := range report.Issues {
		if i.Code == rules.Syntax || i.Code == rules.Unknown {
			got = append(got, fmt.Sprintf("%s %s %s %s %s:%d", i.Code, i.Severity, i.Name, i.Source, i.Path, i.Line))
		}
	}
	want := []string{
		"E1 error json_trailing_comma json-ld json-ld 1:2", "E1 warning context_foreign json-ld json-ld 1:2",
		"E1 warning itemprop_outside microdata body > b:2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("issues (-want +got):\n%s", diff)
	}
}

func TestFeatures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		features []string // "feature status missing"
		required []string // properties of E6
	}{
		{
			"bare product", `"@type":"Product","name":"x"`,
			[]string{
				"merchant_listing missing " +
					"image,offers,offers.price|offers.priceSpecification.price," +
					"offers.priceCurrency|offers.priceSpecification.priceCurrency", "product_snippet missing " +
					"offers|review|aggregateRating",
			},
			[]string{"Product.offers|review|aggregateRating"},
		},
		{
			"snippet",
			`"@type":"Product","name":"x","aggregateRating":{"@type":"AggregateRating","ratingValue":4,` +
				`"reviewCount":2}`,
			[]string{
				"merchant_listing missing image,offers,offers.price|offers.priceSpecification.price," +
					"offers.priceCurrency|offers.priceSpecification.priceCurrency",
				"product_snippet eligible",
				"aggregate_rating eligible",
			},
			nil,
		},
		{
			"listing",
			`"@type":"Product","name":"x","image":"/a.png","offers":{"@type":"Offer","price":"5",` +
				`"priceCurrency":"EUR"}`,
			[]string{"merchant_listing eligible", "product_snippet eligible"},
			nil,
		},
		{
			"nothing to pay",
			`"@type":"Product","name":"x","image":"/a.png","offers":{"@type":"Offer","price":"0",` +
				`"priceCurrency":"EUR"}`,
			[]string{"merchant_listing missing offers.price greater than 0", "product_snippet eligible"},
			nil,
		},
		{"article", `"@type":"NewsArticle","headline":"x"`, []string{"article eligible"}, nil},
		{
			"breadcrumb",
			`"@type":"BreadcrumbList","itemListElement":[{"@type":"ListItem","position":1,"name":"a","item":"/a"},` +
				`{"@type":"ListItem","position":2,"name":"b"}]`,
			[]string{"breadcrumb eligible"},
			nil,
		},
		{
			"breadcrumb of one",
			`"@type":"BreadcrumbList","itemListElement":[{"@type":"ListItem","position":1,"name":"a"}]`,
			[]string{"breadcrumb missing itemListElement, at least two"},
			[]string{"BreadcrumbList.itemListElement, at least two"},
		},
		{
			"breadcrumb without link",
			`"@type":"BreadcrumbList","itemListElement":[{"@type":"ListItem","position":1,"name":"a"},` +
				`{"@type":"ListItem","position":2,"name":"b"}]`,
			[]string{"breadcrumb missing itemListElement[0].item"},
			[]string{"BreadcrumbList.itemListElement[0].item"},
		},
		{
			"event",
			`"@type":"MusicEvent","name":"x","startDate":"2026-01-01","location":{"@type":"Place","address":"Main St"}`,
			[]string{"event eligible"},
			nil,
		},
		{
			"event without place", `"@type":"Event","name":"x","startDate":"2026-01-01"`,
			[]string{"event missing location,location.address|location.url"},
			[]string{
				"Event.location",
				"Event.location.address|location.url",
			},
		},
		{
			"business, no organization", `"@type":"Restaurant","name":"x","address":"y"`,
			[]string{"local_business eligible"},
			nil,
		},
		{"organization", `"@type":"Organization","name":"x"`, []string{"organization eligible"}, nil},
		{
			"review of a thing", `"@type":"Review","author":"x","reviewRating":{"@type":"Rating","ratingValue":5}`,
			[]string{"review_snippet missing itemReviewed"},
			[]string{"Review.itemReviewed"},
		},
		{
			"review in a thing",
			`"@type":"Book","name":"b","review":{"@type":"Review","author":"x","reviewRating":{"@type":"Rating",` +
				`"ratingValue":5}}`,
			[]string{"review_snippet eligible"},
			nil,
		},
		{
			"linked",
			`"@graph":[{"@id":"#p","@type":"Product","name":"x","image":"/a","offers":{"@id":"#o"}},{"@id":"#o",` +
				`"@type":"Offer","price":1,"priceCurrency":"EUR"}]`,
			[]string{"merchant_listing eligible", "product_snippet eligible"},
			nil,
		},
		{
			"a circle",
			`"@graph":[{"@id":"#p","@type":"Product","name":"x","offers":{"@id":"#o"}},{"@id":"#o","@type":"Offer",` +
				`"itemOffered":{"@id":"#p"}}]`,
			[]string{
				"merchant_listing missing image,offers.price|offers.priceSpecification.price," +
					"offers.priceCurrency|offers.priceSpecification.priceCurrency",
				"product_snippet eligible",
			},
			nil,
		},
		{
			"publisher stands for nothing",
			`"@type":"Article","headline":"x","publisher":{"@type":"Organization","name":"y"}`,
			[]string{"article eligible"},
			nil,
		},
		{
			"main entity stands", `"@type":"ProfilePage","mainEntity":{"@type":"Person","name":"y"}`,
			[]string{"profile_page eligible"},
			nil,
		},
		{
			"video in a page", `"@type":"WebPage","video":{"@type":"VideoObject","name":"y"}`,
			[]string{"video missing thumbnailUrl|thumbnail,uploadDate"},
			[]string{
				"VideoObject.thumbnailUrl|thumbnail",
				"VideoObject.uploadDate",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			report := check(t, block(tt.in))
			var got, required []string
			for _, f := range report.Features {
				got = append(got, strings.TrimRight(f.Feature+" "+f.Status+" "+strings.Join(f.Missing, ","), " "))
			}
			for _, i := range report.Issues {
				if i.Code == rules.Required {
					required = append(required, i.Property)
				}
			}
			if diff := cmp.Diff(tt.features, got); diff != "" {
				t.Errorf("features of %s (-want +got):\n%s", tt.in, diff)
			}
			if diff := cmp.Diff(tt.required, required); diff != "" {
				t.Errorf("E6 of %s (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// TestBrokenBlock shows that a block which strict readers give up on brings no
// result, though it was understood.
func TestBrokenBlock(t *testing.T) {
	t.Parallel()
	report := check(t, block(`"@type":"NewsArticle","headline":"x",`))
	if len(report.Features) != 1 || report.Features[0].Status != rules.Missing ||
		report.Features[0].Missing[0] != "valid JSON" {
		t.Errorf("features = %+v", report.Features)
	}
	if got := short(report.Issues, "E6"); got != nil {
		t.Errorf("E6 = %v, want E1 alone to say it", got)
	}
}

func TestRecommended(t *testing.T) {
	t.Parallel()
	got := short(check(t, block(`"@type":"BlogPosting","headline":"x","author":"y","image":"/i.png"`)).Issues, "W1")
	want := []string{
		"W1 recommended_missing BlogPosting.datePublished",
		"W1 recommended_missing BlogPosting.dateModified",
		"W1 recommended_missing BlogPosting.author.url|author.sameAs",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("W1 (-want +got):\n%s", diff)
	}
}

func TestRetired(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{`"@type":"HowTo","name":"x"`, "2023-09-13"},
		{`"@type":"FAQPage","mainEntity":[]`, "2026-05-07"},
		{`"@type":["VideoObject","LearningResource"],"name":"x"`, "2025-06-12"},
		{`"@type":"Car","name":"x","offers":{"@type":"Offer","price":1}`, "2025-06-12"},
		{`"@type":"Car","name":"x"`, ""},
		{`"@type":"VideoObject","name":"x"`, ""},
		{`"@type":"Book","name":"x"`, ""},
	}
	for _, tt := range tests {
		got := ""
		for _, i := range check(t, block(tt.in)).Issues {
			if i.Code == rules.Retired {
				got = i.Message
			}
		}
		if (got != "") != (tt.want != "") || !strings.Contains(got, tt.want) {
			t.Errorf("W3 of %s = %q, want it to say %q", tt.in, got, tt.want)
		}
	}
}

func TestNotOnPage(t *testing.T) {
	t.Parallel()
	const page = `<body><h1>Desk Lamp "Ara"</h1><p>It costs €1.249,` +
		`00 (or 1 249.00 in other words) and has 4.5 of 5 stars. Published on 3 March 2026, ` +
		`and some more words follow so that the page has enough of them to be read.</p><p hidden>$77</p>`
	tests := []struct {
		name, in string
		want     []string
	}{
		{
			"all shown",
			`"@type":"Product","name":"Desk lamp Ara","offers":{"@type":"Offer","price":"1249.00"},` +
				`"aggregateRating":{"@type":"AggregateRating","ratingValue":4.5}`,
			nil,
		},
		{
			"other price", `"@type":"Product","name":"Desk Lamp Ara","offers":{"@type":"Offer","price":"1199"}`,
			[]string{"W2 not_on_page Offer.price 1199"},
		},
		{
			"hidden price", `"@type":"Product","name":"Desk Lamp Ara","offers":{"@type":"Offer","price":"77"}`,
			[]string{"W2 not_on_page Offer.price 77"},
		},
		{"no price asked", `"@type":"Product","name":"Desk Lamp Ara","offers":{"@type":"Offer","price":"0"}`, nil},
		{
			"other rating",
			`"@type":"Product","name":"Desk Lamp Ara","aggregateRating":{"@type":"AggregateRating",` +
				`"ratingValue":"4.9"}`,
			[]string{"W2 not_on_page AggregateRating.ratingValue 4.9"},
		},
		{
			"other name", `"@type":"Product","name":"Kitchen Table Oak"`,
			[]string{"W2 not_on_page Product.name Kitchen Table Oak"},
		},
		{"date", `"@type":"Article","headline":"Desk Lamp","datePublished":"2026-03-03T23:30:00Z"`, nil},
		{
			"other date", `"@type":"Article","headline":"Desk Lamp","datePublished":"2025-01-01"`,
			[]string{"W2 not_on_page Article.datePublished 2025-01-01"},
		},
		{
			"one date of two",
			`"@type":"Article","headline":"Desk Lamp","datePublished":"2025-01-01","dateModified":"2026-03-03"`, nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, short(check(t, page+block(tt.in)).Issues, "W2")); diff != "" {
				t.Errorf("W2 of %s (-want +got):\n%s", tt.in, diff)
			}
		})
	}
	if got := short(check(t,
		`<body><div id=root></div>`+block(`"@type":"Product","name":"x","offers":{"@type":"Offer","price":5}`)).Issues,
		"W2"); got != nil {
		t.Errorf("W2 of a page that shows nothing = %v", got)
	}
}

// TestExamplesAreValid runs the vocabulary checks over the JSON-LD of all
// examples of schema.org, which keep to the vocabulary: what is found is in
// the table, each found to be a fault of the example.
func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	data, err := os.ReadFile(filepath.Join(shared, "specs/schemaorg/schemaorg-all-examples.txt"))
	if err != nil {
		t.Fatal(err)
	}
	c := checker(t)
	found, read := map[string]int{}, 0
	for _, m := range regexp.MustCompile(`(?s)<script type="application/ld\+json">.*?</script>`).FindAllString(
		string(data), -1) {
		d, err := dom.Parse([]byte(m), "https://example.com/page", "text/html; charset=utf-8")
		if err != nil {
			t.Fatal(err)
		}
		read++
		for _, line := range short(c.Check(d, markup.Extract(d)).Issues, "E2 E3 E4 E5") {
			found[line]++
		}
	}
	want := map[string]int{
		"E2 type_missing":                                                   16, // things without @type
		"E2 unknown_type  Best for the Money":                               2,  // an award as a type
		"E4 unknown_value Book.bookFormat AudioBook":                        1,  // AudiobookFormat
		"E4 wrong_format url 123.45.678.90:2342":                            1,  // a game server
		"E4 unknown_value FinancialIncentive.incentiveType Loan":            1,  // the members begin with IncentiveType
		"E4 unknown_value FinancialIncentive.incentiveType TaxCredit":       1,
		"E4 unknown_value FinancialIncentive.incentiveType RebateOrSubsidy": 2,
		"E4 unknown_value FinancialIncentive.incentiveStatus Active":        4,
		"E4 unknown_value FinancialIncentive.purchaseType NewPurchase":      4,
	}
	if diff := cmp.Diff(want, found); diff != "" || read != 460 {
		t.Errorf("issues of %d blocks (-want +got):\n%s", read, diff)
	}
}
