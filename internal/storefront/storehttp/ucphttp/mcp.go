package ucphttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/jsonrpc"
	"ace/internal/protocol/mcp"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// MCPPath is where the tools of the MCP binding are served.
const MCPPath = Base + "/mcp"

// MCP serves the operations as the tools of the MCP binding. An outcome of
// the business is a result, a failure of the protocol a JSON-RPC error with
// the HTTP status that REST would have.
func (f *Handler) MCP() http.Handler {
	options := &mcp.Options{
		Instructions: "Buy from " + f.Site.Name +
			": search_catalog, then create_checkout with the id of a variant, then hand continue_url to the person " +
			"who pays, then get_checkout.",
		MaxBody: sessionhttp.MaxBody, MapError: toolFault, Admit: f.Admit,
	}
	if base, err := url.Parse(f.Site.BaseURL); err == nil {
		options.AllowedHosts = []string{base.Host}
		if base.Scheme == "https" {
			// Open to pages of every origin, as all of the store; a development
			// server on this machine is open to its own alone.
			options.AllowedOrigins = []string{"*"}
		}
	}
	server := mcp.NewServer(mcp.Implementation{Name: "ace-ucp", Title: f.Site.Name, Version: f.Site.Version}, options)
	operations := operations()
	for _, t := range ucp.Tools() {
		server.AddRawTool(mcp.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema,
			Annotations: mcp.Annotations{ReadOnly: t.ReadOnly, Idempotent: t.Idempotent, OpenWorld: true},
		}, f.tool(operations[t.Name]))
	}
	return f.keepSigned(server)
}

type signedKey struct{}

// keepSigned lays a signed request aside as it came: whose keys it is verified
// with is in its body, which the server of the tools reads.
func (f *Handler) keepSigned(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed := r.Header.Get(httpsig.HeaderSignatureInput) != "" || r.Header.Get(httpsig.HeaderSignature) != ""
		if !signed || r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := httpserver.ReadBody(r, sessionhttp.MaxBody)
		if err != nil {
			p := httpserver.ProblemOf(r.Context(), err)
			mcp.WriteError(w, p.Kind.Status(), &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: p.Detail})
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), signedKey{}, f.signed(r, body)))
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func (f *Handler) tool(op *operation) mcp.RawHandler {
	return func(ctx context.Context, in *mcp.Call, _ json.RawMessage) (*mcp.Result, error) {
		call, err := f.toolCall(ctx, op, in)
		if err != nil {
			return toolAnswer(f.failed(ctx, call, err).Answer)
		}
		scope := "ucp mcp " + op.tool + " " + call.id + " " + call.exchange.signer
		answer, _, err := f.Sessions.Once(ctx, scope, call.key, call.canonical,
			func(resourceID string) sessionhttp.Outcome {
				call.resourceID = resourceID
				return f.do(ctx, call)
			})
		if err != nil {
			answer = f.failed(ctx, call, err).Answer
		}
		return toolAnswer(answer)
	}
}

// toolCall reads the arguments of a tool. The call is there also with an
// error, as far as it was read.
func (f *Handler) toolCall(ctx context.Context, op *operation, in *mcp.Call) (*operationCall, error) {
	call := &operationCall{
		op: op, exchange: exchange{version: ucp.Newest}, agent: f.Sessions.Agent(ctx, in.Header),
	}
	read, err := ucp.ReadToolCall(op.tool, in.Arguments)
	if err != nil {
		return call, err
	}
	call.id, call.body = read.ID, read
	if op.keyed && read.IdempotencyKey != "" {
		call.key = read.IdempotencyKey
		form, err := read.Canonical()
		if err != nil {
			return call, err
		}
		call.canonical = asked(read.Agent, form)
	}
	sent, _ := ctx.Value(signedKey{}).(*signedRequest)
	call.exchange, err = f.negotiate(ctx, op.capability, read.Agent, sent)
	call.agent.Profile, call.agent.Signed = read.Agent.Profile, call.exchange.signer != ""
	return call, err
}

// toolAnswer turns a response, fresh or kept, into that of a tool.
func toolAnswer(answer idempotency.Answer) (*mcp.Result, error) {
	body := bytes.TrimSpace(answer.Body)
	var failure struct {
		ucp.ProtocolError
		UCP json.RawMessage `json:"ucp"`
	}
	if err := json.Unmarshal(body, &failure); err != nil {
		return nil, err
	}
	if failure.UCP != nil {
		return &mcp.Result{Structured: body}, nil
	}
	known := ucp.FromProblem(problem.New(problem.KindOf(answer.Status), string(failure.Code), failure.Content))
	return nil, &jsonrpc.Error{
		Code: known.RPCCode(), Message: failure.Content, Data: json.RawMessage(body), Status: answer.Status,
		RetryAfter: failure.RetryAfter,
	}
}

// toolFault reports errors in the arguments in the shape of the protocol.
func toolFault(_ *mcp.Call, err error) error {
	p, ok := problem.From(err)
	if _, done := errors.AsType[*jsonrpc.Error](err); done || !ok {
		return err
	}
	failure := ucp.FromProblem(p)
	return &jsonrpc.Error{
		Code: failure.RPCCode(), Message: failure.Content, Data: failure, Status: failure.Status(),
		RetryAfter: failure.RetryAfter,
	}
}
