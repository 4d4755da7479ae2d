package admission

import (
	"net/http"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/ratelimit"
	"ace/internal/protocol/jsonrpc"
	"ace/internal/protocol/mcp"
)

// AdmitMCP counts the messages of a request to an MCP server behind the gate;
// it is its mcp.Options.Admit. What costs nothing draws on Lifecycle. A client
// that continues over the limit does too, until even reading its messages is
// refused. A request that did not come through the gate is not counted.
func (g *Gate) AdmitMCP(h http.Header, r *http.Request, load mcp.Load) *jsonrpc.Error {
	c, ok := r.Context().Value(callerKey{}).(*caller)
	if g == nil || !ok {
		return nil
	}
	if load.Free > 0 {
		if result, _ := g.limits.Lifecycle.Allow(r.Context(), c.key, load.Free); !result.Allowed {
			ratelimit.WriteHeaders(h, result)
			return rpcRefusal(result)
		}
	}
	if load.Cost == 0 {
		return nil
	}
	result, _ := g.limits.API.Allow(r.Context(), c.key, load.Cost)
	ratelimit.WriteHeaders(h, result)
	if !result.Allowed {
		_, _ = g.limits.Lifecycle.Allow(r.Context(), c.key, 1)
		return rpcRefusal(result)
	}
	return nil
}

// peek refuses a request to an MCP server before its body is read when the
// client has nothing left that even the cheapest message costs.
func (g *Gate) peek(r *http.Request, c *caller) error {
	if r.Method == http.MethodOptions {
		result, err := g.limits.Lifecycle.Allow(r.Context(), c.key, 1)
		if err != nil || result.Allowed {
			return err
		}
		return ratelimit.Problem(result)
	}
	result, err := g.limits.Lifecycle.Allow(r.Context(), c.key, 0)
	if err != nil || result.Policy.Name == "" || result.Remaining > 0 {
		return err
	}
	result.Allowed, result.RetryAfter = false, result.Reset
	return ratelimit.Problem(result)
}

func rpcRefusal(r ratelimit.Result) *jsonrpc.Error {
	p := ratelimit.Problem(r)
	return mcp.RateLimited(r.Policy.Name, p.Detail, httpserver.RetryAfterSeconds(p))
}

// refuseMCP responds for an MCP server whose message was not read.
func refuseMCP(w http.ResponseWriter, r *http.Request, err error) {
	p := httpserver.ProblemOf(r.Context(), err)
	e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: p.Detail, Data: map[string]string{"code": p.Code}}
	switch p.Kind {
	case problem.RateLimited:
		policy := ""
		if len(p.Policies) > 0 {
			policy = p.Policies[0]
		}
		e = mcp.RateLimited(policy, p.Detail, httpserver.RetryAfterSeconds(p))
	case problem.Internal:
		e.Code = jsonrpc.CodeInternalError
	default:
	}
	mcp.WriteError(w, p.Kind.Status(), e)
}
