// Package toolhttp is the face of the platform for tools and their runs.
//
//	GET  /tools, /tools/{tool}     definitions, also as models take them   (Read)
//	POST /tools/{tool}/run         runs one; twice with one Idempotency-Key is once
//	POST /apps/{app}/request       a request of the caller's own making
//	     -> 200, also where the app refused (ok: false)
//	        202 where it goes on: Location leads to the run
//	        a problem where the platform refused
//	GET  /runs …, POST /runs/{id}/cancel
//	POST /files, GET /files/{id}   what goes into runs and comes out of them
//	GET  /approvals …, POST /approvals/{id}   runs that wait for a person
//
// The rules stand in package tool; this one words them.
package toolhttp

import (
	"net/http"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/platform/apikey"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/listing"
	"ace/internal/platform/platformhttp/once"
	"ace/internal/platform/tool"
	"ace/internal/platform/usage"
)

// Face serves tools. Its fields are set once.
type Face struct {
	BaseURL string // of the platform, without a slash at the end
	Tools   *tool.Service
	Once    *once.Desk
	Usage   *usage.Service
}

// runTime is how long a request for a run may take: its own time, and some for
// what is around it.
const runTime = tool.DefaultTimeout + 15*time.Second

const uploadTime = 2 * time.Minute

// Rules are what each route needs, by the pattern of http.ServeMux.
func Rules(base string) gate.Rules {
	read, run := gate.Need{Permissions: apikey.Read}, gate.Need{Permissions: apikey.Run}
	person := gate.Need{Person: true}
	return gate.Rules{
		"GET " + base + "/tools":                  read,
		"GET " + base + "/tools/{tool}":           read,
		"POST " + base + "/tools/{tool}/run":      run,
		"POST " + base + "/apps/{app}/request":    {Permissions: apikey.Run, RawRequests: true},
		"GET " + base + "/runs":                   read,
		"GET " + base + "/runs/{id}":              read,
		"GET " + base + "/runs/{id}/output":       read,
		"POST " + base + "/runs/{id}/cancel":      run,
		"GET " + base + "/usage":                  read,
		"POST " + base + "/files":                 run,
		"GET " + base + "/files/{id}":             read,
		"GET " + base + "/files/{id}/{signature}": {Open: true},
		"GET " + base + "/approvals":              person,
		"GET " + base + "/approvals/{id}":         person,
		"POST " + base + "/approvals/{id}":        person,
	}
}

// Describe mounts and documents the calls. base is where the REST API stands,
// key and session are the names of the schemes for keys and for people.
func (f *Face) Describe(api *openapi.API, mux openapi.Mux, base, key, session string) {
	byKey, byPerson := []string{key}, []string{session}
	tools, runs, files, approvals := []string{"tools"}, []string{"runs"}, []string{"files"}, []string{"approvals"}
	patience := []httpserver.Middleware{httpserver.AllowTime(runTime)}
	listing.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/tools", ID: "listTools", Tags: tools, Security: byKey, Summary: "Tools of an app, or tools by name",
		Description: "Name an app or tools. With format, definition holds the object that a model or an MCP client takes.",
	}, f.list)
	openapi.Handle(api, openapi.Operation{Method: http.MethodGet, Path: base + "/tools/{tool}", ID: "getTool", Tags: tools, Security: byKey, Summary: "One tool"}, f.get)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/tools/{tool}/run", ID: "runTool", Tags: tools, Security: byKey, Summary: "Run a tool", Middleware: patience,
		Description: "200 tells what the app said: ok is false where it refused. A problem tells that the platform refused, and nothing was sent. With Prefer: respond-async, or more than 60 seconds, " +
			"202 is answered at once and Location leads to the run; likewise where a person has to agree first. Send an Idempotency-Key, and the same request is one run however often it comes.",
	}, f.run)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/apps/{app}/request", ID: "requestApp", Tags: tools, Security: byKey, Summary: "Send a request of your own making to an app", Middleware: patience,
		Description: "It goes to the app's own address with the credentials of the connection. The key needs raw_requests.",
	}, f.request)
	listing.Handle(api, openapi.Operation{Method: http.MethodGet, Path: base + "/runs", ID: "listRuns", Tags: runs, Security: byKey, Summary: "Runs, newest first, without outputs"}, f.listRuns)
	openapi.Handle(api, openapi.Operation{Method: http.MethodGet, Path: base + "/runs/{id}", ID: "getRun", Tags: runs, Security: byKey, Summary: "One run with its output"}, f.getRun)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/runs/{id}/output", ID: "getRunOutput", Tags: runs, Security: byKey, Summary: "A part of an output",
		Description: "Runs nothing again. Parts end between entries; continues tells where one goes on. Outputs are kept for 24 hours.",
	}, f.output)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/runs/{id}/cancel", ID: "cancelRun", Tags: runs, Security: byKey, Summary: "End a run",
		Description: "What the app has begun it may complete.",
	}, f.cancel)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/usage", ID: "getUsage", Tags: runs, Security: byKey, Summary: "How much was run",
		Description: "A key that is restricted counts what it may see.",
	}, f.usage)
	f.describeFiles(api, mux, base, files, byKey)
	openapi.Handle(api, openapi.Operation{Method: http.MethodGet, Path: base + "/approvals", ID: "listApprovals", Tags: approvals, Security: byPerson, Summary: "Runs that wait for a person, oldest first"}, f.listApprovals)
	openapi.Handle(api, openapi.Operation{Method: http.MethodGet, Path: base + "/approvals/{id}", ID: "getApproval", Tags: approvals, Security: byPerson, Summary: "One run that waits, or waited, for a person"}, f.getApproval)
	openapi.Handle(api, openapi.Operation{Method: http.MethodPost, Path: base + "/approvals/{id}", ID: "decideApproval", Tags: approvals, Security: byPerson, Summary: "Agree to a run, or refuse it"}, f.decide)
}

type body[T any] struct{ Body T }

func caller(c *gate.Caller) *tool.Caller {
	return &tool.Caller{AccountID: c.Account, Key: c.Key, Actor: c.Actor}
}
