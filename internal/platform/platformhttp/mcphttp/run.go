package mcphttp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"ace/internal/foundation/plainjson"
	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/tool"
	"ace/internal/protocol/mcp"
)

type runInput struct {
	Tool           string          `json:"tool"`
	Arguments      json.RawMessage `json:"arguments"`
	ConnectionID   string          `json:"connection_id"`
	Fields         []string        `json:"fields"`
	MaxChars       int             `json:"max_chars"`
	TimeoutSeconds int             `json:"timeout_seconds"`
	OutputCursor   string          `json:"output_cursor"`
	RunID          string          `json:"run_id"`
	WaitSeconds    int             `json:"wait_seconds"`
	DryRun         bool            `json:"dry_run"`
	IdempotencyKey string          `json:"idempotency_key"`
}

// Defaults of run_tool.
const (
	defaultChars = 20_000
	// defaultTimeout is below the time that clients wait for a response.
	defaultTimeout = 45
)

// runOutput is a run as a model needs it.
type runOutput struct {
	OK            bool                       `json:"ok"`
	Status        string                     `json:"status"`
	RunID         *string                    `json:"run_id"`
	Output        json.RawMessage            `json:"output"`
	Truncated     bool                       `json:"truncated"`
	Omitted       map[string]int             `json:"omitted,omitempty"`
	Continues     string                     `json:"continues,omitempty"`
	NextCursor    *string                    `json:"next_output_cursor"`
	NextArguments map[string]any             `json:"next_arguments,omitempty"`
	Files         []operation.File           `json:"files,omitempty"`
	Approval      *operation.RunApproval     `json:"approval,omitempty"`
	Request       *operation.PreparedRequest `json:"request,omitempty"`
	NeedsApproval bool                       `json:"needs_approval,omitempty"`
	Message       string                     `json:"message,omitempty"`
}

// runTool runs a tool, waits for a run, or reads more of its output.
func (h *Handler) runTool(ctx context.Context, call *mcp.Call, arguments json.RawMessage) (*mcp.Result, error) {
	in := &runInput{MaxChars: defaultChars, TimeoutSeconds: defaultTimeout}
	if err := json.Unmarshal(arguments, in); err != nil {
		return nil, fmt.Errorf("reading arguments: %w", err)
	}
	return h.run(ctx, call, in)
}

// run starts or continues what in asks for.
func (h *Handler) run(ctx context.Context, call *mcp.Call, in *runInput) (*mcp.Result, error) {
	caller := gate.From(ctx)
	earlier, err := h.resume(ctx, call)
	switch {
	case err != nil:
		return nil, err
	case earlier != nil && earlier.Run != "":
		return h.approvalAnswered(ctx, call, earlier)
	case earlier != nil:
		s, done, err := h.awaitSession(ctx, call, earlier)
		switch {
		case err != nil:
			return nil, err
		case !done && earlier.Round < maxRounds:
			return h.askToConnect(ctx, call, s.App, *earlier)
		case s.Status != "connected":
			return nil, problem.New(problem.Conflict, "not_connected", sessionState(s).Message+" Nothing was run.").
				With("app", s.App).Advise("connect_app")
		}
	case in.OutputCursor != "":
		part, err := h.Operations.RunOutput(ctx, caller, in.RunID, in.OutputCursor)
		if err != nil {
			return nil, err
		}
		return structured(&runOutput{
			OK: true, Status: "succeeded", RunID: &part.RunID, Output: part.Output, Truncated: part.Truncated,
			Omitted: part.Omitted, Continues: part.Continues, NextCursor: part.NextCursor,
		})
	case in.RunID != "":
		run, err := h.Operations.WaitRun(ctx, caller, in.RunID, time.Duration(in.WaitSeconds)*time.Second)
		return h.shown(run, err)
	case in.Tool == "":
		return nil, problem.New(problem.Invalid, "invalid_arguments",
			"Name a tool with its arguments, or a run_id, or an output_cursor.").At("/tool").Advise("fix_arguments")
	}
	return h.start(ctx, call, in)
}

// start runs a tool.
func (h *Handler) start(ctx context.Context, call *mcp.Call, in *runInput) (*mcp.Result, error) {
	caller := gate.From(ctx)
	out, err := h.Operations.RunTool(ctx, caller, in.IdempotencyKey, in.Tool, false, &operation.RunRequest{
		Arguments: in.Arguments, ConnectionID: in.ConnectionID, TimeoutSeconds: in.TimeoutSeconds,
		Output: operation.OutputRequest{Fields: in.Fields, MaxBytes: in.MaxChars}, DryRun: in.DryRun,
	})
	if err != nil {
		return h.notStarted(ctx, call, in, err)
	}
	run := &out.Run
	switch {
	case run.Status == string(tool.AwaitingApproval) && call.Opens:
		return h.askToApprove(ctx, call, run, pending{})
	case run.Status == string(tool.Running) && caller.Permissions().Has(apikey.Read):
		return h.shown(h.Operations.WaitRun(ctx, caller, *run.RunID, answerWait))
	}
	return h.shown(run, nil)
}

// notStarted asks the user to sign in where that helps, and adds the input schema
// to what is wrong with the arguments, so that one more call suffices.
func (h *Handler) notStarted(ctx context.Context, call *mcp.Call, in *runInput, err error) (*mcp.Result, error) {
	p, ok := problem.From(err)
	if !ok {
		return nil, err
	}
	if link, ok := p.Members["connect"].(*tool.Link); ok {
		if call.Opens {
			app, _ := p.Members["app"].(string)
			return h.askToConnect(ctx, call, app, pending{Session: link.SessionID, URL: link.URL})
		}
		shown := *p
		shown.Members = maps.Clone(p.Members)
		delete(shown.Members, "connect")
		return nil, shown.With("connect_url", link.URL).With("session_id", link.SessionID)
	}
	if p.Code == "invalid_arguments" {
		if t, err := h.Operations.Tool(ctx, gate.From(ctx), in.Tool, "json_schema"); err == nil {
			return nil, p.With("input_schema", t.InputSchema)
		}
	}
	return nil, p
}

// askToApprove asks the user to decide on a run.
func (h *Handler) askToApprove(ctx context.Context, call *mcp.Call, run *operation.Run, p pending) (*mcp.Result,
	error,
) {
	p.Run, p.URL = *run.RunID, run.Approval.URL
	return h.ask(ctx, call, askApproval, "Approve or deny "+run.Tool+".", p)
}

// approvalAnswered continues a call whose user was asked to approve the run.
func (h *Handler) approvalAnswered(ctx context.Context, call *mcp.Call, p *pending) (*mcp.Result, error) {
	caller := gate.From(ctx)
	wait := time.Duration(0)
	switch call.Action(askApproval) {
	case "accept":
		wait = answerWait
	case "decline", "cancel":
		return h.shown(h.Operations.CancelRun(ctx, caller, p.Run))
	}
	run, err := h.Operations.WaitRun(ctx, caller, p.Run, wait)
	if err == nil && run.Status == string(tool.AwaitingApproval) && p.Round < maxRounds {
		return h.askToApprove(ctx, call, run, *p)
	}
	return h.shown(run, err)
}

// shown is the result of a run: an error where the app refused.
func (h *Handler) shown(run *operation.Run, err error) (*mcp.Result, error) {
	if err != nil {
		return nil, err
	}
	if run.Error != nil {
		return refused(run), nil
	}
	out := &runOutput{
		OK: run.OK, Status: run.Status, RunID: run.RunID, Output: run.Output, Truncated: run.Truncated,
		Omitted: run.Omitted, Continues: run.Continues, NextCursor: run.NextCursor,
		NextArguments: run.NextArguments, Files: run.Files, Approval: run.Approval, Request: run.Request,
		NeedsApproval: run.NeedsApproval,
	}
	switch run.Status {
	case string(tool.Running):
		out.Message = "It has not ended. Call run_tool with run_id and wait_seconds."
	case string(tool.AwaitingApproval):
		out.Message = "Show approval.url to the user, who decides there. Then call run_tool with run_id and " +
			"wait_seconds."
	}
	result, err := structured(out)
	if err != nil {
		return nil, err
	}
	for i := range run.Files {
		f := &run.Files[i]
		result.Links = append(result.Links, mcp.Link{URI: f.URL, Name: f.Name, MIMEType: f.MIMEType, Size: f.Size})
	}
	return result, nil
}

// refused is the result of a run that the app refused, or that was denied.
func refused(run *operation.Run) *mcp.Result {
	e := run.Error
	failure := map[string]any{
		"code": e.Code, "message": e.Detail, "next_action": e.NextAction, "retryable": e.Retryable,
		"status": run.Status, "run_id": run.RunID,
	}
	if e.RetryAfter > 0 {
		failure["retry_after_seconds"] = e.RetryAfter
	}
	if e.AppStatus > 0 {
		failure["app_status"], failure["app_body"] = e.AppStatus, e.AppBody
	}
	return errorResult(failure)
}

// encode encodes a value as compact JSON that leaves <, > and & as they are.
func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	if err := plainjson.NewEncoder(&buf).Encode(v); err != nil {
		return nil, fmt.Errorf("encoding a result: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}
