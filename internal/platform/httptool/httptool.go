// Package httptool calls the APIs of apps as their definitions say: it turns a
// tool and its arguments into one HTTP request and the answer into a value.
//
//	base + path   {params} and {inputs}, each escaped for its place
//	query, headers, body: inputs by app.Tool.Place, then what is fixed
//	credentials   by the scheme's send; never into a log or an error
//	   -> only to the app's own hosts, through the egress guard
//	answer: success by status and by what the app says inside
//	   -> output picked by pointers | file | Failure with the app's own words
//	   -> arguments of the next page
//
// It repeats nothing: whether a call may be made again is for package tool.
package httptool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool"
)

// Doer sends requests: the egress client for apps.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Executor implements tool.Executor and connection.Checker.
type Executor struct {
	doer    Doer
	options Options
}

// Options tunes an Executor.
type Options struct {
	// MaxAnswer bounds what is read of an answer, in bytes. Default 10 MiB.
	MaxAnswer int64
	// UserAgent is sent with each call. Default "ace".
	UserAgent string
}

// New answers an executor.
func New(doer Doer, o *Options) *Executor {
	e := &Executor{doer: doer}
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
	draft, err := e.draft(ctx, c)
	if err != nil {
		return nil, err
	}
	answer, err := e.send(ctx, c.App, draft)
	if err != nil {
		return nil, err
	}
	if failure := judge(c.App, c.Tool.OK, answer); failure != nil {
		return nil, failure
	}
	return result(c, answer)
}

// Preview implements tool.Executor.
func (e *Executor) Preview(c *tool.Call) (*tool.Preview, error) {
	masked := *c
	live := *c.Live
	live.Values = hidden{c.Live.Values, c.Live.Connection.Params}
	masked.Live = &live
	draft, err := e.draft(context.Background(), &masked)
	if err != nil {
		return nil, err
	}
	p := &tool.Preview{Method: draft.method, URL: draft.url.String(), Headers: map[string]string{}, Body: string(draft.body)}
	for name, values := range draft.header {
		p.Headers[name] = strings.Join(values, ", ")
	}
	return p, nil
}

// hidden are values whose secrets read as stars: params are no secrets.
type hidden struct {
	values app.Values
	params map[string]string
}

func (h hidden) Value(name string) (string, bool) {
	if v, ok := h.params[name]; ok {
		return v, true
	}
	_, ok := h.values.Value(name)
	return "***", ok
}

// Check implements connection.Checker: it calls who and reads whose account it
// is. An app without who is connected unseen.
func (e *Executor) Check(ctx context.Context, a *app.App, s *app.Scheme, live *connection.Live) (connection.Identity, error) {
	who := a.Who
	if who == nil {
		return connection.Identity{}, nil
	}
	call := who.Call
	if call == "" {
		call = "GET " + who.Get
	}
	t := &app.Tool{App: a.ID, Name: "whoami", Call: call, GraphQL: who.GraphQL, Fixed: app.Fixed{Query: who.Query}, OK: who.Expect, Body: app.BodyNone}
	if who.GraphQL != "" {
		t.Body = app.BodyGraphQL
	}
	draft, err := e.draft(ctx, &tool.Call{App: a, Scheme: s, Tool: t, Live: live, Arguments: map[string]any{}})
	if err != nil {
		return connection.Identity{}, err
	}
	if who.Body != "" {
		draft.body = []byte(who.Body)
		draft.header.Set("Content-Type", "application/json")
	}
	answer, err := e.send(ctx, a, draft)
	if err != nil {
		return connection.Identity{}, err
	}
	if failure := judge(a, who.Expect, answer); failure != nil {
		return connection.Identity{}, failure
	}
	return connection.Identity{
		ID: app.PickText(answer.value, orNone(who.ID)), Name: app.PickText(answer.value, orNone(who.Label)),
		Email: app.PickText(answer.value, orNone(who.Email)), Tenant: app.PickText(answer.value, orNone(who.Tenant)),
	}, nil
}

// orNone keeps an empty pointer from meaning the whole document.
func orNone(pointer string) string {
	if pointer == "" {
		return "/\x00"
	}
	return pointer
}

// allowed reports whether a request may go to a host: the one of the base that
// was expanded, and those that the definition lists.
func allowed(a *app.App, base *url.URL, target *url.URL, values app.Values) bool {
	if target.Scheme == base.Scheme && strings.EqualFold(target.Host, base.Host) {
		return true
	}
	return target.Scheme == "https" && slices.ContainsFunc(a.Hosts, func(host string) bool {
		expanded, err := app.Expand(host, values, nil)
		return err == nil && strings.EqualFold(expanded, target.Host)
	})
}

// send makes the call and reads the answer.
func (e *Executor) send(ctx context.Context, a *app.App, d *draft) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, d.method, d.url.String(), d.reader())
	if err != nil {
		return nil, fmt.Errorf("preparing a call of %s: %w", a.ID, errors.Unwrap(err))
	}
	req.Header = d.header
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", e.options.UserAgent)
	}
	res, err := e.doer.Do(req)
	if err != nil {
		return nil, unreachable(ctx, a, err)
	}
	defer func() { _ = res.Body.Close() }()
	return e.read(ctx, a, res)
}

// unreachable words a call that got no answer.
func unreachable(ctx context.Context, a *app.App, err error) error {
	if p, ok := problem.From(err); ok {
		switch p.Code {
		case "target_not_allowed":
			return p
		case "target_timeout":
			return &tool.Failure{Code: tool.CodeTimeout, Detail: a.Name + " did not answer in time. The call may have been carried out.", Retryable: true, NextAction: "retry_later"}
		case "target_unreachable":
			return &tool.Failure{Code: tool.CodeUnavailable, Detail: a.Name + " cannot be reached right now.", Retryable: true, NextAction: "retry_later", Unsent: true}
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return &tool.Failure{Code: tool.CodeTimeout, Detail: a.Name + " did not answer in time. The call may have been carried out.", Retryable: true, NextAction: "retry_later"}
	}
	return &tool.Failure{Code: tool.CodeUnavailable, Detail: a.Name + " broke the connection off. The call may have been carried out.", Retryable: true, RetryAfter: time.Second, NextAction: "retry_later"}
}
