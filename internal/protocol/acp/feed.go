package acp

import (
	"io"
	"iter"
	"time"

	"ace/internal/foundation/plainjson"
)

// FeedMetadata is the file metadata.json of a product feed.
type FeedMetadata struct {
	ID            string    `json:"id"`
	TargetCountry string    `json:"target_country,omitempty"` // ISO 3166-1 alpha-2
	UpdatedAt     time.Time `json:"updated_at,omitzero"`
}

// FeedProduct is a line of the file products.jsonl.
type FeedProduct struct {
	ID          string           `json:"id"`
	Title       string           `json:"title,omitempty"`
	Description *FeedDescription `json:"description,omitempty"`
	URL         string           `json:"url,omitempty"`
	Media       []FeedMedia      `json:"media,omitempty"`
	Variants    []FeedVariant    `json:"variants"`
}

// FeedVariant is an item for sale: its ID is line_items[].item.id.
type FeedVariant struct {
	ID             string            `json:"id"`
	Title          string            `json:"title"`
	Description    *FeedDescription  `json:"description,omitempty"`
	URL            string            `json:"url,omitempty"`
	Price          *FeedPrice        `json:"price,omitempty"`
	ListPrice      *FeedPrice        `json:"list_price,omitempty"`
	Availability   *FeedAvailability `json:"availability,omitempty"`
	Categories     []FeedCategory    `json:"categories,omitempty"`
	Condition      []string          `json:"condition,omitempty"`
	VariantOptions []FeedOption      `json:"variant_options,omitempty"`
	Media          []FeedMedia       `json:"media,omitempty"`
	Seller         *FeedSeller       `json:"seller,omitempty"`
}

// FeedDescription is text in one or more formats; at least one is required.
type FeedDescription struct {
	Plain    string `json:"plain,omitempty"`
	HTML     string `json:"html,omitempty"`
	Markdown string `json:"markdown,omitempty"`
}

// FeedPrice is an amount in minor units with its currency, in upper case, unlike in sessions.
type FeedPrice struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// FeedAvailability describes whether a variant is available.
type FeedAvailability struct {
	Available bool   `json:"available"`
	Status    string `json:"status,omitempty"`
}

// FeedCategory is a category of a taxonomy.
type FeedCategory struct {
	Value    string `json:"value"`
	Taxonomy string `json:"taxonomy,omitempty"`
}

// FeedOption is an option that distinguishes the variant.
type FeedOption struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// FeedMedia is an image or a video.
type FeedMedia struct {
	Type    string `json:"type"`
	URL     string `json:"url"`
	AltText string `json:"alt_text,omitempty"`
}

// FeedSeller is the seller.
type FeedSeller struct {
	Name  string     `json:"name,omitempty"`
	Links []FeedLink `json:"links,omitempty"`
}

// FeedLink is a URL of the seller; the types are open and are those of UCP, for example
// refund_policy.
type FeedLink struct {
	Type  string `json:"type"`
	Title string `json:"title,omitempty"`
	URL   string `json:"url"`
}

// WriteProducts writes products as lines of JSON, products.jsonl.
func WriteProducts(w io.Writer, products iter.Seq[FeedProduct]) error {
	enc := plainjson.NewEncoder(w) // writes each value on one line
	for p := range products {
		p.Variants = orEmpty(p.Variants)
		if err := enc.Encode(p); err != nil {
			return err
		}
	}
	return nil
}
