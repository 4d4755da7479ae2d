package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"ace/internal/sandbox/inbox"
	"ace/test/harness"
)

// connectNotes connects the demo app as its user does.
func (a *account) connectNotes() {
	a.t.Helper()
	form := a.visit(a.link("key"), nil)
	fields := form.hidden()
	fields.Set("field.key", madeKey.FindString(a.visit(a.sandbox+"/notes/keys", url.Values{"person": {"Ann"}}).text))
	if after := a.visit(form.address.String(), fields); !strings.Contains(after.text, "Demo Notes is connected") {
		a.t.Fatalf("after connecting the page says:\n%s", after.text)
	}
}

// posted waits for what is posted to an inbox after a number.
func (a *account) posted(name string, after int64) inbox.Post {
	a.t.Helper()
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); {
		var got inbox.Posts
		text := a.visit(fmt.Sprintf("%s/inbox/%s?wait=25&after=%d", a.sandbox, name, after), nil).text
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			a.t.Fatalf("the inbox shows %s: %v", text, err)
		}
		if len(got.Posts) > 0 {
			return got.Posts[0]
		}
	}
	a.t.Fatalf("nothing was posted to %s", name)
	return inbox.Post{}
}

// verifiers check a post by the published libraries of Standard Webhooks. Each
// returns nil for a genuine one.
func verifiers(t *testing.T) map[string]func(secret string, p inbox.Post) error {
	t.Helper()
	dir := t.TempDir()
	script := func(program, name, text string) func(string, inbox.Post) error {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return func(secret string, p inbox.Post) error {
			in, err := json.Marshal(map[string]any{"secret": secret, "headers": p.Headers, "body": p.Body})
			if err != nil {
				return err
			}
			cmd := exec.CommandContext(t.Context(), program, path)
			cmd.Stdin = strings.NewReader(string(in))
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%w\n%s", err, out)
			}
			return nil
		}
	}
	all := map[string]func(string, inbox.Post) error{"Go": func(secret string, p inbox.Post) error {
		hook, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return err
		}
		header := http.Header{}
		for name, value := range p.Headers {
			header.Set(name, value)
		}
		return hook.Verify([]byte(p.Body), header)
	}}
	if node, modules := os.Getenv("ACE_NODE"), os.Getenv("ACE_SDK_MODULES"); node != "" && modules != "" {
		if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
		all["npm"] = script(node, "verify.mjs", `import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";
const { secret, headers, body } = JSON.parse(readFileSync(0, "utf8"));
new Webhook(secret).verify(body, headers);
`)
	}
	if python := os.Getenv("ACE_WEBHOOKS_PYTHON"); python != "" {
		all["PyPI"] = script(python, "verify.py", `import json, sys
from standardwebhooks import Webhook
post = json.load(sys.stdin)
Webhook(post["secret"]).verify(post["body"], post["headers"])
`)
	}
	return all
}

// TestTriggerOfAFreshStart watches the demo app with nothing configured: the note
// that is written is posted to the inbox of the sandbox, and the published
// libraries of Standard Webhooks accept it, and nothing but it.
func TestTriggerOfAFreshStart(t *testing.T) {
	t.Parallel()
	a := newcomer(t)
	a.connectNotes()
	status, made := a.call(http.MethodPost, "/triggers", fmt.Sprintf(
		`{"app":"demo-notes","event":"new_note","webhook_url":%q}`, a.sandbox+"/inbox/ann"))
	if status != http.StatusCreated {
		t.Fatalf("creating the trigger = %d %v", status, made)
	}
	status, run := a.call(http.MethodPost, "/tools/demo_notes__create_note/run", `{"arguments":{"title":"Brötchen"}}`)
	if status != http.StatusOK || run["ok"] != true {
		t.Fatalf("writing a note = %d %v", status, run)
	}
	post := a.posted("ann", 0)
	var event struct {
		Type      string `json:"type"`
		TriggerID string `json:"trigger_id"`
		Data      struct {
			Title string `json:"title"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(post.Body), &event); err != nil || event.Type != "demo-notes.new_note" ||
		event.TriggerID != made["id"] || event.Data.Title != "Brötchen" {
		t.Errorf("posted %s (%v)", post.Body, err)
	}
	secret := made["signing_secret"].(string)
	altered := post
	altered.Body = strings.Replace(post.Body, "Brötchen", "Brotchen", 1)
	if altered.Body == post.Body {
		t.Fatal("nothing was altered")
	}
	for library, verify := range verifiers(t) {
		if err := verify(secret, post); err != nil {
			t.Errorf("%s refuses the post: %v", library, err)
		}
		if verify(secret, altered) == nil {
			t.Errorf("%s accepts another body", library)
		}
	}
	a.operate(made["id"].(string), post)
}

// operate reads the trigger and replays its event on the command line.
func (a *account) operate(id string, post inbox.Post) {
	a.t.Helper()
	event := post.Headers["webhook-id"]
	for deadline := time.Now().Add(harness.Patience); ; { // it is recorded a moment after it arrived
		if strings.Contains(a.world.ace("trigger", "show", id), "delivered") {
			break
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("the delivery is not recorded:\n%s", a.world.ace("trigger", "show", id))
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, tt := range []struct {
		command string
		want    []string
	}{
		{"trigger list --account demo", []string{"TRIGGER", id, "demo-notes.new_note", "active", "/inbox/ann"}},
		{"trigger show " + id, []string{id, event, "delivered", "204"}},
		{"trigger show " + id + " --json", []string{`"events": [`, `"status": 204`, `"title": "Brötchen"`}},
		{"trigger replay " + id, []string{"nothing is delivered again"}},
		{"trigger replay " + id + " --json", []string{`"replayed": 0`}},
		{"trigger replay " + id + " " + event, []string{"1 event is delivered again", "ace trigger show " + id}},
		{"trigger replay " + id + " evt_none", []string{"event_not_found", "ace trigger show"}},
		{"trigger show trg_none", []string{"trigger_not_found", "ace trigger list --account NAME"}},
		{"trigger list --account nobody", []string{"account_not_found"}},
		{"trigger show trg_none --json", []string{`"code":"trigger_not_found"`}},
		{"trigger --help", []string{"list", "show", "replay"}},
	} {
		got := a.world.ace(strings.Fields(tt.command)...)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				a.t.Errorf("ace %s lacks %q:\n%s", tt.command, want, got)
			}
		}
	}
	if again := a.posted("ann", post.Number); again.Headers["webhook-id"] != event ||
		again.Headers["x-ace-replay"] != "1" || again.Body != post.Body {
		a.t.Errorf("the replay is %+v", again)
	}
	for _, tt := range []struct{ change, want string }{
		{`{"status":"paused"}`, "The owner paused it."},
		{`{"status":"active"}`, "active"},
	} {
		if status, got := a.call(http.MethodPatch, "/triggers/"+id, tt.change); status != http.StatusOK {
			a.t.Errorf("PATCH %s = %d %v", tt.change, status, got)
		}
		if got := a.world.ace("trigger", "show", id); !strings.Contains(got, tt.want) {
			a.t.Errorf("after %s ace trigger show lacks %q:\n%s", tt.change, tt.want, got)
		}
	}
}
