package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"ace/internal/protocol/mcp"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestOfficialClient connects the Go SDK's client, which first probes for a newer protocol version,
// falls back, opens the GET stream, lists and calls.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	live := httptest.NewServer(newServer(&mcp.Options{CheckOutput: true, Instructions: "Add numbers."}))
	t.Cleanup(live.Close)
	client := sdk.NewClient(&sdk.Implementation{Name: "peer", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: live.URL}, nil)
	if err != nil {
		t.Fatalf("Connect = %v", err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if got := session.InitializeResult(); got.ProtocolVersion != "2025-06-18" || got.Instructions != "Add numbers." ||
		got.ServerInfo.Name != "test" {
		t.Errorf("InitializeResult = %+v", got)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatalf("ListTools = %v", err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "add fail pay strict" {
		t.Errorf("tools = %q, want the order of registration", got)
	}
	good, err := session.CallTool(t.Context(),
		&sdk.CallToolParams{Name: "add", Arguments: map[string]any{"a": 1, "b": 2}})
	if err != nil || good.IsError {
		t.Fatalf("CallTool(add) = %+v, %v", good, err)
	}
	if got, _ := json.Marshal(good.StructuredContent); !strings.Contains(string(got), `"sum":3`) {
		t.Errorf("structured content = %s", got)
	}
	bad, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "add", Arguments: map[string]any{"a": "x"}})
	if err != nil || !bad.IsError || !strings.Contains(bad.Content[0].(*sdk.TextContent).Text,
		"a: must be a whole number") {
		t.Errorf("CallTool with wrong arguments = %+v, %v, want a readable error result", bad, err)
	}
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "none"}); err == nil ||
		!strings.Contains(err.Error(), "Unknown tool") {
		t.Errorf("CallTool(none) = %v, want a protocol error", err)
	}
}

// The benchmarks compare ten typed tools, served by this package and by the SDK's typed server in
// its stateless JSON mode. They call http.Handler, without sockets, whose cost is the same for
// both.
type benchInput struct {
	Query     string   `json:"query" maxLength:"200" doc:"Words to look for." jsonschema:"Words to look for."`
	Available bool     `json:"available,omitempty" doc:"Only what can be bought now." jsonschema:"Only what can be bought now."`
	Limit     int      `json:"limit,omitempty" doc:"How many at most." jsonschema:"How many at most."`
	Tags      []string `json:"tags,omitempty" doc:"All of these." jsonschema:"All of these."`
}

type benchOutput struct {
	Items []benchItem `json:"items"`
	Next  string      `json:"next,omitempty"`
	Total int         `json:"total"`
}

type benchItem struct {
	ID       string `json:"id" doc:"Offer." jsonschema:"Offer."`
	Name     string `json:"name" doc:"Name." jsonschema:"Name."`
	Amount   int64  `json:"amount" doc:"Minor units." jsonschema:"Minor units."`
	Currency string `json:"currency"`
	Delivery string `json:"delivery"`
}

func benchResult() *benchOutput {
	return &benchOutput{Total: 2, Items: []benchItem{
		{"off_1", "Monthly plan", 1900, "eur", "instant"}, {"off_2", "Camera", 24900, "eur", "shipped in two days"},
	}}
}

const benchDescription = "Lists what can be bought, with verified prices, billing terms, delivery and live " +
	"availability."

func ourServer() http.Handler {
	s := mcp.NewServer(mcp.Implementation{Name: "bench", Version: "1"}, nil)
	for i := range 10 {
		mcp.AddTool(s,
			mcp.Tool{Name: fmt.Sprintf("list_products_%d", i), Title: "List products", Description: benchDescription},
			func(context.Context, *mcp.Call, *benchInput) (*benchOutput, error) { return benchResult(), nil })
	}
	return s
}

func sdkServer() http.Handler {
	s := sdk.NewServer(&sdk.Implementation{Name: "bench", Version: "1"}, nil)
	for i := range 10 {
		sdk.AddTool(s,
			&sdk.Tool{Name: fmt.Sprintf("list_products_%d", i), Title: "List products", Description: benchDescription},
			func(context.Context, *sdk.CallToolRequest, *benchInput) (*sdk.CallToolResult, *benchOutput, error) {
				return nil, benchResult(), nil
			})
	}
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

func BenchmarkServers(b *testing.B) {
	eachServer(b, func(b *testing.B, h http.Handler, message string) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/mcp", strings.NewReader(message))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("MCP-Protocol-Version", "2025-06-18")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"error"`) {
				b.Fatal(w.Code, w.Body.String())
			}
		}
	})
}

// BenchmarkServersOverHTTP sends the same over one keep-alive connection and reports the CPU time
// of the process per request. It includes the client's part, which is small and the same for both.
func BenchmarkServersOverHTTP(b *testing.B) {
	eachServer(b, func(b *testing.B, h http.Handler, message string) {
		b.Helper()
		live := httptest.NewServer(h)
		defer live.Close()
		conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", live.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		request := fmt.Appendf(nil,
			"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, "+
				"text/event-stream\r\n"+
				"MCP-Protocol-Version: 2025-06-18\r\nContent-Length: %d\r\n\r\n%s", len(message), message)
		answers := bufio.NewReaderSize(conn, 64<<10)
		before := processorTime(b)
		for b.Loop() {
			if _, err := conn.Write(request); err != nil {
				b.Fatal(err)
			}
			res, err := http.ReadResponse(answers, nil)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
				b.Fatal(res.StatusCode, err)
			}
			_ = res.Body.Close()
		}
		b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
	})
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func eachServer(b *testing.B, run func(b *testing.B, h http.Handler, message string)) {
	b.Helper()
	messages := []struct{ name, body string }{
		{"ping", `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
		{"list", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
		{
			"call",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_products_3",` +
				`"arguments":{"query":"camera","available":true,"limit":10,"tags":["a","b"]}}}`,
		},
	}
	servers := []struct {
		name string
		h    http.Handler
	}{{"ours", ourServer()}, {"sdk", sdkServer()}}
	for _, m := range messages {
		for _, s := range servers {
			b.Run(m.name+"/"+s.name, func(b *testing.B) { run(b, s.h, m.body) })
		}
	}
}
