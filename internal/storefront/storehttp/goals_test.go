package storehttp_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ace/internal/foundation/ratelimit"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/admission"
	"ace/internal/storefront/storehttp/mcphttp"
	"ace/internal/storefront/storehttp/storetest"
	"ace/internal/storefront/storehttp/ucphttp"
)

// client sends one request over one connection, again and again, and spends as
// little time on it as it can: the time that is measured is the server's.
type client struct {
	t       testing.TB
	conn    net.Conn
	reader  *bufio.Reader
	request []byte
	status  string
}

func dial(t testing.TB, address, method, path, body string, status int) *client {
	t.Helper()
	host := strings.TrimPrefix(address, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	text := method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\nAccept-Encoding: gzip\r\nUser-Agent: goals\r\n"
	if body != "" {
		text += "Content-Type: application/json\r\nMCP-Protocol-Version: 2025-06-18\r\nContent-Length: " +
			strconv.Itoa(len(body)) + "\r\n"
	}
	return &client{t, conn, bufio.NewReaderSize(conn, 64<<10), []byte(text + "\r\n" + body), strconv.Itoa(status)}
}

// once makes one request and returns how long its body is.
func (c *client) once() int {
	c.t.Helper()
	if _, err := c.conn.Write(c.request); err != nil {
		c.t.Fatal(err)
	}
	length, chunked := 0, false
	for first := true; ; first = false {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		switch text := string(line); {
		case first && !strings.HasPrefix(text, "HTTP/1.1 "+c.status):
			c.t.Fatalf("%s: %s", strings.SplitN(string(c.request), "\r\n", 2)[0], text)
		case strings.HasPrefix(text, "Content-Length: "):
			if length, err = strconv.Atoi(strings.TrimSpace(text[len("Content-Length: "):])); err != nil {
				c.t.Fatal(err)
			}
		case strings.HasPrefix(text, "Transfer-Encoding: chunked"):
			chunked = true
		}
		if string(line) == "\r\n" {
			break
		}
	}
	if chunked {
		c.t.Fatalf("%s: a stored document is sent in chunks", c.request)
	}
	if _, err := io.CopyN(io.Discard, c.reader, int64(length)); err != nil {
		c.t.Fatal(err)
	}
	return length
}

// processorTime is what this process has worked so far.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// costs returns the processor time of one call of each function: the median of
// rounds in which they take turns, so that other load meets all of them.
func costs(t testing.TB, rounds, calls int, each ...func()) []time.Duration {
	t.Helper()
	all := make([][]time.Duration, len(each))
	for range rounds {
		for i, do := range each {
			before := processorTime(t)
			for range calls {
				do()
			}
			all[i] = append(all[i], (processorTime(t)-before)/time.Duration(calls))
		}
	}
	medians := make([]time.Duration, len(each))
	for i := range all {
		slices.Sort(all[i])
		medians[i] = all[i][len(all[i])/2]
	}
	return medians
}

// ungated is a gate that counts and refuses nothing, as a store has one.
func ungated(d *storehttp.Deps) {
	off := ratelimit.Unlimited{}
	d.Gate = admission.New(admission.Limits{API: off, Document: off, Lifecycle: off, Address: off},
		&admission.Options{Scheme: "http", MCP: []string{ucphttp.MCPPath, mcphttp.Path}})
}

// TestGoals measures what the store promises about its speed, as ratios within
// one run, and fails where one is missed. It needs a quiet machine, so it runs
// in "make bench-goals" only.
func TestGoals(t *testing.T) {
	if os.Getenv("ACE_GOALS") == "" {
		t.Skip("left out: ACE_GOALS is not set (make bench-goals)")
	}
	w := storetest.StartSite(t)
	gated := storetest.Start(t, ungated)
	t.Run("documents", func(t *testing.T) { documentGoals(t, w) })
	t.Run("tools", func(t *testing.T) { toolGoal(t, gated) })
	t.Run("checkout", func(t *testing.T) { checkoutGoal(t, gated) })
}

// goal prints a ratio and fails if it misses its goal.
func goal(t *testing.T, name string, ratio, want float64, atLeast bool, detail string) {
	t.Helper()
	met, sign := ratio <= want, "<="
	if atLeast {
		met, sign = ratio >= want, ">="
	}
	fmt.Printf("goal %-52s %5.2f  (%s %.2f)  %s\n", name, ratio, sign, want, detail)
	if !met {
		t.Errorf("%s: %.2f, want %s %.2f", name, ratio, sign, want)
	}
}

func documentGoals(t *testing.T, w *storetest.Store) {
	t.Helper()
	health := dial(t, w.URL, http.MethodGet, "/healthz", "", 200)
	for _, path := range []string{
		"/llms.txt", "/openapi.json", "/robots.txt", "/sitemap.xml", "/auth.md", "/agent/site.json",
		"/agent/connect.json", "/agent/skills/buy-products/SKILL.md", "/mcp/server-card", "/.well-known/api-catalog",
		"/.well-known/mcp/server-card.json", "/.well-known/agent-card.json", "/.well-known/ai-catalog.json",
		"/.well-known/agent-skills/index.json", "/.well-known/security.txt", "/.well-known/ucp",
		"/.well-known/acp.json", "/.well-known/http-message-signatures-directory", "/", "/products", "/docs",
		"/support.md", "/products/home_box", "/assets/card.png", "/agent/commerce/products",
		"/agent/commerce/products/home_box", "/agent/commerce/acp/feed/products.jsonl",
	} {
		c := dial(t, w.URL, http.MethodGet, path, "", 200)
		size := c.once()
		took := costs(t, 9, 200, func() { health.once() }, func() { c.once() })
		goal(t, "rate of "+path+" to /healthz", float64(took[0])/float64(took[1]), 0.5, true,
			fmt.Sprintf("%s, %d bytes; /healthz %s", took[1], size, took[0]))
	}
}

func toolGoal(t *testing.T, w *storetest.Store) {
	t.Helper()
	const request = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	answer := w.Do(http.MethodPost, mcphttp.Path, request)
	// The plain handler is behind the same middleware: both write an access
	// line and have limits of size and time.
	plain := httptest.NewServer(w.Chain(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Content-Length", strconv.Itoa(len(answer.Body)))
		_, _ = rw.Write(answer.Body)
	})))
	t.Cleanup(plain.Close)
	ours := dial(t, w.URL, http.MethodPost, mcphttp.Path, request, 200)
	theirs := dial(t, plain.URL, http.MethodPost, "/", request, 200)
	ours.once()
	theirs.once()
	took := costs(t, 15, 300, func() { ours.once() }, func() { theirs.once() })
	goal(t, "MCP tools/list to a plain handler of the same bytes", float64(took[0])/float64(took[1]), 1.5, false,
		fmt.Sprintf("%s, plain %s, %d bytes", took[0], took[1], len(answer.Body)))
}

func checkoutGoal(t *testing.T, w *storetest.Store) {
	t.Helper()
	ours := dial(t, w.URL, http.MethodPost, ucphttp.Base+"/checkout-sessions",
		`{"line_items":[{"item":{"id":"prompt_handbook"},"quantity":1}]}`, 201)
	processor := w.Processor()
	snapshot, err := w.Catalog.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o, err := snapshot.Find("prompt_handbook")
	if err != nil {
		t.Fatal(err)
	}
	session, err := w.Sales.Create(t.Context(), checkout.Request{
		ID: "chk_goal", Protocol: checkout.UCP, OfferID: o.ID, Quantity: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	direct := func() {
		n++
		if _, err := processor.OpenPage(t.Context(), checkout.PageRequest{
			Key: "goal-" + strconv.Itoa(n), CheckoutID: session.ID, N: n, Quote: *session.Quote(),
			SuccessURL: w.URL + "/done", CancelURL: w.URL + "/back", ExpiresAt: time.Now().Add(23 * time.Hour),
			Since: time.Now(), Protocol: checkout.UCP,
		}); err != nil {
			t.Fatal(err)
		}
	}
	ours.once()
	took := costs(t, 9, 40, func() { ours.once() }, direct)
	goal(t, "creating a checkout to the processor's own creation", float64(took[0])/float64(took[1]), 2, false,
		fmt.Sprintf("%s, processor %s", took[0], took[1]))
}
