// Package answer holds what the transports of the store share when they respond:
// choosing a form by the Accept header, JSON as it goes over the wire, and
// validators.
//
//	Accept ──Preferred──> media type ──> body ──Cached──> 200 with ETag, or 304
package answer

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"ace/internal/foundation/plainjson"
)

// JSON encodes for the wire: compact, with addresses left readable.
func JSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := plainjson.NewEncoder(&buf)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding an answer: %w", err)
	}
	return buf.Bytes(), nil
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

// Time is t as the store writes times: RFC 3339 in UTC, with seconds.
func Time(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }
