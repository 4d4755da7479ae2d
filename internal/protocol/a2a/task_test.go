package a2a_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/typeid"
	"ace/internal/protocol/a2a"
)

// TestMoves tries every transition. A terminal state is final, except that a failed or canceled
// task can complete.
func TestMoves(t *testing.T) {
	t.Parallel()
	const s, w, i, a, c, f, x, r = a2a.Submitted, a2a.Working, a2a.InputRequired, a2a.AuthRequired,
		a2a.Completed, a2a.Failed, a2a.Canceled, a2a.Rejected
	want := map[a2a.State][]a2a.State{
		"": {s, w, i, a, c, f, x, r},
		s:  {w, i, a, c, f, x, r}, w: {w, i, a, c, f, x, r}, i: {i, w, c, f, x, r}, a: {w, i, c, f, x, r},
		c: nil, f: {c}, x: {c}, r: nil,
	}
	for from, allowed := range want {
		var got []a2a.State
		for _, to := range []a2a.State{s, w, i, a, c, f, x, r, "", "TASK_STATE_ELSE"} {
			task := a2a.NewTask("")
			task.Status.State = from
			if task.Move(to, time.Now()) == nil {
				got = append(got, to)
			}
		}
		in := func(list []a2a.State) map[a2a.State]bool {
			set := map[a2a.State]bool{}
			for _, state := range list {
				set[state] = true
			}
			return set
		}
		if diff := cmp.Diff(in(allowed), in(got)); diff != "" {
			t.Errorf("from %q (-want +got):\n%s", from, diff)
		}
	}
	for _, state := range a2a.States() {
		if got, want := state.Terminal(), state == c || state == f || state == x || state == r; got != want {
			t.Errorf("%s.Terminal() = %v, want %v", state, got, want)
		}
	}
}

// The history has all messages in order, without the one of the current status.
func TestHistory(t *testing.T) {
	t.Parallel()
	task := a2a.NewTask("ctx_a")
	said := func(text string) a2a.Message {
		return a2a.Message{
			MessageID: text, ContextID: "foreign", Role: a2a.RoleUser,
			Parts: []a2a.Part{a2a.TextPart(text)},
		}
	}
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	task.AddMessage(said("one"))
	kept := task // a copy that must not change with the original
	for _, step := range []struct {
		to   a2a.State
		text string
	}{{a2a.InputRequired, "what?"}, {a2a.InputRequired, "what else?"}, {a2a.Completed, ""}} {
		var parts []a2a.Part
		if step.text != "" {
			parts = append(parts, a2a.TextPart(step.text))
		}
		if err := task.Move(step.to, now, parts...); err != nil {
			t.Fatal(err)
		}
		if step.text == "what?" {
			task.AddMessage(said("two"))
		}
	}
	var got []string
	for _, m := range task.History {
		got = append(got, string(m.Role)+" "+*m.Parts[0].Text)
		if m.TaskID != task.ID || m.ContextID != "ctx_a" {
			t.Errorf("message %+v is not of its task", m)
		}
	}
	want := []string{"ROLE_USER one", "ROLE_AGENT what?", "ROLE_USER two", "ROLE_AGENT what else?"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if task.Status.Message != nil || len(kept.History) != 1 {
		t.Errorf("status = %+v, copy has %d messages, want no message and one", task.Status, len(kept.History))
	}
}

func TestNewTask(t *testing.T) {
	t.Parallel()
	a, b := a2a.NewTask(""), a2a.NewTask("mine")
	if !typeid.Valid("task", a.ID) || !typeid.Valid("ctx", a.ContextID) || a.ID == b.ID || b.ContextID != "mine" {
		t.Errorf("NewTask = %+v and %+v", a, b)
	}
}

func TestTimestamp(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{`"2026-11-21T10:00:00Z"`, `"2026-11-21T10:00:00.000Z"`},
		{`"2026-11-21T11:00:00.1239+01:00"`, `"2026-11-21T10:00:00.123Z"`},
		{`"yesterday"`, ""},
		{`7`, ""},
		{`"2026-11-21"`, ""},
	}
	for _, tt := range tests {
		var at a2a.Timestamp
		if err := json.Unmarshal([]byte(tt.in), &at); (err == nil) != (tt.want != "") {
			t.Errorf("reading %s: %v", tt.in, err)
			continue
		}
		if got, err := json.Marshal(at); tt.want != "" && (err != nil || string(got) != tt.want) {
			t.Errorf("%s became %s, %v, want %s", tt.in, got, err, tt.want)
		}
	}
}

func TestField(t *testing.T) {
	t.Parallel()
	tests := []struct{ at, pointer, want string }{
		{"", "", ""},
		{"", "/message/parts/0/text", "message.parts[0].text"},
		{"message.parts[1].data.input", "/query", "message.parts[1].data.input.query"},
		{"a", "", "a"},
		{"", "cursor", "cursor"},
		{"a", "/b~1c/~0", "a.b/c.~"},
		{"", "/0", "0"},
		{"a", "/-1/99999999999999", "a.-1.99999999999999"},
	}
	for _, tt := range tests {
		if got := a2a.Field(tt.at, tt.pointer); got != tt.want {
			t.Errorf("Field(%q, %q) = %q, want %q", tt.at, tt.pointer, got, tt.want)
		}
	}
}
