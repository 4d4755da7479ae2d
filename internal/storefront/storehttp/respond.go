package storehttp

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// encode writes JSON for the wire: compact, with addresses left readable.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding an answer: %w", err)
	}
	return buf.Bytes(), nil
}

// writeCached answers body with an ETag of its own, or 304 if the client has
// it already. maxAge is in seconds.
func writeCached(w http.ResponseWriter, r *http.Request, mediaType string, maxAge int, body []byte, basis []byte) {
	etag := etagOf(basis)
	h := w.Header()
	h.Set("ETag", etag)
	h.Set("Cache-Control", "public, max-age="+strconv.Itoa(maxAge))
	if matches(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

func etagOf(basis []byte) string {
	sum := sha256.Sum256(basis)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// matches compares weakly, as If-None-Match asks for (RFC 9110, 13.1.2).
func matches(ifNoneMatch, etag string) bool {
	for candidate := range strings.SplitSeq(ifNoneMatch, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == etag || candidate == "*" {
			return true
		}
	}
	return false
}

// staticJSON serves a document that does not change while the process runs.
func staticJSON(document []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		writeCached(w, r, "application/json", 300, document, document)
	}
}
