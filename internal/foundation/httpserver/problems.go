package httpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"

	"ace/internal/foundation/problem"
)

// ErrorWriter responds to a request with an error in the shape of one protocol.
// WriteProblem is the one for our own REST.
type ErrorWriter func(w http.ResponseWriter, r *http.Request, err error)

// ProblemBody is the JSON of a problem: RFC 9457 with our extension members.
type ProblemBody struct {
	Type       string         `json:"type" doc:"Names the kind of problem; dereferences to its description where it is an address."`
	Title      string         `json:"title" doc:"Short name of the kind of problem."`
	Status     int            `json:"status" doc:"HTTP status."`
	Detail     string         `json:"detail" doc:"What is wrong here and what to do about it."`
	Instance   string         `json:"instance" doc:"Path of the request."`
	Code       string         `json:"code" doc:"Stable name of the problem, to branch on."`
	Errors     []problem.Item `json:"errors,omitempty" doc:"Single faults inside the input."`
	NextAction string         `json:"next_action" doc:"What to do next, for programs: connect_app, fix_arguments, retry_later and others; none where nothing helps."`
	RequestID  string         `json:"request_id,omitempty" doc:"Name this when you report the problem."`
	RetryAfter int            `json:"retry_after_seconds,omitempty" doc:"Whole seconds to wait before trying again."`
	Policies   []string       `json:"violated-policies,omitempty" doc:"Names of the limits that the request is over, as RateLimit-Policy tells them."`
}

// statusClientClosed is the status in the access line of a request whose client
// closed the connection before the response. It is never sent.
const statusClientClosed = 499

// WriteProblem writes err as application/problem+json with Retry-After. An
// error without a problem inside is an internal fault: it is logged here, once,
// and the caller reads only that it happened. An ended request deadline becomes
// a Timeout, an oversized body a TooLarge.
func WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := ProblemOf(r.Context(), err)
	if p.Code == clientGone {
		w.WriteHeader(statusClientClosed)
		return
	}
	writeProblemBody(w, r, p)
}

const clientGone = "client_closed_request"

// ProblemOf finds the problem to show for err, notes its code for the access
// line and logs err when it is an internal fault. Every ErrorWriter begins with
// it. It returns the code client_closed_request when the client has gone.
func ProblemOf(ctx context.Context, err error) *problem.Problem {
	p := classify(ctx, err)
	NoteProblem(ctx, p.Code)
	if x := exchangeOf(ctx); x != nil && x.log != nil && p.Kind == problem.Internal {
		x.log.LogAttrs(context.WithoutCancel(ctx), slog.LevelError, "request hit an internal fault",
			slog.String("request_id", x.id), slog.String("error", err.Error()))
	}
	return p
}

func classify(ctx context.Context, err error) *problem.Problem {
	p, ok := problem.From(err)
	if ok {
		return p
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return bodyTooLarge(tooLarge.Limit)
	case errors.Is(err, context.Canceled) && errors.Is(ctx.Err(), context.Canceled):
		return problem.New(problem.Timeout, clientGone, "The client closed the connection before the answer.")
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return problem.New(problem.Timeout, "request_timeout",
			"This took longer than a request may. Try again, with less at once if you can.")
	}
	return p
}

func internalProblem() *problem.Problem {
	p, _ := problem.From(errors.New("panic"))
	return p
}

func bodyTooLarge(limit int64) *problem.Problem {
	return problem.New(problem.TooLarge, "request_too_large",
		fmt.Sprintf("The request body is larger than %d bytes. Send less.", limit))
}

// NewProblemBody fills the JSON of p for the request r.
func NewProblemBody(r *http.Request, p *problem.Problem) ProblemBody {
	return ProblemBody{
		Type: problemType(r.Context(), p), Title: p.Kind.Title(), Status: p.Kind.Status(), Detail: p.Detail,
		Instance: r.URL.EscapedPath(), Code: p.Code, Errors: p.Items, NextAction: NextAction(p),
		RequestID: RequestID(r.Context()), RetryAfter: RetryAfterSeconds(p), Policies: p.Policies,
	}
}

// NextAction returns the advice of p, or else what helps against every problem of
// its kind, or "none".
func NextAction(p *problem.Problem) string {
	switch {
	case p.NextAction != "":
		return p.NextAction
	case p.Kind.Temporary(), p.RetryAfter > 0:
		return "retry_later"
	case p.Kind == problem.Malformed, p.Kind == problem.Invalid, p.Kind == problem.TooLarge,
		p.Kind == problem.UnsupportedMedia:
		return "fix_arguments"
	}
	return "none"
}

func problemType(ctx context.Context, p *problem.Problem) string {
	if x := exchangeOf(ctx); x != nil && x.base != "" {
		return x.base + "/problems/" + strings.ReplaceAll(p.Code, "_", "-")
	}
	return "about:blank"
}

// RetryAfterSeconds is p.RetryAfter in whole seconds, rounded up; 0 when
// nothing is known.
func RetryAfterSeconds(p *problem.Problem) int {
	return int(math.Ceil(p.RetryAfter.Seconds()))
}

func writeProblemBody(w http.ResponseWriter, r *http.Request, p *problem.Problem) {
	body := NewProblemBody(r, p)
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	// What an unfinished handler announced about its own body is void.
	h.Del("Content-Encoding")
	h.Del("Etag")
	h.Del("Last-Modified")
	if body.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(body.RetryAfter))
	}
	encoded, err := encodeProblem(body, p)
	if err != nil { // strings and integers always encode
		encoded = []byte(`{"title":"Internal error","status":500,"code":"internal_error"}`)
	}
	h.Set("Content-Length", strconv.Itoa(len(encoded)+1))
	w.WriteHeader(body.Status)
	_, _ = w.Write(append(encoded, '\n')) // the client has gone if this fails
}

// encodeProblem is the JSON of a problem with the members of p behind those
// that every problem has. A member cannot replace one of these; members that
// cannot be encoded are left out, because a refusal has to reach its caller.
func encodeProblem(body ProblemBody, p *problem.Problem) ([]byte, error) {
	encoded, err := json.Marshal(body)
	if err != nil || len(p.Members) == 0 {
		return encoded, err
	}
	var known map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &known); err != nil {
		return nil, err
	}
	members := maps.Clone(p.Members)
	maps.DeleteFunc(members, func(name string, _ any) bool { _, taken := known[name]; return taken })
	if more, err := json.Marshal(members); err == nil && len(members) > 0 {
		return append(append(encoded[:len(encoded)-1], ','), more[1:]...), nil
	}
	return encoded, nil
}
