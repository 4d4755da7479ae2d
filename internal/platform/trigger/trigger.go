// Package trigger watches events of connected apps and posts each one, signed,
// to a webhook of the account.
//
//	app ── request ──> Receive: token, signature, events ──┐
//	app <── list ──── poll: items that were not there ─────┤
//	                                                       v
//	    one transaction: key of the event (once for all), its row, cursor
//	                                                       |
//	    deliver: Standard Webhooks, at 0 s, 30 s and 5 min (±20 %) ──> webhook
//
// A trigger is one row with one time, NextAt, at which something is due for it:
// a poll, the renewal or the repetition of its registration at the app, or
// the end of that registration after the trigger was deleted. Tend does whatever
// it is. Events are rows with a time of their own, Deliveries.
//
//	registering ──> active <──> paused (user, needs_reconnect, connection_deleted,
//	                  |                 webhook_gone, too_many_failures)
//	                  └──────── error  (registration_failed, polling_failed,
//	                                    webhook_url_not_allowed)
//
// An event is posted at least once and under one id, whatever dies when. Its id
// follows from the trigger and from what identifies the event at the app.
package trigger

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"strings"
	"time"

	"ace/internal/foundation/typeid"
)

// Prefixes of ids.
const (
	idPrefix    = "trg"
	eventPrefix = "evt"
)

// NewID returns an id for a trigger.
func NewID() string { return typeid.New(idPrefix) }

// Mode is how events come.
type Mode string

// The modes.
const (
	ModeHook Mode = "webhook"
	ModePoll Mode = "poll"
)

// Status is the state of a trigger.
type Status string

// The states.
const (
	Registering Status = "registering" // being created; listed nowhere
	Active      Status = "active"
	Paused      Status = "paused"
	Failing     Status = "error"
)

// Reasons of states.
const (
	ByUser             = "user"
	ConnectionDeleted  = "connection_deleted"
	NeedsReconnect     = "needs_reconnect" // resumes by itself
	WebhookGone        = "webhook_gone"    // the receiver responded with 410
	TooManyFailures    = "too_many_failures"
	RegistrationFailed = "registration_failed"
	PollingFailed      = "polling_failed"
	URLNotAllowed      = "webhook_url_not_allowed"
)

// Trigger is an event that is watched, and where it is posted.
type Trigger struct {
	ID           string
	AccountID    string
	App          string
	Event        string // name of the trigger in the definition of the app
	ConnectionID string // empty: the app needs none
	EndUser      string // of the connection
	Description  string
	Config       map[string]any
	Filter       string // which events are posted, as package filter says; empty: all
	WebhookURL   string
	Destination  string // host and port of WebhookURL
	Mode         Mode

	Status Status
	Reason string
	Detail string // for the owner: what the app said last

	// Generation numbers the signing secret; the one before it signs too until
	// PreviousUntil.
	Generation    int64
	PreviousUntil time.Time
	// Registration is what subscribing at the app has kept, sealed.
	Registration string

	Interval   time.Duration // between polls; zero: not polled
	Cursor     string
	NextAt     time.Time // when something is due; zero: nothing
	Idle       int       // polls in a row that found nothing
	Failures   int       // polls or registrations in a row that failed
	LastPollAt time.Time
	LastError  string
	RenewAt    time.Time

	LastEventAt time.Time
	Sequence    int64 // of the newest event; they are numbered without a gap
	Revision    int64 // grows with each change of the owner
	CreatedAt   time.Time
	UpdatedAt   time.Time
	DeletedAt   time.Time // zero: it is not deleted
}

// State is that of an event.
type State string

// The states of events.
const (
	Pending   State = "pending"
	Delivered State = "delivered"
	Failed    State = "failed"
	Skipped   State = "skipped" // the trigger was paused
)

// Ended reports whether nothing more happens to the event by itself.
func (s State) Ended() bool { return s != Pending }

// Event is one event of a trigger.
type Event struct {
	ID        string
	TriggerID string
	AccountID string
	Sequence  int64
	Type      string // app.event
	Body      []byte // as it is posted
	State     State
	Reason    string // why it failed or was skipped

	Series        int // 0, and one more with each replay
	Attempt       int // that have ended, in this series
	Interruptions int // attempts of this series that a crash cut off
	Attempts      []Attempt

	ReceivedAt    time.Time
	NextAttemptAt time.Time // zero: none
	EndedAt       time.Time
}

// Attempt is one delivery that has ended.
type Attempt struct {
	Series   int       `json:"series"`
	Number   int       `json:"number"`
	At       time.Time `json:"at"`
	Duration int64     `json:"ms"`
	Status   int       `json:"status,omitempty"` // of the response; 0: there was none
	Error    string    `json:"error,omitempty"`
	Response string    `json:"response,omitempty"` // its beginning
	// Interrupted says that the process died: the event may have arrived. It counts
	// only after the third.
	Interrupted bool `json:"interrupted,omitempty"`
}

// EventID returns the id of an event: it follows from the trigger and from what
// identifies the event at the app, so that one event never has two.
func EventID(triggerID, key string) string {
	sum := sha256.New()
	_, _ = sum.Write([]byte(triggerID + "\x00" + key)) // a hash accepts everything
	const length = 26
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum.Sum(nil))
	return eventPrefix + "_" + strings.ToLower(text)[:length]
}

// Limits.
const (
	HistoryLength   = 50   // events that are shown
	MaxPending      = 1000 // of a trigger; then its app has to wait
	MaxBody         = 256 << 10
	MaxAttempts     = 3
	maxInterrupted  = 3
	DedupRetention  = 30 * 24 * time.Hour // how long the key of an event is remembered, after it was last seen
	DefaultInterval = 5 * time.Minute
	MaxInterval     = 24 * time.Hour
)

// body is what is posted.
type body struct {
	Type         string          `json:"type"`
	Timestamp    time.Time       `json:"timestamp"`
	EventID      string          `json:"event_id"`
	TriggerID    string          `json:"trigger_id"`
	ConnectionID string          `json:"connection_id,omitempty"`
	App          string          `json:"app"`
	Sequence     int64           `json:"sequence"`
	Truncated    bool            `json:"truncated,omitempty"`
	Data         json.RawMessage `json:"data"`
}
