package tool

import (
	"context"
	"time"

	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool/file"
	"ace/internal/platform/tool/lookup"
)

// Ports are what a Service calls.
type Ports struct {
	Runs        Runs
	History     History
	Queue       Queue
	Tools       lookup.Tools
	Files       *file.Service
	Connections Connections
	Executor    Executor
	Opener      Opener // nil: errors contain no sign-in links
	Keys        Keys
}

// Runs stores runs while they are performed. Each method is atomic and safe
// between replicas.
type Runs interface {
	// InsertRun inserts a new run, with its job if queued. If there is a run with
	// its id, or an unexpired one with its Key, that one is returned, with inserted
	// false.
	InsertRun(ctx context.Context, r *Run, queued bool) (stored *Run, inserted bool, err error)
	// RunByKey returns the unexpired run with a Key, or nil. See KeyLifetime.
	RunByKey(ctx context.Context, accountID, key string) (*Run, error)
	// TakeRun gives a running run to an owner, unless another holds it; taken
	// reports which. r is nil if there is no such run.
	TakeRun(ctx context.Context, id, owner string, now, until time.Time) (r *Run, taken bool, err error)
	// FinishRun writes the end of a run that its owner still holds.
	FinishRun(ctx context.Context, r *Run) (done bool, err error)
	// RecordRuns writes runs that have ended, new ones and ones that their owners
	// still hold, in one transaction. Runs that another holds are not changed.
	RecordRuns(ctx context.Context, runs []*Run) error
}

// Queue stores the background runs. Each method is atomic and safe
// between replicas.
type Queue interface {
	// RunByID returns nil if there is no such run. It is for jobs, which name no
	// account.
	RunByID(ctx context.Context, id string) (*Run, error)
	// HoldRun extends an owner's hold of a run and, if sent, records that the run
	// may have been sent. held is false if another holds it or it has ended; cancel
	// reports that the caller wants it to end.
	HoldRun(ctx context.Context, id, owner string, until time.Time, sent bool) (held, cancel bool, err error)
	// ReleaseRun ends an owner's hold and schedules the run's job at once.
	ReleaseRun(ctx context.Context, id, owner string) error
	// CancelRun ends a run that waits, and requests the end of one that runs. It
	// returns run_not_found (NotFound). A run that has ended is returned unchanged.
	CancelRun(ctx context.Context, accountID, id string, now time.Time) (*Run, error)
	// SweepRuns ends runs whose process died and that have no job, and approvals
	// that expired; it deletes expired results, files and runs.
	SweepRuns(ctx context.Context, now time.Time) (more bool, err error)
}

// History reads runs, and decides on those that wait for approval.
type History interface {
	// Run returns run_not_found (NotFound), also for a run of another account.
	Run(ctx context.Context, accountID, id string) (*Run, error)
	// Runs returns runs of an account, newest first.
	Runs(ctx context.Context, accountID string, q Query) ([]*Run, error)
	// CountRuns returns the number of runs that q selects, on all pages.
	CountRuns(ctx context.Context, accountID string, q Query) (int, error)
	// RunByApproval returns approval_not_found (NotFound).
	RunByApproval(ctx context.Context, accountID, approvalID string) (*Run, error)
	// DecideRun writes a decision with its audit entry: an approved run becomes
	// running and gets its job, a denied one ends. decided is false if there was a
	// decision already, or the approval has expired.
	DecideRun(ctx context.Context, r *Run, e audit.Entry) (decided bool, err error)
}

// Connections returns the credentials of a run.
type Connections interface {
	// Choose returns the named connection, else the default one; one without an id
	// for an app that needs no credentials. It returns connection_not_found
	// (NotFound); not_connected, reconnect_required, connection_ambiguous and
	// connection_disabled (Conflict).
	Choose(ctx context.Context, accountID string, a *app.App, connectionID, endUser string) (*connection.Connection,
		error)
	// Use returns a connection with current credentials for one call.
	Use(ctx context.Context, accountID, id string) (*connection.Live, error)
	// Refused reports that the app did not accept the credentials of live. It
	// returns new ones, or nil if there are none.
	Refused(ctx context.Context, live *connection.Live) (*connection.Live, error)
	// Worked reports that a call over live succeeded. It does nothing unless the
	// connection was failing.
	Worked(ctx context.Context, live *connection.Live) error
}

// Opener creates sign-in links for callers that may connect apps.
type Opener interface {
	// Link opens a connect session for an app, or for a connection that must be
	// reconnected.
	Link(ctx context.Context, c *Caller, appID, connectionID, endUser string) (*Link, error)
}

// Link is a sign-in link.
type Link struct {
	URL       string    `json:"url"`
	SessionID string    `json:"session_id"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Keys returns the current state of API keys.
type Keys interface {
	// Get returns api_key_not_found (NotFound).
	Get(ctx context.Context, accountID, id string) (*apikey.Key, error)
}
