package ucphttp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/cursor"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/offer"
)

// maxProducts bounds a page of products.
const maxProducts = 50

// search returns products whose offers match. A page counts products; an
// offer is a variant of its product.
func (f *Handler) search(ctx context.Context, call *operationCall) (any, error) {
	req, err := call.body.Search(call.reading())
	if err != nil {
		return nil, err
	}
	snapshot, err := f.Catalog.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	offers, err := matching(snapshot, offer.Query{Words: req.Query}, req.Filters, req.Context)
	if err != nil {
		return nil, err
	}
	groups := byProduct(offers)
	key := searchKey(req)
	after, err := cursor.Decode(key, req.Cursor)
	if err != nil {
		return nil, err
	}
	answer := &ucp.SearchResponse{
		UCP: ucp.CatalogMeta(call.exchange.version, ucp.CapabilityCatalogSearch), Products: []ucp.Product{},
		Pagination: &ucp.Pagination{TotalCount: new(int)}, Messages: catalogNotes(call, snapshot),
	}
	*answer.Pagination.TotalCount = len(groups)
	if len(groups) == 0 {
		answer.Messages = nil // the specification asks for an empty list and nothing else
	}
	limit := int(min(req.Limit, maxProducts))
	for _, group := range groups {
		switch {
		case group[0].ProductID <= after:
		case len(answer.Products) < limit:
			answer.Products = append(answer.Products, f.productOf(snapshot, group))
		case !answer.Pagination.HasNextPage:
			answer.Pagination.HasNextPage = true
			answer.Pagination.Cursor = cursor.Encode(key, answer.Products[limit-1].ID)
		}
	}
	return answer, nil
}

// searchKey identifies a search, the same for all of its pages.
func searchKey(req *ucp.SearchRequest) string {
	var least, most int64 = -1, -1
	if req.Filters.MinPrice != nil {
		least = *req.Filters.MinPrice
	}
	if req.Filters.MaxPrice != nil {
		most = *req.Filters.MaxPrice
	}
	return fmt.Sprintf("ucp products %q %q %q %d %d", req.Query, req.Filters.Categories, req.Context.Currency, least,
		most)
}

// matching returns every offer that fits, over all pages of the catalog.
// Categories that the store does not have match nothing.
func matching(snapshot *offer.Snapshot, q offer.Query, f ucp.Filters, c ucp.Context) ([]*offer.Offer, error) {
	q.Limit = offer.MaxLimit
	if f.MinPrice != nil || f.MaxPrice != nil {
		// Minor units mean nothing without the currency they are of.
		q.MinMinor, q.MaxMinor, q.Currency = f.MinPrice, f.MaxPrice, c.Currency
	}
	var offers []*offer.Offer
	for {
		page, err := snapshot.Select(q)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Offers {
			fits := func(category string) bool { return strings.EqualFold(category, string(o.Category)) }
			if len(f.Categories) == 0 || slices.ContainsFunc(f.Categories, fits) {
				offers = append(offers, o)
			}
		}
		if page.Next == "" {
			return offers, nil
		}
		q.Cursor = page.Next
	}
}

// byProduct groups offers, in the order of the ids of their products.
func byProduct(offers []*offer.Offer) [][]*offer.Offer {
	sorted := slices.Clone(offers)
	slices.SortStableFunc(sorted, func(a, b *offer.Offer) int { return strings.Compare(a.ProductID, b.ProductID) })
	var groups [][]*offer.Offer
	for _, o := range sorted {
		if n := len(groups); n > 0 && groups[n-1][0].ProductID == o.ProductID {
			groups[n-1] = append(groups[n-1], o)
			continue
		}
		groups = append(groups, []*offer.Offer{o})
	}
	return groups
}

// lookup returns what identifiers name: an offer, or a product, for which
// the first of its offers that can be bought comes first.
func (f *Handler) lookup(ctx context.Context, call *operationCall) (any, error) {
	req, err := call.body.Lookup()
	if err != nil {
		return nil, err
	}
	snapshot, err := f.Catalog.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	candidates, err := matching(snapshot, offer.Query{}, req.Filters, req.Context)
	if err != nil {
		return nil, err
	}
	inputs := map[string][]ucp.Input{} // by offer
	var found []*offer.Offer
	answer := &ucp.LookupResponse{
		UCP:      ucp.CatalogMeta(call.exchange.version, ucp.CapabilityCatalogLookup),
		Products: []ucp.Product{},
	}
	for _, id := range req.IDs {
		o, match := named(snapshot, candidates, id)
		if o == nil {
			answer.Messages = append(answer.Messages, ucp.Info(ucp.NotFound, "Nothing for sale has the id "+id+"."))
			continue
		}
		if inputs[o.ID] == nil {
			found = append(found, o)
		}
		inputs[o.ID] = append(inputs[o.ID], ucp.Input{ID: id, Match: match})
	}
	for _, group := range byProduct(found) {
		product := f.productOf(snapshot, group)
		for i := range product.Variants {
			product.Variants[i].Inputs = inputs[product.Variants[i].ID]
		}
		answer.Products = append(answer.Products, product)
	}
	answer.Messages = append(answer.Messages, catalogNotes(call, snapshot)...)
	return answer, nil
}

// named returns the offer that an identifier leads to, and how.
func named(snapshot *offer.Snapshot, offers []*offer.Offer, id string) (o *offer.Offer, match string) {
	for _, candidate := range offers {
		switch {
		case candidate.ID == id || candidate.PriceRef == id:
			return candidate, "exact"
		case candidate.ProductID == id &&
			(o == nil || !snapshot.Availability(o).Available() && snapshot.Availability(candidate).Available()):
			o, match = candidate, "featured"
		}
	}
	return o, match
}

// product returns one product with all its variants.
func (f *Handler) product(ctx context.Context, call *operationCall) (any, error) {
	req, err := call.body.Product()
	if err != nil {
		return nil, err
	}
	snapshot, err := f.Catalog.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	all, err := matching(snapshot, offer.Query{}, req.Filters, req.Context)
	if err != nil {
		return nil, err
	}
	first, _ := named(snapshot, all, req.ID)
	if first == nil {
		return nil, problem.New(problem.NotFound, "product_not_found",
			"Nothing for sale has this id. Search the catalog for the ids that can be bought.")
	}
	group := slices.DeleteFunc(all, func(o *offer.Offer) bool { return o.ProductID != first.ProductID })
	return &ucp.ProductResponse{
		UCP: ucp.CatalogMeta(call.exchange.version, ucp.CapabilityCatalogLookup), Product: f.productOf(snapshot, group),
		Messages: catalogNotes(call, snapshot),
	}, nil
}

func catalogNotes(call *operationCall, snapshot *offer.Snapshot) []ucp.Message {
	notes := slices.Clone(call.exchange.notes)
	if snapshot.Stale {
		notes = append(notes, ucp.Warning(codePricesStale, "$.products",
			"The payment processor cannot be reached: the prices are those of "+rfc3339(snapshot.VerifiedAt)+
				", and no checkout is opened meanwhile."))
	}
	return notes
}

// productOf is a product with the given offers of it, at least one.
func (f *Handler) productOf(snapshot *offer.Snapshot, offers []*offer.Offer) ucp.Product {
	first := offers[0]
	p := ucp.Product{
		ID: first.ProductID, Title: first.ProductName, Description: description(first), URL: first.URL,
		Categories: []ucp.Category{{Value: string(first.Category)}}, PriceRange: priceRange(offers),
		Media: media(first),
	}
	for _, o := range offers {
		p.Variants = append(p.Variants, f.variant(snapshot, o))
	}
	return p
}

// priceRange spans the prices in the currency of the first offer.
func priceRange(offers []*offer.Offer) ucp.PriceRange {
	price := ucp.Price{Amount: offers[0].Price.Minor, Currency: offers[0].Price.Currency}
	span := ucp.PriceRange{Min: price, Max: price}
	for _, o := range offers {
		if o.Price.Currency == price.Currency {
			span.Min.Amount, span.Max.Amount = min(span.Min.Amount, o.Price.Minor), max(span.Max.Amount, o.Price.Minor)
		}
	}
	return span
}

func description(o *offer.Offer) ucp.Description {
	if o.Description == "" {
		return ucp.Description{Plain: o.Name}
	}
	return ucp.Description{Plain: o.Description}
}

func media(o *offer.Offer) []ucp.Media {
	var media []ucp.Media
	for _, address := range o.ImageURLs {
		media = append(media, ucp.Media{Type: "image", URL: address, AltText: o.ProductName})
	}
	return media
}

// variant is an offer.
func (f *Handler) variant(snapshot *offer.Snapshot, o *offer.Offer) ucp.Variant {
	state := snapshot.Availability(o)
	status := state.Status
	if status == offer.LowStock { // for which the protocol has no word
		status = offer.InStock
	}
	return ucp.Variant{
		ID: o.ID, SKU: o.ID, Title: o.Name, Description: description(o), URL: o.URL,
		Price:        ucp.Price{Amount: o.Price.Minor, Currency: o.Price.Currency},
		Availability: &ucp.Availability{Available: state.Available(), Status: string(status)},
		Metadata:     metadata(snapshot, o, state), Seller: &ucp.Seller{Name: f.Site.Name, Links: f.links()},
	}
}

// metadata says what the protocol has no members for, by the names of the
// store's own catalog.
func metadata(snapshot *offer.Snapshot, o *offer.Offer, state offer.Availability) map[string]any {
	billing := map[string]any{"type": "one_time", "summary": o.BillingSummary()}
	if o.Billing.Recurring() {
		billing["type"] = "recurring"
		billing["interval"], billing["interval_count"] = o.Billing.Interval, o.Billing.Count
	}
	delivery := map[string]any{"type": o.Delivery.Type, "summary": o.Delivery.Summary}
	if o.Delivery.Type == offer.Shipping {
		delivery["ships_to"], delivery["address_collected_on"] = o.Delivery.ShipsTo, "hosted_checkout"
	}
	if o.Delivery.MaxDays > 0 {
		delivery["min_days"], delivery["max_days"] = o.Delivery.MinDays, o.Delivery.MaxDays
	}
	m := map[string]any{
		"billing": billing, "delivery": delivery, "max_per_order": state.MaxPerOrder,
		"price_verification": map[string]any{
			"verified": !snapshot.Stale, "price_ref": o.PriceRef, "livemode": o.Live,
			"verified_at": rfc3339(snapshot.VerifiedAt), "valid_until": rfc3339(snapshot.VerifiedAt.Add(offer.MaxAge)),
		},
	}
	if o.TrialDays > 0 {
		m["trial"] = map[string]any{
			"days": o.TrialDays, "due_today": 0, "payment_method_required": true,
			"summary": o.TrialSummary(),
		}
	}
	if state.Quantity != nil {
		m["quantity"] = *state.Quantity
	}
	return m
}

func rfc3339(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }
