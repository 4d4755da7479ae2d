// Package tool runs the tools of connected apps and keeps what became of it.
//
//	Run(caller, tool, arguments)
//	   restrictions of the key              -> key_restricted
//	   arguments against the schema         -> invalid_arguments, with pointers
//	   connection chosen                    -> not_connected, reconnect_required …
//	   approval needed?  -> a row that waits for a person; then a job
//	   asynchronous?     -> a row and a job
//	   perform: pace of the app, circuit breaker, Executor
//	      401 -> one forced refresh, one more try
//	      429, 503 -> wait and repeat, where repeating is safe and time is left
//	   output: projected, sealed for a day, told in parts that end between values
//
// The platform refusing is an error of Run; the app refusing is a result with a
// Failure: callers tell the two apart by that alone.
//
// A run that may have been sent and is not safe to repeat is never sent twice:
// after a crash it ends as interrupted. States of a run:
//
//	awaiting_approval ──> running ──> succeeded | failed | cancelled | interrupted
//	        \──> denied | cancelled
package tool

import (
	"context"
	"time"
	"unicode/utf8"

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

// Codes of runs that ended although the app refused nothing.
const (
	CodeRunTimeout      = "run_timeout"      // the time of the run was over
	CodeRunCancelled    = "run_cancelled"    // by its caller
	CodeRunInterrupted  = "run_interrupted"  // the process ended in the middle
	CodeApprovalDenied  = "approval_denied"  // by a person
	CodeApprovalExpired = "approval_expired" // nobody decided in time
	// CodeRefused stands for a problem of the platform in a run that nobody waits
	// for; its own code is in the detail.
	CodeRefused = "run_refused"
)

// Failure is an app that refused, or did not answer. It is an error, so that an
// Executor can return it; Run turns it into a result.
type Failure struct {
	Code       string        `json:"code"`
	Detail     string        `json:"detail"`               // the app's own words, cut
	AppStatus  int           `json:"app_status,omitempty"` // of HTTP; 0: no answer
	AppBody    string        `json:"app_body,omitempty"`   // at most 4 KB
	Retryable  bool          `json:"retryable"`            // the same call may succeed later
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	NextAction string        `json:"next_action"`
	// Unsent says that the app cannot have done anything: it may be repeated
	// whatever the tool does.
	Unsent bool `json:"-"`
	// Unanswered says that the host could not be reached or gave no answer: the
	// circuit breaker counts it.
	Unanswered bool `json:"-"`
	// Answer is the answer itself, of tools that hand on whatever the app says.
	Answer *Answer `json:"-"`
}

// Excerpt is the beginning of what an app said: at most n bytes, on the border
// of a character, and a mark where more was.
func Excerpt(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// Error makes a Failure an error. It holds nothing of the call.
func (f *Failure) Error() string { return f.Code }

// AppCode says what the app refused; it makes a Failure a connection.Refusal.
func (f *Failure) AppCode() string { return f.Code }

// Call is one call of a tool.
type Call struct {
	App       *app.App
	Scheme    *app.Scheme // nil: the app asks for no credentials
	Tool      *app.Tool
	Live      *connection.Live
	Arguments map[string]any // fit the schema; defaults are filled in
	// Open answers the bytes of an input file; nil where the tool takes none.
	Open func(ctx context.Context, reference string) (*File, error)
}

// FileFormat marks, in the schema of an input, one that names a file.
const FileFormat = "ace-file"

// File is a file that goes to an app or comes from one.
type File struct {
	Name      string
	MediaType string
	Data      []byte
}

// Answer is what an app answered.
type Answer struct {
	Status int
	Output any            // decoded JSON, its numbers as json.Number, or a text
	File   *File          // of a tool whose answer is a file
	Next   map[string]any // arguments that read the next page; nil: there is none
	Bytes  int
}

// Executor calls apps. It returns a *Failure for what the app refuses, and the
// problems of package egress for addresses that may not be called. What it
// answers holds none of the credentials of the call, even where the app echoes
// them.
type Executor interface {
	Execute(ctx context.Context, c *Call) (*Answer, error)
	// Preview is the request that Execute would send, without secrets. It needs no
	// credentials: c.Live may hold nothing but the connection.
	Preview(c *Call) (*Preview, error)
}

// Preview is a request that was not sent.
type Preview struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body,omitempty"`
}
