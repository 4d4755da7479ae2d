// Package connectorhttp is the face of the platform for the apps that an account
// adds itself.
//
//	GET    /custom-connectors[/{id}]        (Read)
//	POST   /custom-connectors               add one and import its tools   (Connect)
//	PATCH  /custom-connectors/{id}          name, credentials, choice of tools, on and off
//	POST   /custom-connectors/{id}/refresh  import again; answers what changed
//	POST   /custom-connectors/{id}/approve  show tools that changed
//	POST   /custom-connectors/{id}/test     does it answer
//	DELETE /custom-connectors/{id}
//	   -> connector.Service -> wire, never with a secret
//
// A key that is restricted to apps sees the connectors among them and adds none.
package connectorhttp

import (
	"context"
	"encoding/json"
	"net/http"

	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/connector"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/once"
)

// Face serves connectors. Its fields are set once.
type Face struct {
	Connectors *connector.Service
	Once       *once.Desk
}

// Rules are what each route needs, by the pattern of http.ServeMux.
func Rules(base string) gate.Rules {
	read, connect := gate.Need{Permissions: apikey.Read}, gate.Need{Permissions: apikey.Connect}
	return gate.Rules{
		"GET " + base + "/custom-connectors":               read,
		"GET " + base + "/custom-connectors/{id}":          read,
		"POST " + base + "/custom-connectors":              connect,
		"PATCH " + base + "/custom-connectors/{id}":        connect,
		"DELETE " + base + "/custom-connectors/{id}":       connect,
		"POST " + base + "/custom-connectors/{id}/refresh": connect,
		"POST " + base + "/custom-connectors/{id}/approve": connect,
		"POST " + base + "/custom-connectors/{id}/test":    connect,
	}
}

// maxUpload is the largest request with a document: 5 MB of it, written as a
// text in JSON.
const maxUpload = 11 << 20

// Describe mounts and documents the calls. base is where the REST API stands,
// key the name of the scheme for keys.
func (f *Face) Describe(api *openapi.API, base, key string) {
	op := func(method, path, id, summary, about string) openapi.Operation {
		return openapi.Operation{Method: method, Path: base + "/custom-connectors" + path, ID: id, Tags: []string{"custom connectors"}, Security: []string{key}, Summary: summary, Description: about}
	}
	openapi.Handle(api, op(http.MethodGet, "", "listCustomConnectors", "The account's own connectors, oldest first", ""), f.list)
	openapi.Handle(api, op(http.MethodGet, "/{id}", "getCustomConnector", "One connector", "With the changes that wait for approval."), f.get)
	create := op(http.MethodPost, "", "createCustomConnector", "Add an MCP server or a REST API of your own",
		"Imports the tools of the server, or of the OpenAPI document (3.0, 3.1, Swagger 2; at most 5 MB and 500 operations, references inside the document alone), while you wait up to 20 seconds; then status is importing. skipped says which operations made no tool, and why. The tools are found and run like those of every other app, by this account alone.")
	create.Status, create.MaxBodyBytes = http.StatusCreated, maxUpload
	openapi.Handle(api, create, f.create)
	openapi.Handle(api, op(http.MethodPatch, "/{id}", "changeCustomConnector", "Change a connector",
		"New credentials are used at once, and the tools are imported again with them. An MCP server is asked first whether it takes them: if it does not (credentials_refused), or does not answer (provider_unavailable), everything stays as it was. A REST API is not asked, because which of its calls is harmless is not known: the next run tells."), f.change)
	openapi.Handle(api, op(http.MethodDelete, "/{id}", "deleteCustomConnector", "Delete a connector", "Its tools and its connections are gone with it."), f.remove)
	refresh := op(http.MethodPost, "/{id}/refresh", "refreshCustomConnector", "Import the tools again",
		"Answers what was added, changed and removed. A tool that changed in its words, its inputs or its effect is withheld, neither found nor run, until it is approved.")
	refresh.MaxBodyBytes = maxUpload
	openapi.Handle(api, refresh, f.refresh)
	openapi.Handle(api, op(http.MethodPost, "/{id}/approve", "approveCustomConnector", "Show tools that changed",
		"Look at pending first: it holds the descriptions before and after. Send the revision that you looked at; if anything changed since, the answer is connector_changed."), f.approve)
	openapi.Handle(api, op(http.MethodPost, "/{id}/test", "testCustomConnector", "Ask the connector's software whether it answers",
		"An MCP server is asked for its tools, with the credentials. A REST API is only reached: which of its calls is harmless is not known."), f.test)
}

type body[T any] struct{ Body T }

type idInput struct {
	ID string `path:"id" maxLength:"64"`
}

// seen answers a connector that the caller may see.
func (f *Face) seen(ctx context.Context, id string) (*connector.Connector, error) {
	caller := gate.From(ctx)
	c, err := f.Connectors.Get(ctx, caller.Account, id)
	if err != nil {
		return nil, err
	}
	if !caller.Key.Restrict.AllowsApp(c.Slug) {
		return nil, problem.New(problem.NotFound, "custom_connector_not_found", "There is no custom connector with this id.")
	}
	return c, nil
}

// mayWrite is seen for what changes something: connectors belong to the whole
// account.
func (f *Face) mayWrite(ctx context.Context, id string) error {
	if id != "" {
		if _, err := f.seen(ctx, id); err != nil {
			return err
		}
	}
	restrict := gate.From(ctx).Key.Restrict
	if restrict.EndUser != "" || id == "" && len(restrict.Apps) > 0 {
		return problem.New(problem.Forbidden, "key_restricted", "This key is restricted to some apps or to one user. Connectors are for the whole account.").Advise("ask_owner_for_permission")
	}
	return nil
}

func (f *Face) list(ctx context.Context, _ *struct{}) (*body[Connectors], error) {
	caller := gate.From(ctx)
	all, err := f.Connectors.List(ctx, caller.Account)
	if err != nil {
		return nil, err
	}
	out := &body[Connectors]{Connectors{[]Connector{}}}
	for _, c := range all {
		if caller.Key.Restrict.AllowsApp(c.Slug) {
			out.Body.Connectors = append(out.Body.Connectors, f.wire(&connector.Result{Connector: c}))
		}
	}
	return out, nil
}

func (f *Face) get(ctx context.Context, in *idInput) (*body[Connector], error) {
	c, err := f.seen(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &body[Connector]{f.wire(&connector.Result{Connector: c})}, nil
}

type createInput struct {
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"A repetition with the same key answers the same connector."`
	Body ConnectorRequest
}

type createOutput struct {
	Location string `header:"Location"`
	Replayed string `header:"Idempotency-Replayed"`
	Body     Connector
}

func (f *Face) create(ctx context.Context, in *createInput) (*createOutput, error) {
	if err := f.mayWrite(ctx, ""); err != nil {
		return nil, err
	}
	request, err := in.Body.request()
	if err != nil {
		return nil, err
	}
	caller := gate.From(ctx)
	var result *connector.Result
	made, err := f.Once.Make(ctx, caller.Account+" custom-connectors", in.Key, in.Body, connector.NewID, func(id string) error {
		request.ID = id
		result, err = f.Connectors.Create(ctx, caller.Actor, caller.Account, request)
		return err
	})
	if err != nil {
		return nil, err
	}
	if result == nil { // a repetition
		c, err := f.Connectors.Get(ctx, caller.Account, made.ID)
		if err != nil {
			return nil, err
		}
		result = &connector.Result{Connector: c}
	}
	return &createOutput{Location: "/api/v1/custom-connectors/" + made.ID, Replayed: made.Replayed, Body: f.wire(result)}, nil
}

func (f *Face) change(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"64"`
	Body ConnectorChange
},
) (*body[Connector], error) {
	if err := f.mayWrite(ctx, in.ID); err != nil {
		return nil, err
	}
	caller := gate.From(ctx)
	edit := connector.Edit{Name: in.Body.Name, Enabled: in.Body.Enabled}
	if tools := in.Body.Tools; tools != nil {
		edit.Include, edit.Exclude = &tools.Include, &tools.Exclude
	}
	if in.Body.Auth != nil {
		auth, secret := in.Body.Auth.split()
		edit.Auth, edit.Secret = &auth, secret
	}
	result, err := f.Connectors.Update(ctx, caller.Actor, caller.Account, in.ID, edit)
	if err != nil {
		return nil, err
	}
	return &body[Connector]{f.wire(result)}, nil
}

func (f *Face) remove(ctx context.Context, in *idInput) (*struct{}, error) {
	if err := f.mayWrite(ctx, in.ID); err != nil {
		return nil, err
	}
	caller := gate.From(ctx)
	return nil, f.Connectors.Delete(ctx, caller.Actor, caller.Account, in.ID)
}

func (f *Face) refresh(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"64"`
	Body *ConnectorRefresh
},
) (*body[ConnectorRefreshed], error) {
	if err := f.mayWrite(ctx, in.ID); err != nil {
		return nil, err
	}
	var document []byte
	if in.Body != nil {
		var err error
		if document, err = documentOf(in.Body.OpenAPI); err != nil {
			return nil, err
		}
	}
	caller := gate.From(ctx)
	result, err := f.Connectors.Refresh(ctx, caller.Actor, caller.Account, in.ID, document)
	if err != nil {
		return nil, err
	}
	return &body[ConnectorRefreshed]{ConnectorRefreshed{f.wire(result), wireDiff(result.Diff)}}, nil
}

func (f *Face) approve(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"64"`
	Body *ConnectorApproval
},
) (*body[Connector], error) {
	if err := f.mayWrite(ctx, in.ID); err != nil {
		return nil, err
	}
	caller := gate.From(ctx)
	asked := ConnectorApproval{}
	if in.Body != nil {
		asked = *in.Body
	}
	c, err := f.Connectors.Approve(ctx, caller.Actor, caller.Account, in.ID, asked.Tools, asked.Revision)
	if err != nil {
		return nil, err
	}
	return &body[Connector]{f.wire(&connector.Result{Connector: c})}, nil
}

func (f *Face) test(ctx context.Context, in *idInput) (*body[ConnectorTrial], error) {
	if err := f.mayWrite(ctx, in.ID); err != nil {
		return nil, err
	}
	t, err := f.Connectors.Test(ctx, gate.From(ctx).Account, in.ID)
	if err != nil {
		return nil, err
	}
	return &body[ConnectorTrial]{ConnectorTrial{OK: t.OK, Code: t.Code, Detail: t.Detail, ToolsCount: t.Tools, Milliseconds: t.Took.Milliseconds()}}, nil
}

// documentOf is an uploaded document: an object of JSON, or a text of JSON or
// YAML.
func documentOf(value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		return []byte(v), nil
	case map[string]any:
		encoded, err := json.Marshal(v)
		if err == nil {
			return encoded, nil
		}
	}
	return nil, problem.New(problem.Invalid, "invalid_request", "openapi is the document itself: an object, or a text of JSON or YAML.").At("/openapi").Advise("fix_arguments")
}
