// Package listing gives every list of the platform's REST API the same two
// things beside its page.
//
//	GET /api/v1/…?app=a&limit=2&include=total
//	   -> Handle keeps the address that was asked for
//	   -> the face cuts its page
//	   -> Next:  Link: <…?app=a&limit=2&include=total&cursor=…>; rel="next" (RFC 8288),
//	             wherever next_cursor is not null
//	   -> Total: total, where it is asked for. It costs a count of its own, so
//	             nobody pays for it by default.
package listing

import (
	"context"
	"net/http"
	"net/url"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
)

// Include is embedded in what a list takes.
type Include struct {
	Include string `query:"include" enum:"total" doc:"total: the answer counts the entries of all pages."`
}

// Counted is embedded in what a list answers.
type Counted struct {
	Total *int `json:"total,omitempty" minimum:"0" doc:"Entries on all pages, where include asks for it."`
}

// Linked is embedded in the output of a list, beside its body.
type Linked struct {
	Link string `header:"Link"`
}

type addressKey struct{}

// Handle is openapi.Handle for a list.
func Handle[In, Out any](api *openapi.API, op openapi.Operation, fn func(context.Context, *In) (*Out, error)) {
	op.Middleware = append([]httpserver.Middleware{remember}, op.Middleware...)
	openapi.Handle(api, op, fn)
}

func remember(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), addressKey{}, r.URL)))
	})
}

// Next is the header of a page that another follows: the address that was asked
// for, with the cursor of that page. Without a cursor there is none. base is the
// public address of the host.
func Next(ctx context.Context, base string, cursor *string) Linked {
	asked, ok := ctx.Value(addressKey{}).(*url.URL)
	if cursor == nil || !ok {
		return Linked{}
	}
	query := asked.Query()
	query.Set("cursor", *cursor)
	return Linked{"<" + base + asked.EscapedPath() + "?" + query.Encode() + `>; rel="next"`}
}

// Total counts by count where total is asked for.
func (i Include) Total(count func() (int, error)) (Counted, error) {
	if i.Include != "total" {
		return Counted{}, nil
	}
	n, err := count()
	if err != nil {
		return Counted{}, err
	}
	return Counted{&n}, nil
}

// Known is Total of a list that was read as a whole.
func (i Include) Known(n int) Counted {
	if i.Include != "total" {
		return Counted{}
	}
	return Counted{&n}
}
