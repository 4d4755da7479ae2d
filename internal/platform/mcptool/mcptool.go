// Package mcptool calls the tools of MCP servers that accounts have connected.
//
//	List:    tools/list, page by page ── names and schemas adapted ──> app.Tool
//	Execute: tools/call ──> structured content, text, a file, or a Failure
//
//	session: one per connection and version of its credentials, reused while in use
//	   server/discover (2026-07-28), else initialize (2025-11-25 … 2024-11-05)
//	   streamable HTTP, or the older pair of an event stream and POST
//	credentials: headers, only on requests to the server's own origin
//
// Servers are not trusted: lists, schemas, responses and times are bounded, and
// what they say of themselves is data. They may request nothing of us: no
// sampling, no elicitation.
package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/openapiimport"
	"ace/internal/platform/tool"
)

// HTTPClient sends requests: the egress client for connectors.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Executor implements tool.Executor, connection.Checker and connector.Lister
// for apps with an MCP server. It is safe for concurrent use.
type Executor struct {
	client  HTTPClient
	options Options
	pool    *pool
}

// Options tunes an Executor.
type Options struct {
	// Version is sent to servers. Default "1".
	Version string
	// ListTime bounds the reading of a list of tools. Default 30 s.
	ListTime time.Duration
}

// New returns an executor.
func New(client HTTPClient, o *Options) *Executor {
	e := &Executor{client: client}
	if o != nil {
		e.options = *o
	}
	if e.options.Version == "" {
		e.options.Version = "1"
	}
	if e.options.ListTime == 0 {
		e.options.ListTime = 30 * time.Second
	}
	e.pool = newPool()
	return e
}

// Close ends all sessions.
func (e *Executor) Close() { e.pool.close() }

// method is the first word of the calls of MCP tools.
const method = "tools/call "

// Limits of a list.
const (
	maxPages  = 50
	maxTools  = openapiimport.MaxOperations
	maxListed = 5 << 20 // bytes of all tools together
	maxAbout  = 1000
)

// List returns the tools of a server as those of an app. It returns the
// problems of package egress; what the server refuses is a *tool.Failure.
func (e *Executor) List(ctx context.Context, a *app.App, s *app.Scheme, live *connection.Live) (*openapiimport.Result,
	error,
) {
	ctx, cancel := context.WithTimeout(ctx, e.options.ListTime)
	defer cancel()
	session, err := e.dial(ctx, a, s, live)
	if err != nil {
		return nil, e.failure(ctx, a, err)
	}
	defer session.close()
	l := &lister{app: a, taken: map[string]bool{}, result: &openapiimport.Result{}}
	if info := session.InitializeResult(); info != nil && info.ServerInfo != nil {
		l.result.Title = openapiimport.Prose(info.ServerInfo.Title, 80)
		if l.result.Title == "" {
			l.result.Title = openapiimport.Prose(info.ServerInfo.Name, 80)
		}
	}
	cursor, seen := "", map[string]bool{}
	for range maxPages {
		page, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, e.failure(ctx, a, err)
		}
		for _, one := range page.Tools {
			if one != nil {
				l.add(one)
			}
		}
		cursor = page.NextCursor
		if cursor == "" || seen[cursor] || l.full {
			return l.result, nil
		}
		seen[cursor] = true
	}
	l.skip("tools/list", "too_many_pages",
		fmt.Sprintf("The list has more than %d pages; the rest was left out.", maxPages))
	return l.result, nil
}

type lister struct {
	app    *app.App
	taken  map[string]bool
	result *openapiimport.Result
	bytes  int
	full   bool
}

func (l *lister) skip(name, code, detail string) {
	l.result.Skipped = append(l.result.Skipped,
		openapiimport.Skipped{Operation: openapiimport.Prose(name, 120), Code: code, Detail: detail})
}

// add adds a tool that a server listed.
func (l *lister) add(listed *mcp.Tool) {
	if l.full {
		return
	}
	if len(l.result.Tools)+len(l.result.Skipped) >= maxTools || l.bytes > maxListed {
		l.full = true
		l.skip("tools/list", "too_many_operations",
			fmt.Sprintf("A connector has at most %d tools, which describe themselves in at most 5 MB.", maxTools))
		return
	}
	schema, err := json.Marshal(listed.InputSchema)
	if err != nil || listed.Name == "" || len(listed.Name) > 256 || strings.ContainsAny(listed.Name, "\r\n\x00") {
		l.skip(listed.Name, "name_unsupported",
			"Its name is empty, longer than 256 characters or on more than one line.")
		return
	}
	l.bytes += len(schema) + len(listed.Description)
	if string(schema) == "null" {
		schema = []byte(`{}`)
	}
	inputs, open, err := openapiimport.Inputs(schema)
	if err != nil {
		p, _ := problem.From(err)
		l.skip(listed.Name, "schema_unsupported", p.Detail)
		return
	}
	t := &app.Tool{
		Name: openapiimport.Unique(openapiimport.Snake(listed.Name), listed.Name, l.taken), Call: method + listed.Name,
		Body: app.BodyJSON,
		In:   inputs, Paging: &app.Paging{}, Effect: effectOf(listed.Annotations),
		Idempotent: listed.Annotations != nil && listed.Annotations.IdempotentHint,
	}
	t.Title, t.About = words(listed, t.Name)
	if open {
		t.InputSchema = []byte(`{"type":"object","additionalProperties":true}`)
	}
	if out, ok := listed.OutputSchema.(map[string]any); ok {
		t.OutputSchema = openapiimport.Outline(out, out)
	}
	one := &app.App{ID: l.app.ID, Tools: app.OrderedOf(func(t *app.Tool) string { return t.Name }, t)}
	if err := one.Complete(); err != nil || len(t.InputSchema) > 64<<10 {
		l.skip(listed.Name, "schema_too_large", "The schema of its inputs is larger than 64 KB.")
		return
	}
	l.result.Tools = append(l.result.Tools, t)
}

// effectOf trusts a server that says that a tool is destructive or only reads;
// without a hint a tool writes.
func effectOf(hints *mcp.ToolAnnotations) string {
	switch {
	case hints == nil:
		return app.Writes
	case hints.ReadOnlyHint:
		return app.Reads
	case hints.DestructiveHint != nil && *hints.DestructiveHint:
		return app.Destroys
	}
	return app.Writes
}

func words(listed *mcp.Tool, name string) (title, about string) {
	title = listed.Title
	if title == "" && listed.Annotations != nil {
		title = listed.Annotations.Title
	}
	if title = openapiimport.Prose(title, 80); title == "" {
		title = strings.ReplaceAll(name, "_", " ")
		title = strings.ToUpper(title[:1]) + title[1:]
	}
	if about = openapiimport.Prose(listed.Description, maxAbout); about == "" {
		about = title + "."
	}
	return title, about
}

// Check implements connection.Checker: it requests the first page of the list,
// which a server shows to clients that it knows. MCP does not say whose account
// it is.
func (e *Executor) Check(ctx context.Context, a *app.App, s *app.Scheme, live *connection.Live) (connection.Identity,
	error,
) {
	ctx, cancel := context.WithTimeout(ctx, e.options.ListTime)
	defer cancel()
	session, err := e.dial(ctx, a, s, live)
	if err != nil {
		return connection.Identity{}, e.failure(ctx, a, err)
	}
	defer session.close()
	if _, err := session.ListTools(ctx, nil); err != nil {
		return connection.Identity{}, e.failure(ctx, a, err)
	}
	return connection.Identity{}, nil
}

// Preview implements tool.Executor.
func (e *Executor) Preview(c *tool.Call) (*tool.Preview, error) {
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": strings.TrimSpace(method),
		"params": map[string]any{"name": c.Tool.Path(), "arguments": arguments(c)},
	})
	if err != nil {
		return nil, fmt.Errorf("writing a call of %s: %w", c.Tool.ID, err)
	}
	headers := map[string]string{"Content-Type": "application/json"}
	if c.Scheme != nil {
		for name := range c.Scheme.Credentials().Headers {
			headers[name] = "***"
		}
	}
	return &tool.Preview{Method: http.MethodPost, URL: c.App.MCP.URL, Headers: headers, Body: string(body)}, nil
}

// arguments returns those of a call under the names of the server.
func arguments(c *tool.Call) map[string]any {
	wire := map[string]any{}
	for name, value := range c.Arguments {
		if at := slices.IndexFunc(c.Tool.In, func(in app.Input) bool { return in.Name == name }); at >= 0 {
			name = c.Tool.In[at].WireName()
		}
		wire[name] = value
	}
	return wire
}

// Execute implements tool.Executor.
func (e *Executor) Execute(ctx context.Context, c *tool.Call) (*tool.Answer, error) {
	var result *result
	var secrets []string
	for try := 0; ; try++ {
		session, err := e.session(ctx, c.App, c.Scheme, c.Live)
		if err != nil {
			return nil, e.failure(ctx, c.App, err)
		}
		secrets = session.secrets
		result, err = session.call(ctx, c.Tool.Path(), arguments(c))
		fresh := session.fresh
		session.release(err)
		if err == nil {
			break
		}
		// A pooled session that is gone did nothing: the server reports it before it reads a call.
		if errors.Is(err, mcp.ErrSessionMissing) && !fresh && try == 0 {
			continue
		}
		err = e.failure(ctx, c.App, err)
		if failure, ok := errors.AsType[*tool.Failure](err); ok {
			failure.Detail = mask(failure.Detail, secrets)
		}
		return nil, err
	}
	return answer(c, result, secrets)
}

// plainValue returns a value of the server as the platform stores values:
// numbers as they were written, and without credentials.
func plainValue(value any, secrets []string) (any, int, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, 0, fmt.Errorf("reading an answer: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(mask(string(encoded), secrets))))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return nil, 0, fmt.Errorf("reading an answer: %w", err)
	}
	return plain, len(encoded), nil
}

// mask removes credentials from what a server sends back.
func mask(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}
