package overhead

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ace/test/harness"
)

const said = "the quick brown fox"

// way is one way to the tool.
type way struct {
	name string
	// open starts the process under test, and returns a call and the process whose
	// work is the price of the way.
	open func(t testing.TB, server string, serverPID int) (call func(ctx context.Context) (string, error), pid int)
}

func ways() []way {
	return []way{
		{"direct", func(t testing.TB, server string, pid int) (func(context.Context) (string, error), int) {
			return speak(t, server), pid
		}},
		{"ace", throughACE},
		{"go-sdk", func(t testing.TB, server string, _ int) (func(context.Context) (string, error), int) {
			base, pid := self(t, roleProxy, "OVERHEAD_UPSTREAM="+server)
			return speak(t, base), pid
		}},
		{"mcp-proxy", func(t testing.TB, _ string, _ int) (func(context.Context) (string, error), int) {
			return throughNode(t, "/mcp", "mcp-proxy/dist/bin/mcp-proxy.mjs", "--host", "127.0.0.1", "--port", "PORT",
				"--server", "stream", "--no-eventStore", "--", "SCRIPT")
		}},
		{"supergateway", func(t testing.TB, _ string, _ int) (func(context.Context) (string, error), int) {
			return throughNode(t, "/mcp", "supergateway/dist/index.js", "--stdio", "SCRIPT", "--outputTransport",
				"streamableHttp", "--stateful", "--port", "PORT", "--logLevel", "none")
		}},
	}
}

// throughNode starts a program from npm in front of the server.
func throughNode(t testing.TB, path, program string, args ...string) (func(context.Context) (string, error), int) {
	t.Helper()
	node, modules := os.Getenv("ACE_NODE"), os.Getenv("ACE_NODE_MODULES")
	if node == "" || modules == "" {
		t.Skip("left out: ACE_NODE and ACE_NODE_MODULES are not set (scripts/install-test-needs node)")
	}
	addr := harness.FreeAddr(t)
	fill := strings.NewReplacer("PORT", addr[strings.LastIndexByte(addr, ':')+1:], "SCRIPT", script(t))
	for i := range args {
		args[i] = fill.Replace(args[i])
	}
	pid := process(t, addr, nil, node, append([]string{modules + "/" + program}, args...)...)
	return speak(t, "http://"+addr+path), pid
}

// throughACE starts the platform, connects the server as a custom connector and
// calls the tool with the key of the account.
func throughACE(t testing.TB, server string, _ int) (func(context.Context) (string, error), int) {
	t.Helper()
	addr := harness.FreeAddr(t)
	p := harness.Start(t, harness.Build(t, "ace"), []string{
		"ACE_HOSTS=store,platform", "ACE_STORE_ADDR=" + harness.FreeAddr(t), "ACE_PLATFORM_ADDR=" + addr,
		"ACE_ADMIN_ADDR=" + harness.FreeAddr(t),
		"ACE_DATA_DIR=" + harness.DataDir(t), "ACE_EGRESS_ALLOW=127.0.0.0/8", "ACE_RATE_LIMIT=off",
		"ACE_SANDBOX_ADDR=" + harness.FreeAddr(t),
	}, "serve")
	base := "http://" + addr
	if !p.Ready(base) {
		t.Fatal("ace did not start")
	}
	key := "Bearer " + regexp.MustCompile(`ace_[0-9A-Za-z]{36}`).FindString(p.Output())
	made, err := json.Marshal(map[string]any{
		"type": "mcp", "name": "Echo", "slug": "x-echo", "url": server,
		"auth": map[string]any{"kind": "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	status, text, err := harness.Call(t, http.MethodPost, base+"/api/v1/custom-connectors", string(made),
		"Authorization", key)
	if err != nil || status != http.StatusCreated {
		t.Fatalf("the connector answers %d %s, %v", status, text, err)
	}
	return func(ctx context.Context) (string, error) {
		return post(ctx, base+"/api/v1/tools/x_echo__echo/run", `{"arguments":{"message":"`+said+`"}}`,
			http.Header{"Authorization": {key}})
	}, p.PID()
}

// speak begins a session at an MCP server, and returns how to call its tool.
func speak(t testing.TB, server string) func(context.Context) (string, error) {
	t.Helper()
	header := http.Header{"Accept": {"application/json, text/event-stream"}}
	_, answered, err := send(
		t.Context(),
		server,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},`+
			`"clientInfo":{"name":"caller","version":"1"}}}`,
		header,
	)
	if err != nil {
		t.Fatal(err)
	}
	header.Set("MCP-Protocol-Version", "2025-06-18")
	if id := answered.Get("Mcp-Session-Id"); id != "" {
		header.Set("Mcp-Session-Id", id)
	}
	if _, err := post(t.Context(), server, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		header); err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64 // a session takes each id once
	return func(ctx context.Context) (string, error) {
		id := strconv.FormatInt(calls.Add(1)+1, 10)
		return post(ctx, server,
			`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"echo","arguments":{"message":"`+said+
				`"}}}`, header)
	}
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: time.Minute}

func post(ctx context.Context, address, body string, header http.Header) (string, error) {
	text, _, err := send(ctx, address, body, header)
	return text, err
}

func send(ctx context.Context, address, body string, header http.Header) (text string, answered http.Header,
	err error,
) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return "", nil, err
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		return "", nil, err
	}
	if res.StatusCode > 299 || bytes.Contains(all, []byte(`"isError":true`)) {
		return "", nil, fmt.Errorf("%s: %s", res.Status, all)
	}
	return string(all), res.Header, nil
}

// TestEveryWayLeadsToTheTool keeps the measurement honest: each way answers
// what the tool says.
func TestEveryWayLeadsToTheTool(t *testing.T) {
	t.Parallel()
	server, pid := self(t, roleHTTP)
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			call, _ := w.open(t, server, pid)
			for range 3 {
				if text, err := call(t.Context()); err != nil || !strings.Contains(text, said) {
					t.Fatalf("the tool said %q, %v; want %q", text, err, said)
				}
			}
		})
	}
}

// BenchmarkCall measures a call by each way: the time that the caller waits
// (p50-µs), the calls that all callers make together (ns/op), and the processor
// time of what stands between (of the tool server itself where nothing does).
//
//	go test -run '^$' -bench Call -benchtime 3s ./test/overhead
func BenchmarkCall(b *testing.B) {
	server, pid := self(b, roleHTTP)
	for _, w := range ways() {
		b.Run(w.name, func(b *testing.B) {
			call, pid := w.open(b, server, pid)
			for range 200 { // until caches and just-in-time compilers are warm
				if _, err := call(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			for _, callers := range []int{1, 8} {
				b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) { measure(b, callers, pid, call) })
			}
		})
	}
}

func measure(b *testing.B, callers, pid int, call func(context.Context) (string, error)) {
	b.Helper()
	before := worked(b, pid)
	b.ResetTimer()
	work, failed, took := make(chan struct{}), make(chan error, callers), make(chan []time.Duration, callers)
	for range callers {
		go func() {
			var err error
			var mine []time.Duration
			for range work {
				began := time.Now()
				if _, e := call(b.Context()); e != nil {
					err = e
				}
				mine = append(mine, time.Since(began))
			}
			failed <- err
			took <- mine
		}()
	}
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	var all []time.Duration
	for range callers {
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
		all = append(all, <-took...)
	}
	b.StopTimer()
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2])/float64(time.Microsecond), "p50-µs")
	b.ReportMetric(float64(worked(b, pid)-before)/float64(time.Microsecond)/float64(b.N), "cpu-µs/op")
}
