package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// session is a session with a server, with the secrets to mask.
type session struct {
	*mcp.ClientSession
	wire    *wire // nil: calls go over the open stream of the SDK
	secrets []string
	fresh   bool        // made for this call
	release func(error) // gives it back; an error ends it
}

func (s *session) close() { _ = s.Close() }

// call calls a tool.
func (s *session) call(ctx context.Context, name string, arguments map[string]any) (*result, error) {
	if s.wire != nil {
		return s.wire.call(ctx, name, arguments)
	}
	answered, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(answered)
	if err != nil {
		return nil, fmt.Errorf("reading a result: %w", err)
	}
	return parseResult(text)
}

// dial opens a session for one caller.
func (e *Executor) dial(ctx context.Context, a *app.App, s *app.Scheme, live *connection.Live) (*session, error) {
	if a.MCP == nil {
		return nil, fmt.Errorf("%s has no MCP server", a.ID)
	}
	sender, err := e.sender(a, s, live)
	if err != nil {
		return nil, err
	}
	identity := mcp.Implementation{Name: "ace", Version: e.options.Version}
	client := mcp.NewClient(&identity, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	httpClient := &http.Client{Transport: sender}
	var transport mcp.Transport = &mcp.StreamableClientTransport{
		Endpoint: a.MCP.URL, HTTPClient: httpClient,
		MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxEvent,
	}
	if a.MCP.Transport == TransportSSE {
		transport = &mcp.SSEClientTransport{Endpoint: a.MCP.URL, HTTPClient: httpClient, MaxEventSize: maxEvent}
	}
	opened, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return nil, err
	}
	one := &session{ClientSession: opened, secrets: sender.secrets, fresh: true}
	if told := opened.InitializeResult(); a.MCP.Transport != TransportSSE && told != nil {
		one.wire = &wire{
			sender: sender, url: a.MCP.URL, session: opened.ID(), version: told.ProtocolVersion,
			identity: identity,
		}
	}
	one.release = func(error) { one.close() }
	return one, nil
}

// Transports.
const (
	TransportHTTP = "streamable_http"
	TransportSSE  = "sse"
)

// sender sends the requests of one session: with credentials, to one origin.
type sender struct {
	client  HTTPClient
	origin  string
	headers http.Header
	secrets []string
}

func (e *Executor) sender(a *app.App, s *app.Scheme, live *connection.Live) (*sender, error) {
	u, err := url.Parse(a.MCP.URL)
	if err != nil {
		return nil, fmt.Errorf("the address of %s is none", a.ID)
	}
	made := &sender{client: e.client, origin: u.Scheme + "://" + u.Host, headers: http.Header{}}
	if s == nil || s.Type == app.TypeNone {
		return made, nil
	}
	credentials := s.Credentials()
	if s.Type == app.TypeMCP && len(credentials.Headers) == 0 {
		credentials.Headers = map[string]string{"Authorization": "Bearer {access_token}"}
	}
	for name, template := range credentials.Headers {
		text, err := app.Expand(template, live.Values, nil)
		if err != nil {
			return nil, fmt.Errorf("the credentials of %s: %w", a.ID, err)
		}
		made.add(name, text)
	}
	if basic := credentials.Basic; basic != nil {
		user, errUser := app.Expand(basic.User, live.Values, nil)
		pass, errPass := app.Expand(basic.Pass, live.Values, nil)
		if errUser != nil || errPass != nil {
			return nil, fmt.Errorf("the credentials of %s are not complete", a.ID)
		}
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, pass)
		made.add("Authorization", r.Header.Get("Authorization"))
		made.keepFrom(pass)
	}
	return made, nil
}

func (s *sender) add(name, text string) {
	text = strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' || r == 0 {
			return -1
		}
		return r
	}, text)
	s.headers.Set(name, text)
	s.keepFrom(text[strings.LastIndexByte(text, ' ')+1:])
}

// keepFrom records what no response may contain. Very short values would break
// words.
func (s *sender) keepFrom(secret string) {
	if len(secret) >= 6 {
		s.secrets = append(s.secrets, secret)
	}
}

// refused is a response that is not MCP.
type refused struct {
	status int
	after  time.Duration
}

func (r *refused) Error() string { return "the server answered " + strconv.Itoa(r.status) }

var errOrigin = errors.New("the server sends elsewhere")

// RoundTrip implements http.RoundTripper. A response that ends a call whatever
// the protocol says is an error here, so that its status is not lost.
func (s *sender) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme+"://"+r.URL.Host != s.origin {
		return nil, errOrigin
	}
	r = r.Clone(r.Context())
	maps.Copy(r.Header, s.headers)
	res, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	switch {
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden,
		res.StatusCode == http.StatusTooManyRequests, res.StatusCode >= 500:
		_, _ = io.CopyN(io.Discard, res.Body, 4<<10)
		_ = res.Body.Close()
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return nil, &refused{res.StatusCode, time.Duration(max(0, min(seconds, 900))) * time.Second}
	}
	return res, nil
}

// pool stores sessions between calls. A session belongs to one connection at
// one version of its credentials.
type pool struct {
	mu       sync.Mutex
	sessions map[string]*pooled
	closed   bool
}

type pooled struct {
	session *session
	users   int
	used    time.Time
	broken  bool
}

const (
	maxSessions = 256
	idleSession = 2 * time.Minute
)

func newPool() *pool { return &pool{sessions: map[string]*pooled{}} }

// session returns a session for one call: a stored one, or a new one.
func (e *Executor) session(ctx context.Context, a *app.App, s *app.Scheme, live *connection.Live) (*session, error) {
	if a.MCP == nil || a.MCP.Transport == TransportSSE {
		return e.dial(ctx, a, s, live) // its stream would have to stay open
	}
	c := live.Connection
	key := fmt.Sprintf("%q %q %q %d %q", c.AccountID, a.ID, c.ID, c.Version, a.MCP.URL)
	if existing := e.pool.acquire(key); existing != nil {
		return e.pool.lend(key, existing, false), nil
	}
	made, err := e.dial(ctx, a, s, live)
	if err != nil {
		return nil, err
	}
	return e.pool.lend(key, e.pool.put(key, made), true), nil
}

func (p *pool) acquire(key string) *pooled {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep()
	existing := p.sessions[key]
	if existing != nil {
		existing.users++
	}
	return existing
}

func (p *pool) put(key string, made *session) *pooled {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := &pooled{session: made, users: 1, used: time.Now()}
	if p.closed || p.sessions[key] != nil || len(p.sessions) >= maxSessions {
		one.broken = true // used once
	} else {
		p.sessions[key] = one
	}
	return one
}

// lend returns a view of a stored session for one caller.
func (p *pool) lend(key string, one *pooled, fresh bool) *session {
	view := *one.session
	view.fresh = fresh
	view.release = func(err error) {
		p.mu.Lock()
		one.users--
		one.used = time.Now()
		if err != nil {
			one.broken = true
			if p.sessions[key] == one {
				delete(p.sessions, key)
			}
		}
		end := one.broken && one.users == 0
		p.mu.Unlock()
		if end {
			one.session.close()
		}
	}
	return &view
}

// sweep closes sessions that have been idle for a while. The caller holds p.mu.
func (p *pool) sweep() {
	for key, one := range p.sessions {
		if one.users == 0 && time.Since(one.used) > idleSession {
			delete(p.sessions, key)
			go one.session.close() // it may have to notify the server
		}
	}
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for key, one := range p.sessions {
		delete(p.sessions, key)
		one.broken = true
		if one.users == 0 {
			go one.session.close()
		}
	}
}
