package a2ahttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/cursor"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/protocol/a2a"
	"ace/internal/storefront/storehttp/answer"
)

// keepFor is how long a task is kept after its last move.
const keepFor = time.Hour

// maxHistory is how many messages a task takes.
const maxHistory = 40

// maxRaces is how often a change is tried again because another was faster.
const maxRaces = 5

// Send takes a message. It implements a2a.Agent.
func (f *Handler) Send(ctx context.Context, call *a2a.Call, req *a2a.SendRequest) (*a2a.Task, error) {
	if err := checkModes(req.AcceptedOutputModes); err != nil {
		return nil, err
	}
	t, err := f.newTurn(ctx, call.Header, req)
	if err != nil {
		return nil, err
	}
	for range maxRaces {
		rec, err := f.takeTurn(ctx, t)
		if err == nil {
			return &rec.Task, nil
		}
		// The same message came twice at once, or the task moved meanwhile: what
		// there is now decides.
		if !errors.Is(err, a2a.ErrSent) && !errors.Is(err, a2a.ErrVersion) {
			return nil, err
		}
	}
	return nil, errBusy()
}

func errBusy() error {
	return problem.New(problem.Unavailable, "task_busy",
		"The task is being changed by other requests. Read it and try again in a moment.").After(time.Second)
}

// takeTurn handles a message once. It returns ErrSent or ErrVersion.
func (f *Handler) takeTurn(ctx context.Context, t *turn) (a2a.Record, error) {
	before, err := f.earlier(ctx, t)
	if err != nil {
		return a2a.Record{}, err
	}
	if before != nil {
		return f.again(ctx, t, *before)
	}
	rec, err := f.addressed(ctx, t)
	if err != nil {
		return rec, err
	}
	asked, fault := f.readAsk(&t.message)
	if fault != nil {
		return rec, fault
	}
	rec.Task.AddMessage(t.message)
	switch {
	case rec.Ref != "":
		return f.wait(ctx, t, rec, asked)
	case asked.unknown != "":
		return f.refuse(ctx, t, rec, asked.unknown)
	case asked.action == nil:
		return f.explain(ctx, t, rec)
	case asked.action.Do == nil:
		return f.sell(ctx, t, rec, asked)
	}
	return f.run(ctx, t, rec, asked)
}

// addressed returns the task that a message is for: a new one, or the one that
// it names.
func (f *Handler) addressed(ctx context.Context, t *turn) (a2a.Record, error) {
	if t.message.TaskID == "" {
		rec := a2a.Record{Task: a2a.NewTask(t.message.ContextID), Owner: t.owner}
		rec.Scope = f.scope(ctx, rec.Task.ContextID)
		return rec, nil
	}
	rec, err := f.task(ctx, t.message.TaskID)
	if err != nil {
		return rec, err
	}
	if id := t.message.ContextID; id != "" && id != rec.Task.ContextID {
		return rec, a2a.InvalidParams(a2a.FieldViolation{
			Field:       "message.contextId",
			Description: "The task is in another context. Leave contextId out, or send the one of the task.",
			Reason:      "MISMATCH",
		})
	}
	if rec, err = f.current(ctx, rec); err != nil {
		return rec, err
	}
	if state := rec.Task.Status.State; state.Terminal() {
		return rec, a2a.NewError(a2a.CodeUnsupportedOperation,
			"The task is over ("+string(state)+
				") and takes no more messages. Send one without taskId for another task.", "taskId", rec.Task.ID,
			"state", string(state))
	}
	if len(rec.Task.History) >= maxHistory {
		return rec, a2a.NewError(a2a.CodeUnsupportedOperation,
			"The task has "+strconv.Itoa(maxHistory)+
				" messages, which is the limit. Send one without taskId for another task.", "taskId", rec.Task.ID)
	}
	return rec, nil
}

// task reads a task by its id.
func (f *Handler) task(ctx context.Context, id string) (a2a.Record, error) {
	if !typeid.Valid("task", id) {
		return a2a.Record{}, a2a.TaskNotFound()
	}
	rec, err := f.Tasks.Task(ctx, id)
	if errors.Is(err, a2a.ErrNoTask) {
		return rec, a2a.TaskNotFound()
	}
	return rec, err
}

// storeTask stores a task as it is now: a new one, or a changed one. sent is nil
// where no message changed it.
func (f *Handler) storeTask(ctx context.Context, rec a2a.Record, sent *a2a.Sent) (a2a.Record, error) {
	if rec.ExpiresAt.Before(time.Now().Add(keepFor)) {
		rec.ExpiresAt = time.Now().Add(keepFor)
	}
	var err error
	if rec.Version == 0 {
		err = f.Tasks.Insert(ctx, rec, *sent)
	} else {
		err = f.Tasks.Save(ctx, rec, sent)
	}
	rec.Version++
	return rec, err
}

// settle moves a task on behalf of a message and keeps it.
func (f *Handler) settle(ctx context.Context, t *turn, rec a2a.Record, to a2a.State,
	parts ...a2a.Part,
) (a2a.Record, error) {
	if err := rec.Task.Move(to, time.Now(), parts...); err != nil {
		return rec, err
	}
	return f.storeTask(ctx, rec, &t.sent)
}

// again responds to a message that was sent before with its task as it is now.
// Interrupted work continues.
func (f *Handler) again(ctx context.Context, t *turn, rec a2a.Record) (a2a.Record, error) {
	if rec.Ref != "" && rec.Task.Status.State == a2a.Working {
		asked, fault := f.readAsk(&t.message)
		if fault == nil && asked.action != nil && asked.action.Do == nil {
			return f.open(ctx, t, rec, asked)
		}
	}
	return f.current(ctx, rec)
}

// explain asks for a structured request.
func (f *Handler) explain(ctx context.Context, t *turn, rec a2a.Record) (a2a.Record, error) {
	list, err := answer.JSON(map[string]any{"skills": f.listed(false)})
	if err != nil {
		return rec, err
	}
	var names []string
	for _, s := range f.skills {
		for _, a := range s.actions {
			names = append(names, a.Name+" ("+s.id+")")
		}
	}
	words := `This agent takes structured requests: send a data part such as {"skill":"site",` +
		`"action":"search_pages","input":{"query":"refund policy"}}. Actions: ` + strings.Join(
		names,
		", ",
	) + "."
	return f.settle(ctx, t, rec, a2a.InputRequired, a2a.TextPart(words), t.part(trimmed(list)))
}

func (f *Handler) refuse(ctx context.Context, t *turn, rec a2a.Record, why string) (a2a.Record, error) {
	list, err := answer.JSON(map[string]any{"skills": f.listed(false)})
	if err != nil {
		return rec, err
	}
	return f.settle(ctx, t, rec, a2a.Rejected, a2a.TextPart(why), t.part(trimmed(list)))
}

// run does an action of the site skill. What is wrong with the input, and what
// may pass, makes no task; any other refusal is what became of it.
func (f *Handler) run(ctx context.Context, t *turn, rec a2a.Record, asked ask) (a2a.Record, error) {
	result, err := asked.action.Do(ctx, t.header, asked.input)
	if err != nil {
		p := httpserver.ProblemOf(ctx, err)
		switch p.Kind {
		case problem.Malformed, problem.Invalid, problem.Forbidden, problem.Unprocessable:
			return rec, faults(p, asked.at)
		case problem.Internal, problem.RateLimited, problem.Unavailable, problem.Timeout:
			return rec, a2a.FromProblem(ctx, p)
		default:
		}
		parts, err := t.refusal(p)
		if err != nil {
			return rec, err
		}
		return f.settle(ctx, t, rec, a2a.Failed, parts...)
	}
	rec.Task.Artifacts = []a2a.Artifact{{
		ArtifactID: "result", Name: asked.action.Name,
		Parts: []a2a.Part{t.part(trimmed(result))},
	}}
	return f.settle(ctx, t, rec, a2a.Completed)
}

// refusal reports a problem as text and as data.
func (t *turn) refusal(p *problem.Problem) ([]a2a.Part, error) {
	data, err := answer.JSON(struct {
		Code       string         `json:"code"`
		Detail     string         `json:"detail"`
		Errors     []problem.Item `json:"errors,omitempty"`
		NextAction string         `json:"next_action,omitempty"`
	}{p.Code, p.Detail, p.Items, p.NextAction})
	if err != nil {
		return nil, err
	}
	return []a2a.Part{a2a.TextPart(p.Detail), t.part(trimmed(data))}, nil
}

func trimmed(data json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.TrimSpace(string(data)))
}

// Get returns a task as it is now. It implements a2a.Agent.
func (f *Handler) Get(ctx context.Context, _ *a2a.Call, req *a2a.GetRequest) (*a2a.Task, error) {
	rec, err := f.task(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	if rec, err = f.current(ctx, rec); err != nil {
		return nil, err
	}
	return &rec.Task, nil
}

// Cancel ends a task. It implements a2a.Agent.
func (f *Handler) Cancel(ctx context.Context, _ *a2a.Call, req *a2a.CancelRequest) (*a2a.Task, error) {
	for range maxRaces {
		rec, err := f.task(ctx, req.ID)
		if err != nil {
			return nil, err
		}
		if rec, err = f.current(ctx, rec); err != nil {
			return nil, err
		}
		if state := rec.Task.Status.State; state.Terminal() {
			return nil, a2a.NewError(a2a.CodeTaskNotCancelable, "The task is over already: "+string(state)+".",
				"taskId", rec.Task.ID, "state", string(state))
		}
		if rec.Ref != "" {
			rec, err = f.abandon(ctx, rec)
		} else if err = rec.Task.Move(a2a.Canceled, time.Now(), a2a.TextPart("The task was canceled.")); err == nil {
			rec, err = f.storeTask(ctx, rec, nil)
		}
		if err == nil {
			return &rec.Task, nil
		}
		if !errors.Is(err, a2a.ErrVersion) {
			return nil, err
		}
	}
	return nil, errBusy()
}

// maxWaiting is how many open checkouts of a context a list looks after.
const maxWaiting = 20

// List returns the tasks of one context; without one there are none. It
// implements a2a.Agent.
func (f *Handler) List(ctx context.Context, _ *a2a.Call, req *a2a.ListRequest) (*a2a.TaskPage, error) {
	page := &a2a.TaskPage{Tasks: []a2a.Task{}, PageSize: req.PageSize}
	if req.ContextID == "" {
		return page, nil
	}
	q := a2a.Query{Scope: f.scope(ctx, req.ContextID), State: req.State, Since: req.Since, Limit: req.PageSize + 1}
	list := fmt.Sprintf("a2a tasks %q %q %d", q.Scope, q.State, q.Since.UnixMilli())
	var err error
	if q.After, err = position(list, req.PageToken); err != nil {
		return nil, err
	}
	waiting, _, err := f.Tasks.List(ctx, a2a.Query{Scope: q.Scope, Waiting: true, Limit: maxWaiting})
	if err != nil {
		return nil, err
	}
	for _, rec := range waiting {
		if _, err := f.current(ctx, rec); err != nil {
			return nil, err
		}
	}
	records, total, err := f.Tasks.List(ctx, q)
	if err != nil {
		return nil, err
	}
	page.TotalSize = total
	for i, rec := range records {
		if i == req.PageSize {
			last := records[i-1].Task
			page.NextPageToken = cursor.Encode(list,
				strconv.FormatInt(last.Status.Timestamp.UnixMilli(), 10)+" "+last.ID)
			break
		}
		page.Tasks = append(page.Tasks, rec.Task)
	}
	return page, nil
}

func position(list, token string) (a2a.Position, error) {
	bad := a2a.InvalidParams(a2a.FieldViolation{
		Field:       "pageToken",
		Description: "This token does not belong to this list. Leave it out to start at the first page.",
		Reason:      "INVALID_TOKEN",
	})
	text, err := cursor.Decode(list, token)
	if err != nil {
		return a2a.Position{}, bad
	}
	if text == "" {
		return a2a.Position{}, nil
	}
	millis, id, _ := strings.Cut(text, " ")
	at, err := strconv.ParseInt(millis, 10, 64)
	if err != nil {
		return a2a.Position{}, bad
	}
	return a2a.Position{At: time.UnixMilli(at).UTC(), ID: id}, nil
}
