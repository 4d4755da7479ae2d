package openapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jsonread"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

const routeKey = "route"

// route is what the door must know about an operation.
type route struct {
	limit      int64
	middleware []httpserver.Middleware
	registry   huma.Registry
	strict     bool // unknown query parameters are refused
}

// adapter mounts operations of the library on our mux.
type adapter struct{ mux Mux }

// Handle puts the door before the library's handler.
func (a *adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	rt, ok := op.Metadata[routeKey].(*route)
	if !ok {
		panic("openapi: operation registered past Handle: " + op.OperationID)
	}
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rt.strict {
			if err := checkParameters(op, r); err != nil {
				httpserver.WriteProblem(w, r, err)
				return
			}
		}
		body, err := readBody(op, rt, r)
		if err != nil {
			httpserver.WriteProblem(w, r, err)
			return
		}
		handler(&door{inner: humago.NewContext(op, r, w), w: w, r: r, body: body})
	})
	a.mux.Handle(op.Method+" "+op.Path, httpserver.Chain(serve, rt.middleware...))
}

// ServeHTTP exists because the library asks for it; requests come by the mux.
func (a *adapter) ServeHTTP(http.ResponseWriter, *http.Request) {}

// readBody applies the JSON rules of httpserver where the operation takes JSON.
func readBody(op *huma.Operation, rt *route, r *http.Request) ([]byte, error) {
	if op.RequestBody == nil {
		return nil, nil
	}
	_, takesJSON := op.RequestBody.Content["application/json"]
	if takesJSON {
		if err := httpserver.CheckJSONType(r); err != nil {
			return nil, err
		}
	}
	body, err := httpserver.ReadBody(r, rt.limit)
	if err != nil || len(body) == 0 || !takesJSON {
		return body, err
	}
	return body, jsonread.Check(body)
}

type inner = huma.Context

// door is between the library and the connection: it passes the checked body on
// and writes failures itself.
type door struct {
	inner
	w        http.ResponseWriter
	r        *http.Request
	body     []byte
	failed   bool
	answered bool
}

// fields returns the names of the fields that the body may have beside one that
// it may not have, at a place such as body.lines[0].color.
func (d *door) fields(location string) []string {
	op := d.inner.Operation()
	rt, ok := op.Metadata[routeKey].(*route)
	at := strings.LastIndexByte(location, '.')
	if !ok || at < 0 {
		return nil
	}
	return fieldsAt(op, rt.registry, location[:at])
}

// BodyReader returns the checked body.
func (d *door) BodyReader() io.Reader { return bytes.NewReader(d.body) }

// Header hides media types with a +json suffix, which the library does not know.
func (d *door) Header(name string) string {
	if name == "Content-Type" {
		return "application/json"
	}
	return d.inner.Header(name)
}

// SetReadDeadline does nothing: deadlines are set in httpserver alone.
func (d *door) SetReadDeadline(time.Time) error { return nil }

// SetStatus writes the header, unless the response is a problem already.
func (d *door) SetStatus(status int) {
	if !d.failed {
		d.answered = true
		d.inner.SetStatus(status)
	}
}

// SetHeader sets a header, unless the response is a problem already.
func (d *door) SetHeader(name, value string) {
	if !d.failed {
		d.inner.SetHeader(name, value)
	}
}

// BodyWriter swallows what the library adds after a problem.
func (d *door) BodyWriter() io.Writer {
	if d.failed {
		return io.Discard
	}
	return d.inner.BodyWriter()
}

func (d *door) fail(err error) {
	if d.failed || d.answered {
		return
	}
	d.failed = true
	httpserver.WriteProblem(d.w, d.r, err)
}

// Context is the request's context: the embedded name hides the method.
func (d *door) Context() context.Context { return d.r.Context() }

// failure carries an error of a handler through the library, which looks only
// at its status.
type failure struct{ err error }

// Error says nothing: the error inside is rendered by the door.
func (*failure) Error() string { return "request failed" }

// GetStatus satisfies the library; the real status is the problem's.
func (*failure) GetStatus() int { return http.StatusInternalServerError }

// catchFailures sees every value that the library is about to write. Failures,
// ours and the library's own, go to the door instead.
func catchFailures(ctx huma.Context, _ string, v any) (any, error) {
	d, ok := ctx.(*door)
	if !ok {
		return v, nil
	}
	switch e := v.(type) {
	case *failure:
		d.fail(e.err)
		return nil, nil
	case *huma.ErrorModel:
		d.fail(inputProblem(e, d.fields))
		return nil, nil
	}
	return v, nil
}
