package mcptool_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ace/internal/foundation/egress"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/mcptool"
	"ace/internal/platform/tool"
)

// guarded is a client that may call this machine.
func guarded() *http.Client {
	return egress.New(&egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}).Client(
		egress.Connector())
}

func newExecutor(t *testing.T) *mcptool.Executor {
	t.Helper()
	e := mcptool.New(guarded(), &mcptool.Options{ListTime: 20 * time.Second})
	t.Cleanup(e.Close)
	return e
}

// acme is an app whose tools are those of a server.
func acme(t *testing.T, address, transport string, scheme app.Scheme) *app.App {
	t.Helper()
	a := &app.App{
		ID: "x-acme", Name: "Acme", Custom: true, MCP: &app.MCPServer{URL: address, Transport: transport},
		Schemes: []app.Scheme{scheme},
	}
	if err := a.Complete(); err != nil {
		t.Fatal(err)
	}
	return a
}

func open() app.Scheme { return app.Scheme{ID: "none", Type: app.TypeNone} }

func bearer() app.Scheme {
	return app.Scheme{
		ID: "bearer", Type: app.TypeKey,
		Send: app.Send{Headers: map[string]string{"Authorization": "Bearer {token}"}},
	}
}

func live(values map[string]string) *connection.Live {
	return &connection.Live{
		Connection: &connection.Connection{ID: "con_1", AccountID: "acc_1", App: "x-acme"},
		Values:     app.Map(values),
	}
}

// client is an app with its tools as they were listed.
type client struct {
	executor *mcptool.Executor
	app      *app.App
	live     *connection.Live
	tools    map[string]*app.Tool
}

func connect(t *testing.T, a *app.App, l *connection.Live) *client {
	t.Helper()
	c := &client{executor: newExecutor(t), app: a, live: l, tools: map[string]*app.Tool{}}
	result, err := c.executor.List(t.Context(), a, &a.Schemes[0], l)
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	for _, one := range result.Tools {
		one.ID = app.ToolID(a.ID, one.Name)
		c.tools[one.Name] = one
	}
	return c
}

func (c *client) names() []string {
	var names []string
	for name := range c.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (c *client) run(ctx context.Context, t *testing.T, name string, arguments map[string]any) (*tool.Answer, error) {
	t.Helper()
	one := c.tools[name]
	if one == nil {
		t.Fatalf("there is no tool %s among %v", name, c.names())
	}
	return c.executor.Execute(ctx,
		&tool.Call{App: c.app, Scheme: &c.app.Schemes[0], Tool: one, Live: c.live, Arguments: arguments})
}

// serve runs an MCP server of the Go SDK.
func serve(t *testing.T, server *mcp.Server, wrap func(http.Handler) http.Handler) string {
	t.Helper()
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	if wrap != nil {
		h = wrap(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// program runs a Node program with an MCP server until the test ends and returns
// its address. args may hold PORT.
func program(t *testing.T, env []string, args ...string) (base string) {
	t.Helper()
	node, modules := os.Getenv("ACE_NODE"), os.Getenv("ACE_NODE_MODULES")
	if node == "" || modules == "" {
		t.Skip("left out: ACE_NODE and ACE_NODE_MODULES are not set (scripts/install-test-needs node)")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	_ = listener.Close()
	for i := range args {
		args[i] = strings.NewReplacer("PORT", port, "MODULES", modules, "NODE", node).Replace(args[i])
	}
	if _, err := os.Stat(args[0]); err != nil {
		t.Skipf("left out: %s is not installed (scripts/install-test-needs node)", filepath.Base(filepath.Dir(args[0])))
	}
	command := exec.Command(node, args...) //nolint:gosec // programs of the test's own choice
	command.Env = append(os.Environ(), append(env, "PORT="+port, "PATH="+filepath.Dir(node)+":"+os.Getenv("PATH"))...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		_ = command.Wait()
	})
	go func() {
		for lines := bufio.NewScanner(said); lines.Scan(); {
			_ = lines.Text()
		}
	}()
	for range 5000 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = conn.Close()
			return "http://127.0.0.1:" + port
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not listen", args[0])
	return ""
}
