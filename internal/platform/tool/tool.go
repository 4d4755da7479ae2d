// Package tool runs the tools of connected apps.
//
//	Run(caller, tool, arguments)
//	   arguments against the schema        -> invalid_arguments, with pointers
//	   connection chosen, credentials fresh -> not_connected, reconnect_required …
//	   policy of the key                   -> key_restricted, awaiting approval
//	   Executor: one HTTP call, or one of the app's MCP server
//	      401 -> one forced refresh, one more try
//	      429, 503 -> wait and repeat, where repeating is safe and time is left
//	   output: projected, cut on the borders of JSON values, kept for a day
//
// The platform refusing is an error of Run; the app refusing is a result with a
// Failure: callers tell the two apart by that alone.
package tool

import (
	"context"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// Codes of what an app refuses.
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

// Failure is an app that refused, or did not answer. It is an error, so that an
// Executor can return it; Run turns it into a result.
type Failure struct {
	Code       string        `json:"code"`
	Detail     string        `json:"detail"`               // the app's own words, cut
	AppStatus  int           `json:"app_status,omitempty"` // of HTTP; 0: no answer
	AppBody    string        `json:"app_body,omitempty"`   // at most 4 KB
	Retryable  bool          `json:"retryable"`            // the same call may succeed later
	RetryAfter time.Duration `json:"-"`
	NextAction string        `json:"next_action"`
	// Unsent says that the app cannot have done anything: it may be repeated
	// whatever the tool does.
	Unsent bool `json:"-"`
}

// Error makes a Failure an error. It holds nothing of the call.
func (f *Failure) Error() string { return f.Code }

// Call is one call of a tool.
type Call struct {
	App       *app.App
	Scheme    *app.Scheme
	Tool      *app.Tool
	Live      *connection.Live
	Arguments map[string]any // fit the schema; defaults are filled in
	// Open answers the bytes of an input file; nil where the tool takes none.
	Open func(ctx context.Context, reference string) (*File, error)
}

// File is a file that goes to an app or comes from one.
type File struct {
	Name      string
	MediaType string
	Data      []byte
}

// Answer is what an app answered.
type Answer struct {
	Status int
	Output any            // decoded JSON, or a text
	File   *File          // of a tool whose answer is a file
	Next   map[string]any // arguments that read the next page; nil: there is none
	Bytes  int
}

// Executor calls apps. It returns a *Failure for what the app refuses, and the
// problems of package egress for addresses that may not be called.
type Executor interface {
	Execute(ctx context.Context, c *Call) (*Answer, error)
	// Preview is the request that Execute would send, without secrets.
	Preview(c *Call) (*Preview, error)
}

// Preview is a request that was not sent.
type Preview struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body,omitempty"`
}
