package mcphttp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"ace/internal/platform/platformhttp/mcphttp"
	"ace/internal/protocol/mcp"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const runSearch = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_tool",` +
	`"arguments":{"tool":"desk__search","arguments":{"n":5}}}}`

// BenchmarkRun compares a run over MCP with the same run over REST, without
// sockets but to the app, in processor time.
//
//	go test -run '^$' -bench Run ./internal/platform/platformhttp/mcphttp
func BenchmarkRun(b *testing.B) {
	w := setup(b)
	secret := w.key(nil)
	w.signIn(w.result(secret, "connect_app", `{"app":"desk"}`)["url"].(string))
	for _, way := range []struct{ name, target, body string }{
		{"rest", "/api/v1/tools/desk__search/run", `{"arguments":{"n":5},"timeout_seconds":45,` +
			`"output":{"max_bytes":20000}}`},
		{"mcp", "/mcp", runSearch},
	} {
		b.Run(way.name, func(b *testing.B) {
			serve(b, w.handler, way.target, way.body, "Authorization", "Bearer "+secret)
		})
	}
}

// serve sends a message again and again and reports the processor time of one.
func serve(b *testing.B, h http.Handler, target, body string, fields ...string) {
	b.Helper()
	before := processorTime(b)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, target, strings.NewReader(body))
		r.Host = "127.0.0.1:8081"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i+1 < len(fields); i += 2 {
			r.Header.Set(fields[i], fields[i+1])
		}
		got := httptest.NewRecorder()
		h.ServeHTTP(got, r)
		if got.Code != http.StatusOK || strings.Contains(got.Body.String(), `"error":{`) {
			b.Fatalf("%d %s", got.Code, got.Body)
		}
	}
	b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkServers compares this server, whose tools do nothing, with the same
// six tools on the official Go SDK in its stateless JSON mode.
//
//	go test -run '^$' -bench Servers ./internal/platform/platformhttp/mcphttp
func BenchmarkServers(b *testing.B) {
	w := setup(b)
	secret := w.key(nil)
	var list struct{ Result struct{ Tools []*sdk.Tool } }
	if err := json.Unmarshal(w.post(secret, listTools).Body.Bytes(), &list); err != nil {
		b.Fatal(err)
	}
	peer := sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "1"}, nil)
	for _, tool := range list.Result.Tools {
		sdk.AddTool(peer, tool, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult,
			map[string]any, error,
		) {
			return nil, answer(), nil
		})
	}
	theirs := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return peer },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	ours := emptyServer(list.Result.Tools)
	call := toolCall("search_apps", `{"query":"tickets","limit":5}`)
	for _, message := range []struct{ name, body string }{{"list", listTools}, {"call", call}} {
		b.Run(message.name+"/ours", func(b *testing.B) {
			serve(b, ours, "/mcp", message.body, "MCP-Protocol-Version", "2025-06-18")
		})
		b.Run(message.name+"/sdk", func(b *testing.B) {
			serve(b, theirs, "/mcp", message.body, "MCP-Protocol-Version", "2025-06-18")
		})
	}
}

// answer is what the tools of both servers return.
func answer() map[string]any {
	return map[string]any{"apps": []any{}, "next_cursor": nil}
}

// emptyServer serves tools that do nothing with protocol/mcp.
func emptyServer(tools []*sdk.Tool) http.Handler {
	s := mcp.NewServer(mcp.Implementation{Name: "ours", Version: "1"}, &mcp.Options{Versions: mcphttp.Versions()})
	for _, t := range tools {
		input, _ := json.Marshal(t.InputSchema)   // was decoded from JSON
		output, _ := json.Marshal(t.OutputSchema) // likewise
		mcp.AddTool(s, mcp.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: input, OutputSchema: output,
		}, func(context.Context, *mcp.Call, *map[string]any) (*map[string]any, error) {
			v := answer()
			return &v, nil
		})
	}
	return s
}
