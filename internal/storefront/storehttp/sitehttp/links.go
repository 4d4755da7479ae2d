package sitehttp

import (
	"net/http"
	"strings"

	"ace/internal/protocol/acp"
	"ace/internal/protocol/ucp"
)

// document is a companion of the pages that programs read. Every place that
// names one - the Link header, site.json, the pages - takes it from documents.
type document struct {
	key       string // in site.json
	path      string
	rel       string // in the Link header; empty: not there
	mediaType string // of the answer to GET
}

// documents are the companions that this host serves.
func documents() []document {
	return []document{
		{"openapi", "/openapi.json", "service-desc", typeJSON},
		{"site", "/agent/site.json", "service-meta", typeJSON},
		{"products", "/agent/commerce/products", "", typeJSON},
		{"ucp", ucp.ProfilePath, "", typeJSON},
		{"acp", acp.DiscoveryPath, "", typeJSON},
		{"search", "/agent/search", "", typeJSON},
		{"read", "/agent/read", "", typeJSON},
		{"sitemap", "/sitemap.xml", "sitemap", typeXML},
		{"status", "/healthz", "status", typeJSON},
	}
}

// siteLinks are the addresses in site.json.
func (f *Face) siteLinks() map[string]string {
	links := map[string]string{}
	for _, d := range documents() {
		links[d.key] = f.Site.BaseURL + d.path
	}
	for _, page := range []string{"support", "docs", "contact"} {
		if _, ok := f.Pages.Snapshot().Entry("/" + page); ok {
			links[page] = f.Site.BaseURL + "/" + page
		}
	}
	return links
}

// setLinks writes the Link header (RFC 8288) of a page.
func (f *Face) setLinks(h http.Header, more ...string) {
	links := []string{}
	for _, d := range documents() {
		if d.rel != "" {
			links = append(links, link(d.path, d.rel, d.mediaType))
		}
	}
	h.Set("Link", strings.Join(append(links, more...), ", "))
}

// link is one value of the Link header. The address must be escaped.
func link(address, rel, mediaType string) string {
	l := "<" + address + `>; rel="` + rel + `"`
	if mediaType != "" {
		l += `; type="` + mediaType + `"`
	}
	return l
}

// companion finds a document by its key; ok is false where this host has none.
func companion(key string) (d document, ok bool) {
	for _, d := range documents() {
		if d.key == key {
			return d, true
		}
	}
	return document{}, false
}
