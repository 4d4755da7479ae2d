package admission

import (
	"net/http"
	"strings"
	"time"

	"ace/internal/foundation/ratelimit"
)

// Limits count the requests of clients.
type Limits struct {
	API       ratelimit.Limiter
	Document  ratelimit.Limiter
	Lifecycle ratelimit.Limiter
	Address   ratelimit.Limiter
}

// NewLimits makes the limits of a store. burst is how many calls of the API a
// client may make at once; one a second comes back.
func NewLimits(of func(ratelimit.Policy) ratelimit.Limiter, burst int) Limits {
	return Limits{
		API:       of(ratelimit.Policy{Name: "client", Quantity: 1, Window: time.Second, Burst: burst}),
		Document:  of(ratelimit.Policy{Name: "documents", Quantity: 1, Window: time.Second, Burst: 60}),
		Lifecycle: of(ratelimit.Policy{Name: "lifecycle", Quantity: 10, Window: time.Second, Burst: 30}),
		Address:   of(ratelimit.Policy{Name: "address", Quantity: 10, Window: time.Second, Burst: 60}),
	}
}

// NoLimits are switched off.
func NoLimits() Limits {
	return Limits{ratelimit.Unlimited{}, ratelimit.Unlimited{}, ratelimit.Unlimited{}, ratelimit.Unlimited{}}
}

type class int

const (
	document class = iota
	api
	lifecycle
	byMessage // an MCP endpoint
	exempt
)

// classify returns what a request counts as.
func (g *Gate) classify(r *http.Request) class {
	path := r.URL.Path
	switch {
	case path == "/healthz", strings.HasPrefix(path, "/webhooks/"):
		return exempt
	case g.isMCP(path):
		return byMessage
	case r.Method == http.MethodOptions:
		return lifecycle
	case under(path, "/agent/commerce"), under(path, "/agent/search"), under(path, "/agent/read"), under(path,
		"/agent/a2a"), under(path, "/v1"), path == "/checkout/new":
		return api
	}
	return document
}

func under(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == '/')
}

func (g *Gate) isMCP(path string) bool {
	for _, endpoint := range g.options.MCP {
		if strings.TrimSuffix(path, "/") == endpoint {
			return true
		}
	}
	return false
}

func (g *Gate) limiter(c class) ratelimit.Limiter {
	switch c {
	case api:
		return g.limits.API
	case lifecycle:
		return g.limits.Lifecycle
	default:
		return g.limits.Document
	}
}
