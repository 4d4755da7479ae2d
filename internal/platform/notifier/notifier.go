// Package notifier tells a developer's address how a connect session ended.
//
//	session ends, or its time is over -> job (kind connect_notify, in the same
//	   transaction as the end)
//	   -> POST notify_webhook_url, through the egress guard, signed as Standard
//	      Webhooks say, with a secret of the account
//	      2xx: done · 410: done · otherwise again after 30 s and 5 min, then no more
//
// It is a hint and no proof: the session itself is read by the API. Redirects are
// not followed, and what the address answers is not kept.
package notifier

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
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

// Doer sends requests; a client of the egress guard for webhooks.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Notifier implements connection.Notices. Its fields are set once.
type Notifier struct {
	Sessions Sessions
	Doer     Doer
	// Check returns a problem for an address that will not be called.
	Check func(address string) error
	// MAC is a keyed digest, for example seal.Box.MAC.
	MAC func(label string, parts ...[]byte) string
	Log *slog.Logger
}

const maxTries = 3

// Allowed implements connection.Notices.
func (n *Notifier) Allowed(address string) error { return n.Check(address) }

// Secret implements connection.Notices: it follows from the account and the
// key of digests, so that it is kept nowhere.
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
	if s.Wish.NotifyURL == "" {
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
	n.Log.WarnContext(ctx, "a developer was not told how a connect session ended", slog.String("session_id", id), slog.Int("tries", maxTries), slog.Any("error", err))
	return nil
}

// event is the body of a notice.
type event struct {
	Type      string    `json:"type"` // connect_session.connected …
	Timestamp time.Time `json:"timestamp"`
	Data      data      `json:"data"`
}

type data struct {
	SessionID    string  `json:"session_id"`
	App          string  `json:"app"`
	Status       string  `json:"status"`
	ConnectionID *string `json:"connection_id"`
	EndUser      *string `json:"end_user"`
	State        *string `json:"state"`
	Error        *fault  `json:"error"`
}

type fault struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func (n *Notifier) deliver(ctx context.Context, s *connection.Session) error {
	status := string(s.StatusAt(time.Now()))
	e := event{Type: "connect_session." + status, Timestamp: s.EndedAt, Data: data{
		SessionID: s.ID, App: s.App, Status: status, ConnectionID: text(s.ConnectionID), EndUser: text(s.Wish.EndUser), State: text(s.Wish.State),
	}}
	if e.Timestamp.IsZero() { // nobody ended it
		e.Timestamp = s.ExpiresAt
	}
	if s.Code != "" && status != string(connection.SessionConnected) {
		e.Data.Error = &fault{s.Code, s.Detail}
	}
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encoding a notice: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Wish.NotifyURL, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address of a notice cannot be read")
	}
	req.Header.Set("Content-Type", "application/json")
	// One end of one session is one message, however often it is sent.
	if err := stdwebhook.Sign(req.Header, []stdwebhook.Secret{n.secret(s.AccountID)}, "msg_"+s.ID+"_"+status, time.Now(), body); err != nil {
		return fmt.Errorf("signing a notice: %w", err)
	}
	res, err := n.Doer.Do(req)
	if err != nil {
		return fmt.Errorf("sending a notice: %w", err)
	}
	_ = res.Body.Close()
	if res.StatusCode/100 != 2 && res.StatusCode != http.StatusGone {
		return fmt.Errorf("the address of a notice answered %d", res.StatusCode)
	}
	return nil
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
