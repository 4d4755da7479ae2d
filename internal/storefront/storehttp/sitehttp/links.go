package sitehttp

import (
	"net/http"
	"strings"
)

// setLinks writes the Link header (RFC 8288) of a page: the companions of the
// site, and what the page has of its own.
func (f *Handler) setLinks(h http.Header, more ...string) {
	h.Set("Link", strings.Join(append(f.Companions.Header(), more...), ", "))
}

// link is one value of the Link header. The address must be escaped.
func link(address, rel, mediaType string) string {
	l := "<" + address + `>; rel="` + rel + `"`
	if mediaType != "" {
		l += `; type="` + mediaType + `"`
	}
	return l
}
