package storehttp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ace/internal/foundation/cursor"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/offer"
)

// maxUCPProducts bounds a page of products.
const maxUCPProducts = 50

// ucpSearch answers products whose offers match. A page counts products; an
// offer is a variant of its product.
func (s *server) ucpSearch(ctx context.Context, call *ucpCall) (any, error) {
	req, err := call.body.Search(call.reading())
	if err != nil {
		return nil, err
	}
	snapshot, err := s.Catalog.Snapshot(ctx)
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
		Pagination: &ucp.Pagination{TotalCount: new(int)}, Messages: ucpCatalogNotes(call, snapshot),
	}
	*answer.Pagination.TotalCount = len(groups)
	limit := int(min(req.Limit, maxUCPProducts))
	for _, group := range groups {
		switch {
		case group[0].ProductID <= after:
		case len(answer.Products) < limit:
			answer.Products = append(answer.Products, s.ucpProductOf(snapshot, group))
		case !answer.Pagination.HasNextPage:
			answer.Pagination.HasNextPage = true
			answer.Pagination.Cursor = cursor.Encode(key, answer.Products[limit-1].ID)
		}
	}
	return answer, nil
}

// searchKey tells one search from another, whatever page is asked for.
func searchKey(req *ucp.SearchRequest) string {
	var least, most int64 = -1, -1
	if req.Filters.MinPrice != nil {
		least = *req.Filters.MinPrice
	}
	if req.Filters.MaxPrice != nil {
		most = *req.Filters.MaxPrice
	}
	return fmt.Sprintf("ucp products %q %q %q %d %d", req.Query, req.Filters.Categories, req.Context.Currency, least, most)
}

// matching answers every offer that fits, over all pages of the catalog.
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

// ucpLookup answers what identifiers name: an offer, or a product, for which
// the first of its offers that can be bought stands.
func (s *server) ucpLookup(ctx context.Context, call *ucpCall) (any, error) {
	req, err := call.body.Lookup()
	if err != nil {
		return nil, err
	}
	snapshot, err := s.Catalog.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	candidates, err := matching(snapshot, offer.Query{}, req.Filters, req.Context)
	if err != nil {
		return nil, err
	}
	inputs := map[string][]ucp.Input{} // by offer
	var found []*offer.Offer
	answer := &ucp.LookupResponse{UCP: ucp.CatalogMeta(call.exchange.version, ucp.CapabilityCatalogLookup), Products: []ucp.Product{}}
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
		product := s.ucpProductOf(snapshot, group)
		for i := range product.Variants {
			product.Variants[i].Inputs = inputs[product.Variants[i].ID]
		}
		answer.Products = append(answer.Products, product)
	}
	answer.Messages = append(answer.Messages, ucpCatalogNotes(call, snapshot)...)
	return answer, nil
}

// named answers the offer that an identifier leads to, and how.
func named(snapshot *offer.Snapshot, offers []*offer.Offer, id string) (o *offer.Offer, match string) {
	for _, candidate := range offers {
		switch {
		case candidate.ID == id || candidate.PriceRef == id:
			return candidate, "exact"
		case candidate.ProductID == id && (o == nil || !snapshot.Availability(o).Available() && snapshot.Availability(candidate).Available()):
			o, match = candidate, "featured"
		}
	}
	return o, match
}

// ucpProduct answers one product with all its variants.
func (s *server) ucpProduct(ctx context.Context, call *ucpCall) (any, error) {
	req, err := call.body.Product()
	if err != nil {
		return nil, err
	}
	snapshot, err := s.Catalog.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	all, err := matching(snapshot, offer.Query{}, req.Filters, req.Context)
	if err != nil {
		return nil, err
	}
	first, _ := named(snapshot, all, req.ID)
	if first == nil {
		return nil, problem.New(problem.NotFound, "product_not_found", "Nothing for sale has this id. Search the catalog for the ids that can be bought.")
	}
	group := slices.DeleteFunc(all, func(o *offer.Offer) bool { return o.ProductID != first.ProductID })
	return &ucp.ProductResponse{
		UCP: ucp.CatalogMeta(call.exchange.version, ucp.CapabilityCatalogLookup), Product: s.ucpProductOf(snapshot, group), Messages: ucpCatalogNotes(call, snapshot),
	}, nil
}

func ucpCatalogNotes(call *ucpCall, snapshot *offer.Snapshot) []ucp.Message {
	notes := slices.Clone(call.exchange.notes)
	if snapshot.Stale {
		notes = append(notes, ucp.Warning(ucpPricesStale, "$.products",
			"The payment processor cannot be reached: the prices are those of "+rfc3339(snapshot.VerifiedAt)+", and no checkout is opened meanwhile."))
	}
	return notes
}

// ucpProductOf is a product with the given offers of it, at least one.
func (s *server) ucpProductOf(snapshot *offer.Snapshot, offers []*offer.Offer) ucp.Product {
	first := offers[0]
	p := ucp.Product{
		ID: first.ProductID, Title: first.ProductName, Description: ucpDescription(first), URL: first.URL,
		Categories: []ucp.Category{{Value: string(first.Category)}}, PriceRange: ucpRange(offers), Media: ucpMedia(first),
	}
	for _, o := range offers {
		p.Variants = append(p.Variants, s.ucpVariant(snapshot, o))
	}
	return p
}

// ucpRange spans the prices in the currency of the first offer.
func ucpRange(offers []*offer.Offer) ucp.PriceRange {
	price := ucp.Price{Amount: offers[0].Price.Minor, Currency: offers[0].Price.Currency}
	span := ucp.PriceRange{Min: price, Max: price}
	for _, o := range offers {
		if o.Price.Currency == price.Currency {
			span.Min.Amount, span.Max.Amount = min(span.Min.Amount, o.Price.Minor), max(span.Max.Amount, o.Price.Minor)
		}
	}
	return span
}

func ucpDescription(o *offer.Offer) ucp.Description {
	if o.Description == "" {
		return ucp.Description{Plain: o.Name}
	}
	return ucp.Description{Plain: o.Description}
}

func ucpMedia(o *offer.Offer) []ucp.Media {
	var media []ucp.Media
	for _, address := range o.ImageURLs {
		media = append(media, ucp.Media{Type: "image", URL: address, AltText: o.ProductName})
	}
	return media
}

// ucpVariant is an offer. What the protocol has no members for stands in its
// metadata, in the shape of the catalog of our own.
func (s *server) ucpVariant(snapshot *offer.Snapshot, o *offer.Offer) ucp.Variant {
	own := s.wireOffer(snapshot, o)
	v := ucp.Variant{
		ID: o.ID, SKU: o.ID, Title: o.Name, Description: ucpDescription(o), URL: o.URL, Price: ucp.Price{Amount: o.Price.Minor, Currency: o.Price.Currency},
		Availability: &ucp.Availability{Available: own.Availability.Available, Status: ucpAvailability(own.Availability.Status)},
		Metadata: map[string]any{
			"billing": own.Billing, "delivery": own.Delivery, "price_verification": own.Verification, "max_per_order": own.Availability.MaxPerOrder,
		},
		Seller: &ucp.Seller{Name: s.Site.Name, Links: s.ucpLinks()},
	}
	if own.FreeTrial.Available {
		v.Metadata["trial"] = own.FreeTrial
	}
	if own.Availability.Quantity != nil {
		v.Metadata["quantity"] = *own.Availability.Quantity
	}
	return v
}

// ucpAvailability is a status in the words of the protocol.
func ucpAvailability(status string) string {
	if status == string(offer.LowStock) {
		return string(offer.InStock)
	}
	return status
}
