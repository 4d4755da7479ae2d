package storehttp

import (
	"ace/internal/foundation/httpserver"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp/agenttool"
	"ace/internal/storefront/storehttp/discovery"
	"ace/internal/storefront/storehttp/mcphttp"
)

// tools are the operations that agents call by name. The checkouts that they
// open are filed under a protocol.
func (s *server) tools(protocol checkout.Protocol) *agenttool.Set {
	return agenttool.New(agenttool.Deps{
		Site: s.site, Catalog: s.catalog, UCP: s.ucp(), Sessions: s.sessions, Services: s.Services, Protocol: protocol,
	})
}

func (s *server) mcpSite() mcphttp.Site {
	return mcphttp.Site{BaseURL: s.Site.BaseURL, Name: s.Site.Name, Version: Version}
}

// describedMCP is what the documents say about the tools: what initialize and
// tools/list say.
func (s *server) describedMCP() *discovery.MCP {
	described := &discovery.MCP{
		Info: mcphttp.Info(s.mcpSite()), Versions: mcphttp.Versions(),
		Instructions: mcphttp.Instructions(s.mcpSite()),
	}
	for _, t := range agenttool.Table() {
		described.Tools = append(described.Tools, discovery.Tool{
			Name: t.Name, Title: t.Title, Group: string(t.Group),
			Description: t.Description, Annotations: t.Annotations, InputSchema: t.InputSchema,
		})
	}
	return described
}

// mountMCP serves the tools over MCP.
func (s *server) mountMCP(mux *httpserver.Mux) {
	handler := mcphttp.New(s.mcpSite(), s.tools(checkout.MCP), &mcphttp.Options{Admit: s.Gate.AdmitMCP})
	handler.Mount(s.api, mux.Handle)
}
