package tool

import (
	"encoding/json"
	"time"

	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/tool/output"
)

// Status is the state of a run.
type Status string

// The states; the package comment draws the moves between them.
const (
	AwaitingApproval Status = "awaiting_approval"
	Running          Status = "running"
	Succeeded        Status = "succeeded"
	Failed           Status = "failed"
	Cancelled        Status = "cancelled"
	Denied           Status = "denied"
	Interrupted      Status = "interrupted"
)

// Over reports whether nothing more will happen to the run.
func (s Status) Over() bool { return s != AwaitingApproval && s != Running }

// Prefixes of ids.
const (
	RunPrefix      = "run"
	ApprovalPrefix = "apr"
	FilePrefix     = "file"
)

// Times.
const (
	DefaultTimeout = 60 * time.Second
	MaxTimeout     = 300 * time.Second
	// KeepOutput is how long outputs and files are kept.
	KeepOutput = 24 * time.Hour
	// KeepRuns is how long runs are listed.
	KeepRuns = 30 * 24 * time.Hour
	// ApprovalLifetime is how long a run waits for a person.
	ApprovalLifetime = 24 * time.Hour
)

// Caller is who runs a tool.
type Caller struct {
	AccountID string
	Key       *apikey.Key // nil: a person who is signed in
	Actor     audit.Actor
}

// Run is one run as it is kept. Request and Result are sealed and end with their
// purpose; the rest holds nothing of what was sent or answered.
type Run struct {
	ID           string // run_…
	AccountID    string
	By           audit.Actor
	KeyID        string // "": a person
	Tool         string
	App          string
	ConnectionID string // "": the app asks for none
	EndUser      string
	Status       Status
	Async        bool // done by a job; nobody waits
	Safe         bool // may be sent again
	Sent         bool // may have been sent
	Cancelling   bool // its caller has asked to end it
	Attempts     int
	AppStatus    int    // of the last answer; 0: none
	Code         string // of what went wrong; empty: nothing
	OutputBytes  int
	Timeout      time.Duration

	Approval Approval // the zero value where none was needed

	Owner      string    // process that works on it
	LeaseUntil time.Time // until when it is taken to be alive

	CreatedAt time.Time
	StartedAt time.Time // zero: not yet
	EndedAt   time.Time // zero: not yet

	Request   string    // sealed; empty once nobody needs it
	Result    string    // sealed; empty: none, or no longer kept
	KeptUntil time.Time // of Result
}

// Duration is how long the run took so far.
func (r *Run) Duration(now time.Time) time.Duration {
	switch {
	case r.StartedAt.IsZero():
		return 0
	case r.EndedAt.IsZero():
		return now.Sub(r.StartedAt)
	}
	return r.EndedAt.Sub(r.StartedAt)
}

// Approval is a run that waits, or waited, for a person.
type Approval struct {
	ID        string // apr_…
	ExpiresAt time.Time
	DecidedBy audit.Actor
	DecidedAt time.Time // zero: not yet
	Reason    string    // of whoever decided
}

// Request is what a caller wants run.
type Request struct {
	Tool         string
	Arguments    json.RawMessage // an object; empty: {}
	ConnectionID string          // "": the default one
	EndUser      string
	Timeout      time.Duration // 0: DefaultTimeout; at most MaxTimeout
	Async        bool          // answer at once; also where Timeout is above DefaultTimeout
	Output       Shape
	DryRun       bool
	// RunID, if set, names the run: the same request is one run, however often it
	// comes (see package idempotency).
	RunID string
}

// Shape is how an output is told.
type Shape struct {
	Fields   []string `json:"fields,omitempty"`    // dot paths that are kept; empty: all
	MaxBytes int      `json:"max_bytes,omitempty"` // of one part; 0: output.DefaultPart
}

// Result is a run with as much of its output as was asked for.
type Result struct {
	Run         *Run
	Failure     *Failure // nil: the app refused nothing
	output.Part          // as much as was asked for
	Next        map[string]any
	Files       []*FileInfo
	// Gone says that there was an output and it is no longer kept.
	Gone bool
	// Of a dry run: Run is not kept, and nothing was sent.
	Preview       *Preview
	NeedsApproval bool
}

// OK reports whether the app did what it was asked.
func (r *Result) OK() bool { return r.Run.Status == Succeeded }

// Query selects runs; empty members select all.
type Query struct {
	Tool, App, Status, ConnectionID, KeyID, EndUser string
	Apps, Tools                                     []string // only these
	Before                                          string   // id that the page follows
	Limit                                           int
}
