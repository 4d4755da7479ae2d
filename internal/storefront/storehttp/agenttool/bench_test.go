package agenttool

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"ace/internal/foundation/money"
	"ace/internal/protocol/mcp"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/offer"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The benchmarks compare the ten tools, served by protocol/mcp and by the typed
// server of the official SDK in its stateless JSON mode: the same structs, the
// same operations behind them.
//
//	go test -run '^$' -bench Servers ./internal/storefront/storehttp/agenttool

// fakeCatalog sells eight offers, in memory.
type fakeCatalog struct{}

// Offers implements offer.Source.
func (fakeCatalog) Offers(context.Context) (offer.Listing, error) {
	l := offer.Listing{Mode: "sandbox", VerifiedAt: time.Now()}
	for i := range 8 {
		l.Offers = append(l.Offers, offer.Offer{
			ID: fmt.Sprintf("assistant_%d", i), ProductID: "prod_assistant", ProductName: "Assistant",
			Name:        fmt.Sprintf("Assistant, plan %d", i),
			Description: "A research assistant that reads the sources for you and answers with references.",
			Category:    offer.Software,
			Price:       money.Amount{Minor: 1900, Currency: "USD"}, Tax: offer.TaxExcluded,
			Billing: offer.Billing{Interval: "month", Count: 1}, TrialDays: 14,
			Delivery: offer.Delivery{Type: offer.Digital, Summary: "Access by e-mail at once."},
			PriceRef: fmt.Sprintf("price_%d", i),
		})
	}
	offer.Sort(l.Offers)
	return l, nil
}

// Taken implements offer.Counter.
func (fakeCatalog) Taken(context.Context) (map[string]int64, error) { return nil, nil }

func (fakeCatalog) Changes() uint64 { return 0 }

func ourServer(s *Set) http.Handler {
	server := mcp.NewServer(mcp.Implementation{Name: "store", Version: "1"}, nil)
	for _, tool := range s.All() {
		server.AddRawTool(tool.Tool.Tool, tool.Handle)
	}
	return server
}

// sdkServer registers the same tools the SDK's typed way.
func sdkServer(s *Set) http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "store", Version: "1"}, nil)
	addSDK(server, s, SiteInfo, (*Set).siteInfo)
	addSDK(server, s, SearchPages, (*Set).searchPages)
	addSDK(server, s, ReadPage, (*Set).readPage)
	addSDK(server, s, ListProducts, (*Set).listProducts)
	addSDK(server, s, CreateCheckout, func(*Set, context.Context, *mcp.Call, *createInput) (*ucp.Checkout, error) {
		return &ucp.Checkout{}, nil
	})
	addSDK(server, s, GetCheckout,
		func(*Set, context.Context, *mcp.Call, *getInput) (*ucp.Checkout, error) { return &ucp.Checkout{}, nil })
	addSDK(server, s, ListServices, (*Set).listServices)
	addSDK(server, s, AISearchAudit,
		func(*Set, context.Context, *mcp.Call, *crawlInput) (*any, error) { return nil, notOffered() })
	addSDK(server, s, StructuredData,
		func(*Set, context.Context, *mcp.Call, *crawlInput) (*any, error) { return nil, notOffered() })
	addSDK(server, s, LLMsTextDraft,
		func(*Set, context.Context, *mcp.Call, *draftInput) (*any, error) { return nil, notOffered() })
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

func addSDK[In, Out any](server *sdk.Server, s *Set, name string, do operation[In, Out]) {
	about := s.Find(name)
	sdk.AddTool(server, &sdk.Tool{
		Name: name, Title: about.Title, Description: about.Description,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint:   about.Annotations.ReadOnly,
			IdempotentHint: about.Annotations.Idempotent,
		},
	}, func(ctx context.Context, _ *sdk.CallToolRequest, in *In) (*sdk.CallToolResult, *Out, error) {
		out, err := do(s, ctx, nil, in)
		return nil, out, err
	})
}

func eachServer(b *testing.B, run func(b *testing.B, h http.Handler, message string)) {
	b.Helper()
	call := func(tool, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` +
			arguments + `}}`
	}
	messages := []struct{ name, body string }{
		{"list", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
		{"call-search_pages", call(SearchPages, `{"query":"refunds","limit":5}`)},
		{"call-read_page", call(ReadPage, `{"path":"/refunds","offset":0,"limit":500}`)},
		{"call-list_products", call(ListProducts, `{"query":"assistant","limit":2}`)},
	}
	s := readingSet(b)
	servers := []struct {
		name string
		h    http.Handler
	}{{"ours", ourServer(s)}, {"sdk", sdkServer(s)}}
	for _, m := range messages {
		for _, server := range servers {
			b.Run(m.name+"/"+server.name, func(b *testing.B) { run(b, server.h, m.body) })
		}
	}
}

// BenchmarkServers calls the handlers without sockets.
func BenchmarkServers(b *testing.B) {
	eachServer(b, func(b *testing.B, h http.Handler, message string) {
		b.Helper()
		b.ReportAllocs()
		before := processorTime(b)
		for b.Loop() {
			r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/mcp", strings.NewReader(message))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("MCP-Protocol-Version", "2025-06-18")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"error"`) ||
				strings.Contains(w.Body.String(), `"isError":true`) {
				b.Fatal(w.Code, w.Body.String())
			}
		}
		b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
	})
}

// BenchmarkServersOverHTTP sends the same over one kept-alive connection. It
// holds the client's part, which is the same for both.
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
		b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
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
