// Package agenttool holds the ten operations of the store that agents call by
// name, whatever protocol they come by. docs/mcp.md describes each of them.
//
//	Table                        what is to be known of a tool: names, schemas
//	New(Deps) -> Set             the same tools, ready to be called
//
//	name, arguments ── Set.Find ── Ready.Call ── schema ──> operation ──> result
//	                                  |                        |  the structs of REST:
//	                                  |                        |  sitehttp, cataloghttp, UCP
//	                    invalid_arguments, one item per fault  └─ a problem, told in the
//	                                                              words of tools (advice.go)
//
// The MCP server (mcphttp) serves all ten. Other transports use those that fit them.
package agenttool

import (
	"context"
	"encoding/json"
	"fmt"

	"ace/internal/protocol/mcp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp/cataloghttp"
	"ace/internal/storefront/storehttp/sessionhttp"
	"ace/internal/storefront/storehttp/sitehttp"
	"ace/internal/storefront/storehttp/ucphttp"
)

// Group says what a tool is for.
type Group string

// The groups, in the order of the table.
const (
	Read Group = "read"     // the site
	Buy  Group = "buy"      // offers and checkouts
	Paid Group = "services" // website services
)

// Tool is what is to be known of a tool. A tool that may ask for a payment has
// no OutputSchema: clients validate the result even beside an error.
type Tool struct {
	mcp.Tool
	Group Group
}

// Deps are what the tools call. All but Services are required.
type Deps struct {
	Site     *sitehttp.Handler
	Catalog  *cataloghttp.Handler
	UCP      *ucphttp.Handler
	Sessions *sessionhttp.Sessions
	// Services are the paid services. Nil: the store has none.
	Services Services
	// Protocol is what new checkouts are filed under. Default checkout.MCP.
	Protocol checkout.Protocol
}

// Set is the tools of a store. It is safe for concurrent use.
type Set struct {
	deps  Deps
	tools []*Ready
	named map[string]*Ready
}

// Ready is a tool of a store, ready to be called.
type Ready struct {
	Tool
	// Handle runs a call whose arguments fit the input schema, as
	// mcp.Server.AddRawTool wants it.
	Handle mcp.RawHandler

	input *mcp.Schema
}

// New returns the tools of a store, in the order of Table.
func New(d Deps) *Set {
	if d.Protocol == "" {
		d.Protocol = checkout.MCP
	}
	s := &Set{deps: d, named: map[string]*Ready{}}
	for _, definition := range definitions() {
		ready := &Ready{Tool: definition.Tool, Handle: definition.bind(s)}
		var err error
		if ready.input, err = mcp.CompileSchema(ready.InputSchema); err != nil {
			panic(fmt.Sprintf("agenttool: input schema of %s: %v", ready.Name, err)) // the schemas are constants
		}
		if priced, ok := d.Services.(Priced); ok {
			ready.Meta = priced.ToolMeta(ready.Name)
		}
		s.tools = append(s.tools, ready)
		s.named[ready.Name] = ready
	}
	return s
}

// All returns the tools in the order of Table.
func (s *Set) All() []*Ready { return s.tools }

// Find returns the tool with a name, or nil.
func (s *Set) Find(name string) *Ready { return s.named[name] }

// Call checks the arguments, a JSON object or nil, and returns the call. It
// returns invalid_arguments (Invalid) with one item per fault, or a problem
// whose text says which tool to call next. call.Header may be nil.
func (r *Ready) Call(ctx context.Context, call *mcp.Call, arguments json.RawMessage) (*mcp.Result, error) {
	if arguments == nil {
		arguments = json.RawMessage(`{}`)
	}
	if err := r.input.Check(arguments); err != nil {
		return nil, err
	}
	return r.Handle(ctx, call, arguments)
}

// definition is a tool and how it is bound to a store.
type definition struct {
	Tool
	bind func(s *Set) mcp.RawHandler
}

// operation returns one call of a tool.
type operation[In, Out any] func(s *Set, ctx context.Context, call *mcp.Call, in *In) (*Out, error)

// typed defines a tool by the structs of its arguments and its result.
func typed[In, Out any](group Group, t mcp.Tool, do operation[In, Out]) definition {
	bound := func(s *Set) (mcp.Tool, mcp.RawHandler) {
		return mcp.Typed(t, func(ctx context.Context, call *mcp.Call, in *In) (*Out, error) {
			out, err := do(s, ctx, call, in)
			if err != nil {
				return nil, s.advised(ctx, call.Tool, err)
			}
			return out, nil
		})
	}
	described, _ := bound(nil)
	described.InputSchema, described.OutputSchema = plain(described.InputSchema), plain(described.OutputSchema)
	return definition{Tool{described, group}, func(s *Set) mcp.RawHandler {
		_, handle := bound(s)
		return handle
	}}
}
