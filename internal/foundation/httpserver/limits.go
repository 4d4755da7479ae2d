package httpserver

import (
	"context"
	"io"
	"net/http"
	"time"
)

// LimitBody bounds the request body to n bytes. The handler's read fails with
// *http.MaxBytesError, at once when the declared length is over the limit, so
// so that each protocol writes 413 in its own shape; DecodeJSON and WriteProblem
// turn that error into the problem request_too_large.
func LimitBody(n int64) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			whole := r.Body
			limited := limitBody(w, r, n)
			r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, whole))
			r.Body = limited
			next.ServeHTTP(w, r)
		})
	}
}

type bodyKey struct{}

// AllowBody gives one route bodies of n bytes instead of what LimitBody leaves:
// for uploads. Nothing may have read the body before.
func AllowBody(n int64) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if whole, ok := r.Context().Value(bodyKey{}).(io.ReadCloser); ok {
				r.Body = whole
			}
			r.Body = limitBody(w, r, n)
			next.ServeHTTP(w, r)
		})
	}
}

func limitBody(w http.ResponseWriter, r *http.Request, n int64) io.ReadCloser {
	if r.ContentLength > n {
		return tooLargeBody{Closer: r.Body, limit: n}
	}
	return http.MaxBytesReader(w, r.Body, n)
}

// tooLargeBody refuses a body whose declared length is over the limit before a
// byte of it is read, so that "Expect: 100-continue" spares the sending.
type tooLargeBody struct {
	io.Closer
	limit int64
}

func (b tooLargeBody) Read([]byte) (int, error) { return 0, &http.MaxBytesError{Limit: b.limit} }

type baseKey struct{}

// LimitTime ends the context of a request after d. It is the deadline of every
// handler that does not ask for more with AllowTime.
func LimitTime(d time.Duration) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), baseKey{}, r.Context()), d)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// answerMargin is what AllowTime grants on top of a handler's deadline to get
// the response out to a slow reader.
const answerMargin = 15 * time.Second

// AllowTime gives one route d instead of what LimitTime and the listener's
// read and write timeouts leave: for long polls, streams and slow work. The
// request still ends when the client goes away.
func AllowTime(d time.Duration) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			until := time.Now().Add(d + answerMargin)
			control := http.NewResponseController(w)
			// A writer without deadlines (a test's recorder) has nothing to move.
			_ = control.SetReadDeadline(until)
			_ = control.SetWriteDeadline(until)
			ctx, cancel := extend(r.Context(), d)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// extend returns ctx with its values, ending d from now or when the client
// goes away, whatever LimitTime said.
func extend(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	base, ok := ctx.Value(baseKey{}).(context.Context)
	if !ok {
		base = ctx
	}
	lifetime, cancel := context.WithTimeout(base, d)
	return extended{Context: lifetime, values: context.WithoutCancel(ctx)}, cancel
}

type extended struct {
	context.Context
	values context.Context
}

// Value looks in the lifetime as well: by a key of their own, contexts that are
// derived find there what cancels them. Otherwise each would have a goroutine
// that waits for the end of its parent.
func (e extended) Value(key any) any {
	if value := e.values.Value(key); value != nil {
		return value
	}
	return e.Context.Value(key)
}
