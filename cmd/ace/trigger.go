package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ace/internal/platform/accounthttp"
)

// triggerCmd is what operators do with triggers.
type triggerCmd struct {
	List   triggerListCmd   `cmd:"" help:"List the triggers of an account, newest first."`
	Show   triggerShowCmd   `cmd:"" help:"Show a trigger and its last 50 events with every attempt to deliver them."`
	Replay triggerReplayCmd `cmd:"" help:"Deliver an event again, or all that failed."`
}

type triggerListCmd struct {
	operating `embed:""`
	Account   string `required:"" placeholder:"NAME" help:"Account whose triggers to list."`
}

// Run lists triggers.
func (c *triggerListCmd) Run(w *world) error {
	var all accounthttp.Triggers
	if err := c.call(w.ctx, http.MethodGet, "/accounts/"+url.PathEscape(c.Account)+"/triggers", nil, &all); err != nil {
		return err
	}
	return c.print(w, all, func(out io.Writer) {
		if len(all.Triggers) == 0 {
			_, _ = fmt.Fprintln(out, "No triggers yet. Create one with a key of the account: POST /api/v1/triggers")
			return
		}
		_, _ = fmt.Fprintln(out, "TRIGGER\tEVENT\tMODE\tSTATE\tEVENTS\tLAST EVENT\tPOSTED TO")
		for _, t := range all.Triggers {
			_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", t.ID, t.Type, t.Mode, reasoned(t.Status, t.Reason),
				t.Events, when(t.LastEventAt, "none yet"), t.WebhookURL)
		}
		if all.More {
			_, _ = fmt.Fprintf(out, "\nThese are the newest %d. The API lists all: GET /api/v1/triggers\n",
				accounthttp.MaxTriggers)
		}
	})
}

// reasoned is a state with its reason in brackets.
func reasoned(state, reason string) string {
	if reason == "" {
		return state
	}
	return state + " (" + reason + ")"
}

type triggerShowCmd struct {
	operating `embed:""`
	ID        string `arg:"" help:"Id of the trigger: trg_…"`
}

// Run shows a trigger.
func (c *triggerShowCmd) Run(w *world) error {
	var t accounthttp.TriggerHistory
	if err := c.call(w.ctx, http.MethodGet, "/triggers/"+url.PathEscape(c.ID), nil, &t); err != nil {
		return advised(err, "trigger_not_found", triggersHint)
	}
	return c.print(w, t, func(out io.Writer) { describeTrigger(out, &t) })
}

// triggersHint says where ids of triggers come from.
const triggersHint = `"ace trigger list --account NAME" shows the triggers of an account`

// advised adds the next step to a refusal with a code.
func advised(err error, code, hint string) error {
	if refused, ok := errors.AsType[*refusal](err); ok && refused.Code == code {
		refused.Detail = strings.TrimSuffix(refused.Detail, ".") + ": " + hint + "."
	}
	return err
}

func describeTrigger(out io.Writer, t *accounthttp.TriggerHistory) {
	row := func(name, value string) {
		if value != "" {
			_, _ = fmt.Fprintf(out, "%s\t%s\n", name, value)
		}
	}
	row("trigger", t.ID)
	row("event", t.Type)
	row("state", reasoned(t.Status, t.Reason))
	row("posted to", t.WebhookURL)
	row("connection", t.ConnectionID)
	row("created", when(&t.CreatedAt, ""))
	row("last event", when(t.LastEventAt, "none yet"))
	if t.LastPollAt != nil {
		row("last poll", when(t.LastPollAt, "none yet"))
		row("next poll", when(t.NextPollAt, "none"))
	}
	row("last error", t.LastError)
	failed := 0
	for i := range t.Recent {
		e := &t.Recent[i]
		if i == 0 {
			_, _ = fmt.Fprintln(out, "\nEVENT\tRECEIVED\tSTATE\tATTEMPTS")
		}
		if e.Status == "failed" {
			failed++
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", e.ID, when(&e.ReceivedAt, ""), reasoned(e.Status, e.Reason),
			attempts(e))
	}
	if t.NextStep != "" {
		_, _ = fmt.Fprintf(out, "\n%s\n", t.NextStep)
	}
	if failed > 0 {
		_, _ = fmt.Fprintf(out, "\nDeliver what failed again: ace trigger replay %s\n", t.ID)
	}
}

// attempts describes the attempts to deliver an event: the status of each
// response, or what went wrong, and when the next is made.
func attempts(e *accounthttp.TriggerEvent) string {
	var made []string
	for _, a := range e.Deliveries {
		result := a.Error
		if a.Status != 0 {
			result = fmt.Sprint(a.Status)
		}
		made = append(made, result)
	}
	if e.NextAt != nil {
		made = append(made, "next at "+e.NextAt.Local().Format(time.TimeOnly))
	}
	return cmp.Or(strings.Join(made, ", "), "none yet")
}

type triggerReplayCmd struct {
	operating `embed:""`
	ID        string `arg:"" help:"Id of the trigger: trg_…"`
	Event     string `arg:"" optional:"" help:"Id of the event: evt_… Default: all of the last 50 that failed."`
}

// Run delivers events again.
func (c *triggerReplayCmd) Run(w *world) error {
	var done accounthttp.Replayed
	if err := c.call(w.ctx, http.MethodPost, "/triggers/"+url.PathEscape(c.ID)+"/replay",
		accounthttp.ReplayRequest{Event: c.Event}, &done); err != nil {
		err = advised(err, "trigger_not_found", triggersHint)
		return advised(
			err,
			"event_not_found",
			fmt.Sprintf("%q shows the events that are kept", "ace trigger show "+c.ID),
		)
	}
	return c.print(w, done, func(out io.Writer) {
		if done.Count == 0 {
			_, _ = fmt.Fprintln(out, "None of the last 50 events has failed: nothing is delivered again.")
			return
		}
		_, _ = fmt.Fprintf(out, "%s delivered again, under the same id. To see what comes of it: ace trigger show %s\n",
			count(done.Count, "event")+verb(done.Count), c.ID)
	})
}

// verb is the form of "is" after a count.
func verb(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}
