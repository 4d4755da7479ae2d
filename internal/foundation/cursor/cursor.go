// Package cursor makes opaque page cursors.
//
// A cursor holds the position after which the next page starts and a short
// hash of the query that it belongs to, so that a cursor of one list is
// refused by another instead of giving a wrong page.
package cursor

import (
	"crypto/sha256"
	"encoding/base64"

	"ace/internal/foundation/problem"
)

const tagLen = 6

// Strict: one cursor has one spelling.
var encoding = base64.RawURLEncoding.Strict()

// Encode returns a cursor for the page after position in the list that query
// describes. Position may be any string, for example the last id of a page.
func Encode(query, position string) string {
	return encoding.EncodeToString(append(tag(query), position...))
}

// Decode returns the position inside a cursor; an empty cursor is the first
// page and has the position "". It returns invalid_cursor (Invalid) for text
// that Encode did not make for the same query.
func Decode(query, cursor string) (position string, err error) {
	if cursor == "" {
		return "", nil
	}
	raw, err := encoding.DecodeString(cursor)
	if err != nil || len(raw) < tagLen || string(raw[:tagLen]) != string(tag(query)) {
		return "", problem.New(problem.Invalid, "invalid_cursor",
			"This cursor does not belong to this list. Leave cursor out to start at the first page.").At("cursor")
	}
	return string(raw[tagLen:]), nil
}

func tag(query string) []byte {
	sum := sha256.Sum256([]byte(query))
	return sum[:tagLen]
}
