package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"ace/test/harness"
)

// TestStop holds the end of a process: not ready at once, while its listeners go
// on for the drain delay; then long polls are answered and it ends by itself.
func TestStop(t *testing.T) {
	t.Parallel()
	admin := "http://" + harness.FreeAddr(t)
	w := start(t, "ACE_ADMIN_ADDR="+strings.TrimPrefix(admin, "http://"), "ACE_DRAIN_DELAY=5s")
	if !w.process.Ready(admin + "/readyz") {
		t.Fatal("the admin listener did not start")
	}
	status, body, err := harness.Call(t, http.MethodPost, w.store+"/agent/commerce/ucp/checkout-sessions",
		`{"line_items":[{"item":{"id":"prompt_handbook"},"quantity":1}]}`, "Idempotency-Key", "stop")
	if err != nil || status != http.StatusCreated {
		t.Fatalf("create = %d %s, %v", status, body, err)
	}
	var created session
	if err := json.Unmarshal([]byte(body), &created); err != nil {
		t.Fatal(err)
	}
	polled := make(chan int, 1)
	polling := make(chan struct{})
	go func() {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			w.store+"/agent/commerce/ucp/checkout-sessions/"+created.ID, nil)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Prefer", "wait=30")
		close(polling)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Errorf("the long poll = %v, want an answer", err)
			polled <- 0
			return
		}
		defer func() { _ = res.Body.Close() }()
		_, _ = io.Copy(io.Discard, res.Body)
		polled <- res.StatusCode
	}()
	<-polling
	began := time.Now()
	w.process.Signal(syscall.SIGTERM)
	for {
		status, body, err := harness.Call(t, http.MethodGet, admin+"/readyz", "")
		if err != nil {
			t.Fatalf("the admin listener ended first: %v", err)
		}
		if status == http.StatusServiceUnavailable && strings.Contains(body, "stopping") {
			break
		}
	}
	if status, _, err := harness.Call(t, http.MethodGet, w.store+"/agent/commerce/products", ""); err != nil ||
		status != http.StatusOK {
		t.Errorf("while it drains, a request = %d, %v, want 200", status, err)
	}
	if status := <-polled; status != http.StatusOK {
		t.Errorf("the long poll = %d, want 200 with what is known", status)
	}
	<-w.process.Ended()
	if took := time.Since(began); w.process.Code() != 0 || took < 5*time.Second || took > 50*time.Second {
		t.Errorf("ended with %d after %s:\n%s", w.process.Code(), took, w.process.Output())
	}
}
