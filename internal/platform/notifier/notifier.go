// Package notifier posts to a developer's URL how a connect session ended.
//
//	session ends, or it expires -> job (kind connect_notify, in the same
//	   transaction as the end)
//	   -> POST notify_webhook_url, through the egress guard, signed as Standard
//	      Webhooks say, with a secret of the account
//	      2xx: done · 410: done · otherwise again after 30 s and 5 min, then no more
//
// It is a hint and no proof: the session itself is read by the API. Redirects are
// not followed, and the response is not stored.
package notifier

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/connection"
	"ace/internal/protocol/stdwebhook"
)

// Sessions finds connect sessions; connection.Sessions is one.
type Sessions interface {
	// Session returns connect_session_not_found (NotFound).
	Session(ctx context.Context, accountID, id string) (*connection.Session, error)
}

// Notifier implements connection.Notices. Its fields are set once.
type Notifier struct {
	Sessions Sessions
	Sender   *stdwebhook.Sender
	// Check returns a problem for a URL that will not be called.
	Check func(address string) error
	// MAC is a keyed digest, for example seal.Box.MAC.
	MAC func(label string, parts ...[]byte) string
	Log *slog.Logger
}

const maxTries = 3

// Allowed implements connection.Notices.
func (n *Notifier) Allowed(address string) error { return n.Check(address) }

// Secret implements connection.Notices: it follows from the account and the
// key of digests, so that it is stored nowhere.
func (n *Notifier) Secret(accountID string) string { return n.secret(accountID).Reveal() }

func (n *Notifier) secret(accountID string) stdwebhook.Secret {
	return stdwebhook.SecretOf(sha256.Sum256([]byte(n.MAC("connect notice secret", []byte(accountID)))))
}

// Handler implements connection.Notices.
func (n *Notifier) Handler() jobs.Handler {
	return jobs.Handler{Run: n.run, Backoff: []time.Duration{30 * time.Second, 5 * time.Minute}}
}

func (n *Notifier) run(ctx context.Context, job jobs.Job) error {
	accountID, id, _ := strings.Cut(job.Ref, "/")
	s, err := n.Sessions.Session(ctx, accountID, id)
	if problem.Is(err, "connect_session_not_found") {
		return nil
	}
	if err != nil {
		return err
	}
	if s.Options.NotifyURL == "" {
		return nil
	}
	if !s.StatusAt(time.Now()).Over() {
		return jobs.Later(s.ExpiresAt)
	}
	err = n.deliver(ctx, s)
	switch {
	case err == nil:
		return nil
	case job.Tries+1 < maxTries:
		return err
	}
	n.Log.WarnContext(ctx, "notice of a connect session not delivered", slog.String("session_id", id),
		slog.Int("tries", maxTries), slog.Any("error", err))
	return nil
}

// event is the body of a notice.
type event struct {
	Type      string    `json:"type"` // connect_session.connected …
	Timestamp time.Time `json:"timestamp"`
	Data      data      `json:"data"`
}

type data struct {
	SessionID    string   `json:"session_id"`
	App          string   `json:"app"`
	Status       string   `json:"status"`
	ConnectionID *string  `json:"connection_id"`
	EndUser      *string  `json:"end_user"`
	State        *string  `json:"state"`
	Error        *failure `json:"error"`
}

type failure struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func (n *Notifier) deliver(ctx context.Context, s *connection.Session) error {
	status := string(s.StatusAt(time.Now()))
	e := event{Type: "connect_session." + status, Timestamp: s.EndedAt, Data: data{
		SessionID:    s.ID,
		App:          s.App,
		Status:       status,
		ConnectionID: text(s.ConnectionID),
		EndUser:      text(s.Options.EndUser),
		State:        text(s.Options.State),
	}}
	if e.Timestamp.IsZero() { // it expired
		e.Timestamp = s.ExpiresAt
	}
	if s.Code != "" && status != string(connection.SessionConnected) {
		e.Data.Error = &failure{s.Code, s.Detail}
	}
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encoding a notice: %w", err)
	}
	attempt := n.Sender.Send(ctx, stdwebhook.Message{
		// One end of one session is one message, however often it is sent.
		URL: s.Options.NotifyURL, ID: "msg_" + s.ID + "_" + status, Body: body,
		Secrets: []stdwebhook.Secret{n.secret(s.AccountID)},
	})
	if attempt.Gone() {
		return nil
	}
	return attempt.Err
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
