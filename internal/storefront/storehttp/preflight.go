package storehttp

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/acp"
	"ace/internal/protocol/ucp"
)

// preflights lets agents that run in a browser call the paths of protocols from
// pages of every origin, and read what the headers of the responses say. It collects the methods of
// each path.
type preflights map[string][]string

// mount returns handle, which is also told to the preflights.
func (p preflights) mount(
	handle func(string, http.HandlerFunc, ...httpserver.Middleware),
) func(string, http.HandlerFunc, ...httpserver.Middleware) {
	return func(pattern string, h http.HandlerFunc, m ...httpserver.Middleware) {
		method, path, _ := strings.Cut(pattern, " ")
		p[path] = append(p[path], method)
		handle(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Access-Control-Expose-Headers", exposed)
			h(w, r)
		}, m...)
	}
}

// exposed are the headers of responses that pages of other origins may read.
const exposed = "Retry-After, RateLimit, RateLimit-Policy, Accept-Signature, Allow, ETag, Preference-Applied, " +
	ucp.HeaderIdempotencyKey + ", " + acp.HeaderAPIVersion + ", " + acp.HeaderRequestID + ", " +
	acp.HeaderIdempotentReplayed + ", " + httpsig.HeaderContentDigest + ", " + httpsig.HeaderSignature + ", " +
	httpsig.HeaderSignatureInput

// routes adds the preflight of each path.
func (p preflights) routes(handle func(string, http.HandlerFunc, ...httpserver.Middleware)) {
	fields := strings.Join([]string{
		"Accept", "Authorization", "Content-Type", "Prefer", ucp.HeaderAgent, ucp.HeaderIdempotencyKey,
		acp.HeaderAPIVersion, acp.HeaderRequestID, httpsig.HeaderContentDigest, httpsig.HeaderSignature,
		httpsig.HeaderSignatureInput,
	}, ", ")
	for _, path := range slices.Sorted(maps.Keys(p)) {
		methods := strings.Join(append(slices.Clone(p[path]), http.MethodOptions), ", ")
		handle("OPTIONS "+path, func(w http.ResponseWriter, _ *http.Request) {
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", "*")
			h.Set("Access-Control-Allow-Methods", methods)
			h.Set("Access-Control-Allow-Headers", fields)
			h.Set("Access-Control-Max-Age", "86400")
			h.Set("Allow", methods)
			w.WriteHeader(http.StatusNoContent)
		})
	}
}
