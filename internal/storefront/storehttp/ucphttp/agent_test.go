package ucphttp_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/typeid"
	"ace/internal/protocol/ucp"
	"ace/internal/schematest"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/storetest"
	"ace/internal/storefront/ucpprofile"
)

const ucpBase = "/agent/commerce/ucp"

// ucpPlatform publishes profiles of a UCP platform, one per version, at
// /{version}, and serves whatever a test puts at another path.
type ucpPlatform struct {
	URL  string
	pool *x509.CertPool

	mu    sync.Mutex
	keys  []httpsig.JWK
	reads map[string]int
}

func newUCPPlatform(t testing.TB) *ucpPlatform {
	t.Helper()
	p := &ucpPlatform{pool: x509.NewCertPool(), reads: map[string]int{}}
	server := httptest.NewTLSServer(http.HandlerFunc(p.serve))
	t.Cleanup(server.Close)
	p.URL = server.URL
	p.pool.AddCert(server.Certificate())
	return p
}

func (p *ucpPlatform) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.reads[r.URL.Path]++
	keys := p.keys
	p.mu.Unlock()
	version := strings.Trim(r.URL.Path, "/")
	profile := ucp.NewProfile(ucp.Version(version), ucp.ProfileConfig{Keys: keys})
	switch version {
	case "broken":
		_, _ = w.Write([]byte(`{"ucp":{"version":`))
		return
	case "moved":
		http.Redirect(w, r, "/2026-08-25", http.StatusFound)
		return
	case "away":
		w.WriteHeader(http.StatusInternalServerError)
		return
	case "incompatible":
		profile = ucp.NewProfile(ucp.Newest, ucp.ProfileConfig{})
		profile.UCP.Capabilities = ucp.Capabilities{"dev.ucp.shopping.order": {{Version: ucp.Newest}}}
	}
	_ = json.NewEncoder(w).Encode(profile)
}

func (p *ucpPlatform) publish(keys ...httpsig.JWK) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = keys
}

func (p *ucpPlatform) readsOf(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reads[path]
}

// join lets a store read the platform's profiles, and gives it keys.
func (p *ucpPlatform) join(t testing.TB) func(*storehttp.Deps) {
	t.Helper()
	guard := egress.New(&egress.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		TLS:   &tls.Config{RootCAs: p.pool, MinVersion: tls.VersionTLS12},
	})
	return func(d *storehttp.Deps) {
		d.Platforms = ucpprofile.New(guard.Client(egress.UCPProfile()), nil)
		d.Signers = []*httpsig.Signer{storetest.NewP256(t), storetest.NewEd25519(t)}
	}
}

// ucpAgent is an agent that speaks a version of UCP, or none: then it sends
// bare JSON; over REST or over the tools of the MCP binding. Each response that
// it gets is held against the published schemas and the rules that these
// cannot state.
type ucpAgent struct {
	*storetest.Store
	platform *ucpPlatform
	version  ucp.Version
	tools    bool
}

func ucpKinds() []ucpAgent {
	return []ucpAgent{
		{},
		{version: ucp.Version20260825},
		{version: ucp.Version20260408},
		{tools: true},
		{tools: true, version: ucp.Version20260408},
	}
}

func (a *ucpAgent) name() string { return fmt.Sprintf("version %s tools %t", a.version, a.tools) }

// ucpAgents runs a test as each kind of agent, one after the other in one
// world.
func ucpAgents(t *testing.T, test func(a *ucpAgent)) {
	t.Helper()
	platform := newUCPPlatform(t)
	shared := storetest.Start(t, platform.join(t))
	for _, kind := range ucpKinds() {
		t.Run(kind.name(), func(t *testing.T) {
			shared.T = t
			kind.Store, kind.platform = shared, platform
			test(&kind)
		})
	}
	shared.T = t
}

// ucpAgentsApart is ucpAgents with a world for each, for tests that move the
// clock of the sandbox.
func ucpAgentsApart(t *testing.T, test func(a *ucpAgent)) {
	t.Helper()
	for _, kind := range ucpKinds() {
		t.Run(kind.name(), func(t *testing.T) {
			t.Parallel()
			platform := newUCPPlatform(t)
			kind.Store, kind.platform = storetest.Start(t, platform.join(t)), platform
			test(&kind)
		})
	}
}

// ucpPlain is an agent that sends bare JSON over REST.
func ucpPlain(t testing.TB, change ...func(*storehttp.Deps)) *ucpAgent {
	t.Helper()
	platform := newUCPPlatform(t)
	change = append([]func(*storehttp.Deps){platform.join(t)}, change...)
	return &ucpAgent{storetest.Start(t, change...), platform, "", false}
}

// speaks is the protocol version of responses to this agent.
func (a *ucpAgent) speaks() ucp.Version {
	if a.version == "" {
		return ucp.Newest
	}
	return a.version
}

func (a *ucpAgent) profile() string { return a.platform.URL + "/" + string(a.version) }

// call calls an operation by the name of its tool. body is the checkout or the
// catalog request.
func (a *ucpAgent) call(tool, id, body string, headers ...string) storetest.Response {
	a.T.Helper()
	if a.tools {
		return a.judge(a.callTool(tool, id, body, headers...))
	}
	if a.version != "" {
		headers = append([]string{ucp.HeaderAgent, `profile="` + a.profile() + `"`}, headers...)
	}
	method, path := ucpRoute(tool, id)
	if method == http.MethodGet {
		body = ""
	}
	return a.judge(a.Do(method, path, body, headers...))
}

func ucpRoute(tool, id string) (method, path string) {
	session := ucpBase + "/checkout-sessions/" + id
	switch tool {
	case ucp.ToolCreateCheckout:
		return http.MethodPost, ucpBase + "/checkout-sessions"
	case ucp.ToolGetCheckout:
		return http.MethodGet, session
	case ucp.ToolUpdateCheckout:
		return http.MethodPut, session
	case ucp.ToolCompleteCheckout:
		return http.MethodPost, session + "/complete"
	case ucp.ToolCancelCheckout:
		return http.MethodPost, session + "/cancel"
	case ucp.ToolSearchCatalog:
		return http.MethodPost, ucpBase + "/catalog/search"
	case ucp.ToolLookupCatalog:
		return http.MethodPost, ucpBase + "/catalog/lookup"
	}
	return http.MethodPost, ucpBase + "/catalog/product"
}

// callTool is call over the MCP binding: one POST, no initialize. The header
// Idempotency-Key stands for the member of meta.
func (a *ucpAgent) callTool(tool, id, body string, headers ...string) storetest.Response {
	a.T.Helper()
	arguments := map[string]any{}
	if a.version != "" {
		meta := map[string]any{"ucp-agent": map[string]any{"profile": a.profile()}}
		if tool == ucp.ToolCompleteCheckout || tool == ucp.ToolCancelCheckout {
			meta["idempotency-key"] = typeid.New("key")
		}
		arguments["meta"] = meta
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == ucp.HeaderIdempotencyKey && a.version != "" {
			arguments["meta"].(map[string]any)["idempotency-key"] = headers[i+1]
		}
	}
	if id != "" {
		arguments["id"] = id
	}
	member := "checkout"
	if strings.HasSuffix(tool, "catalog") || tool == ucp.ToolGetProduct {
		member = "catalog"
	}
	switch {
	case body != "":
		arguments[member] = json.RawMessage(body)
	case tool == ucp.ToolCompleteCheckout:
		arguments[member] = map[string]any{}
	}
	return a.rpc(tool, arguments)
}

// rpc returns what REST would have answered.
func (a *ucpAgent) rpc(tool string, arguments any) storetest.Response {
	a.T.Helper()
	request, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": map[string]any{
			"name":      tool,
			"arguments": arguments,
		},
	})
	if err != nil {
		a.T.Fatal(err)
	}
	r := a.Do(http.MethodPost, ucpBase+"/mcp", string(request), "Accept", "application/json")
	var answer struct {
		ID     int
		Result *struct {
			StructuredContent json.RawMessage
			Content           []struct{ Type, Text string }
		}
		Error *struct {
			Code    int
			Message string
			Data    json.RawMessage
		}
	}
	r.Into(a.T, &answer)
	switch {
	case answer.Result != nil:
		text := answer.Result.Content[0].Text
		if r.Status != http.StatusOK || answer.ID != 7 || !schematest.SameJSON(a.T, []byte(text),
			answer.Result.StructuredContent) {
			a.T.Errorf("answer of %s = %d %s, want the same structured and as text", tool, r.Status, r.Body)
		}
		r.Body = answer.Result.StructuredContent
	case answer.Error != nil && answer.Error.Message != "" && answer.Error.Data != nil:
		r.Header.Set("X-Rpc-Code", fmt.Sprint(answer.Error.Code))
		r.Body = answer.Error.Data
	default:
		a.T.Fatalf("answer of %s = %d %s", tool, r.Status, r.Body)
	}
	return r
}

// judge fails the test unless a response is what the protocol allows.
func (a *ucpAgent) judge(r storetest.Response) storetest.Response {
	a.T.Helper()
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		a.T.Errorf("Content-Type = %q of %s", got, r.Body)
	}
	if got := r.Header.Get("Cache-Control"); got != "no-store" {
		a.T.Errorf("Cache-Control = %q", got)
	}
	var head struct {
		UCP       *ucp.Meta
		LineItems []any `json:"line_items"`
		Code      string
		Content   string
		Messages  []ucp.Message
	}
	r.Into(a.T, &head)
	switch {
	case head.UCP == nil:
		if r.Status < 400 || head.Code == "" || head.Content == "" || len(head.Messages) == 0 {
			a.T.Errorf("protocol error %d %s, want a status, code, content and messages", r.Status, r.Body)
		}
		if (r.Status == 503 || r.Status == 429) != (r.Header.Get("Retry-After") != "") && r.Status != 409 {
			a.T.Errorf("status %d with Retry-After %q", r.Status, r.Header.Get("Retry-After"))
		}
		return r
	case head.UCP.Version != a.speaks():
		a.T.Errorf("ucp.version = %q, want %q", head.UCP.Version, a.speaks())
	case head.UCP.Status == ucp.StatusError:
		if r.Status != 200 && r.Status != 409 {
			a.T.Errorf("outcome with status %d: %s", r.Status, r.Body)
		}
		storetest.ValidUCP(a.T, a.speaks(), schematest.UCPErrorResponse(string(a.speaks())), r.Body)
	case head.LineItems != nil:
		var c ucp.Checkout
		r.Into(a.T, &c)
		if err := c.Validate(); err != nil {
			a.T.Errorf("checkout breaks a rule: %v\n%s", err, r.Body)
		}
		storetest.ValidUCP(a.T, a.speaks(), "shopping/checkout.json", r.Body)
	}
	return r
}

func wish(offerID string, quantity int) string {
	return fmt.Sprintf(`{"line_items":[{"item":{"id":%q},"quantity":%d}]}`, offerID, quantity)
}

// order opens a checkout and returns it.
func (a *ucpAgent) order(offerID string, quantity int) ucp.Checkout {
	a.T.Helper()
	r := a.call(ucp.ToolCreateCheckout, "", wish(offerID, quantity))
	if want := map[bool]int{false: http.StatusCreated, true: http.StatusOK}[a.tools]; r.Status != want {
		a.T.Fatalf("create = %d %s, want %d", r.Status, r.Body, want)
	}
	return a.checkout(r)
}

func (a *ucpAgent) checkout(r storetest.Response) ucp.Checkout {
	a.T.Helper()
	var c ucp.Checkout
	r.Into(a.T, &c)
	if r.Status >= 300 || c.ID == "" {
		a.T.Fatalf("answer %d %s, want a checkout", r.Status, r.Body)
	}
	return c
}

// until reads a checkout until it has a status.
func (a *ucpAgent) until(id string, status ucp.CheckoutStatus) ucp.Checkout {
	a.T.Helper()
	for deadline := time.Now().Add(4 * time.Minute); ; {
		c := a.checkout(a.call(ucp.ToolGetCheckout, id, ""))
		if c.Status == status {
			return c
		}
		if time.Now().After(deadline) {
			a.T.Fatalf("checkout = %+v, want status %s", c, status)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// said lists messages as "type code".
func said(messages []ucp.Message) []string {
	list := []string{}
	for _, m := range messages {
		list = append(list, strings.TrimSpace(string(m.Type)+" "+string(m.Code)))
	}
	return list
}

// wantOutcome fails the test unless r is an outcome of the business.
func (a *ucpAgent) wantOutcome(r storetest.Response, status int, code ucp.Code, path string) {
	a.T.Helper()
	var envelope ucp.ErrorResponse
	r.Into(a.T, &envelope)
	if a.tools {
		status = http.StatusOK
	}
	if r.Status != status || envelope.UCP.Status != ucp.StatusError || len(envelope.Messages) == 0 ||
		envelope.Messages[0].Code != code || envelope.Messages[0].Path != path {
		a.T.Errorf("answer = %d %s, want the outcome %d %s at %q", r.Status, r.Body, status, code, path)
	}
}

// wantFailure fails the test unless r is a failure of the protocol.
func (a *ucpAgent) wantFailure(r storetest.Response, status int, code ucp.Code, rpc string) {
	a.T.Helper()
	var failure ucp.ProtocolError
	r.Into(a.T, &failure)
	if r.Status != status || failure.Code != code || a.tools && r.Header.Get("X-Rpc-Code") != rpc {
		a.T.Errorf("answer = %d %s %s, want the failure %d %s", r.Status, r.Header.Get("X-Rpc-Code"), r.Body, status,
			code)
	}
}
