package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ace/internal/protocol/stdwebhook"
	"ace/internal/sandbox/sandboxtest"
	"ace/test/harness"
)

// A backup is taken while the store serves and an event waits for its receiver.
// The event arrives afterwards. The store that is restored from the backup does
// not post it again until the operator resumes it. Damage is refused, and so is
// the wrong key.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	var posts, open atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		posts.Add(1)
		if open.Load() == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer receiver.Close()
	secret := stdwebhook.NewSecret()
	webhook := []string{
		"ACE_ORDER_WEBHOOK_URL=" + receiver.URL + "/hook", "ACE_ORDER_WEBHOOK_SECRET=" + secret.Reveal(),
	}
	w := start(t, webhook...)
	s := w.open(overUCP, "prompt_handbook")
	sandboxtest.NewPerson(t, nil).Pay(s.ContinueURL, sandboxtest.CardOK)
	order := w.reads(s.ID, "completed", "completed").Order.ID
	await(t, "the first post", func() bool { return posts.Load() > 0 })

	var made struct {
		Path   string `json:"path"`
		Tables map[string]struct {
			Rows int `json:"rows"`
		} `json:"tables"`
	}
	out := w.ace("backup", "create", "--to", filepath.Join(w.dir, "backups"), "--json")
	// What is said to people while it works comes first, on the other stream.
	_, object, _ := strings.Cut(out, "{")
	if err := json.Unmarshal([]byte("{"+object), &made); err != nil || made.Tables["store_order"].Rows != 1 {
		t.Fatalf("ace backup create printed %s (%v)", out, err)
	}
	if out := w.ace("backup", "verify", made.Path); !strings.Contains(out, "Verified") {
		t.Errorf("ace backup verify printed %s", out)
	}
	open.Store(1)
	w.ace("order", "resend", order) // sooner than by itself
	await(
		t,
		"the delivery",
		func() bool { return strings.Contains(w.ace("order", "show", order), "webhook: delivered") },
	)
	w.process.Stop()
	before := posts.Load()

	restored := harness.DataDir(t)
	ace := func(args ...string) string {
		p := harness.Start(t, w.binary, []string{"ACE_DATA_DIR=" + restored}, args...)
		<-p.Ended()
		return p.Output()
	}
	if out := ace("restore", made.Path); !strings.Contains(out, "does not fit this backup") &&
		!strings.Contains(out, "master key") {
		t.Errorf("ace restore without the key printed %s", out)
	}
	key, err := os.ReadFile(filepath.Join(w.dir, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(restored, "master.key"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	damage(t, filepath.Join(made.Path, "store_order.jsonl.gz"), func() {
		if out := ace("restore", made.Path); !strings.Contains(out, "store_order is damaged") {
			t.Errorf("ace restore of a damaged backup printed %s", out)
		}
	})
	if out := ace("restore", made.Path); !strings.Contains(out, "then run ace resume") {
		t.Fatalf("ace restore printed %s", out)
	}
	if out := ace("restore", made.Path); !strings.Contains(out, "not empty") {
		t.Errorf("a second ace restore printed %s", out)
	}

	p := harness.Start(t, w.binary, append([]string{
		"ACE_STORE_ADDR=" + strings.TrimPrefix(w.store, "http://"), "ACE_SANDBOX_ADDR=" + harness.FreeAddr(t),
		"ACE_ADMIN_ADDR=", "ACE_DATA_DIR=" + restored, "ACE_RATE_LIMIT=off",
	}, webhook...), "serve")
	if !p.Ready(w.store + "/healthz") {
		t.Fatalf("the restored store does not start:\n%s", p.Output())
	}
	if shown := ace("order", "show", order); !strings.Contains(shown, order) {
		t.Errorf("the restored store shows the order as %s", shown)
	}
	ace("order", "resend", order) // it is due now, whatever its last attempt was
	if !strings.Contains(p.Output(), "the database was restored") || posts.Load() != before {
		t.Errorf("%d posts before the operator resumed, want %d:\n%s", posts.Load(), before, p.Output())
	}
	ace("resume")
	await(t, "the delivery after ace resume", func() bool { return posts.Load() > before })

	p.Stop()
	moved := filepath.Join(restored, "moved.db")
	if out := ace(
		"db",
		"move",
		"--from",
		"sqlite:"+filepath.Join(restored, "ace.db"),
		"--to",
		"sqlite:"+moved,
	); !strings.
		Contains(
			out,
			"same digests",
		) {
		t.Errorf("ace db move printed %s", out)
	}
	if _, err := os.Stat(filepath.Join(restored, "ace.db")); !os.IsNotExist(err) {
		t.Errorf("the database that was moved is still there: %v", err)
	}
}

// await waits until what is true.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come", what)
		}
	}
}

// damage flips a bit in the middle of a file while do runs.
func damage(t *testing.T, path string, do func()) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte{}, whole...)
	flipped[len(flipped)/2] ^= 1
	if err := os.WriteFile(path, flipped, 0o600); err != nil {
		t.Fatal(err)
	}
	do()
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
}
