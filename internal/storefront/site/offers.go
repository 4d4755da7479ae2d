package site

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"ace/internal/foundation/markdown"
	"ace/internal/storefront/offer"
)

// What a page may list.
const (
	listOffers   = "offers"
	listServices = "services"
)

const offersUnder = "/products/"

// Offers is a source with one page for each offer: /products/{id}. When a
// price changed is not known, so its pages claim no time.
type Offers struct {
	catalog *offer.Catalog
	base    string

	mu    sync.Mutex
	of    *offer.Snapshot  // that pages were rendered of
	pages map[string]*Page // by path
}

// NewOffers returns the pages of a catalog under the address base.
func NewOffers(catalog *offer.Catalog, base string) *Offers {
	return &Offers{catalog: catalog, base: base}
}

// List names the page of each offer.
func (o *Offers) List(ctx context.Context) ([]Entry, error) {
	snapshot, err := o.catalog.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	all := listedIn(snapshot, listOffers)
	entries := make([]Entry, len(all))
	for i := range all {
		entries[i] = all[i].entry()
	}
	return entries, nil
}

// Read returns the page of an offer that is for sale now, listed or not.
func (o *Offers) Read(ctx context.Context, path string) (*Page, error) {
	id, ok := strings.CutPrefix(path, offersUnder)
	if !ok || id == "" {
		return nil, notFound()
	}
	snapshot, err := o.catalog.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	found, err := snapshot.Find(id)
	if err != nil || found.ID != id {
		return nil, notFound()
	}
	o.mu.Lock()
	if o.of != snapshot {
		o.of, o.pages = snapshot, map[string]*Page{}
	}
	page := o.pages[path]
	o.mu.Unlock()
	if page != nil {
		return page, nil
	}
	l := listedOf(snapshot, found)
	page = &Page{Entry: l.entry(), Offer: &l, Markdown: l.markdown(o.base), Canonical: o.base + EscapePath(path)}
	if page.HTML, err = markdown.HTML(page.Markdown); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == snapshot {
		o.pages[path] = page
	}
	return page, nil
}

// listedIn returns the offers of a snapshot, or the services among them, in the
// catalog's order.
func listedIn(snapshot *offer.Snapshot, which string) []Listed {
	all := []Listed{}
	for i := range snapshot.Offers {
		if which != listServices || snapshot.Offers[i].Category == offer.Service {
			all = append(all, listedOf(snapshot, &snapshot.Offers[i]))
		}
	}
	return all
}

func listedOf(s *offer.Snapshot, o *offer.Offer) Listed {
	return Listed{
		Path: offersUnder + o.ID, Offer: o, Availability: s.Availability(o), Stale: s.Stale,
		VerifiedAt: s.VerifiedAt,
	}
}

func (l *Listed) entry() Entry {
	return Entry{
		Path: l.Path, Title: l.Offer.Name,
		Description: shorten(l.Offer.Name+": "+l.Offer.BillingSummary()+". "+l.Offer.Description, maxOpening),
	}
}

// Availability in words.
func availabilityWords(a offer.Availability) string {
	words := map[offer.Status]string{
		offer.InStock: "Available", offer.LowStock: "Only a few left", offer.Preorder: "Can be ordered ahead",
		offer.Backorder:  "Can be ordered, delivered later",
		offer.OutOfStock: "Sold out", offer.Discontinued: "No longer sold",
	}[a.Status]
	if a.Quantity != nil && *a.Quantity > 0 {
		words += fmt.Sprintf(" (%d left)", *a.Quantity)
	}
	return words
}

// AvailabilityWords says in a few words whether the offer can be bought.
func (l *Listed) AvailabilityWords() string { return availabilityWords(l.Availability) }

// Buyable reports whether a checkout can be opened for the offer right now.
func (l *Listed) Buyable() bool { return l.Availability.Available() && !l.Stale }

// TaxWords says whether tax is in the price; empty: not stated.
func (l *Listed) TaxWords() string {
	return map[offer.Tax]string{offer.TaxIncluded: "tax included", offer.TaxExcluded: "plus tax"}[l.Offer.Tax]
}

// PriceWords is the price with how often it is due and whether tax is in it.
func (l *Listed) PriceWords() string {
	if tax := l.TaxWords(); tax != "" {
		return l.Offer.BillingSummary() + ", " + tax
	}
	return l.Offer.BillingSummary()
}

// escape keeps the words of the processor from being read as markup.
func escape(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		switch {
		case r == '&':
			b.WriteString("&amp;")
			continue
		case strings.ContainsRune("\\`*_[]<>|#", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (l *Listed) markdown(base string) string {
	var b strings.Builder
	o := l.Offer
	fmt.Fprintf(&b, "# %s\n\n", escape(o.Name))
	if o.Description != "" {
		b.WriteString(escape(o.Description) + "\n\n")
	}
	l.facts(&b)
	b.WriteString("\n## How to buy\n\n")
	if !l.Availability.Available() {
		b.WriteString("This offer cannot be bought right now.\n")
		return b.String()
	}
	fmt.Fprintf(&b,
		"An agent opens a checkout for `%s` and hands the payment page to a person, who pays there. Nothing is "+
			"charged before that.\n\n", o.ID)
	fmt.Fprintf(&b,
		"- [All offers with prices and availability](%s/agent/commerce/products)\n- [How agents use this "+
			"store](%s/docs)\n", base, base)
	return b.String()
}

func (l *Listed) facts(b *strings.Builder) {
	o := l.Offer
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(b, "- **%s**: %s\n", name, escape(value))
		}
	}
	fact("Price", l.PriceWords())
	fact("Free trial", o.TrialSummary())
	fact("Delivery", o.Delivery.Summary)
	fact("Availability", l.AvailabilityWords())
	fact("Category", string(o.Category))
	fmt.Fprintf(b, "- **Offer id**: `%s`\n", strings.ReplaceAll(o.ID, "`", ""))
	if l.Stale {
		b.WriteString(
			"\nThe payment processor cannot be reached right now: the price may have changed, and no checkout is " +
				"opened.\n")
	}
	if !o.Live {
		b.WriteString("\nThis is a test offer: no real money moves.\n")
	}
}

// offersText is the list that a page ends with.
func offersText(all []Listed, base *url.URL) string {
	var b strings.Builder
	for i := range all {
		l := &all[i]
		fmt.Fprintf(&b, "- [%s](%s): %s; %s\n", escape(l.Offer.Name), base.JoinPath(EscapePath(l.Path)),
			escape(l.PriceWords()), escape(l.AvailabilityWords()))
	}
	return b.String()
}
