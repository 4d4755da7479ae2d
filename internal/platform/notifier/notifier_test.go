package notifier_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/connection"
	"ace/internal/platform/notifier"
	"ace/internal/protocol/stdwebhook"
)

// sessions holds one session.
type sessions struct{ stored *connection.Session }

func (s sessions) Session(_ context.Context, accountID, id string) (*connection.Session, error) {
	if s.stored == nil || s.stored.AccountID != accountID || s.stored.ID != id {
		return nil, problem.New(problem.NotFound, "connect_session_not_found", "None.")
	}
	copied := *s.stored
	return &copied, nil
}

// receiver is the developer's URL: it responds with the statuses in turn, the last
// one for good; 0 breaks off.
type receiver struct {
	statuses []int
	got      []*http.Request
	bodies   [][]byte
}

func (r *receiver) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r.got, r.bodies = append(r.got, req), append(r.bodies, body)
	status := r.statuses[min(len(r.got), len(r.statuses))-1]
	if status == 0 {
		return nil, errors.New("broken off")
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("x"))}, nil
}

func build(t *testing.T, s *connection.Session, r *receiver, log io.Writer) *notifier.Notifier {
	t.Helper()
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return &notifier.Notifier{
		Sessions: sessions{
			s,
		},
		Sender: stdwebhook.NewSender(r, nil),
		Check:  func(string) error { return nil },
		MAC:    box.MAC,
		Log:    slog.New(slog.NewTextHandler(log, nil)),
	}
}

func session(status connection.SessionStatus) *connection.Session {
	now := time.Now().UTC()
	return &connection.Session{
		ID: "cs_1", AccountID: "acc_a", App: "notes", Status: status, ConnectionID: "con_1", CreatedAt: now,
		ExpiresAt: now.Add(time.Hour), EndedAt: now,
		Options: connection.ConnectOptions{NotifyURL: "https://agent.example/in", EndUser: "u_42", State: "st"},
	}
}

// work runs the job as a worker does, until it is done.
func work(t *testing.T, n *notifier.Notifier, ref string) {
	t.Helper()
	queue := jobs.NewMemory(nil)
	queue.Schedule(jobs.Job{Kind: connection.JobNotify, Ref: ref, RunAt: time.Now()})
	worker := jobs.NewWorker(queue, nil, map[string]jobs.Handler{connection.JobNotify: n.Handler()},
		slog.New(slog.DiscardHandler), nil)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { worker.Run(ctx); close(ended) }()
	time.Sleep(24 * time.Hour)
	stop()
	<-ended
	if left := queue.Len(); left != 0 {
		t.Errorf("%d jobs are left, want none", left)
	}
}

func TestTries(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		statuses []int
		calls    int
		logged   bool
	}{
		{"accepted", []int{204}, 1, false},
		{"accepted the second time", []int{500, 200}, 2, false},
		{"accepted the third time", []int{0, 302, 200}, 3, false},
		{"never", []int{500}, 3, true},
		{"a redirect is not followed", []int{307}, 3, true},
		{"gone", []int{410}, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				r := &receiver{statuses: tt.statuses}
				work(t, build(t, session(connection.SessionConnected), r, &log), "acc_a/cs_1")
				if len(r.got) != tt.calls || strings.Contains(log.String(), "not delivered") != tt.logged {
					t.Errorf("%d calls, log %q, want %d, logged %v", len(r.got), log.String(), tt.calls, tt.logged)
				}
				for _, req := range r.got {
					if id := req.Header.Get("Webhook-Id"); id != "msg_cs_1_connected" {
						t.Errorf("one message is sent under the id %s", id)
					}
				}
			})
		})
	}
}

// TestMessage is what arrives, and that its signature is right.
func TestMessage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*connection.Session)
		kind   string
		fault  string
	}{
		{
			"connected", func(s *connection.Session) { s.Status, s.Code = connection.SessionConnected, "mended" },
			"connect_session.connected", "",
		},
		{"denied", func(s *connection.Session) {
			s.Status, s.Code, s.ConnectionID = connection.SessionFailed, "sign_in_denied", ""
		}, "connect_session.failed", "sign_in_denied"},
		{
			"canceled", func(s *connection.Session) { s.Status, s.Code = connection.SessionCanceled, "canceled" },
			"connect_session.canceled", "canceled",
		},
		{"nobody came", func(s *connection.Session) {
			s.Status, s.EndedAt, s.ConnectionID = connection.SessionPending, time.Time{}, ""
		}, "connect_session.expired", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := session(connection.SessionConnected)
				tt.change(s)
				r := &receiver{statuses: []int{200}}
				n := build(t, s, r, io.Discard)
				work(t, n, "acc_a/cs_1")
				if len(r.got) != 1 {
					t.Fatalf("%d messages, want one", len(r.got))
				}
				var e struct {
					Type string         `json:"type"`
					Data map[string]any `json:"data"`
				}
				if err := json.Unmarshal(r.bodies[0], &e); err != nil {
					t.Fatal(err)
				}
				fault, _ := e.Data["error"].(map[string]any)
				if code, _ := fault["code"].(string); e.Type != tt.kind || code != tt.fault || e.Data["session_id"] !=
					"cs_1" || e.Data["end_user"] != "u_42" || e.Data["state"] != "st" || e.Data["app"] != "notes" {
					t.Errorf("message = %s", r.bodies[0])
				}
				h := r.got[0].Header
				key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(n.Secret("acc_a"), "whsec_"))
				if err != nil || len(key) != 32 {
					t.Fatalf("secret = %s, %v", n.Secret("acc_a"), err)
				}
				mac := hmac.New(sha256.New, key)
				mac.Write([]byte(h.Get("Webhook-Id") + "." + h.Get("Webhook-Timestamp") + "." + string(r.bodies[0])))
				if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); h.Get("Webhook-Signature") != want {
					t.Errorf("signature = %s, want %s", h.Get("Webhook-Signature"), want)
				}
				if n.Secret("acc_b") == n.Secret("acc_a") {
					t.Error("two accounts have one secret")
				}
			})
		})
	}
}

func TestNothingToTell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent := session(connection.SessionConnected)
		silent.Options.NotifyURL = ""
		for name, s := range map[string]*connection.Session{"forgotten": nil, "not asked for": silent} {
			r := &receiver{statuses: []int{200}}
			work(t, build(t, s, r, io.Discard), "acc_a/cs_1")
			if len(r.got) != 0 {
				t.Errorf("%s: %d messages, want none", name, len(r.got))
			}
		}
	})
}
