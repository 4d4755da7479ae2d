package generate

import (
	"fmt"
	"regexp"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/datapack/written"
	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var (
	priceClass = regexp.MustCompile(`(?i)(^|[\s_-])(price|amount|product-price|preis|prix|precio)($|[\s_-])`)
	oldPrice   = regexp.MustCompile(
		`(?i)(^|[\s_-])(old|was|before|regular|list|msrp|rrp|uvp|strike\w*|compare\w*|crossed|original|shipping` +
			`|delivery|deposit|tax|save|saving|discount|installment|monthly)($|[\s_-])`,
	)
	otherMoney = regexp.MustCompile(
		`(?i)\b(shipping|delivery|postage|save|was|instead of|deposit|versand|statt|per month|a month|/ ` +
			`?mo|monthly|instal+ments?|orders? (over|above)|spend)\b`,
	)
	buyWords = regexp.MustCompile(
		`(?i)\b(add to (cart|basket|bag)|buy( it)? now|in den warenkorb|jetzt kaufen|ajouter au panier|añadir al ` +
			`carrito|aggiungi al carrello|in winkelwagen|order now|pre-?order now)\b`,
	)
)

// offer is what the page asks for its product.
type offer struct {
	price, currency, availability, condition Fact
	low                                      bool // price is the least of several
}

// offer finds the price of the page's product. It returns none where the page
// names several and does not say which one counts.
func (v *view) offer(g *Generator, b *notebook, path string) (offer, bool) {
	var o offer
	if o.price = v.existing(g, []string{"Offer"}, "price"); o.price.ok() && written.Number(o.price.Text) != "" {
		o.price.Text = written.Number(o.price.Text)
		if o.currency = v.existing(g, []string{"Offer"}, "priceCurrency"); !o.currency.ok() {
			o.currency = v.currencyOf(o.price.Text)
		}
	} else if o.price = v.meta("product:price:amount", "og:price:amount"); o.price.ok() &&
		written.Number(o.price.Text) != "" {
		o.price.Text = written.Number(o.price.Text)
		o.currency = v.meta("product:price:currency", "og:price:currency")
	} else if !v.price(&o, b, path) {
		return offer{}, false
	}
	if o.currency.Text = strings.ToUpper(o.currency.Text); !currencyCode.MatchString(o.currency.Text) {
		b.need(path+".offers.priceCurrency", "The page names a price without a currency.")
		return offer{}, false
	}
	o.availability = v.availability(g)
	o.condition = v.existing(g, []string{"Offer"}, "itemCondition")
	return o, true
}

// currencyOf is the currency that the page shows beside an amount.
func (v *view) currencyOf(value string) Fact {
	for _, p := range v.prices() {
		if written.Same(p.Value, value) && p.Currency != "" {
			return v.found("currency on the page", p.node, p.Currency, p.text)
		}
	}
	return Fact{}
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// priced is a price on the page with how sure it is that it counts.
type priced struct {
	node *html.Node
	text string
	written.Amount
	rank int
}

// price looks for a price in the main part: in an attribute, in an element that
// is called price, or beside what buys.
func (v *view) price(o *offer, b *notebook, path string) bool {
	candidates := v.prices()
	if len(candidates) == 0 {
		b.need(path+".offers.price", "No price was found on the page.")
		return false
	}
	best := candidates[0]
	for _, c := range candidates[1:] {
		if c.rank > best.rank {
			best = c
		}
	}
	for _, c := range candidates {
		if c.rank == best.rank && c.Value != best.Value {
			b.need(path+".offers.price",
				fmt.Sprintf(
					"The page names several prices, %s and %s among them, and does not say which one is the product's.",
					best.Value, c.Value))
			return false
		}
	}
	if best.Spread {
		b.need(path+".offers.price", "The page names a range of prices: "+excerpt.Chars(best.text, 80))
		return false
	}
	o.low = best.From
	o.price = v.found("price on the page", best.node, best.Value, best.text)
	o.currency = v.found("currency on the page", best.node, best.Currency, best.text)
	if best.Currency == "" {
		lang := v.lang()
		o.currency = Fact{Text: written.Settle(best.Sign, lang.Text), Source: lang.Source}
		if !o.currency.ok() {
			b.need(path+".offers.priceCurrency",
				fmt.Sprintf("The sign %s stands for several currencies and the page does not say which.", best.Sign))
			return false
		}
	}
	return true
}

// prices are the amounts of the main part that may be the price, looked for
// once.
func (v *view) prices() []priced {
	if v.priced == nil {
		v.priced = v.findPrices()
	}
	return v.priced
}

// maxPrices bounds the amounts of one page: past them it is a list.
const maxPrices = 200

func (v *view) findPrices() []priced {
	all := []priced{}
	for _, n := range dom.All(v.main, 20, func(n *html.Node) bool { return dom.Has(n, "data-price") && !aside(n) }) {
		text := dom.Attr(n, "data-price")
		for _, a := range written.Amounts(dom.Visible(n)) { // the attribute alone has no currency
			if value := written.Number(text); value != "" && written.Same(value, a.Value) {
				a.Value = value
				all = append(all, priced{n, text, a, 4})
			}
		}
	}
	for _, b := range v.blocks {
		if len(all) >= maxPrices {
			break
		}
		found := written.Amounts(b.text)
		if len(found) == 0 || dom.Within(b.node, func(n *html.Node) bool {
			return n.DataAtom == atom.Del || n.DataAtom == atom.S || n.DataAtom == atom.Strike ||
				oldPrice.MatchString(dom.Attr(n, "class"))
		}) {
			continue
		}
		found = v.withoutOld(b.node, found)
		rank := 1
		switch {
		case dom.Within(b.node, func(n *html.Node) bool { return n != v.main && class(n, priceClass) }) ||
			dom.First(b.node, func(n *html.Node) bool { return class(n, priceClass) }) != nil:
			rank = 3
		case otherMoney.MatchString(b.text):
			continue
		case len(b.text) < 60:
			rank = 2
		}
		for _, a := range found {
			all = append(all, priced{b.node, b.text, a, rank})
		}
	}
	return all
}

// withoutOld takes off the prices that are struck out inside a block.
func (v *view) withoutOld(block *html.Node, found []written.Amount) []written.Amount {
	old := map[string]bool{}
	for _, n := range dom.All(block, 10, func(n *html.Node) bool {
		return n.DataAtom == atom.Del || n.DataAtom == atom.S || n.DataAtom == atom.Strike ||
			oldPrice.MatchString(dom.Attr(n, "class"))
	}) {
		for _, a := range written.Amounts(dom.Visible(n)) {
			old[a.Value] = true
		}
	}
	var rest []written.Amount
	for _, a := range found {
		if !old[a.Value] {
			rest = append(rest, a)
		}
	}
	return rest
}

// availabilities are the words for the state of stock, in the order in which
// they are looked for: "not in stock" before "in stock".
var availabilities = []struct {
	words *regexp.Regexp
	value string
}{
	{
		regexp.MustCompile(
			`(?i)\b(out of stock|not in stock|currently unavailable|ausverkauft|nicht (auf ` +
				`lager|lieferbar)|rupture de stock|agotado|esaurito|uitverkocht)\b`,
		),
		"OutOfStock",
	},
	{regexp.MustCompile(`(?i)\bsold out\b`), "SoldOut"},
	{regexp.MustCompile(`(?i)\b(pre-?order|vorbestell\w*|précommande)\b`), "PreOrder"},
	{regexp.MustCompile(`(?i)\b(back-?order(ed)?|made to order)\b`), "BackOrder"},
	{regexp.MustCompile(`(?i)\b(only \d+ left|low stock|last (one|pieces?))\b`), "LimitedAvailability"},
	{
		regexp.MustCompile(
			`(?i)\b(in stock|auf lager|sofort lieferbar|en stock|disponibile|op voorraad|ships today)\b`,
		),
		"InStock",
	},
}

// availability is the state of stock where the page names one alone.
func (v *view) availability(g *Generator) Fact {
	if f := v.existing(g, []string{"Offer"}, "availability"); f.ok() {
		if name := lastPart(f.Text); g.vocabulary.Member(name) != nil {
			f.Text = "https://schema.org/" + name
			return f
		}
	}
	if f := v.meta("product:availability", "og:availability"); f.ok() {
		for _, a := range availabilities {
			if a.words.MatchString(f.Text) || strings.EqualFold(strings.ReplaceAll(f.Text, " ", ""), a.value) {
				f.Text = "https://schema.org/" + a.value
				return f
			}
		}
	}
	var state Fact
	for _, b := range v.blocks {
		if len(b.text) > 120 {
			continue
		}
		for _, a := range availabilities {
			if !a.words.MatchString(b.text) {
				continue
			}
			value := "https://schema.org/" + a.value
			if state.ok() && state.Text != value {
				return Fact{} // the page says one thing and another
			}
			if !state.ok() {
				state = v.found("words on the page", b.node, value, b.text)
			}
			break
		}
	}
	return state
}

func lastPart(s string) string {
	return s[strings.LastIndexAny(s, "/#:")+1:]
}

// labelled finds a value behind a label in a small block, a table row or a
// definition list: "SKU: A-12".
func (v *view) labelled(label *regexp.Regexp, value *regexp.Regexp) Fact {
	for i, b := range v.blocks {
		place := label.FindStringIndex(b.text)
		if place == nil || place[0] > 40 {
			continue
		}
		rest := strings.TrimLeft(b.text[place[1]:], " :\u00a0#")
		if rest == "" && i+1 < len(v.blocks) &&
			(b.node.DataAtom == atom.Dt || b.node.DataAtom == atom.Th || b.node.DataAtom == atom.Td) {
			b = v.blocks[i+1]
			rest = b.text
		}
		if m := value.FindString(rest); m != "" && strings.HasPrefix(rest, m) {
			return v.found("label on the page", b.node, m, v.blocks[i].text+" "+b.text)
		}
	}
	return Fact{}
}

var (
	skuLabel = regexp.MustCompile(
		`(?i)\b(sku|item (no\.?|number)|art(ikel|\.)?-?\s?nr\.?|product ` +
			`code|ld.Ref(erence)?\.?)\s*[:#]|(?i)^(sku|item number|product code)$`,
	)
	skuValue   = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9._/-]{1,39}`)
	gtinLabel  = regexp.MustCompile(`(?i)\b(gtin(-?(8|12|13|14))?|ean(-?13)?|upc|barcode|isbn(-?13)?)\b`)
	gtinValue  = regexp.MustCompile(`\d[\d -]{6,20}\d`)
	brandLabel = regexp.MustCompile(`(?i)^(brand|marke|hersteller|manufacturer|marque|marca|merk)\b\s*:?`)
	brandValue = regexp.MustCompile(`[\p{L}\p{N}][\p{L}\p{N} &'’.+-]{0,49}`)
	ratingText = regexp.MustCompile(
		`(?i)\b([0-5](?:[.,]\d{1,2})?)\s*(?:out of|von|sur|/)\s*5\b(?:\s*stars?)?[^0-9]{1,30}?(\d[\d.,` +
			`]*)\s*(?:customer |verified )?(reviews?|ratings?|bewertungen|avis)\b`,
	)
)

func (v *view) sku(g *Generator) Fact {
	if f := v.existing(g, []string{"Product", "Offer"}, "sku"); f.ok() {
		return f
	}
	return v.labelled(skuLabel, skuValue)
}

// gtin is a trade number with a right check digit.
func (v *view) gtin(g *Generator) Fact {
	for _, name := range []string{"gtin", "gtin13", "gtin12", "gtin14", "gtin8"} {
		if f := v.existing(g, []string{"Product", "Offer"}, name); f.ok() && written.CheckDigit(f.Text) {
			return f
		}
	}
	f := v.labelled(gtinLabel, gtinValue)
	f.Text = strings.NewReplacer(" ", "", "-", "").Replace(f.Text)
	if !written.CheckDigit(f.Text) {
		return Fact{}
	}
	return f
}

func (v *view) brand(g *Generator) Fact {
	if f := v.existing(g, []string{"Product"}, "brand"); f.ok() {
		return f
	}
	if f := v.meta("product:brand", "og:brand"); f.ok() {
		return f
	}
	f := v.labelled(brandLabel, brandValue)
	f.Text = strings.TrimSpace(f.Text)
	return f
}

// rating is a rating with its count, from the page's text.
func (v *view) rating() (value, count Fact) {
	var all []Fact
	for _, b := range v.blocks {
		m := ratingText.FindStringSubmatch(b.text)
		if m == nil {
			continue
		}
		value := v.found("rating on the page", b.node, strings.ReplaceAll(m[1], ",", "."), b.text)
		count := v.found("rating on the page", b.node, strings.NewReplacer(".", "", ",", "").Replace(m[2]), b.text)
		all = append(all, value, count)
	}
	if len(all) != 2 { // none, or those of several things
		return Fact{}, Fact{}
	}
	return all[0], all[1]
}

// buys reports whether the page has what puts something into a basket.
func (v *view) buys() *html.Node {
	return dom.First(v.main, func(n *html.Node) bool {
		switch n.DataAtom {
		case atom.Button, atom.A:
			return !aside(n) && buyWords.MatchString(dom.Visible(n)+" "+dom.Attr(n, "aria-label"))
		case atom.Input:
			return !aside(n) && buyWords.MatchString(dom.Attr(n, "value"))
		}
		return false
	})
}
