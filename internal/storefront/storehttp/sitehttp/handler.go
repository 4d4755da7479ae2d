// Package sitehttp is the HTTP transport of the store's pages: HTML for people,
// Markdown and JSON for programs, and the list of all pages.
//
//	a path that no route has ──Unrouted──> page? ── Accept ──> HTML (html.go)
//	                                         |                  Markdown (pages.go)
//	                                         └ no: a 404 in the shape asked for
//	/agent/search, /agent/read, /agent/site.json  (calls.go)
//	/sitemap.xml and its parts                    (sitemap.go)
//
// Which companions of the pages there are is in one list, in package
// discovery.
package sitehttp

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/answer"
	"ace/internal/storefront/storehttp/discovery"
)

// Site is what the pages say about the store.
type Site struct {
	BaseURL                 string // without a slash at the end
	Name, Version           string
	Operator, Address       string // who runs the store, and where; both may be empty
	Contact                 string // e-mail address; may be empty
	Terms, Privacy, Refunds string // addresses of the policies
	Sandbox                 bool   // nothing here moves real money
	ContentSignal           string // what may be done with the pages; empty: nothing is said
}

// Linker writes an offer in the words of schema.org: an Offer whose
// itemOffered is the product or service.
type Linker func(ctx context.Context, o *offer.Offer) (map[string]any, error)

// Handler serves the pages.
type Handler struct {
	Site   Site
	Pages  *site.Service
	Linker Linker
	// Companions are the documents and interfaces beside the pages.
	Companions *discovery.Registry

	secure    httpserver.Middleware // headers of pages
	policy    string                // the one of pages with the script
	buyPolicy string                // the one of pages with the Buy button
	templates *siteTemplates
	icon      func() (*answer.Document, error)
	card      func() (*answer.Document, error)
	documents *answer.Cache[form, pageBasis]
	sitemap   answer.Memo[*site.Snapshot, *answer.Document]
}

// New returns a handler. It fails only if its own templates are broken.
func New(s Site, pages *site.Service, companions *discovery.Registry, linker Linker) (*Handler, error) {
	templates, err := loadSiteTemplates()
	if err != nil {
		return nil, err
	}
	f := &Handler{
		Site:       s,
		Pages:      pages,
		Companions: companions,
		Linker:     linker,
		templates:  templates,
		icon: sync.OnceValues(
			iconDocument,
		),
		card:      sync.OnceValues(cardDocument),
		documents: answer.NewCache[form, pageBasis](maxStored),
	}
	// Pictures of offers are on other hosts; forms only on the pages of offers, and
	// scripts only where the page says so.
	const anyPage = "default-src 'none'; style-src 'self'; img-src 'self' https: data:; base-uri 'none'; " +
		"frame-ancestors 'none'"
	const policy = anyPage + "; form-action 'none'"
	f.policy = policy + "; script-src 'self'; connect-src 'self'"
	f.buyPolicy = anyPage + "; form-action 'self'"
	f.secure = httpserver.SecurePages(httpserver.PagePolicy{
		ContentSecurityPolicy: policy,
		HTTPSOnly:             strings.HasPrefix(s.BaseURL, "https://"),
	})
	return f, nil
}

// Mount adds the calls about pages to api, and their documents by handle.
func (f *Handler) Mount(api *openapi.API, handle func(string, http.HandlerFunc, ...httpserver.Middleware)) {
	f.describe(api) // and mounts search and read
	info := f.Companions.OfPages("site", func(context.Context) ([]byte, error) { return answer.JSON(f.Info()) })
	handle("GET /agent/site.json", info)
	handle("GET /agent", info)
	handle("GET /sitemap.xml", f.writeSitemap)
	handle("GET /sitemaps/{part}", f.writeSitemapPart)
	handle("GET /assets/icon.svg", f.writeIcon)
	handle("GET /assets/card.png", f.writeCard)
}
