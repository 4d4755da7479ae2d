package storehttp

import (
	"ace/internal/foundation/httpserver"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp/agenttool"
	"ace/internal/storefront/storehttp/mcphttp"
)

// tools are the operations that agents call by name. The checkouts that they
// open are filed under a protocol.
func (s *server) tools(protocol checkout.Protocol) *agenttool.Set {
	return agenttool.New(agenttool.Deps{
		Site: s.site, Catalog: s.catalog, UCP: s.ucp(), Sessions: s.sessions, Services: s.Services, Protocol: protocol,
	})
}

// mountMCP serves the tools over MCP.
func (s *server) mountMCP(mux *httpserver.Mux) {
	face := mcphttp.New(mcphttp.Site{BaseURL: s.Site.BaseURL, Name: s.Site.Name, Version: Version}, s.tools(checkout.MCP), &mcphttp.Options{Admit: s.Gate.AdmitMCP})
	face.Mount(s.api, mux.Handle)
}
