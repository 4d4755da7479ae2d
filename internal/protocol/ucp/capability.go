package ucp

import (
	"encoding/json"
	"slices"
)

// The declared capabilities.
const (
	CapabilityCheckout      = "dev.ucp.shopping.checkout"
	CapabilityCatalogSearch = "dev.ucp.shopping.catalog.search"
	CapabilityCatalogLookup = "dev.ucp.shopping.catalog.lookup"
)

// ServiceShopping is the service that the capabilities belong to.
const ServiceShopping = "dev.ucp.shopping"

// Capability is one declaration of a capability: in profiles with URLs, in responses only with the
// version.
type Capability struct {
	Version Version `json:"version"`
	Spec    string  `json:"spec,omitempty"`
	Schema  string  `json:"schema,omitempty"`
	ID      string  `json:"id,omitempty"`
	// Extends names the capabilities that this one extends; the extension is dropped if none of
	// them is shared.
	Extends Extends `json:"extends,omitempty"`
}

// Extends is a list of names that is encoded as a string if it has one entry.
type Extends []string

// MarshalJSON encodes a string or an array of strings.
func (e Extends) MarshalJSON() ([]byte, error) {
	if len(e) == 1 {
		return json.Marshal(e[0])
	}
	return json.Marshal([]string(e))
}

// UnmarshalJSON decodes a string or an array of strings.
func (e *Extends) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*e = Extends{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(e))
}

// Capabilities maps names to their declarations, one per version.
type Capabilities map[string][]Capability

// Response returns the named capabilities as a response of version v declares them.
func Response(v Version, names ...string) Capabilities {
	c := make(Capabilities, len(names))
	for _, name := range names {
		c[name] = []Capability{{Version: v}}
	}
	return c
}

// Only returns the entries of c that are in names: a response declares what is relevant to the
// operation.
func (c Capabilities) Only(names ...string) Capabilities {
	only := make(Capabilities, len(names))
	for _, name := range names {
		if declared := c[name]; len(declared) > 0 {
			only[name] = declared
		}
	}
	return only
}

// Intersect returns the capabilities that both sides declare, each with the highest common version.
// Extensions without a shared parent are removed, repeatedly, since one extension may extend
// another. An empty result is the business outcome capabilities_incompatible.
func Intersect(ours, theirs Capabilities) Capabilities {
	shared := Capabilities{}
	for name, declared := range ours {
		if best, ok := highestCommon(declared, theirs[name]); ok {
			shared[name] = []Capability{best}
		}
	}
	for pruned := true; pruned; {
		pruned = false
		for name, declared := range shared {
			if isOrphan(declared[0], shared) {
				delete(shared, name)
				pruned = true
			}
		}
	}
	for name, declared := range shared {
		shared[name] = []Capability{{Version: declared[0].Version}}
	}
	return shared
}

func highestCommon(ours, theirs []Capability) (best Capability, ok bool) {
	for _, our := range ours {
		common := slices.ContainsFunc(theirs, func(their Capability) bool { return their.Version == our.Version })
		if common && (!ok || our.Version > best.Version) {
			best, ok = our, true
		}
	}
	return best, ok
}

func isOrphan(c Capability, shared Capabilities) bool {
	if len(c.Extends) == 0 {
		return false
	}
	return !slices.ContainsFunc(c.Extends, func(parent string) bool { return len(shared[parent]) > 0 })
}
