package reply

import (
	"context"
	"net/http"
	"net/url"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
)

type urlKey struct{}

// HandleList is openapi.Handle for a list: List finds the requested URL in the
// context.
func HandleList[In, Out any](api *openapi.API, op openapi.Operation, fn func(context.Context, *In) (*Out, error)) {
	op.Middleware = append([]httpserver.Middleware{remember}, op.Middleware...)
	openapi.Handle(api, op, fn)
}

func remember(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), urlKey{}, r.URL)))
	})
}

// List returns the response for a page of a list, with a Link to the next page:
// the requested URL with that page's cursor. base is the public URL of the host.
func List[T Paged](ctx context.Context, base string, page *T, err error) (*Page[T], error) {
	if err != nil {
		return nil, err
	}
	return &Page[T]{Link: NextLink(ctx, base, (*page).Next()), Body: page}, nil
}

// NextLink is the header Link of a page that another follows; empty without a
// cursor.
func NextLink(ctx context.Context, base string, cursor *string) string {
	requested, ok := ctx.Value(urlKey{}).(*url.URL)
	if cursor == nil || !ok {
		return ""
	}
	query := requested.Query()
	query.Set("cursor", *cursor)
	return "<" + base + requested.EscapedPath() + "?" + query.Encode() + `>; rel="next"`
}
