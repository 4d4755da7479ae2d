package sandboxtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/sandbox"
	"ace/internal/sandbox/ledger"
	"ace/internal/sandbox/schema"
)

// Key is a secret key that a World takes.
const Key = "sk_test_sandboxworld"

// World is a sandbox that runs for a test.
type World struct {
	URL string // of the listener; the payment processor is below /stripe
	t   testing.TB
}

// Start starts a sandbox with a database and a clock of its own. webhooks receive
// its events.
func Start(t testing.TB, webhooks ...sandbox.Webhook) *World {
	t.Helper()
	migrations, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqldb.Open(t.Context(), sqldbtest.Migrated(t, migrations), nil)
	if err != nil {
		t.Fatal(err)
	}
	instance, err := sandbox.New(t.Context(), db, &sandbox.Options{StripeKeys: []string{Key}, Webhooks: webhooks})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(instance.Handler())
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		if err := instance.Run(ctx); err != nil {
			t.Errorf("running the sandbox: %v", err)
		}
	})
	t.Cleanup(func() {
		server.Close()
		stop()
		work.Wait()
		if err := db.Close(); err != nil {
			t.Errorf("closing the sandbox: %v", err)
		}
	})
	return &World{server.URL, t}
}

// At returns the controls of a sandbox that runs at an address.
func At(t testing.TB, address string) *World {
	t.Helper()
	return &World{address, t}
}

// Advance moves the sandbox's clock.
func (w *World) Advance(d time.Duration) {
	w.t.Helper()
	w.control(http.MethodPost, "/advance", map[string]any{"seconds": int64(d.Seconds())}, nil)
}

// FailAPI makes the next count calls below a path (/v1/…) go wrong: "500",
// "500_after_commit", "timeout", "timeout_after_commit", "429".
func (w *World) FailAPI(method, path, mode string, count int) {
	w.t.Helper()
	w.control(http.MethodPost, "/faults",
		map[string]any{"api": []any{map[string]any{"method": method, "path": path, "mode": mode, "count": count}}}, nil)
}

// BendWebhooks sets one webhook fault: "drop", "duplicate", "delay_seconds" or
// "reorder".
func (w *World) BendWebhooks(fault string, n int) {
	w.t.Helper()
	w.control(http.MethodPost, "/faults", map[string]any{"webhooks": map[string]any{fault: n}}, nil)
}

// FailX402 makes the next count calls of the facilitator (/verify, /settle or
// /supported) go wrong: the modes of FailAPI, "pending" and
// "pending_after_commit".
func (w *World) FailX402(path, mode string, count int) {
	w.t.Helper()
	body, err := json.Marshal(
		map[string]any{"api": []any{map[string]any{"path": path, "mode": mode, "count": count, "latency_ms": 500}}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.do(http.MethodPost, w.URL+"/x402/_sandbox/faults", "application/json", body, nil)
}

// Heal takes all faults away.
func (w *World) Heal() {
	w.t.Helper()
	w.control(http.MethodDelete, "/faults", nil, nil)
	w.do(http.MethodDelete, w.URL+"/x402/_sandbox/faults", "application/json", nil, nil)
}

// X402State counts what the facilitator's ledger holds.
func (w *World) X402State() ledger.State {
	w.t.Helper()
	var s ledger.State
	w.do(http.MethodGet, w.URL+"/x402/_sandbox/state", "application/json", nil, &s)
	return s
}

// State is what the sandbox holds.
type State struct {
	Objects    map[string]map[string]int64 `json:"objects"`    // by kind and status
	Deliveries map[string]int64            `json:"deliveries"` // by state
}

// State counts what the sandbox holds.
func (w *World) State() State {
	w.t.Helper()
	var s State
	w.control(http.MethodGet, "/state", nil, &s)
	return s
}

// Notified returns once every event that the sandbox has to post was posted: what
// has happened so far is known to those who receive its webhooks.
func (w *World) Notified() {
	w.t.Helper()
	for w.State().Deliveries["pending"] > 0 {
		if err := w.t.Context().Err(); err != nil {
			w.t.Fatal(err)
		}
		runtime.Gosched()
	}
}

// Charges counts the charges that took money.
func (w *World) Charges() int64 {
	w.t.Helper()
	return w.State().Objects["charge"]["succeeded"]
}

// Call makes one call of the payment processor's API with a form and decodes
// the response into out.
func (w *World) Call(method, path, form string, out any) {
	w.t.Helper()
	w.do(method, w.URL+"/stripe"+path, "application/x-www-form-urlencoded", []byte(form), out)
}

func (w *World) control(method, path string, in, out any) {
	w.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		w.t.Fatal(err)
	}
	w.do(method, w.URL+"/stripe/_sandbox"+path, "application/json", body, out)
}

func (w *World) do(method, address, mediaType string, body []byte, out any) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, address, bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", mediaType)
	req.Header.Set("Authorization", "Bearer "+Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, address, err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 400 {
		w.t.Fatalf("%s %s: %s %s %v", method, address, res.Status, answer, err)
	}
	if out != nil {
		if err := json.Unmarshal(answer, out); err != nil {
			w.t.Fatalf("%s %s: %v", method, address, err)
		}
	}
}
