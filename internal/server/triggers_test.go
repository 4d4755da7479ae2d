package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// posted is what a receiver has got.
type posted struct {
	header http.Header
	body   []byte
}

// receiver is a webhook of an account, at an address that may be called.
func receiver(t *testing.T) (address string, got chan posted) {
	t.Helper()
	got = make(chan posted, 64)
	s := at(t, public+":0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- posted{r.Header.Clone(), body}
		w.WriteHeader(http.StatusNoContent)
	}))
	return s.URL + "/in", got
}

// verified checks the signature of a delivery by the reference library, and
// returns its body.
func verified(t *testing.T, secret string, p posted) map[string]any {
	t.Helper()
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := hook.Verify(p.body, p.header); err != nil {
		t.Errorf("the signature does not verify: %v", err)
	}
	var body map[string]any
	if err := json.Unmarshal(p.body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// TestTriggerOfTheDemoApp watches a real app over HTTP: it registers a webhook
// there, gets an event, and posts it.
func TestTriggerOfTheDemoApp(t *testing.T) {
	t.Parallel()
	h := newHost(t, Options{}, public+"/32")
	ann := h.party(t, "ann")
	connection := ann.connectNotes()
	address, got := receiver(t)

	types := ann.must(http.StatusOK, http.MethodGet, "/apps/demo-notes/triggers", "")["triggers"].([]any)
	if len(types) != 4 {
		t.Errorf("the demo app has %d events, want its three and new_item", len(types))
	}
	made := ann.must(http.StatusCreated, http.MethodPost, "/triggers",
		fmt.Sprintf(`{"app":"demo-notes","event":"new_note","webhook_url":%q}`, address))
	id, secret := made["id"].(string), made["signing_secret"].(string)
	if made["status"] != "active" || made["connection_id"] != connection || made["mode"] != "webhook" {
		t.Errorf("created %v", made)
	}
	run := func(title string) {
		t.Helper()
		ann.must(http.StatusOK, http.MethodPost, "/tools/demo_notes__create_note/run",
			fmt.Sprintf(`{"arguments":{"title":%q}}`, title))
	}
	run("Milk")
	body := verified(t, secret, <-got)
	data, _ := body["data"].(map[string]any)
	if body["type"] != "demo-notes.new_note" || body["trigger_id"] != id || body["sequence"] != 1.0 ||
		data["title"] != "Milk" {
		t.Errorf("posted %v", body)
	}

	// The sample, with the new secret and the old one.
	rotated := ann.must(http.StatusOK, http.MethodPost, "/triggers/"+id+"/rotate-secret", "")["signing_secret"].(string)
	ann.must(http.StatusAccepted, http.MethodPost, "/triggers/"+id+"/test", "")
	sample := <-got
	verified(t, secret, sample)
	body = verified(t, rotated, sample)
	if data, _ := body["data"].(map[string]any); rotated == secret || data["id"] != "note_abc" {
		t.Errorf("the sample is %v", body)
	}

	// A replay has the id of the event.
	history := ann.must(http.StatusOK, http.MethodGet, "/triggers/"+id+"/events", "")["events"].([]any)
	first := history[1].(map[string]any)
	// What was received may not be recorded yet: until then a replay is refused.
	replay := "/triggers/" + id + "/events/" + first["id"].(string)
	for ann.must(http.StatusOK, http.MethodGet, replay, "")["state"] == "pending" {
		time.Sleep(10 * time.Millisecond) // a key has 120 requests a minute
	}
	ann.must(http.StatusAccepted, http.MethodPost, replay+"/replay", "")
	again := <-got
	if again.header.Get("Webhook-Id") != first["id"] || again.header.Get("X-Ace-Replay") != "1" {
		t.Errorf("the replay of %v has the header %v", first["id"], again.header)
	}

	// A secret is shown once.
	if shown := ann.must(http.StatusOK, http.MethodGet, "/triggers/"+id, ""); shown["signing_secret"] != nil {
		t.Errorf("the secret is shown again")
	}
	ann.must(http.StatusOK, http.MethodPatch, "/triggers/"+id, `{"status":"paused"}`)
	run("Not watched")
	ann.must(http.StatusOK, http.MethodPatch, "/triggers/"+id, `{"status":"active"}`)
	if gone := ann.send(false, http.MethodDelete, "/api/v1/triggers/"+id, "", nil); gone.Code != http.StatusNoContent {
		t.Errorf("deleting = %d %s", gone.Code, gone.Body)
	}
	if list := ann.must(http.StatusOK, http.MethodGet, "/triggers?include=total", ""); list["total"] != 0.0 {
		t.Errorf("after the deletion: %v", list)
	}
}

// TestTriggerThatCannotBeSetUp leaves nothing behind.
func TestTriggerThatCannotBeSetUp(t *testing.T) {
	t.Parallel()
	h := newHost(t, Options{}, public+"/32")
	ann := h.party(t, "ann")
	address, _ := receiver(t)
	create := func(event, webhook string) (int, string) {
		t.Helper()
		got := ann.send(false, http.MethodPost, "/api/v1/triggers", "application/json", []byte(fmt.Sprintf(
			`{"app":"demo-notes","event":%q,"webhook_url":%q}`, event, webhook)))
		var p struct{ Code string }
		if err := json.Unmarshal(got.Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		return got.Code, p.Code
	}
	if status, code := create("new_note", address); status != http.StatusConflict || code != "not_connected" {
		t.Errorf("without a connection: %d %s", status, code)
	}
	ann.connectNotes()
	if status, code := create("no_such_event", address); status != http.StatusNotFound ||
		code != "trigger_type_not_found" {
		t.Errorf("an event that is not there: %d %s", status, code)
	}
	for _, bad := range []string{"http://127.0.0.1/in", "ftp://example.com", "https://10.0.0.1/", "nonsense"} {
		if status, code := create("new_note", bad); status != http.StatusUnprocessableEntity ||
			code != "webhook_url_not_allowed" {
			t.Errorf("posting to %s: %d %s", bad, status, code)
		}
	}
	res, err := http.Post(h.sandbox+"/notes/_sandbox/faults", "application/json",
		strings.NewReader(`{"faults":[{"on":"api","times":9,"status":403,"code":"hooks are not for you"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if status, code := create("new_note", address); status != http.StatusUnprocessableEntity ||
		code != "trigger_setup_failed" {
		t.Errorf("an app that refuses: %d %s", status, code)
	}
	if list := ann.must(http.StatusOK, http.MethodGet, "/triggers?include=total", ""); list["total"] != 0.0 {
		t.Errorf("left behind: %v", list)
	}
}

// TestForgedEvents cost no row.
func TestForgedEvents(t *testing.T) {
	t.Parallel()
	h := newHost(t, Options{}, public+"/32")
	ann := h.party(t, "ann")
	ann.connectNotes()
	address, got := receiver(t)
	made := ann.must(http.StatusCreated, http.MethodPost, "/triggers",
		fmt.Sprintf(`{"app":"demo-notes","event":"new_note","webhook_url":%q}`, address))
	id := made["id"].(string)
	post := func(target string) int {
		return ann.send(false, http.MethodPost, target, "application/json",
			[]byte(`{"id":"dlv_x","event":"new_note","note":{"id":"forged"}}`)).Code
	}
	url := strings.TrimPrefix(h.platform.triggers.HookURL(id), h.cfg.PlatformBaseURL())
	for range 5_000 { // of each
		if got := post("/hooks/t/" + id + "/guess"); got != http.StatusNotFound {
			t.Fatalf("a guessed URL: %d", got)
		}
		if got := post(url); got != http.StatusUnauthorized {
			t.Fatalf("a forged signature: %d", got)
		}
	}
	events := ann.must(http.StatusOK, http.MethodGet, "/triggers/"+id+"/events", "")["events"].([]any)
	if len(events) != 0 || len(got) != 0 {
		t.Errorf("%d events, %d deliveries of forged posts", len(events), len(got))
	}
}

// TestConnectionOfATriggerEnds pauses a trigger with its connection, and ends its
// registration at the app.
func TestConnectionOfATriggerEnds(t *testing.T) {
	t.Parallel()
	paused := make(chan struct{}, 8)
	h := newHost(t, Options{Step: func(name string) {
		if name == "trigger paused" {
			paused <- struct{}{}
		}
	}}, public+"/32")
	ann := h.party(t, "ann")
	connection := ann.connectNotes()
	address, _ := receiver(t)
	made := ann.must(http.StatusCreated, http.MethodPost, "/triggers",
		fmt.Sprintf(`{"app":"demo-notes","event":"new_note","webhook_url":%q}`, address))
	if got := ann.send(false, http.MethodDelete, "/api/v1/connections/"+connection, "", nil); got.Code != 204 {
		t.Fatalf("deleting the connection: %d %s", got.Code, got.Body)
	}
	<-paused
	now := ann.must(http.StatusOK, http.MethodGet, "/triggers/"+made["id"].(string), "")
	if now["status"] != "paused" || now["status_reason"] != "connection_deleted" {
		t.Errorf("after its connection: %v, %v", now["status"], now["status_reason"])
	}
}
