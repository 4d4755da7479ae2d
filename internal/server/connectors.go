package server

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/connector"
	"ace/internal/platform/httptool"
	"ace/internal/platform/mcptool"
	"ace/internal/platform/oauthclient"
	"ace/internal/platform/tool"
	"ace/internal/storage/platformstore"
)

// caller calls the apps of the catalog, and those that accounts have added,
// each by its own way out.
//
//	curated app ── HTTP ── hosts of the catalog
//	demo app ───── HTTP ── the sandbox
//	connector ──── HTTP ── to the account's own software, within the guard
//	connector ──── MCP
type caller struct {
	shipped, demo, own *httptool.Executor
	servers            *mcptool.Executor
}

func (s *Server) newCaller() *caller {
	demo := trusting(patient(egress.AppAPI()), s.cfg.SandboxBaseURL())
	return &caller{
		demo:    httptool.New(s.guard.Client(demo), &httptool.Options{Sign: oauthclient.Sign}),
		shipped: httptool.New(s.guard.Client(patient(egress.AppAPI())), &httptool.Options{Sign: oauthclient.Sign}),
		own:     httptool.New(s.guard.Client(patient(s.connectorPurpose())), &httptool.Options{Sign: oauthclient.Sign}),
		servers: mcptool.New(s.guard.Client(patient(s.connectorPurpose())), nil),
	}
}

// connectorPurpose is what connectors may call. The sandbox's app can be one.
func (s *Server) connectorPurpose() egress.Purpose {
	return s.practicing(egress.Connector(), "/notes")
}

// executes is what all of them can do.
type executes interface {
	tool.Executor
	connection.Checker
}

func (c *caller) of(a *app.App) executes {
	switch {
	case a.MCP != nil:
		return c.servers
	case a.Custom:
		return c.own
	case a.ID == demoApp:
		return c.demo
	}
	return c.shipped
}

// Execute implements tool.Executor. A request of the caller's own making is HTTP
// whatever the app.
func (c *caller) Execute(ctx context.Context, call *tool.Call) (*tool.Answer, error) {
	return c.of(call.App).Execute(ctx, call)
}

// Preview implements tool.Executor.
func (c *caller) Preview(call *tool.Call) (*tool.Preview, error) { return c.of(call.App).Preview(call) }

// Check implements connection.Checker.
func (c *caller) Check(ctx context.Context, a *app.App, scheme *app.Scheme,
	live *connection.Live,
) (connection.Identity, error) {
	return c.of(a).Check(ctx, a, scheme, live)
}

// newConnectors makes the service of connectors. Its connections come later:
// they need the connectors to know their apps.
func (s *Server) newConnectors(store *platformstore.Store, c *caller) *connector.Service {
	return connector.New(connector.Ports{
		Store:   store,
		Lister:  c.servers,
		Fetcher: &fetcher{s.guard, s.connectorPurpose(), s.guard.Client(s.connectorPurpose())},
	}, &connector.Options{Log: s.log})
}

// fetcher implements connector.Fetcher.
type fetcher struct {
	guard   *egress.Guard
	purpose egress.Purpose
	client  *http.Client
}

// Allowed implements connector.Fetcher.
func (f *fetcher) Allowed(address string) error { return f.guard.Check(f.purpose, address) }

// Fetch implements connector.Fetcher.
func (f *fetcher) Fetch(ctx context.Context, address string, limit int64) ([]byte, error) {
	res, err := f.get(ctx, address, "application/json, application/yaml, */*;q=0.5")
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, problem.New(problem.Unprocessable, "import_failed",
			fmt.Sprintf(
				"The URL of the document returned %d. It is fetched without credentials: send the document "+
					"itself as openapi.", res.StatusCode)).Advise("fix_arguments")
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return nil, outcome(err)
	}
	return data, nil
}

// Reach implements connector.Fetcher.
func (f *fetcher) Reach(ctx context.Context, address string) error {
	res, err := f.get(ctx, address, "*/*")
	if err != nil {
		return err
	}
	return res.Body.Close()
}

func (f *fetcher) get(ctx context.Context, address, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, problem.New(problem.Unprocessable, "import_failed", "This is no URL.")
	}
	req.Header.Set("Accept", accept)
	res, err := f.client.Do(req)
	if err != nil {
		return nil, outcome(err)
	}
	return res, nil
}

// outcome is the problem inside an error of the guard; other errors are of the
// server that responded.
func outcome(err error) error {
	if p, ok := problem.From(err); ok {
		return p
	}
	return problem.New(problem.Unprocessable, "import_failed", "The server broke off its response.")
}
