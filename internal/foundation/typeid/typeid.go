// Package typeid makes public ids that say what they name: "chk_…" is a
// checkout session, "ord_…" an order.
package typeid

import (
	"crypto/rand"
	"strings"
)

const bodyLen = 26

// New returns prefix, "_" and 26 characters of lower-case base32: 130 random
// bits, so that an id can serve as an access capability.
func New(prefix string) string {
	return prefix + "_" + strings.ToLower(rand.Text())
}

// Valid reports whether id has the shape that New(prefix) makes. It is a cheap
// refusal of nonsense before a store is asked.
func Valid(prefix, id string) bool {
	body, ok := strings.CutPrefix(id, prefix+"_")
	if !ok || len(body) != bodyLen {
		return false
	}
	for _, c := range []byte(body) {
		if (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}
