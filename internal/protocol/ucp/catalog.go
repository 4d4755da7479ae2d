package ucp

// SearchResponse is the answer of search_catalog.
type SearchResponse struct {
	UCP        Meta        `json:"ucp"`
	Products   []Product   `json:"products"`
	Pagination *Pagination `json:"pagination,omitempty"`
	Messages   []Message   `json:"messages,omitempty"`
}

// LookupResponse is the answer of lookup_catalog. Its variants carry Inputs;
// identifiers that nothing was found for are messages of type info with the
// code not_found.
type LookupResponse struct {
	UCP      Meta      `json:"ucp"`
	Products []Product `json:"products"`
	Messages []Message `json:"messages,omitempty"`
}

// ProductResponse is the answer of get_product.
type ProductResponse struct {
	UCP      Meta      `json:"ucp"`
	Product  Product   `json:"product"`
	Messages []Message `json:"messages,omitempty"`
}

// Pagination says where the next page begins; Cursor is present if there is one.
type Pagination struct {
	Cursor      string `json:"cursor,omitempty"`
	HasNextPage bool   `json:"has_next_page"`
	TotalCount  *int   `json:"total_count,omitempty"`
}

// Product is a thing for sale with its variants, at least one.
type Product struct {
	ID          string         `json:"id"`
	Handle      string         `json:"handle,omitempty"`
	Title       string         `json:"title"`
	Description Description    `json:"description"`
	URL         string         `json:"url,omitempty"`
	Categories  []Category     `json:"categories,omitempty"`
	PriceRange  PriceRange     `json:"price_range"`
	Media       []Media        `json:"media,omitempty"`
	Options     []Option       `json:"options,omitempty"`
	Variants    []Variant      `json:"variants"`
	Tags        []string       `json:"tags,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	// Selected echoes, in get_product, the options that the variants belong to.
	Selected []SelectedOption `json:"selected,omitempty"`
}

// Variant is what can be bought: its ID is line_items[].item.id.
type Variant struct {
	ID           string           `json:"id"`
	SKU          string           `json:"sku,omitempty"`
	Title        string           `json:"title"`
	Description  Description      `json:"description"`
	URL          string           `json:"url,omitempty"`
	Price        Price            `json:"price"`
	Availability *Availability    `json:"availability,omitempty"`
	Options      []SelectedOption `json:"options,omitempty"`
	Media        []Media          `json:"media,omitempty"`
	Tags         []string         `json:"tags,omitempty"`
	Metadata     map[string]any   `json:"metadata,omitempty"`
	Seller       *Seller          `json:"seller,omitempty"`
	// Inputs names, in lookup_catalog, the identifiers that led here.
	Inputs []Input `json:"inputs,omitempty"`
}

// Description is text in one or more forms; at least one is needed.
type Description struct {
	Plain    string `json:"plain,omitempty"`
	HTML     string `json:"html,omitempty"`
	Markdown string `json:"markdown,omitempty"`
}

// Price is an amount in minor units with its currency, upper case.
type Price struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// PriceRange spans the prices of all variants.
type PriceRange struct {
	Min Price `json:"min"`
	Max Price `json:"max"`
}

// Availability says whether a variant can be bought now. Known statuses are
// in_stock, backorder, preorder, out_of_stock and discontinued.
type Availability struct {
	Available bool   `json:"available"`
	Status    string `json:"status,omitempty"`
}

// Category is a place in a taxonomy; "" is the store's own.
type Category struct {
	Value    string `json:"value"`
	Taxonomy string `json:"taxonomy,omitempty"`
}

// Media is an image, video or 3D model.
type Media struct {
	Type    string `json:"type"`
	URL     string `json:"url"`
	AltText string `json:"alt_text,omitempty"`
	Width   int    `json:"width,omitempty"`
	Height  int    `json:"height,omitempty"`
}

// Option is a choice that a product offers. Available and Exists are set in
// get_product only.
type Option struct {
	Name   string        `json:"name"`
	Values []OptionValue `json:"values"`
}

// OptionValue is one value of a choice.
type OptionValue struct {
	ID        string `json:"id,omitempty"`
	Label     string `json:"label"`
	Available *bool  `json:"available,omitempty"`
	Exists    *bool  `json:"exists,omitempty"`
}

// SelectedOption is a value chosen.
type SelectedOption struct {
	Name  string `json:"name"`
	ID    string `json:"id,omitempty"`
	Label string `json:"label"`
}

// Seller tells who sells a variant.
type Seller struct {
	Name  string `json:"name,omitempty"`
	Links []Link `json:"links,omitempty"`
}

// Input names an identifier of a lookup and how it matched: exact, or featured
// where it named the product.
type Input struct {
	ID    string `json:"id"`
	Match string `json:"match,omitempty"`
}
