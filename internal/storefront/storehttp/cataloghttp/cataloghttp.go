// Package cataloghttp is the HTTP transport of the store's catalog: the
// catalog as JSON, as schema.org and as a table. REST, the tools of agents and
// the pages show an offer by the same structs.
//
//	GET /agent/commerce/products[/{id}] -> query -> List, One ── Accept ──> JSON
//	                                                    |                   JSON-LD
//	tools of MCP and A2A ───────────────────────────────┤                   Markdown
//	pages ── LinkOffer ─────────────────────────────────┘
package cataloghttp

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/storehttp/answer"
)

// Handler serves the catalog. Its fields are set once.
type Handler struct {
	Site    Site
	Catalog *offer.Catalog

	once      sync.Once
	documents *answer.Cache[request, *offer.Snapshot]
}

// Site is what the store says about itself beside its offers.
type Site struct {
	BaseURL                 string // without a slash at the end
	Terms, Privacy, Refunds string // addresses of the policies
}

// Mount adds the calls of the catalog to api, and serves them by handle.
func (f *Handler) Mount(api *openapi.API, handle func(string, http.HandlerFunc, ...httpserver.Middleware)) {
	handle("GET /agent/commerce/products", f.listProducts)
	handle("GET /agent/commerce/products/{id}", f.getProduct)
	describe(api)
}

// List returns one page of what can be bought; REST and the tools return the
// same. It returns the problems of offer.Catalog.Snapshot and
// offer.Snapshot.Select.
func (f *Handler) List(ctx context.Context, q offer.Query) (*OfferCatalog, error) {
	snapshot, err := f.Catalog.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	page, err := snapshot.Select(q)
	if err != nil {
		return nil, err
	}
	return f.catalogOf(snapshot, page), nil
}

func (f *Handler) oneOf(snapshot *offer.Snapshot, id string) (*OfferCatalog, error) {
	o, err := snapshot.Find(id)
	if err != nil {
		return nil, err
	}
	return f.catalogOf(snapshot, &offer.Selection{Offers: []*offer.Offer{o}, Total: 1}), nil
}

// LinkOffer is an offer in the words of schema.org.
func (f *Handler) LinkOffer(ctx context.Context, o *offer.Offer) (map[string]any, error) {
	snapshot, err := f.Catalog.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	wire := f.offerOf(snapshot, o)
	return linkedOffer(&wire), nil
}

// Forms of the catalog.
const (
	typeJSON     = "application/json"
	typeLD       = "application/ld+json"
	typeMarkdown = "text/markdown"
)

// maxAge is how long clients may keep the catalog, in seconds.
const maxAge = 30

// maxStored bounds what is stored of the catalog, in bytes.
const maxStored = 4 << 20

// maxStoredKey bounds the keys of it, in characters.
const maxStoredKey = 256

// request is what a response of the catalog follows from, beside the offers.
type request struct{ id, query, mediaType string }

func (f *Handler) listProducts(w http.ResponseWriter, r *http.Request) {
	f.serve(w, r, "", func(snapshot *offer.Snapshot) (*OfferCatalog, error) {
		query, err := productQuery(r.URL.Query())
		if err != nil {
			return nil, err
		}
		page, err := snapshot.Select(query)
		if err != nil {
			return nil, err
		}
		return f.catalogOf(snapshot, page), nil
	})
}

func (f *Handler) getProduct(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	f.serve(w, r, id, func(snapshot *offer.Snapshot) (*OfferCatalog, error) {
		if err := openapi.CheckQuery(r.URL.Query()); err != nil {
			return nil, err
		}
		return f.oneOf(snapshot, id)
	})
}

// serve writes a part of the catalog in the form that the client prefers. It is
// rendered once for each snapshot of the offers.
func (f *Handler) serve(w http.ResponseWriter, r *http.Request, id string,
	choose func(*offer.Snapshot) (*OfferCatalog, error),
) {
	mediaType, ok := answer.Preferred(r.Header.Get("Accept"), typeJSON, typeLD, typeMarkdown)
	snapshot, err := f.Catalog.Snapshot(r.Context())
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	prepare := func() (*answer.Document, error) {
		catalog, err := choose(snapshot)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, problem.New(problem.NotAcceptable, "not_acceptable",
				"The catalog comes as application/json, application/ld+json or text/markdown.")
		}
		return document(mediaType, catalog)
	}
	var d *answer.Document
	if key := (request{id, r.URL.RawQuery, mediaType}); len(id)+len(key.query) <= maxStoredKey {
		d, err = f.stored().Get(key, snapshot, prepare)
	} else {
		d, err = prepare()
	}
	if err != nil {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Vary", "Accept")
		httpserver.WriteProblem(w, r, err)
		return
	}
	d.Write(w, r)
}

func (f *Handler) stored() *answer.Cache[request, *offer.Snapshot] {
	f.once.Do(func() { f.documents = answer.NewCache[request, *offer.Snapshot](maxStored) })
	return f.documents
}

// document renders a catalog. The ETag covers what is said about the offers, not
// when it was said: an unchanged catalog is 304 after a refresh as well.
func document(mediaType string, catalog *OfferCatalog) (*answer.Document, error) {
	body, err := render(mediaType, catalog)
	if err != nil {
		return nil, err
	}
	basis, err := answer.JSON(catalog.timeless())
	if err != nil {
		return nil, err
	}
	if mediaType == typeMarkdown {
		mediaType += "; charset=utf-8"
	}
	return answer.NewDocument(mediaType, body, &answer.Options{
		MaxAge: maxAge, Basis: basis, Header: http.Header{
			"Access-Control-Allow-Origin": {"*"}, "Vary": {"Accept, Accept-Encoding"},
		},
	})
}

func render(mediaType string, catalog *OfferCatalog) ([]byte, error) {
	switch mediaType {
	case typeLD:
		return answer.JSON(linkedOffers(catalog))
	case typeMarkdown:
		return markdownOffers(catalog), nil
	default:
		return answer.JSON(catalog)
	}
}

func productQuery(values url.Values) (offer.Query, error) {
	q := offer.Query{
		Words: values.Get("q"), IDs: values["id"], Category: offer.Category(values.Get("category")),
		Currency: values.Get("currency"), Cursor: values.Get("cursor"),
	}
	err := openapi.CheckQuery(values, "q", "id", "category", "available", "currency", "limit", "cursor")
	if err != nil {
		return q, err
	}
	switch values.Get("available") {
	case "", "false":
	case "true":
		q.Available = true
	default:
		return q, problem.New(problem.Invalid, "invalid_available", "available is true or false.").At("available")
	}
	if text := values.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return q, problem.New(problem.Invalid, "invalid_limit",
				"limit is a number from 1 to "+strconv.Itoa(offer.MaxLimit)+".").At("limit")
		}
		q.Limit = n
	}
	if len(q.Words) > 200 {
		return q, problem.New(problem.Invalid, "query_too_long", "q has at most 200 characters.").At("q")
	}
	return q, nil
}

func describe(api *openapi.API) {
	text := func(name, description string) openapi.Parameter {
		return openapi.Parameter{Name: name, In: "query", Description: description}
	}
	catalog := openapi.Content{
		Description: "The offers, also as application/ld+json and text/markdown.",
		Schema:      openapi.SchemaOf[OfferCatalog](),
	}
	failure := openapi.Content{
		Description: "What is wrong and what to do.", MediaType: "application/problem+json",
		Schema: openapi.SchemaOf[httpserver.ProblemBody](),
	}
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: "/agent/commerce/products", ID: "listProducts", Tags: []string{"commerce"},
		Summary: "Everything that can be bought, with verified prices and live availability",
		Description: "Prices, billing intervals and trials are read from the payment processor; price_verification " +
			"says when. stale is true while the processor cannot be reached.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{
			text("q", "Words that must occur in name, description, category or id."), text("id",
				"Id of an offer or product; may be repeated."),
			text("category", "software, service or hardware."), text("available", "true: only what can be bought now."),
			text("currency", "ISO 4217."),
			text("limit", "Offers per page, 1 to 200; 50 if left out."), text("cursor",
				"next_cursor of the page before."),
		},
		Responses: map[int]openapi.Content{200: catalog, 0: failure},
	})
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: "/agent/commerce/products/{id}", ID: "getProduct", Tags: []string{"commerce"},
		Summary: "One offer by id",
		Description: "The list with this one offer, whether it is listed or not. An unknown offer is 404, " +
			"offer_not_found.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{{Name: "id", In: "path", Required: true, Description: "Id of the offer."}},
		Responses:  map[int]openapi.Content{200: catalog, 0: failure},
	})
}

func rfc3339(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }

// markdownCell keeps foreign text from breaking out of a table cell.
func markdownCell(text string) string {
	text = strings.ReplaceAll(text, "|", `\|`)
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "\r", " ")
}
