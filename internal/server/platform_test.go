package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"ace/internal/config"
	"ace/internal/foundation/seal"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/server/definitions"
)

// host is a platform as it is served, with the sandbox beside it.
type host struct {
	*Server
	handler http.Handler
	sandbox string
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// newHost runs a platform. Beyond the sandbox it may call what allow names.
func newHost(t *testing.T, o Options, allow ...string) *host {
	t.Helper()
	return newHostWith(t, o, func(*config.Settings) {}, allow...)
}

// newHostWith is newHost with other settings.
func newHostWith(t *testing.T, o Options, change func(*config.Settings), allow ...string) *host {
	t.Helper()
	platform := freeAddr(t)
	cfg := &config.Settings{
		StoreAddr: "127.0.0.1:0", PlatformAddr: platform, SandboxAddr: freeAddr(t), Hosts: []string{"platform"},
		DataDir: t.TempDir(), Sandbox: "on",
		StripeOffers: "marked", RateLimit: "off", EgressAllow: allow, X402Networks: []string{"eip155:8453"},
		X402Confirmations: 12,
		ServiceRunWait:    time.Second, ServiceRunLimit: time.Minute, X402SettleBudget: time.Second,
		PlatformURL: "http://" + platform,
	}
	change(cfg)
	if err := os.WriteFile(cfg.MasterKeyFile(), bytes.Repeat([]byte{7}, seal.KeySize), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	s, err := New(ctx, cfg, slog.New(slog.DiscardHandler), o)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	if err := s.Listen(ctx); err != nil {
		stop()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return &host{
		Server: s, handler: instrumented(s.log, s.metrics, "platform", cfg.PlatformURL, s.platform.handler, nil),
		sandbox: cfg.SandboxBaseURL(),
	}
}

// party is an account with a key that may do everything and its owner, who is
// signed in.
type party struct {
	*host
	t             *testing.T
	account       *account.Account
	owner         *account.User
	key           *apikey.Key
	secret        string
	cookie, token string
}

func (h *host) party(t *testing.T, name string) *party {
	t.Helper()
	a, owner, err := h.platform.accounts.Create(t.Context(), audit.Operator(), name, name+"@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	key, secret, err := h.platform.keys.Create(t.Context(), audit.Operator(), a.ID,
		apikey.Settings{Name: "all", Permissions: apikey.All, Restrict: apikey.Restrictions{RawRequests: true}})
	if err != nil {
		t.Fatal(err)
	}
	link, _, err := h.platform.accounts.Link(t.Context(), audit.Operator(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	session, cookie, err := h.platform.accounts.Redeem(t.Context(), audit.Actor{}, link)
	if err != nil {
		t.Fatal(err)
	}
	return &party{h, t, a, owner, key, secret, "ace_session=" + cookie, session.Token}
}

// send sends a request by the key, or as the person.
func (p *party) send(person bool, method, target, kind string, body []byte) *httptest.ResponseRecorder {
	p.t.Helper()
	r := httptest.NewRequestWithContext(p.t.Context(), method, p.cfg.PlatformURL+target, bytes.NewReader(body))
	if len(body) > 0 {
		r.Header.Set("Content-Type", kind)
	}
	if person {
		r.Header.Set("Cookie", p.cookie)
		r.Header.Set("X-CSRF-Token", p.token)
	} else {
		r.Header.Set("Authorization", "Bearer "+p.secret)
	}
	recorder := httptest.NewRecorder()
	p.handler.ServeHTTP(recorder, r)
	return recorder
}

// must calls the API by the key and returns a body of the status that is
// wanted.
func (p *party) must(want int, method, target, body string) map[string]any {
	p.t.Helper()
	got := p.send(false, method, "/api/v1"+target, "application/json", []byte(body))
	var v map[string]any
	if err := json.Unmarshal(got.Body.Bytes(), &v); err != nil || got.Code != want {
		p.t.Fatalf("%s %s = %d %s, want %d", method, target, got.Code, got.Body, want)
	}
	return v
}

var notesKey = regexp.MustCompile(`nk_[A-Z2-7]+`)

// connectNotes connects the demo app by a key and returns the connection.
func (p *party) connectNotes() string {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.sandbox+"/notes/keys",
		strings.NewReader(url.Values{"person": {"Ann"}}.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	link := p.must(http.StatusCreated, http.MethodPost, "/apps/demo-notes/connect", `{"auth":"key","verify":"link"}`)
	visitor := connection.Visitor{Browser: strings.Repeat("b", 40)}
	form := connection.Form{Fields: connection.Credentials{"key": string(notesKey.Find(page))}}
	outcome, err := p.platform.connections.Submit(p.t.Context(), path.Base(link["url"].(string)), visitor, form)
	if err != nil || outcome.Connection == nil {
		p.t.Fatalf("connecting the demo app: %+v, %v", outcome, err)
	}
	return outcome.Connection.ID
}

// upload sends a file.
func (p *party) upload(name, text string) string {
	p.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", name)
	if err != nil {
		p.t.Fatal(err)
	}
	_, _ = part.Write([]byte(text))
	_ = w.Close()
	got := p.send(false, http.MethodPost, "/api/v1/files", w.FormDataContentType(), form.Bytes())
	var v struct {
		ID string `json:"file_id"`
	}
	if err := json.Unmarshal(got.Body.Bytes(), &v); err != nil || got.Code != http.StatusCreated {
		p.t.Fatalf("upload = %d %s", got.Code, got.Body)
	}
	return v.ID
}

// TestCatalogCounts compares what the public list, the pages and the report of
// "ace catalog report" say about the number of apps and tools.
func TestCatalogCounts(t *testing.T) {
	t.Parallel()
	h := newHost(t, Options{})
	set, err := definitions.Load(definitions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report := set.Report()
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, h.cfg.PlatformURL+path, nil))
		return w
	}
	var list struct {
		Apps []struct {
			App         string `json:"app"`
			Tools       int    `json:"tools_count"`
			Connectable bool   `json:"connectable"`
		} `json:"apps"`
		Total int `json:"total"`
	}
	if err := json.Unmarshal(get("/api/v1/catalog?limit=2000").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	tools, closed := 0, 0
	for _, one := range list.Apps {
		tools += one.Tools
		if !one.Connectable {
			closed++
		}
	}
	if list.Total != report.Available || len(list.Apps) != min(report.Available, 2000) {
		t.Errorf("GET /catalog counts %d apps and lists %d; the report says %d", list.Total, len(list.Apps),
			report.Available)
	}
	if len(list.Apps) == report.Available && (tools != report.Tools || closed != report.NeedClient) {
		t.Errorf("GET /catalog lists %d tools and %d apps that need a client; the report says %d and %d", tools, closed,
			report.Tools, report.NeedClient)
	}
	for path, want := range map[string]string{
		"/":     fmt.Sprintf("%d apps, %d tools", report.Available, report.Tools),
		"/apps": fmt.Sprintf("%d apps", report.Available),
	} {
		if text := get(path).Body.String(); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", path, want)
		}
	}
}
