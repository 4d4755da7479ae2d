package toolhttp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ace/internal/foundation/cursor"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/listing"
	"ace/internal/platform/tool"
)

// RunRequest says how a tool is to be run.
type RunRequest struct {
	// Arguments is an object that fits the tool's schema.
	Arguments      json.RawMessage `json:"arguments,omitempty" doc:"An object that fits the tool's input_schema."`
	ConnectionID   string          `json:"connection_id,omitempty" maxLength:"64" doc:"Empty: the default connection of the app."`
	EndUser        string          `json:"end_user,omitempty" maxLength:"200" doc:"Your own user whose connection it goes over."`
	TimeoutSeconds int             `json:"timeout_seconds,omitempty" minimum:"1" maximum:"300" doc:"Default 60. Above 60 the run is answered at once and goes on."`
	Output         OutputRequest   `json:"output,omitzero"`
	DryRun         bool            `json:"dry_run,omitempty" doc:"Check everything, show the request, send nothing."`
}

// OutputRequest says how an output is told.
type OutputRequest struct {
	Fields   []string `json:"fields,omitempty" maxItems:"50" doc:"Dot paths to keep, such as items.subject. Lists are looked through."`
	MaxBytes int      `json:"max_bytes,omitempty" minimum:"500" maximum:"4194304" doc:"Of one part. Default 1 MiB."`
}

func (r *RunRequest) request(id string) tool.Request {
	return tool.Request{
		Tool: id, Arguments: r.Arguments, ConnectionID: r.ConnectionID, EndUser: r.EndUser, Timeout: time.Duration(r.TimeoutSeconds) * time.Second,
		Output: tool.Shape{Fields: r.Output.Fields, MaxBytes: r.Output.MaxBytes}, DryRun: r.DryRun,
	}
}

type runInput struct {
	Tool   string     `path:"tool" maxLength:"200"`
	Key    string     `header:"Idempotency-Key" maxLength:"255" doc:"The same request under the same key is one run."`
	Prefer string     `header:"Prefer" maxLength:"200" doc:"respond-async: answer at once, go on afterwards."`
	Body   RunRequest `required:"false"`
}

type runOutput struct {
	Status    int
	Location  string `header:"Location"`
	Preferred string `header:"Preference-Applied"`
	Replayed  string `header:"Idempotency-Replayed"`
	Body      Run
}

func (f *Face) run(ctx context.Context, in *runInput) (*runOutput, error) {
	wanted := in.Body.request(in.Tool)
	wanted.Async = prefersAsync(in.Prefer)
	res, replayed, err := f.runOnce(ctx, in.Key, "run "+in.Tool, in.Body, wanted)
	if err != nil {
		return nil, err
	}
	out := &runOutput{Status: http.StatusOK, Replayed: replayed, Body: f.wireRun(res)}
	f.goesOn(res, wanted.Async, &out.Status, &out.Location, &out.Preferred)
	return out, nil
}

// goesOn sets what tells the caller where a run is watched that is not over.
func (f *Face) goesOn(res *tool.Result, preferred bool, status *int, location, applied *string) {
	if preferred && res.Run.Async {
		*applied = "respond-async"
	}
	if res.Run.Status != "" && !res.Run.Status.Over() {
		*status, *location = http.StatusAccepted, "/api/v1/runs/"+res.Run.ID
	}
}

// runOnce runs a tool, or answers the run that a request with the same key made.
func (f *Face) runOnce(ctx context.Context, key, operation string, body any, wanted tool.Request) (res *tool.Result, replayed string, err error) {
	by := gate.From(ctx)
	c := caller(by)
	if wanted.DryRun || key == "" {
		res, err = f.Tools.Run(ctx, c, wanted)
		return res, "", err
	}
	request := struct {
		Body  any
		Async bool
	}{body, wanted.Async}
	made, err := f.Once.Make(ctx, by.Account+" "+by.Key.ID+" "+operation, key, request, tool.NewRunID, func(id string) error {
		wanted.RunID = id
		var err error
		res, err = f.Tools.Run(ctx, c, wanted)
		return err
	})
	switch {
	case problem.Is(err, "run_in_progress"):
		p, _ := problem.From(err)
		return nil, "", problem.New(problem.Conflict, "idempotency_in_progress", p.Detail).After(p.RetryAfter).With("run_id", p.Members["run_id"]).Advise("retry_later")
	case err != nil:
		return nil, "", err
	case res == nil:
		res, err = f.Tools.Get(ctx, c, made.ID)
	}
	return res, made.Replayed, err
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

// FreeRequest is a request of the caller's own making.
type FreeRequest struct {
	Method string `json:"method,omitempty" enum:"GET,POST,PUT,PATCH,DELETE,HEAD" doc:"Default GET."`
	Path   string `json:"path" maxLength:"2000" doc:"Behind the address of the app's API, with a slash at its beginning."`
	// Query values are texts, numbers, truths, or lists of these.
	Query   map[string]any    `json:"query,omitempty" doc:"A list repeats its name."`
	Headers map[string]string `json:"headers,omitempty" doc:"Credentials are added and cannot be replaced."`
	// Body is any JSON.
	Body           json.RawMessage `json:"body,omitempty" doc:"An object or a list goes out as JSON, a text as it is."`
	ConnectionID   string          `json:"connection_id,omitempty" maxLength:"64"`
	EndUser        string          `json:"end_user,omitempty" maxLength:"200"`
	TimeoutSeconds int             `json:"timeout_seconds,omitempty" minimum:"1" maximum:"60"`
}

// FreeAnswer is what the app answered to a request of the caller's own making.
type FreeAnswer struct {
	RunID     string            `json:"run_id"`
	RunStatus string            `json:"run_status" enum:"awaiting_approval,running,succeeded,failed,cancelled,denied,interrupted"`
	Status    int               `json:"status" doc:"Of HTTP; 0: the app did not answer."`
	Headers   map[string]string `json:"headers"`
	// Body is any JSON.
	Body      json.RawMessage            `json:"body" doc:"The body, decoded where it is JSON; null where it is a file, or there is none."`
	File      openapi.Nullable[File]     `json:"file"`
	Truncated bool                       `json:"truncated"`
	Cursor    *string                    `json:"next_output_cursor" nullable:"true"`
	Error     openapi.Nullable[RunError] `json:"error"`
	Approval  *RunApproval               `json:"approval,omitempty"`
}

type freeInput struct {
	App  string `path:"app" maxLength:"64"`
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"The same request under the same key is sent once."`
	Body FreeRequest
}

type freeOutput struct {
	Status    int
	Location  string `header:"Location"`
	Preferred string `header:"Preference-Applied"`
	Replayed  string `header:"Idempotency-Replayed"`
	Body      FreeAnswer
}

func (f *Face) request(ctx context.Context, in *freeInput) (*freeOutput, error) {
	a, err := f.Tools.Apps.App(ctx, gate.From(ctx).Account, in.App)
	if err != nil {
		return nil, err
	}
	arguments, err := in.Body.arguments()
	if err != nil {
		return nil, err
	}
	wanted := tool.Request{
		Tool: app.ToolID(a.ID, app.NameRequest), Arguments: arguments, ConnectionID: in.Body.ConnectionID, EndUser: in.Body.EndUser,
		Timeout: time.Duration(in.Body.TimeoutSeconds) * time.Second,
	}
	res, replayed, err := f.runOnce(ctx, in.Key, "request "+in.App, in.Body, wanted)
	if err != nil {
		return nil, err
	}
	out := &freeOutput{Status: http.StatusOK, Replayed: replayed, Body: f.wireFree(res)}
	f.goesOn(res, false, &out.Status, &out.Location, &out.Preferred)
	return out, nil
}

func (r *FreeRequest) arguments() (json.RawMessage, error) {
	return json.Marshal(struct {
		Method  string            `json:"method,omitempty"`
		Path    string            `json:"path"`
		Query   map[string]any    `json:"query,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
		Body    json.RawMessage   `json:"body,omitempty"`
	}{r.Method, r.Path, r.Query, r.Headers, r.Body})
}

func (f *Face) wireFree(res *tool.Result) FreeAnswer {
	r := res.Run
	out := FreeAnswer{
		RunID: r.ID, RunStatus: string(r.Status), Status: r.AppStatus, Headers: map[string]string{}, Body: json.RawMessage("null"), Truncated: res.Cursor != "", Cursor: text(res.Cursor),
		Error: openapi.NullableOf(wireFailure(res.Failure)),
	}
	var inside struct {
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	}
	if json.Unmarshal(res.Output, &inside) == nil {
		if inside.Headers != nil {
			out.Headers = inside.Headers
		}
		if inside.Body != nil {
			out.Body = inside.Body
		}
	}
	if len(res.Files) > 0 {
		file := f.wireFile(res.Files[0])
		out.File = openapi.NullableOf(&file)
	}
	if r.Approval.ID != "" {
		out.Approval = f.wireApproval(r)
	}
	return out
}

// RunList is a page of runs.
type RunList struct {
	listing.Counted
	Runs       []Run   `json:"runs"`
	NextCursor *string `json:"next_cursor" nullable:"true"`
}

type runsInput struct {
	Tool         string `query:"tool" maxLength:"64"`
	App          string `query:"app" maxLength:"64"`
	Status       string `query:"status" enum:"awaiting_approval,running,succeeded,failed,cancelled,denied,interrupted"`
	ConnectionID string `query:"connection_id" maxLength:"64"`
	KeyID        string `query:"key_id" maxLength:"64" doc:"Only runs of this key."`
	EndUser      string `query:"end_user" maxLength:"200"`
	Limit        int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor       string `query:"cursor" maxLength:"200"`
	listing.Include
}

type runsOutput struct {
	listing.Linked
	Body RunList
}

// query is the request as an address has it, without the page.
func (in *runsInput) query() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{
		"tool": in.Tool, "app": in.App, "status": in.Status, "connection_id": in.ConnectionID, "key_id": in.KeyID, "end_user": in.EndUser,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

func (f *Face) listRuns(ctx context.Context, in *runsInput) (*runsOutput, error) {
	which := "runs?" + in.query().Encode()
	before, err := cursor.Decode(which, in.Cursor)
	if err != nil {
		return nil, err
	}
	by := caller(gate.From(ctx))
	q := tool.Query{Tool: in.Tool, App: in.App, Status: in.Status, ConnectionID: in.ConnectionID, KeyID: in.KeyID, EndUser: in.EndUser, Before: before, Limit: in.Limit}
	found, err := f.Tools.List(ctx, by, q)
	if err != nil {
		return nil, err
	}
	out := &runsOutput{Body: RunList{Runs: []Run{}}}
	for _, r := range found {
		one := f.wireRun(&tool.Result{Run: r})
		if r.Code != "" {
			one.Error = openapi.NullableOf(&RunError{Code: r.Code, Detail: "Read the run for what was said.", AppStatus: r.AppStatus, NextAction: "none"})
		}
		out.Body.Runs = append(out.Body.Runs, one)
	}
	if len(found) == in.Limit {
		next := cursor.Encode(which, found[len(found)-1].ID)
		out.Body.NextCursor, out.Linked = &next, listing.Next(ctx, f.BaseURL, &next)
	}
	out.Body.Counted, err = in.Total(func() (int, error) { return f.Tools.Count(ctx, by, q) })
	return out, err
}

type idInput struct {
	ID string `path:"id" maxLength:"64"`
}

func (f *Face) getRun(ctx context.Context, in *idInput) (*body[Run], error) {
	res, err := f.Tools.Get(ctx, caller(gate.From(ctx)), in.ID)
	if err != nil {
		return nil, err
	}
	return &body[Run]{f.wireRun(res)}, nil
}

// Output is a part of an output.
type Output struct {
	RunID string `json:"run_id"`
	// Output is any JSON.
	Output     json.RawMessage `json:"output"`
	Truncated  bool            `json:"truncated"`
	Omitted    map[string]int  `json:"omitted,omitempty"`
	Continues  string          `json:"continues,omitempty" doc:"JSON Pointer of the value at which this part goes on."`
	NextCursor *string         `json:"next_output_cursor" nullable:"true"`
}

type outputInput struct {
	ID     string `path:"id" maxLength:"64"`
	Cursor string `query:"cursor" maxLength:"8192" doc:"next_output_cursor of the part before. Empty: the first part."`
}

func (f *Face) output(ctx context.Context, in *outputInput) (*body[Output], error) {
	res, err := f.Tools.Output(ctx, caller(gate.From(ctx)), in.ID, in.Cursor)
	if err != nil {
		return nil, err
	}
	out := &body[Output]{Output{
		RunID: res.Run.ID, Output: res.Output, Truncated: res.Cursor != "", Omitted: res.Omitted, Continues: res.Continues, NextCursor: text(res.Cursor),
	}}
	if out.Body.Output == nil {
		out.Body.Output = json.RawMessage("null")
	}
	return out, nil
}

func (f *Face) cancel(ctx context.Context, in *idInput) (*body[Run], error) {
	res, err := f.Tools.Cancel(ctx, caller(gate.From(ctx)), in.ID)
	if err != nil {
		return nil, err
	}
	return &body[Run]{f.wireRun(res)}, nil
}
