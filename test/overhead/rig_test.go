// Package overhead measures what stands between an agent and a tool: the same
// tool of the same MCP server is called directly, through ACE and through
// other programs that pass calls on.
//
//	caller ── MCP over HTTP ─────────────────────────► tool server   direct
//	caller ── REST ── ace ── MCP over HTTP ──────────► tool server   ace
//	caller ── MCP over HTTP ── Go SDK ── HTTP ───────► tool server   go-sdk
//	caller ── MCP over HTTP ── mcp-proxy ── stdio ───► tool server   mcp-proxy
//	caller ── MCP over HTTP ── supergateway ── stdio ► tool server   supergateway
//
// The programs from npm speak to their server over standard input and output,
// which is the shorter way. All others check nothing and keep nothing; ACE
// checks key, permissions and arguments, and keeps a record of each run.
package overhead

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ace/test/harness"
)

// Roles that the test binary plays as a process of its own.
const (
	roleVariable = "OVERHEAD_ROLE"
	roleHTTP     = "server over http"
	roleStdio    = "server over stdio"
	roleProxy    = "proxy of the Go SDK"
)

func TestMain(m *testing.M) {
	var err error
	switch role := os.Getenv(roleVariable); role {
	case "":
		os.Exit(m.Run())
	case roleHTTP:
		err = http.ListenAndServe(os.Getenv("OVERHEAD_ADDR"), http.HandlerFunc(serveHTTP))
	case roleStdio:
		err = serveStdio()
	case roleProxy:
		err = proxy(os.Getenv("OVERHEAD_UPSTREAM"))
	default:
		err = errors.New("no role " + role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// answerTo is the tool server: it has one tool, which echoes its input.
// It does as little as a server can, so that what is measured stands between.
// nil: nothing is to be answered.
func answerTo(text []byte) []byte {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Arguments json.RawMessage `json:"arguments"`
		} `json:"params"`
	}
	if json.Unmarshal(text, &m) != nil || len(m.ID) == 0 {
		return nil
	}
	var result any
	switch m.Method {
	case "initialize":
		result = map[string]any{
			"protocolVersion": "2025-06-18",
			"capabilities":    map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{
				"name":    "echo",
				"version": "1",
			},
		}
	case "tools/list":
		schema := map[string]any{
			"type":       "object",
			"properties": map[string]any{"message": map[string]any{"type": "string"}}, "required": []string{"message"},
		}
		result = map[string]any{"tools": []any{map[string]any{
			"name": "echo", "description": "Say it again.",
			"inputSchema": schema, "annotations": map[string]any{"readOnlyHint": true},
		}}}
	case "tools/call":
		result = map[string]any{"content": []any{map[string]any{"type": "text", "text": string(m.Params.Arguments)}}}
	case "ping":
		result = struct{}{}
	default:
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
	}
	told, err := json.Marshal(result)
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, told)
}

func serveHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	answer := answerTo(text)
	switch {
	case r.Method != http.MethodPost || err != nil:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case answer == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}
}

func serveStdio() error {
	for lines := bufio.NewReader(os.Stdin); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		if answer := answerTo(line); answer != nil {
			if _, err := os.Stdout.Write(append(answer, '\n')); err != nil {
				return err
			}
		}
	}
}

// proxy passes the tools of another server on, by the Go SDK alone.
func proxy(upstream string) error {
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "proxy", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: upstream, DisableStandaloneSSE: true},
		nil)
	if err != nil {
		return err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "proxy", Version: "1"}, nil)
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		server.AddTool(tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return session.CallTool(ctx, &mcp.CallToolParams{Name: r.Params.Name, Arguments: r.Params.Arguments})
		})
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	return http.ListenAndServe(os.Getenv("OVERHEAD_ADDR"), handler)
}

// process starts a program that listens on addr, and ends it and its children
// with the test.
func process(t testing.TB, addr string, env []string, program string, args ...string) (pid int) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", program, said.String())
		}
	})
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			return cmd.Process.Pid
		}
	}
	t.Fatalf("%s does not listen", program)
	return 0
}

// self starts the test binary in a role.
func self(t testing.TB, role string, env ...string) (address string, pid int) {
	t.Helper()
	addr := harness.FreeAddr(t)
	pid = process(t, addr, append(env, roleVariable+"="+role, "OVERHEAD_ADDR="+addr), os.Args[0])
	return "http://" + addr, pid
}

// script writes a program that starts the test binary as a server over
// standard input and output: the programs from npm take a command.
func script(t testing.TB) string {
	t.Helper()
	path := t.TempDir() + "/echo"
	text := fmt.Sprintf("#!/bin/sh\nexec env '%s=%s' '%s'\n", roleVariable, roleStdio, os.Args[0])
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	return path
}

// worked is the processor time that a process has used so far, in ticks of
// 10 ms.
func worked(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, errUser := strconv.ParseInt(fields[11], 10, 64)
	system, errSystem := strconv.ParseInt(fields[12], 10, 64)
	if err := errors.Join(errUser, errSystem); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
