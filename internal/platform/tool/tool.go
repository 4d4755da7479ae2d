// Package tool runs the tools of connected apps and stores the results.
//
//	Run(caller, tool, arguments)
//	   Idempotency-Key seen before          -> the run of the first request
//	   restrictions of the API key          -> key_restricted
//	   arguments against the schema         -> invalid_arguments, with pointers
//	   connection chosen                    -> not_connected, reconnect_required …
//	   approval needed?  -> a row that waits for a user; then a job
//	   asynchronous?     -> a row and a job
//	   perform: package pace, package breaker, Executor
//	      401 -> one forced refresh, one retry
//	      429, 503 -> wait and retry, if that is safe and there is time
//	   output: projected, sealed for a day, returned in parts that end between values
//
// If the platform refuses, Run returns an error; if the app refuses, it returns a
// Result with a Failure.
//
// A run that may have been sent and is not safe to repeat is never sent twice:
// after a crash it ends as interrupted. States of a run:
//
//	awaiting_approval ──> running ──> succeeded | failed | canceled | interrupted
//	        \──> denied | canceled
package tool

import (
	"context"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool/file"
)

// Codes of failures of apps.
const (
	CodeBadRequest      = "app_bad_request"
	CodeUnauthorized    = "app_unauthorized"
	CodeForbidden       = "app_forbidden"
	CodeNotFound        = "app_not_found"
	CodeConflict        = "app_conflict"
	CodeRateLimited     = "app_rate_limited"
	CodeUnavailable     = "app_unavailable"
	CodeTimeout         = "app_timeout"
	CodeResponseInvalid = "app_response_invalid"
)

// Codes of runs that ended for another reason.
const (
	CodeRunTimeout      = "run_timeout"      // it did not end in its time
	CodeRunCancelled    = "run_cancelled"    // by its caller
	CodeRunInterrupted  = "run_interrupted"  // the process ended in the middle
	CodeApprovalDenied  = "approval_denied"  // by a user
	CodeApprovalExpired = "approval_expired" // no decision in time
	// CodeRefused is that of a run that the platform refused after it was stored.
	// The code of the problem is in the detail.
	CodeRefused = "run_refused"
)

// Failure says that an app refused a call, or did not respond. It is an error, so
// that an Executor can return it; Run makes it part of the Result.
type Failure struct {
	Code       string        `json:"code"`
	Detail     string        `json:"detail"`               // what the app said, shortened
	AppStatus  int           `json:"app_status,omitempty"` // of HTTP; 0: no response
	AppBody    string        `json:"app_body,omitempty"`   // at most 4 KB
	Retryable  bool          `json:"retryable"`            // the same call may succeed later
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	NextAction string        `json:"next_action"`
	// Unsent says that the app did not receive the call: it may be retried whatever
	// the tool does.
	Unsent bool `json:"-"`
	// Unanswered says that the host could not be reached or did not respond: the
	// circuit breaker counts it.
	Unanswered bool `json:"-"`
	// Answer is the response itself, of tools that return whatever the app responds.
	Answer *Answer `json:"-"`
}

// Error implements error. The text contains nothing of the call.
func (f *Failure) Error() string { return f.Code }

// AppCode returns the code. It makes a Failure a connection.Refusal.
func (f *Failure) AppCode() string { return f.Code }

// Call is one call of a tool.
type Call struct {
	App       *app.App
	Scheme    *app.Scheme // nil: the app needs no credentials
	Tool      *app.Tool
	Live      *connection.Live
	Arguments map[string]any // valid, with defaults
	// Open returns an input file; see file.Service.Open.
	Open func(ctx context.Context, reference string) (*file.File, error)
}

// Answer is the response of an app.
type Answer struct {
	Status int
	Output any            // decoded JSON, its numbers as json.Number, or a string
	File   *file.File     // of a tool that returns a file
	Next   map[string]any // arguments that read the next page; nil: there is none
	Bytes  int
}

// Executor calls apps. It returns a *Failure if the app refuses, and the problems
// of package egress for URLs that may not be called. What it returns contains
// none of the credentials of the call, even if the app echoes them.
type Executor interface {
	Execute(ctx context.Context, c *Call) (*Answer, error)
	// Preview returns the request that Execute would send, without secrets. It needs
	// no credentials: c.Live may contain only the connection.
	Preview(c *Call) (*Preview, error)
}

// Preview is a request that was not sent.
type Preview struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body,omitempty"`
}
