package acphttp

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ace/internal/protocol/acp"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/storehttp/answer"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// discoveryMaxAge is how long clients may keep the discovery document, in seconds.
const discoveryMaxAge = 3600

// discovery serves /.well-known/acp.json.
func (h *Handler) discovery(w http.ResponseWriter, r *http.Request) {
	snapshot, err := h.Catalog.Snapshot(r.Context())
	maxAge := discoveryMaxAge
	if err != nil {
		// The currencies are not known yet. The rest holds, and is read again
		// soon.
		snapshot, maxAge = nil, 60
	}
	body, err := h.discovered.Get(snapshot, func() ([]byte, error) {
		config := acp.DiscoveryConfig{
			APIBaseURL: h.Site.BaseURL + Base, DocumentationURL: h.Site.BaseURL + "/auth.md",
			Locales: []string{"en-US"},
		}
		if snapshot != nil {
			config.Currencies = currencies(snapshot)
		}
		return answer.JSON(acp.NewDiscovery(config))
	})
	if err == nil {
		err = h.Documents.Serve(w, r, "acp", body, maxAge)
	}
	if err != nil {
		h.WriteError(w, r, err)
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

// feedLines serves the product feed: one product per line, its offers as
// variants.
func (h *Handler) feedLines(w http.ResponseWriter, r *http.Request) {
	h.serveFeed(w, r, func(f *feed) *answer.Document { return f.products })
}

// feedMetadata serves what the feed is. Its ETag is one of the products: a
// client that has them as they are need not read them because of a newer time.
func (h *Handler) feedMetadata(w http.ResponseWriter, r *http.Request) {
	h.serveFeed(w, r, func(f *feed) *answer.Document { return f.metadata })
}

// feed is the product feed as it is served.
type feed struct{ products, metadata *answer.Document }

// serveFeed serves a file of the feed, which is written once for each snapshot
// of the offers.
func (h *Handler) serveFeed(w http.ResponseWriter, r *http.Request, file func(*feed) *answer.Document) {
	snapshot, err := h.Catalog.Snapshot(r.Context())
	if err != nil {
		h.WriteError(w, r, err)
		return
	}
	f, err := h.feeds.Get(snapshot, func() (*feed, error) { return h.newFeed(snapshot) })
	if err != nil {
		h.WriteError(w, r, err)
		return
	}
	file(f).Write(w, r)
}

func (h *Handler) newFeed(snapshot *offer.Snapshot) (*feed, error) {
	var lines bytes.Buffer
	if err := acp.WriteProducts(&lines, slices.Values(h.feedProducts(snapshot))); err != nil {
		return nil, err
	}
	metadata, err := answer.JSON(acp.FeedMetadata{
		ID:        feedID(h.Site.BaseURL),
		UpdatedAt: snapshot.VerifiedAt.UTC().Truncate(time.Second),
	})
	if err != nil {
		return nil, err
	}
	o := &answer.Options{
		MaxAge: feedMaxAge, Basis: lines.Bytes(), Header: http.Header{"Access-Control-Allow-Origin": {"*"}},
	}
	f := &feed{}
	if f.products, err = answer.NewDocument("application/jsonl; charset=utf-8", lines.Bytes(), o); err != nil {
		return nil, err
	}
	f.metadata, err = answer.NewDocument("application/json", metadata, o)
	return f, err
}

// feedID is stable for a store: feed_store.example.
func feedID(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "feed"
	}
	return "feed_" + strings.ToLower(u.Host)
}

// feedProducts groups the offers by product, in the order in which the
// products are first met.
func (h *Handler) feedProducts(snapshot *offer.Snapshot) []acp.FeedProduct {
	var products []acp.FeedProduct
	at := map[string]int{}
	for i := range snapshot.Offers {
		o := &snapshot.Offers[i]
		n, known := at[o.ProductID]
		if !known {
			n = len(products)
			at[o.ProductID] = n
			products = append(products, acp.FeedProduct{
				ID: o.ProductID, Title: o.ProductName, Description: feedText(o.Description), URL: o.URL,
				Media: feedMedia(o),
			})
		}
		products[n].Variants = append(products[n].Variants, h.feedVariant(snapshot, o))
	}
	return products
}

func (h *Handler) feedVariant(snapshot *offer.Snapshot, o *offer.Offer) acp.FeedVariant {
	state := snapshot.Availability(o)
	v := acp.FeedVariant{
		ID: o.ID, Title: o.Name, Description: feedText(feedTerms(o)), URL: o.URL,
		Price:        &acp.FeedPrice{Amount: o.Price.Minor, Currency: o.Price.Currency},
		Availability: &acp.FeedAvailability{Available: state.Available(), Status: feedStatus(state.Status)},
		Media:        feedMedia(o), Seller: &acp.FeedSeller{Name: h.Site.Name, Links: h.feedLinks()},
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

func (h *Handler) feedLinks() []acp.FeedLink {
	var links []acp.FeedLink
	for _, l := range []acp.FeedLink{
		{Type: "terms_of_service", URL: h.Site.Terms},
		{Type: "privacy_policy", URL: h.Site.Privacy},
		{Type: "refund_policy", URL: h.Site.Refunds},
	} {
		if l.URL != "" {
			links = append(links, l)
		}
	}
	return links
}
