// Package platformhttp is the HTTP face of the platform host: it turns requests
// into calls of the domain and the answers back.
//
//	Authorization: Bearer ace_…  ─ gate: key, 120 a minute, permission ─┐
//	session cookie ─ gate: person, token against other sites ───────────┤
//	                                                                    v
//	/api/v1/…      JSON in and out (openapi.Handle)     -> domain services
//	/openapi.json  the description of all of it
//
// What each route asks of its caller stands in one table, Rules, below.
package platformhttp

import (
	"log/slog"
	"maps"
	"net/http"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/ratelimit"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/platformhttp/connecthttp"
	"ace/internal/platform/platformhttp/connectorhttp"
	"ace/internal/platform/platformhttp/findhttp"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/once"
	"ace/internal/platform/platformhttp/toolhttp"
)

// Version is the version of the platform's API, as openapi.json tells it.
const Version = "1.2.0"

// Base is where the REST API stands.
const Base = "/api/v1"

// Deps are what the face calls.
type Deps struct {
	Site     Site
	Accounts *account.Service
	Keys     *apikey.Service
	Audit    audit.Store
	// Library is what there is to use, Connections what an account has connected.
	Library     findhttp.Library
	Connections findhttp.Connections
	// Connect serves connecting and what is connected; its BaseURL is the site's.
	Connect connecthttp.Face
	// Connectors serves the apps that accounts add themselves.
	Connectors connectorhttp.Face
	// Run serves tools and their runs; its BaseURL is the site's.
	Run    toolhttp.Face
	Once   *once.Desk // makes keys once for each Idempotency-Key
	Limits gate.Limits
	Log    *slog.Logger
	Pages  Pages
}

// Pages are what people read on this host. They stand behind the same gate.
type Pages struct {
	Rules gate.Rules     // what each page needs, added to the table
	Mount func(gate.Mux) // nil: there are none
}

// Site is what the platform says about itself.
type Site struct {
	BaseURL string // without a slash at the end
	Name    string
	Contact string
}

type server struct {
	Deps
	api  *openapi.API
	gate *gate.Gate
}

// Rules are what each route of the API needs. A route without a line here cannot
// be mounted; tests walk over all of them.
func Rules() gate.Rules {
	var (
		open    = gate.Need{Open: true}
		anyKey  = gate.Need{AnyKey: true}
		read    = gate.Need{Permissions: apikey.Read}
		manages = gate.Need{Manages: true}
		audits  = gate.Need{Audits: true}
	)
	table := gate.Rules{
		"GET /healthz":      open,
		"GET /openapi.json": open,
		"GET /logos/{file}": open,

		"GET /api/v1/catalog":     open,
		"GET /api/v1/apps":        read,
		"POST /api/v1/tools/find": read,

		"GET /api/v1/me":           anyKey,
		"GET /api/v1/keys/self":    anyKey,
		"DELETE /api/v1/keys/self": anyKey,

		"GET /api/v1/keys":              manages,
		"POST /api/v1/keys":             manages,
		"GET /api/v1/keys/{id}":         manages,
		"PATCH /api/v1/keys/{id}":       manages,
		"DELETE /api/v1/keys/{id}":      manages,
		"POST /api/v1/keys/{id}/rotate": manages,
		"GET /api/v1/redirect-urls":     manages,
		"PUT /api/v1/redirect-urls":     manages,
		"GET /api/v1/audit-log":         audits,
	}
	maps.Copy(table, connecthttp.Rules(Base))
	maps.Copy(table, connectorhttp.Rules(Base))
	maps.Copy(table, toolhttp.Rules(Base))
	return table
}

// New answers the handler of the platform host.
func New(d Deps) (http.Handler, error) {
	s, mux := build(d)
	document, err := s.api.Document()
	if err != nil {
		return nil, err
	}
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "public, max-age=300")
		_, _ = w.Write(document)
	})
	return openly(mux), nil
}

// Document is the OpenAPI document of a platform with the default settings.
func Document() ([]byte, error) {
	free := ratelimit.Unlimited{}
	s, _ := build(Deps{Site: Site{BaseURL: "http://127.0.0.1:8081", Name: "ACE Platform"}, Limits: gate.Limits{Keys: free, Addresses: free, Failures: free}})
	return s.api.Document()
}

// build registers every route. It calls nothing of d.
func build(d Deps) (*server, gate.Mux) {
	s := &server{Deps: d}
	table := Rules()
	maps.Copy(table, d.Pages.Rules)
	s.gate = gate.New(table, d.Keys, d.Accounts, d.Limits, strings.HasPrefix(d.Site.BaseURL, "https://"))
	mux := gate.Mux{Mux: httpserver.NewMux(nil), Gate: s.gate}
	s.api = openapi.New(mux, d.Site.Name, Version, &openapi.Options{
		Description: "One API key gives an agent the apps that its account has connected.",
		Servers:     []string{d.Site.BaseURL},
		Security: map[string]openapi.Security{
			keyScheme:     {Type: "http", Scheme: "bearer", Description: "An API key: ace_ and 36 letters and digits."},
			sessionScheme: {Type: "apiKey", In: "cookie", Name: "__Host-ace_session", Description: "A person who is signed in on the account page. Requests that change something also carry the header " + gate.TokenHeader + "."},
		},
	})
	s.routes(mux)
	if d.Pages.Mount != nil {
		d.Pages.Mount(mux)
	}
	return s, mux
}

// Names of the security schemes in the document.
const (
	keyScheme     = "apiKey"
	sessionScheme = "session"
)

func (s *server) routes(mux gate.Mux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
	})
	s.describeKeys()
	s.describeRedirects()
	finding := &findhttp.Face{BaseURL: s.Site.BaseURL, Library: s.Library, Connections: s.Connections}
	finding.Describe(s.api, Base, keyScheme)
	mux.HandleFunc("GET /logos/{file}", finding.Logo)
	s.Connectors.Describe(s.api, Base, keyScheme)
	connecting := s.Connect
	connecting.BaseURL = s.Site.BaseURL
	connecting.Describe(s.api, Base, keyScheme, sessionScheme)
	running := s.Run
	running.BaseURL = s.Site.BaseURL
	running.Describe(s.api, mux, Base, keyScheme, sessionScheme)
}

// openly lets pages of every origin call the API: it takes no cookies there,
// so there is nothing to abuse. Preflights are answered without a key.
func openly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, Base+"/") {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Link, Idempotency-Replayed, Location, Preference-Applied")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Idempotency-Key, Prefer, If-None-Match, X-Request-Id")
			h.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}
