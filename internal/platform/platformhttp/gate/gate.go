// Package gate stands in front of every route of the platform: it knows who
// calls, counts the call, and looks up what the route asks for.
//
//	route in the table? (a route that is not there cannot be mounted)
//	  Open      -> counted per address
//	  a person  -> session cookie, and the session's token unless it only reads
//	  a key     -> Authorization: Bearer
//	               unknown: 401, counted per address, before the database is asked
//	               -> 120 a minute per key, REST and MCP together
//	               -> permission, or permission_required
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

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/ratelimit"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
)

// Need is what a route asks of its caller.
type Need struct {
	Open        bool               // nobody in particular
	AnyKey      bool               // a key, whatever it may do
	Permissions apikey.Permissions // a key with these
	RawRequests bool               // and with leave for requests of its own making
	Person      bool               // a person who is signed in
	Manages     bool               // a person who may manage the account
	Audits      bool               // a person who may read the audit log
	Connects    bool               // a person who may connect apps
	Page        bool               // people read it: refusals are pages
}

// ofPerson reports whether a person is asked for, and not a key.
func (n Need) ofPerson() bool { return n.Person || n.Manages || n.Audits || n.Connects }

// Rules are what each route needs, by the pattern of http.ServeMux.
type Rules map[string]Need

// Caller is who made a request.
type Caller struct {
	Account string           // id
	Key     *apikey.Key      // nil: a person
	Session *account.Session // nil: a key
	Actor   audit.Actor
}

type callerKey struct{}

// From answers the caller of the request that ctx belongs to; nil on routes
// that are open.
func From(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// With answers a context that belongs to a caller.
func With(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Limits are the promises that requests are counted against.
type Limits struct {
	Keys      ratelimit.Limiter // per key
	Addresses ratelimit.Limiter // per address, for what needs no key
	Failures  ratelimit.Limiter // per address, for keys that are wrong
}

// Policies are the promises of the platform: 120 requests in any minute per
// key; open pages and wrong keys per address.
func Policies() (keys, addresses, failures ratelimit.Policy) {
	const minute = 60e9
	return ratelimit.Policy{Name: "key", Quantity: 120, Window: minute},
		ratelimit.Policy{Name: "address", Quantity: 120, Window: minute, Burst: 60},
		ratelimit.Policy{Name: "failures", Quantity: 20, Window: minute, Burst: 20}
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

// New answers a gate. secure says that the host is served over https: cookies
// are then bound to it.
func New(rules Rules, keys *apikey.Service, accounts *account.Service, limits Limits, secure bool) *Gate {
	return &Gate{rules: rules, keys: keys, accounts: accounts, limits: limits, secure: secure}
}

// RefusePages says how routes that people read refuse. It is called while the
// routes are mounted.
func (g *Gate) RefusePages(writer httpserver.ErrorWriter) { g.pages = writer }

// Need is what a route asks for, by its pattern; known tells whether there is
// such a route.
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
	m.Mux.Handle(pattern, m.Gate.guard(need, h))
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

// admit finds the caller, counts the request and checks what the route needs.
// The caller is nil on open routes.
func (g *Gate) admit(h http.Header, r *http.Request, need Need) (*Caller, error) {
	switch {
	case need.Open:
		return nil, g.take(h, r, g.limits.Addresses, ratelimit.ClientKey(httpserver.ClientIP(r.Context())))
	case need.ofPerson():
		return g.person(h, r, need)
	}
	caller, err := g.Key(h, r)
	if err != nil {
		return nil, err
	}
	if err := caller.Key.Require(need.Permissions); err != nil {
		return nil, err
	}
	if need.RawRequests && !caller.Key.Restrict.RawRequests {
		return nil, problem.New(problem.Forbidden, "key_restricted", "This key may not send requests of its own making. Use a tool, or ask for a key with raw_requests.").Advise("ask_owner_for_permission")
	}
	return caller, nil
}

// Key finds who calls with a key and counts the call. The MCP server, which
// checks permissions by tool, calls it itself.
func (g *Gate) Key(h http.Header, r *http.Request) (*Caller, error) {
	from := httpserver.ClientIP(r.Context())
	presented, err := bearer(r)
	if err != nil {
		return nil, err
	}
	// Whoever only guesses is stopped before the database is asked.
	failures, err := g.limits.Failures.Take(r.Context(), ratelimit.ClientKey(from), 0)
	if err != nil {
		return nil, err
	}
	if !failures.Allowed || failures.Policy.Quantity > 0 && failures.Remaining == 0 {
		if !apikey.WellFormed(presented) {
			return nil, ratelimit.Problem(failures)
		}
	}
	key, err := g.keys.Authenticate(r.Context(), presented, from)
	if err != nil {
		if p, ok := problem.From(err); ok && p.Kind == problem.Unauthenticated {
			if _, err := g.limits.Failures.Take(r.Context(), ratelimit.ClientKey(from), 1); err != nil {
				return nil, err
			}
		}
		return nil, err
	}
	if err := g.take(h, r, g.limits.Keys, key.ID); err != nil {
		return nil, err
	}
	return &Caller{Account: key.AccountID, Key: key, Actor: audit.Actor{Kind: audit.ByKey, ID: key.ID, Name: key.Name, IP: address(from)}}, nil
}

func bearer(r *http.Request) (string, error) {
	if r.URL.Query().Has("api_key") || r.URL.Query().Has("access_token") {
		return "", problem.New(problem.Unauthenticated, "missing_key", "Keys belong into the header Authorization, never into an address: addresses are logged on the way. Replace this key.")
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return "", nil
	}
	return strings.TrimSpace(token), nil
}

func (g *Gate) take(h http.Header, r *http.Request, l ratelimit.Limiter, key string) error {
	result, err := l.Take(r.Context(), key, 1)
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

// refuse answers a problem, with the challenge that RFC 6750 asks for.
func (g *Gate) refuse(w http.ResponseWriter, r *http.Request, err error) {
	Challenge(w.Header(), err)
	httpserver.WriteProblem(w, r, err)
}

// Challenge sets WWW-Authenticate for a refusal of a key (RFC 6750, 3).
func Challenge(h http.Header, err error) {
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
	h.Set("WWW-Authenticate", challenge)
}
