package ucp

// SearchResponse is the result of search_catalog.
type SearchResponse struct {
	UCP        Meta        `json:"ucp"`
	Products   []Product   `json:"products"`
	Pagination *Pagination `json:"pagination,omitempty"`
	Messages   []Message   `json:"messages,omitempty"`
}

// LookupResponse is the result of lookup_catalog. Its variants have Inputs; identifiers without a
// match are messages of type info with the code not_found.
type LookupResponse struct {
	UCP      Meta      `json:"ucp"`
	Products []Product `json:"products"`
	Messages []Message `json:"messages,omitempty"`
}

// ProductResponse is the result of get_product.
type ProductResponse struct {
	UCP      Meta      `json:"ucp"`
	Product  Product   `json:"product"`
	Messages []Message `json:"messages,omitempty"`
}

// Pagination describes the next page; Cursor is set if there is one.
type Pagination struct {
	Cursor      string `json:"cursor,omitempty"`
	HasNextPage bool   `json:"has_next_page"`
	TotalCount  *int   `json:"total_count,omitempty"`
}

// Product is a product with its variants, at least one.
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
	// Selected contains, in get_product, the options that the variants belong to.
	Selected []SelectedOption `json:"selected,omitempty"`
}

// Variant is an item for sale: its ID is line_items[].item.id.
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
	// Inputs contains, in lookup_catalog, the identifiers that matched the variant.
	Inputs []Input `json:"inputs,omitempty"`
}

// Description is text in one or more formats; at least one is required.
type Description struct {
	Plain    string `json:"plain,omitempty"`
	HTML     string `json:"html,omitempty"`
	Markdown string `json:"markdown,omitempty"`
}

// Price is an amount in minor units with its currency in upper case.
type Price struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// PriceRange is the range of the prices of all variants.
type PriceRange struct {
	Min Price `json:"min"`
	Max Price `json:"max"`
}

// Availability is the current availability of a variant. Known statuses are in_stock, backorder,
// preorder, out_of_stock and discontinued.
type Availability struct {
	Available bool   `json:"available"`
	Status    string `json:"status,omitempty"`
}

// Category is a category of a taxonomy; "" is the store's own.
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

// Option is an option of a product. Available and Exists are set in get_product only.
type Option struct {
	Name   string        `json:"name"`
	Values []OptionValue `json:"values"`
}

// OptionValue is one value of an option.
type OptionValue struct {
	ID        string `json:"id,omitempty"`
	Label     string `json:"label"`
	Available *bool  `json:"available,omitempty"`
	Exists    *bool  `json:"exists,omitempty"`
}

// SelectedOption is a selected value of an option.
type SelectedOption struct {
	Name  string `json:"name"`
	ID    string `json:"id,omitempty"`
	Label string `json:"label"`
}

// Seller is the seller of a variant.
type Seller struct {
	Name  string `json:"name,omitempty"`
	Links []Link `json:"links,omitempty"`
}

// Input is an identifier of a lookup and how it matched: exact, or featured if it named the
// product.
type Input struct {
	ID    string `json:"id"`
	Match string `json:"match,omitempty"`
}
