package acp

import "slices"

// DiscoveryPath is where a store publishes its discovery document, with
// Cache-Control: public, max-age=3600.
const DiscoveryPath = "/.well-known/acp.json"

// Discovery is the document at DiscoveryPath.
type Discovery struct {
	Protocol     DiscoveryProtocol     `json:"protocol"`
	APIBaseURL   string                `json:"api_base_url"`
	Transports   []string              `json:"transports"`
	Capabilities DiscoveryCapabilities `json:"capabilities"`
}

// DiscoveryProtocol names the versions, oldest first.
type DiscoveryProtocol struct {
	Name              string    `json:"name"`
	Version           Version   `json:"version"`
	SupportedVersions []Version `json:"supported_versions"`
	DocumentationURL  string    `json:"documentation_url,omitempty"`
}

// DiscoveryCapabilities lists the supported capabilities. Empty lists are written, absent (nil)
// ones are not.
type DiscoveryCapabilities struct {
	Services            []string             `json:"services"`
	Extensions          []DiscoveryExtension `json:"extensions,omitzero"`
	InterventionTypes   []string             `json:"intervention_types,omitzero"`
	SupportedCurrencies []string             `json:"supported_currencies,omitzero"` // lower case
	SupportedLocales    []string             `json:"supported_locales,omitzero"`
}

// DiscoveryExtension names an extension.
type DiscoveryExtension struct {
	Name   string `json:"name"`
	Spec   string `json:"spec,omitempty"`
	Schema string `json:"schema,omitempty"`
}

// DiscoveryConfig is the store-specific part of the document.
type DiscoveryConfig struct {
	APIBaseURL       string
	DocumentationURL string   // may be ""
	Currencies       []string // lower case
	Locales          []string // BCP 47
}

// NewDiscovery returns the document of a store that serves checkout over REST.
func NewDiscovery(config DiscoveryConfig) *Discovery {
	oldestFirst := Versions()
	slices.Sort(oldestFirst)
	return &Discovery{
		Protocol: DiscoveryProtocol{
			Name: "acp", Version: Newest, SupportedVersions: oldestFirst, DocumentationURL: config.DocumentationURL,
		},
		APIBaseURL: config.APIBaseURL, Transports: []string{"rest"},
		Capabilities: DiscoveryCapabilities{
			Services: []string{"checkout"}, Extensions: []DiscoveryExtension{}, InterventionTypes: []string{},
			SupportedCurrencies: orEmpty(config.Currencies), SupportedLocales: orEmpty(config.Locales),
		},
	}
}
