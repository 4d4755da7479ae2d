package a2a

import (
	"fmt"
	"slices"
	"time"

	"ace/internal/foundation/typeid"
)

// moves holds every allowed change of state. Of the terminal states none leads
// on, with one exception: what was given up is completed where it turns out to
// be done after all, as when money arrives late.
var moves = map[State][]State{
	"":            {Submitted, Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected},
	Submitted:     {Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected},
	Working:       {Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected},
	InputRequired: {InputRequired, Working, Completed, Failed, Canceled, Rejected},
	AuthRequired:  {Working, InputRequired, Completed, Failed, Canceled, Rejected},
	Failed:        {Completed},
	Canceled:      {Completed},
}

// NewTask answers a task without a state. Its id is a secret of 130 bits: who
// knows it may read and cancel the task. So is the context's, which is made up
// where contextID is "".
func NewTask(contextID string) Task {
	if contextID == "" {
		contextID = typeid.New("ctx")
	}
	return Task{ID: typeid.New("task"), ContextID: contextID}
}

// Move changes the state and says something about it in parts, if there are
// any. What the status said before becomes history. It fails for a move that is
// not allowed.
func (t *Task) Move(to State, now time.Time, parts ...Part) error {
	if !slices.Contains(moves[t.Status.State], to) {
		return fmt.Errorf("task %s cannot move from %s to %s", t.ID, t.Status.State, to)
	}
	if said := t.Status.Message; said != nil {
		t.History = append(slices.Clip(t.History), *said)
	}
	t.Status = Status{State: to, Timestamp: At(now)}
	if len(parts) > 0 {
		t.Status.Message = &Message{MessageID: typeid.New("msg"), ContextID: t.ContextID, TaskID: t.ID, Role: RoleAgent, Parts: parts}
	}
	return nil
}

// Hear adds a message of the client to the history.
func (t *Task) Hear(m Message) {
	m.ContextID, m.TaskID = t.ContextID, t.ID
	if said := t.Status.Message; said != nil {
		t.History = append(slices.Clip(t.History), *said)
		t.Status.Message = nil
	}
	t.History = append(slices.Clip(t.History), m)
}

// shown is the task as a client asked for it: history limits how many of the
// newest messages it has, nil to none.
func (t Task) shown(history *int, artifacts bool) Task {
	if history != nil {
		t.History = t.History[max(0, len(t.History)-*history):]
	}
	if !artifacts {
		t.Artifacts = nil
	}
	return t
}
