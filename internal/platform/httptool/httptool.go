// Package httptool calls the APIs of apps as their definitions say: it turns a
// tool and its arguments into one HTTP request and the response into a value.
//
//	base + path   {params} and {inputs}, each escaped for its place
//	query, headers, body: inputs by app.Tool.Place, then what is fixed
//	   or, for a raw request, what the caller may set
//	credentials   by the scheme; never in a log, an error or an output
//	   -> only to the app's own hosts, through the egress guard
//	response: credentials that the app echoes are removed
//	   success by status and by what the body says
//	   -> output picked by pointers | file | Failure with what the app said
//	   -> arguments of the next page
//
// It retries nothing: whether a call may be repeated is decided by package
// tool.
package httptool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool"
)

// HTTPClient sends requests: the egress client for apps.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Executor implements tool.Executor and connection.Checker.
type Executor struct {
	client  HTTPClient
	options Options
}

// Options tunes an Executor.
type Options struct {
	// MaxAnswer bounds what is read of a response, in bytes. Default 10 MiB.
	MaxAnswer int64
	// UserAgent is sent with each call. Default "ace".
	UserAgent string
	// Sign signs calls whose scheme asks for it. Nil: such calls go unsigned.
	Sign Sign
}

// New returns an executor.
func New(client HTTPClient, o *Options) *Executor {
	e := &Executor{client: client}
	if o != nil {
		e.options = *o
	}
	if e.options.MaxAnswer == 0 {
		e.options.MaxAnswer = 10 << 20
	}
	if e.options.UserAgent == "" {
		e.options.UserAgent = "ace"
	}
	return e
}

// Execute implements tool.Executor.
func (e *Executor) Execute(ctx context.Context, c *tool.Call) (*tool.Answer, error) {
	d, err := e.draft(ctx, c)
	if err != nil {
		return nil, err
	}
	got, err := e.send(ctx, c, d)
	if err != nil {
		return nil, err
	}
	if c.Tool.Free {
		return freely(c, got)
	}
	if failure := checkResponse(c.App, c.Tool.OK, got); failure != nil {
		return nil, failure
	}
	return result(c, got)
}

// Preview implements tool.Executor.
func (e *Executor) Preview(c *tool.Call) (*tool.Preview, error) {
	masked := *c
	live := *c.Live
	live.Values = hidden(live.Connection.Params)
	masked.Live, masked.Open = &live, nil
	d, err := e.draft(context.Background(), &masked)
	if err != nil {
		return nil, err
	}
	p := &tool.Preview{Method: d.method, URL: d.url.String(), Headers: map[string]string{}, Body: string(d.body)}
	for name, values := range d.header {
		p.Headers[name] = strings.Join(values, ", ")
	}
	return p, nil
}

// hidden are params, which are no secrets, and stars for everything else.
type hidden map[string]string

const stars = "***"

// Value implements app.Values.
func (h hidden) Value(name string) (string, bool) {
	if v, ok := h[name]; ok {
		return v, true
	}
	return stars, true
}

// Check implements connection.Checker: it calls who and reads whose account it
// is. An app without who is connected unchecked.
func (e *Executor) Check(ctx context.Context, a *app.App, s *app.Scheme, live *connection.Live) (connection.Identity,
	error,
) {
	who := a.Who
	if who == nil {
		return connection.Identity{}, nil
	}
	builtin, err := (&app.App{ID: a.ID, Name: a.Name, Who: who}).Builtin()
	if err != nil || len(builtin) == 0 {
		return connection.Identity{}, errors.Join(errors.New("an app without whoami"), err)
	}
	c := &tool.Call{App: a, Scheme: s, Tool: builtin[0], Live: live, Arguments: map[string]any{}}
	got, err := e.value(ctx, c)
	if err != nil {
		return connection.Identity{}, err
	}
	return connection.Identity{
		ID: app.PickText(got, orNone(who.ID)), Name: app.PickText(got, orNone(who.Label)),
		Email: app.PickText(got, orNone(who.Email)), Tenant: app.PickText(got, orNone(who.Tenant)),
	}, nil
}

// value makes a call and returns its decoded response.
func (e *Executor) value(ctx context.Context, c *tool.Call) (any, error) {
	d, err := e.draft(ctx, c)
	if err != nil {
		return nil, err
	}
	d.secrets = nil // what is learned here may be a secret, and is not shown
	got, err := e.send(ctx, c, d)
	if err != nil {
		return nil, err
	}
	if failure := checkResponse(c.App, c.Tool.OK, got); failure != nil {
		failure.AppBody = ""
		return nil, failure
	}
	return got.value, nil
}

// orNone keeps an empty pointer from meaning the whole document.
func orNone(pointer string) string {
	if pointer == "" {
		return "/\x00"
	}
	return pointer
}

// send makes the call and reads the response.
func (e *Executor) send(ctx context.Context, c *tool.Call, d *draft) (*answer, error) {
	a := c.App
	var dialled atomic.Bool
	traced := httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { dialled.Store(true) }})
	req, err := http.NewRequestWithContext(traced, d.method, d.url.String(), d.reader())
	if err != nil {
		return nil, fmt.Errorf("preparing a call of %s: %w", a.ID, errors.Unwrap(err))
	}
	req.Header = d.header
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", e.options.UserAgent)
	}
	if err := e.sign(c, req); err != nil {
		return nil, err
	}
	res, err := e.client.Do(req)
	if err != nil {
		return nil, unreachable(ctx, a, err, dialled.Load())
	}
	defer func() { _ = res.Body.Close() }()
	return e.read(ctx, a, d, res)
}

// unreachable returns the failure of a call without a response. dialled says
// that there was a connection, so that the call may have been carried out.
func unreachable(ctx context.Context, a *app.App, err error, dialled bool) error {
	f := &tool.Failure{Retryable: true, NextAction: "retry_later", Unanswered: true, Unsent: !dialled}
	carriedOut := " Nothing was sent."
	if dialled {
		carriedOut = " The call may have been carried out."
	}
	p, _ := problem.From(err)
	switch {
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || p.Code == "target_timeout":
		f.Code, f.Detail = tool.CodeTimeout, a.Name+" did not answer in time."+carriedOut
		return f
	case p.Code == "target_not_allowed" && !dialled:
		return p
	case p.Code == "target_not_allowed":
		return &tool.Failure{
			Code:       tool.CodeResponseInvalid,
			Detail:     a.Name + " redirected the call to somewhere else, where it was not followed." + carriedOut,
			NextAction: "none",
		}
	case p.Code == "response_too_large":
		return &tool.Failure{
			Code:   tool.CodeResponseInvalid,
			Detail: "The answer of " + a.Name + " is too large." + carriedOut, NextAction: "fix_arguments",
		}
	}
	f.Code = tool.CodeUnavailable
	switch {
	case p.Code == "target_unreachable" && !dialled:
		f.Detail = a.Name + " cannot be reached right now." + carriedOut
	case p.Code == "target_bad_answer" && p.Kind == problem.Unprocessable && !dialled: // its certificate
		f.Detail, f.Retryable, f.NextAction = a.Name+" has a certificate that is not valid."+carriedOut, false, "none"
	default:
		f.Detail, f.RetryAfter, f.Unanswered = a.Name+" broke the connection off."+carriedOut, time.Second, !dialled
	}
	return f
}
