// Package platformhttp is the HTTP transport of the platform host: it decodes
// requests, calls operations and encodes what they return.
//
//	Authorization: Bearer ace_…  ─ gate: key, 120 a minute, permission ─┐
//	session cookie ─ gate: person, token against other sites ───────────┤
//	                                                                    v
//	/api/v1/…      JSON in and out (openapi.Handle)     -> package operation
//	/mcp           six tools for agents (package mcphttp)  -> package operation
//	/oauth/…       MCP clients sign in (package oauthhttp) -> package authserver
//	/openapi.json  the description of all of it
//
// Rules, below, names the operation of each route; package operation says who may
// call it.
package platformhttp

import (
	"maps"
	"net/http"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/ratelimit"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/authserver"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/connecthttp"
	"ace/internal/platform/platformhttp/connectorhttp"
	"ace/internal/platform/platformhttp/findhttp"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/mcphttp"
	"ace/internal/platform/platformhttp/oauthhttp"
	"ace/internal/platform/platformhttp/toolhttp"
	"ace/internal/platform/platformhttp/triggerhttp"
)

// Version is the version of the platform's API in openapi.json.
const Version = "4.1.0"

// Base is the path of the REST API.
const Base = "/api/v1"

// Deps are what the transport calls.
type Deps struct {
	Site       Site
	Operations *operation.Service
	Accounts   *account.Service // whose sessions the gate reads
	Keys       *apikey.Service  // which the gate authenticates
	Limits     gate.Limits
	Pages      Pages
	Sealer     mcphttp.Sealer // of what MCP clients hold between two calls
	MCPSignIn  *authserver.Service
	// CheckOutput makes a result of an MCP tool that does not fit its schema an
	// internal error, for tests.
	CheckOutput bool
}

// Pages are what people read on this host. The same gate admits to them.
type Pages struct {
	Rules gate.Rules     // what each page needs, added to the table
	Mount func(gate.Mux) // nil: there are none
}

// Site is what the documents of the platform say about it.
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

// Rules are the operations of the routes. A route without a line here cannot be
// mounted; tests walk over all of them.
func Rules() gate.Rules {
	open := gate.Need{Open: true}
	table := gate.Rules{
		"GET /healthz":      open,
		"GET /openapi.json": open,
		"GET /logos/{file}": open,

		"GET /api/v1/catalog":     {Operation: operation.GetCatalog},
		"GET /api/v1/apps":        {Operation: operation.SearchApps},
		"POST /api/v1/tools/find": {Operation: operation.FindTools},

		"GET /api/v1/me":                {Operation: operation.GetMe},
		"GET /api/v1/keys/self":         {Operation: operation.GetOwnKey},
		"DELETE /api/v1/keys/self":      {Operation: operation.RevokeOwnKey},
		"GET /api/v1/keys":              {Operation: operation.ListKeys},
		"POST /api/v1/keys":             {Operation: operation.CreateKey},
		"GET /api/v1/keys/{id}":         {Operation: operation.GetKey},
		"PATCH /api/v1/keys/{id}":       {Operation: operation.ChangeKey},
		"DELETE /api/v1/keys/{id}":      {Operation: operation.RevokeKey},
		"POST /api/v1/keys/{id}/rotate": {Operation: operation.RotateKey},
		"GET /api/v1/redirect-urls":     {Operation: operation.GetRedirectURLs},
		"PUT /api/v1/redirect-urls":     {Operation: operation.SetRedirectURLs},
		"GET /api/v1/audit-log":         {Operation: operation.ReadAuditLog},
	}
	maps.Copy(table, connecthttp.Rules(Base))
	maps.Copy(table, connectorhttp.Rules(Base))
	maps.Copy(table, toolhttp.Rules(Base))
	maps.Copy(table, triggerhttp.Rules(Base))
	maps.Copy(table, mcphttp.Rules())
	maps.Copy(table, oauthhttp.Rules())
	return table
}

// New returns the handler of the platform host.
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
	s, _ := build(Deps{
		Site:   Site{BaseURL: "http://127.0.0.1:8081", Name: "ACE Platform"},
		Limits: gate.Limits{Keys: free, Addresses: free, Failures: free},
	})
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
		Description: "One API key gives an agent the apps that its account has connected. Errors are problems (RFC " +
			"9457) with a stable code and a next_action.",
		Servers: []string{d.Site.BaseURL},
		Strict:  true,
		Security: map[string]openapi.Security{
			keyScheme: {Type: "http", Scheme: "bearer", Description: "An API key: ace_ and 36 letters and digits."},
			sessionScheme: {
				Type: "apiKey", In: "cookie", Name: "__Host-ace_session",
				Description: "A person who is signed in to the console. Requests that change something also " +
					"carry the header " + gate.TokenHeader + ".",
			},
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
	finding := &findhttp.Handler{BaseURL: s.Site.BaseURL, Operations: s.Operations}
	finding.Describe(s.api, Base, keyScheme)
	mux.HandleFunc("GET /logos/{file}", finding.Logo)
	connectors := &connectorhttp.Handler{Operations: s.Operations}
	connectors.Describe(s.api, Base, keyScheme, sessionScheme)
	connecting := &connecthttp.Handler{BaseURL: s.Site.BaseURL, Operations: s.Operations}
	connecting.Describe(s.api, Base, keyScheme, sessionScheme)
	running := &toolhttp.Handler{BaseURL: s.Site.BaseURL, Operations: s.Operations}
	running.Describe(s.api, mux, Base, keyScheme, sessionScheme)
	watching := &triggerhttp.Handler{BaseURL: s.Site.BaseURL, Operations: s.Operations}
	watching.Describe(s.api, mux, Base, keyScheme)
	agents := mcphttp.New(mcphttp.Deps{
		BaseURL: s.Site.BaseURL, Name: s.Site.Name, Version: Version, Operations: s.Operations, Gate: s.gate,
		Sealer: s.Sealer, CheckOutput: s.CheckOutput,
	})
	agents.Mount(s.api, mux.Handle, keyScheme)
	signIn := &oauthhttp.Handler{
		BaseURL: s.Site.BaseURL, Name: s.Site.Name, Server: s.MCPSignIn, Gate: s.gate,
	}
	signIn.Mount(s.api, mux)
}

// openly lets pages of every origin call the API: cookies are not sent there, so
// there is nothing to abuse. Preflights need no key.
func openly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, Base+"/") && !oauthhttp.Public(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers",
			"X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Link, Idempotency-Replayed, Location, "+
				"Preference-Applied")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
			h.Set("Access-Control-Allow-Headers",
				"Authorization, Content-Type, Accept, Idempotency-Key, Prefer, If-None-Match, X-Request-Id, "+
					"MCP-Protocol-Version")
			h.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}
