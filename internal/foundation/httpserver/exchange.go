package httpserver

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
)

// exchange is what is known about one request while it is served. It is made
// once, by the first middleware that needs it, and found through the context.
type exchange struct {
	id   string
	log  *slog.Logger
	base string // address before /problems/{code} in problem types; may be empty

	mu        sync.Mutex // handlers may hand the context to goroutines
	client    netip.Addr
	pattern   string
	operation string
	problem   string
	signature string
	agent     string
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// ensureExchange returns the exchange of r, and r itself or a copy that now
// carries one.
func ensureExchange(r *http.Request) (*exchange, *http.Request) {
	if x := exchangeOf(r.Context()); x != nil {
		return x, r
	}
	x := new(exchange)
	return x, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
}

func (x *exchange) set(field *string, value string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	*field = value
	x.mu.Unlock()
}

// RequestID is the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return x.id
	}
	return ""
}

// ClientIP is the address of the client as ClientAddress found it. It is the
// zero Addr where no address is known.
func ClientIP(ctx context.Context) netip.Addr {
	x := exchangeOf(ctx)
	if x == nil {
		return netip.Addr{}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.client
}

// NoteProblem puts the code of a problem into the access line of the request.
// Transports call it where a protocol writes failures in its own shape.
func NoteProblem(ctx context.Context, code string) {
	if x := exchangeOf(ctx); x != nil {
		x.set(&x.problem, code)
	}
}

// NoteOperation names in the access line what a request was about, where the
// route alone does not say it: a JSON-RPC method, the name of a tool.
func NoteOperation(ctx context.Context, operation string) {
	if x := exchangeOf(ctx); x != nil {
		x.set(&x.operation, operation)
	}
}

// NoteSignature puts into the access line what the signature of a request is
// worth, such as "invalid: time", and who signed it, "" if unknown.
func NoteSignature(ctx context.Context, outcome, agent string) {
	if x := exchangeOf(ctx); x != nil {
		x.set(&x.signature, outcome)
		x.set(&x.agent, agent)
	}
}

func notePattern(ctx context.Context, pattern string) {
	if x := exchangeOf(ctx); x != nil {
		x.set(&x.pattern, pattern)
	}
}
