package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ace/internal/protocol/stdwebhook"
	"ace/internal/sandbox/sandboxtest"
)

// Order events reach the operator's webhook, signed, in spite of a receiver
// that is away at first.
func TestOrderEvents(t *testing.T) {
	t.Parallel()
	secret := stdwebhook.NewSecret()
	type received struct{ id, kind, status string }
	events := make(chan received, 10)
	away := 1
	receiver := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		d, err := stdwebhook.Verify(r.Header, []stdwebhook.Secret{secret}, body, time.Now())
		if err != nil {
			t.Errorf("Verify = %v", err)
		}
		if away > 0 {
			away--
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var event struct {
			Type string `json:"type"`
			Data struct {
				Status string `json:"status"`
			} `json:"data"`
		}
		if err := json.Unmarshal(body, &event); err != nil || strings.Contains(string(body), "ada@example.com") {
			t.Errorf("event = %s, %v", body, err)
		}
		events <- received{d.ID, event.Type, event.Data.Status}
	}))
	defer receiver.Close()
	w := start(t, "ACE_ORDER_WEBHOOK_URL="+receiver.URL+"/hook", "ACE_ORDER_WEBHOOK_SECRET="+secret.Reveal())
	s := w.open(overUCP, "prompt_handbook")
	sandboxtest.NewPerson(t, nil).Pay(s.ContinueURL, sandboxtest.CardOK)
	id := w.reads(s.ID, "completed", "completed").Order.ID
	next := func(kind, status string) string {
		t.Helper()
		select {
		case e := <-events:
			if e.kind != kind || e.status != status {
				t.Errorf("event = %+v, want %s, %s", e, kind, status)
			}
			return e.id
		case <-time.After(time.Minute):
			t.Fatalf("no event %s came", kind)
			return ""
		}
	}
	first := next("order.created", "confirmed")
	w.ace("order", "refund", id)
	refunded := next("order.refunded", "refunded")
	shown := ""
	for range 50 { // it is on record a moment after the receiver has it
		if shown = w.ace("order", "show", id); strings.Count(shown, "webhook: delivered") == 2 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if strings.Count(shown, "webhook: delivered") != 2 {
		t.Errorf("order show = %s", shown)
	}
	w.ace("order", "resend", id)
	again := map[string]string{} // deliveries keep no order
	for range 2 {
		select {
		case e := <-events:
			again[e.kind] = e.id
		case <-time.After(time.Minute):
			t.Fatalf("after a resend came %v alone", again)
		}
	}
	if again["order.created"] != first || again["order.refunded"] != refunded {
		t.Errorf("resent events are %v, want the ids %s and %s", again, first, refunded)
	}
}
