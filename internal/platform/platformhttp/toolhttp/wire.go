package toolhttp

import (
	"encoding/json"
	"math"
	"time"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/tool"
)

// Run is a run, and as much of its output as fits.
type Run struct {
	RunID        *string `json:"run_id" nullable:"true" doc:"null for a dry run, which is not kept."`
	Tool         string  `json:"tool"`
	App          string  `json:"app"`
	ConnectionID *string `json:"connection_id" nullable:"true"`
	EndUser      *string `json:"end_user" nullable:"true"`
	Status       string  `json:"status" enum:"awaiting_approval,running,succeeded,failed,cancelled,denied,interrupted,dry_run" doc:"interrupted: the platform stopped in the middle; it may have been carried out."`
	OK           bool    `json:"ok" doc:"Whether the app did what it was asked."`
	// Output is any JSON.
	Output        json.RawMessage               `json:"output" doc:"What the app answered; null where there is nothing, or nothing yet."`
	Truncated     bool                          `json:"truncated" doc:"There is more of the output: read on with next_output_cursor."`
	OutputBytes   int                           `json:"output_bytes" doc:"Of the whole output."`
	Omitted       map[string]int                `json:"omitted,omitempty" doc:"What follows, by dot path: entries of lists, members of objects, characters of texts."`
	Continues     string                        `json:"continues,omitempty" doc:"JSON Pointer of the value at which this part goes on."`
	NextCursor    *string                       `json:"next_output_cursor" nullable:"true"`
	OutputExpired bool                          `json:"output_expired,omitempty" doc:"There was an output; it was kept for 24 hours."`
	NextArguments map[string]any                `json:"next_arguments" nullable:"true" doc:"Arguments that read the next page of the app."`
	Files         []File                        `json:"files"`
	AppResponse   openapi.Nullable[AppResponse] `json:"app_response"`
	Error         openapi.Nullable[RunError]    `json:"error"`
	Attempts      int                           `json:"attempts" doc:"Calls that were made for it."`
	DurationMS    int64                         `json:"duration_ms"`
	CreatedAt     time.Time                     `json:"created_at"`
	StartedAt     *time.Time                    `json:"started_at" nullable:"true"`
	Approval      *RunApproval                  `json:"approval,omitempty" doc:"The person that it waits, or waited, for."`
	Request       *PreparedRequest              `json:"request,omitempty" doc:"Of a dry run: what would be sent, without secrets."`
	NeedsApproval bool                          `json:"needs_approval,omitempty" doc:"Of a dry run: a person would have to agree first."`
}

// AppResponse is what is told of the app's answer itself.
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

// RunApproval is the part of a person in a run.
type RunApproval struct {
	ID        string     `json:"id"`
	URL       string     `json:"url" doc:"Where a person of the account agrees."`
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

// wireRun words a result.
func (f *Face) wireRun(res *tool.Result) Run {
	r := res.Run
	out := Run{
		RunID: text(r.ID), Tool: r.Tool, App: r.App, ConnectionID: text(r.ConnectionID), EndUser: text(r.EndUser), Status: string(r.Status), OK: res.OK(),
		Output: res.Output, Truncated: res.Cursor != "", OutputBytes: r.OutputBytes, Omitted: res.Omitted, Continues: res.Continues, NextCursor: text(res.Cursor),
		OutputExpired: res.Gone, NextArguments: res.Next, Files: []File{}, Error: openapi.NullableOf(wireFailure(res.Failure)), Attempts: r.Attempts, DurationMS: r.Duration(time.Now()).Milliseconds(),
		CreatedAt: r.CreatedAt, StartedAt: when(r.StartedAt), NeedsApproval: res.NeedsApproval,
	}
	if r.Status == "" {
		out.Status, out.OK, out.RunID = "dry_run", true, nil
	}
	if out.Output == nil {
		out.Output = json.RawMessage("null")
	}
	for _, file := range res.Files {
		out.Files = append(out.Files, f.wireFile(file))
	}
	if r.AppStatus > 0 {
		out.AppResponse = openapi.NullableOf(&AppResponse{r.AppStatus})
	}
	if r.Approval.ID != "" {
		out.Approval = f.wireApproval(r)
	}
	if p := res.Preview; p != nil {
		out.Request = &PreparedRequest{p.Method, p.URL, p.Headers, p.Body}
	}
	return out
}

func wireFailure(failure *tool.Failure) *RunError {
	if failure == nil {
		return nil
	}
	return &RunError{
		Code: failure.Code, Detail: failure.Detail, AppStatus: failure.AppStatus, AppBody: failure.AppBody, Retryable: failure.Retryable,
		RetryAfter: int(math.Ceil(failure.RetryAfter.Seconds())), NextAction: failure.NextAction,
	}
}

func (f *Face) wireApproval(r *tool.Run) *RunApproval {
	return &RunApproval{
		ID: r.Approval.ID, URL: f.BaseURL + "/approvals/" + r.Approval.ID, ExpiresAt: r.Approval.ExpiresAt, DecidedAt: when(r.Approval.DecidedAt), Reason: r.Approval.Reason,
	}
}

func (f *Face) wireFile(file *tool.FileInfo) File {
	return File{
		FileID: file.ID, Name: file.Name, MIMEType: file.MediaType, Size: file.Size, SHA256: file.SHA256, ExpiresAt: file.ExpiresAt, URL: f.Tools.FileURL(file),
	}
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
