package operation

import (
	"context"
	"encoding/json"
	"time"

	"ace/internal/platform/tool"
	"ace/internal/platform/tool/definition"
)

// Waiting is a run that a person decides on.
type Waiting struct {
	RunApproval
	RunID        string  `json:"run_id"`
	Status       string  `json:"status" enum:"awaiting_approval,running,succeeded,failed,canceled,denied,interrupted"`
	Tool         string  `json:"tool"`
	ToolName     string  `json:"tool_name"`
	App          string  `json:"app"`
	AppName      string  `json:"app_name"`
	ConnectionID *string `json:"connection_id" nullable:"true"`
	EndUser      *string `json:"end_user" nullable:"true"`
	// Arguments is an object.
	Arguments   json.RawMessage  `json:"arguments" doc:"What it would be run with; null once nobody has to decide."`
	Annotations *ToolAnnotations `json:"annotations" null:"true"`
	Error       *RunError        `json:"error" null:"true" doc:"What went wrong in a run that was approved."`
	AskedBy     Actor            `json:"asked_by"`
	CreatedAt   time.Time        `json:"created_at"`
}

// WaitingList are the runs that wait for a person.
type WaitingList struct {
	Approvals []Waiting `json:"approvals"`
	Paged
}

// Decision is what a person says to a run.
type Decision struct {
	Decision string `json:"decision" enum:"approve,deny"`
	Reason   string `json:"reason,omitempty" maxLength:"500" doc:"Shown to the caller who requested the run."`
}

func (s *Service) showWaiting(w *tool.Awaiting) Waiting {
	r := w.Run
	out := Waiting{
		RunApproval: *s.showApproval(r),
		RunID:       r.ID,
		Status:      string(r.Status),
		Tool:        r.Tool,
		ToolName:    r.Tool,
		App:         r.App,
		AppName:     r.App,
		ConnectionID: optionalText(
			r.ConnectionID,
		),
		EndUser:   optionalText(r.EndUser),
		Arguments: w.Arguments,
		Error:     showFailure(w.Failure),
		AskedBy:   Actor(r.By),
		CreatedAt: inSeconds(r.CreatedAt),
	}
	if out.Arguments == nil {
		out.Arguments = json.RawMessage("null")
	}
	if w.App != nil && w.Tool != nil {
		out.AppName, out.ToolName = w.App.Name, definition.Title(w.App, w.Tool)
		out.Annotations = (&ToolAnnotations{
			ReadOnly:    w.Tool.ReadOnly(),
			Destructive: w.Tool.Destructive(), Idempotent: w.Tool.SafeToRepeat(), OpenWorld: true,
		})
	}
	return out
}

// ListApprovals returns the runs that wait for a person, oldest first.
func (s *Service) ListApprovals(ctx context.Context, c *Caller) (*WaitingList, error) {
	if err := Authorize(c, ListApprovals); err != nil {
		return nil, err
	}
	found, err := s.Tools.Approvals(ctx, c.Account)
	if err != nil {
		return nil, err
	}
	out := &WaitingList{Approvals: []Waiting{}}
	for _, one := range found {
		out.Approvals = append(out.Approvals, s.showWaiting(one))
	}
	return out, nil
}

// Approval returns a run that waits, or waited, for a person. Its problem is
// approval_not_found (NotFound).
func (s *Service) Approval(ctx context.Context, c *Caller, id string) (*Waiting, error) {
	if err := Authorize(c, GetApproval); err != nil {
		return nil, err
	}
	one, err := s.Tools.Approval(ctx, c.Account, id)
	if err != nil {
		return nil, err
	}
	shown := s.showWaiting(one)
	return &shown, nil
}

// DecideApproval approves or denies a run, and returns it as it is then. Its
// problems are those of tool.Service.Decide.
func (s *Service) DecideApproval(ctx context.Context, c *Caller, id string, in Decision) (*Waiting, error) {
	if err := Authorize(c, DecideApproval); err != nil {
		return nil, err
	}
	if _, err := s.Tools.Decide(ctx, c.Actor, c.Account, id, in.Decision == "approve", in.Reason); err != nil {
		return nil, err
	}
	return s.Approval(ctx, c, id)
}
