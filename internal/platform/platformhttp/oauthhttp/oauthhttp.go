// Package oauthhttp serves the protocol side of package authserver: what MCP clients
// read and call on their own. The page on which a person agrees is of package
// console.
//
//	401 of /mcp -> GET /.well-known/oauth-protected-resource/mcp    RFC 9728
//	            -> GET /.well-known/oauth-authorization-server      RFC 8414
//	            -> POST /oauth/register                             RFC 7591
//	            -> (browser) GET /oauth/authorize
//	            -> POST /oauth/token, /oauth/revoke                 OAuth 2.1, RFC 7009
//
// Errors have the shape of OAuth: {"error", "error_description"}.
package oauthhttp

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/authserver"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/mcphttp"
)

// Paths of the endpoints.
const (
	resourceRoot = "/.well-known/oauth-protected-resource"
	serverPath   = "/.well-known/oauth-authorization-server"
	registerPath = "/oauth/register"
	tokenPath    = "/oauth/token"
	revokePath   = "/oauth/revoke"
	// AuthorizePath is the page on which a person agrees.
	AuthorizePath = "/oauth/authorize"
)

const (
	maxRegistration = 16 << 10 // bytes
	maxForm         = 16 << 10
)

// Handler serves the endpoints. It is safe for concurrent use.
type Handler struct {
	BaseURL string // of the platform, without a slash at the end
	Name    string // of the platform
	Server  *authserver.Service
	Gate    *gate.Gate
}

// Rules are what the routes need. Handlers count requests themselves, to refuse in
// the shape of OAuth.
func Rules() gate.Rules {
	need := gate.Need{Open: true, Uncounted: true}
	return gate.Rules{
		"GET " + resourceRoot: need, "GET " + mcphttp.MetadataPath: need, "GET " + serverPath: need,
		"POST " + registerPath: need, "POST " + tokenPath: need, "POST " + revokePath: need,
	}
}

// Public reports whether pages of every origin may call a path: no cookie counts
// there.
func Public(path string) bool {
	switch path {
	case resourceRoot, mcphttp.MetadataPath, serverPath, registerPath, tokenPath, revokePath:
		return true
	}
	return false
}

// resourceMetadata describes the MCP server as a protected resource (RFC 9728, 2).
type resourceMetadata struct {
	Resource      string   `json:"resource"`
	Servers       []string `json:"authorization_servers"`
	Scopes        []string `json:"scopes_supported"`
	BearerMethods []string `json:"bearer_methods_supported"`
	Name          string   `json:"resource_name"`
	Documentation string   `json:"resource_documentation"`
}

// serverMetadata describes the authorization server (RFC 8414, 2).
type serverMetadata struct {
	Issuer            string   `json:"issuer"`
	Authorize         string   `json:"authorization_endpoint"`
	Token             string   `json:"token_endpoint"`
	Register          string   `json:"registration_endpoint"`
	Revoke            string   `json:"revocation_endpoint"`
	Scopes            []string `json:"scopes_supported"`
	ResponseTypes     []string `json:"response_types_supported"`
	ResponseModes     []string `json:"response_modes_supported"`
	GrantTypes        []string `json:"grant_types_supported"`
	AuthMethods       []string `json:"token_endpoint_auth_methods_supported"`
	RevokeAuthMethods []string `json:"revocation_endpoint_auth_methods_supported"`
	ChallengeMethods  []string `json:"code_challenge_methods_supported"`
	Iss               bool     `json:"authorization_response_iss_parameter_supported"`
	ClientDocuments   bool     `json:"client_id_metadata_document_supported"`
	Documentation     string   `json:"service_documentation"`
}

// Mount mounts and documents the endpoints.
func (h *Handler) Mount(api *openapi.API, mux gate.Mux) {
	scopes := apikey.All.Names()
	resource := &resourceMetadata{
		Resource: h.BaseURL + mcphttp.Path, Servers: []string{h.BaseURL}, Scopes: scopes,
		BearerMethods: []string{"header"}, Name: h.Name, Documentation: h.BaseURL + "/docs",
	}
	server := &serverMetadata{
		Issuer: h.BaseURL, Authorize: h.BaseURL + AuthorizePath, Token: h.BaseURL + tokenPath,
		Register: h.BaseURL + registerPath, Revoke: h.BaseURL + revokePath, Scopes: scopes,
		ResponseTypes: []string{"code"}, ResponseModes: []string{"query"},
		GrantTypes:  []string{"authorization_code", "refresh_token"},
		AuthMethods: []string{"none"}, RevokeAuthMethods: []string{"none"}, ChallengeMethods: []string{"S256"},
		Iss: true, ClientDocuments: true, Documentation: h.BaseURL + "/docs",
	}
	for path, document := range map[string]any{
		resourceRoot: resource, mcphttp.MetadataPath: resource, serverPath: server,
	} {
		mux.HandleFunc("GET "+path, h.document(document))
	}
	mux.HandleFunc("POST "+registerPath, h.counted(h.register))
	mux.HandleFunc("POST "+tokenPath, h.counted(h.token))
	mux.HandleFunc("POST "+revokePath, h.counted(h.revoke))
	describe(api)
}

func (h *Handler) document(document any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h.Gate.Open(w.Header(), r); err != nil {
			refuse(w, r, err)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=300")
		write(w, http.StatusOK, document)
	}
}

// counted counts a request, and writes the problem that its handler returns.
func (h *Handler) counted(handle func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		err := h.Gate.Open(w.Header(), r)
		if err == nil {
			err = handle(w, r)
		}
		if err != nil {
			refuse(w, r, err)
		}
	}
}

// registered is the response to a registration (RFC 7591, 3.2.1).
type registered struct {
	ID            string   `json:"client_id"`
	IssuedAt      int64    `json:"client_id_issued_at"`
	Name          string   `json:"client_name"`
	RedirectURIs  []string `json:"redirect_uris"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
}

func (h *Handler) register(w http.ResponseWriter, r *http.Request) error {
	var m authserver.Metadata
	if err := httpserver.DecodeJSON(r, &m, maxRegistration); err != nil {
		if p := httpserver.ProblemOf(r.Context(), err); p.Kind != problem.Internal {
			return problem.New(problem.Invalid, "invalid_client_metadata",
				"The registration is not a JSON object of the shape of RFC 7591.")
		}
		return err
	}
	client, err := h.Server.Register(&m)
	if err != nil {
		return err
	}
	write(w, http.StatusCreated, registered{
		client.ID, time.Now().Unix(), client.Name, client.RedirectURIs,
		[]string{"authorization_code", "refresh_token"},
		[]string{"code"},
		"none",
	})
	return nil
}

// form reads a request with parameters. Each is there once at most (OAuth 2.1, 3.2),
// and all are in the body: URLs are logged on the way.
func form(w http.ResponseWriter, r *http.Request) (get func(name string) string, err error) {
	invalid := func(detail string) error { return problem.New(problem.Invalid, "invalid_request", detail) }
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind),
		"application/x-www-form-urlencoded") {
		return nil, invalid("Send the parameters as application/x-www-form-urlencoded.")
	}
	if err := r.ParseForm(); err != nil {
		return nil, invalid("The form cannot be read.")
	}
	for _, values := range r.PostForm {
		if len(values) > 1 {
			return nil, invalid("A parameter is there twice.")
		}
	}
	for _, name := range []string{"code", "refresh_token", "token", "code_verifier"} {
		if r.URL.Query().Has(name) {
			return nil, invalid("Send the parameters in the body, never in a URL: URLs are logged on the way.")
		}
	}
	if r.Header.Get("Authorization") != "" || r.PostForm.Has("client_secret") {
		return nil, problem.New(problem.Unauthenticated, "invalid_client",
			"Clients are public here: send client_id in the body, and no secret.")
	}
	if r.PostForm.Get("client_id") == "" {
		return nil, problem.New(problem.Unauthenticated, "invalid_client", "Send client_id in the body.")
	}
	return r.PostForm.Get, nil
}

// issued is the response of the token endpoint (OAuth 2.1, 3.2.3).
type issued struct {
	Access    string `json:"access_token"`
	Type      string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"`
	Refresh   string `json:"refresh_token"`
	Scope     string `json:"scope"`
}

func (h *Handler) token(w http.ResponseWriter, r *http.Request) error {
	get, err := form(w, r)
	if err != nil {
		return err
	}
	if err := h.Gate.MayTry(r); err != nil {
		return err
	}
	from := gate.Actor(r).IP
	var tokens *authserver.Tokens
	switch get("grant_type") {
	case "authorization_code":
		tokens, err = h.Server.Exchange(r.Context(), authserver.Code{
			ClientID: get("client_id"), Code: get("code"), Verifier: get("code_verifier"),
			RedirectURI: get("redirect_uri"), Resource: get("resource"),
		}, from)
	case "refresh_token":
		tokens, err = h.Server.Refresh(r.Context(), authserver.Renewal{
			ClientID: get("client_id"), Refresh: get("refresh_token"), Scope: get("scope"), Resource: get("resource"),
		}, from)
	case "":
		err = problem.New(problem.Invalid, "invalid_request", "Send grant_type.")
	default:
		err = problem.New(problem.Invalid, "unsupported_grant_type",
			"The grant types are authorization_code and refresh_token.")
	}
	if problem.Is(err, "invalid_grant") {
		return errors.Join(err, h.Gate.Failed(r))
	}
	if err != nil {
		return err
	}
	write(w, http.StatusOK, issued{
		tokens.Access, "Bearer", int(tokens.ExpiresIn / time.Second), tokens.Refresh, tokens.Scope,
	})
	return nil
}

func (h *Handler) revoke(w http.ResponseWriter, r *http.Request) error {
	get, err := form(w, r)
	if err != nil {
		return err
	}
	if get("token") == "" {
		return problem.New(problem.Invalid, "invalid_request", "Send token.")
	}
	if err := h.Server.Revoke(r.Context(), get("client_id"), get("token"), gate.Actor(r).IP); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// failure is an error of OAuth 2.1, 3.2.4.
type failure struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// refuse writes a problem in the shape of OAuth.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := httpserver.ProblemOf(r.Context(), err)
	status, code := p.Kind.Status(), p.Code
	switch {
	case p.Kind == problem.Internal:
		code = "server_error"
	case p.Kind == problem.RateLimited || p.Kind.Temporary():
		code = "temporarily_unavailable"
	}
	if wait := httpserver.RetryAfterSeconds(p); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(wait))
	}
	httpserver.NoteProblem(r.Context(), p.Code)
	w.Header().Set("Cache-Control", "no-store")
	write(w, status, failure{code, p.Detail})
}

func write(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"server_error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// describe documents the endpoints that a program calls.
func describe(api *openapi.API) {
	object := json.RawMessage(`{"type":"object"}`)
	fault := openapi.Content{
		Description: "An error of OAuth.", Schema: json.RawMessage(
			`{"type":"object","properties":{"error":{"type":"string"},"error_description":{"type":"string"}},` +
				`"required":["error"]}`),
	}
	for _, one := range []struct {
		path, id, summary, about string
		status                   int
	}{
		{
			registerPath, "registerClient", "Register an MCP client",
			"Dynamic client registration (RFC 7591). Every client is public; client_id holds the registration, and " +
				"nothing is stored.", http.StatusCreated,
		},
		{
			tokenPath, "token", "Get tokens of an MCP client",
			"OAuth 2.1: a form with grant_type authorization_code (code, code_verifier, client_id, redirect_uri, " +
				"resource) or refresh_token (refresh_token, client_id).", http.StatusOK,
		},
		{
			revokePath, "revokeToken", "Revoke the access of an MCP client",
			"RFC 7009: a form with token and client_id. The access token, too, stops working at once.", http.StatusOK,
		},
	} {
		openapi.Describe(api, openapi.Operation{
			Method: http.MethodPost, Path: one.path, ID: one.id, Tags: []string{"mcp"}, Summary: one.summary,
			Description: one.about,
		}, openapi.Description{
			Request: &openapi.Content{Schema: object},
			Responses: map[int]openapi.Content{
				one.status: {Description: "As the RFC has it.", Schema: object}, 0: fault,
			},
		})
	}
}
