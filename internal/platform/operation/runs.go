package operation

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"ace/internal/foundation/cursor"
	"ace/internal/platform/app"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
)

// Run is a run, and as much of its output as fits.
type Run struct {
	RunID        *string `json:"run_id" nullable:"true" doc:"null for a dry run, which is not stored."`
	Tool         string  `json:"tool"`
	App          string  `json:"app"`
	ConnectionID *string `json:"connection_id" nullable:"true"`
	EndUser      *string `json:"end_user" nullable:"true"`
	Status       string  `json:"status" enum:"awaiting_approval,running,succeeded,failed,canceled,denied,interrupted,dry_run" doc:"interrupted: the platform stopped in the middle; it may have been carried out."`
	OK           bool    `json:"ok" doc:"Whether the app did what it was asked."`
	// Output is any JSON.
	Output        json.RawMessage  `json:"output" doc:"The app's response; null where there is none, or none yet."`
	Truncated     bool             `json:"truncated" doc:"There is more of the output: read it with next_output_cursor."`
	OutputBytes   int              `json:"output_bytes" doc:"Of the whole output."`
	Omitted       map[string]int   `json:"omitted,omitempty" doc:"What is missing here, by dot path: entries of lists, fields of objects, characters of texts."`
	Continues     string           `json:"continues,omitempty" doc:"JSON Pointer of the value where this part continues."`
	NextCursor    *string          `json:"next_output_cursor" nullable:"true"`
	OutputExpired bool             `json:"output_expired,omitempty" doc:"There was an output; it was stored for 24 hours."`
	NextArguments map[string]any   `json:"next_arguments" nullable:"true" doc:"Arguments that read the next page of the app."`
	Files         []File           `json:"files"`
	AppResponse   *AppResponse     `json:"app_response" null:"true"`
	Error         *RunError        `json:"error" null:"true"`
	Attempts      int              `json:"attempts" doc:"Calls to the app."`
	DurationMS    int64            `json:"duration_ms"`
	CreatedAt     time.Time        `json:"created_at"`
	StartedAt     *time.Time       `json:"started_at" nullable:"true"`
	Approval      *RunApproval     `json:"approval,omitempty" doc:"The approval that it waits, or waited, for."`
	Request       *PreparedRequest `json:"request,omitempty" doc:"Of a dry run: what would be sent, without secrets."`
	NeedsApproval bool             `json:"needs_approval,omitempty" doc:"Of a dry run: a person would have to approve it first."`
}

// AppResponse is the app's HTTP response.
type AppResponse struct {
	Status int `json:"status" doc:"Of HTTP."`
}

// RunError is what went wrong in a run.
type RunError struct {
	Code       string `json:"code" doc:"app_bad_request, app_unauthorized, app_forbidden, app_not_found, app_conflict, app_rate_limited, app_unavailable, app_timeout, app_response_invalid; or what ended the run."`
	Detail     string `json:"detail"`
	AppStatus  int    `json:"app_status,omitempty"`
	AppBody    string `json:"app_body,omitempty" doc:"At most 4 KB."`
	Retryable  bool   `json:"retryable"`
	RetryAfter int    `json:"retry_after_seconds,omitempty"`
	NextAction string `json:"next_action"`
}

// RunApproval is a person's approval of a run.
type RunApproval struct {
	ID        string     `json:"id"`
	URL       string     `json:"url" doc:"Where a person of the account decides."`
	ExpiresAt time.Time  `json:"expires_at"`
	DecidedAt *time.Time `json:"decided_at" nullable:"true"`
	Reason    string     `json:"reason,omitempty"`
}

// PreparedRequest is a request that was not sent.
type PreparedRequest struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body,omitempty"`
}

// File is a file that went into a run or came out of one.
type File struct {
	FileID    string    `json:"file_id"`
	Name      string    `json:"name"`
	MIMEType  string    `json:"mime_type"`
	Size      int64     `json:"size" doc:"Bytes."`
	SHA256    string    `json:"sha256"`
	ExpiresAt time.Time `json:"expires_at"`
	URL       string    `json:"url" doc:"Opens the file for an hour, without a key."`
}

func (s *Service) showRun(res *tool.Result) Run {
	r := res.Run
	out := Run{
		RunID: optionalText(
			r.ID,
		),
		Tool:          r.Tool,
		App:           r.App,
		ConnectionID:  optionalText(r.ConnectionID),
		EndUser:       optionalText(r.EndUser),
		Status:        string(r.Status),
		OK:            res.OK(),
		Output:        res.Output,
		Truncated:     res.Cursor != "",
		OutputBytes:   r.OutputBytes,
		Omitted:       res.Omitted,
		Continues:     res.Continues,
		NextCursor:    optionalText(res.Cursor),
		OutputExpired: res.Expired,
		NextArguments: res.Next,
		Files:         []File{},
		Error:         showFailure(res.Failure),
		Attempts:      r.Attempts,
		DurationMS:    r.Duration(time.Now()).Milliseconds(),
		CreatedAt:     inSeconds(r.CreatedAt),
		StartedAt:     optionalTime(r.StartedAt),
		NeedsApproval: res.NeedsApproval,
	}
	if r.Status == "" {
		out.Status, out.OK, out.RunID = "dry_run", true, nil
	}
	if out.Output == nil {
		out.Output = json.RawMessage("null")
	}
	for _, file := range res.Files {
		out.Files = append(out.Files, s.showFile(file))
	}
	if r.AppStatus > 0 {
		out.AppResponse = &AppResponse{r.AppStatus}
	}
	if r.Approval.ID != "" {
		out.Approval = s.showApproval(r)
	}
	if p := res.Preview; p != nil {
		out.Request = &PreparedRequest{p.Method, p.URL, p.Headers, p.Body}
	}
	return out
}

func showFailure(failure *tool.Failure) *RunError {
	if failure == nil {
		return nil
	}
	return &RunError{
		Code: failure.Code, Detail: failure.Detail, AppStatus: failure.AppStatus, AppBody: failure.AppBody,
		Retryable:  failure.Retryable,
		RetryAfter: int(math.Ceil(failure.RetryAfter.Seconds())), NextAction: failure.NextAction,
	}
}

func (s *Service) showApproval(r *tool.Run) *RunApproval {
	return &RunApproval{
		ID: r.Approval.ID, URL: s.baseURL + "/approvals/" + r.Approval.ID, ExpiresAt: inSeconds(r.Approval.ExpiresAt),
		DecidedAt: optionalTime(r.Approval.DecidedAt), Reason: r.Approval.Reason,
	}
}

func (s *Service) showFile(info *file.Info) File {
	return File{
		FileID: info.ID, Name: info.Name, MIMEType: info.MediaType, Size: info.Size, SHA256: info.SHA256,
		ExpiresAt: inSeconds(info.ExpiresAt), URL: s.Tools.Files.URL(info),
	}
}

// RunRequest says how a tool is run.
type RunRequest struct {
	// Arguments is an object that fits the tool's schema.
	Arguments      json.RawMessage `json:"arguments,omitempty" doc:"An object that fits the tool's input_schema." example:"{\"title\":\"Milk\"}"`
	ConnectionID   string          `json:"connection_id,omitempty" maxLength:"64" doc:"Empty: the default connection of the app."`
	EndUser        string          `json:"end_user,omitempty" maxLength:"200" doc:"Your own user whose connection is used."`
	TimeoutSeconds int             `json:"timeout_seconds,omitempty" minimum:"1" maximum:"300" default:"60" doc:"Above 60 the response is 202 at once, and the run continues."`
	Output         OutputRequest   `json:"output,omitzero"`
	DryRun         bool            `json:"dry_run,omitempty" doc:"Check everything, show the request, send nothing."`
}

// OutputRequest says how an output is returned.
type OutputRequest struct {
	Fields   []string `json:"fields,omitempty" maxItems:"50" doc:"Dot paths to return, such as items.subject. Lists are searched."`
	MaxBytes int      `json:"max_bytes,omitempty" minimum:"500" maximum:"4194304" default:"1048576" doc:"Of one part."`
}

func (r *RunRequest) request(id string) tool.Request {
	return tool.Request{
		Tool: id, Arguments: r.Arguments, ConnectionID: r.ConnectionID, EndUser: r.EndUser,
		Timeout: time.Duration(r.TimeoutSeconds) * time.Second,
		Output:  tool.Shape{Fields: r.Output.Fields, MaxBytes: r.Output.MaxBytes}, DryRun: r.DryRun,
	}
}

// FreeRequest is a raw request to an app's API.
type FreeRequest struct {
	Method string `json:"method,omitempty" enum:"GET,POST,PUT,PATCH,DELETE,HEAD" default:"GET"`
	Path   string `json:"path" maxLength:"2000" doc:"Below the base URL of the app's API, with a slash at its beginning."`
	// Query values are texts, numbers, truths, or lists of these.
	Query   map[string]any    `json:"query,omitempty" doc:"A list repeats its name."`
	Headers map[string]string `json:"headers,omitempty" doc:"Credentials are added and cannot be replaced."`
	// Body is any JSON.
	Body           json.RawMessage `json:"body,omitempty" doc:"An object or a list goes out as JSON, a text as it is."`
	ConnectionID   string          `json:"connection_id,omitempty" maxLength:"64"`
	EndUser        string          `json:"end_user,omitempty" maxLength:"200"`
	TimeoutSeconds int             `json:"timeout_seconds,omitempty" minimum:"1" maximum:"60"`
}

// FreeAnswer is the app's response to a raw request.
type FreeAnswer struct {
	RunID     string            `json:"run_id"`
	RunStatus string            `json:"run_status" enum:"awaiting_approval,running,succeeded,failed,canceled,denied,interrupted"`
	Status    int               `json:"status" doc:"Of HTTP; 0: the app did not respond."`
	Headers   map[string]string `json:"headers"`
	// Body is any JSON.
	Body      json.RawMessage `json:"body" doc:"The body, decoded where it is JSON; null where it is a file, or there is none."`
	File      *File           `json:"file" null:"true"`
	Truncated bool            `json:"truncated"`
	Cursor    *string         `json:"next_output_cursor" nullable:"true"`
	Error     *RunError       `json:"error" null:"true"`
	Approval  *RunApproval    `json:"approval,omitempty"`
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

func (s *Service) showFree(res *tool.Result) FreeAnswer {
	r := res.Run
	out := FreeAnswer{
		RunID: r.ID, RunStatus: string(r.Status), Status: r.AppStatus, Headers: map[string]string{},
		Body: json.RawMessage("null"), Truncated: res.Cursor != "", Cursor: optionalText(res.Cursor),
		Error: showFailure(res.Failure),
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
		one := s.showFile(res.Files[0])
		out.File = &one
	}
	if r.Approval.ID != "" {
		out.Approval = s.showApproval(r)
	}
	return out
}

// RunList is a page of runs.
type RunList struct {
	Runs []Run `json:"runs"`
	Paged
}

// Output is a part of an output.
type Output struct {
	RunID string `json:"run_id"`
	// Output is any JSON.
	Output     json.RawMessage `json:"output"`
	Truncated  bool            `json:"truncated"`
	Omitted    map[string]int  `json:"omitted,omitempty"`
	Continues  string          `json:"continues,omitempty" doc:"JSON Pointer of the value where this part continues."`
	NextCursor *string         `json:"next_output_cursor" nullable:"true"`
}

// RunOutcome is what became of a request to run a tool.
type RunOutcome struct {
	Run
	RunState
}

// FreeOutcome is what became of a raw request.
type FreeOutcome struct {
	FreeAnswer
	RunState
}

// RunState is what a transport reports beside the run.
type RunState struct {
	Continues bool // the run has not ended: it can be read by its id
	Async     bool // nobody waits for it
	Replayed  bool // by an earlier request with the same idempotency key
}

func stateOf(res *tool.Result) RunState {
	return RunState{
		Continues: res.Run.Status != "" && !res.Run.Status.Ended(), Async: res.Run.Async, Replayed: res.Replayed,
	}
}

// toolCaller is the caller as package tool knows it.
func (c *Caller) toolCaller() *tool.Caller {
	return &tool.Caller{AccountID: c.Account, Key: c.Key, Actor: c.Actor}
}

// RunTool runs a tool. async: the caller does not wait for the end. Its problems
// are those of tool.Service.Run: the platform refused, and nothing was sent. What
// the app refused is a run whose OK is false.
func (s *Service) RunTool(ctx context.Context, c *Caller, idempotencyKey, toolID string, async bool,
	in *RunRequest,
) (*RunOutcome, error) {
	if err := Authorize(c, RunTool); err != nil {
		return nil, err
	}
	request := in.request(toolID)
	request.Async, request.IdempotencyKey = async, idempotencyKey
	res, err := s.Tools.Run(ctx, c.toolCaller(), request)
	if err != nil {
		return nil, err
	}
	return &RunOutcome{s.showRun(res), stateOf(res)}, nil
}

// RequestApp sends a raw request to an app. Its problems are those of
// tool.Service.Run and app_not_found (NotFound).
func (s *Service) RequestApp(ctx context.Context, c *Caller, idempotencyKey, appID string,
	in *FreeRequest,
) (*FreeOutcome, error) {
	if err := Authorize(c, RequestApp); err != nil {
		return nil, err
	}
	a, err := s.Apps.App(ctx, c.Account, appID)
	if err != nil {
		return nil, err
	}
	arguments, err := in.arguments()
	if err != nil {
		return nil, err
	}
	res, err := s.Tools.Run(ctx, c.toolCaller(), tool.Request{
		Tool: app.ToolID(a.ID, app.NameRequest), Arguments: arguments, ConnectionID: in.ConnectionID,
		EndUser: in.EndUser, Timeout: time.Duration(in.TimeoutSeconds) * time.Second, IdempotencyKey: idempotencyKey,
	})
	if err != nil {
		return nil, err
	}
	return &FreeOutcome{s.showFree(res), stateOf(res)}, nil
}

// ListRunsRequest selects runs. What is empty selects all.
type ListRunsRequest struct {
	Tool         string `query:"tool" json:"tool,omitempty" maxLength:"64"`
	App          string `query:"app" json:"app,omitempty" maxLength:"64"`
	Status       string `query:"status" json:"status,omitempty" enum:"awaiting_approval,running,succeeded,failed,canceled,denied,interrupted"`
	ConnectionID string `query:"connection_id" json:"connection_id,omitempty" maxLength:"64"`
	KeyID        string `query:"key_id" json:"key_id,omitempty" maxLength:"64" doc:"Only runs of this key."`
	EndUser      string `query:"end_user" json:"end_user,omitempty" maxLength:"200"`
	Limit        int    `query:"limit" json:"limit,omitempty" minimum:"1" maximum:"200" default:"50"`
	Cursor       string `query:"cursor" json:"cursor,omitempty" maxLength:"200" doc:"next_cursor of the page before."`
	Include
}

// ListRuns returns runs, newest first, without outputs. Its problem is
// invalid_cursor (Invalid).
func (s *Service) ListRuns(ctx context.Context, c *Caller, in ListRunsRequest) (*RunList, error) {
	if err := Authorize(c, ListRuns); err != nil {
		return nil, err
	}
	list := filters("runs", in.Tool, in.App, in.Status, in.ConnectionID, in.KeyID, in.EndUser)
	before, err := cursor.Decode(list, in.Cursor)
	if err != nil {
		return nil, err
	}
	by := c.toolCaller()
	q := tool.Query{
		Tool: in.Tool, App: in.App, Status: in.Status, ConnectionID: in.ConnectionID, KeyID: in.KeyID,
		EndUser: in.EndUser, Before: before, Limit: limited(in.Limit, 50, 200),
	}
	found, err := s.Tools.List(ctx, by, q)
	if err != nil {
		return nil, err
	}
	out := &RunList{Runs: []Run{}}
	for _, r := range found {
		one := s.showRun(&tool.Result{Run: r})
		if r.Code != "" {
			one.Error = &RunError{
				Code: r.Code, Detail: "Read the run for the details.", AppStatus: r.AppStatus, NextAction: "none",
			}
		}
		out.Runs = append(out.Runs, one)
	}
	if len(found) == q.Limit {
		next := cursor.Encode(list, found[len(found)-1].ID)
		out.NextCursor = &next
	}
	out.Counted, err = in.Total(func() (int, error) { return s.Tools.Count(ctx, by, q) })
	return out, err
}

// Run returns a run with its output. Its problem is run_not_found (NotFound).
func (s *Service) Run(ctx context.Context, c *Caller, id string) (*Run, error) {
	if err := Authorize(c, GetRun); err != nil {
		return nil, err
	}
	res, err := s.Tools.Get(ctx, c.toolCaller(), id)
	return s.shownRun(res, err)
}

// WaitRun returns a run with its output as soon as it has ended, or as it is after
// wait, at most 30 s. Its problem is run_not_found (NotFound).
func (s *Service) WaitRun(ctx context.Context, c *Caller, id string, wait time.Duration) (*Run, error) {
	if err := Authorize(c, GetRun); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(min(wait, maxRunWait))
	for {
		res, err := s.Tools.Get(ctx, c.toolCaller(), id)
		if err != nil || res.Run.Status.Ended() || !time.Now().Add(waitRunEvery).Before(deadline) {
			return s.shownRun(res, err)
		}
		select {
		case <-ctx.Done():
			return s.shownRun(res, nil) // the caller left, or the request's time has passed
		case <-time.After(waitRunEvery):
		}
	}
}

const (
	maxRunWait   = 30 * time.Second
	waitRunEvery = 250 * time.Millisecond
)

// CancelRun ends a run. What the app has started it may complete. Its problems
// are those of tool.Service.Cancel.
func (s *Service) CancelRun(ctx context.Context, c *Caller, id string) (*Run, error) {
	if err := Authorize(c, CancelRun); err != nil {
		return nil, err
	}
	res, err := s.Tools.Cancel(ctx, c.toolCaller(), id)
	return s.shownRun(res, err)
}

func (s *Service) shownRun(res *tool.Result, err error) (*Run, error) {
	if err != nil {
		return nil, err
	}
	run := s.showRun(res)
	return &run, nil
}

// RunOutput returns a part of an output; it runs nothing again. Its problems are
// those of tool.Service.Output.
func (s *Service) RunOutput(ctx context.Context, c *Caller, id, position string) (*Output, error) {
	if err := Authorize(c, GetRunOutput); err != nil {
		return nil, err
	}
	res, err := s.Tools.Output(ctx, c.toolCaller(), id, position)
	if err != nil {
		return nil, err
	}
	out := &Output{
		RunID: res.Run.ID, Output: res.Output, Truncated: res.Cursor != "", Omitted: res.Omitted,
		Continues: res.Continues, NextCursor: optionalText(res.Cursor),
	}
	if out.Output == nil {
		out.Output = json.RawMessage("null")
	}
	return out, nil
}

// UploadFile stores a file as the input of a tool, for 24 hours. Its problems are
// those of file.Service.Save.
func (s *Service) UploadFile(ctx context.Context, c *Caller, sent *file.File) (*File, error) {
	if err := Authorize(c, UploadFile); err != nil {
		return nil, err
	}
	info, err := s.Tools.Files.Save(ctx, c.Account, c.Restrictions().EndUser, sent)
	if err != nil {
		return nil, err
	}
	shown := s.showFile(info)
	return &shown, nil
}

// File returns a file and its bytes. Its problem is file_not_found (NotFound).
func (s *Service) File(ctx context.Context, c *Caller, id string) (*file.Info, []byte, error) {
	if err := Authorize(c, GetFile); err != nil {
		return nil, nil, err
	}
	info, err := s.Tools.Files.Get(ctx, c.Account, c.Restrictions().EndUser, id)
	return s.content(ctx, info, err)
}

// SignedFile returns a file whose URL names it with a signature. Its problem is
// file_not_found (NotFound).
func (s *Service) SignedFile(ctx context.Context, id, signature string) (*file.Info, []byte, error) {
	info, err := s.Tools.Files.GetSigned(ctx, id, signature)
	return s.content(ctx, info, err)
}

func (s *Service) content(ctx context.Context, info *file.Info, err error) (*file.Info, []byte, error) {
	if err != nil {
		return nil, nil, err
	}
	data, err := s.Tools.Files.Content(ctx, info)
	return info, data, err
}
