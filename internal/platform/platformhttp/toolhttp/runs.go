package toolhttp

import (
	"context"
	"net/http"
	"strings"

	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/reply"
)

type runInput struct {
	Tool   string               `path:"tool" maxLength:"200"`
	Key    string               `header:"Idempotency-Key" maxLength:"255" doc:"The same request with the same key is one run."`
	Prefer string               `header:"Prefer" maxLength:"200" doc:"respond-async: respond at once, continue afterwards."`
	Body   operation.RunRequest `required:"false"`
}

// runReply is the response for a run of any kind.
type runReply[T any] struct {
	Status    int
	Location  string `header:"Location"`
	Preferred string `header:"Preference-Applied"`
	Replayed  string `header:"Idempotency-Replayed"`
	Body      *T
}

// replyRun returns the response for a run: 202 with its location where it
// continues. id is nil for a dry run.
func replyRun[T any](body *T, id *string, state operation.RunState, prefersAsync bool) *runReply[T] {
	out := &runReply[T]{Status: http.StatusOK, Replayed: reply.Replayed(state.Replayed), Body: body}
	if prefersAsync && state.Async {
		out.Preferred = "respond-async"
	}
	if state.Continues && id != nil {
		out.Status, out.Location = http.StatusAccepted, "/api/v1/runs/"+*id
	}
	return out
}

func (h *Handler) run(ctx context.Context, in *runInput) (*runReply[operation.Run], error) {
	async := prefersAsync(in.Prefer)
	out, err := h.Operations.RunTool(ctx, gate.From(ctx), in.Key, in.Tool, async, &in.Body)
	if err != nil {
		return nil, err
	}
	return replyRun(&out.Run, out.RunID, out.RunState, async), nil
}

// prefersAsync reads a header Prefer (RFC 7240).
func prefersAsync(prefer string) bool {
	for one := range strings.SplitSeq(prefer, ",") {
		name, _, _ := strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(name), "respond-async") {
			return true
		}
	}
	return false
}

func (h *Handler) request(ctx context.Context, in *struct {
	reply.ByApp
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"The same request with the same key is sent once."`
	Body operation.FreeRequest
},
) (*runReply[operation.FreeAnswer], error) {
	out, err := h.Operations.RequestApp(ctx, gate.From(ctx), in.Key, in.App, &in.Body)
	if err != nil {
		return nil, err
	}
	return replyRun(&out.FreeAnswer, &out.RunID, out.RunState, false), nil
}

func (h *Handler) listRuns(ctx context.Context, in *operation.ListRunsRequest) (*reply.Page[operation.RunList], error) {
	page, err := h.Operations.ListRuns(ctx, gate.From(ctx), *in)
	return reply.List(ctx, h.BaseURL, page, err)
}

func (h *Handler) getRun(ctx context.Context, in *reply.ByID) (*reply.Body[operation.Run], error) {
	return reply.With(h.Operations.Run(ctx, gate.From(ctx), in.ID))
}

func (h *Handler) output(ctx context.Context, in *struct {
	reply.ByID
	Cursor string `query:"cursor" maxLength:"8192" doc:"next_output_cursor of the part before. Empty: the first part."`
},
) (*reply.Body[operation.Output], error) {
	return reply.With(h.Operations.RunOutput(ctx, gate.From(ctx), in.ID, in.Cursor))
}

func (h *Handler) cancel(ctx context.Context, in *reply.ByID) (*reply.Body[operation.Run], error) {
	return reply.With(h.Operations.CancelRun(ctx, gate.From(ctx), in.ID))
}

func (h *Handler) usage(ctx context.Context, in *operation.UsageRequest) (*reply.Body[operation.Usage], error) {
	return reply.With(h.Operations.Usage(ctx, gate.From(ctx), *in))
}

func (h *Handler) listApprovals(ctx context.Context, _ *struct{}) (*reply.Body[operation.WaitingList], error) {
	return reply.With(h.Operations.ListApprovals(ctx, gate.From(ctx)))
}

func (h *Handler) getApproval(ctx context.Context, in *reply.ByID) (*reply.Body[operation.Waiting], error) {
	return reply.With(h.Operations.Approval(ctx, gate.From(ctx), in.ID))
}

func (h *Handler) decide(ctx context.Context, in *struct {
	reply.ByID
	Body operation.Decision
},
) (*reply.Body[operation.Waiting], error) {
	return reply.With(h.Operations.DecideApproval(ctx, gate.From(ctx), in.ID, in.Body))
}
