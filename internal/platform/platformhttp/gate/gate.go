// Package gate admits requests to the routes of the platform: it finds out who
// calls, counts the request, and has package operation authorize it.
//
//	route in the table? (a route that is missing there cannot be mounted)
//	  open      -> counted per network address
//	  a person  -> session cookie, and the session's token unless it only reads
//	  a key     -> Authorization: Bearer
//	               unknown: 401, counted per network address, before the database is read
//	               -> 120 a minute per key, REST and MCP together
//	  -> operation.Authorize: permission_required, role_required
//	  -> the handler finds the Caller in its context
//
// The table is Rules; a test walks over every route of the host with it.
package gate

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/ratelimit"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/operation"
)

// Need is what a route requires of its caller.
type Need struct {
	Operation operation.ID // whose rule decides; 0: Open or Person do
	Open      bool         // no credentials
	Person    bool         // a person who is signed in, whatever the role
	Uncounted bool         // open and not counted: the handler checks a secret in the path first, or counts itself
	Page      bool         // a page for people: refusals are pages, and keys are not accepted
	Own       bool         // the handler calls Key, and each of its operations decides
}

// Rule returns who may call the route.
func (n Need) Rule() operation.Rule {
	switch {
	case n.Operation != 0:
		return n.Operation.Rule()
	case n.Person:
		return operation.Rule{People: true}
	case n.Own:
		return operation.Rule{Keys: true}
	}
	return operation.Rule{Open: n.Open}
}

// ByPerson reports whether the route is for people who are signed in, and not
// for keys.
func (n Need) ByPerson() bool {
	rule := n.Rule()
	return !rule.Open && (n.Page || !rule.Keys)
}

// Rules are what each route needs, by the pattern of http.ServeMux.
type Rules map[string]Need

// Caller is who made a request.
type Caller = operation.Caller

type callerKey struct{}

// From returns the caller of the request that ctx belongs to; nil on routes
// that are open.
func From(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// With returns a context that belongs to a caller.
func With(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Limits are what requests are counted against.
type Limits struct {
	Keys      ratelimit.Limiter // per key
	Addresses ratelimit.Limiter // per network address, for what needs no key
	Failures  ratelimit.Limiter // per network address, for wrong credentials
}

// Policies are the limits of the platform: requests in any minute per key; open
// pages and wrong keys per network address.
func Policies() (keys, addresses, failures ratelimit.Policy) {
	return ratelimit.Policy{Name: "key", Quantity: operation.RequestsPerMinute, Window: time.Minute},
		ratelimit.Policy{Name: "address", Quantity: 120, Window: time.Minute, Burst: 60},
		ratelimit.Policy{Name: "failures", Quantity: 20, Window: time.Minute, Burst: 20}
}

// Gate admits requests. It is safe for concurrent use.
type Gate struct {
	rules    Rules
	keys     *apikey.Service
	accounts *account.Service
	limits   Limits
	secure   bool // the host is served over https
	pages    httpserver.ErrorWriter
}

// New returns a gate. secure says that the host is served over https: cookies
// are then bound to it.
func New(rules Rules, keys *apikey.Service, accounts *account.Service, limits Limits, secure bool) *Gate {
	return &Gate{rules: rules, keys: keys, accounts: accounts, limits: limits, secure: secure}
}

// RefusePages sets how pages refuse. It is called while the routes are mounted.
func (g *Gate) RefusePages(writer httpserver.ErrorWriter) { g.pages = writer }

// Need returns what a route requires, by its pattern; known reports whether there
// is such a route.
func (g *Gate) Need(pattern string) (n Need, known bool) {
	n, known = g.rules[pattern]
	return n, known
}

// Mux mounts routes behind the gate.
type Mux struct {
	*httpserver.Mux
	Gate *Gate
}

// Handle registers a route; it panics where the table has no rule for it.
func (m Mux) Handle(pattern string, h http.Handler) {
	need, ok := m.Gate.rules[pattern]
	if !ok {
		panic("the table of permissions has no rule for " + pattern)
	}
	if !need.Own {
		h = m.Gate.guard(need, h)
	}
	m.Mux.Handle(pattern, h)
}

// HandleFunc registers a route like Handle.
func (m Mux) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	m.Handle(pattern, http.HandlerFunc(h))
}

func (g *Gate) guard(need Need, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := g.admit(w.Header(), r, need)
		switch {
		case err != nil && need.Page && g.pages != nil:
			g.pages(w, r, err)
			return
		case err != nil:
			g.refuse(w, r, err)
			return
		}
		if caller != nil {
			r = r.WithContext(With(r.Context(), caller))
		}
		next.ServeHTTP(w, r)
	})
}

// admit finds the caller, counts the request and authorizes it. The caller is
// nil on open routes.
func (g *Gate) admit(h http.Header, r *http.Request, need Need) (*Caller, error) {
	var caller *Caller
	var err error
	switch {
	case need.Uncounted:
		return nil, nil
	case need.Rule().Open:
		return nil, g.count(h, r, g.limits.Addresses, ratelimit.ClientKey(httpserver.ClientIP(r.Context())), 1)
	case need.ByPerson():
		caller, err = g.person(h, r)
	default:
		caller, err = g.Key(h, r, "")
	}
	if err != nil || need.Operation == 0 {
		return caller, err
	}
	return caller, operation.Authorize(caller, need.Operation)
}

// Key finds who calls with a key and counts the request. A transport with one
// route for many operations calls it itself and leaves permissions to them. The
// access token of an MCP client that signed in works only where audience is the URL
// that it is for; elsewhere the problem is wrong_audience (Unauthenticated).
func (g *Gate) Key(h http.Header, r *http.Request, audience string) (*Caller, error) {
	from := httpserver.ClientIP(r.Context())
	presented, err := bearer(r)
	if err != nil {
		return nil, err
	}
	// Guesses are stopped before the database is read.
	failures, err := g.limits.Failures.Allow(r.Context(), ratelimit.ClientKey(from), 0)
	if err != nil {
		return nil, err
	}
	if !failures.Allowed || failures.Policy.Quantity > 0 && failures.Remaining == 0 {
		if !apikey.WellFormed(presented) {
			return nil, ratelimit.Problem(failures)
		}
	}
	key, err := g.keys.Authenticate(r.Context(), presented, from)
	if err == nil && key.Client != nil && key.Client.Audience != audience {
		err = problem.New(problem.Unauthenticated, "wrong_audience",
			"This access token is for the MCP server only. Call this with an API key.")
	}
	if err != nil {
		if p, ok := problem.From(err); ok && p.Kind == problem.Unauthenticated {
			if _, err := g.limits.Failures.Allow(r.Context(), ratelimit.ClientKey(from), 1); err != nil {
				return nil, err
			}
		}
		return nil, err
	}
	if err := g.count(h, r, g.limits.Keys, key.ID, 1); err != nil {
		return nil, err
	}
	return &Caller{
		Account: key.AccountID, Key: key,
		Actor: audit.Actor{Kind: audit.ByKey, ID: key.ID, Name: key.Name, IP: address(from)},
	}, nil
}

func bearer(r *http.Request) (string, error) {
	if r.URL.Query().Has("api_key") || r.URL.Query().Has("access_token") {
		return "", problem.New(problem.Unauthenticated, "missing_key",
			"Send keys in the header Authorization, never in a URL: URLs are logged on the way. Rotate this key.")
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return "", nil
	}
	return strings.TrimSpace(token), nil
}

// Open counts a request without credentials: of a handler that refuses in the shape
// of its own protocol. Its problem is rate_limited.
func (g *Gate) Open(h http.Header, r *http.Request) error {
	return g.count(h, r, g.limits.Addresses, ratelimit.ClientKey(httpserver.ClientIP(r.Context())), 1)
}

// KeyAgain counts further messages of one request that Key has admitted.
func (g *Gate) KeyAgain(h http.Header, r *http.Request, c *Caller, messages int) error {
	return g.count(h, r, g.limits.Keys, c.Key.ID, messages)
}

// count counts a request against a limit, and writes the fields about it.
func (g *Gate) count(h http.Header, r *http.Request, l ratelimit.Limiter, key string, cost int) error {
	result, err := l.Allow(r.Context(), key, cost)
	if err != nil {
		return err
	}
	ratelimit.WriteHeaders(h, result)
	if !result.Allowed {
		return ratelimit.Problem(result)
	}
	return nil
}

func address(ip netip.Addr) string {
	if !ip.IsValid() {
		return ""
	}
	return ip.String()
}

// refuse writes a problem, with the challenge of RFC 6750.
func (g *Gate) refuse(w http.ResponseWriter, r *http.Request, err error) {
	Challenge(w.Header(), err, "")
	httpserver.WriteProblem(w, r, err)
}

// Challenge sets WWW-Authenticate for a refusal of a key (RFC 6750, 3). metadata is
// the URL that tells clients how to sign in (RFC 9728, 5.1); empty: they cannot.
func Challenge(h http.Header, err error, metadata string) {
	p, ok := problem.From(err)
	if !ok {
		return
	}
	challenge := `Bearer realm="platform"`
	switch {
	case p.Kind == problem.Unauthenticated && p.Code == "missing_key":
	case p.Kind == problem.Unauthenticated && p.Code != "session_required" && p.Code != "sign_in_refused":
		challenge += `, error="invalid_token", error_description=` + strconv.Quote(p.Detail)
	case p.Code == "permission_required":
		required, _ := p.Members["required"].([]string)
		challenge += `, error="insufficient_scope", scope=` + strconv.Quote(strings.Join(required, " "))
	default:
		return
	}
	if metadata != "" {
		challenge += `, resource_metadata=` + strconv.Quote(metadata)
		if p.Code != "permission_required" {
			challenge += `, scope=` + strconv.Quote(strings.Join(apikey.All.Names(), " "))
		}
	}
	h.Set("WWW-Authenticate", challenge)
}
