package tool

import (
	"encoding/json"
	"time"

	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/tool/file"
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
	Canceled         Status = "canceled"
	Denied           Status = "denied"
	Interrupted      Status = "interrupted"
)

// Ended reports whether the run has ended.
func (s Status) Ended() bool { return s != AwaitingApproval && s != Running }

// Prefixes of ids.
const (
	RunPrefix      = "run"
	ApprovalPrefix = "apr"
)

// Times.
const (
	DefaultTimeout = 60 * time.Second
	MaxTimeout     = 300 * time.Second
	// OutputLifetime is how long outputs are stored.
	OutputLifetime = 24 * time.Hour
	// RunLifetime is how long runs are stored.
	RunLifetime = 30 * 24 * time.Hour
	// ApprovalLifetime is how long a run waits for approval.
	ApprovalLifetime = 24 * time.Hour
	// KeyLifetime is how long after its beginning a run is found by its Key.
	KeyLifetime = 48*time.Hour + MaxTimeout
)

// Caller is who runs a tool.
type Caller struct {
	AccountID string
	Key       *apikey.Key // nil: a signed-in user
	Actor     audit.Actor
}

// Run is one run as it is stored. Request and Result are sealed, and deleted when
// they are no longer needed; the rest contains nothing of what was sent or
// returned.
type Run struct {
	ID           string // run_…
	AccountID    string
	By           audit.Actor
	KeyID        string // of the API key; "": a signed-in user
	Tool         string
	App          string
	ConnectionID string // "": the app needs none
	EndUser      string
	Status       Status
	Async        bool // performed by a job in the background
	Safe         bool // may be sent again
	Sent         bool // may have been sent
	Cancelling   bool // its caller wants it to end
	Attempts     int
	AppStatus    int    // of the last response; 0: none
	Code         string // of the failure; empty: none
	OutputBytes  int
	Timeout      time.Duration

	// Of a request with an Idempotency-Key: keyed digests of the key, with account,
	// API key and tool, and of the request.
	Key, Fingerprint string

	Approval Approval // the zero value if none was needed

	Owner      string    // the process that performs it
	LeaseUntil time.Time // the process is considered dead afterwards

	CreatedAt time.Time
	StartedAt time.Time // zero: not yet
	EndedAt   time.Time // zero: not yet

	Request     string    // sealed; empty once it is not needed
	Result      string    // sealed; empty: none, or expired
	StoredUntil time.Time // of Result
}

// Duration returns how long the run has taken so far.
func (r *Run) Duration(now time.Time) time.Duration {
	switch {
	case r.StartedAt.IsZero():
		return 0
	case r.EndedAt.IsZero():
		return now.Sub(r.StartedAt)
	}
	return r.EndedAt.Sub(r.StartedAt)
}

// Approval is the decision that a run waits, or waited, for.
type Approval struct {
	ID        string // apr_…
	ExpiresAt time.Time
	DecidedBy audit.Actor
	DecidedAt time.Time // zero: not yet
	Reason    string    // given with the decision
}

// Request is a request to run a tool.
type Request struct {
	Tool         string
	Arguments    json.RawMessage // an object; empty: {}
	ConnectionID string          // "": the default one
	EndUser      string
	Timeout      time.Duration // 0: DefaultTimeout; at most MaxTimeout
	Async        bool          // return at once; also if Timeout is above DefaultTimeout
	Output       Shape
	DryRun       bool
	// IdempotencyKey, if not empty, makes the same request of the same API key one
	// run, however often it is sent. A dry run has none.
	IdempotencyKey string
}

// Shape is the form in which an output is returned.
type Shape struct {
	Fields   []string `json:"fields,omitempty"`    // dot paths to retain; empty: all
	MaxBytes int      `json:"max_bytes,omitempty"` // of one part; 0: output.DefaultPart
}

// Result is a run with the requested part of its output.
type Result struct {
	Run     *Run
	Failure *Failure // nil: the app did not refuse
	output.Part
	Next  map[string]any
	Files []*file.Info
	// Expired says that there was an output and it has been deleted.
	Expired bool
	// Replayed says that an earlier request with the same Idempotency-Key made the
	// run.
	Replayed bool
	// Of a dry run: Run is not stored, and nothing was sent.
	Preview       *Preview
	NeedsApproval bool
}

// OK reports whether the app did what was requested.
func (r *Result) OK() bool { return r.Run.Status == Succeeded }

// Query selects runs; empty fields select all.
type Query struct {
	Tool, App, Status, ConnectionID, KeyID, EndUser string
	Apps, Tools                                     []string // only these
	Before                                          string   // id that the page follows
	Limit                                           int
}
