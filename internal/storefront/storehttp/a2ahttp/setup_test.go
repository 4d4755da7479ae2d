package a2ahttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/typeid"
	"ace/internal/protocol/a2a"
	"ace/internal/protocol/a2a/a2atest"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp/a2ahttp"
)

// sales are checkout sessions without a processor. What happens when one is
// opened depends on the id of the offer.
type sales struct {
	mu       sync.Mutex
	sessions map[string]*checkout.Session
	requests []checkout.Request
	during   func() // called while a session is opened, if set
	away     bool   // the processor
}

func newSales() *sales { return &sales{sessions: map[string]*checkout.Session{}} }

func notFound() error {
	return problem.New(problem.NotFound, "checkout_not_found", "No such checkout session.")
}

func away() error {
	return problem.New(problem.Unavailable, "processor_unavailable", "The processor is unavailable.").
		After(2 * time.Second)
}

func (s *sales) Create(_ context.Context, req checkout.Request) (*checkout.Session, error) {
	s.mu.Lock()
	s.requests = append(s.requests, req)
	during, isAway := s.during, s.away
	s.mu.Unlock()
	if during != nil {
		during()
	}
	switch {
	case req.OfferID == "sold_out":
		return nil, problem.New(problem.Conflict, "sold_out", "The box is sold out.").Advise("call list_products")
	case req.OfferID == "unknown":
		return nil, problem.New(problem.NotFound, "offer_not_found", "No offer has this id.")
	case req.OfferID == "few" && req.Quantity > 3:
		return nil, problem.New(problem.Invalid, "invalid_quantity", "The quantity is a whole number from 1 to 3.")
	case req.OfferID == "broken":
		return nil, fmt.Errorf("password=%s", "hunter2")
	case isAway:
		return nil, away()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept := s.sessions[req.ID]; kept != nil {
		return clone(kept), nil
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	session := &checkout.Session{
		ID: req.ID, Token: typeid.New("c"), State: checkout.Open, Protocol: req.Protocol, CreatedAt: now,
		UpdatedAt: now,
		Pages:     []checkout.Page{{N: 1, State: checkout.PageOpen, ExpiresAt: now.Add(23 * time.Hour)}},
	}
	s.sessions[req.ID] = session
	return clone(session), nil
}

func clone(s *checkout.Session) *checkout.Session { c := *s; return &c }

func (s *sales) Get(_ context.Context, id string) (*checkout.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[id]
	switch {
	case session == nil:
		return nil, notFound()
	case session.State == checkout.Creating:
		return nil, problem.New(problem.Conflict, "checkout_in_flight", "The page is being opened.").After(time.Second)
	}
	return clone(session), nil
}

func (s *sales) Cancel(ctx context.Context, id, _ string) (*checkout.Session, error) {
	session, err := s.Get(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case session.State != checkout.Open:
		return session, problem.New(problem.Conflict, "checkout_not_modifiable",
			"The session is "+string(session.State)+".")
	case s.isAway():
		return nil, away()
	}
	return s.move(id, checkout.Canceled, checkout.EndingAgent), nil
}

func (s *sales) isAway() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.away
}

// move is what the processor, or a person, does to a session.
func (s *sales) move(id string, to checkout.State, ending string) *checkout.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[id]
	session.State, session.Ending, session.UpdatedAt = to, ending, time.Now().UTC().Truncate(time.Millisecond).Add(
		time.Millisecond)
	if to == checkout.Completed {
		session.OrderID = "ord_1"
	}
	return clone(session)
}

func (s *sales) set(change func(*sales)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// only returns the one session that there is.
func (s *sales) only(t *testing.T) *checkout.Session {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) != 1 {
		t.Fatalf("there are %d sessions, want one", len(s.sessions))
	}
	for _, session := range s.sessions {
		return clone(session)
	}
	return nil
}

type networkKey struct{}

// clients distinguishes networks by the header X-Network.
type clients struct{}

func (clients) Agent(ctx context.Context, h http.Header) checkout.Agent {
	return checkout.Agent{UserAgent: h.Get("User-Agent"), ClientKey: clients{}.ClientKey(ctx)}
}

func (clients) ClientKey(ctx context.Context) string {
	network, _ := ctx.Value(networkKey{}).(string)
	return network
}

// world is an agent with its sales.
type world struct {
	t       testing.TB
	handler *a2ahttp.Handler
	sales   *sales
	tasks   a2a.Store
	// network is where calls come from.
	network string
}

// searchSchema is the input of the action search_pages.
const searchSchema = `{"type":"object","required":["query"],"additionalProperties":false,` +
	`"properties":{"query":{"type":"string","minLength":1},"limit":{"type":"integer","maximum":50}}}`

// actions answer what their query says.
func actions() []a2ahttp.Action {
	search := a2ahttp.Action{
		Name: "search_pages", Description: "Finds pages.",
		InputSchema: json.RawMessage(searchSchema), OutputSchema: json.RawMessage(`{"type":"object"}`),
	}
	search.Do = func(_ context.Context, h http.Header, input json.RawMessage) (json.RawMessage, error) {
		var in struct{ Query string }
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, err
		}
		switch in.Query {
		case "climb":
			return nil, problem.New(problem.Invalid, "path_outside_site", "The path climbs out.").At("/query")
		case "elsewhere":
			return nil, problem.New(problem.Forbidden, "other_host",
				"Only pages of this store are read here.").At("/query")
		case "nowhere":
			return nil, problem.New(problem.NotFound, "page_not_found", "There is no page at this path.").At("/query").
				Advise("call search_pages")
		case "away":
			return nil, away()
		case "broken":
			return nil, fmt.Errorf("password=%s", "hunter2")
		}
		return json.RawMessage(`{"query":"` + in.Query + `","agent":"` + h.Get("User-Agent") + `"}` + "\n"), nil
	}
	info := a2ahttp.Action{
		Name: "site_info", Description: "Describes the store.",
		InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false}`),
	}
	info.Do = func(context.Context, http.Header, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"name":"Store"}`), nil
	}
	return []a2ahttp.Action{info, search}
}

func setup(t testing.TB, change ...func(*a2ahttp.Deps)) *world {
	t.Helper()
	w := &world{t: t, sales: newSales(), tasks: a2atest.NewMemory(), network: "a"}
	box, err := seal.New(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	deps := a2ahttp.Deps{
		Site: a2ahttp.Site{
			BaseURL: "https://store.example", Name: "Test Store", Operator: "Test Inc.",
			Version: "1.0.0",
		},
		Actions: actions(), Sales: w.sales, Clients: clients{}, Tasks: w.tasks, MAC: box.MAC,
		ContinueURL: func(s *checkout.Session) string { return "https://store.example/c/" + s.Token },
		Show: func(_ context.Context, s *checkout.Session) (json.RawMessage, error) {
			return json.RawMessage(`{"id":"` + s.ID + `","status":"` + string(s.State) + `"}` + "\n"), nil
		},
	}
	for _, c := range change {
		c(&deps)
	}
	w.tasks = deps.Tasks
	if w.handler, err = a2ahttp.New(deps); err != nil {
		t.Fatal(err)
	}
	return w
}

// from is the same world for a client of another network.
func (w *world) from(network string) *world {
	other := *w
	other.network = network
	return &other
}

// fault is an error of the protocol.
type fault struct {
	Code    int
	Message string
	Data    []struct {
		Type       string `json:"@type"`
		Reason     string
		Metadata   map[string]string
		Violations []a2a.FieldViolation `json:"fieldViolations"`
		Delay      string               `json:"retryDelay"`
	}
}

// fields names what is wrong, in order.
func (f *fault) fields() string {
	var all []string
	for _, d := range f.Data {
		for _, v := range d.Violations {
			all = append(all, v.Field+" "+v.Reason)
		}
	}
	return strings.Join(all, ", ")
}

// call calls a method; one of result and fault is set.
func (w *world) call(method, params string, result any) *fault {
	w.t.Helper()
	ctx := context.WithValue(context.Background(), networkKey{}, w.network)
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, a2ahttp.Path,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	r.Header.Set("User-Agent", "tester/1")
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	var answer struct {
		Result json.RawMessage
		Error  *fault
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &answer); err != nil {
		w.t.Errorf("%s %s answered %d %s", method, params, rec.Code, rec.Body)
		return &fault{}
	}
	if answer.Error == nil {
		if err := json.Unmarshal(answer.Result, result); err != nil {
			w.t.Errorf("%s %s answered %s: %v", method, params, answer.Result, err)
		}
	}
	if strings.Contains(rec.Body.String(), "hunter2") {
		w.t.Errorf("%s %s shows an inner error: %s", method, params, rec.Body)
	}
	return answer.Error
}

// message is params of SendMessage. more are members of the message.
func message(id, parts string, more ...string) string {
	return `{"message":{"messageId":"` + id + `","role":"ROLE_USER","parts":` + parts +
		strings.Join(append([]string{""}, more...), ",") + `}}`
}

func dataPart(data string) string { return `[{"data":` + data + `,"mediaType":"application/json"}]` }

const (
	search = `{"skill":"site","action":"search_pages","input":{"query":"refunds"}}`
	buyBox = `{"skill":"checkout","action":"create_checkout","input":{"offer_id":"box"}}`
	hello  = `[{"text":"What is new?"}]`
)

// try sends a message and returns its task or the error.
func (w *world) try(params string) (a2a.Task, *fault) {
	w.t.Helper()
	var sent struct{ Task a2a.Task }
	f := w.call("SendMessage", params, &sent)
	return sent.Task, f
}

// send sends a message that must be taken.
func (w *world) send(params string) a2a.Task {
	w.t.Helper()
	task, f := w.try(params)
	if f != nil {
		w.t.Errorf("SendMessage %s = %+v, want a task", params, f)
	}
	return task
}

// get reads a task that must be there.
func (w *world) get(id string) a2a.Task {
	w.t.Helper()
	var task a2a.Task
	if f := w.call("GetTask", `{"id":"`+id+`"}`, &task); f != nil {
		w.t.Errorf("GetTask %s = %+v, want the task", id, f)
	}
	return task
}

// list lists the tasks of a context, newest first.
func (w *world) list(params string) a2a.TaskPage {
	w.t.Helper()
	var page a2a.TaskPage
	if f := w.call("ListTasks", params, &page); f != nil {
		w.t.Errorf("ListTasks %s = %+v, want a page", params, f)
	}
	return page
}

// words are what the parts of a message say in text.
func words(m *a2a.Message) string {
	if m == nil {
		return ""
	}
	var all []string
	for _, p := range m.Parts {
		if p.Text != nil {
			all = append(all, *p.Text)
		}
	}
	return strings.Join(all, " ")
}
