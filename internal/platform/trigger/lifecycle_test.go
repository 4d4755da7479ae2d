package trigger_test

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool"
	"ace/internal/platform/trigger"
	"ace/internal/platform/trigger/inbound"
)

// mail is an app whose registrations end, whose lists have a cursor, and that sets
// the key of its signatures by a handshake.
const mail = `
id: mail
name: Mail
about: Sends letters, for tests.
domain: mail.example
docs: https://mail.example/docs
checked: 2026-11-21
categories: [productivity]
base: https://api.mail.example
auth: [{id: none, type: none, title: Without}]
triggers:
  letter:
    title: Letter
    about: A letter came.
    hook:
      subscribe: {call: POST /watch, body: {url: "{hook_url}", until: "{expires}"}, keep: {watch: /id}}
      unsubscribe: {call: "DELETE /watch/{watch}"}
      renew: {call: "POST /watch/{watch}/renew", every: 24h}
      verify: {type: token_equals, header: X-Token}
      id: /id
    sample: {id: l1}
  parcel:
    title: Parcel
    about: A parcel came.
    hook:
      subscribe: {call: POST /parcels, body: {url: "{hook_url}"}, keep: {watch: /id}}
      unsubscribe: {call: "DELETE /parcels/{watch}"}
      handshake: echo_header(X-Hook-Secret)
      verify: {type: hmac, key: "{handshake}", over: "{body}", header: X-Hook-Signature}
      id: /id
    sample: {id: p1}
  plain:
    title: Plain letter
    about: A plain letter came.
    hook:
      subscribe: {call: POST /plain, body: {url: "{hook_url}"}, keep: {watch: /id}}
      unsubscribe: {call: "DELETE /plain/{watch}"}
      verify: {type: token_equals, header: X-Token}
      id: /id
    sample: {id: n1}
  page:
    title: Page
    about: A page was written.
    poll: {call: GET /pages, query: {since: "{cursor}"}, items: /pages, id: /id, cursor: /next, lost: 410, every: 1m}
    sample: {id: s1}
`

func mailbox(t *testing.T, test func(w *world)) {
	t.Helper()
	parsed, err := app.Parse([]byte(mail))
	if err != nil {
		t.Fatal(err)
	}
	engineOf(t, parsed, 1, func(w *world) {
		n := 0
		w.look = time.Hour // no destination is down
		w.vendor.respond = func(*tool.AppCall) (*tool.Answer, error) {
			n++
			return &tool.Answer{Status: 200, Output: map[string]any{"id": fmt.Sprint("w", n)}}, nil
		}
		test(w)
	})
}

func (w *world) expect(what string, got []string, want ...string) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Errorf("%s: called %q, want %q", what, got, want)
	}
}

func (w *world) expectState(what string, t *trigger.Trigger, status trigger.Status, reason string) *trigger.Trigger {
	w.t.Helper()
	now := w.get(t)
	if now.Status != status || now.Reason != reason {
		w.t.Errorf("%s: %s, %q, want %s, %q", what, now.Status, now.Reason, status, reason)
	}
	return now
}

const (
	watch   = "POST /watch"
	unwatch = "DELETE /watch/{watch}"
	renew   = "POST /watch/{watch}/renew"
)

// TestRenewal renews a registration in time, as often as it takes, and makes it
// again where the app knows it no more.
func TestRenewal(t *testing.T) {
	t.Parallel()
	mailbox(t, func(w *world) {
		one := w.create("letter", "https://hooks.example/in")
		w.expect("creation", w.vendor.called(), watch)
		w.pass(23 * time.Hour)
		w.expect("the first 23 hours", w.vendor.called())
		w.pass(2 * time.Hour)
		w.expect("after a day", w.vendor.called(), renew)
		first := w.expectState("renewed", one, trigger.Active, "")

		w.vendor.fail(&tool.Failure{Code: tool.CodeUnavailable, Detail: "Mail is down.", Retryable: true})
		w.pass(24 * time.Hour)
		if now := w.get(one); now.Failures == 0 || now.LastError != "Mail is down." {
			w.t.Errorf("while the app is down: %d failures, %q", now.Failures, now.LastError)
		}
		w.expectState("while the app is down", one, trigger.Failing, trigger.RegistrationFailed)
		w.vendor.called()
		w.vendor.fail(nil)
		w.pass(2 * time.Hour)
		// It may have ended: a new one is made.
		w.expect("when it is back", w.vendor.called(), unwatch, watch)
		w.expectState("when it is back", one, trigger.Active, "")

		respond := w.vendor.respond
		w.vendor.mu.Lock()
		w.vendor.respond = func(c *tool.AppCall) (*tool.Answer, error) {
			if c.Tool.Call == renew {
				return nil, &tool.Failure{Code: tool.CodeNotFound, AppStatus: 404}
			}
			return respond(c)
		}
		w.vendor.mu.Unlock()
		w.pass(25 * time.Hour)
		w.expect("a registration that the app has lost", w.vendor.called(), renew, watch)
		if now := w.expectState("made again", one, trigger.Active, ""); now.Registration == first.Registration {
			w.t.Error("the registration that was lost is kept")
		}
	})
}

// TestConnectionBreaks pauses triggers with the reason, and goes on by itself.
func TestConnectionBreaks(t *testing.T) {
	t.Parallel()
	mailbox(t, func(w *world) {
		letter, page := w.create("letter", "https://hooks.example/in"), w.create("page", "https://hooks.example/in")
		byUser := w.create("letter", "https://hooks.example/in")
		on := true
		if _, err := w.service.Update(w.t.Context(), audit.System(), owner, byUser.ID,
			trigger.Change{Paused: &on}); err != nil {
			w.t.Fatal(err)
		}
		w.reconnect(connection.NeedsReconnect)
		w.vendor.called()
		w.pass(time.Hour)
		w.expect("without credentials", w.vendor.called())
		w.expectState("broken", letter, trigger.Paused, trigger.NeedsReconnect)
		w.expectState("broken", page, trigger.Paused, trigger.NeedsReconnect)
		w.expectState("broken", byUser, trigger.Paused, trigger.ByUser)

		w.reconnect(connection.Active)
		w.pass(30 * time.Second)
		if calls := w.vendor.called(); !slices.Contains(calls, watch) || !slices.Contains(calls, "GET /pages") ||
			len(calls) != 3 {
			w.t.Errorf("after the reconnect: %q, want one new registration and one poll", calls)
		}
		w.expectState("reconnected", letter, trigger.Active, "")
		w.expectState("reconnected", page, trigger.Active, "")
		w.expectState("reconnected", byUser, trigger.Paused, trigger.ByUser)

		w.reconnect(connection.Revoked)
		w.pass(time.Minute)
		w.expectState("deleted", letter, trigger.Paused, trigger.ConnectionDeleted)
		w.expectState("deleted", page, trigger.Paused, trigger.ConnectionDeleted)
	})
}

func (w *world) pause(t *trigger.Trigger, on bool) {
	w.t.Helper()
	if _, err := w.service.Update(w.t.Context(), audit.System(), owner, t.ID, trigger.Change{Paused: &on}); err != nil {
		w.t.Fatal(err)
	}
}

// TestResumeAfterReconnect registers a trigger again that was paused when its
// connection got other credentials, and none whose registration has stayed.
func TestResumeAfterReconnect(t *testing.T) {
	t.Parallel()
	broken := func(w *world) { w.reconnect(connection.NeedsReconnect); w.pass(time.Minute) }
	mended := func(w *world) { w.reconnect(connection.Active); w.pass(time.Minute) }
	deleted := func(w *world) { w.reconnect(connection.Revoked); w.pass(time.Minute) }
	for name, test := range map[string]struct {
		event  string
		before func(w *world) // while the trigger is active
		paused func(w *world) // while it is paused
		calls  []string       // when it is resumed
		reason string         // afterwards
	}{
		"nothing happened": {event: "plain"},
		"reconnected": {
			event: "plain", paused: mended, calls: []string{"DELETE /plain/{watch}", "POST /plain"},
		},
		"broken and reconnected": {
			event: "plain", paused: func(w *world) { broken(w); mended(w) },
			calls: []string{"DELETE /plain/{watch}", "POST /plain"},
		},
		"broken before it was paused": {
			event: "plain", before: broken, paused: mended, calls: []string{"DELETE /plain/{watch}", "POST /plain"},
		},
		"one that can be renewed": {event: "letter", paused: mended, calls: []string{renew}},
		"deleted":                 {event: "plain", paused: deleted, reason: trigger.ConnectionDeleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mailbox(t, func(w *world) {
				one := w.create(test.event, "https://hooks.example/in")
				if test.before != nil {
					test.before(w)
				}
				w.pause(one, true)
				w.vendor.called()
				if test.paused != nil {
					test.paused(w)
				}
				w.expect("while it is paused", w.vendor.called())
				w.expectState("while it is paused", one, trigger.Paused, trigger.ByUser)
				w.pause(one, false)
				w.pass(time.Minute)
				w.expect("resumed", w.vendor.called(), test.calls...)
				status := trigger.Active
				if test.reason != "" {
					status = trigger.Paused
				}
				w.expectState("resumed", one, status, test.reason)
			})
		})
	}
}

// TestGoneStaysPaused keeps a trigger paused whose receiver wants nothing more,
// whatever happens to its connection.
func TestGoneStaysPaused(t *testing.T) {
	t.Parallel()
	engine(t, 1, func(w *world) {
		w.respond = func(int, *http.Request) (int, error) { return http.StatusGone, nil }
		one := w.create("new_note", "https://hooks.example/in")
		w.send(one, "a")
		w.pass(time.Minute)
		w.reconnect(connection.NeedsReconnect)
		w.pass(time.Minute)
		w.reconnect(connection.Active)
		w.pass(time.Hour)
		w.expectState("after a reconnect", one, trigger.Paused, trigger.WebhookGone)
		w.send(one, "b")
		w.pass(time.Hour)
		if len(w.posts) != 1 {
			w.t.Errorf("%d posts to a receiver that is gone, want 1", len(w.posts))
		}
	})
}

// TestIdlePolls asks an app more rarely that has had nothing new for long, and as
// often as before once it has.
func TestIdlePolls(t *testing.T) {
	t.Parallel()
	mailbox(t, func(w *world) {
		list := []any{map[string]any{"id": "old"}}
		w.vendor.respond = func(*tool.AppCall) (*tool.Answer, error) {
			return &tool.Answer{Status: 200, Output: map[string]any{"pages": list, "next": "1"}}, nil
		}
		one := w.create("page", "https://hooks.example/in")
		polls := func(d time.Duration) int { w.vendor.called(); w.pass(d); return len(w.vendor.called()) }
		if n := polls(10 * time.Minute); n < 8 || n > 12 {
			w.t.Errorf("%d polls in the first ten minutes, want one a minute", n)
		}
		w.pass(4 * time.Hour)
		if n := polls(3 * time.Hour); n < 10 || n > 15 {
			w.t.Errorf("%d polls in three hours after four of silence, want one in 15 minutes", n)
		}
		w.vendor.mu.Lock()
		list = []any{map[string]any{"id": "new"}}
		w.vendor.mu.Unlock()
		w.pass(20 * time.Minute)
		if now := w.get(one); now.Sequence != 1 || now.Idle > 20 {
			w.t.Errorf("%d events, and %d idle polls, after something new", now.Sequence, now.Idle)
		}
	})
}

// TestUnregistering tries again until the app is back, and gives up what it refuses
// for good or has not taken for three days.
func TestUnregistering(t *testing.T) {
	t.Parallel()
	down := &tool.Failure{Code: tool.CodeUnavailable, Detail: "Mail is down.", Retryable: true}
	minute := time.Minute
	for name, test := range map[string]struct {
		err      error
		within   time.Duration // until the row is gone
		max, min int           // calls
		back     bool          // the app comes back after a day
	}{
		"at once":             {within: minute, min: 1, max: 1},
		"not there any more":  {err: &tool.Failure{Code: tool.CodeNotFound}, within: minute, min: 1, max: 1},
		"refused for good":    {err: &tool.Failure{Code: tool.CodeForbidden}, within: minute, min: 1, max: 1},
		"the app comes back":  {err: down, within: 26 * time.Hour, min: 20, max: 50, back: true},
		"the app stays away":  {err: down, within: 75 * time.Hour, min: 60, max: 120},
		"something of ours":   {err: errDied, within: 75 * time.Hour, min: 60, max: 120},
		"ours, and it passes": {err: errDied, within: 26 * time.Hour, min: 20, max: 50, back: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mailbox(t, func(w *world) {
				one := w.create("letter", "https://hooks.example/in")
				w.vendor.called()
				w.vendor.fail(test.err)
				if err := w.service.Delete(w.t.Context(), audit.System(), owner, one.ID); err != nil {
					w.t.Fatal(err)
				}
				if test.back {
					w.pass(24 * time.Hour)
					w.vendor.fail(nil)
					w.pass(test.within - 24*time.Hour)
				} else {
					w.pass(test.within)
				}
				left, err := w.rows(one.ID)
				if err != nil || left != 0 {
					w.t.Errorf("%d rows are left, %v", left, err)
				}
				if n := len(w.vendor.called()); n < test.min || n > test.max {
					w.t.Errorf("%d calls, want %d to %d", n, test.min, test.max)
				}
			})
		})
	}
}

// rows returns 1 while there is a row of a trigger.
func (w *world) rows(id string) (n int64, err error) {
	return w.db.Light(w.t.Context(), nil, `UPDATE app_trigger SET idle = idle WHERE id = $1`, id)
}

// TestLostCursor begins again where an app has forgotten how far a poll came, and
// takes nothing old for an event.
func TestLostCursor(t *testing.T) {
	t.Parallel()
	mailbox(t, func(w *world) {
		pages := func(next string, ids ...string) *tool.Answer {
			list := []any{}
			for _, id := range ids {
				list = append(list, map[string]any{"id": id})
			}
			return &tool.Answer{Status: 200, Output: map[string]any{"pages": list, "next": next}}
		}
		lists := map[string]*tool.Answer{"": pages("1", "a"), "1": pages("2", "b")}
		w.vendor.respond = func(c *tool.AppCall) (*tool.Answer, error) {
			since, _ := c.Arguments["cursor"].(string)
			if _, named := c.Tool.Fixed.Query["since"]; named != (since != "") {
				w.t.Errorf("the parameter of cursor %q is named: %t", since, named)
			}
			if answer := lists[since]; answer != nil {
				return answer, nil
			}
			return nil, &tool.Failure{Code: tool.CodeBadRequest, AppStatus: 410, Detail: "too old"}
		}
		one := w.create("page", "https://hooks.example/in")
		w.pass(150 * time.Second)
		if events := w.history(one); len(events) != 1 || events[0].ID != trigger.EventID(one.ID, "b") {
			w.t.Fatalf("%d events, want b", len(events))
		}
		// Cursor 2 is unknown: the app lists what is there, old pages among it.
		w.vendor.mu.Lock()
		lists = map[string]*tool.Answer{"": pages("7", "b", "a", "very old"), "7": pages("8", "c")}
		w.vendor.mu.Unlock()
		w.pass(70 * time.Second)
		if now := w.expectState("afterwards", one, trigger.Active, ""); now.Cursor != "7" && now.Cursor != "8" {
			w.t.Errorf("the cursor is %q", now.Cursor)
		}
		w.pass(2 * time.Minute)
		if events := w.history(one); len(events) != 2 || events[0].ID != trigger.EventID(one.ID, "c") {
			w.t.Errorf("%d events, want c after b", len(events))
		}
	})
}

// TestUnsentPolls are no failures of the app: too many of its calls wait.
func TestUnsentPolls(t *testing.T) {
	t.Parallel()
	mailbox(t, func(w *world) {
		one := w.create("page", "https://hooks.example/in")
		w.vendor.fail(&tool.Failure{
			Code: tool.CodeRateLimited, Retryable: true, Unsent: true, RetryAfter: 20 * time.Second, Detail: "later",
		})
		w.pass(time.Hour)
		if now := w.expectState("waiting", one, trigger.Active, ""); now.Failures != 0 || now.LastError != "later" {
			w.t.Errorf("%d failures, %q", now.Failures, now.LastError)
		}
		if n := len(w.vendor.called()); n < 60 || n > 240 {
			w.t.Errorf("asked %d times in an hour, want about three a minute", n)
		}
	})
}

// TestHandshakeKey is set by the app while it is asked to send events, and by
// nobody at any other time.
func TestHandshakeKey(t *testing.T) {
	t.Parallel()
	mailbox(t, func(w *world) {
		key, id := "k1", ""
		shake := func(key string) {
			if _, err := w.service.Receive(w.t.Context(), id, path.Base(w.service.HookURL(id)), &inbound.Request{
				Method: "POST", Header: map[string][]string{"X-Hook-Secret": {key}},
			}); err != nil {
				w.t.Errorf("the handshake: %v", err)
			}
		}
		w.vendor.respond = func(c *tool.AppCall) (*tool.Answer, error) {
			if c.Tool.Call == "POST /parcels" {
				id, _ = c.Arguments["trigger_id"].(string)
				shake(key)
			}
			return &tool.Answer{Status: 200, Output: map[string]any{"id": "w"}}, nil
		}
		one := w.create("parcel", "https://hooks.example/in")
		sent := 0
		send := func(key string) bool {
			sent++
			body := fmt.Appendf(nil, `{"id":"p%d"}`, sent)
			_, err := w.service.Receive(w.t.Context(), id, path.Base(w.service.HookURL(id)), &inbound.Request{
				Method: "POST", Body: body, Header: map[string][]string{"X-Hook-Signature": {signed(key, body)}},
			})
			return err == nil
		}
		if !send("k1") || send("k2") {
			w.t.Error("the key of the first handshake does not hold")
		}
		shake("forged")
		if !send("k1") || send("forged") {
			w.t.Error("a handshake that nobody expects has set the key")
		}
		w.reconnect(connection.NeedsReconnect)
		w.pass(time.Minute)
		w.vendor.mu.Lock()
		key = "k2"
		w.vendor.mu.Unlock()
		w.reconnect(connection.Active)
		w.pass(time.Minute)
		w.expectState("registered again", one, trigger.Active, "")
		if send("k1") || !send("k2") {
			w.t.Error("the key of the second registration does not hold")
		}
	})
}

// TestFilters posts what a filter means, numbers it without a gap, and takes
// nothing for new that a filter has left out before.
func TestFilters(t *testing.T) {
	t.Parallel()
	engine(t, 1, func(w *world) {
		note := func(id, title string) any { return map[string]any{"id": id, "title": title} }
		create := func(event, filter string) (*trigger.Trigger, error) {
			return w.service.Create(w.t.Context(), audit.System(), owner, trigger.Request{
				ID:         trigger.NewID(),
				App:        "demo-notes",
				Event:      event,
				WebhookURL: "https://hooks.example/in",
				Filter:     filter,
			})
		}
		if _, err := create("new_note", "dta.id == 'a'"); !problem.Is(err, "filter_invalid") {
			w.t.Errorf("a filter that is wrong: %v", err)
		}
		hook, err := create("new_note", "data.id == 'b' || data.id < 5")
		if err != nil {
			w.t.Fatal(err)
		}
		w.secrets = append(w.secrets, w.service.Secret(hook))
		w.send(hook, "b")
		w.send(hook, "a") // a text is not less than a number: the filter fails, and the event is posted
		if events := w.history(hook); len(events) != 2 {
			w.t.Errorf("%d events, want b and, since the filter fails, a", len(events))
		}
		poll, err := create("note_listed", "data.title.startsWith('urgent')")
		if err != nil {
			w.t.Fatal(err)
		}
		w.secrets = append(w.secrets, w.service.Secret(poll))
		w.vendor.mu.Lock()
		w.vendor.notes = []any{note("4", "urgent"), note("3", "calm"), note("2", "urgent too"), note("1", "calm")}
		w.vendor.mu.Unlock()
		w.pass(3 * time.Minute)
		events := w.history(poll)
		if len(events) != 2 || events[0].Sequence != 2 || events[0].ID != trigger.EventID(poll.ID, "4") ||
			events[1].ID != trigger.EventID(poll.ID, "2") {
			w.t.Errorf("%d events, want 2 and 4", len(events))
		}
		all := ""
		if _, err := w.service.Update(w.t.Context(), audit.System(), owner, poll.ID,
			trigger.Change{Filter: &all}); err != nil {
			w.t.Fatal(err)
		}
		w.pass(3 * time.Minute)
		if n := len(w.history(poll)); n != 2 {
			w.t.Errorf("%d events after the filter was taken out, want 2: the others are old", n)
		}
	})
}
