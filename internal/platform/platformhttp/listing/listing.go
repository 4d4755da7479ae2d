// Package listing gives lists of the platform's REST API a total and a link to
// the next page; see package reply.
package listing

import (
	"context"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/reply"
)

// Include is embedded in the input of a list.
type Include = operation.Include

// Counted is embedded in the body of a list.
type Counted = operation.Counted

// Linked is embedded in the output of a list, beside its body.
type Linked struct {
	Link string `header:"Link"`
}

// Handle is openapi.Handle for a list.
func Handle[In, Out any](api *openapi.API, op openapi.Operation, fn func(context.Context, *In) (*Out, error)) {
	reply.HandleList(api, op, fn)
}

// Next is the header of a page that another follows. base is the public URL of
// the host.
func Next(ctx context.Context, base string, cursor *string) Linked {
	return Linked{reply.NextLink(ctx, base, cursor)}
}
