package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"ace/internal/foundation/jsonschema"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool/file"
	"ace/internal/platform/tool/lookup"
	"ace/internal/platform/tool/output"
)

// plan is a checked run: everything about it is known except the credentials.
type plan struct {
	caller     *Caller
	request    Request
	app        *app.App
	tool       *app.Tool
	arguments  map[string]any
	connection *connection.Connection // nil: the app needs none
	scheme     *app.Scheme            // nil: likewise
	run        *Run
	open       func(ctx context.Context, reference string) (*file.File, error)
}

// prepare checks everything that can be checked without calling the app.
func (s *Service) prepare(ctx context.Context, c *Caller, in Request) (*plan, error) {
	if err := in.complete(c); err != nil {
		return nil, err
	}
	a, t, err := s.Tools.Get(ctx, c.AccountID, c.Key, in.Tool)
	if err != nil {
		return nil, err
	}
	p := &plan{caller: c, request: in, app: a}
	if p.arguments, err = s.arguments(t, in.Arguments); err != nil {
		return nil, err
	}
	p.tool = t.With(p.arguments)
	if err := lookup.CheckEffect(c.Key, a, p.tool); err != nil {
		return nil, err
	}
	if err := s.connect(ctx, p); err != nil {
		return nil, err
	}
	p.run = &Run{
		ID: typeid.New(RunPrefix), AccountID: c.AccountID, By: c.Actor, Tool: t.ID, App: a.ID, EndUser: in.EndUser,
		Async: in.Async, Safe: p.tool.SafeToRepeat(), Timeout: in.Timeout, CreatedAt: now(),
	}
	if c.Key != nil {
		p.run.KeyID = c.Key.ID
	}
	if p.connection != nil {
		p.run.ConnectionID = p.connection.ID
	}
	p.open = func(ctx context.Context, reference string) (*file.File, error) {
		return s.Files.Open(ctx, c.AccountID, in.EndUser, reference)
	}
	return p, nil
}

const (
	maxFields   = 50
	maxFieldLen = 200
	maxEndUser  = 200
)

// complete fills in defaults and the end user of the key, and checks the limits
// of a request.
func (in *Request) complete(c *Caller) error {
	refuse := func(pointer, detail string) error {
		return problem.New(problem.Invalid, "invalid_request", detail).At(pointer)
	}
	if in.Timeout == 0 {
		in.Timeout = DefaultTimeout
	}
	if in.Output.MaxBytes == 0 {
		in.Output.MaxBytes = output.DefaultPart
	}
	switch {
	case in.Timeout < 0 || in.Timeout > MaxTimeout:
		return refuse("/timeout_seconds", "A run may take 1 to 300 seconds.")
	case in.Output.MaxBytes < output.MinPart || in.Output.MaxBytes > output.MaxPart:
		return refuse("/output/max_bytes", "A part of an output has 500 to 4194304 bytes.")
	case len(in.Output.Fields) > maxFields:
		return refuse("/output/fields", "Name at most 50 fields.")
	case len(in.EndUser) > maxEndUser:
		return refuse("/end_user", "The name of a user has at most 200 characters.")
	case slices.ContainsFunc(in.Output.Fields, func(f string) bool { return f == "" || len(f) > maxFieldLen }):
		return refuse("/output/fields", "A field is a dot path of 1 to 200 characters, such as items.subject.")
	}
	if c.Key == nil || c.Key.Restrict.EndUser == "" {
		return nil
	}
	if in.EndUser != "" && in.EndUser != c.Key.Restrict.EndUser {
		return problem.New(problem.Forbidden, "key_restricted",
			"This key is for another user of yours.").At("/end_user").Advise("ask_owner_for_permission")
	}
	in.EndUser = c.Key.Restrict.EndUser
	return nil
}

// arguments decodes the arguments of a tool, fills in defaults and validates
// them.
func (s *Service) arguments(t *app.Tool, raw json.RawMessage) (map[string]any, error) {
	wrong := func(items ...problem.Item) error {
		return problem.New(problem.Unprocessable, "invalid_arguments",
			"Some arguments do not match the input schema of "+t.ID+".").
			WithItems(items...).Advise("fix_arguments").With("tool", t.ID)
	}
	arguments := map[string]any{}
	if len(bytes.TrimSpace(raw)) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if err := decoder.Decode(&arguments); err != nil || arguments == nil {
			return nil, wrong(problem.Item{Pointer: "/arguments", Code: "invalid_type", Detail: "must be an object"})
		}
	}
	schema, err := s.schemas.of(t)
	if err != nil {
		return nil, err
	}
	schema.Fill(arguments)
	if err := schema.CheckValue(arguments); err != nil {
		p, ok := problem.From(err)
		if !ok {
			return nil, err
		}
		for i := range p.Items {
			p.Items[i].Pointer = "/arguments" + p.Items[i].Pointer
		}
		return nil, wrong(p.Items...)
	}
	return arguments, nil
}

// schemas caches the compiled schemas of the tools that are in use.
type schemas struct {
	mu     sync.Mutex
	cached map[string]compiled // by id
}

type compiled struct {
	tool   *app.Tool // the definition that was compiled: those of connectors change
	schema *jsonschema.Schema
}

const maxSchemas = 4096

func (s *schemas) of(t *app.Tool) (*jsonschema.Schema, error) {
	s.mu.Lock()
	found, ok := s.cached[t.ID]
	s.mu.Unlock()
	if ok && found.tool == t {
		return found.schema, nil
	}
	schema, err := jsonschema.Compile(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", t.ID, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cached == nil || len(s.cached) >= maxSchemas {
		s.cached = map[string]compiled{}
	}
	s.cached[t.ID] = compiled{t, schema}
	return schema, nil
}

// connect chooses the connection of the run.
func (s *Service) connect(ctx context.Context, p *plan) error {
	chosen, err := s.Connections.Choose(ctx, p.caller.AccountID, p.app, p.request.ConnectionID,
		p.request.EndUser)
	if err != nil {
		return s.withLink(ctx, p, err)
	}
	scheme, known := p.app.Scheme(chosen.Scheme)
	if !known {
		return fmt.Errorf("connection %s has the unknown scheme %q of %s", chosen.ID, chosen.Scheme, p.app.ID)
	}
	p.scheme = scheme
	if chosen.ID == "" {
		return nil // the app needs no credentials
	}
	p.connection = chosen
	if missing := missingScopes(p.tool, chosen); len(missing) > 0 {
		err := problem.New(problem.Forbidden, "insufficient_scope",
			"The connection lacks the permission that this tool needs. Connect "+p.app.Name+" again and grant it.").
			With("missing_scopes", missing).Advise("reconnect_app")
		return s.withLink(ctx, p, err)
	}
	return nil
}

// missingScopes returns the scopes of the tool if the connection has none of them.
// One of them may be enough: the app decides.
func missingScopes(t *app.Tool, c *connection.Connection) []string {
	if len(t.Scopes) == 0 || len(c.Scopes) == 0 {
		return nil
	}
	if slices.ContainsFunc(t.Scopes, func(scope string) bool { return slices.Contains(c.Scopes, scope) }) {
		return nil
	}
	return t.Scopes
}

// withLink adds to a problem that a user can fix: a sign-in link for callers that
// may connect apps, advice to ask for the others.
func (s *Service) withLink(ctx context.Context, p *plan, err error) error {
	found, ok := problem.From(err)
	if !ok {
		return err
	}
	found = found.With("app", p.app.ID)
	switch found.Code {
	case "not_connected", "reconnect_required", "insufficient_scope":
	default:
		return found
	}
	c := p.caller
	if c.Key != nil && !c.Key.Permissions.Has(apikey.Connect) {
		return found.Advise("ask_owner_to_connect")
	}
	if s.Opener == nil {
		return found
	}
	id, _ := found.Members["connection_id"].(string)
	if id == "" && p.connection != nil {
		id = p.connection.ID
	}
	link, err := s.Opener.Link(ctx, c, p.app.ID, id, p.request.EndUser)
	if refusal, expected := problem.From(err); err != nil && expected && refusal.Kind == problem.Conflict {
		return refusal.With("app", p.app.ID) // app_not_connectable says more
	}
	if err != nil {
		return err
	}
	return found.With("connect", link)
}

// needsApproval reports whether a user has to approve the run first.
func (p *plan) needsApproval() bool {
	if p.caller.Key == nil {
		return false
	}
	switch p.caller.Key.Approval {
	case apikey.ApproveWrites:
		return !p.tool.ReadOnly()
	case apikey.ApproveDestructive:
		return p.tool.Destructive()
	case apikey.ApproveNone:
	}
	return false
}

// withoutCredentials returns the connection of the run without credentials.
func (p *plan) withoutCredentials() *connection.Live {
	if p.connection != nil {
		return &connection.Live{Connection: p.connection}
	}
	return connection.Anonymous(p.caller.AccountID, p.app, p.scheme)
}

func (p *plan) call(live *connection.Live) *Call {
	return &Call{App: p.app, Scheme: p.scheme, Tool: p.tool, Live: live, Arguments: p.arguments, Open: p.open}
}
