package oauthclient

import (
	"encoding/json"
	"fmt"
)

// DocumentPath is the path of the client id metadata document on the platform
// host; its address is our client_id at issuers that read such documents.
const DocumentPath = "/oauth/client.json"

// documentCallback is the callback of sign-ins that use the document. It is one
// for all apps: a document that listed each would disclose which
// connectors our accounts have.
const documentCallback = "/oauth/callback/mcp"

// document is a client id metadata document: the fields of RFC 7591 that describe a
// client without a secret.
type document struct {
	ClientID      string   `json:"client_id"`
	Name          string   `json:"client_name"`
	URI           string   `json:"client_uri"`
	RedirectURIs  []string `json:"redirect_uris"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
	Type          string   `json:"application_type"`
}

// Document is the client id metadata document of the platform, as JSON
// (https://modelcontextprotocol.io, Authorization, Client ID Metadata Documents).
// platformURL has no slash at its end; name is what consent pages show.
func Document(platformURL, name string) ([]byte, error) {
	text, err := json.MarshalIndent(document{
		ClientID: platformURL + DocumentPath, Name: name, URI: platformURL,
		RedirectURIs: []string{platformURL + documentCallback},
		GrantTypes:   []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		AuthMethod: "none", Type: "web",
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the client id metadata document: %w", err)
	}
	return append(text, '\n'), nil
}
