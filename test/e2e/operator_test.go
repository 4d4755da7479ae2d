package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ace/internal/protocol/stdwebhook"
	"ace/internal/sandbox/sandboxtest"
	"ace/test/harness"
)

// Order events reach the operator's webhook, signed, in spite of a receiver
// that is unavailable at first.
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
		case <-time.After(harness.Patience):
			t.Fatalf("no event %s came", kind)
			return ""
		}
	}
	first := next("order.created", "confirmed")
	w.ace("order", "refund", id)
	refunded := next("order.refunded", "refunded")
	shown := ""
	for range 2000 { // it is on record a moment after the receiver has it
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
		case <-time.After(harness.Patience):
			t.Fatalf("after a resend came %v alone", again)
		}
	}
	if again["order.created"] != first || again["order.refunded"] != refunded {
		t.Errorf("resent events are %v, want the ids %s and %s", again, first, refunded)
	}
}

// TestOperatorsWithoutAStore holds that commands of operators create nothing:
// in a folder without a store they say so.
func TestOperatorsWithoutAStore(t *testing.T) {
	t.Parallel()
	binary := harness.Build(t, "")
	dir := filepath.Join(t.TempDir(), "data")
	for _, args := range []string{
		"order list", "order show ord_1", "order refund ord_1", "service orders", "account list", "account create acme",
		"key list --account acme", "key revoke key_1", "trigger list --account acme", "trigger show trg_1",
		"vault status", "vault rotate",
	} {
		p := harness.Start(t, binary, []string{"ACE_DATA_DIR=" + dir}, strings.Fields(args)...)
		<-p.Ended()
		if out := p.Output(); p.Code() != 1 || !strings.Contains(out, "there is no store in "+dir) {
			t.Errorf("ace %s ended with %d: %s", args, p.Code(), out)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("ace %s made the folder: %v", args, err)
		}
	}
}

// TestOperatorsBesideAServerThatDied reads orders on the database itself, and
// the next server takes over the socket that was left.
func TestOperatorsBesideAServerThatDied(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.process.Kill()
	if out := w.ace("order", "list"); !strings.Contains(out, "No orders yet") {
		t.Errorf("ace order list without a server printed %q", out)
	}
	socket := filepath.Join(w.dir, "control.sock")
	if _, err := os.Stat(socket); err != nil {
		t.Errorf("the command removed the socket: %v", err)
	}
	again := harness.Start(t, w.binary, []string{
		"ACE_STORE_ADDR=" + strings.TrimPrefix(w.store, "http://"), "ACE_SANDBOX=off", "ACE_ADMIN_ADDR=",
		"ACE_DATA_DIR=" + w.dir, "ACE_STRIPE_API_KEY=" + sandboxtest.Key, "ACE_STRIPE_WEBHOOK_SECRET=whsec_1",
	}, "serve")
	if !again.Ready(w.store + "/healthz") {
		t.Fatal("the store did not start again")
	}
	if out := w.ace("order", "list"); !strings.Contains(out, "No orders yet") {
		t.Errorf("ace order list with the next server printed %q", out)
	}
	again.Stop()
	if _, err := os.Stat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the server left its socket: %v", err)
	}
}
