package operation

import (
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/cursor"
	"ace/internal/foundation/problem"
)

// Include is embedded in the request of a list.
type Include struct {
	Include string `query:"include" json:"include,omitempty" enum:"total" doc:"total: the result counts the entries of all pages."`
}

// Counted is embedded in the result of a list.
type Counted struct {
	Total *int `json:"total,omitempty" minimum:"0" doc:"Entries on all pages, where include asks for it."`
}

// Paged is embedded in the result of a list.
type Paged struct {
	Counted
	NextCursor *string `json:"next_cursor" nullable:"true" doc:"Send it as cursor to read the next page; null on the last page."`
}

// Total counts by count where the total is asked for.
func (i Include) Total(count func() (int, error)) (Counted, error) {
	if i.Include != "total" {
		return Counted{}, nil
	}
	n, err := count()
	if err != nil {
		return Counted{}, err
	}
	return Counted{&n}, nil
}

// Known is Total of a list that was read as a whole.
func (i Include) Known(n int) Counted {
	if i.Include != "total" {
		return Counted{}
	}
	return Counted{&n}
}

// timeCursor is the cursor of the page after an entry that was created at a
// time, in the list that query describes.
func timeCursor(query string, at time.Time, id string) string {
	return cursor.Encode(query, strconv.FormatInt(at.UnixMilli(), 10)+" "+id)
}

// readTimeCursor returns the entry of a timeCursor; zero for the first page. Its
// problem is invalid_cursor (Invalid).
func readTimeCursor(query, text string) (at time.Time, id string, err error) {
	position, err := cursor.Decode(query, text)
	if err != nil || position == "" {
		return time.Time{}, "", err
	}
	millis, id, _ := strings.Cut(position, " ")
	ms, err := strconv.ParseInt(millis, 10, 64)
	if err != nil {
		return time.Time{}, "", invalidCursor()
	}
	return time.UnixMilli(ms), id, nil
}

// numberCursor is the cursor of the page after a number, in the list that query
// describes.
func numberCursor(query string, number int64) string {
	return cursor.Encode(query, strconv.FormatInt(number, 10))
}

// readNumberCursor returns the number of a numberCursor; 0 for the first page.
// Its problem is invalid_cursor (Invalid).
func readNumberCursor(query, text string) (int64, error) {
	position, err := cursor.Decode(query, text)
	if err != nil || position == "" {
		return 0, err
	}
	number, err := strconv.ParseInt(position, 10, 64)
	if err != nil || number < 0 {
		return 0, invalidCursor()
	}
	return number, nil
}

func invalidCursor() error {
	return problem.New(problem.Invalid, "invalid_cursor",
		"This cursor does not belong to this list. Leave cursor out to start at the first page.").At("cursor").
		Advise("fix_arguments")
}

// filters is the text of the parameters of a list, for its cursors.
func filters(list string, pairs ...string) string {
	return list + "?" + strings.Join(pairs, "\x00")
}

// limited returns limit within 1 and most, or standard where it is not set.
func limited(limit, standard, most int) int {
	if limit <= 0 {
		return standard
	}
	return min(limit, most)
}

// Next returns the cursor of the next page; nil on the last one.
func (p Paged) Next() *string { return p.NextCursor }
