package oauthclient

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// server is what discovery learns of an MCP server and whoever authorizes for
// it.
type server struct {
	resource string   // RFC 8707 name of the server
	scopes   []string // that it asks for
	issuer   string

	authorize, token, register, revoke string

	issInCallback bool // RFC 9207
	documents     bool // client id metadata documents
	clientAuth    []string
	authScopes    []string
}

// Codes of a discovery that leads nowhere.
const (
	codeNoAuth     = "no_authorization_server"
	codeMetadata   = "metadata_invalid"
	codeNoPKCE     = "pkce_unsupported"
	codeResource   = "resource_mismatch"
	codeIssuer     = "issuer_mismatch"
	codeRegistered = "registration_refused"
)

func undiscovered(code string) error {
	return &connection.RefreshError{Class: connection.Unknown, Code: code}
}

// discover asks an MCP server who authorizes for it (MCP, Authorization).
//
//	POST without a token -> 401 -> resource_metadata, or the well-known places
//	-> RFC 9728 document -> issuer -> RFC 8414 or OpenID document
//
// A server without such a document is its own authorization server at the usual
// paths, as the first version of that specification had it.
func (d *deal) discover(ctx context.Context, address string) (*server, error) {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" {
		return nil, undiscovered(codeMetadata)
	}
	challenge, err := d.challengeOf(ctx, address)
	if err != nil {
		return nil, err
	}
	s := &server{resource: canonical(at)}
	if text := challenge["scope"]; text != "" {
		s.scopes = strings.Fields(text)
	}
	document, err := d.resourceDocument(ctx, at, challenge["resource_metadata"])
	if err != nil {
		return nil, err
	}
	origin := at.Scheme + "://" + at.Host
	s.issuer = origin
	if document != nil {
		if err := s.readResource(document, at); err != nil {
			return nil, err
		}
	}
	metadata, err := d.issuerDocument(ctx, s.issuer)
	if err != nil {
		return nil, err
	}
	if metadata == nil && (document != nil || len(challenge) == 0) {
		return nil, undiscovered(codeNoAuth)
	}
	if metadata == nil {
		s.authorize, s.token, s.register = origin+"/authorize", origin+"/token", origin+"/register"
		return s, nil
	}
	return s, s.readIssuer(metadata)
}

// canonical is the name of a server: lower case, without fragment and without
// the slash that means nothing (MCP, Canonical Server URI).
func canonical(u *url.URL) string {
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) + strings.TrimSuffix(u.EscapedPath(), "/") + query(u)
}

func query(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	return "?" + u.RawQuery
}

// initialize is a request that every version of MCP knows.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"ace","version":"1"}}}`

// challengeOf are the parameters of the 401 that a server answers without a
// token; nil where it answers something else.
func (d *deal) challengeOf(ctx context.Context, address string) (map[string]string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader([]byte(initialize)))
	if err != nil {
		return nil, undiscovered(codeMetadata)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	a, err := d.send(d.c.doer, r, "text")
	if err != nil {
		return nil, err
	}
	if a.status >= 500 {
		return nil, &connection.RefreshError{Class: connection.Temporary, Status: a.status, After: retryAfter(a.header)}
	}
	if a.status != http.StatusUnauthorized {
		return nil, nil
	}
	params := map[string]string{}
	for _, field := range a.header.Values("WWW-Authenticate") {
		for name, value := range challengeParams(field) {
			params[name] = value
		}
	}
	params["seen"] = "401"
	return params, nil
}

// challengeParams reads the parameters of the challenges in a field (RFC 9110,
// 11.6.1); names are lower case. Where a name stands twice the first counts.
func challengeParams(field string) map[string]string {
	params := map[string]string{}
	for rest := field; rest != ""; {
		i := strings.IndexByte(rest, '=')
		if i < 0 {
			break
		}
		name := rest[:i]
		name = strings.ToLower(name[strings.LastIndexAny(name, " ,\t")+1:])
		value, after := challengeValue(strings.TrimLeft(rest[i+1:], " \t"))
		if _, known := params[name]; !known && name != "" {
			params[name] = value
		}
		rest = after
	}
	return params
}

func challengeValue(text string) (value, rest string) {
	if !strings.HasPrefix(text, `"`) {
		i := strings.IndexAny(text, ", \t")
		if i < 0 {
			return text, ""
		}
		return text[:i], text[i:]
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case text[i] == '"':
			return b.String(), text[i+1:]
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), ""
}

// resourceDocument is the RFC 9728 document: where the challenge says, else in
// the well-known places; nil where there is none.
func (d *deal) resourceDocument(ctx context.Context, at *url.URL, told string) (*answer, error) {
	const wellKnown = "/.well-known/oauth-protected-resource"
	origin := at.Scheme + "://" + at.Host
	places := []string{origin + wellKnown + strings.TrimSuffix(at.EscapedPath(), "/"), origin + wellKnown}
	if told != "" {
		u, err := url.Parse(told)
		if err != nil || u.Host != at.Host || u.Scheme != at.Scheme { // another's word about this server counts nothing
			return nil, undiscovered(codeResource)
		}
		places = []string{told}
	}
	return d.firstDocument(ctx, places)
}

// issuerDocument is the metadata of an issuer, in the order of MCP: RFC 8414,
// then OpenID Connect Discovery, each behind and before the issuer's path.
func (d *deal) issuerDocument(ctx context.Context, issuer string) (*answer, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, undiscovered(codeMetadata)
	}
	origin, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	places := []string{origin + "/.well-known/oauth-authorization-server" + path, origin + "/.well-known/openid-configuration" + path}
	if path != "" {
		places = append(places, origin+path+"/.well-known/openid-configuration")
	}
	return d.firstDocument(ctx, places)
}

// firstDocument is the first JSON object at some addresses; nil for none. A
// server that fails is not one that has no document.
func (d *deal) firstDocument(ctx context.Context, places []string) (*answer, error) {
	for _, place := range slices.Compact(places) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
		if err != nil {
			return nil, undiscovered(codeMetadata)
		}
		r.Header.Set("Accept", "application/json")
		a, err := d.send(d.c.doer, r, "json")
		if err != nil {
			return nil, err
		}
		if a.status >= 500 || a.status == http.StatusTooManyRequests {
			return nil, &connection.RefreshError{Class: connection.Temporary, Status: a.status, After: retryAfter(a.header)}
		}
		if _, isObject := a.document.(map[string]any); isObject && a.status == http.StatusOK {
			return a, nil
		}
	}
	return nil, nil
}

// readResource takes the document of a resource, which has to be about this
// server (RFC 9728, 3.3; a parent of its path counts as well).
func (s *server) readResource(a *answer, at *url.URL) error {
	name, err := url.Parse(a.at("/resource"))
	if err != nil || !strings.EqualFold(name.Host, at.Host) || name.Scheme != at.Scheme || !within(at.Path, name.Path) {
		return undiscovered(codeResource)
	}
	s.resource = a.at("/resource")
	if s.issuer = a.at("/authorization_servers/0"); s.issuer == "" {
		return undiscovered(codeNoAuth)
	}
	if s.scopes == nil {
		s.scopes = list(a, "/scopes_supported")
	}
	return nil
}

func within(path, parent string) bool {
	parent = strings.TrimSuffix(parent, "/")
	return path == parent || strings.HasPrefix(path, parent+"/") || strings.TrimSuffix(path, "/") == parent
}

// readIssuer takes the metadata of an issuer, which has to be its own (RFC 8414,
// 3.3).
func (s *server) readIssuer(a *answer) error {
	if strings.TrimSuffix(a.at("/issuer"), "/") != strings.TrimSuffix(s.issuer, "/") {
		return undiscovered(codeIssuer)
	}
	if !slices.Contains(list(a, "/code_challenge_methods_supported"), "S256") {
		return undiscovered(codeNoPKCE)
	}
	s.issuer = a.at("/issuer")
	s.authorize, s.token = a.at("/authorization_endpoint"), a.at("/token_endpoint")
	s.register, s.revoke = a.at("/registration_endpoint"), a.at("/revocation_endpoint")
	s.issInCallback = a.at("/authorization_response_iss_parameter_supported") == "true"
	s.documents = a.at("/client_id_metadata_document_supported") == "true"
	s.clientAuth = list(a, "/token_endpoint_auth_methods_supported")
	s.authScopes = list(a, "/scopes_supported")
	for _, endpoint := range []string{s.authorize, s.token, s.register, s.revoke} {
		u, err := url.Parse(endpoint)
		if err != nil || endpoint != "" && (u.Host == "" || u.User != nil || u.Scheme != "https" && !strings.HasPrefix(s.issuer, "http://")) {
			return undiscovered(codeMetadata)
		}
	}
	if s.authorize == "" || s.token == "" || !strings.HasPrefix(s.authorize, "http") {
		return undiscovered(codeMetadata)
	}
	return nil
}

func list(a *answer, pointer string) []string {
	value, _ := app.Pick(a.document, pointer)
	entries, _ := value.([]any)
	var out []string
	for _, one := range entries {
		if text := app.Text(one); text != "" {
			out = append(out, text)
		}
	}
	return out
}
