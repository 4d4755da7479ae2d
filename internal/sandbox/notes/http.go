package notes

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
)

const maxBody = 256 << 10

// Handler returns the HTTP handler; prefix is where it is mounted, styles the sheet
// with the sandbox's colors.
func (n *Notes) Handler(prefix, styles string) (http.Handler, error) {
	pages, err := newPages(prefix, styles)
	if err != nil {
		return nil, err
	}
	f := &handler{n: n, prefix: prefix, pages: pages}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", f.home)
	mux.HandleFunc("POST /keys", f.makeKey)
	mux.HandleFunc("GET /assets/notes.css", pages.sheet)

	mux.HandleFunc("GET /oauth/authorize", f.authorize)
	mux.HandleFunc("POST /oauth/authorize", f.decide)
	mux.HandleFunc("POST /oauth/token", f.faulty("token", f.token))
	mux.HandleFunc("POST /oauth/revoke", f.faulty("revoke", f.revoke))
	mux.HandleFunc("POST /oauth/register", f.register)
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", f.metadata)

	mux.HandleFunc("GET /api/v1/me", f.api(scopeRead, f.me))
	mux.HandleFunc("GET /api/v1/notes", f.api(scopeRead, f.listNotes))
	mux.HandleFunc("POST /api/v1/notes", f.api(scopeWrite, f.createNote))
	mux.HandleFunc("GET /api/v1/notes/{id}", f.api(scopeRead, f.getNote))
	mux.HandleFunc("PATCH /api/v1/notes/{id}", f.api(scopeWrite, f.changeNote))
	mux.HandleFunc("DELETE /api/v1/notes/{id}", f.api(scopeWrite, f.deleteNote))
	mux.HandleFunc("POST /api/v1/hooks", f.api(scopeWrite, f.createHook))
	mux.HandleFunc("DELETE /api/v1/hooks/{id}", f.api(scopeWrite, f.deleteHook))

	mux.Handle("/mcp", f.mcp())
	mux.HandleFunc("POST /_sandbox/faults", f.setFaults)
	mux.HandleFunc("DELETE /_sandbox/faults", f.clearFaults)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Ace-Sandbox", "true")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		mux.ServeHTTP(w, r)
	}), nil
}

type handler struct {
	n      *Notes
	prefix string
	pages  *pages
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if v != nil {
		_ = json.NewEncoder(w).Encode(v) // a caller that has gone is no fault
	}
}

// origin is the address of this listener as the caller sees it.
func (f *handler) origin(r *http.Request) string {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return scheme + r.Host + f.prefix
}

// writeOAuth returns an error of the OAuth endpoints.
func (f *handler) writeOAuth(w http.ResponseWriter, r *http.Request, err error) {
	var own *oauthError
	if !errors.As(err, &own) {
		f.n.options.Logger.ErrorContext(r.Context(), "the demo app hit a fault", "error", err)
		own = refuse(http.StatusInternalServerError, "server_error", "")
	}
	write(w, own.status, own)
}

func (f *handler) token(w http.ResponseWriter, r *http.Request) {
	t, err := f.n.grantToken(r.Context(), r)
	if err != nil {
		f.writeOAuth(w, r, err)
		return
	}
	write(w, http.StatusOK, t)
}

func (f *handler) revoke(w http.ResponseWriter, r *http.Request) {
	if err := f.n.revoke(r.Context(), r); err != nil {
		f.writeOAuth(w, r, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (f *handler) register(w http.ResponseWriter, r *http.Request) {
	var in registration
	if err := httpserver.DecodeJSON(r, &in, maxBody); err != nil {
		f.writeOAuth(w, r,
			refuse(http.StatusBadRequest, "invalid_client_metadata", "The body is no JSON that can be read."))
		return
	}
	out, err := f.n.register(r.Context(), in)
	if err != nil {
		f.writeOAuth(w, r, err)
		return
	}
	write(w, http.StatusCreated, out)
}

// metadata is RFC 8414, for clients of the MCP endpoint.
func (f *handler) metadata(w http.ResponseWriter, r *http.Request) {
	origin := f.origin(r)
	write(w, http.StatusOK, map[string]any{
		"issuer": origin, "authorization_endpoint": origin + "/oauth/authorize",
		"token_endpoint":        origin + "/oauth/token",
		"registration_endpoint": origin + "/oauth/register", "revocation_endpoint": origin + "/oauth/revoke",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{
			"authorization_code",
			"refresh_token",
		},
		"code_challenge_methods_supported":      []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post", "none"},
		"scopes_supported":                      []string{scopeRead, scopeWrite},
	})
}

// Resource is RFC 9728 for the MCP endpoint: it is at the root of the
// listener, where clients look for it.
func (f *handler) resource(w http.ResponseWriter, r *http.Request) {
	origin := f.origin(r)
	write(w, http.StatusOK, map[string]any{
		"resource": origin + "/mcp", "authorization_servers": []string{origin}, "scopes_supported": []string{
			scopeRead,
			scopeWrite,
		}, "bearer_methods_supported": []string{"header"},
	})
}

// Metadata returns the documents at the root of the listener, by path.
func (n *Notes) Metadata(prefix string) map[string]http.HandlerFunc {
	f := &handler{n: n, prefix: prefix}
	return map[string]http.HandlerFunc{
		"GET /.well-known/oauth-protected-resource" + prefix + "/mcp": f.resource,
		"GET /.well-known/oauth-authorization-server" + prefix:        f.metadata,
	}
}

// api admits calls of the REST API.
func (f *handler) api(
	scope string,
	call func(w http.ResponseWriter, r *http.Request, c *caller) error,
) http.HandlerFunc {
	return f.faulty("api", func(w http.ResponseWriter, r *http.Request) {
		c, err := f.n.identify(r.Context(), r)
		switch {
		case err != nil:
		case c == nil:
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			err = apiError{http.StatusUnauthorized, "unauthorized", "Send a token, or a key in X-Api-Key."}
		case !c.may(scope):
			err = apiError{http.StatusForbidden, "forbidden", "The token lacks the scope " + scope + "."}
		default:
			err = call(w, r, c)
		}
		if err != nil {
			f.writeAPI(w, r, err)
		}
	})
}

// apiError is an error of the REST API.
type apiError struct {
	status        int
	code, message string
}

func (e apiError) Error() string { return e.code }

func (f *handler) writeAPI(w http.ResponseWriter, r *http.Request, err error) {
	var own apiError
	if p, ok := problem.From(err); ok {
		own = apiError{p.Kind.Status(), p.Code, p.Detail}
	} else if !errors.As(err, &own) {
		f.n.options.Logger.ErrorContext(r.Context(), "the demo app hit a fault", "error", err)
		own = apiError{http.StatusInternalServerError, "internal", "Something went wrong."}
	}
	write(w, own.status, map[string]any{"error": map[string]string{"code": own.code, "message": own.message}})
}

func (f *handler) me(w http.ResponseWriter, _ *http.Request, c *caller) error {
	write(w, http.StatusOK, map[string]string{
		"id": c.person, "name": c.person, "email": mailbox(c.person),
		"workspace": "home", "scope": c.scope,
	})
	return nil
}

// mailbox is the address that a person of this app has.
func mailbox(person string) string { return url.PathEscape(strings.ToLower(person)) + "@notes.example" }

// listed is a page of notes.
type listed struct {
	Notes []*note `json:"notes"`
	Next  string  `json:"next,omitempty"`
}

func (n *Notes) page(r *http.Request, person, search, cursor string, limit int) (*listed, error) {
	before, err := strconv.ParseInt("0"+cursor, 10, 64)
	if err != nil || limit < 1 || limit > 100 {
		return nil, apiError{
			http.StatusUnprocessableEntity, "invalid",
			"limit is 1 to 100, cursor the next of the page before.",
		}
	}
	notes, err := n.list(r.Context(), person, search, before, limit+1)
	if err != nil {
		return nil, err
	}
	out := &listed{Notes: notes}
	if len(notes) > limit {
		out.Notes = notes[:limit]
		out.Next = strconv.FormatInt(notes[limit-1].seq, 10)
	}
	return out, nil
}

func (f *handler) listNotes(w http.ResponseWriter, r *http.Request, c *caller) error {
	q, limit := r.URL.Query(), 20
	if text := q.Get("limit"); text != "" {
		limit, _ = strconv.Atoi(text) // 0, which is refused, for nonsense
	}
	out, err := f.n.page(r, c.person, q.Get("search"), q.Get("cursor"), limit)
	if err == nil {
		write(w, http.StatusOK, out)
	}
	return err
}

type noteInput struct {
	Title *string `json:"title"`
	Body  *string `json:"body"`
}

func (in noteInput) check(create bool) error {
	if create && in.Title == nil || in.Title != nil && (strings.TrimSpace(*in.Title) == "" || len(*in.Title) > 200) {
		return apiError{http.StatusUnprocessableEntity, "invalid", "A title of 1 to 200 bytes is needed."}
	}
	if in.Body != nil && len(*in.Body) > 100_000 {
		return apiError{http.StatusUnprocessableEntity, "invalid", "A note has at most 100,000 bytes."}
	}
	return nil
}

func (f *handler) createNote(w http.ResponseWriter, r *http.Request, c *caller) error {
	var in noteInput
	if err := httpserver.DecodeJSON(r, &in, maxBody); err != nil {
		return err
	}
	if err := in.check(true); err != nil {
		return err
	}
	body := ""
	if in.Body != nil {
		body = *in.Body
	}
	one, err := f.n.create(r.Context(), c.person, *in.Title, body)
	if err == nil {
		write(w, http.StatusCreated, one)
	}
	return err
}

func noteMissing() error {
	return apiError{http.StatusNotFound, "not_found", "There is no such note."}
}

func (f *handler) getNote(w http.ResponseWriter, r *http.Request, c *caller) error {
	one, err := f.n.get(r.Context(), c.person, r.PathValue("id"))
	if err == nil && one == nil {
		err = noteMissing()
	}
	if err == nil {
		write(w, http.StatusOK, one)
	}
	return err
}

func (f *handler) changeNote(w http.ResponseWriter, r *http.Request, c *caller) error {
	var in noteInput
	if err := httpserver.DecodeJSON(r, &in, maxBody); err != nil {
		return err
	}
	if err := in.check(false); err != nil {
		return err
	}
	one, err := f.n.change(r.Context(), c.person, r.PathValue("id"), in.Title, in.Body)
	if err == nil && one == nil {
		err = noteMissing()
	}
	if err == nil {
		write(w, http.StatusOK, one)
	}
	return err
}

func (f *handler) deleteNote(w http.ResponseWriter, r *http.Request, c *caller) error {
	gone, err := f.n.remove(r.Context(), c.person, r.PathValue("id"))
	if err == nil && !gone {
		err = noteMissing()
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

func (f *handler) createHook(w http.ResponseWriter, r *http.Request, c *caller) error {
	var in struct {
		URL    string   `json:"url"`
		Events []string `json:"events"`
	}
	if err := httpserver.DecodeJSON(r, &in, maxBody); err != nil {
		return err
	}
	u, err := url.Parse(in.URL)
	known := []string{"new_note", "updated_note"}
	if err != nil || u.Host == "" || len(in.Events) == 0 || slices.ContainsFunc(in.Events,
		func(e string) bool { return !slices.Contains(known, e) }) {
		return apiError{
			http.StatusUnprocessableEntity, "invalid",
			"A hook has a url, and events of " + strings.Join(known, " and ") + ".",
		}
	}
	h, err := f.n.addHook(r.Context(), c.person, in.URL, in.Events)
	if err == nil {
		write(w, http.StatusCreated, h)
	}
	return err
}

func (f *handler) deleteHook(w http.ResponseWriter, r *http.Request, c *caller) error {
	gone, err := f.n.removeHook(r.Context(), c.person, r.PathValue("id"))
	if err == nil && !gone {
		err = apiError{http.StatusNotFound, "not_found", "There is no such hook."}
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
