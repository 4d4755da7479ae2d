package connection

import (
	"time"

	"ace/internal/platform/audit"
)

// SessionStatus is the state of a connect session.
//
//	pending ──> opened ──> connected ──(Undo, 10 minutes)──> canceled
//	   |           |
//	   |           \──> failed      the person or the vendor refused
//	   \──────────────> canceled    by its caller
//	                    expired     by time; nothing is written for it
type SessionStatus string

// The states of a session.
const (
	SessionPending   SessionStatus = "pending"
	SessionOpened    SessionStatus = "opened" // a browser is bound to it
	SessionConnected SessionStatus = "connected"
	SessionFailed    SessionStatus = "failed"
	SessionExpired   SessionStatus = "expired"
	SessionCanceled  SessionStatus = "canceled"
)

// Over reports whether nothing can come of the session any more, or has come
// already.
func (s SessionStatus) Over() bool { return s != SessionPending && s != SessionOpened }

// moves are the allowed changes of a session's state.
func (s SessionStatus) mayBecome(next SessionStatus) bool {
	switch s {
	case SessionPending:
		return next == SessionOpened || next == SessionCanceled || next == SessionFailed
	case SessionOpened:
		return next == SessionConnected || next == SessionCanceled || next == SessionFailed
	case SessionConnected:
		return next == SessionCanceled
	case SessionFailed, SessionExpired, SessionCanceled:
	}
	return false
}

// Verify is how the user behind a link is distinguished from somebody to whom a stranger sent it.
type Verify string

// The ways.
const (
	VerifyAccount  Verify = "account"  // signed in on the account page; the default
	VerifyLink     Verify = "link"     // the first visitor of the link
	VerifyCallback Verify = "callback" // the developer's own page says who it is
)

// Lifetimes of sessions.
const (
	SessionLifetime    = 15 * time.Minute // where none is asked for
	MaxSessionLifetime = 24 * time.Hour
	// UndoFor is how long a connection can be undone on the page that made it.
	UndoFor = 10 * time.Minute
	// keepSessions is how long a session can be read after its end.
	keepSessions = 7 * 24 * time.Hour
)

// Session is a sign-in link and what became of it.
type Session struct {
	ID        string // cs_…; not the token of the link
	AccountID string
	App       string
	Status    SessionStatus
	Options   ConnectOptions
	AskedBy   audit.Actor

	ConnectionID string // once connected
	Code, Detail string // of what went wrong last; empty: nothing
	CreatedAt    time.Time
	ExpiresAt    time.Time
	EndedAt      time.Time
	Confirmed    bool  // by the developer's page (VerifyCallback)
	Version      int64 // grows with each change

	// What only the service reads: digests of the token, of the browser's cookie,
	// of the state of a sign-in under way and of the flow's id; the sealed Attempt
	// and the scheme it is for.
	TokenDigest   string
	BrowserDigest string
	StateDigest   string
	FlowDigest    string
	Attempt       string
}

// ConnectOptions are what a connect session was opened with.
type ConnectOptions struct {
	Scheme      string            `json:"scheme,omitempty"` // "": the person chooses
	Label       string            `json:"label,omitempty"`
	Scopes      []string          `json:"scopes,omitempty"` // empty: the app's own choice
	Params      map[string]string `json:"params,omitempty"`
	EndUser     string            `json:"end_user,omitempty"`
	Reconnects  string            `json:"reconnects,omitempty"` // id of a connection
	Verify      Verify            `json:"verify"`
	VerifyURL   string            `json:"verify_url,omitempty"`
	RedirectURL string            `json:"redirect_url,omitempty"`
	State       string            `json:"state,omitempty"` // returned with RedirectURL
	// NotifyURL receives a signed notice of how the session ended.
	NotifyURL string `json:"notify_url,omitempty"`
}

// StatusAt is the state at a time: a session that was not ended is expired after
// its time.
func (s *Session) StatusAt(now time.Time) SessionStatus {
	if !s.Status.Over() && !now.Before(s.ExpiresAt) {
		return SessionExpired
	}
	return s.Status
}
