package trigger_test

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Trello signs with it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/trigger"
)

// hookRow is what a vendor documents of its webhooks.
type hookRow struct {
	id     string // of the trigger
	config map[string]any
	scheme string
	values app.Map

	register string            // method and address
	asks     map[string]string // of the registration; see call.wants
	urlAt    string            // where it names the URL
	secretAt string            // where it names the secret, if it does
	answer   string
	secret   string // of the vendor, where the registration names none
	end      string
	endAsks  map[string]string
	tries    func(r *rig, f *hookFake) // how the vendor tries the URL before it answers

	// body is what is posted: $sample is the example, $members what is inside its
	// braces, $secret the secret.
	body  string
	signs func(f *hookFake, body []byte, delivery string) map[string]string
	// ping is what is posted first and is no event, and others are events that are
	// not meant.
	ping, other string

	renew string
	life  time.Duration // how long a registration may last at most
}

// hookFake is a vendor with a registration.
type hookFake struct {
	row      *hookRow
	url      string
	secret   string
	renewed  int
	ended    int
	failures int
}

func digest(h func() hash.Hash, key, text string) []byte {
	mac := hmac.New(h, []byte(key))
	_, _ = mac.Write([]byte(text))
	return mac.Sum(nil)
}

func hexOf(key, text string) string { return hex.EncodeToString(digest(sha256.New, key, text)) }

func base64Of(h func() hash.Hash, key, text string) string {
	return base64.StdEncoding.EncodeToString(digest(h, key, text))
}

// triggerID is in addresses where a vendor lets us choose names.
var triggerID = regexp.MustCompile(`trg_[0-9a-z]+`)

// serve handles the calls of a registration.
func (f *hookFake) serve(r *rig) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		c := read(r.t, request)
		row := f.row
		c.line = triggerID.ReplaceAllString(c.line, "$$trigger")
		respond := func(text string) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(text))
		}
		ending := c.line == row.end && f.url != ""
		switch {
		case c.line == row.register && !ending:
			c.wants(row.asks)
			f.url, f.secret = c.text(row.urlAt), row.secret
			if row.secretAt != "" {
				f.secret = c.text(row.secretAt)
			}
			if !strings.HasPrefix(f.url, "https://platform.example/hooks/t/trg_") || f.secret == "" {
				r.t.Errorf("registered for %q with the secret %q", f.url, f.secret)
			}
			if row.life > 0 {
				f.checkLife(r, c)
			}
			if row.tries != nil {
				row.tries(r, f)
			}
			respond(row.answer)
		case row.renew != "" && c.line == row.renew:
			f.renewed++
			f.checkLife(r, c)
			respond(row.answer)
		case ending:
			c.wants(row.endAsks)
			f.ended++
			if f.failures > 0 { // the vendor is down at first
				f.failures--
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			f.url = ""
			respond(`{"ok":true,"data":{}}`)
		default:
			r.t.Errorf("the vendor has no %s", c.line)
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

func (f *hookFake) checkLife(r *rig, c *call) {
	until, err := time.Parse(time.RFC3339, c.text("/expirationDateTime"))
	if left := time.Until(until); err != nil || left <= 0 || left > f.row.life {
		r.t.Errorf("%s: lasts %v, %v, want at most %v", c.line, left, err, f.row.life)
	}
}

// post sends an event.
func (f *hookFake) post(r *rig, template, delivery string) error {
	r.t.Helper()
	sample := string(encoded(r.t, r.def.Sample))
	body := strings.NewReplacer(
		"$sample", sample, "$members", sample[1:len(sample)-1], "$secret", f.secret,
		"$now_ms", fmt.Sprint(time.Now().UnixMilli()),
	).Replace(template)
	header := map[string]string{}
	if f.row.signs != nil {
		header = f.row.signs(f, []byte(body), delivery)
	}
	_, err := r.receive("POST", f.url, header, []byte(body))
	return err
}

func TestHooksOfVendors(t *testing.T) {
	t.Parallel()
	for _, row := range hooks() {
		t.Run(row.id, func(t *testing.T) {
			t.Parallel()
			at(t, row.id, row.scheme, row.values, func(r *rig) { r.tryHook(&row) })
		})
	}
}

func (r *rig) tryHook(row *hookRow) {
	f := &hookFake{row: row}
	r.serve = f.serve(r)
	r.create(row.config)
	if r.one.Mode != trigger.ModeHook || f.url == "" {
		r.t.Fatalf("it is %s, registered for %q", r.one.Mode, f.url)
	}
	time.Sleep(time.Until(moment))
	if row.ping != "" {
		if err := f.post(r, row.ping, "ping"); err != nil {
			r.t.Errorf("what only tries the URL: %v", err)
		}
	}
	r.wantEvents("before anything has happened", 0)
	r.forge(f)
	r.wantEvents("after forged posts", 0)

	for range 2 { // vendors send again what was not acknowledged in time
		if err := f.post(r, row.body, "d-1"); err != nil {
			r.t.Fatalf("the event of the vendor: %v", err)
		}
	}
	r.wantSample(r.wantEvents("after the event was sent twice", 1))
	if row.other != "" {
		if err := f.post(r, row.other, "d-2"); err != nil {
			r.t.Errorf("an event that is not meant: %v", err)
		}
		r.wantEvents("after an event that is not meant", 1)
	}
	if row.renew != "" {
		for i := 1; i <= 2; i++ {
			if r.tend(); f.renewed != i {
				r.t.Errorf("renewed %d times, want %d", f.renewed, i)
			}
		}
	}
	r.end()
	if f.ended != 1 || f.url != "" {
		r.t.Errorf("the registration was ended %d times", f.ended)
	}
}

// forge sends the event as somebody who does not know the secret.
func (r *rig) forge(f *hookFake) {
	r.t.Helper()
	guessed := *f
	guessed.url = f.url[:strings.LastIndex(f.url, "/")+1] + "guess"
	wantCode(r.t, "to a guessed URL", guessed.post(r, f.row.body, "d-1"), "hook_not_found")
	if f.row.signs == nil && !strings.Contains(f.row.body, "$secret") {
		return // the vendor signs nothing: only the URL is a secret
	}
	forged := *f
	forged.secret = "forged"
	wantCode(r.t, "with another secret", forged.post(r, f.row.body, "d-1"), "signature_invalid")
	if f.row.signs == nil {
		return
	}
	_, err := r.receive("POST", f.url, nil, []byte(`{}`))
	wantCode(r.t, "unsigned", err, "signature_invalid")
}

// TestHooksEndLater ends a registration although the vendor was down when its
// trigger was deleted.
func TestHooksEndLater(t *testing.T) {
	t.Parallel()
	rows := hooks()
	row := &rows[slices.IndexFunc(rows, func(row hookRow) bool { return row.id == "github.push" })]
	at(t, row.id, row.scheme, row.values, func(r *rig) {
		f := &hookFake{row: row, failures: 1}
		r.serve = f.serve(r)
		r.create(row.config)
		if err := r.service.Delete(r.t.Context(), audit.System(), owner, r.one.ID); err != nil {
			r.t.Fatal(err)
		}
		for try := 0; r.now() != nil && try < 5; try++ {
			_ = r.try() // the worker tries again after an error
		}
		if f.ended != 2 || f.url != "" || r.now() != nil {
			r.t.Errorf("ended %d times; it is registered for %q", f.ended, f.url)
		}
	})
}

// hooks are the vendors that send events by themselves.
func hooks() []hookRow {
	return slices.Concat(forges(), graphs(), others())
}

// forges are those of code.
func forges() []hookRow {
	repo := map[string]any{"owner": "octo-ann", "repo": "ferry"}
	// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
	github := func(event, kind, body, other string) hookRow {
		return hookRow{
			id: "github." + event, config: repo,
			register: "POST https://api.github.com/repos/octo-ann/ferry/hooks",
			asks: map[string]string{
				"/name": "web", "/events/0": kind, "/config/content_type": "json", "/active": "true",
			},
			urlAt: "/config/url", secretAt: "/config/secret",
			answer: `{"type":"Repository","id":12345678,"name":"web","active":true}`,
			end:    "DELETE https://api.github.com/repos/octo-ann/ferry/hooks/12345678",
			ping:   `{"zen":"Keep it logically awesome.","hook_id":12345678,"hook":{"type":"Repository"}}`,
			body:   body, other: other,
			signs: func(f *hookFake, body []byte, delivery string) map[string]string {
				name := kind
				if delivery == "ping" {
					name = "ping"
				}
				return map[string]string{
					"X-GitHub-Event": name, "X-GitHub-Delivery": delivery,
					"X-Hub-Signature-256": "sha256=" + hexOf(f.secret, string(body)),
				}
			},
		}
	}
	gitea := func(event, kind, body, other string) hookRow {
		return hookRow{
			id:       "gitea." + event,
			config:   map[string]any{"owner": "ann", "repo": "ferry"},
			values:   app.Map{"host": "git.example.com"},
			register: "POST https://git.example.com/api/v1/repos/ann/ferry/hooks",
			asks: map[string]string{
				"/type":                "gitea",
				"/events/0":            kind,
				"/config/content_type": "json",
				"/active":              "true",
			},
			urlAt:    "/config/url",
			secretAt: "/config/secret",
			answer:   `{"id":7,"type":"gitea","active":true}`,
			end:      "DELETE https://git.example.com/api/v1/repos/ann/ferry/hooks/7",
			body:     body,
			other:    other,
			signs: func(f *hookFake, body []byte, delivery string) map[string]string {
				return map[string]string{
					"X-Gitea-Event":     kind,
					"X-Gitea-Delivery":  delivery,
					"X-Gitea-Signature": hexOf(f.secret, string(body)),
				}
			},
		}
	}
	gitlab := func(event, flag, body, other string) hookRow {
		return hookRow{
			id: "gitlab." + event, config: map[string]any{"project": "port/ferry"},
			values:   app.Map{"host": "gitlab.com"},
			register: "POST https://gitlab.com/api/v4/projects/port%2Fferry/hooks",
			asks:     map[string]string{"/" + flag: "true"}, urlAt: "/url", secretAt: "/token",
			answer: `{"id":15,"project_id":3}`,
			end:    "DELETE https://gitlab.com/api/v4/projects/port%2Fferry/hooks/15",
			body:   body, other: other,
			signs: func(f *hookFake, _ []byte, delivery string) map[string]string {
				return map[string]string{"X-Gitlab-Token": f.secret, "Idempotency-Key": delivery}
			},
		}
	}
	const from = `"repository":{"id":186853002,"full_name":"octo-ann/ferry"},"sender":{"login":"octo-ann"}}`
	return []hookRow{
		github(
			"new_issue",
			"issues",
			`{"action":"opened","issue":$sample,`+from,
			`{"action":"closed","issue":$sample,`+from,
		),
		github("new_pull_request", "pull_request", `{"action":"opened","number":2,"pull_request":$sample,`+from,
			`{"action":"synchronize","number":2,"pull_request":$sample,`+from),
		github("push", "push", `$sample`, ""),
		github("new_release", "release", `{"action":"published","release":$sample,`+from,
			`{"action":"edited","release":$sample,`+from),
		gitea("push", "push", `$sample`, ""),
		gitea("new_issue", "issues", `{"action":"opened","number":12,"issue":$sample,"repository":{"id":140}}`,
			`{"action":"closed","number":12,"issue":$sample,"repository":{"id":140}}`),
		gitlab("push", "push_events", `$sample`, `{"object_kind":"tag_push"}`),
		gitlab("new_issue", "issues_events", `{"object_kind":"issue","object_attributes":$sample,"user":{"id":51}}`,
			`{"object_kind":"issue","object_attributes":{"id":301,"action":"close"},"user":{"id":51}}`),
	}
}

// graphs are those of Microsoft Graph:
// https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks
func graphs() []hookRow {
	const day = 24 * time.Hour
	row := func(id, resource, change string, life time.Duration, config map[string]any) hookRow {
		return hookRow{
			id: id, config: config,
			register: "POST https://graph.microsoft.com/v1.0/subscriptions",
			asks:     map[string]string{"/resource": resource, "/changeType": change},
			urlAt:    "/notificationUrl", secretAt: "/clientState", answer: `{"id":"7f105c7d-2dc5"}`,
			tries: func(r *rig, f *hookFake) {
				reply, err := r.receive(
					"POST",
					f.url+"?validationToken=Validation%3A+Testing+client+application",
					nil,
					nil,
				)
				if err != nil || string(reply.Body) != "Validation: Testing client application" ||
					reply.Status != 200 ||
					!strings.HasPrefix(reply.MediaType, "text/plain") {
					r.t.Errorf("the validation is answered with %+v, %v", reply, err)
				}
			},
			end:   "DELETE https://graph.microsoft.com/v1.0/subscriptions/7f105c7d-2dc5",
			body:  `{"value":[{"clientState":"$secret",$members}]}`,
			renew: "PATCH https://graph.microsoft.com/v1.0/subscriptions/7f105c7d-2dc5", life: life,
		}
	}
	return []hookRow{
		row("outlook.new_email", "me/mailFolders('inbox')/messages", "created", 7*day, nil),
		row("outlook.email_sent", "me/mailFolders('sentitems')/messages", "created", 7*day, nil),
		row("outlook-calendar.event_changed", "me/events", "created,updated,deleted", 7*day, nil),
		row("microsoft-teams.new_channel_message", "teams/t1/channels/c1/messages", "created", time.Hour,
			map[string]any{"team_id": "t1", "channel_id": "c1"}),
		row("microsoft-teams.new_chat_message", "chats/c1/messages", "created", time.Hour,
			map[string]any{"chat_id": "c1"}),
		row("microsoft-to-do.new_task", "me/todo/lists/l1/tasks", "created", 4230*time.Minute,
			map[string]any{"list_id": "l1"}),
	}
}

func others() []hookRow { //nolint:funlen // a table
	type signer = func(*hookFake, []byte, string) map[string]string
	signed := func(header, prefix string, sum func(key, text string) string) signer {
		return func(f *hookFake, body []byte, _ string) map[string]string {
			return map[string]string{header: prefix + sum(f.secret, string(body))}
		}
	}
	// https://docs.stripe.com/webhooks#verify-manually; Calendly does likewise.
	timed := func(header string) func(*hookFake, []byte, string) map[string]string {
		return func(f *hookFake, body []byte, _ string) map[string]string {
			now := fmt.Sprint(time.Now().Unix())
			return map[string]string{header: "t=" + now + ",v1=" + hexOf(f.secret, now+"."+string(body))}
		}
	}
	stripe := func(event, kind string) hookRow {
		return hookRow{
			id:       "stripe." + event,
			register: "POST https://api.stripe.com/v1/webhook_endpoints",
			asks:     map[string]string{"/enabled_events[0]": kind},
			urlAt:    "/url",
			secret:   "whsec_f6Bk2",
			answer:   `{"id":"we_1Mr5jULkdIwHu7ix1ibLTM0x","object":"webhook_endpoint","secret":"whsec_f6Bk2"}`,
			end:      "DELETE https://api.stripe.com/v1/webhook_endpoints/we_1Mr5jULkdIwHu7ix1ibLTM0x",
			body:     `{"id":"evt_1NG8Du2eZvKYlo2C","object":"event","type":"` + kind + `","data":{"object":$sample}}`,
			other:    `{"id":"evt_1NG8Du2eZvKYlo2D","object":"event","type":"charge.refunded","data":{"object":{}}}`,
			signs:    timed("Stripe-Signature"),
		}
	}
	calendly := func(event, kind string) hookRow {
		const hook = "https://api.calendly.com/webhook_subscriptions/AAAAAAAAAAAAAAAA"
		const organization = "https://api.calendly.com/organizations/BBBBBBBBBBBBBBBB"
		return hookRow{
			id: "calendly." + event, config: map[string]any{"organization": organization},
			register: "POST https://api.calendly.com/webhook_subscriptions",
			asks:     map[string]string{"/events/0": kind, "/scope": "organization", "/organization": organization},
			urlAt:    "/url", secretAt: "/signing_key", answer: `{"resource":{"uri":"` + hook + `","state":"active"}}`,
			end:   "DELETE " + hook,
			body:  `{"event":"` + kind + `","created_at":"2026-11-22T10:00:00.000000Z","payload":$sample}`,
			other: `{"event":"routing_form_submission.created","payload":{}}`,
			signs: timed("Calendly-Webhook-Signature"),
		}
	}
	clickup := func(event, kind string) hookRow {
		return hookRow{
			id:       "clickup." + event,
			config:   map[string]any{"team_id": "108"},
			register: "POST https://api.clickup.com/api/v2/team/108/webhook",
			asks: map[string]string{
				"/events/0": kind,
			},
			urlAt:  "/endpoint",
			secret: "O94IM25S7PXBPYTMNXLLET230SRP0S89",
			answer: `{"id":"4b67ac88","webhook":{"id":"4b67ac88","secret":"O94IM25S7PXBPYTMNXLLET230SRP0S89"}}`,
			end:    "DELETE https://api.clickup.com/api/v2/webhook/4b67ac88",
			body:   `$sample`,
			other:  `{"event":"taskDeleted","task_id":"1vj37mc"}`,
			signs:  signed("X-Signature", "", hexOf),
		}
	}
	figma := func(event, kind string) hookRow {
		return hookRow{
			id:       "figma." + event,
			config:   map[string]any{"file_key": "zH7LFExsXmuFSkQRhBkcyn"},
			register: "POST https://api.figma.com/v2/webhooks",
			asks: map[string]string{
				"/event_type": kind,
				"/context":    "file",
				"/context_id": "zH7LFExsXmuFSkQRhBkcyn",
			},
			urlAt:    "/endpoint",
			secretAt: "/passcode",
			answer:   `{"id":"22","status":"ACTIVE"}`,
			end:      "DELETE https://api.figma.com/v2/webhooks/22",
			ping:     `{"event_type":"PING","passcode":"$secret","timestamp":"2026-11-22T09:59:59Z","webhook_id":"22"}`,
			body:     `{"passcode":"$secret",$members}`,
		}
	}
	linear := func(event, action string) hookRow {
		return hookRow{
			id: "linear." + event, config: map[string]any{"team_id": "72b2a2dc"},
			register: "POST https://api.linear.app/graphql",
			asks: map[string]string{
				"/query": "~webhookCreate(", "/variables/input/teamId": "72b2a2dc",
				"/variables/input/resourceTypes/0": "Issue",
			},
			urlAt: "/variables/input/url", secret: "lin_wh_1",
			answer:  `{"data":{"webhookCreate":{"success":true,"webhook":{"id":"790ce3f6","secret":"lin_wh_1"}}}}`,
			end:     "POST https://api.linear.app/graphql",
			endAsks: map[string]string{"/query": "~webhookDelete(", "/variables/id": "790ce3f6"},
			body:    `{"action":"` + action + `","type":"Issue","data":$sample,"webhookTimestamp":$now_ms}`,
			other:   `{"action":"remove","type":"Issue","data":$sample,"webhookTimestamp":$now_ms}`,
			signs: func(f *hookFake, body []byte, delivery string) map[string]string {
				return map[string]string{"Linear-Delivery": delivery, "Linear-Signature": hexOf(f.secret, string(body))}
			},
		}
	}
	telegram := func(event, kind string) hookRow {
		return hookRow{
			id: "telegram." + event, register: "POST https://api.telegram.org/bot" + credential + "/setWebhook",
			asks:  map[string]string{"/allowed_updates/0": kind},
			urlAt: "/url", secretAt: "/secret_token",
			answer: `{"ok":true,"result":true,"description":"Webhook was set"}`,
			end:    "POST https://api.telegram.org/bot" + credential + "/deleteWebhook",
			body:   `{"update_id":10000,"` + kind + `":$sample}`,
			signs: func(f *hookFake, _ []byte, _ string) map[string]string {
				return map[string]string{"X-Telegram-Bot-Api-Secret-Token": f.secret}
			},
		}
	}
	// https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/
	trello := func(event string) hookRow {
		return hookRow{
			id:       "trello." + event,
			config:   map[string]any{"board_id": "5fc4da0f9e4d2c5ec2e0d7ff"},
			register: "POST https://api.trello.com/1/webhooks",
			urlAt:    "/callbackURL",
			secret:   clientSecret,
			asks:     map[string]string{"/idModel": "5fc4da0f9e4d2c5ec2e0d7ff"},
			answer:   `{"id":"5fc4e0aa","active":true}`,
			end:      "DELETE https://api.trello.com/1/webhooks/5fc4e0aa",
			tries: func(r *rig, f *hookFake) {
				if reply, err := r.receive("HEAD", f.url, nil, nil); err != nil || reply.Status != 200 {
					r.t.Errorf("HEAD is answered with %+v, %v", reply, err)
				}
			},
			body:  `{"action":$sample,"model":{"id":"5fc4da0f9e4d2c5ec2e0d7ff"}}`,
			other: `{"action":{"id":"5fc","type":"updateCard","display":{"translationKey":"action_renamed_card"}}}`,
			signs: func(f *hookFake, body []byte, _ string) map[string]string {
				return map[string]string{"X-Trello-Webhook": base64Of(sha1.New, f.secret, string(body)+f.url)}
			},
		}
	}
	return []hookRow{
		stripe("payment_succeeded", "payment_intent.succeeded"),
		stripe("invoice_paid", "invoice.paid"),
		stripe("subscription_ended", "customer.subscription.deleted"),
		calendly("meeting_booked", "invitee.created"),
		calendly("meeting_canceled", "invitee.canceled"),
		clickup("task_created", "taskCreated"),
		clickup("task_status_changed", "taskStatusUpdated"),
		figma("new_comment", "FILE_COMMENT"),
		figma("file_updated", "FILE_UPDATE"),
		linear("new_issue", "create"),
		linear("issue_updated", "update"),
		telegram("new_message", "message"),
		telegram("button_pressed", "callback_query"),
		trello("card_created"),
		trello("card_moved"),
		{ // https://developers.asana.com/docs/webhooks-guide
			id: "asana.task_added", config: map[string]any{"project": "12002"},
			register: "POST https://app.asana.com/api/1.0/webhooks",
			asks: map[string]string{
				"/data/resource": "12002", "/data/filters/0/resource_type": "task", "/data/filters/0/action": "added",
			},
			urlAt: "/data/target", secret: "b537207f20cbfa02357cf448134da559",
			tries: func(r *rig, f *hookFake) {
				reply, err := r.receive("POST", f.url, map[string]string{"X-Hook-Secret": f.secret}, nil)
				if err != nil || reply.Status != 200 || reply.Header["X-Hook-Secret"] != f.secret {
					r.t.Errorf("the handshake is answered with %+v, %v", reply, err)
				}
			},
			answer: `{"data":{"gid":"12345","resource_type":"webhook","active":true}}`,
			end:    "DELETE https://app.asana.com/api/1.0/webhooks/12345",
			body:   `{"events":[$sample]}`, other: `{"events":[]}`,
			signs: signed("X-Hook-Signature", "", hexOf),
		},
		{ // https://www.typeform.com/developers/webhooks/secure-your-webhooks/
			id: "typeform.new_response", config: map[string]any{"form_id": "lT4Z3j"},
			values:   app.Map{"region": "api.typeform.com"},
			register: "PUT https://api.typeform.com/forms/lT4Z3j/webhooks/$trigger",
			asks:     map[string]string{"/enabled": "true"}, urlAt: "/url", secretAt: "/secret",
			answer: `{"id":"yRtagDm8AT","form_id":"lT4Z3j","enabled":true}`,
			end:    "DELETE https://api.typeform.com/forms/lT4Z3j/webhooks/$trigger",
			body:   `{"event_id":"LtWXD3crgy","event_type":"form_response","form_response":$sample}`,
			other:  `{"event_id":"LtWXD3crgz","event_type":"form_response_partial","form_response":{"token":"p"}}`,
			signs: signed("Typeform-Signature", "sha256=",
				func(key, text string) string { return base64Of(sha256.New, key, text) }),
		},
		{
			id:       "pipedrive.new_deal",
			values:   app.Map{"api_domain": "https://acme.pipedrive.com"},
			register: "POST https://acme.pipedrive.com/api/v1/webhooks",
			asks:     map[string]string{"/event_action": "create", "/event_object": "deal", "/version": "2.0"},
			urlAt:    "/subscription_url",
			secret:   "none",
			answer:   `{"status":"ok","success":true,"data":{"id":9}}`,
			end:      "DELETE https://acme.pipedrive.com/api/v1/webhooks/9",
			body:     `{"data":$sample,"previous":null,"meta":{"id":"f1e2","action":"create","entity":"deal"}}`,
			other:    `{"data":$sample,"previous":{},"meta":{"id":"f1e3","action":"change","entity":"deal"}}`,
		},
		{
			id:       "sendgrid.email_event",
			values:   app.Map{"region": "api"},
			register: "POST https://api.sendgrid.com/v3/user/webhooks/event/settings",
			asks: map[string]string{
				"/enabled":     "true",
				"/delivered":   "true",
				"/bounce":      "true",
				"/spam_report": "true",
			},
			urlAt:  "/url",
			secret: "none",
			answer: `{"id":"77d4a5da-7015-11ed","enabled":true}`,
			end:    "DELETE https://api.sendgrid.com/v3/user/webhooks/event/settings/77d4a5da-7015-11ed",
			body:   `[$sample]`,
		},
	}
}
