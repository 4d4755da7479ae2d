package toolhttp

import (
	"context"
	"encoding/json"
	"time"

	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/platform/account"
	"ace/internal/platform/audit"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/tool"
)

// Waiting is a run that a person decides on.
type Waiting struct {
	RunApproval
	RunID        string  `json:"run_id"`
	Status       string  `json:"status" enum:"awaiting_approval,running,succeeded,failed,cancelled,denied,interrupted"`
	Tool         string  `json:"tool"`
	ToolName     string  `json:"tool_name"`
	App          string  `json:"app"`
	AppName      string  `json:"app_name"`
	ConnectionID *string `json:"connection_id" nullable:"true"`
	EndUser      *string `json:"end_user" nullable:"true"`
	// Arguments is an object.
	Arguments   json.RawMessage                   `json:"arguments" doc:"What it would be run with; null once nobody has to decide."`
	Annotations openapi.Nullable[ToolAnnotations] `json:"annotations"`
	AskedBy     audit.Actor                       `json:"asked_by"`
	CreatedAt   time.Time                         `json:"created_at"`
}

// WaitingList are the runs that wait for a person.
type WaitingList struct {
	Approvals []Waiting `json:"approvals"`
}

func (f *Face) listApprovals(ctx context.Context, _ *struct{}) (*body[WaitingList], error) {
	found, err := f.Tools.Approvals(ctx, gate.From(ctx).Account)
	if err != nil {
		return nil, err
	}
	out := &body[WaitingList]{WaitingList{[]Waiting{}}}
	for _, one := range found {
		out.Body.Approvals = append(out.Body.Approvals, f.wireWaiting(one))
	}
	return out, nil
}

func (f *Face) getApproval(ctx context.Context, in *idInput) (*body[Waiting], error) {
	one, err := f.Tools.Approval(ctx, gate.From(ctx).Account, in.ID)
	if err != nil {
		return nil, err
	}
	return &body[Waiting]{f.wireWaiting(one)}, nil
}

// Decision is what a person says to a run.
type Decision struct {
	Decision string `json:"decision" enum:"approve,deny"`
	Reason   string `json:"reason,omitempty" maxLength:"500" doc:"Told to whoever asked."`
}

type decideInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body Decision
}

func (f *Face) decide(ctx context.Context, in *decideInput) (*body[Waiting], error) {
	by := gate.From(ctx)
	if by.Session.User.Role == account.Auditor {
		return nil, problem.New(problem.Forbidden, "role_required", "Your role in this account does not allow this. Ask its owner.")
	}
	if _, err := f.Tools.Approve(ctx, by.Actor, by.Account, in.ID, in.Body.Decision == "approve", in.Body.Reason); err != nil {
		return nil, err
	}
	return f.getApproval(ctx, &idInput{in.ID})
}

func (f *Face) wireWaiting(w *tool.Awaiting) Waiting {
	r := w.Run
	out := Waiting{
		RunApproval: *f.wireApproval(r), RunID: r.ID, Status: string(r.Status), Tool: r.Tool, ToolName: r.Tool, App: r.App, AppName: r.App,
		ConnectionID: text(r.ConnectionID), EndUser: text(r.EndUser), Arguments: w.Arguments, AskedBy: r.By, CreatedAt: r.CreatedAt,
	}
	if out.Arguments == nil {
		out.Arguments = json.RawMessage("null")
	}
	if w.App != nil && w.Tool != nil {
		out.AppName, out.ToolName = w.App.Name, tool.Title(w.App, w.Tool)
		out.Annotations = openapi.NullableOf(&ToolAnnotations{ReadOnly: w.Tool.ReadOnly(), Destructive: w.Tool.Destructive(), Idempotent: w.Tool.SafeToRepeat(), OpenWorld: true})
	}
	return out
}
