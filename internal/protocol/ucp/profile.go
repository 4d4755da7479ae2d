package ucp

import "ace/internal/foundation/httpsig"

// ProfilePath is where a store publishes its profile. It is served over https, without a redirect,
// with Cache-Control: public and at least 60 s. The profile of an older version is at a path below
// it.
const ProfilePath = "/.well-known/ucp"

// Transport is a transport of a service.
type Transport string

// The supported transports.
const (
	TransportREST Transport = "rest"
	TransportMCP  Transport = "mcp"
)

// Profile is the document at ProfilePath. In 2026-08-25 the keys are in Keys,
// in 2026-04-08 in SigningKeys.
type Profile struct {
	UCP         ProfileMeta   `json:"ucp"`
	Keys        []httpsig.JWK `json:"keys,omitempty"`
	SigningKeys []httpsig.JWK `json:"signing_keys,omitempty"`
}

// ProfileMeta describes a store in one version.
type ProfileMeta struct {
	Version           Version                 `json:"version"`
	SupportedVersions map[Version]string      `json:"supported_versions,omitempty"`
	Services          map[string][]Service    `json:"services"`
	Capabilities      Capabilities            `json:"capabilities,omitempty"`
	PaymentHandlers   map[string][]Capability `json:"payment_handlers"`
}

// Service is one transport of a service.
type Service struct {
	Version   Version   `json:"version"`
	Transport Transport `json:"transport"`
	Endpoint  string    `json:"endpoint"` // absolute, without a trailing slash
	Spec      string    `json:"spec,omitempty"`
	Schema    string    `json:"schema,omitempty"`
}

// ProfileConfig is the store-specific part of a profile.
type ProfileConfig struct {
	RESTEndpoint string
	MCPEndpoint  string
	// Older maps older versions to the URLs of their profiles. Only the profile of the newest
	// version contains them.
	Older map[Version]string
	Keys  []httpsig.JWK // public keys for signatures
}

// NewProfile returns the profile of version v: checkout, catalog search and lookup, over REST and
// MCP, without payment handlers, because the buyer pays on a hosted page. A profile uses one
// version throughout.
func NewProfile(v Version, config ProfileConfig) *Profile {
	p := &Profile{UCP: ProfileMeta{
		Version: v,
		Services: map[string][]Service{ServiceShopping: {
			service(v, TransportREST, config.RESTEndpoint, "rest.openapi.json"),
			service(v, TransportMCP, config.MCPEndpoint, "mcp.openrpc.json"),
		}},
		Capabilities: Declared(v), PaymentHandlers: map[string][]Capability{},
	}}
	if v == Version20260408 {
		p.SigningKeys = config.Keys
	} else {
		p.Keys = config.Keys
	}
	if v == Newest {
		p.UCP.SupportedVersions = config.Older
	}
	return p
}

func service(v Version, transport Transport, endpoint, schema string) Service {
	return Service{
		Version: v, Transport: transport, Endpoint: endpoint,
		Spec: published(v, "specification/overview"), Schema: published(v, "services/shopping/"+schema),
	}
}

// Declared returns the capabilities of version v with their URLs.
func Declared(v Version) Capabilities {
	shopping := "specification/shopping/" // the text moved after 2026-04-08
	if v == Version20260408 {
		shopping = "specification/"
	}
	declare := func(spec, schema string) []Capability {
		return []Capability{{
			Version: v, Spec: published(v, shopping+spec),
			Schema: published(v, "schemas/shopping/"+schema),
		}}
	}
	return Capabilities{
		CapabilityCheckout:      declare("checkout", "checkout.json"),
		CapabilityCatalogSearch: declare("catalog/search", "catalog_search.json"),
		CapabilityCatalogLookup: declare("catalog/lookup", "catalog_lookup.json"),
	}
}

// published returns a URL of the publisher; a schema's origin must be the one that its namespace
// dev.ucp names.
func published(v Version, path string) string { return "https://ucp.dev/" + string(v) + "/" + path }
