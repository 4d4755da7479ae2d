// Package discovery finds out who authorizes for an MCP server.
//
//	POST without a token -> 401 -> resource_metadata, or the well-known places
//	-> document of RFC 9728 -> issuer -> metadata of RFC 8414 or OpenID -> Server
//
// What it returns was checked as far as it can be: the document is about this
// server, the metadata is the issuer's own, PKCE is there, and no endpoint is in
// the open.
package discovery

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient/reply"
)

// Server is an MCP server and its authorization server.
type Server struct {
	Resource string   // name of the server (RFC 8707)
	Scopes   []string // that the server asks for
	Issuer   string

	Authorize, Token string
	Register, Revoke string // empty: there is none

	IssInCallback bool     // the issuer names itself in callbacks (RFC 9207)
	Documents     bool     // the issuer reads client id metadata documents
	ClientAuth    []string // methods of the token endpoint
	IssuerScopes  []string // that the issuer knows
}

// Codes of a discovery that leads nowhere.
const (
	CodeNoAuth   = "no_authorization_server"
	CodeMetadata = "metadata_invalid"
	CodeNoPKCE   = "pkce_unsupported"
	CodeResource = "resource_mismatch"
	CodeIssuer   = "issuer_mismatch"
)

type finder struct{ httpClient reply.HTTPClient }

func undiscovered(code string) error {
	return &connection.RefreshError{Class: connection.Unknown, Code: code}
}

// Find asks the MCP server at an address who authorizes for it (MCP,
// Authorization). A server without metadata is its own authorization server at
// the usual paths, as the first version of that specification had it. Errors are
// *connection.RefreshError: Temporary for an unreachable server, Unknown with
// one of the codes above for one that leads nowhere.
func Find(ctx context.Context, httpClient reply.HTTPClient, address string) (*Server, error) {
	f := &finder{httpClient}
	at, err := url.Parse(address)
	if err != nil || at.Host == "" {
		return nil, undiscovered(CodeMetadata)
	}
	at.Host = strings.ToLower(at.Host)
	challenge, err := f.challengeOf(ctx, at.String())
	if err != nil {
		return nil, err
	}
	s := &Server{Resource: canonical(at)}
	if text := challenge["scope"]; text != "" {
		s.Scopes = strings.Fields(text)
	}
	document, err := f.resourceDocument(ctx, at, challenge["resource_metadata"])
	if err != nil {
		return nil, err
	}
	origin := at.Scheme + "://" + at.Host
	s.Issuer = origin
	if document != nil {
		if err := s.readResource(document, at); err != nil {
			return nil, err
		}
	}
	metadata, err := f.issuerDocument(ctx, s.Issuer)
	if err != nil {
		return nil, err
	}
	if metadata == nil && (document != nil || len(challenge) == 0) {
		return nil, undiscovered(CodeNoAuth)
	}
	if metadata == nil {
		s.Authorize, s.Token, s.Register = origin+"/authorize", origin+"/token", origin+"/register"
		return s, nil
	}
	return s, s.readIssuer(metadata)
}

// canonical is the name of a server: lower case, without fragment and without
// the slash that means nothing (MCP, Canonical Server URI).
func canonical(u *url.URL) string {
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) + strings.TrimSuffix(u.EscapedPath(),
		"/") + query(u)
}

func query(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	return "?" + u.RawQuery
}

// initialize is a request that every version of MCP knows.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"ace","version":"1"}}}`

// challengeOf are the parameters of the 401 that a server sends without a
// token; nil where it returns something else.
func (f *finder) challengeOf(ctx context.Context, address string) (map[string]string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader([]byte(initialize)))
	if err != nil {
		return nil, undiscovered(CodeMetadata)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	a, err := reply.Fetch(f.httpClient, r, "text")
	if err != nil {
		return nil, err
	}
	if a.Status >= 500 {
		return nil, &connection.RefreshError{
			Class: connection.Temporary, Status: a.Status,
			After: reply.RetryAfter(a.Header),
		}
	}
	if a.Status != http.StatusUnauthorized {
		return nil, nil
	}
	params := map[string]string{}
	for _, field := range a.Header.Values("WWW-Authenticate") {
		maps.Copy(params, challengeParams(field))
	}
	params["seen"] = "401"
	return params, nil
}

// challengeParams reads the parameters of the challenges in a field (RFC 9110,
// 11.6.1); names are lower case. Where a name appears twice the first counts.
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
func (f *finder) resourceDocument(ctx context.Context, at *url.URL, told string) (*reply.Reply, error) {
	const wellKnown = "/.well-known/oauth-protected-resource"
	origin := at.Scheme + "://" + at.Host
	places := []string{origin + wellKnown + strings.TrimSuffix(at.EscapedPath(), "/"), origin + wellKnown}
	if told != "" {
		u, err := url.Parse(told)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != at.Scheme {
			return nil, undiscovered(CodeMetadata)
		}
		places = []string{told}
	}
	return f.firstDocument(ctx, places)
}

// issuerDocument is the metadata of an issuer, in the order of MCP: RFC 8414,
// then OpenID Connect Discovery, each behind and before the issuer's path.
func (f *finder) issuerDocument(ctx context.Context, issuer string) (*reply.Reply, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, undiscovered(CodeMetadata)
	}
	origin, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	places := []string{
		origin + "/.well-known/oauth-authorization-server" + path,
		origin + "/.well-known/openid-configuration" + path,
	}
	if path != "" {
		places = append(places, origin+path+"/.well-known/openid-configuration")
	}
	return f.firstDocument(ctx, places)
}

// firstDocument is the first JSON object at some addresses; nil for none. A
// server that fails is not one that has no document.
func (f *finder) firstDocument(ctx context.Context, places []string) (*reply.Reply, error) {
	for _, place := range slices.Compact(places) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
		if err != nil {
			return nil, undiscovered(CodeMetadata)
		}
		r.Header.Set("Accept", "application/json")
		a, err := reply.Fetch(f.httpClient, r, "json")
		if err != nil {
			return nil, err
		}
		if a.Status >= 500 || a.Status == http.StatusTooManyRequests {
			return nil, &connection.RefreshError{
				Class: connection.Temporary, Status: a.Status,
				After: reply.RetryAfter(a.Header),
			}
		}
		if _, isObject := a.Document.(map[string]any); isObject && a.Status == http.StatusOK {
			return a, nil
		}
	}
	return nil, nil
}

// readResource takes the document of a resource, which has to be about this
// server (RFC 9728, 3.3; a parent of its path counts as well).
func (s *Server) readResource(a *reply.Reply, at *url.URL) error {
	name, err := url.Parse(a.At("/resource"))
	if err != nil || !strings.EqualFold(name.Host, at.Host) || name.Scheme != at.Scheme || !within(at.Path, name.Path) {
		return undiscovered(CodeResource)
	}
	s.Resource = a.At("/resource")
	if s.Issuer = a.At("/authorization_servers/0"); s.Issuer == "" {
		return undiscovered(CodeNoAuth)
	}
	if s.Scopes == nil {
		s.Scopes = a.List("/scopes_supported")
	}
	return nil
}

func within(path, parent string) bool {
	parent = strings.TrimSuffix(parent, "/")
	return path == parent || strings.HasPrefix(path, parent+"/") || strings.TrimSuffix(path, "/") == parent
}

// readIssuer takes the metadata of an issuer, which has to be its own (RFC 8414,
// 3.3).
func (s *Server) readIssuer(a *reply.Reply) error {
	if strings.TrimSuffix(a.At("/issuer"), "/") != strings.TrimSuffix(s.Issuer, "/") {
		return undiscovered(CodeIssuer)
	}
	if !slices.Contains(a.List("/code_challenge_methods_supported"), "S256") {
		return undiscovered(CodeNoPKCE)
	}
	s.Issuer = a.At("/issuer")
	s.Authorize, s.Token = a.At("/authorization_endpoint"), a.At("/token_endpoint")
	s.Register, s.Revoke = a.At("/registration_endpoint"), a.At("/revocation_endpoint")
	s.IssInCallback = a.At("/authorization_response_iss_parameter_supported") == "true"
	s.Documents = a.At("/client_id_metadata_document_supported") == "true"
	s.ClientAuth = a.List("/token_endpoint_auth_methods_supported")
	s.IssuerScopes = a.List("/scopes_supported")
	for _, endpoint := range []string{s.Authorize, s.Token, s.Register, s.Revoke} {
		u, err := url.Parse(endpoint)
		if err != nil || endpoint != "" &&
			(u.Host == "" || u.User != nil || u.Scheme != "https" && !strings.HasPrefix(s.Issuer, "http://")) {
			return undiscovered(CodeMetadata)
		}
	}
	if s.Authorize == "" || s.Token == "" || !strings.HasPrefix(s.Authorize, "http") {
		return undiscovered(CodeMetadata)
	}
	return nil
}
