package agenttool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/textindex"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/site"
)

// missing is a failure about something that the caller named.
type missing struct {
	error
	asked string
}

// Unwrap makes the problem inside visible.
func (m *missing) Unwrap() error { return m.error }

// advice is what a problem means to who calls tools, and which tool helps.
type advice struct {
	detail string // in place of the problem's own; empty: that stays
	more   string // after it
	next   string // the tool to call next
}

// advices hold the problems whose own words speak of REST, or leave open what to
// call next.
var advices = map[string]advice{
	"checkout_in_flight": {
		detail: "The payment page of this checkout is still being opened. Call again in a second with the same " +
			"arguments.", next: GetCheckout,
	},
	"checkout_not_found": {
		detail: "No checkout has this id. Pass the id (chk_…) that create_checkout answered. If it is lost, call " +
			"create_checkout again: that charges nothing.", next: CreateCheckout,
	},
	"hold_limit": {
		more: "Call get_checkout for the ones that you have, or list_products with available: true for something else.",
		next: GetCheckout,
	},
	"idempotency_key_reused": {
		detail: "This idempotency_key was used with other arguments. Repeat that call unchanged, or use a new key " +
			"for a new purchase.", next: CreateCheckout,
	},
	"idempotency_in_progress": {
		detail: "The first call with this idempotency_key is still running. Call again in a second with the same " +
			"arguments.", next: CreateCheckout,
	},
	"invalid_cursor": {
		detail: "This cursor does not belong to these arguments. Take next_cursor from the last answer to the same " +
			"arguments, or leave cursor out to start again.",
	},
	"invalid_quantity": {more: "Call create_checkout again with such a quantity.", next: CreateCheckout},
	"invalid_offset":   {more: "The first part has offset 0.", next: ReadPage},
	"invalid_path":     {more: "search_pages finds paths.", next: SearchPages},
	"invalid_url":      {more: "search_pages finds the pages of this store.", next: SearchPages},
	"offer_not_found": {
		detail: "No offer has this id.",
		more:   "list_products answers the ids that can be bought.", next: ListProducts,
	},
	"other_host": {more: "search_pages finds the pages of this store.", next: SearchPages},
	"page_not_found": {
		detail: "There is no page at this path.",
		more:   "search_pages finds pages by the words of their path.", next: SearchPages,
	},
	"page_private": {more: "search_pages finds the pages that can be read.", next: SearchPages},
	"path_or_url":  {detail: "Give path or url, not both."},
	"path_outside_site": {
		detail: "The path climbs out of the site. Give the path of a page as search_pages answers it.",
		next:   SearchPages,
	},
	"path_required": {
		detail: "Name the page: give path, for example /refunds. search_pages finds paths.",
		next:   SearchPages,
	},
	"processor_refused": {more: "list_products with available: true lists other offers.", next: ListProducts},
	"query_required": {
		detail: "query holds no word. Give words that the path of the page may hold, such as refunds.",
	},
	"query_too_long": {detail: "query has more than 200 bytes. A few words are enough."},
	"sold_out": {
		more: "list_products with available: true lists what can be bought now.",
		next: ListProducts,
	},
}

// advised rewrites a problem in the terms of tools. What is no problem stays.
func (s *Set) advised(ctx context.Context, tool string, err error) error {
	p, ok := problem.From(err)
	if !ok {
		return err
	}
	told := *p
	about, known := advices[p.Code]
	if known && about.detail != "" {
		told.Detail = about.detail
	}
	if m, ok := errors.AsType[*missing](err); ok {
		if near := s.closest(ctx, p.Code, m.asked); near != "" {
			told.Detail += " Closest: " + near + "."
		}
	}
	if about.more != "" {
		told.Detail += " " + about.more
	}
	if about.next != "" && told.NextAction == "" {
		told.NextAction = "call " + about.next
	}
	told.Items = nil
	for _, item := range p.Items {
		told.Items = append(told.Items, problem.Item{
			Pointer: argument(tool, item.Pointer), Code: item.Code,
			Detail: strings.Replace(item.Detail, p.Detail, told.Detail, 1),
		})
	}
	return &told
}

// argument is the place of a fault in the arguments of a tool; REST names a
// parameter, and the words of a search differently.
func argument(tool, pointer string) string {
	if strings.HasPrefix(pointer, "/") {
		return pointer
	}
	if pointer == "q" && (tool == SearchPages || tool == ListProducts) {
		pointer = "query"
	}
	return "/" + pointer
}

// maxClose is how many suggestions a failure carries.
const maxClose = 3

// closest names what the caller may have meant.
func (s *Set) closest(ctx context.Context, code, asked string) string {
	switch code {
	case "offer_not_found":
		return s.closeOffers(ctx, asked)
	case "page_not_found":
		return s.closePages(ctx, asked)
	}
	return ""
}

// closeOffers names the offers of a product that was taken for an offer, or
// those whose id or name sounds like what was asked for.
func (s *Set) closeOffers(ctx context.Context, asked string) string {
	offers := s.offers(ctx)
	var found []string
	note := func(o *offer.Offer) { found = append(found, fmt.Sprintf("%s (%s)", o.ID, o.Name)) }
	for i := range offers {
		if offers[i].ProductID == asked && len(found) < maxClose {
			note(&offers[i])
		}
	}
	if found == nil {
		index := textindex.New(len(offers), func(i int, add textindex.Add) {
			add(offers[i].ID+" "+offers[i].Name+" "+offers[i].ProductName, 1)
		})
		for _, hit := range index.Search(asked, maxClose, nil).Hits {
			note(&offers[hit.Entry])
		}
	}
	return strings.Join(found, ", ")
}

func (s *Set) closePages(ctx context.Context, asked string) string {
	if at := strings.Index(asked, "://"); at >= 0 { // the host says nothing
		_, asked, _ = strings.Cut(asked[at+3:], "/")
	}
	results, err := s.deps.Site.Search(ctx, site.Query{Words: excerpt.Prefix(asked, site.MaxQuery), Limit: maxClose})
	if err != nil {
		return "" // there is no word in it
	}
	var found []string
	for _, r := range results.Results {
		found = append(found, r.Path)
	}
	return strings.Join(found, ", ")
}

// offers returns everything that is for sale; nothing while the catalog cannot be read,
// because the failure that led here is reported.
func (s *Set) offers(ctx context.Context) []offer.Offer {
	snapshot, err := s.deps.Catalog.Catalog.Snapshot(ctx)
	if err != nil {
		return nil
	}
	return snapshot.Offers
}
