package storehttp

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/storefront/offer"
)

// Forms of the catalog.
const (
	typeJSON     = "application/json"
	typeLD       = "application/ld+json"
	typeMarkdown = "text/markdown"
)

// catalogMaxAge is how long clients may keep the catalog, in seconds.
const catalogMaxAge = 30

func (s *server) listProducts(w http.ResponseWriter, r *http.Request) {
	query, err := productQuery(r.URL.Query())
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	snapshot, err := s.Catalog.Snapshot(r.Context())
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	page, err := snapshot.Select(query)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	s.writeProducts(w, r, snapshot, s.wireCatalog(snapshot, page))
}

func (s *server) getProduct(w http.ResponseWriter, r *http.Request) {
	snapshot, err := s.Catalog.Snapshot(r.Context())
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	o, err := snapshot.Find(r.PathValue("id"))
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	s.writeProducts(w, r, snapshot, s.wireCatalog(snapshot, &offer.Selection{Offers: []*offer.Offer{o}, Total: 1}))
}

// writeProducts answers in the form that the client prefers. The ETag covers
// what is said about the offers, not when it was said: an unchanged catalog
// answers 304 after a refresh as well.
func (s *server) writeProducts(w http.ResponseWriter, r *http.Request, snapshot *offer.Snapshot, catalog *offerCatalog) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Vary", "Accept")
	mediaType, ok := preferred(r.Header.Get("Accept"), typeJSON, typeLD, typeMarkdown)
	if !ok {
		httpserver.WriteProblem(w, r, problem.New(problem.NotAcceptable, "not_acceptable",
			"The catalog comes as application/json, application/ld+json or text/markdown."))
		return
	}
	body, err := s.renderProducts(mediaType, snapshot, catalog)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	basis, err := encode(catalog.timeless())
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	if mediaType == typeMarkdown {
		mediaType += "; charset=utf-8"
	}
	writeCached(w, r, mediaType, catalogMaxAge, body, append(basis, mediaType...))
}

func (s *server) renderProducts(mediaType string, snapshot *offer.Snapshot, catalog *offerCatalog) ([]byte, error) {
	switch mediaType {
	case typeLD:
		return encode(linkedOffers(catalog))
	case typeMarkdown:
		return markdownOffers(catalog), nil
	default:
		catalog.Stale = snapshot.Stale
		return encode(catalog)
	}
}

func productQuery(values url.Values) (offer.Query, error) {
	q := offer.Query{Words: values.Get("q"), IDs: values["id"], Category: offer.Category(values.Get("category")), Currency: values.Get("currency"), Cursor: values.Get("cursor")}
	for name := range values {
		switch name {
		case "q", "id", "category", "currency", "cursor", "available", "limit":
		default:
			return q, problem.New(problem.Invalid, "unknown_parameter",
				"There is no such parameter. The catalog knows q, id, category, available, currency, limit and cursor.").At(name)
		}
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
			return q, problem.New(problem.Invalid, "invalid_limit", "limit is a number from 1 to "+strconv.Itoa(offer.MaxLimit)+".").At("limit")
		}
		q.Limit = n
	}
	if len(q.Words) > 200 {
		return q, problem.New(problem.Invalid, "query_too_long", "q has at most 200 characters.").At("q")
	}
	return q, nil
}

func (s *server) describeProducts() {
	text := func(name, description string) openapi.Parameter {
		return openapi.Parameter{Name: name, In: "query", Description: description}
	}
	catalog := openapi.Content{Description: "The offers, also as application/ld+json and text/markdown.", Schema: openapi.SchemaOf[offerCatalog]()}
	failure := openapi.Content{Description: "What is wrong and what to do.", MediaType: "application/problem+json", Schema: openapi.SchemaOf[httpserver.ProblemBody]()}
	openapi.Describe(s.api, openapi.Operation{
		Method: http.MethodGet, Path: "/agent/commerce/products", ID: "listProducts", Tags: []string{"commerce"},
		Summary:     "Everything that can be bought, with verified prices and live availability",
		Description: "Prices, billing intervals and trials are read from the payment processor; price_verification says when. stale is true while the processor cannot be reached.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{
			text("q", "Words that must occur in name, description, category or id."), text("id", "Id of an offer or product; may be repeated."),
			text("category", "software, service or hardware."), text("available", "true: only what can be bought now."), text("currency", "ISO 4217."),
			text("limit", "Offers per page, 1 to 200; 50 if left out."), text("cursor", "next_cursor of the page before."),
		},
		Responses: map[int]openapi.Content{200: catalog, 0: failure},
	})
	openapi.Describe(s.api, openapi.Operation{
		Method: http.MethodGet, Path: "/agent/commerce/products/{id}", ID: "getProduct", Tags: []string{"commerce"}, Summary: "One offer by id",
	}, openapi.Description{
		Parameters: []openapi.Parameter{{Name: "id", In: "path", Required: true, Description: "Id of the offer."}},
		Responses:  map[int]openapi.Content{200: catalog, 0: failure},
	})
}

func rfc3339(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }

// markdownCell keeps foreign text from breaking out of a table cell.
func markdownCell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ").Replace(text)
}
