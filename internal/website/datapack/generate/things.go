package generate

import (
	"fmt"
	"regexp"
	"strings"

	"ace/internal/website/datapack/ld"
)

// mainThing describes what the page is about, if it says enough.
func (w *work) mainThing() {
	var n ld.Node
	var ok bool
	if w.kind != "FAQPage" && w.kind != "LocalBusiness" && !w.vocabulary.IsA(w.kind, "WebPage") && !w.named() {
		w.need(w.kind+".name", "The page shows no heading that names it.")
		return
	}
	switch w.kind {
	case "Product":
		n, ok = w.product()
	case "Article", "NewsArticle", "BlogPosting":
		n, ok = w.article()
	case "Event":
		n, ok = w.event()
	case "LocalBusiness":
		n, ok = w.business()
	case "SoftwareApplication":
		n, ok = w.software()
	case "FAQPage":
		if w.options.FAQ {
			w.faq()
		}
		return
	default:
		return
	}
	if !ok {
		w.forget(w.kind)
		return
	}
	w.nodes = append(w.nodes, n)
	if w.kind != "Article" && w.kind != "NewsArticle" && w.kind != "BlogPosting" {
		w.nodes[0].Set("mainEntity", ld.Ref(n.Text("@id")))
	}
}

// named reports whether readers see the name of the page: a title alone is not
// on it.
func (w *work) named() bool {
	return w.name.ok() &&
		(w.name.Source.From == "h1" || strings.Contains(strings.ToLower(w.v.text), strings.ToLower(w.name.Text)))
}

// newNode opens the node of the page's main thing with what all of them have.
func (w *work) newNode(kind, fragment string) ld.Node {
	n := ld.Of("@type", kind, "@id", w.id(fragment))
	n.Set("name", w.use(kind+".name", w.name))
	n.Set("url", w.v.url)
	n.Set("description", w.use(kind+".description", w.v.description(w.site)))
	if image := w.v.image(w.name.Text, w.site); image.ok() {
		n.Set("image", w.use(kind+".image", image))
	}
	return n
}

func (w *work) product() (ld.Node, bool) {
	n := w.newNode("Product", "product")
	if !n.Has("image") {
		w.need("Product.image",
			"The page has no og:image of its own, and no image of the main part shows the product by its width or "+
				"its alternative text.")
	}
	n.Set("sku", w.use("Product.sku", w.v.sku(w.Generator)))
	if gtin := w.v.gtin(w.Generator); gtin.ok() {
		n.Set(fmt.Sprintf("gtin%d", len(gtin.Text)), w.use(fmt.Sprintf("Product.gtin%d", len(gtin.Text)), gtin))
	}
	if brand := w.v.brand(w.Generator); brand.ok() {
		n.Set("brand", ld.Of("@type", "Brand", "name", w.use("Product.brand.name", brand)))
	}
	rated := w.rating(&n, "Product")
	o, priced := w.v.offer(w.Generator, w.notebook, "Product")
	if priced {
		n.Set("offers", w.offer(o))
	}
	return n, priced || rated
}

func (w *work) offer(o offer) ld.Node {
	kind, price := "Offer", "price"
	if o.low {
		kind, price = "AggregateOffer", "lowPrice"
	}
	n := ld.Of("@type", kind, "url", w.v.url)
	n.Set(price, w.use("Product.offers."+price, o.price))
	n.Set("priceCurrency", w.use("Product.offers.priceCurrency", o.currency))
	if o.availability.ok() {
		n.Set("availability", w.use("Product.offers.availability", o.availability))
	}
	if name := lastPart(o.condition.Text); w.vocabulary.Member(name) != nil {
		o.condition.Text = "https://schema.org/" + name
		n.Set("itemCondition", w.use("Product.offers.itemCondition", o.condition))
	}
	return n
}

// rating adds the rating that the page shows, with its count.
func (w *work) rating(n *ld.Node, path string) bool {
	value, count := w.v.rating()
	if !value.ok() {
		return false
	}
	n.Set("aggregateRating", ld.Of(
		"@type", "AggregateRating",
		"ratingValue", w.use(path+".aggregateRating.ratingValue", value),
		"reviewCount", ld.Number(w.use(path+".aggregateRating.reviewCount", count)),
		"bestRating", ld.Number("5"),
	))
	return true
}

func (w *work) article() (ld.Node, bool) {
	n := w.newNode(w.kind, "article")
	n.Drop("name")
	n.Drop("url")
	n = n.Insert(2, "headline", w.use(w.kind+".headline", w.name))
	delete(w.sources, w.kind+".name")
	for _, date := range []struct {
		name string
		fact Fact
	}{{"datePublished", w.v.published(w.Generator)}, {"dateModified", w.v.modified(w.Generator)}} {
		if validDay(date.fact.Text) {
			n.Set(date.name, w.use(w.kind+"."+date.name, date.fact))
		}
	}
	if !n.Has("datePublished") {
		w.need(w.kind+".datePublished", "The page shows no date of publication that differs clearly from other dates.")
	}
	w.byline(&n)
	if !n.Has("image") {
		w.need(w.kind+".image",
			fmt.Sprintf(
				"The page has no og:image of its own, and no image of the main part says that it is %d pixels wide "+
					"or more.", leastImage))
	}
	n.Set("inLanguage", w.use(w.kind+".inLanguage", w.v.lang()))
	n.Set("mainEntityOfPage", ld.Ref(w.id("webpage")))
	if id := w.site.Organization.Text("@id"); id != "" {
		n.Set("publisher", ld.Ref(id))
	}
	return n, true
}

func (w *work) byline(n *ld.Node) {
	name, address := w.v.author(w.Generator)
	if !name.ok() {
		w.need(w.kind+".author", "The page names no author in a byline, with rel=author or in a meta element.")
		return
	}
	if w.site.Name.ok() && strings.EqualFold(name.Text, w.site.Name.Text) && len(w.site.Organization) > 0 {
		n.Set("author", ld.Ref(w.site.Organization.Text("@id")))
		return
	}
	author := ld.Of("@type", "Person", "name", w.use(w.kind+".author.name", name))
	if address.ok() {
		author.Set("url", w.use(w.kind+".author.url", address))
	}
	n.Set("author", author)
}

func (w *work) event() (ld.Node, bool) {
	n := w.newNode("Event", "event")
	start, place := w.v.eventStart(w.Generator), w.v.venue(w.Generator)
	if !validDay(start.Text) {
		w.need("Event.startDate", "The page names no day in a time element or behind a word such as \"When\".")
	}
	if !place.ok() {
		w.need("Event.location", "The page names no place behind a word such as \"Where\" and none in its markup.")
	}
	if !validDay(start.Text) || !place.ok() {
		return nil, false
	}
	n.Set("startDate", w.use("Event.startDate", start))
	where := ld.Of("@type", "Place")
	name, rest, several := strings.Cut(place.Text, ",")
	if a, ok := addressOf(Fact{Text: strings.TrimSpace(rest), Source: place.Source}); several && ok {
		where.Set("name", w.use("Event.location.name", Fact{Text: strings.TrimSpace(name), Source: place.Source}))
		where.Set("address", a.node(w.notebook, "Event.location"))
	} else {
		a, _ := addressOf(place)
		where.Set("address", a.node(w.notebook, "Event.location"))
	}
	n.Set("location", where)
	return n, true
}

func (w *work) business() (ld.Node, bool) {
	n := w.newNode("LocalBusiness", "business")
	delete(w.sources, "LocalBusiness.name")
	n.Drop("name")
	n = n.Insert(2, "name", w.use("LocalBusiness.name", w.site.Name))
	part := w.v.main
	a, ok := w.v.address(part)
	if !w.site.Name.ok() {
		w.need("LocalBusiness.name", "The pages do not agree on the name of the business.")
	}
	if !ok {
		w.need("LocalBusiness.address", "The page shows no single postal address.")
	}
	if !ok || !w.site.Name.ok() {
		return nil, false
	}
	n.Set("address", a.node(w.notebook, "LocalBusiness"))
	n.Set("telephone", w.use("LocalBusiness.telephone", w.v.telephone(part)))
	n.Set("openingHoursSpecification", w.v.openingHours(w.notebook, "LocalBusiness"))
	return n, true
}

var freeWords = regexp.MustCompile(
	`(?i)\b(free (download|app|of charge)|download (it )?(for )?free|free and open source|kostenlos)\b`)

func (w *work) software() (ld.Node, bool) {
	n := w.newNode("SoftwareApplication", "software")
	if f := systems(w.v); f.ok() {
		n.Set("operatingSystem", w.use("SoftwareApplication.operatingSystem", f))
	}
	if links := storeLinks(w.v); len(links) > 0 {
		n.Set("installUrl",
			w.use("SoftwareApplication.installUrl",
				w.v.found("link to a store", links[0].node, links[0].url.String(), links[0].text)))
	}
	priced := false
	for _, b := range w.v.blocks {
		if words := freeWords.FindString(b.text); words != "" {
			n.Set("offers",
				ld.Of("@type", "Offer", "price",
					w.use("SoftwareApplication.offers.price", w.v.found("words on the page", b.node, "0", b.text))))
			priced = true
			break
		}
	}
	if !priced {
		if o, ok := w.v.offer(w.Generator, w.notebook, "SoftwareApplication"); ok && !o.low {
			offer := w.offer(o)
			for _, name := range []string{"price", "priceCurrency", "availability", "itemCondition"} {
				if s, ok := w.sources["Product.offers."+name]; ok {
					w.sources["SoftwareApplication.offers."+name] = s
				}
			}
			w.forget("Product")
			n.Set("offers", offer)
			priced = true
		}
	}
	if !w.rating(&n, "SoftwareApplication") {
		w.need("SoftwareApplication.aggregateRating",
			"The page shows no rating with its count; Google shows no software without one.")
		return nil, false
	}
	return n, priced
}

// faq makes the page a FAQPage: asked for, and marked as without a result.
func (w *work) faq() {
	var list []any
	for i, q := range w.v.questions() {
		path := fmt.Sprintf("FAQPage.mainEntity[%d]", i)
		list = append(list, ld.Of(
			"@type", "Question",
			"name", w.use(path+".name", q.name),
			"acceptedAnswer", ld.Of("@type", "Answer", "text", w.use(path+".acceptedAnswer.text", q.answer)),
		))
	}
	if len(list) == 0 {
		w.need("FAQPage.mainEntity", "No questions with answers were found.")
		return
	}
	w.nodes[0].Set("@type", "FAQPage")
	w.nodes[0].Set("mainEntity", list)
	w.note("The FAQPage brings no rich result: Google Search has shown none since 2026-05-07.")
}
