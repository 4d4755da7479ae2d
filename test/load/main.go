// Command load drives a store on this machine with a mixed load of agents and
// prints requests per second, latencies and memory. It starts the store itself,
// with its sandbox, on free loopback ports, and ends it.
//
//	go run ./test/load            ten seconds with 16 agents
//	go run ./test/load -json      one JSON object
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

type options struct {
	agents   int
	duration time.Duration
	json     bool
	binary   string
	database string
}

func run() error {
	var o options
	flag.IntVar(&o.agents, "agents", 16, "agents that call at the same time, at most 256")
	flag.DurationVar(&o.duration, "duration", 10*time.Second, "how long, at most 5 minutes")
	flag.BoolVar(&o.json, "json", false, "print JSON")
	flag.StringVar(&o.binary, "binary", "bin/ace", "the store to run")
	flag.StringVar(&o.database, "database", "", "postgres://… instead of SQLite")
	flag.Parse()
	if o.agents < 1 || o.agents > 256 || o.duration > 5*time.Minute {
		return errors.New("at most 256 agents and 5 minutes")
	}
	store, err := start(o)
	if err != nil {
		return err
	}
	defer store.stop()
	before, err := store.memory()
	if err != nil {
		return err
	}
	during := store.watch(o.duration / 4)
	results := drive(o, store.url)
	report(o, results, append([]float64{before}, during()...))
	for _, r := range results {
		if r.failed > 0 {
			return fmt.Errorf("%d of %d requests failed (%s): %s", r.failed, len(r.latencies)+r.failed, r.name,
				r.failure)
		}
	}
	return nil
}

// store is the process under load.
type store struct {
	cmd *exec.Cmd
	dir string
	url string
	log *os.File
}

func start(o options) (*store, error) {
	dir, err := os.MkdirTemp("", "ace-load-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	addrs := [2]string{}
	for i := range addrs {
		if addrs[i], err = freeAddr(); err != nil {
			return nil, err
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, fmt.Errorf("making a log: %w", err)
	}
	s := &store{cmd: exec.Command(o.binary, "serve"), dir: dir, url: "http://" + addrs[0], log: log}
	s.cmd.Env = append(os.Environ(), "ACE_HOSTS=store", "ACE_STORE_ADDR="+addrs[0], "ACE_SANDBOX_ADDR="+addrs[1],
		"ACE_ADMIN_ADDR=", "ACE_DATA_DIR="+dir,
		"ACE_DATABASE_URL="+o.database, "ACE_RATE_LIMIT=off", "ACE_LOG_LEVEL=warn")
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the store (build it with \"make build\"): %w", err)
	}
	for range 200 {
		if res, err := call(http.DefaultClient, http.MethodGet, s.url+"/agent/commerce/products", ""); err == nil &&
			res.status == http.StatusOK {
			return s, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("the store does not answer; its log is in %s", log.Name())
}

func (s *store) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
	_ = s.log.Close()
	_ = os.RemoveAll(s.dir)
}

// watch notes the memory once in a while, until the function that it returns is
// called: that returns the notes.
func (s *store) watch(every time.Duration) func() []float64 {
	stop, done := make(chan struct{}), make(chan []float64)
	go func() {
		var notes []float64
		for {
			ended := false
			select {
			case <-time.After(every):
			case <-stop:
				ended = true
			}
			if now, err := s.memory(); err == nil {
				notes = append(notes, now)
			}
			if ended {
				done <- notes
				return
			}
		}
	}()
	return func() []float64 { close(stop); return <-done }
}

// memory is the resident memory of the process in MiB.
func (s *store) memory() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of the store: %w", err)
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024, err
		}
	}
	return 0, errors.New("the memory of the store is not told")
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// result is what one kind of request came to.
type result struct {
	name      string
	latencies []time.Duration
	failed    int
	failure   string
}

// drive runs the agents until the time is up. Each looks around, asks over MCP
// and A2A, reads the catalog a few times, opens a checkout, reads it and cancels
// it, as agents that compare do.
func drive(o options, base string) []*result {
	ctx, cancel := context.WithTimeout(context.Background(), o.duration)
	defer cancel()
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: o.agents}}
	var mu sync.Mutex
	byName := map[string]*result{}
	var names []string
	record := func(name string, duration time.Duration, failure string) {
		mu.Lock()
		defer mu.Unlock()
		r := byName[name]
		if r == nil {
			r = &result{name: name}
			byName[name] = r
			names = append(names, name)
		}
		if failure != "" {
			r.failed++
			r.failure = failure
			return
		}
		r.latencies = append(r.latencies, duration)
	}
	var agents sync.WaitGroup
	for range o.agents {
		agents.Go(func() {
			for ctx.Err() == nil {
				a := &agent{client, base, record}
				a.browse()
				a.ask()
				a.shop()
			}
		})
	}
	agents.Wait()
	var all []*result
	for _, name := range names {
		all = append(all, byName[name])
	}
	return all
}

type agent struct {
	client *http.Client
	base   string
	record func(name string, duration time.Duration, failure string)
}

// browse reads what programs find a store by.
func (a *agent) browse() {
	for _, path := range []string{
		"/", "/llms.txt", "/robots.txt", "/sitemap.xml", "/.well-known/mcp/server-card.json",
		"/.well-known/agent-card.json", "/.well-known/ucp", "/docs.md",
	} {
		a.do("document", http.MethodGet, path, "", http.StatusOK)
	}
	a.do("search", http.MethodGet, "/agent/search?q=refund+policy", "", http.StatusOK)
	a.do("page", http.MethodGet, "/agent/read?path=/refunds", "", http.StatusOK)
}

// ask calls tools over MCP, as clients begin, and the agent over A2A.
func (a *agent) ask() {
	a.rpc(
		"mcp init",
		"/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},`+
			`"clientInfo":{"name":"load","version":"1"}}}`,
	)
	a.rpc("mcp list", "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	for _, tool := range []string{
		`"search_pages","arguments":{"query":"refund"}`,
		`"read_page","arguments":{"path":"/refunds"}`, `"list_products","arguments":{}`,
	} {
		a.rpc("mcp call", "/mcp", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":`+tool+`}}`)
	}
	a.rpc("a2a send", "/agent/a2a",
		`{"jsonrpc":"2.0","id":4,"method":"SendMessage","params":{"message":{"messageId":"`+rand.Text()+
			`","role":"ROLE_USER","parts":[{"data":{"skill":"site","action":"search_pages",`+
			`"input":{"query":"refund"}}}]}}}`)
}

// rpc calls a JSON-RPC method; an error inside the response is a failure as well.
func (a *agent) rpc(name, path, body string) {
	start := time.Now()
	res, err := call(a.client, http.MethodPost, a.base+path, body, "A2A-Version", "1.0", "Accept",
		"application/json, text/event-stream")
	duration := time.Since(start)
	switch {
	case err != nil:
		a.record(name, duration, err.Error())
	case res.status != http.StatusOK || bytes.Contains(res.body, []byte(`"error":{`)) || bytes.Contains(res.body,
		[]byte(`"isError":true`)):
		a.record(name, duration, fmt.Sprintf("status %d: %.200s", res.status, res.body))
	default:
		a.record(name, duration, "")
	}
}

func (a *agent) shop() {
	for range 4 {
		a.do("catalog", http.MethodGet, "/agent/commerce/products", "", http.StatusOK)
	}
	body := a.do("create", http.MethodPost, "/agent/commerce/ucp/checkout-sessions",
		`{"line_items":[{"item":{"id":"prompt_handbook"},"quantity":1}]}`, http.StatusCreated)
	var session struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(body, &session) != nil || session.ID == "" {
		return
	}
	path := "/agent/commerce/ucp/checkout-sessions/" + session.ID
	a.do("read", http.MethodGet, path, "", http.StatusOK)
	a.do("cancel", http.MethodPost, path+"/cancel", "{}", http.StatusOK)
}

func (a *agent) do(name, method, path, body string, want int) []byte {
	start := time.Now()
	res, err := call(a.client, method, a.base+path, body)
	duration := time.Since(start)
	switch {
	case err != nil:
		a.record(name, duration, err.Error())
	case res.status != want:
		a.record(name, duration, fmt.Sprintf("status %d: %.200s", res.status, res.body))
	default:
		a.record(name, duration, "")
	}
	return res.body
}

type answer struct {
	status int
	body   []byte
}

// call sends a request with header fields given as name, value pairs.
func call(client *http.Client, method, address, body string, fields ...string) (answer, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, address, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(fields); i += 2 {
		req.Header.Set(fields[i], fields[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, text}, err
}

// row is one line of the report.
type row struct {
	Request  string  `json:"request"`
	Requests int     `json:"requests"`
	PerSec   float64 `json:"requests_per_second"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	Failed   int     `json:"failed"`
}

func report(o options, results []*result, memory []float64) {
	total := &result{name: "all"}
	var rows []row
	for _, r := range results {
		rows = append(rows, o.row(r))
		total.latencies = append(total.latencies, r.latencies...)
		total.failed += r.failed
	}
	rows = append(rows, o.row(total))
	if o.json {
		_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
			"agents": o.agents, "seconds": o.duration.Seconds(), "cores": runtime.NumCPU(), "requests": rows,
			"memory_mib": memory,
		})
		return
	}
	fmt.Printf("%d agents for %s on %d cores, the load included\n\n%-10s %10s %10s %10s %10s %8s\n", o.agents,
		o.duration, runtime.NumCPU(), "request", "requests", "per s", "p50 ms", "p99 ms", "failed")
	for _, r := range rows {
		fmt.Printf("%-10s %10d %10.0f %10.2f %10.2f %8d\n", r.Request, r.Requests, r.PerSec, r.P50, r.P99, r.Failed)
	}
	fmt.Print("\nmemory of the store with its sandbox, before and at each quarter, in MiB:")
	for _, m := range memory {
		fmt.Printf(" %.0f", m)
	}
	fmt.Println()
}

func (o options) row(r *result) row {
	slices.Sort(r.latencies)
	at := func(p float64) float64 {
		if len(r.latencies) == 0 {
			return 0
		}
		return float64(r.latencies[int(p*float64(len(r.latencies)-1))].Microseconds()) / 1000
	}
	return row{r.name, len(r.latencies), float64(len(r.latencies)) / o.duration.Seconds(), at(0.5), at(0.99), r.failed}
}
