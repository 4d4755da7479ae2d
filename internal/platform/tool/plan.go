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
	"ace/internal/platform/tool/output"
)

// plan is a run that may be made: everything about it is known but the
// credentials.
type plan struct {
	caller     *Caller
	request    Request
	app        *app.App
	tool       *app.Tool
	arguments  map[string]any
	connection *connection.Connection // nil: the app asks for none
	scheme     *app.Scheme            // nil: likewise
	run        *Run
	named      bool // the caller has named the run
	open       func(ctx context.Context, reference string) (*File, error)
}

// prepare checks everything that can be checked without calling anybody.
func (s *Service) prepare(ctx context.Context, c *Caller, in Request) (*plan, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	a, t, err := s.Tool(ctx, c, in.Tool)
	if err != nil {
		return nil, err
	}
	p := &plan{caller: c, request: in, app: a, named: in.RunID != ""}
	if p.arguments, err = s.arguments(t, in.Arguments); err != nil {
		return nil, err
	}
	p.tool = t.With(p.arguments)
	if err := readsOnly(c, a, p.tool); err != nil {
		return nil, err
	}
	if err := s.connect(ctx, p); err != nil {
		return nil, err
	}
	p.run = &Run{
		ID: in.RunID, AccountID: c.AccountID, By: c.Actor, Tool: t.ID, App: a.ID, EndUser: p.endUser(), Async: in.Async, Safe: p.tool.SafeToRepeat(),
		Timeout: in.Timeout, CreatedAt: now(),
	}
	if p.run.ID == "" {
		p.run.ID = typeid.New(RunPrefix)
	}
	if c.Key != nil {
		p.run.KeyID = c.Key.ID
	}
	if p.connection != nil {
		p.run.ConnectionID = p.connection.ID
	}
	p.open = func(ctx context.Context, reference string) (*File, error) {
		return s.input(ctx, c.AccountID, p.run.EndUser, reference)
	}
	return p, nil
}

const (
	maxFields   = 50
	maxFieldLen = 200
	maxEndUser  = 200
)

// check completes a request and refuses what makes no sense.
func (in *Request) check() error {
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
	case in.RunID != "" && !typeid.Valid(RunPrefix, in.RunID):
		return refuse("", "This is not the id of a run.")
	}
	return nil
}

// restricted refuses what the caller's key is not for, whatever the arguments.
func restricted(c *Caller, a *app.App, t *app.Tool) error {
	if c.Key == nil {
		return nil
	}
	r := c.Key.Restrict
	switch {
	case !r.AllowsApp(a.ID):
		return keyRestricted(a, t, "This key is not for the app "+a.Name+".")
	case !r.AllowsTool(a.ID, t.IDs()...):
		return keyRestricted(a, t, "This key is not for this tool.")
	case t.Free && !r.RawRequests:
		return keyRestricted(a, t, "This key may not send requests of its own making. Use a tool, or ask for a key with raw_requests.")
	case !t.Free:
		return readsOnly(c, a, t)
	}
	return nil
}

// readsOnly refuses a tool that changes something to a key for reading. What a
// request of the caller's own making does is known once it is made.
func readsOnly(c *Caller, a *app.App, t *app.Tool) error {
	if c.Key == nil || !c.Key.Restrict.ReadOnlyTools || t.ReadOnly() {
		return nil
	}
	return keyRestricted(a, t, "This key is for what changes nothing.")
}

func keyRestricted(a *app.App, t *app.Tool, detail string) error {
	return problem.New(problem.Forbidden, "key_restricted", detail).Advise("ask_owner_for_permission").With("app", a.ID).With("tool", t.ID)
}

// arguments decodes, completes and checks the arguments of a tool.
func (s *Service) arguments(t *app.Tool, raw json.RawMessage) (map[string]any, error) {
	wrong := func(items ...problem.Item) error {
		return problem.New(problem.Unprocessable, "invalid_arguments", "Some arguments do not fit the schema of "+t.ID+".").
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

// schemas keeps the compiled schemas of the tools that are in use.
type schemas struct {
	mu   sync.Mutex
	kept map[string]compiled // by id
}

type compiled struct {
	tool   *app.Tool // whose schema it is: definitions of connectors change
	schema *jsonschema.Schema
}

const maxSchemas = 4096

func (s *schemas) of(t *app.Tool) (*jsonschema.Schema, error) {
	s.mu.Lock()
	found, ok := s.kept[t.ID]
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
	if s.kept == nil || len(s.kept) >= maxSchemas {
		s.kept = map[string]compiled{}
	}
	s.kept[t.ID] = compiled{t, schema}
	return schema, nil
}

// endUser is the account's own user that the run is for.
func (p *plan) endUser() string {
	if p.caller.Key != nil && p.caller.Key.Restrict.EndUser != "" {
		return p.caller.Key.Restrict.EndUser
	}
	return p.request.EndUser
}

// connect chooses the connection of the run.
func (s *Service) connect(ctx context.Context, p *plan) error {
	c := p.caller
	if c.Key != nil && c.Key.Restrict.EndUser != "" && p.request.EndUser != "" && p.request.EndUser != c.Key.Restrict.EndUser {
		return problem.New(problem.Forbidden, "key_restricted", "This key is for another user of yours.").At("/end_user").Advise("ask_owner_for_permission")
	}
	chosen, err := s.Connections.Choose(ctx, c.AccountID, p.app, p.request.ConnectionID, p.endUser())
	if err != nil {
		return s.withLink(ctx, p, err)
	}
	scheme, known := p.app.Scheme(chosen.Scheme)
	if !known {
		return fmt.Errorf("connection %s has the unknown scheme %q of %s", chosen.ID, chosen.Scheme, p.app.ID)
	}
	p.scheme = scheme
	if chosen.ID == "" {
		return nil // the app asks for no credentials
	}
	p.connection = chosen
	if missing := missingScopes(p.tool, chosen); len(missing) > 0 {
		err := problem.New(problem.Forbidden, "insufficient_scope", "The connection was not given the permission that this tool needs. Connect "+p.app.Name+" again and agree to it.").
			With("missing_scopes", missing).Advise("reconnect_app")
		return s.withLink(ctx, p, err)
	}
	return nil
}

// missingScopes are the scopes of the tool where the connection has none of
// them. With one of them it may be enough: the app decides.
func missingScopes(t *app.Tool, c *connection.Connection) []string {
	if len(t.Scopes) == 0 || len(c.Scopes) == 0 {
		return nil
	}
	if slices.ContainsFunc(t.Scopes, func(scope string) bool { return slices.Contains(c.Scopes, scope) }) {
		return nil
	}
	return t.Scopes
}

// withLink completes a refusal that a person can mend: with a sign-in link for
// callers that may connect apps, with advice to ask for the others.
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
	link, err := s.Opener.Link(ctx, c, p.app.ID, id, p.endUser())
	if refusal, expected := problem.From(err); err != nil && expected && refusal.Kind == problem.Conflict {
		return refusal.With("app", p.app.ID) // app_not_connectable says more
	}
	if err != nil {
		return err
	}
	return found.With("connect", link)
}

// waits reports whether a person has to agree to the run first.
func (p *plan) waits(c *Caller) bool {
	if c.Key == nil {
		return false
	}
	switch c.Key.Approval {
	case apikey.ApproveWrites:
		return !p.tool.ReadOnly()
	case apikey.ApproveDestructive:
		return p.tool.Destructive()
	case apikey.ApproveNone:
	}
	return false
}

// bare is the connection without credentials.
func (p *plan) bare() *connection.Live {
	if p.connection != nil {
		return &connection.Live{Connection: p.connection}
	}
	return connection.Anonymous(p.caller.AccountID, p.app, p.scheme)
}

func (p *plan) call(live *connection.Live) *Call {
	return &Call{App: p.app, Scheme: p.scheme, Tool: p.tool, Live: live, Arguments: p.arguments, Open: p.open}
}
