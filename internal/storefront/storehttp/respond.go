package storehttp

import (
	"net/http"

	"ace/internal/storefront/storehttp/answer"
)

// Short names of what all files here use.
func encode(v any) ([]byte, error) { return answer.JSON(v) }

func preferred(accept string, offered ...string) (mediaType string, ok bool) {
	return answer.Preferred(accept, offered...)
}

func writeCached(w http.ResponseWriter, r *http.Request, mediaType string, maxAge int, body, basis []byte) {
	answer.Cached(w, r, mediaType, maxAge, body, basis)
}

// staticJSON serves a document that does not change while the process runs.
func staticJSON(document []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		writeCached(w, r, "application/json", 300, document, document)
	}
}
