package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"ace/internal/foundation/plainjson"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/jsonrpc"
)

// The protocol versions that this package can serve.
const (
	Version20241105 = "2024-11-05"
	Version20250326 = "2025-03-26"
	Version20250618 = "2025-06-18"
	Version20251125 = "2025-11-25"
	Version20260728 = "2026-07-28" // without initialize; see stateless.go
)

// Implementation identifies the server. It is the serverInfo of initialize.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// Options are the settings of a Server that have defaults.
type Options struct {
	// Versions are the accepted protocol versions, the preferred one first.
	// Default 2025-06-18, 2025-03-26, 2024-11-05.
	Versions []string
	// Instructions explain to a model what the tools are for.
	Instructions string
	// AllowedHosts are the values of the Host header that are served, with or without port. A
	// listener on loopback also serves loopback names. Default: every host; on loopback listeners
	// only loopback names.
	AllowedHosts []string
	// AllowedOrigins are the allowed browser origins; "*" allows every origin. Default: every
	// origin; on loopback listeners only loopback origins.
	AllowedOrigins []string
	// MaxBody bounds a request in bytes. Default 1 MiB.
	MaxBody int64
	// MaxBatch bounds the messages of a batch. Default 10.
	MaxBatch int
	// Admit is called once per request, before anything is done, and may set header fields of the
	// response. An error refuses the request; RateLimited creates one.
	Admit func(w http.Header, r *http.Request, load Load) *jsonrpc.Error
	// Authenticate is called before the body of a message is read. It returns the context that the
	// request continues with, and may set header fields of the response. An error, with its Status,
	// refuses the request.
	Authenticate func(w http.Header, r *http.Request) (context.Context, *jsonrpc.Error)
	// Problem renders a problem as a result. Nil: as a text with its code and what to do next.
	Problem func(call *Call, p *problem.Problem) *Result
	// MapError may convert the error of a handler, or the problem invalid_arguments of the
	// validation: a *jsonrpc.Error is sent as a protocol error. Nil changes no error.
	MapError func(call *Call, err error) error
	// CheckOutput validates structured results against their schema, for tests: a mismatch is an
	// internal error.
	CheckOutput bool
}

// Load is the cost of a request.
type Load struct {
	Cost int // units of the quota: one per tools/list, tools/call and other request
	Free int // messages without cost: initialize, ping, notifications, refusals
}

// Server is an http.Handler that serves a set of tools. Register all tools
// before serving.
type Server struct {
	options    Options
	info       Implementation
	initialize map[string]json.RawMessage // result by version
	preferred  json.RawMessage            // result for other versions
	tools      map[string]*tool
	order      []*tool
	list       []byte // result of tools/list and the closing brace of the response
	finalList  []byte // list as version 2026-07-28 has it
	discovery  json.RawMessage
	listHash   string
	cors       []corsField
}

// NewServer returns a server without tools. Nil options are the defaults. It panics on a version
// that this package does not support.
func NewServer(info Implementation, o *Options) *Server {
	if o == nil {
		o = new(Options)
	}
	options := *o
	if len(options.Versions) == 0 {
		options.Versions = []string{Version20250618, Version20250326, Version20241105}
	}
	if options.MaxBody == 0 {
		options.MaxBody = 1 << 20
	}
	if options.MaxBatch == 0 {
		options.MaxBatch = 10
	}
	s := &Server{
		options: options, info: info, tools: map[string]*tool{}, initialize: map[string]json.RawMessage{},
		cors: corsFields(),
	}
	for _, v := range options.Versions {
		if v == Version20260728 {
			s.discovery = s.discover(info)
			continue
		}
		if !slices.Contains([]string{Version20241105, Version20250326, Version20250618, Version20251125}, v) {
			panic(fmt.Sprintf("mcp: version %q cannot be served", v))
		}
		s.initialize[v] = mustMarshal(initializeResult{
			ProtocolVersion: v, Capabilities: json.RawMessage(`{"tools":{}}`), ServerInfo: info,
			Instructions: options.Instructions,
		})
	}
	for _, v := range options.Versions { // the first that has initialize
		if result, ok := s.initialize[v]; ok {
			s.preferred = result
			break
		}
	}
	s.render()
	return s
}

type initializeResult struct {
	ProtocolVersion string          `json:"protocolVersion"`
	Capabilities    json.RawMessage `json:"capabilities"`
	ServerInfo      Implementation  `json:"serverInfo"`
	Instructions    string          `json:"instructions,omitempty"`
}

// ToolsHash returns 16 hexadecimal digits that change when the response of tools/list changes.
func (s *Server) ToolsHash() string { return s.listHash }

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func mustMarshal(v any) json.RawMessage {
	text, err := plainjson.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("mcp: %v", err))
	}
	return text
}
