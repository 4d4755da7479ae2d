package ucp

import (
	"slices"

	"ace/internal/foundation/jsonread"
)

// Limits of catalog requests.
const (
	DefaultLimit = 10  // default number of products on a page
	MaxLookupIDs = 100 // identifiers in one lookup
)

// SearchRequest is a search for products.
type SearchRequest struct {
	Query   string
	Filters Filters
	Context Context
	Cursor  string
	Limit   int64 // DefaultLimit if none was sent; callers clamp it
}

// LookupRequest requests products and variants by unique identifiers.
type LookupRequest struct {
	IDs     []string
	Filters Filters
	Context Context
}

// ProductRequest requests one product with all details, by its identifier or a variant's.
type ProductRequest struct {
	ID       string
	Selected []SelectedOption
	Filters  Filters
	Context  Context
}

// Filters restricts products. The prices are in minor units of Context.Currency.
type Filters struct {
	Categories         []string
	MinPrice, MaxPrice *int64 // nil: no limit
}

func (f Filters) empty() bool {
	return len(f.Categories) == 0 && f.MinPrice == nil && f.MaxPrice == nil
}

// ReadSearch parses the body of search_catalog. A search without criteria is the problem
// missing_field, except in plain mode, where it lists everything and the body may be empty.
func ReadSearch(body *jsonread.Value, rd Reading) (*SearchRequest, error) {
	o, err := body.OptionalObject()
	if err != nil {
		return nil, err
	}
	return readSearch(o, rd)
}

// ReadLookup parses the body of lookup_catalog.
func ReadLookup(body *jsonread.Value) (*LookupRequest, error) {
	o, err := body.Object()
	if err != nil {
		return nil, err
	}
	return readLookup(o)
}

// ReadProduct parses the body of get_product.
func ReadProduct(body *jsonread.Value) (*ProductRequest, error) {
	o, err := body.Object()
	if err != nil {
		return nil, err
	}
	return readProduct(o)
}

func readSearch(o jsonread.Object, rd Reading) (*SearchRequest, error) {
	page := o.Object("pagination")
	r := &SearchRequest{
		Query: o.Text("query", maxText), Filters: readFilters(o.Object("filters")),
		Context: readContext(o.Object("context")),
		Cursor:  page.Text("cursor", maxText), Limit: DefaultLimit,
	}
	if limit, ok := page.Int("limit", 1, MaxQuantity); ok {
		r.Limit = limit
	}
	if !rd.Plain && r.Query == "" && r.Filters.empty() && o.Err() == nil {
		o.Fault("query", "missing_field", "Send query or filters.")
	}
	return done(o, r)
}

func readLookup(o jsonread.Object) (*LookupRequest, error) {
	r := &LookupRequest{Filters: readFilters(o.Object("filters")), Context: readContext(o.Object("context"))}
	o.Need("ids", "Send the identifiers to look up.")
	for _, id := range o.Texts("ids", MaxLookupIDs, maxID) {
		if !slices.Contains(r.IDs, id) {
			r.IDs = append(r.IDs, id)
		}
	}
	if len(r.IDs) == 0 && o.Err() == nil {
		o.Fault("ids", "missing_field", "Send at least one identifier.")
	}
	return done(o, r)
}

func readProduct(o jsonread.Object) (*ProductRequest, error) {
	o.Need("id", "Name the product.")
	r := &ProductRequest{
		ID: o.Text("id", maxID), Filters: readFilters(o.Object("filters")), Context: readContext(o.Object("context")),
	}
	for _, s := range o.Objects("selected", maxList) {
		s.Need("name", "Name the option.")
		s.Need("label", "Send the value of the option.")
		r.Selected = append(r.Selected,
			SelectedOption{Name: s.Text("name", maxID), ID: s.Text("id", maxID), Label: s.Text("label", maxID)})
	}
	return done(o, r)
}

func readFilters(o jsonread.Object) Filters {
	f := Filters{Categories: o.Texts("categories", maxList, maxID)}
	price := o.Object("price")
	if least, ok := price.Int("min", 0, MaxQuantity); ok {
		f.MinPrice = &least
	}
	if most, ok := price.Int("max", 0, MaxQuantity); ok {
		f.MaxPrice = &most
	}
	return f
}
