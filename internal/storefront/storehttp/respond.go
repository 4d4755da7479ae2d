package storehttp

import (
	"net/http"
	"time"

	"ace/internal/storefront/storehttp/answer"
)

const typeJSON = "application/json"

// catalogMaxAge is how long clients may keep what tells of the offers, in
// seconds.
const catalogMaxAge = 30

// Short names of what all files here use.
func encode(v any) ([]byte, error) { return answer.JSON(v) }

func writeCached(w http.ResponseWriter, r *http.Request, mediaType string, maxAge int, body, basis []byte) {
	answer.Cached(w, r, mediaType, maxAge, body, basis)
}

func rfc3339(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }
