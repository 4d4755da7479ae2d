package trigger

import (
	"context"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool"
	"ace/internal/protocol/stdwebhook"
)

// Kinds of jobs.
const (
	JobTend    = "trigger_tend"    // polls, registers, renews, unregisters
	JobDeliver = "trigger_deliver" // posts an event
	JobPrune   = "trigger_prune"   // forgets keys of old events
)

// Store stores triggers and their events. Each method is atomic and safe between
// replicas.
type Store interface {
	Triggers
	Events
}

// Triggers stores triggers.
type Triggers interface {
	// InsertTrigger inserts a trigger. Where there is one with its id, that is
	// returned, with inserted false.
	InsertTrigger(ctx context.Context, t *Trigger, e audit.Entry) (stored *Trigger, inserted bool, err error)
	// Trigger returns trigger_not_found (NotFound), also for one that is deleted,
	// that is being created, or of another account.
	Trigger(ctx context.Context, accountID, id string) (*Trigger, error)
	// AnyTrigger returns a trigger whatever its state and account; nil where there
	// is none.
	AnyTrigger(ctx context.Context, id string) (*Trigger, error)
	// ListTriggers returns triggers of an account, newest first.
	ListTriggers(ctx context.Context, accountID string, q Query) ([]*Trigger, error)
	// CountTriggers counts what a query selects, on all pages.
	CountTriggers(ctx context.Context, accountID string, q Query) (int, error)
	// ChangeTrigger applies change to a trigger and writes it, whatever its state.
	// An error of change ends it. It returns trigger_not_found (NotFound). An entry
	// without an action is not recorded.
	ChangeTrigger(ctx context.Context, id string, change func(*Trigger) error, e audit.Entry) (*Trigger, error)
	// PurgeTrigger deletes a trigger and everything of it.
	PurgeTrigger(ctx context.Context, id string) error
	// Tending returns the triggers for which something is due, as jobs of the kind
	// JobTend, whose ref is row.Ref of account and trigger.
	Tending() jobs.Source
	// ForgetKeys deletes keys of events that were last seen before a time.
	ForgetKeys(ctx context.Context, before time.Time) (more bool, err error)
}

// Query selects triggers; empty fields select all.
type Query struct {
	App, ConnectionID string
	EndUser           string // only of this user
	Status            Status
	Apps              []string // only these
	BeforeTime        time.Time
	BeforeID          string // the page follows the trigger created then, of this id
	Limit             int
}

// Events stores events.
type Events interface {
	// Ingest stores the events of b whose keys are new, each with its key, and what
	// a poll has changed, together or not at all. It returns backlog_full
	// (Unavailable) where more than MaxPending events wait.
	Ingest(ctx context.Context, b *Batch) (*Ingested, error)
	// Deliveries returns the events that are due, as jobs of the kind JobDeliver
	// whose ref is row.Ref of account and event. Claiming one counts an
	// interruption if an earlier claim was not followed by Record. Destinations that
	// busy returns are left out.
	Deliveries(busy func() []string) jobs.Source
	// Delivery returns a claimed event with its trigger; nil where the claim with
	// this token has been lost.
	Delivery(ctx context.Context, eventID string, token int64) (*Delivery, error)
	// Record writes how a delivery ended, unless its claim was lost.
	Record(ctx context.Context, o *Outcome) (recorded bool, err error)
	// ListEvents returns the newest HistoryLength events of a trigger, newest first.
	ListEvents(ctx context.Context, accountID, triggerID string) ([]*Event, error)
	// Event returns event_not_found (NotFound).
	Event(ctx context.Context, accountID, triggerID, id string) (*Event, error)
	// Replay makes events that have ended pending again, as a new series: the one
	// named, or all that failed. It returns how many.
	Replay(ctx context.Context, accountID, triggerID, eventID string) (int, error)
}

// Batch is what one request of an app, or one poll, brought.
type Batch struct {
	TriggerID string
	Items     []Item // oldest first
	Seen      []Item // keys to remember, without an event
	// Poll, if set, is written with the events.
	Poll *PollState
}

// Item is an event that may be new.
type Item struct {
	Key  string
	Type string
	// Body returns what is posted, for the number that the event gets.
	Body func(sequence int64) []byte
}

// PollState is what a poll has changed. It is not written, and neither are its
// events, where the claim with Token was lost.
type PollState struct {
	Token    int64
	Cursor   string
	NextAt   time.Time // when it is polled again
	IdleAt   time.Time // the same, where none of the items is new; zero: NextAt
	Interval time.Duration
	Error    string // what the owner should know, although the poll succeeded
}

// Ingested is what came of a batch.
type Ingested struct {
	Stored     int
	Duplicates int
	Lost       bool // the claim was lost: nothing was written
}

// Delivery is an event that is to be posted.
type Delivery struct {
	Event   *Event
	Trigger *Trigger
	Token   int64
}

// Outcome is how a delivery ended.
type Outcome struct {
	EventID  string
	Token    int64
	State    State
	Reason   string
	Attempt  int       // that have ended in this series
	Attempts []Attempt // all of them
	NextAt   time.Time // of a pending event
}

// Apps finds definitions; library.Library is one.
type Apps interface {
	// App returns app_not_found (NotFound).
	App(ctx context.Context, accountID, id string) (*app.App, error)
	// Tool returns tool_not_found (NotFound).
	Tool(ctx context.Context, accountID, id string) (*app.App, *app.Tool, error)
}

// Caller calls apps; tool.Service is one.
type Caller interface {
	// Call makes a call at the rate of the app, with the credentials of a
	// connection. Its errors are a *tool.Failure where the app refused, and the
	// problems of connection.Service.Use.
	Call(ctx context.Context, c *tool.AppCall) (*tool.Answer, error)
}

// Connections chooses and reads connections; connection.Service is one.
type Connections interface {
	// Choose returns the named connection, else the default one; one without an id
	// where the app needs none.
	Choose(ctx context.Context, accountID string, a *app.App, connectionID, endUser string) (*connection.Connection,
		error)
	// Get returns connection_not_found (NotFound).
	Get(ctx context.Context, accountID, id string) (*connection.Connection, error)
}

// Clients returns what templates may name of the OAuth client of an app.
type Clients interface {
	// Find returns nil where there is none.
	Find(ctx context.Context, accountID, appID string) (*connection.Client, error)
}

// Sender makes one attempt of a delivery; stdwebhook.Sender is one.
type Sender interface {
	Send(ctx context.Context, m stdwebhook.Message) stdwebhook.Attempt
}
