// Package storehttp is the HTTP transport of the store host: it turns requests of
// each protocol into calls of the domain and the responses back. No handler
// decides anything about money or stock.
//
//	/agent/commerce/products      the catalog (cataloghttp)
//	/agent/commerce/ucp/…         UCP over REST and MCP (package ucphttp)
//	/agent/commerce/acp/…         ACP and its feed (acphttp)
//	/v1/services, /v1/orders/…    paid website services (servicehttp)
//	/mcp                          the ten tools of agents (agenttool, mcphttp)
//	/agent/a2a                    the agent of the store over A2A (a2ahttp)
//	/agent/search, /agent/read    finding and reading pages (sitehttp)
//	/{page}, /{page}.md           the pages themselves (sitehttp)
//	/c/{token}, /checkout/…       what the buyer sees (buyer.go, buy.go)
//	/webhooks/stripe              messages of the processor (webhook.go)
//	/.well-known/…, /llms.txt, …  what programs find all that by (discovery)
//
// Every path of the host is in routes below.
package storehttp

import (
	"log/slog"
	"net/http"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/openapi"
	"ace/internal/protocol/a2a"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/a2ahttp"
	"ace/internal/storefront/storehttp/acphttp"
	"ace/internal/storefront/storehttp/admission"
	"ace/internal/storefront/storehttp/agenttool"
	"ace/internal/storefront/storehttp/cataloghttp"
	"ace/internal/storefront/storehttp/discovery"
	"ace/internal/storefront/storehttp/servicehttp"
	"ace/internal/storefront/storehttp/sessionhttp"
	"ace/internal/storefront/storehttp/sitehttp"
	"ace/internal/storefront/storehttp/ucphttp"
)

// Version is the version of the store's API, as in openapi.json.
const Version = "2.2.0"

// Deps are what the handler calls.
type Deps struct {
	Site     Site
	Catalog  *offer.Catalog
	Pages    *site.Service // nil: a store without pages
	Checkout *checkout.Service
	Orders   *order.Service
	Events   EventParser
	Requests *idempotency.Keeper
	// Services are the paid website services. Nil: the store has none, and says
	// so.
	Services agenttool.Services
	// Platforms reads the profiles of UCP platforms.
	Platforms ucphttp.Platforms
	// Signers sign responses, the first those of UCP, which asks for P-256. All
	// their public keys are published.
	Signers []*httpsig.Signer
	// BotKeys is the directory of the keys that sign the store's own requests.
	// Nil: they are not signed.
	BotKeys discovery.KeyDirectory
	// Tasks keeps the tasks of A2A.
	Tasks a2a.Store
	// CardSigner signs the agent card, with a key that signs nothing else. Nil:
	// the card is not signed.
	CardSigner *httpsig.Signer
	// Gate counts requests and knows who signed them. Nil: all are served.
	Gate *admission.Gate
	// MAC is a keyed digest: client addresses are kept as nothing else.
	MAC func(label string, parts ...[]byte) string
	Log *slog.Logger
}

// Site is what the store says about itself.
type Site struct {
	BaseURL                 string // without a slash at the end
	Name, Contact           string
	Operator, Address       string // who runs the store, and where; Operator "": Name
	Sandbox                 bool   // nothing here moves real money
	Terms, Privacy, Refunds string // addresses of the policies
	// ContentSignal says what may be done with the pages, as robots.txt spells
	// it; empty: nothing is said.
	ContentSignal string
	// SecurityContact receives reports of vulnerabilities; empty: Contact.
	SecurityContact string
	// Burst is how many calls a client may make at once. 0: 5.
	Burst int
	// DirectContinueURL returns the processor's own URL of the payment
	// page instead of a short one of the store.
	DirectContinueURL bool
	// UCPNegotiation says how profiles of UCP platforms are treated: off,
	// lenient (also "") or strict.
	UCPNegotiation string
}

// EventParser verifies and reads messages of the processor.
type EventParser interface {
	// ParseEvent returns signature_invalid (Malformed) for a message that is not
	// from the processor.
	ParseEvent(payload []byte, signature string) (checkout.Event, error)
}

type server struct {
	Deps
	sessions  *sessionhttp.Sessions
	api       *openapi.API
	pages     *pages
	catalog   *cataloghttp.Handler
	documents *discovery.Registry
	site      *sitehttp.Handler
	agent     *a2ahttp.Handler
}

// New returns the handler of the store host.
func New(d Deps) (http.Handler, error) {
	s, mux, err := build(d)
	if err != nil {
		return nil, err
	}
	document, err := s.api.Document()
	if err != nil {
		return nil, err
	}
	mux.HandleFunc("GET /openapi.json", s.documents.Static("openapi", document))
	return s.gated(mux), nil
}

// Document is the OpenAPI document of a store with the default settings.
func Document() ([]byte, error) {
	s, _, err := build(Deps{
		Site: Site{BaseURL: "http://127.0.0.1:8080", Name: "ACE Store"}, BotKeys: describedKeys{},
		Services: &servicehttp.Handler{},
	})
	if err != nil {
		return nil, err
	}
	return s.api.Document()
}

// build registers every route. It calls nothing of d.
func build(d Deps) (*server, *httpserver.Mux, error) {
	pages, err := loadPages()
	if err != nil {
		return nil, nil, err
	}
	s := &server{Deps: d, pages: pages, catalog: &cataloghttp.Handler{
		Site: cataloghttp.Site{
			BaseURL: d.Site.BaseURL, Terms: d.Site.Terms, Privacy: d.Site.Privacy,
			Refunds: d.Site.Refunds,
		}, Catalog: d.Catalog,
	}}
	if s.documents, err = s.companions(); err != nil {
		return nil, nil, err
	}
	if s.site, err = s.siteHandler(); err != nil {
		return nil, nil, err
	}
	s.sessions = &sessionhttp.Sessions{
		Checkout: d.Checkout, Requests: d.Requests, MAC: d.MAC, Log: d.Log, DirectContinueURL: d.Site.DirectContinueURL,
	}
	if s.agent, err = s.a2aAgent(); err != nil {
		return nil, nil, err
	}
	mux := httpserver.NewMux(s.site.Unrouted)
	s.api = openapi.New(mux, d.Site.Name, Version, &openapi.Options{
		Strict: true,
		Description: "Everything here is open: no key, no account. Buying always ends on a payment page where a " +
			"person pays.",
		Servers: []string{d.Site.BaseURL},
		Contact: &openapi.Contact{Name: "Support", URL: d.Site.BaseURL + "/support", Email: d.Site.Contact},
		Limited: "Over the limit of one request a second per client. The body is the failure of the protocol; " +
			"wait as long as Retry-After says.",
	})
	s.routes(mux)
	return s, mux, nil
}

// ucp returns the handler of UCP.
func (s *server) ucp() *ucphttp.Handler {
	return &ucphttp.Handler{
		Site: ucphttp.Site{
			BaseURL: s.Site.BaseURL, Name: s.Site.Name, Version: Version, Terms: s.Site.Terms, Privacy: s.Site.Privacy,
			Refunds:     s.Site.Refunds,
			Negotiation: s.Site.UCPNegotiation,
		},
		Catalog: s.Catalog, Orders: s.Orders, Sessions: s.sessions, Platforms: s.Platforms, Signers: s.Signers,
		Admit: s.Gate.AdmitMCP, Log: s.Log,
	}
}

// acp serves ACP.
func (s *server) acp() *acphttp.Handler {
	return &acphttp.Handler{
		Site: acphttp.Site{
			BaseURL: s.Site.BaseURL, Name: s.Site.Name, Contact: s.Site.Contact,
			Terms: s.Site.Terms, Privacy: s.Site.Privacy, Refunds: s.Site.Refunds,
		},
		Catalog: s.Catalog, Checkout: s.Checkout, Orders: s.Orders, Sessions: s.sessions, Documents: s.documents,
	}
}

func (s *server) routes(mux *httpserver.Mux) {
	handle := func(pattern string, h http.HandlerFunc, m ...httpserver.Middleware) {
		mux.Handle(pattern, httpserver.Chain(h, m...))
	}
	waits := httpserver.AllowTime(sessionhttp.LongPoll + 15*time.Second)
	page := httpserver.SecurePages(httpserver.PagePolicy{HTTPSOnly: false})

	handle("GET /healthz", s.health)

	s.catalog.Mount(s.api, handle)

	agentic := s.acp()
	crossOrigin := preflights{}
	open := crossOrigin.mount(handle)
	agentic.Mount(s.api, open)
	mux.ErrorsUnder(acphttp.Base, agentic.WriteError)

	handler := s.ucp()
	for _, v := range ucp.Versions() {
		handle("GET "+ucphttp.ProfilePath(v), discovery.Fixed(typeJSON, 300, handler.Profile(v)))
	}
	open("POST "+ucphttp.Base+"/checkout-sessions", handler.REST(ucp.ToolCreateCheckout))
	open("GET "+ucphttp.Base+"/checkout-sessions/{id}", handler.REST(ucp.ToolGetCheckout), waits)
	open("PUT "+ucphttp.Base+"/checkout-sessions/{id}", handler.REST(ucp.ToolUpdateCheckout))
	open("POST "+ucphttp.Base+"/checkout-sessions/{id}/complete", handler.REST(ucp.ToolCompleteCheckout))
	open("POST "+ucphttp.Base+"/checkout-sessions/{id}/cancel", handler.REST(ucp.ToolCancelCheckout))
	open("POST "+ucphttp.Base+"/catalog/search", handler.REST(ucp.ToolSearchCatalog))
	open("POST "+ucphttp.Base+"/catalog/lookup", handler.REST(ucp.ToolLookupCatalog))
	open("POST "+ucphttp.Base+"/catalog/product", handler.REST(ucp.ToolGetProduct))
	crossOrigin.routes(handle)
	mux.Handle(ucphttp.MCPPath, handler.MCP())
	mux.ErrorsUnder(ucphttp.Base, handler.WriteError)
	mux.ErrorsUnder(ucp.ProfilePath, handler.WriteError)
	handler.Describe(s.api)

	if services, ok := s.Services.(*servicehttp.Handler); ok {
		services.Mount(s.api, handle)
	}
	s.mountMCP(mux)
	s.mountA2A(mux)

	s.site.Mount(s.api, handle)
	s.documents.Mount(s.api, handle)

	handle("POST "+buyPath, s.buy, page)
	handle("GET /checkout/{token}/pay", s.leadToPayment, page)
	handle("GET /c/{token}", s.continueToPayment, page)
	handle("GET /checkout/{token}/done", s.afterPayment, page)
	handle("GET /checkout/{token}/back", s.backFromPayment, page)
	handle("GET /assets/store.css", s.stylesheet)

	handle("POST /webhooks/stripe", s.receiveEvent)
}

func (s *server) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
}
