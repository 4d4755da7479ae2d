package a2a

import (
	"fmt"
	"slices"
	"time"

	"ace/internal/foundation/typeid"
)

// moves lists every allowed transition. Terminal states have none, with one exception: a failed or
// canceled task becomes completed if the work turns out to be done, for example when a payment
// arrives late.
var moves = map[State][]State{
	"":            {Submitted, Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected},
	Submitted:     {Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected},
	Working:       {Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected},
	InputRequired: {InputRequired, Working, Completed, Failed, Canceled, Rejected},
	AuthRequired:  {Working, InputRequired, Completed, Failed, Canceled, Rejected},
	Failed:        {Completed},
	Canceled:      {Completed},
}

// NewTask returns a task without a state. Its id is a secret of 130 bits: anyone who knows it can
// read and cancel the task. The same holds for the context id, which is generated if contextID is
// "".
func NewTask(contextID string) Task {
	if contextID == "" {
		contextID = typeid.New("ctx")
	}
	return Task{ID: typeid.New("task"), ContextID: contextID}
}

// Move changes the state and sets parts, if any, as its message. The previous message of the status
// moves to the history. It returns an error if the transition is not allowed.
func (t *Task) Move(to State, now time.Time, parts ...Part) error {
	if !slices.Contains(moves[t.Status.State], to) {
		return fmt.Errorf("task %s cannot move from %s to %s", t.ID, t.Status.State, to)
	}
	if said := t.Status.Message; said != nil {
		t.History = append(slices.Clip(t.History), *said)
	}
	t.Status = Status{State: to, Timestamp: At(now)}
	if len(parts) > 0 {
		t.Status.Message = &Message{
			MessageID: typeid.New("msg"), ContextID: t.ContextID, TaskID: t.ID, Role: RoleAgent,
			Parts: parts,
		}
	}
	return nil
}

// AddMessage adds a message of the client to the history.
func (t *Task) AddMessage(m Message) {
	m.ContextID, m.TaskID = t.ContextID, t.ID
	if said := t.Status.Message; said != nil {
		t.History = append(slices.Clip(t.History), *said)
		t.Status.Message = nil
	}
	t.History = append(slices.Clip(t.History), m)
}

// view returns the task as requested by a client: history limits the number of newest messages, nil
// means all.
func (t Task) view(history *int, artifacts bool) Task {
	if history != nil {
		t.History = t.History[max(0, len(t.History)-*history):]
	}
	if !artifacts {
		t.Artifacts = nil
	}
	return t
}
