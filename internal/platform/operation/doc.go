// Package operation is what the platform offers, once: each operation with its
// request, its result, who may call it, and the order of its work. REST, the MCP
// server and the console decode a request, call one operation and encode what it
// returns.
//
//	Caller (a key or a person, of one account) + request
//	  -> Authorize   the table of permissions: permission_required, role_required
//	  -> restrictions of the key: apps, tools, one end user
//	  -> domain services, once for each idempotency key
//	  -> result, with the JSON that every transport writes
//
// What a caller may not know of is not found. Results never hold a secret that
// is stored: a new key and a new sign-in link are shown once, where they are
// created. Problems carry a next action that a program can follow.
package operation

import (
	"context"
	"time"

	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/clients"
	"ace/internal/platform/connector"
	"ace/internal/platform/tool"
	"ace/internal/platform/trigger"
	"ace/internal/platform/usage"
)

// RequestsPerMinute is how many requests a key may send in any minute, over all
// transports together.
const RequestsPerMinute = 120

// Ports are what a Service calls.
type Ports struct {
	Accounts         *account.Service
	Keys             *apikey.Service
	Audit            audit.Store
	Connections      *connection.Service // nil: nothing can be connected
	ConnectionCounts ConnectionCounts
	Clients          *clients.Clients
	Apps             connection.Apps
	Library          Library
	Connectors       *connector.Service
	Tools            *tool.Service
	Triggers         *trigger.Service
	Counts           *usage.Service
	Idempotency      *Idempotency // nil: idempotency keys are not used
}

// ConnectionCounts counts connections.
type ConnectionCounts interface {
	// CountConnections returns how many connections q selects, on all pages.
	CountConnections(ctx context.Context, accountID string, q connection.Query) (int, error)
}

// Service carries out operations. It is safe for concurrent use, by any number
// of processes on one store.
type Service struct {
	Ports
	baseURL string // of the platform, without a slash at the end
}

// New returns a service. baseURL is the platform's own, without a slash at the
// end.
func New(p Ports, baseURL string) *Service { return &Service{Ports: p, baseURL: baseURL} }

// inSeconds is a time as results show it: UTC, without fractions of a second.
func inSeconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// optionalTime is a time that may be missing; zero is null.
func optionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	shown := inSeconds(t)
	return &shown
}

// optionalText is a text that may be missing; empty is null.
func optionalText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// orEmpty is a list that JSON writes as [] where it is nil.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
