// Package reply writes what operations return as the bodies and header fields of
// the platform's REST API.
//
//	handler: return reply.With(ops.Key(ctx, gate.From(ctx), in.ID))
package reply

import "ace/internal/platform/operation"

// Body is a response with a JSON body.
type Body[T any] struct{ Body *T }

// With returns the response for what an operation returned.
func With[T any](value *T, err error) (*Body[T], error) {
	if err != nil {
		return nil, err
	}
	return &Body[T]{value}, nil
}

// Created is the response of a request that creates something once for each
// Idempotency-Key.
type Created[T any] struct {
	Location string `header:"Location" doc:"URL or path of what was created."`
	Replayed string `header:"Idempotency-Replayed" doc:"true: an earlier request with the same key created it."`
	Body     *T
}

// New returns the response for what an operation created. location returns where
// it can be read; nil: the response names no location.
func New[T any](value *T, replayed bool, err error, location func(*T) string) (*Created[T], error) {
	if err != nil {
		return nil, err
	}
	out := &Created[T]{Replayed: Replayed(replayed), Body: value}
	if location != nil {
		out.Location = location(value)
	}
	return out, nil
}

// Replayed is the value of Idempotency-Replayed.
func Replayed(replayed bool) string {
	if replayed {
		return "true"
	}
	return ""
}

// Empty is the response of an operation that returns only an error.
func Empty(err error) (*struct{}, error) { return nil, err }

// ByID is the input of a route that names one thing by its id.
type ByID struct {
	ID string `path:"id" maxLength:"64"`
}

// ByApp is the input of a route that names an app.
type ByApp struct {
	App string `path:"app" maxLength:"64"`
}

// Key is embedded in the input of a route that creates something.
type Key struct {
	Key string `header:"Idempotency-Key" maxLength:"255" doc:"A repetition with the same value creates nothing more, for 48 hours." example:"7f0c2a4e-1b9d-4a53-9a37-2f6f0a2f5d11"`
}

// Page is the response of a list.
type Page[T any] struct {
	Link string `header:"Link" doc:"The next page (RFC 8288), where next_cursor is not null."`
	Body *T
}

// Paged is what every page of a list has.
type Paged interface{ Next() *string }

var _ Paged = operation.Paged{}
