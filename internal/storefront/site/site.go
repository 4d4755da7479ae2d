// Package site is the public pages of the store: what there is, finding it by
// the words of its path, and reading it as Markdown or text.
//
//	Source: offers ─┐
//	Source: folder ─┼─List─> snapshot: entries by path, index of path words,
//	  or website   ─┤        version ── swapped whole when something changed
//	Source: default ┘             |
//	      ^                       ├─ Search  pages by words of their path
//	      └──────Read─────────────┼─ Read    a window of one page
//	                              └─ Page    one page for people
//
// Of two sources with the same path the earlier one wins. Only what a source
// lists is read: a made-up path costs nothing and reaches no other server.
package site

import (
	"cmp"
	"context"
	"time"

	"ace/internal/storefront/offer"
)

// Entry is one page of a listing.
type Entry struct {
	Path        string // decoded, begins with "/", no slash at the end
	Title       string // empty: not known without reading the page
	Description string
	Modified    time.Time // zero: not known, and then nothing is claimed
	Private     bool      // exists, but is neither listed nor read
	Absent      bool      // there is no such page, whatever later sources say
	Nav, Foot   int       // place in the menus; 0: not in them
	Label       string    // name in the menus; empty: Title
}

// Menu is the name of the page in the menus.
func (e Entry) Menu() string { return cmp.Or(e.Label, e.Title) }

// Page is one page. It is shared by all that read it and never changes.
type Page struct {
	Entry
	Lang      string
	Canonical string   // absolute; empty: the store's own address of the page
	Markdown  string   // begins with a heading; links are absolute
	HTML      string   // the same rendered; safe to show as it is
	Offer     *Listed  // the offer that the page is about; nil: none
	Offers    []Listed // offers that the page lists
	Lists     bool     // it lists offers, even if there are none right now
	list      string   // which ones
}

// Listed is an offer with its state at the moment of reading.
type Listed struct {
	Path         string // of the page about it
	Offer        *offer.Offer
	Availability offer.Availability
	Stale        bool // the processor cannot be reached right now
	VerifiedAt   time.Time
}

// Source is where pages come from.
type Source interface {
	// List returns all pages. An error keeps the listing of before.
	List(ctx context.Context) ([]Entry, error)
	// Read returns a page that List named. It returns page_not_found (NotFound)
	// for any other, and site_unreachable (Unavailable) if another server holds
	// the page and does not respond. A page that is read again while it is the
	// same is the same pointer, so that what follows from it is made once.
	Read(ctx context.Context, path string) (*Page, error)
}
