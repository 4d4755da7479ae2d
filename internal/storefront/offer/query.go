package offer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ace/internal/foundation/cursor"
	"ace/internal/foundation/problem"
)

// Page sizes of Select.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// Query narrows a snapshot. The zero value selects everything.
type Query struct {
	Words     string   // all of them must occur in name, description, category, id, or how it is sold (monthly plan)
	IDs       []string // any of these offer, product or price ids
	Category  Category
	Available bool   // only what can be bought now
	Currency  string // ISO 4217, any case
	MaxMinor  *int64 // price in minor units, at most; needs Currency
	MinMinor  *int64 // price in minor units, at least; needs Currency
	Limit     int    // 0: DefaultLimit
	Cursor    string
}

// Selection is one page of offers.
type Selection struct {
	Offers []*Offer
	Next   string // cursor of the next page; empty: this is the last
	Total  int    // offers that match, on all pages
}

// Select returns one page of the offers that match q, in the catalog's order.
// It returns invalid_limit, invalid_category or invalid_cursor (Invalid).
func (s *Snapshot) Select(q Query) (*Selection, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	after, err := cursor.Decode(q.key(), q.Cursor)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(q.Limit, DefaultLimit)
	page := &Selection{}
	words := strings.Fields(fold(q.Words))
	for i := range s.Offers {
		o := &s.Offers[i]
		if !q.matches(o, words) || q.Available && !s.Availability(o).Available() {
			continue
		}
		page.Total++
		switch {
		case o.ID <= after:
		case len(page.Offers) < limit:
			page.Offers = append(page.Offers, o)
		case page.Next == "":
			page.Next = cursor.Encode(q.key(), page.Offers[limit-1].ID)
		}
	}
	return page, nil
}

// Sort brings offers into the order of pages, which cursors rely on.
func Sort(offers []Offer) {
	slices.SortFunc(offers, func(a, b Offer) int { return strings.Compare(a.ID, b.ID) })
}

func (q *Query) check() error {
	if q.Limit < 0 || q.Limit > MaxLimit {
		return problem.New(problem.Invalid, "invalid_limit",
			fmt.Sprintf("limit is a number from 1 to %d.", MaxLimit)).At("limit")
	}
	switch q.Category {
	case "", Software, Service, Hardware:
		return nil
	}
	return problem.New(problem.Invalid, "invalid_category", "category is software, service or hardware.").At("category")
}

// key is the same for all pages of a list, and differs between lists.
func (q *Query) key() string {
	var low, high int64 = -1, -1
	if q.MinMinor != nil {
		low = *q.MinMinor
	}
	if q.MaxMinor != nil {
		high = *q.MaxMinor
	}
	return fmt.Sprintf("offers %q %q %s %v %s %d %d", fold(q.Words), q.IDs, q.Category, q.Available,
		strings.ToUpper(q.Currency), low, high)
}

func (q *Query) matches(o *Offer, words []string) bool {
	switch {
	case len(q.IDs) > 0 && !slices.ContainsFunc(q.IDs,
		func(id string) bool { return id == o.ID || id == o.ProductID || id == o.PriceRef }),
		q.Category != "" && q.Category != o.Category,
		q.Currency != "" && !strings.EqualFold(q.Currency, o.Price.Currency),
		q.MinMinor != nil && o.Price.Minor < *q.MinMinor,
		q.MaxMinor != nil && o.Price.Minor > *q.MaxMinor:
		return false
	}
	text := fold(strings.Join([]string{
		o.Name, o.ProductName, o.Description, string(o.Category), o.ID,
		string(o.Delivery.Type), o.sold(),
	}, " "))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// sold says how an offer is sold in the words that people search by.
func (o *Offer) sold() string {
	words := "one-time purchase"
	if o.Billing.Recurring() {
		words = "recurring subscription plan membership " + o.Billing.Every() + " " + map[Billing]string{
			{"day", 1}: "daily", {"week", 1}: "weekly", {"month", 1}: "monthly", {"month", 3}: "quarterly",
			{"year", 1}: "yearly annual annually",
		}[o.Billing]
	}
	if o.TrialDays > 0 {
		words += " free trial"
	}
	return words
}

func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(s))
}
