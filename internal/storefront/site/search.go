package site

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/cursor"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/textindex"
)

// Limits of a search.
const (
	DefaultResults = 10
	MaxResults     = 50
	MaxQuery       = 200 // bytes
)

// Query asks for pages by the words of their path.
type Query struct {
	Words  string
	Limit  int // 0: DefaultResults
	Cursor string
}

// Found is one page of results.
type Found struct {
	Results []Result
	Total   int    // pages found in all
	Next    string // cursor of the next page; empty: this is the last
}

// Result is a page that was found.
type Result struct {
	Path, URL, Title, Description string
	Modified                      time.Time // zero: not known
	Score                         float64   // from 0 to 1
}

// Search finds pages by the words of their path: those that hold every word
// first. It returns query_required, query_too_long, invalid_limit or
// invalid_cursor (Invalid).
func (s *Service) Search(_ context.Context, q Query) (*Found, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	after, err := q.after()
	if err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit == 0 {
		limit = DefaultResults
	}
	snapshot := s.now.Load()
	r := snapshot.index.Search(q.Words, limit, after)
	found := &Found{Results: make([]Result, 0, len(r.Hits)), Total: r.Total}
	for _, h := range r.Hits {
		e := &snapshot.Entries[h.Entry]
		found.Results = append(found.Results, Result{
			Path: e.Path, URL: s.Address(e.Path), Title: e.Title, Description: e.Description, Modified: e.Modified,
			Score: float64(int(h.Score*1000+0.5)) / 1000,
		})
	}
	if r.More {
		found.Next = cursor.Encode(q.key(), position(r.Hits[len(r.Hits)-1]))
	}
	return found, nil
}

func (q *Query) check() error {
	switch {
	case len(q.Words) > MaxQuery:
		return problem.New(problem.Invalid, "query_too_long",
			fmt.Sprintf("The query has more than %d bytes. A few words are enough.", MaxQuery)).At("q")
	case len(textindex.Words(q.Words)) == 0:
		return problem.New(problem.Invalid, "query_required",
			"Give words that the path of the page may hold, such as refunds.").At("q")
	case q.Limit < 0 || q.Limit > MaxResults:
		return problem.New(problem.Invalid, "invalid_limit",
			fmt.Sprintf("limit is a number from 1 to %d.", MaxResults)).At("limit")
	}
	return nil
}

func (q *Query) key() string { return "pages " + strings.Join(textindex.Words(q.Words), " ") }

// position is where a page of results ends. It holds the score, so that the
// next page begins there even if pages came and went meanwhile.
func position(h textindex.Hit) string {
	return fmt.Sprintf("%t %s %d", h.Whole, strconv.FormatFloat(float64(h.Score), 'g', -1, 32), h.Entry)
}

func (q *Query) after() (*textindex.Hit, error) {
	text, err := cursor.Decode(q.key(), q.Cursor)
	if err != nil || text == "" {
		return nil, err
	}
	var h textindex.Hit
	if _, err := fmt.Sscanf(text, "%t %g %d", &h.Whole, &h.Score, &h.Entry); err != nil {
		return nil, problem.New(problem.Invalid, "invalid_cursor",
			"This cursor was not made here. Leave cursor out to start at the first page.").At("cursor")
	}
	return &h, nil
}
