// Package entity makes answers that callers need not read twice: a tag of what
// they say, and whether a caller has that already (RFC 9110, 8.8.3 and 13.1.2).
package entity

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// Tag is the entity tag of a response.
func Tag(body any) (string, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return "", fmt.Errorf("encoding an answer: %w", err)
	}
	sum := sha256.Sum256(text)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, nil
}

// Matches reports whether If-None-Match names a tag, weakly or not, or any.
func Matches(header, tag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		one = strings.TrimSpace(one)
		if one == "*" || strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}
	return false
}
