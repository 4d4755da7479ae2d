package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
	"ace/internal/platform/tool/lookup"
	"ace/internal/platform/tool/tooltest"
)

const definition = `
id: desk
name: Desk
base: https://{tenant}.desk.example/v1
params: {tenant: {match: "^[a-z]+$"}}
auth: [{id: key, type: key, fields: [{name: key, secret: true}], send: {headers: {Authorization: "Bearer {key}"}}}]
who: {get: /me, id: /id}
tools:
  search:
    call: GET /search
    about: Finds tickets.
    phrases: [find a ticket]
    in: {query!: {type: string, minLength: 2}, limit: {type: integer, minimum: 1, maximum: 50, default: 20},
      kind: {enum: [open, closed]}}
    items: /results
    paging: {type: cursor, out: /next, in: cursor}
    scopes: [desk.read]
  create:
    call: POST /tickets
    about: Makes a ticket.
    in: {title!: string, tags: [string]}
    scopes: [desk.write]
    example: {title: Hi}
  replace:
    call: PUT /tickets/{id}
    was: [overwrite]
    about: Replaces a ticket.
    in: {id!: string}
  remove:
    call: DELETE /tickets/{id}
    about: Deletes a ticket.
    in: {id!: string}
  attach:
    call: POST /attach
    about: Attaches a file.
    body: multipart
    in: {file!: {type: string, format: ace-file}}
`

const open = `
id: weather
name: Weather
base: https://weather.example
auth: [{id: open, type: none}]
rate: {rps: 2, per: app}
tools:
  now: {call: GET /now, about: Tells the weather., in: {}}
`

const account = "acc_a"

// world is a service on a store in memory, with an app that a test scripts.
type world struct {
	*tool.Service
	store       *tooltest.Memory
	connections *connections
	sealer      *seal.Sealer
	catalog     *app.Catalog
	keys        *keys

	mu    sync.Mutex
	calls []string // tool, arguments and key of each call
	reply func(ctx context.Context, n int, c *tool.Call) (*tool.Answer, error)
	log   strings.Builder
}

func setup(t *testing.T) *world { t.Helper(); return setupOn(t, tooltest.NewMemory(), tool.Options{}) }

const fileQuota = 1000 // bytes

func setupOn(t *testing.T, store *tooltest.Memory, o tool.Options) *world {
	t.Helper()
	w := &world{store: store, connections: newConnections(), keys: &keys{all: map[string]*apikey.Key{}}}
	w.reply = func(context.Context, int, *tool.Call) (*tool.Answer, error) {
		return &tool.Answer{Status: 200, Output: map[string]any{"id": "t1"}}, nil
	}
	var apps []*app.App
	for _, text := range []string{definition, open} {
		a, err := app.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		apps = append(apps, a)
	}
	var err error
	if w.catalog, err = app.NewCatalog(apps...); err != nil {
		t.Fatal(err)
	}
	if w.sealer, err = seal.New(make([]byte, seal.KeySize)); err != nil {
		t.Fatal(err)
	}
	o.Log = slog.New(slog.NewTextHandler(&w.log, nil))
	w.Service = tool.New(tool.Ports{
		Runs: store, Queue: store, History: store, Tools: lookup.Tools{Apps: catalogue{w.catalog}},
		Files:       file.New(store, w.sealer, &file.Options{Quota: fileQuota, Fetcher: fetcher{}}),
		Connections: w.connections, Executor: w, Opener: opener{}, Keys: w.keys,
	}, w.sealer, &o)
	t.Cleanup(w.Close)
	return w
}

// catalog offers its apps to every account.
type catalogue struct{ *app.Catalog }

func (c catalogue) App(_ context.Context, _, id string) (*app.App, error) { return c.Catalog.App(id) }

func (c catalogue) Tool(_ context.Context, _, id string) (*app.App, *app.Tool, error) {
	return c.Catalog.Tool(id)
}

func (c catalogue) Apps(context.Context, string) ([]*app.App, error) { return c.Catalog.Apps(), nil }

// Execute implements tool.Executor.
func (w *world) Execute(ctx context.Context, c *tool.Call) (*tool.Answer, error) {
	w.mu.Lock()
	arguments, _ := json.Marshal(c.Arguments)
	key, _ := c.Live.Values.Value("key")
	w.calls = append(w.calls, c.Tool.ID+" "+string(arguments)+" "+key)
	n := len(w.calls)
	reply := w.reply
	w.mu.Unlock()
	return reply(ctx, n, c)
}

// Preview implements tool.Executor.
func (w *world) Preview(c *tool.Call) (*tool.Preview, error) {
	if c.Live.Values != nil {
		if _, ok := c.Live.Values.Value("key"); ok {
			return nil, fmt.Errorf("a preview was given credentials")
		}
	}
	return &tool.Preview{Method: c.Tool.Method(), URL: c.Tool.Path()}, nil
}

func (w *world) called() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.calls...)
}

// script responds to the calls of a test one after the other; the last response repeats.
func (w *world) script(replies ...any) {
	w.reply = func(_ context.Context, n int, _ *tool.Call) (*tool.Answer, error) {
		switch r := replies[min(n, len(replies))-1].(type) {
		case *tool.Failure:
			copied := *r
			return nil, &copied
		case error:
			return nil, r
		default:
			return &tool.Answer{Status: 200, Output: r}, nil
		}
	}
}

func failure(code string, change func(*tool.Failure)) *tool.Failure {
	f := &tool.Failure{Code: code, Detail: "no", AppStatus: 400, NextAction: "none"}
	if change != nil {
		change(f)
	}
	return f
}

// connections is a tool.Connections of one connection per app.
type connections struct {
	mu      sync.Mutex
	chosen  *connection.Connection
	refuse  error // of Choose
	useErr  error
	version int
	others  int // how often Refused has other credentials
	refused int
	worked  []*connection.Live
	ended   bool // there are no others because the connection has ended
}

func newConnections() *connections {
	return &connections{chosen: &connection.Connection{
		ID: "con_1", AccountID: account, App: "desk", Scheme: "key", Params: map[string]string{"tenant": "acme"},
		Status: connection.Active, Identity: connection.Identity{ID: "7"},
	}}
}

func (c *connections) Choose(_ context.Context, _ string, a *app.App, id, endUser string) (*connection.Connection,
	error,
) {
	if a.ID == "weather" {
		return &connection.Connection{App: a.ID, Scheme: "open"}, nil
	}
	if c.refuse != nil {
		return nil, c.refuse
	}
	if id != "" && id != c.chosen.ID || endUser != "" && endUser != c.chosen.EndUser {
		return nil, problem.New(problem.NotFound, "connection_not_found", "There is none.")
	}
	return c.chosen, nil
}

func (c *connections) live() *connection.Live {
	return &connection.Live{
		Connection: c.chosen,
		Values:     app.Map{"key": fmt.Sprint("s3cret-", c.version), "tenant": "acme"},
	}
}

func (c *connections) Use(context.Context, string, string) (*connection.Live, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live(), c.useErr
}

func (c *connections) Refused(context.Context, *connection.Live) (*connection.Live, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused++
	if c.others == 0 && c.ended {
		return nil, problem.New(problem.Conflict, "reconnect_required", "It has ended.")
	}
	if c.others == 0 {
		return nil, nil
	}
	c.others--
	c.version++
	return c.live(), nil
}

func (c *connections) Worked(_ context.Context, live *connection.Live) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.worked = append(c.worked, live)
	return nil
}

type opener struct{}

func (opener) Link(_ context.Context, c *tool.Caller, appID, connectionID, endUser string) (*tool.Link, error) {
	return &tool.Link{URL: "https://platform.example/connect/" + strings.Join([]string{appID, connectionID, endUser},
		"-"), SessionID: "cs_1"}, nil
}

type fetcher struct{}

func (fetcher) Fetch(_ context.Context, url string) (*file.File, error) {
	return &file.File{Name: "fetched", MediaType: "text/plain", Data: []byte(url)}, nil
}

type keys struct {
	mu  sync.Mutex
	all map[string]*apikey.Key
}

func (k *keys) Get(_ context.Context, _, id string) (*apikey.Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key := k.all[id]; key != nil {
		return key, nil
	}
	return nil, problem.New(problem.NotFound, "api_key_not_found", "There is none.")
}

// by returns a caller with a key.
func (w *world) by(change func(*apikey.Key)) *tool.Caller {
	key := &apikey.Key{ID: "key_1", AccountID: account, Permissions: apikey.All, Approval: apikey.ApproveNone}
	key.Restrict.RawRequests = true
	if change != nil {
		change(key)
	}
	w.keys.mu.Lock()
	defer w.keys.mu.Unlock()
	w.keys.all[key.ID] = key
	return &tool.Caller{AccountID: account, Key: key, Actor: audit.Actor{Kind: audit.ByKey, ID: key.ID}}
}

func request(id, arguments string) tool.Request {
	return tool.Request{Tool: id, Arguments: json.RawMessage(arguments)}
}

// work runs the jobs of the service until the test ends.
func (w *world) work(t *testing.T) {
	t.Helper()
	worker := jobs.NewWorker(w.store.Jobs, nil, w.Jobs(), slog.New(slog.DiscardHandler), nil)
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { worker.Run(ctx) })
	t.Cleanup(func() {
		stop()
		done.Wait()
		w.Close()
	})
}

// code is the code of a problem, or of what a run ended with; "" for neither.
func code(res *tool.Result, err error) string {
	switch {
	case err != nil:
		p, _ := problem.From(err)
		return p.Code
	case res != nil && res.Failure != nil:
		return res.Failure.Code
	}
	return ""
}

func wait(d time.Duration) { time.Sleep(d) } // in a bubble, where it takes no time
