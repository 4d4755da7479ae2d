package openapiimport

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Grants of OAuth 2 that a Flow describes.
const (
	GrantCode   = "authorization_code"
	GrantClient = "client_credentials"
)

// Flow is how tokens of an API are obtained by OAuth 2.
type Flow struct {
	Scheme       string // its name in the document
	Grant        string
	AuthorizeURL string   // empty for GrantClient
	TokenURL     string   // both absolute
	Scopes       []string // that the document requires of every call
}

// Flows returns the flows of a document that a server can use, by the names of
// their schemes. from is where the document was fetched, for relative URLs. A
// flow with invalid URLs is skipped. It returns the problem of Import.
func Flows(data []byte, from string) ([]Flow, error) {
	root, err := read(data)
	if err != nil {
		return nil, err
	}
	r := resolver{root}
	schemes := object(object(root, "components"), "securitySchemes")
	if text(root, "swagger") == "2.0" {
		schemes = object(root, "securityDefinitions")
	}
	var flows []Flow
	for _, name := range slices.Sorted(maps.Keys(schemes)) {
		scheme, _, err := r.object(schemes[name])
		if err != nil || text(scheme, "type") != "oauth2" {
			continue
		}
		required := required(root, name)
		for _, kind := range []struct{ grant, three, two string }{
			{GrantCode, "authorizationCode", "accessCode"},
			{GrantClient, "clientCredentials", "application"},
		} {
			described := object(object(scheme, "flows"), kind.three)
			if text(scheme, "flow") == kind.two {
				described = scheme
			}
			f := Flow{
				Scheme: name, Grant: kind.grant, TokenURL: absolute(text(described, "tokenUrl"), from),
				Scopes: required,
			}
			if kind.grant == GrantCode {
				f.AuthorizeURL = absolute(text(described, "authorizationUrl"), from)
			}
			if f.TokenURL != "" && (f.AuthorizeURL != "" || kind.grant == GrantClient) {
				flows = append(flows, f)
			}
		}
	}
	return flows, nil
}

// required returns the scopes that a document requires of every call by a
// scheme.
func required(root map[string]any, scheme string) []string {
	var scopes []string
	for _, one := range list(root, "security") {
		requirement, _ := one.(map[string]any)
		for _, value := range list(requirement, scheme) {
			if scope, ok := value.(string); ok && !slices.Contains(scopes, scope) {
				scopes = append(scopes, scope)
			}
		}
	}
	return scopes
}

// absolute returns a URL of a document, or "" if it cannot be called.
func absolute(address, from string) string {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return ""
	}
	if base, err := url.Parse(from); err == nil && base.IsAbs() {
		u = base.ResolveReference(u)
	}
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" ||
		strings.ContainsAny(u.String(), "{}") {
		return ""
	}
	return u.String()
}
