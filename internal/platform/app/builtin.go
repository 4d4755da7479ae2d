package app

import (
	"strings"
)

// Names of the tools that every app has besides its own.
const (
	NameWhoami  = "whoami"
	NameRequest = "request"
)

// Builtin returns the tools that follow from the rest of a definition: whoami
// reads whose account is connected, request makes any call of the app's API. A
// tool of the definition with the same name replaces them. An app without a
// base URL, such as an MCP server, has no request.
func (a *App) Builtin() ([]*Tool, error) {
	var list []*Tool
	for _, t := range []*Tool{a.whoami(), a.request()} {
		if _, own := a.Tools.Get(t.Name); own || t.Free && a.Base == "" {
			continue
		}
		t.App, t.ID, t.Builtin = a.ID, ToolID(a.ID, t.Name), true
		t.complete()
		schema, err := t.In.schema()
		if err != nil {
			return nil, err
		}
		t.InputSchema = schema
		list = append(list, t)
	}
	return list, nil
}

// AllTools returns the tools of a definition in their order, stored ones, then
// those of Builtin.
func (a *App) AllTools() ([]*Tool, error) {
	list, err := a.OwnTools()
	if err != nil {
		return nil, err
	}
	builtin, err := a.Builtin()
	return append(list, builtin...), err
}

// whoami is the call of Who as a tool. Without Who it has no call: it returns
// what is known of the connection.
func (a *App) whoami() *Tool {
	t := &Tool{
		Name: NameWhoami, Title: "Whose account is this", Effect: Reads, Body: BodyNone, In: Inputs{},
		About: "Tells whose " + a.Name + " account is connected: its id, name and e-mail address, as far as " +
			a.Name + " tells them.",
		Phrases: []string{"whose account is this", "who am I"}, Example: map[string]any{},
	}
	who := a.Who
	if who == nil {
		return t
	}
	t.Call = who.Call
	if t.Call == "" {
		t.Call = "GET" + " " + who.Get
	}
	t.Base, t.Fixed = who.Base, Fixed{Query: who.Query, Raw: who.Body}
	t.OK, t.Paging = who.Expect, &Paging{}
	if who.GraphQL != "" {
		t.GraphQL, t.Body = who.GraphQL, BodyGraphQL
	}
	t.Out = map[string]string{}
	for name, pointer := range map[string]string{
		"id": who.ID, "name": who.Label, "email": who.Email,
		"tenant": who.Tenant,
	} {
		if pointer != "" {
			t.Out[name] = pointer
		}
	}
	return t
}

// request lets the caller make the call.
func (a *App) request() *Tool {
	text := func(about string) map[string]any { return map[string]any{"type": "string", "description": about} }
	method := text("The HTTP method.")
	method["enum"], method["default"] = []any{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}, "GET"
	path := text("The path behind the address of the API, with a slash at its beginning.")
	path["pattern"], path["maxLength"] = `^/`, 2000
	return &Tool{
		Name: NameRequest, Title: "Make any request", Free: true, Call: "POST /", Effect: Writes,
		About: "Sends a request of your own making to the API of " + a.Name +
			", with the credentials of the connection. For what no other tool of " + a.Name + " does.",
		In: Inputs{
			{Name: "method", Schema: method},
			{Name: "path", Schema: path, Required: true},
			{
				Name: "query",
				Schema: map[string]any{
					"type":        "object",
					"description": "Parameters of the query; a list repeats its name.",
				},
			},
			{
				Name: "headers",
				Schema: map[string]any{
					"type":                 "object",
					"description":          "Header fields. Credentials are added and cannot be replaced.",
					"additionalProperties": map[string]any{"type": "string"},
				},
			},
			{
				Name: "body",
				Schema: map[string]any{
					"description": "The body: an object or a list goes out as JSON, a text as it is.",
				},
			},
		},
		Example: map[string]any{"method": "GET", "path": "/"},
	}
}

// With returns the tool for one set of arguments: for a raw request with its
// method, its path and the effect that follows; otherwise the tool itself.
func (t *Tool) With(arguments map[string]any) *Tool {
	if !t.Free {
		return t
	}
	made := *t
	method, _ := arguments["method"].(string)
	path, _ := arguments["path"].(string)
	if method == "" {
		method = "GET"
	}
	made.Call, made.Effect, made.Body = strings.ToUpper(method)+" "+path, "", ""
	made.complete()
	return &made
}
