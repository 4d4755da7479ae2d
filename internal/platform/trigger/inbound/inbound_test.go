package inbound_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"ace/catalog"
	"ace/internal/platform/app"
	"ace/internal/platform/trigger/inbound"
)

// curated returns a trigger of the catalog.
func curated(t *testing.T, appID, event string) *app.Trigger {
	t.Helper()
	text, err := fs.ReadFile(catalog.Files, "curated/"+appID+".yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	found, ok := a.Triggers.Get(event)
	if !ok {
		t.Fatalf("there is no %s of %s", event, appID)
	}
	return found
}

func sign(key, over string) string {
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = mac.Write([]byte(over))
	return hex.EncodeToString(mac.Sum(nil))
}

// TestGitHubVector is the example of
// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries.
func TestGitHubVector(t *testing.T) {
	t.Parallel()
	verify := &curated(t, "github", "new_issue").Hook.Verify
	r := &inbound.Request{
		Method: "POST", Body: []byte("Hello, World!"), Header: map[string][]string{"X-Hub-Signature-256": {
			"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
		}},
	}
	values := app.Map{"hook_secret": "It's a Secret to Everybody"}
	if err := inbound.Verify(verify, r, values, time.Now()); err != nil {
		t.Errorf("the vendor's example: %v", err)
	}
	r.Body = []byte("Hello, World?")
	if err := inbound.Verify(verify, r, values, time.Now()); !errors.Is(err, inbound.ErrSignature) {
		t.Errorf("another body: %v", err)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_795_220_034, 0)
	const body = `{"id":"evt_1","webhookTimestamp":1795220034000}`
	at := fmt.Sprint(now.Unix())
	tests := []struct {
		name   string
		hook   *app.Hook
		header map[string][]string
		values app.Map
		good   bool
	}{
		{
			"stripe",
			curated(t, "stripe", "invoice_paid").Hook,
			map[string][]string{
				"Stripe-Signature": {"t=" + at + ",v1=00,v1=" + sign("whsec_x", at+"."+body) + ",v0=11"},
			},
			app.Map{"secret": "whsec_x"},
			true,
		},
		{
			"stripe, an old one", curated(t, "stripe", "invoice_paid").Hook,
			map[string][]string{"Stripe-Signature": {"t=1795219000,v1=" + sign("whsec_x", "1795219000."+body)}},
			app.Map{"secret": "whsec_x"},
			false,
		},
		{
			"stripe, without a key", curated(t, "stripe", "invoice_paid").Hook,
			map[string][]string{"Stripe-Signature": {"t=" + at + ",v1=" + sign("", at+"."+body)}},
			app.Map{"secret": ""},
			false,
		},
		{
			"linear", curated(t, "linear", "new_issue").Hook,
			map[string][]string{"Linear-Signature": {sign("lin", body)}},
			app.Map{"secret": "lin"},
			true,
		},
		{
			"telegram", curated(t, "telegram", "new_message").Hook,
			map[string][]string{"X-Telegram-Bot-Api-Secret-Token": {"tok"}},
			app.Map{"hook_secret": "tok"},
			true,
		},
		{
			"telegram, another bot", curated(t, "telegram", "new_message").Hook,
			map[string][]string{"X-Telegram-Bot-Api-Secret-Token": {"other"}},
			app.Map{"hook_secret": "tok"},
			false,
		},
		{"telegram, nothing", curated(t, "telegram", "new_message").Hook, nil, app.Map{"hook_secret": ""}, false},
		{
			"gitea", curated(t, "gitea", "push").Hook,
			map[string][]string{"X-Gitea-Signature": {sign("s", body)}},
			app.Map{"hook_secret": "s"},
			true,
		},
		{
			"gitea, unsigned", curated(t, "gitea", "push").Hook, nil, app.Map{"hook_secret": "s"}, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := &inbound.Request{Method: "POST", Body: []byte(body), Header: tt.header}
			err := inbound.Verify(&tt.hook.Verify, r, tt.values, now)
			if tt.good && err != nil || !tt.good && !errors.Is(err, inbound.ErrSignature) {
				t.Errorf("Verify = %v, want good: %t", err, tt.good)
			}
		})
	}
}

func TestHandshake(t *testing.T) {
	t.Parallel()
	query := &inbound.Request{Method: "POST", Query: map[string][]string{"validationToken": {"a b"}}}
	if reply := inbound.Handshake(app.Handshake{Type: app.EchoQuery, Arg: "validationToken"}, query); reply == nil ||
		string(reply.Body) != "a b" || !strings.HasPrefix(reply.MediaType, "text/plain") {
		t.Errorf("Microsoft Graph: %+v", reply)
	}
	asana := curated(t, "asana", "task_added").Hook
	first := &inbound.Request{Method: "POST", Header: map[string][]string{"X-Hook-Secret": {"s3"}}}
	if reply := inbound.Handshake(asana.Handshake, first); reply == nil || reply.Key != "s3" ||
		reply.Header["X-Hook-Secret"] != "s3" {
		t.Errorf("Asana: %+v", reply)
	}
	trello := curated(t, "trello", "card_created").Hook
	if reply := inbound.Handshake(trello.Handshake, &inbound.Request{Method: "HEAD"}); reply == nil ||
		reply.Status != 200 {
		t.Errorf("Trello: %+v", reply)
	}
	if reply := inbound.Handshake(
		trello.Handshake,
		&inbound.Request{Method: "POST", Body: []byte("{}")},
	); reply != nil {
		t.Errorf("an event is answered as a handshake: %+v", reply)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	issue := curated(t, "github", "new_issue").Hook
	r := &inbound.Request{
		Method: "POST", Header: map[string][]string{"X-Github-Delivery": {"d1"}, "X-Github-Event": {"issues"}},
		Body: []byte(`{"action":"opened","issue":{"number":12345678901234567}}`),
	}
	events, err := inbound.Events(issue, r, app.Map{})
	if err != nil || len(events) != 1 || events[0].Key != "d1" ||
		app.PickText(events[0].Data, "/number") != "12345678901234567" {
		t.Errorf("opened: %+v, %v", events, err)
	}
	r.Body = []byte(`{"action":"closed","issue":{}}`)
	if events, err := inbound.Events(issue, r, app.Map{}); err != nil || len(events) != 0 {
		t.Errorf("closed: %+v, %v", events, err)
	}
	r.Header["X-Github-Event"] = []string{"ping"}
	if !inbound.Ignored(issue.Handshake, r) {
		t.Error("a ping is an event")
	}
	r.Body = []byte(`not json`)
	if events, err := inbound.Events(issue, r, app.Map{}); err != nil || len(events) != 0 {
		t.Errorf("no JSON: %+v, %v", events, err)
	}
}
