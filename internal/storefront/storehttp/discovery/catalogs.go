package discovery

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"ace/internal/storefront/storehttp/answer"
)

// target is one link of a linkset (RFC 9264).
type target struct {
	Href string `json:"href"`
	Type string `json:"type,omitempty"`
}

type linkContext struct {
	Anchor      string   `json:"anchor"`
	Item        []target `json:"item,omitempty"`
	ServiceDesc []target `json:"service-desc,omitempty"`
	ServiceDoc  []target `json:"service-doc,omitempty"`
	ServiceMeta []target `json:"service-meta,omitempty"`
	Status      []target `json:"status,omitempty"`
}

// apis are the APIs of the host: what is behind each key, in the order of
// the catalog.
func (r *Registry) apis() []target {
	list := []target{{Href: r.config.BaseURL + "/agent"}}
	for _, key := range []string{"mcp", "a2a", "services"} {
		if address := r.address(key); address != "" {
			list = append(list, target{Href: address})
		}
	}
	return list
}

// apiCatalog lists the APIs and what describes each (RFC 9727).
func (r *Registry) apiCatalog(_ context.Context, h http.Header) ([]byte, error) {
	h.Set("Link", `</.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"`)
	set := []linkContext{{Anchor: r.address("api_catalog"), Item: r.apis()}}
	for _, key := range []string{"rest", "mcp", "a2a", "services"} {
		c := r.described(key)
		if c.Anchor != "" {
			set = append(set, c)
		}
	}
	return answer.JSON(map[string]any{"linkset": set})
}

// described are the documents about one API.
func (r *Registry) described(api string) linkContext {
	c := linkContext{Anchor: r.address(api)}
	if api == "rest" {
		c.Anchor = r.config.BaseURL + "/agent"
	}
	for i := range r.entries {
		e := &r.entries[i]
		for _, d := range e.Describes {
			if d.API != api {
				continue
			}
			l, _ := r.Link(e.Key)
			t := target{Href: l.URL, Type: l.Type}
			switch d.Rel {
			case relDesc:
				c.ServiceDesc = append(c.ServiceDesc, t)
			case relDoc:
				c.ServiceDoc = append(c.ServiceDoc, t)
			case relMeta:
				c.ServiceMeta = append(c.ServiceMeta, t)
			case relStatus:
				c.Status = append(c.Status, t)
			}
		}
	}
	return c
}

type catalogEntry struct {
	Identifier            string   `json:"identifier"`
	DisplayName           string   `json:"displayName"`
	Type                  string   `json:"type"`
	MediaType             string   `json:"mediaType"` // what AI Catalog calls it; others say type
	URL                   string   `json:"url"`
	Description           string   `json:"description"`
	RepresentativeQueries []string `json:"representativeQueries"`
}

// aiCatalog lists the MCP server and the A2A agent (AI Catalog 1.0).
func (r *Registry) aiCatalog(context.Context, http.Header) ([]byte, error) {
	host := r.config.host()
	var entries []catalogEntry
	if l, ok := r.Link("mcp_card"); ok {
		entries = append(entries, catalogEntry{
			Identifier: "urn:air:" + host + ":mcp:store", DisplayName: r.config.Name + " MCP server", Type: typeCard,
			MediaType: typeCard, URL: l.URL,
			Description: r.summary(), RepresentativeQueries: []string{
				"what can I buy here",
				"read a page of this store", "open a checkout for an offer",
			},
		})
	}
	if l, ok := r.Link("agent_card"); ok {
		const kind = "application/a2a-agent-card+json"
		entries = append(entries, catalogEntry{
			Identifier: "urn:air:" + host + ":a2a:site", DisplayName: r.config.Name + " site agent", Type: kind,
			MediaType: kind, URL: l.URL,
			Description:           "Answers structured questions about this store and opens a checkout.",
			RepresentativeQueries: []string{"find pages about refunds", "list the offers"},
		})
	}
	return answer.JSON(struct {
		SpecVersion string         `json:"specVersion"`
		Host        map[string]any `json:"host"`
		Entries     []catalogEntry `json:"entries"`
	}{"1.0", map[string]any{"displayName": r.config.Name, "identifier": host}, entries})
}

// host is the name of the store without a port.
func (c Config) host() string {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return "localhost"
	}
	return strings.ToLower(u.Hostname())
}
