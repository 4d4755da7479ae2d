package faults

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/foundation/typeid"
	"ace/test/harness"
)

// watcher is a platform process that may die, with the demo app, and a receiver of
// events that does not.
type watcher struct {
	t                           *testing.T
	addr, sandbox, dir, storage string
	key                         string
	process                     *harness.Process
	webhook                     string
	starting                    *sync.Mutex // of all cases: one at a time, or none starts in time

	mu      sync.Mutex
	posts   map[string]int // by webhook-id: how often
	bodies  map[string]string
	headers map[string]http.Header
}

func newWatcher(t *testing.T, database string, starting *sync.Mutex) *watcher {
	t.Helper()
	w := &watcher{
		t: t, starting: starting, addr: harness.FreeAddr(t), sandbox: harness.FreeAddr(t), dir: harness.DataDir(t),
		storage: database,
		posts:   map[string]int{}, bodies: map[string]string{}, headers: map[string]http.Header{},
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the sender died
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		id := r.Header.Get("Webhook-Id")
		if before, known := w.bodies[id]; known && before != string(body) {
			t.Errorf("%s has two bodies", id)
		}
		w.posts[id]++
		w.bodies[id], w.headers[id] = string(body), r.Header.Clone()
	}))
	t.Cleanup(receiver.Close)
	w.webhook = receiver.URL + "/in"
	return w
}

var printedKey = regexp.MustCompile(`ace_[0-9A-Za-z]{36}`)

// start runs the platform. At the named step, if any, it dies.
func (w *watcher) start(step string) {
	w.t.Helper()
	w.starting.Lock()
	defer w.starting.Unlock()
	w.process = harness.Start(w.t, harness.Build(w.t, "faults"), []string{
		"ACE_FAULT_STEP=" + step, "ACE_HOSTS=platform", "ACE_PLATFORM_ADDR=" + w.addr, "ACE_SANDBOX=on",
		"ACE_SANDBOX_ADDR=" + w.sandbox, "ACE_ADMIN_ADDR=", "ACE_DATA_DIR=" + w.dir, "ACE_DATABASE_URL=" + w.storage,
		"ACE_RATE_LIMIT=off", "ACE_EGRESS_ALLOW=127.0.0.0/8",
	}, "serve")
	if !w.process.Ready("http://" + w.addr + "/healthz") {
		w.t.Fatalf("the platform did not start:\n%s", w.process.Output())
	}
	for deadline := time.Now().Add(harness.Patience); w.key == ""; time.Sleep(20 * time.Millisecond) {
		w.key = printedKey.FindString(w.process.Output())
		if time.Now().After(deadline) {
			w.t.Fatal("the first start printed no key")
		}
	}
}

// call repeats a request until there is a response that is not the platform's own
// trouble. A dead platform is started again.
func (w *watcher) call(method, path, body string) (int, map[string]any) {
	w.t.Helper()
	key := typeid.New("idem")
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		status, answer, err := harness.Call(w.t, method, "http://"+w.addr+"/api/v1"+path, body,
			"Authorization", "Bearer "+w.key, "Idempotency-Key", key)
		if err != nil || status >= 500 || status == http.StatusConflict && strings.Contains(answer, "in_progress") {
			select {
			case <-w.process.Ended():
				w.start("") // in its turn: this time is not the platform's
				deadline = time.Now().Add(harness.Patience)
			default:
			}
			continue
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(answer), &got); err != nil && answer != "" {
			w.t.Fatalf("%s %s: %d %s", method, path, status, answer)
		}
		return status, got
	}
	w.t.Fatalf("%s %s: no response in time", method, path)
	return 0, nil
}

var notesKey = regexp.MustCompile(`nk_[A-Z2-7]+`)

// connect connects the demo app, as a person does, and returns the key of the
// person there.
func (w *watcher) connect() string {
	w.t.Helper()
	_, link := w.call(http.MethodPost, "/apps/demo-notes/connect", `{"auth":"key","verify":"link"}`)
	address, _ := link["url"].(string)
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	person := &http.Client{Jar: jar}
	visit := func(address string, form url.Values) string {
		w.t.Helper()
		method := http.MethodGet
		if form != nil {
			method = http.MethodPost
		}
		r, err := http.NewRequestWithContext(w.t.Context(), method, address, strings.NewReader(form.Encode()))
		if err != nil {
			w.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", r.URL.Scheme+"://"+r.URL.Host)
		res, err := person.Do(r)
		if err != nil {
			w.t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			w.t.Fatal(err)
		}
		return string(text)
	}
	key := notesKey.FindString(visit("http://"+w.sandbox+"/notes/keys", url.Values{"person": {"Ann"}}))
	visit(address, nil)
	if page := visit(address, url.Values{"scheme": {"key"}, "field.key": {key}}); !strings.Contains(page,
		"is connected") {
		w.t.Fatalf("connecting: %s", page)
	}
	return key
}

type history struct {
	Events []struct {
		ID         string `json:"id"`
		Status     string `json:"status"`
		Sequence   int    `json:"sequence"`
		Deliveries []struct {
			Interrupted bool `json:"interrupted"`
		} `json:"deliveries"`
	} `json:"events"`
}

func (w *watcher) history(id string) (h history) {
	w.t.Helper()
	_, got := w.call(http.MethodGet, "/triggers/"+id+"/events", "")
	text, err := json.Marshal(got)
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

// settled writes notes until enough events have been accepted, and waits until all
// have ended.
func (w *watcher) settled(id, notes string, enough int) history {
	w.t.Helper()
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		h := w.history(id)
		if len(h.Events) < enough {
			// A note that the death of the app cut off is written again.
			_, _, _ = harness.Call(w.t, http.MethodPost, "http://"+w.sandbox+"/notes/api/v1/notes",
				`{"title":"Milk"}`, "X-Api-Key", notes)
			continue
		}
		over := true
		for _, e := range h.Events {
			over = over && e.Status != "pending"
		}
		if over {
			return h
		}
	}
	w.t.Fatalf("events are still pending: %+v", w.history(id))
	return history{}
}

// judge checks the invariants: what was accepted has arrived under one id and is
// numbered without a gap, what arrived was accepted, and no attempt is counted
// twice.
func (w *watcher) judge(h history, secret string) {
	w.t.Helper()
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	accepted := map[string]bool{}
	for i, e := range h.Events {
		accepted[e.ID] = true
		ended := 0
		for _, d := range e.Deliveries {
			if !d.Interrupted {
				ended++
			}
		}
		if e.Status != "delivered" || e.Sequence != len(h.Events)-i || w.posts[e.ID] == 0 || ended > 3 {
			w.t.Errorf("event %+v, of which %d posts arrived", e, w.posts[e.ID])
		}
		if err := hook.Verify([]byte(w.bodies[e.ID]), w.headers[e.ID]); err != nil {
			w.t.Errorf("%s does not verify: %v", e.ID, err)
		}
	}
	for id := range w.posts {
		if !accepted[id] {
			w.t.Errorf("%s arrived and is not in the history", id)
		}
	}
}

// TestKilledWhileWatching ends the process between each two durable steps of a
// trigger, from its creation to its deletion.
func TestKilledWhileWatching(t *testing.T) {
	t.Parallel()
	var starting sync.Mutex
	for _, step := range []string{
		"trigger inserted", "trigger registered", "event posted", "event posted#3", "trigger unregistered",
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			for engine, address := range map[string]func(testing.TB) string{
				"sqlite": func(testing.TB) string { return "" }, "postgres": sqldbtest.Postgres,
			} {
				t.Run(engine, func(t *testing.T) {
					t.Parallel()
					w := newWatcher(t, address(t), &starting)
					w.start(step)
					w.killed(step)
				})
			}
		})
	}
}

// killed is the life of a trigger.
func (w *watcher) killed(step string) {
	notes := w.connect()
	status, made := w.call(http.MethodPost, "/triggers",
		fmt.Sprintf(`{"app":"demo-notes","event":"new_note","webhook_url":%q}`, w.webhook))
	if status != http.StatusCreated {
		w.t.Fatalf("creating a trigger: %d %v", status, made)
	}
	id, _ := made["id"].(string)
	secret, _ := made["signing_secret"].(string)
	w.judge(w.settled(id, notes, 4), secret)
	if status, got := w.call(http.MethodDelete, "/triggers/"+id, ""); status != http.StatusNoContent &&
		status != http.StatusNotFound {
		w.t.Errorf("deleting it: %d %v", status, got)
	}
	if step == "trigger unregistered" {
		<-w.process.Ended() // it dies when it has unregistered
		w.start("")
	}
	if _, list := w.call(http.MethodGet, "/triggers?include=total", ""); list["total"] != 0.0 {
		w.t.Errorf("after the deletion: %v", list)
	}
	if strings.Contains(w.process.Output(), "ACE_FAULT_STEP") {
		w.t.Errorf("the step %s was never reached", step)
	}
}
