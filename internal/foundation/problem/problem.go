// Package problem is the one vocabulary of failure.
//
// A domain package returns a failure that the caller can act on
// with a *Problem: what kind it is, a stable code, and a sentence that is safe
// to show. Every other error is an internal fault, and its text never leaves
// the process.
//
//	domain            returns problem.New(NotFound, "offer_not_found", "…")
//	  | wrapped with %w on the way up, never rephrased
//	transport problem.From(err) -> RFC 9457, ACP error, UCP message,
//	                  JSON-RPC error or MCP tool result
//
// All codes are listed in docs/errors.md; a test compares the list with the
// code.
package problem

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// Kind says whose move it is and, over HTTP, which status a problem has.
type Kind int

// The kinds, from the caller's mistakes to our own.
const (
	Internal         Kind = iota // our fault; the text says nothing about it
	Malformed                    // cannot be parsed at all
	Invalid                      // parsed, but a value breaks a rule
	Unauthenticated              // credentials are missing or wrong
	PaymentRequired              // must be paid first
	Forbidden                    // known caller, not allowed
	NotFound                     // no such thing, or not for this caller
	MethodNotAllowed             // the resource has other methods
	NotAcceptable                // no representation that the caller accepts
	Conflict                     // the state of the thing forbids it
	Gone                         // was here and is not coming back
	TooLarge                     // over a size limit
	UnsupportedMedia             // a media type that is not read here
	Unprocessable                // well-formed, understood, refused
	RateLimited                  // over a limit; RetryAfter is set
	Unavailable                  // a dependency is unavailable; retry later
	Timeout                      // a dependency did not respond in time
)

var statuses = [...]int{
	Internal: 500, Malformed: 400, Invalid: 400, Unauthenticated: 401, PaymentRequired: 402, Forbidden: 403,
	NotFound: 404, MethodNotAllowed: 405, NotAcceptable: 406, Conflict: 409, Gone: 410, TooLarge: 413,
	UnsupportedMedia: 415, Unprocessable: 422, RateLimited: 429, Unavailable: 503, Timeout: 504,
}

var titles = [...]string{
	Internal: "Internal error", Malformed: "Malformed request", Invalid: "Invalid request",
	Unauthenticated: "Authentication required", PaymentRequired: "Payment required", Forbidden: "Not allowed",
	NotFound: "Not found", MethodNotAllowed: "Method not allowed", NotAcceptable: "Not acceptable",
	Conflict: "Conflict", Gone: "Gone", TooLarge: "Too large", UnsupportedMedia: "Unsupported media type",
	Unprocessable: "Unprocessable request", RateLimited: "Too many requests", Unavailable: "Temporarily unavailable",
	Timeout: "Timed out",
}

// Status is the HTTP status of the kind.
func (k Kind) Status() int { return statuses[k] }

// Title is the short, constant name of the kind (RFC 9457 "title").
func (k Kind) Title() string { return titles[k] }

// Temporary reports whether the same request may succeed later unchanged.
func (k Kind) Temporary() bool { return k == RateLimited || k == Unavailable || k == Timeout }

// KindOf returns the kind whose status is status, and Internal for a status
// that no kind has.
func KindOf(status int) Kind {
	for k, s := range statuses {
		if s == status && Kind(k) != Invalid {
			return Kind(k)
		}
	}
	if status >= 400 && status < 500 {
		return Invalid
	}
	return Internal
}

// Problem is a failure that the caller may read and act on.
type Problem struct {
	Kind       Kind
	Code       string        // stable, snake_case; callers branch on it
	Detail     string        // one or two sentences, safe to show, saying what to do
	Items      []Item        // single faults inside the input
	NextAction string        // machine-readable advice, for example "fix_arguments"; may be empty
	RetryAfter time.Duration // zero: nothing is known
	Policies   []string      // names of the limits that a RateLimited request is over
	// Members are further facts for programs, such as the address of a sign-in
	// link; RFC 9457 calls them extension members. They never hold secrets.
	Members map[string]any
}

// Item is one fault at one place of the input.
type Item struct {
	Pointer string `json:"pointer" doc:"Where the fault is: a JSON Pointer into the body, or the name of a parameter."`
	Code    string `json:"code" doc:"Stable name of the fault."`
	Detail  string `json:"detail" doc:"What is wrong and what would be right."`
}

// New returns a problem. Detail is shown to the caller: it must not contain
// secrets or text of inner errors.
func New(kind Kind, code, detail string) *Problem {
	return &Problem{Kind: kind, Code: code, Detail: detail}
}

// Error makes a Problem an error. The text is safe to show.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// At returns a copy that names the place of the fault as a JSON Pointer.
func (p *Problem) At(pointer string) *Problem {
	return p.WithItems(Item{Pointer: pointer, Code: p.Code, Detail: p.Detail})
}

// WithItems returns a copy with more items.
func (p *Problem) WithItems(items ...Item) *Problem {
	q := *p
	q.Items = append(slices.Clip(q.Items), items...)
	return &q
}

// After returns a copy that says when to try again.
func (p *Problem) After(d time.Duration) *Problem {
	q := *p
	q.RetryAfter = d
	return &q
}

// Advise returns a copy with a machine-readable next action.
func (p *Problem) Advise(next string) *Problem {
	q := *p
	q.NextAction = next
	return &q
}

// Over returns a copy that names the limit that the request is over.
func (p *Problem) Over(policy string) *Problem {
	q := *p
	q.Policies = append(slices.Clip(q.Policies), policy)
	return &q
}

// With returns a copy that holds one more member for programs. The value has
// to encode as JSON.
func (p *Problem) With(name string, value any) *Problem {
	q := *p
	q.Members = maps.Clone(q.Members)
	if q.Members == nil {
		q.Members = map[string]any{}
	}
	q.Members[name] = value
	return &q
}

// From finds the problem inside err. An error that holds none becomes an
// Internal problem whose detail says nothing about it; ok is then false and
// the transport logs err itself.
func From(err error) (p *Problem, ok bool) {
	if errors.As(err, &p) {
		return p, true
	}
	return New(Internal, "internal_error",
		"Something went wrong on our side. It has been logged; please try again."), false
}

// Is reports whether err holds a problem with the code.
func Is(err error, code string) bool {
	var p *Problem
	return errors.As(err, &p) && p.Code == code
}
