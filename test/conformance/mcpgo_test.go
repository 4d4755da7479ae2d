package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"ace/internal/browsertest"
)

// goAgent is the agent of mcp-agent.mjs with the official Go client.
type goAgent struct {
	open, signIn chan string   // URLs that the user has to open
	opened       chan struct{} // the user is done with open
	report       agentReport
}

// withKey adds a key to the requests of a client.
type withKey struct{ key string }

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return http.DefaultTransport.RoundTrip(r)
}

// ask has the user open a URL.
func (a *goAgent) ask(ctx context.Context, link string) error {
	a.report.Asked++
	select {
	case a.open <- link:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-a.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// handler signs in by OAuth: it registers itself and receives the code at redirect.
func (a *goAgent) handler(redirect string, codes <-chan *auth.AuthorizationResult) (auth.OAuthHandler, error) {
	return auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName: "Peer Agent", RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: "none",
			},
		},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (
			*auth.AuthorizationResult, error,
		) {
			select {
			case a.signIn <- args.URL:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			select {
			case code := <-codes:
				return code, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	})
}

// work goes from the search to the run of a tool.
func (a *goAgent) work(ctx context.Context, transport *mcp.StreamableClientTransport, version string) error {
	r := &a.report
	client := mcp.NewClient(&mcp.Implementation{Name: "peer", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler: func(ctx context.Context, e *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept"}, a.ask(ctx, e.Params.URL)
		},
	})
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	r.Version = session.InitializeResult().ProtocolVersion
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, tool := range list.Tools {
		r.Tools = append(r.Tools, tool.Name)
	}
	// Versions before 2025-06-18 have results as text alone.
	call := func(into any, name string, arguments map[string]any) (isError bool, err error) {
		got, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		text, ok := got.Content[0].(*mcp.TextContent)
		if !ok {
			return false, fmt.Errorf("%s returns %T", name, got.Content[0])
		}
		return got.IsError, json.Unmarshal([]byte(text.Text), into)
	}
	var apps struct{ Apps []struct{ App string } }
	if _, err := call(&apps, "search_apps", map[string]any{"query": "demo notes"}); err != nil {
		return err
	}
	r.App = apps.Apps[0].App
	var link struct {
		Status, URL string
		SessionID   string `json:"session_id"`
	}
	if _, err := call(&link, "connect_app", map[string]any{"app": r.App}); err != nil {
		return err
	}
	if r.Session.Status = link.Status; link.Status != "connected" {
		if err := a.ask(ctx, link.URL); err != nil {
			return err
		}
		wait := map[string]any{"app": r.App, "session_id": link.SessionID, "wait_seconds": 25}
		if _, err := call(&r.Session, "connect_app", wait); err != nil {
			return err
		}
	}
	var found struct{ Tools []struct{ Tool string } }
	if _, err := call(&found, "find_tools", map[string]any{"task": "write a note"}); err != nil {
		return err
	}
	r.Found = found.Tools[0].Tool
	var tool struct {
		Input struct{ Required []string } `json:"input_schema"`
	}
	if _, err := call(&tool, "get_tool", map[string]any{"tool": r.Found}); err != nil {
		return err
	}
	r.Required = tool.Input.Required
	write := map[string]any{"tool": r.Found, "arguments": map[string]any{"title": "Tea"}}
	if _, err := call(&r.Run, "run_tool", write); err != nil {
		return err
	}
	if _, err := call(r, "list_connections", map[string]any{}); err != nil {
		return err
	}
	wrong := struct{ Error any }{&r.Wrong}
	write["arguments"] = map[string]any{}
	r.Wrong.IsError, err = call(&wrong, "run_tool", write)
	return err
}

// TestPlatformGoAgents is TestPlatformAgents with the official Go client, on the oldest
// and on the newest version.
func TestPlatformGoAgents(t *testing.T) {
	b := browsertest.Start(t)
	for _, version := range []string{"2024-11-05", "2026-07-28"} {
		eachWay(t, b, version, func(t *testing.T, host *platformHost, tab *browsertest.Tab, key string) {
			t.Helper()
			a := &goAgent{open: make(chan string), signIn: make(chan string), opened: make(chan struct{})}
			transport := &mcp.StreamableClientTransport{Endpoint: host.url + "/mcp"}
			if key == "oauth" {
				codes := make(chan *auth.AuthorizationResult, 1)
				loopback := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					q := r.URL.Query()
					code := &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}
					select {
					case codes <- code:
					default: // the browser also asks for an icon
					}
				}))
				t.Cleanup(loopback.Close)
				var err error
				if transport.OAuthHandler, err = a.handler(loopback.URL+"/callback", codes); err != nil {
					t.Fatal(err)
				}
			} else {
				transport.HTTPClient = &http.Client{Transport: withKey{key}}
			}
			ended := make(chan error, 1)
			go func() { ended <- a.work(t.Context(), transport, version) }()
			for {
				select {
				case link := <-a.signIn:
					letIn(tab, "Peer Agent", link)
				case link := <-a.open:
					connect(tab, link)
					a.opened <- struct{}{}
				case err := <-ended:
					if err != nil {
						t.Fatal(err)
					}
					a.report.check(t)
					if a.report.Version != version {
						t.Errorf("version = %q, want %s", a.report.Version, version)
					}
					return
				}
			}
		})
	}
}
