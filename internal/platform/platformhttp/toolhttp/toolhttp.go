// Package toolhttp mounts the REST routes of tools, their runs, files and
// approvals.
//
//	GET  /tools, /tools/{tool}     definitions, also in the formats of models
//	POST /tools/{tool}/run         runs one; twice with one Idempotency-Key is once
//	POST /apps/{app}/request       a raw request to an app's API
//	     -> 200, also where the app refused (ok: false)
//	        202 where it continues: Location is the run
//	        a problem where the platform refused
//	GET  /runs …, POST /runs/{id}/cancel
//	POST /files, GET /files/{id}   what runs take and return
//	GET  /approvals …, POST /approvals/{id}   runs that wait for a person
//
// A handler decodes the request, calls one operation and encodes its result.
package toolhttp

import (
	"net/http"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/reply"
	"ace/internal/platform/tool"
)

// Handler serves tools. Its fields are set once.
type Handler struct {
	BaseURL    string // of the platform, without a slash at the end
	Operations *operation.Service
}

// runTime is how long a request for a run may take: its own time, and some for
// what is around it.
const runTime = tool.DefaultTimeout + 15*time.Second

const uploadTime = 2 * time.Minute

// Rules are what each route needs, by the pattern of http.ServeMux.
func Rules(base string) gate.Rules {
	return gate.Rules{
		"GET " + base + "/tools":                  {Operation: operation.ListTools},
		"GET " + base + "/tools/{tool}":           {Operation: operation.GetTool},
		"POST " + base + "/tools/{tool}/run":      {Operation: operation.RunTool},
		"POST " + base + "/apps/{app}/request":    {Operation: operation.RequestApp},
		"GET " + base + "/runs":                   {Operation: operation.ListRuns},
		"GET " + base + "/runs/{id}":              {Operation: operation.GetRun},
		"GET " + base + "/runs/{id}/output":       {Operation: operation.GetRunOutput},
		"POST " + base + "/runs/{id}/cancel":      {Operation: operation.CancelRun},
		"GET " + base + "/usage":                  {Operation: operation.GetUsage},
		"POST " + base + "/files":                 {Operation: operation.UploadFile},
		"GET " + base + "/files/{id}":             {Operation: operation.GetFile},
		"GET " + base + "/files/{id}/{signature}": {Operation: operation.GetSignedFile},
		"GET " + base + "/approvals":              {Operation: operation.ListApprovals},
		"GET " + base + "/approvals/{id}":         {Operation: operation.GetApproval},
		"POST " + base + "/approvals/{id}":        {Operation: operation.DecideApproval},
	}
}

// Describe mounts and documents the calls. base is where the REST API stands,
// key and session are the names of the schemes for keys and for people.
func (h *Handler) Describe(api *openapi.API, mux openapi.Mux, base, key, session string) {
	byKey, byPerson := []string{key}, []string{session}
	tools, runs, files, approvals := []string{"tools"}, []string{"runs"}, []string{"files"}, []string{"approvals"}
	patience := []httpserver.Middleware{httpserver.AllowTime(runTime)}
	later := map[int]string{http.StatusAccepted: "The run goes on, or waits for a person: read it at Location."}
	reply.HandleList(api, openapi.Operation{
		Method:   http.MethodGet,
		Path:     base + "/tools",
		ID:       "listTools",
		Tags:     tools,
		Security: byKey,
		Summary:  "List tools",
		Description: "The tools of an app, or tools by id. With format, " +
			"definition holds the object that a model or an MCP " +
			"client accepts.",
	}, h.list)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/tools/{tool}", ID: "getTool",
		Tags: tools, Security: byKey, Summary: "Get a tool",
		Description: "Its inputs as a JSON Schema, what it may do, and with format its definition for a model.",
	}, h.get)
	openapi.Handle(api, openapi.Operation{
		Method:     http.MethodPost,
		Path:       base + "/tools/{tool}/run",
		ID:         "runTool",
		Tags:       tools,
		Security:   byKey,
		Summary:    "Run a tool",
		Middleware: patience,
		Also:       later,
		Description: "200 holds what the app returned: ok is false where it refused. A problem means that the " +
			"platform " +
			"refused, and nothing was sent. With Prefer: respond-async, or more than 60 seconds, the response is 202 " +
			"at once and Location is the run; likewise where a person has to approve first. With an Idempotency-Key " +
			"the same request is one run, however often it is sent.",
	}, h.run)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/apps/{app}/request", ID: "requestApp", Tags: tools, Security: byKey,
		Summary: "Send a raw request to an app", Middleware: patience, Also: later,
		Description: "It goes to the app's own API with the credentials of the connection. The key needs raw_requests.",
	}, h.request)
	reply.HandleList(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/runs", ID: "listRuns", Tags: runs,
		Security: byKey, Summary: "List runs",
		Description: "Newest first, without outputs. A restricted key sees its own apps and end user.",
	}, h.listRuns)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/runs/{id}", ID: "getRun", Tags: runs,
		Security: byKey, Summary: "Get a run",
		Description: "With the first part of its output, which is stored for 24 hours.",
	}, h.getRun)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/runs/{id}/output", ID: "getRunOutput", Tags: runs, Security: byKey,
		Summary: "Read a part of an output",
		Description: "Runs nothing again. Parts end between entries; continues says where one continues. Outputs are " +
			"stored for 24 hours.",
	}, h.output)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/runs/{id}/cancel", ID: "cancelRun", Tags: runs, Security: byKey,
		Summary:     "Cancel a run",
		Description: "What the app has started it may complete.",
	}, h.cancel)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/usage", ID: "getUsage", Tags: runs, Security: byKey,
		Summary:     "Count runs",
		Description: "How much was run, by app, tool, key or day. A restricted key counts what it may see.",
	}, h.usage)
	h.describeFiles(api, mux, base, files, byKey)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/approvals", ID: "listApprovals",
		Tags: approvals, Security: byPerson, Summary: "List approvals",
		Description: "The runs that wait for a person, oldest first.",
	}, h.listApprovals)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/approvals/{id}", ID: "getApproval",
		Tags: approvals, Security: byPerson, Summary: "Get an approval",
		Description: "A run that waits, or waited, for a person, with its arguments while it waits.",
	}, h.getApproval)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/approvals/{id}", ID: "decideApproval",
		Tags: approvals, Security: byPerson, Summary: "Approve or deny a run",
		Description: "An approved run is sent at once. A decision cannot be changed.",
	}, h.decide)
}
