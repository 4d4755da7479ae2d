package tool

import (
	"context"
	"time"

	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
)

// Apps finds definitions: those of the catalogue, and those that an account has
// made itself.
type Apps interface {
	// App returns app_not_found (NotFound).
	App(ctx context.Context, accountID, id string) (*app.App, error)
	// Tool returns tool_not_found (NotFound) or tool_removed (Gone).
	Tool(ctx context.Context, accountID, id string) (*app.App, *app.Tool, error)
	// Apps answers all of them by name.
	Apps(ctx context.Context, accountID string) ([]*app.App, error)
}

// Connections gives a run the credentials that it needs.
type Connections interface {
	// Choose answers the connection that is named, else the default one; one
	// without an id for an app that asks for no credentials. It returns
	// connection_not_found (NotFound); not_connected, reconnect_required,
	// connection_ambiguous and connection_disabled (Conflict).
	Choose(ctx context.Context, accountID string, a *app.App, connectionID, endUser string) (*connection.Connection, error)
	// Use answers a connection with fresh credentials for one call.
	Use(ctx context.Context, accountID, id string) (*connection.Live, error)
	// Refused is told that the app did not accept the credentials of live. It
	// answers others, or nil where there are none: the app's answer stands then.
	Refused(ctx context.Context, live *connection.Live) (*connection.Live, error)
	// Worked is told that a call over live succeeded. Unless the connection was
	// failing it does nothing.
	Worked(ctx context.Context, live *connection.Live) error
}

// Opener makes sign-in links for callers that may connect apps.
type Opener interface {
	// Link opens a connect session for an app, or for a connection that has to be
	// mended.
	Link(ctx context.Context, c *Caller, appID, connectionID, endUser string) (*Link, error)
}

// Link is a sign-in link.
type Link struct {
	URL       string    `json:"url"`
	SessionID string    `json:"session_id"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Keys answers keys as they are now.
type Keys interface {
	// Get returns api_key_not_found (NotFound).
	Get(ctx context.Context, accountID, id string) (*apikey.Key, error)
}

// Fetcher reads a file from a public address. It returns the problems of package
// egress, and file_too_large (TooLarge).
type Fetcher interface {
	Fetch(ctx context.Context, url string) (*File, error)
}

// Store keeps runs and files. Each method is atomic and safe between replicas.
type Store interface {
	// InsertRun keeps a new run, with the job that does it where queued says so. A
	// run with its id that is there already is answered instead, with inserted
	// false.
	InsertRun(ctx context.Context, r *Run, queued bool) (kept *Run, inserted bool, err error)
	// Run returns run_not_found (NotFound), also for a run of another account.
	Run(ctx context.Context, accountID, id string) (*Run, error)
	// Runs answers runs of an account, newest first.
	Runs(ctx context.Context, accountID string, q Query) ([]*Run, error)
	// CountRuns answers how many runs q selects, on all pages.
	CountRuns(ctx context.Context, accountID string, q Query) (int, error)
	// RunByID answers nil where there is no such run: for jobs, which name no
	// account.
	RunByID(ctx context.Context, id string) (*Run, error)
	// TakeRun gives a running run to an owner, unless somebody else holds it: taken
	// tells. r is nil where there is no such run.
	TakeRun(ctx context.Context, id, owner string, now, until time.Time) (r *Run, taken bool, err error)
	// HoldRun keeps hold of a run, and notes that it may have been sent from now
	// on, where sent says so. held is false where it is somebody else's by now, or
	// over; cancel says that its caller wants it to end.
	HoldRun(ctx context.Context, id, owner string, until time.Time, sent bool) (held, cancel bool, err error)
	// FinishRun writes the end of a run that is still its owner's.
	FinishRun(ctx context.Context, r *Run) (done bool, err error)
	// RecordRuns writes runs that are over, new ones and ones that are still their
	// owner's, in one transaction. What is somebody else's by now stays.
	RecordRuns(ctx context.Context, runs []*Run) error
	// LetGoRun ends an owner's hold, so that another goes on at once.
	LetGoRun(ctx context.Context, id, owner string) error
	// CancelRun ends a run that waits, and asks for the end of one that runs. It
	// returns run_not_found (NotFound); a run that is over is answered as it is.
	CancelRun(ctx context.Context, accountID, id string, now time.Time) (*Run, error)

	// ApprovalOf returns approval_not_found (NotFound).
	ApprovalOf(ctx context.Context, accountID, approvalID string) (*Run, error)
	// DecideRun writes a decision with its audit entry: an approved run is running
	// and has its job, a denied one is over. decided is false where somebody was
	// faster, or the time is over.
	DecideRun(ctx context.Context, r *Run, e audit.Entry) (decided bool, err error)

	// InsertFile keeps a file in sealed pieces. It returns file_quota_reached
	// (Conflict) where the account's files that are alive would be larger than
	// quota.
	InsertFile(ctx context.Context, f *FileInfo, pieces []string, quota int64) error
	// File returns file_not_found (NotFound), also for one of another account and
	// one that is over.
	File(ctx context.Context, accountID, id string, now time.Time) (*FileInfo, error)
	// FileOf is File for whoever holds a signed address.
	FileOf(ctx context.Context, id string, now time.Time) (*FileInfo, error)
	// Pieces answers the sealed pieces of a file in their order.
	Pieces(ctx context.Context, id string) ([]string, error)

	// SweepRuns ends runs whose process is gone and that no job goes on with, and
	// approvals that nobody gave; forgets results, files and runs whose time is
	// over.
	SweepRuns(ctx context.Context, now time.Time) error
}
