// Package answer holds what the faces of the store share when they answer:
// choosing a form by the Accept header, JSON as it goes over the wire, and
// validators.
//
//	Accept ──Preferred──> media type ──> body ──Cached──> 200 with ETag, or 304
package answer

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

// JSON encodes for the wire: compact, with addresses left readable.
func JSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding an answer: %w", err)
	}
	return buf.Bytes(), nil
}

// Cached answers body with the ETag of basis, or 304 if the client has it
// already. maxAge is in seconds.
func Cached(w http.ResponseWriter, r *http.Request, mediaType string, maxAge int, body []byte, basis []byte) {
	etag := ETag(basis)
	h := w.Header()
	h.Set("ETag", etag)
	h.Set("Cache-Control", "public, max-age="+strconv.Itoa(maxAge))
	if Matches(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// ETag is a strong validator of basis.
func ETag(basis []byte) string {
	sum := sha256.Sum256(basis)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// Matches compares weakly, as If-None-Match asks for (RFC 9110, 13.1.2).
func Matches(ifNoneMatch, etag string) bool {
	for candidate := range strings.SplitSeq(ifNoneMatch, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == etag || candidate == "*" {
			return true
		}
	}
	return false
}
