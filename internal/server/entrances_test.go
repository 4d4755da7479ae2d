package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"ace/internal/config"
	"ace/internal/foundation/egress"
	"ace/internal/foundation/jobs"
)

// public stands for the internet in these tests: the one address of this machine
// that the platform may call.
const public = "127.0.0.2"

// resolver resolves names as the tests set them. rebind.test is public the first
// few times and the machine itself from then on.
type resolver struct{ moved atomic.Bool }

func (r *resolver) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	names := map[string]string{
		"public.test": public, "loopback.test": "127.0.0.1", "mapped.test": "::ffff:127.0.0.1",
		"nat64.test": "64:ff9b::7f00:1", "metadata.test": "169.254.169.254", "store.test": public,
		"odd.test": "192.88.98.1", "rebind.test": public,
	}
	if r.moved.Load() {
		names["rebind.test"] = "127.0.0.1"
	}
	if a, ok := names[host]; ok {
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// at serves h on an address of this machine.
func at(t *testing.T, address string, h http.Handler) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, l, h)
}

func serve(t *testing.T, l net.Listener, h http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// atBoth serves on one port of the public address and of the machine's own, and
// returns the port. A port that is free at one address may be taken at the other.
func atBoth(t *testing.T, friendly, inside http.Handler) (port string) {
	t.Helper()
	for {
		l, err := net.Listen("tcp", public+":0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		own, err := net.Listen("tcp", "127.0.0.1:"+port)
		if errors.Is(err, syscall.EADDRINUSE) {
			t.Cleanup(func() { _ = l.Close() }) // held, so that the next one differs
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		serve(t, l, friendly)
		serve(t, own, inside)
		return port
	}
}

// hostile are addresses that must not be called: the corpus of the guard's own
// tests, each over http and https, and odd ports.
func hostile(t *testing.T, port string) []string {
	t.Helper()
	corpus, err := os.ReadFile("../foundation/egress/testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"https://odd.test:22/", "https://odd.test:6379/", "https://odd.test:25/"}
	for line := range strings.Lines(string(corpus)) {
		_, address, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		address = strings.ReplaceAll(address, "PORT", port)
		all = append(all, address)
		if rest, plain := strings.CutPrefix(address, "http://"); plain {
			all = append(all, "https://"+rest)
		}
	}
	if len(all) < 80 {
		t.Fatalf("%d hostile addresses, want more", len(all))
	}
	return all
}

const uploads = `{"openapi":"3.1.0","info":{"title":"U"},"servers":[{"url":"SERVER"}],"paths":{
	"/up":{"post":{"operationId":"upload","requestBody":{"content":{"multipart/` +
	`form-data":{"schema":{"type":"object","properties":{"file":{"type":"string","format":"binary"}}}}}}}},
	"/ping":{"get":{"operationId":"ping"}}}}`

// entrance is a way by which a caller can name an address that the platform then
// calls. It returns what the caller receives, and whether that is a refusal.
type entrance struct {
	name string
	try  func(p *party, n int, address string) (told string, refused bool)
	few  bool // it follows nobody, and takes its time: some of the addresses show that
}

// answered reads a response of the API: a problem refuses, and so does a run or a
// connector that failed.
func (p *party) answered(method, target string, body any) (string, bool) {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	got := p.send(false, method, "/api/v1"+target, "application/json", text)
	var v map[string]any
	_ = json.Unmarshal(got.Body.Bytes(), &v)
	return got.Body.String(), got.Code >= 400 || v["status"] == "failed" || v["error"] != nil
}

func connectorOf(n int, more map[string]any) map[string]any {
	body := map[string]any{"name": fmt.Sprint("C", n), "type": "rest"}
	maps.Copy(body, more)
	return body
}

// entrances are all of them; those that need a server that leads on are made for
// the friendly one, which sends everybody to ?to.
func entrances(friendly string) []entrance {
	create := func(more func(address string) map[string]any) func(*party, int, string) (string, bool) {
		return func(p *party, n int, address string) (string, bool) {
			text, refused := p.answered(http.MethodPost, "/custom-connectors", connectorOf(n, more(address)))
			if !refused { // names are judged when they are called
				var made struct{ ID, App, Status string }
				_ = json.Unmarshal([]byte(text), &made)
				run, failed := p.answered(http.MethodPost, "/apps/"+made.App+"/request",
					map[string]any{"method": "GET", "path": "/"})
				test, _ := p.answered(http.MethodPost, "/custom-connectors/"+made.ID+"/test", nil)
				text, refused = run+test, failed && strings.Contains(test, `"ok":false`)
				p.answered(http.MethodDelete, "/custom-connectors/"+made.ID, nil)
			}
			return text, refused
		}
	}
	leads := func(address string) string { return friendly + "/lead?to=" + url.QueryEscape(address) }
	return []entrance{
		{
			name: "url of an MCP server",
			try:  create(func(a string) map[string]any { return map[string]any{"type": "mcp", "url": a} }),
		},
		{
			name: "url of an older MCP server",
			try: create(func(a string) map[string]any {
				return map[string]any{
					"type": "mcp", "transport": "sse",
					"url": a,
				}
			}),
		},
		{name: "base_url", try: create(func(a string) map[string]any { return map[string]any{"base_url": a} })},
		{name: "token_url", try: create(func(a string) map[string]any {
			return map[string]any{
				"base_url": friendly,
				"auth": map[string]any{
					"kind": "oauth2", "grant": "client_credentials", "token_url": a,
					"client_id": "c", "client_secret": "s",
				},
			}
		})},
		{name: "token_url of a document", try: create(func(a string) map[string]any {
			flow := map[string]any{
				"type":  "oauth2",
				"flows": map[string]any{"clientCredentials": map[string]any{"tokenUrl": a}},
			}
			document := map[string]any{
				"openapi": "3.1.0", "servers": []any{map[string]any{"url": friendly}},
				"paths": map[string]any{}, "components": map[string]any{"securitySchemes": map[string]any{"s": flow}},
			}
			return map[string]any{
				"openapi": document,
				"auth": map[string]any{
					"kind": "oauth2", "grant": "client_credentials", "client_id": "c",
					"client_secret": "s",
				},
			}
		})},
		{name: "token_url, led on", try: create(func(a string) map[string]any {
			return map[string]any{
				"base_url": friendly,
				"auth": map[string]any{
					"kind": "oauth2", "grant": "client_credentials", "token_url": leads(a),
					"client_id": "c", "client_secret": "s",
				},
			}
		}), few: true},
		{name: "openapi_url", try: create(func(a string) map[string]any { return map[string]any{"openapi_url": a} })},
		{name: "server of a document", try: create(func(a string) map[string]any {
			return map[string]any{"openapi": strings.Replace(uploads, "SERVER", strings.ReplaceAll(a, `\`, `\\`), 1)}
		})},
		{
			name: "url of an MCP server, led on",
			try:  create(func(a string) map[string]any { return map[string]any{"type": "mcp", "url": leads(a)} }),
		},
		{
			name: "openapi_url, led on",
			try:  create(func(a string) map[string]any { return map[string]any{"openapi_url": leads(a)} }),
		},
		{name: "run, led on", try: func(p *party, _ int, address string) (string, bool) {
			if !strings.Contains(address, ":") {
				return "", true // a Location without a scheme stays on its host
			}
			return p.answered(http.MethodPost, "/apps/x-friendly/request",
				map[string]any{"method": "GET", "path": "/lead", "query": map[string]any{"to": address}})
		}},
		{name: "notify_webhook_url", try: func(p *party, _ int, address string) (string, bool) {
			text, refused := p.answered(http.MethodPost, "/apps/demo-notes/connect",
				map[string]any{"notify_webhook_url": address})
			var link struct {
				ID string `json:"session_id"`
			}
			if !refused && json.Unmarshal([]byte(text), &link) == nil { // names are judged when they are called
				job := jobs.Job{Ref: p.account.ID + "/" + link.ID}
				p.send(false, http.MethodDelete, "/api/v1/connect-sessions/"+link.ID, "", nil)
				err := p.platform.connections.Notices.Handler().Run(p.t.Context(), job)
				return fmt.Sprint(err), err != nil
			}
			return text, refused
		}},
		{name: "file of a run", try: func(p *party, _ int, address string) (string, bool) {
			return p.answered(http.MethodPost, "/tools/x_friendly__upload/run",
				map[string]any{"arguments": map[string]any{"file": address}})
		}},
	}
}

// entrancePath is where the tests call the internal services: what the process
// itself calls there, as it is set to, is elsewhere.
const entrancePath = "/by-a-caller"

// internalService counts what reaches it by an entrance.
func internalService(hits *atomic.Int32) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, entrancePath) {
			hits.Add(1)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"secret":"of the machine"}`))
	})
}

// TestEntrances holds that each way by which a caller can name an address leads
// through the egress guard: none reaches a listener of this machine, and none
// tells where a name leads. Every setting that opens an internal service to one
// purpose is set: none opens it to a caller.
func TestEntrances(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	victim := at(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		_, _ = w.Write([]byte(`{"secret":"of the machine"}`))
	}))
	_, port, err := net.SplitHostPort(victim.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	names := &resolver{}
	trusted := map[string]string{} // by setting, the URLs that the operator trusts for one purpose
	trust := func(setting string) string {
		trusted[setting] = at(t, "127.0.0.1:0", internalService(&hits)).URL
		return trusted[setting]
	}
	h := newHostWith(t, Options{Lookup: names.lookup}, func(c *config.Settings) {
		c.SiteUpstream, c.OIDCIssuer, c.SandboxURL = trust(
			"ACE_SITE_UPSTREAM",
		), trust(
			"ACE_OIDC_ISSUER",
		), trust(
			"ACE_SANDBOX_URL",
		)
		c.OIDCClientID, c.OIDCSecretFile = "c", filepath.Join(c.DataDir, "oidc")
		if err := os.WriteFile(c.OIDCSecretFile, []byte("s"), 0o600); err != nil {
			t.Fatal(err)
		}
		c.StripeKey, c.StripeWebhookSecrets, c.StripeURL = "sk_test_1", []string{"whsec_1"}, trust("ACE_STRIPE_URL")
		c.OrderWebhookURL = trust("ACE_ORDER_WEBHOOK_URL")
		c.OrderWebhookSecret = []string{"whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))}
		c.X402Facilitators, c.X402PayTo = []string{
			trust("ACE_X402_FACILITATOR_URL"),
		}, "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
		c.X402RPC = []string{"eip155:8453=" + trust("ACE_X402_RPC_URL")}
		c.StoreURL = "https://store.test"
	}, public+"/32")
	addresses := append(hostile(t, port), "https://store.test"+entrancePath, h.cfg.PlatformURL+entrancePath,
		"https://store.test:8443"+entrancePath)
	for _, address := range trusted {
		addresses = append(addresses, address+entrancePath)
	}
	friendly := at(t, public+":0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{}`))
	}))
	ann := h.party(t, "ann")
	ann.must(http.StatusCreated, http.MethodPost, "/custom-connectors",
		fmt.Sprintf(`{"type":"rest","name":"Friendly","openapi":%q}`,
			strings.Replace(uploads, "SERVER", friendly.URL, 1)))
	if text, refused := ann.answered(http.MethodPost, "/apps/x-friendly/request",
		map[string]any{"method": "GET", "path": "/ping"}); refused {
		t.Fatalf("the address that may be called is not: %s", text)
	}
	for _, purpose := range []egress.Purpose{
		egress.Connector(), egress.Webhook(), egress.FileFetch(), egress.SiteAudit(), egress.KeyDirectory(),
		egress.UCPProfile(), egress.OAuth(), egress.AppAPI(), egress.ClientDocument(),
	} {
		for setting, address := range trusted {
			if err := h.guard.Check(purpose, address+entrancePath); err == nil {
				t.Errorf("%s may call what %s names", purpose.Name, setting)
			}
		}
	}
	for _, e := range entrances(friendly.URL) {
		t.Run(e.name, func(t *testing.T) {
			own := *ann
			own.t = t
			for n, address := range addresses {
				if e.few && n%12 != 0 {
					continue
				}
				told, refused := e.try(&own, n, address)
				if !refused {
					t.Errorf("%s is not refused: %s", address, told)
				}
				if before := hits.Swap(0); before > 0 {
					t.Errorf("%s reached the machine: %s", address, told)
				}
				for _, part := range []string{"of the machine", "127.0.0.1", "169.254", "64:ff9b", "::1", "7f00"} {
					if !strings.Contains(address, part) &&
						strings.Contains(strings.ReplaceAll(told, h.cfg.PlatformURL, ""), part) {
						t.Errorf("%s is answered with what it leads to: %s", address, told)
					}
				}
			}
		})
	}
}

// TestRebinding is a name that was public when it was checked, imported and
// called, and leads into the machine from then on.
func TestRebinding(t *testing.T) {
	t.Parallel()
	names := &resolver{}
	h := newHost(t, Options{Lookup: names.lookup}, public+"/32")
	var good, bad atomic.Int32
	count := func(n *atomic.Int32) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n.Add(1)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Connection", "close")
			_, _ = w.Write([]byte(strings.Replace(uploads, "SERVER", "http://"+r.Host, 1)))
		})
	}
	port := atBoth(t, count(&good), count(&bad))
	ann := h.party(t, "ann")
	made := ann.must(http.StatusCreated, http.MethodPost, "/custom-connectors",
		`{"type":"rest","name":"Moves","openapi_url":"http://rebind.test:`+port+`/openapi.json"}`)
	if made["status"] != "ready" {
		t.Fatalf("while the name is public: %v", made)
	}
	calls := map[string]any{
		"POST /tools/x_moves__ping/run":                               map[string]any{},
		"POST /apps/x-moves/request":                                  map[string]any{"method": "GET", "path": "/ping"},
		"POST /custom-connectors/" + made["id"].(string) + "/refresh": nil,
		"POST /custom-connectors/" + made["id"].(string) + "/test":    nil,
	}
	if text, refused := ann.answered(http.MethodPost, "/tools/x_moves__ping/run", map[string]any{}); refused {
		t.Fatalf("a run while the name is public: %s", text)
	}
	names.moved.Store(true)
	before := good.Load()
	for call, body := range calls {
		method, target, _ := strings.Cut(call, " ")
		text, refused := ann.answered(method, target, body)
		if !refused && !strings.Contains(text, `"ok":false`) && !strings.Contains(text, `"status":"failed"`) {
			t.Errorf("%s after the name moved: %s", call, text)
		}
	}
	if bad.Load() > 0 || good.Load() != before {
		t.Errorf("after the name moved the machine was called %d times, and the old address %d times", bad.Load(),
			good.Load()-before)
	}
}
