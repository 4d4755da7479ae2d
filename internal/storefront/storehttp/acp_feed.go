package storehttp

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ace/internal/protocol/acp"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// acpMaxAge is how long clients may keep the discovery document, in seconds.
const acpMaxAge = 3600

// acpDiscovery answers /.well-known/acp.json.
func (s *server) acpDiscovery(w http.ResponseWriter, r *http.Request) {
	config := acp.DiscoveryConfig{
		APIBaseURL: s.Site.BaseURL + acpBase, DocumentationURL: s.Site.BaseURL + "/auth.md", Locales: []string{"en-US"},
	}
	maxAge := acpMaxAge
	snapshot, err := s.Catalog.Snapshot(r.Context())
	if err == nil {
		config.Currencies = currencies(snapshot)
	} else {
		// The currencies are not known yet. The rest holds, and is asked for
		// again soon.
		maxAge = 60
	}
	body, err := encode(acp.NewDiscovery(config))
	if err == nil {
		err = s.documents.Serve(w, r, "acp", body, maxAge)
	}
	if err != nil {
		s.writeACPError(w, r, err)
	}
}

// currencies are those of the offers, in lower case, each once, in order.
func currencies(snapshot *offer.Snapshot) []string {
	list := []string{}
	for i := range snapshot.Offers {
		list = append(list, strings.ToLower(snapshot.Offers[i].Price.Currency))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// acpFeedProducts answers the product feed: one product per line, its offers
// as variants.
func (s *server) acpFeedProducts(w http.ResponseWriter, r *http.Request) {
	_, lines, err := s.acpFeed(r)
	if err != nil {
		s.writeACPError(w, r, err)
		return
	}
	w.Header().Set("Access-Control-Allow-Origin", "*")
	writeCached(w, r, "application/jsonl; charset=utf-8", catalogMaxAge, lines, lines)
}

// acpFeedMetadata answers what the feed is. Its ETag stands for the products:
// who has them as they are need not read them because of a newer time.
func (s *server) acpFeedMetadata(w http.ResponseWriter, r *http.Request) {
	snapshot, lines, err := s.acpFeed(r)
	if err != nil {
		s.writeACPError(w, r, err)
		return
	}
	body, err := encode(acp.FeedMetadata{ID: feedID(s.Site.BaseURL), UpdatedAt: snapshot.VerifiedAt.UTC().Truncate(time.Second)})
	if err != nil {
		s.writeACPError(w, r, err)
		return
	}
	w.Header().Set("Access-Control-Allow-Origin", "*")
	writeCached(w, r, typeJSON, catalogMaxAge, body, append([]byte("metadata\n"), lines...))
}

// feedID is stable for a store: feed_store.example.
func feedID(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "feed"
	}
	return "feed_" + strings.ToLower(u.Host)
}

func (s *server) acpFeed(r *http.Request) (*offer.Snapshot, []byte, error) {
	snapshot, err := s.Catalog.Snapshot(r.Context())
	if err != nil {
		return nil, nil, err
	}
	var lines bytes.Buffer
	if err := acp.WriteProducts(&lines, slices.Values(s.feedProducts(snapshot))); err != nil {
		return nil, nil, err
	}
	return snapshot, lines.Bytes(), nil
}

// feedProducts groups the offers by product, in the order in which the
// products are first met.
func (s *server) feedProducts(snapshot *offer.Snapshot) []acp.FeedProduct {
	var products []acp.FeedProduct
	at := map[string]int{}
	for i := range snapshot.Offers {
		o := &snapshot.Offers[i]
		n, known := at[o.ProductID]
		if !known {
			n = len(products)
			at[o.ProductID] = n
			products = append(products, acp.FeedProduct{
				ID: o.ProductID, Title: o.ProductName, Description: feedText(o.Description), URL: o.URL, Media: feedMedia(o),
			})
		}
		products[n].Variants = append(products[n].Variants, s.feedVariant(snapshot, o))
	}
	return products
}

func (s *server) feedVariant(snapshot *offer.Snapshot, o *offer.Offer) acp.FeedVariant {
	state := snapshot.Availability(o)
	v := acp.FeedVariant{
		ID: o.ID, Title: o.Name, Description: feedText(feedTerms(o)), URL: o.URL,
		Price:        &acp.FeedPrice{Amount: o.Price.Minor, Currency: o.Price.Currency},
		Availability: &acp.FeedAvailability{Available: state.Available(), Status: feedStatus(state.Status)},
		Media:        feedMedia(o), Seller: &acp.FeedSeller{Name: s.Site.Name, Links: s.feedLinks()},
	}
	if o.Category != "" {
		v.Categories = []acp.FeedCategory{{Value: string(o.Category), Taxonomy: "merchant"}}
	}
	if o.Delivery.Type == offer.Shipping {
		v.Condition = []string{"new"}
	}
	if o.Billing.Recurring() {
		v.VariantOptions = []acp.FeedOption{{Name: "Billing", Value: o.Billing.Every()}}
	}
	return v
}

// feedTerms put into words what the feed has no members for: billing, trial
// and delivery.
func feedTerms(o *offer.Offer) string {
	terms := []string{o.BillingSummary()}
	if o.Billing.Recurring() {
		terms = []string{strings.TrimSuffix(sessionhttp.RecurringTerms(o), ".")}
	}
	if o.Delivery.Summary != "" {
		terms = append(terms, o.Delivery.Summary)
	}
	if o.Description != "" {
		terms = append([]string{strings.TrimSuffix(o.Description, ".")}, terms...)
	}
	return strings.Join(terms, ". ") + "."
}

// feedStatus is the status in the words that the feed knows.
func feedStatus(status offer.Status) string {
	if status == offer.LowStock {
		return "limited_stock"
	}
	return string(status)
}

func feedText(text string) *acp.FeedDescription {
	if text == "" {
		return nil
	}
	return &acp.FeedDescription{Plain: text}
}

func feedMedia(o *offer.Offer) []acp.FeedMedia {
	var media []acp.FeedMedia
	for _, address := range o.ImageURLs {
		media = append(media, acp.FeedMedia{Type: "image", URL: address, AltText: o.Name})
	}
	return media
}

func (s *server) feedLinks() []acp.FeedLink {
	var links []acp.FeedLink
	for _, l := range []acp.FeedLink{
		{Type: "terms_of_service", URL: s.Site.Terms},
		{Type: "privacy_policy", URL: s.Site.Privacy},
		{Type: "refund_policy", URL: s.Site.Refunds},
	} {
		if l.URL != "" {
			links = append(links, l)
		}
	}
	return links
}
