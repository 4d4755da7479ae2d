package trigger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/catalog"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/httptool"
	"ace/internal/platform/tool"
	"ace/internal/platform/trigger"
	"ace/internal/platform/trigger/inbound"
	"ace/internal/protocol/stdwebhook"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

// What the fakes of vendors expect of a connection.
const (
	credential   = "the-credential"
	clientSecret = "the-client-secret"
)

// moment is when the samples of the catalog happened.
var moment = time.Date(2026, time.November, 22, 10, 0, 0, 0, time.UTC)

// rig is the engine with one trigger of the catalog, whose calls go over HTTP to a
// fake of the vendor. It runs inside a bubble of synctest, on the day of the
// samples. It implements trigger.Apps, trigger.Caller, trigger.Connections and
// trigger.Clients.
type rig struct {
	t        *testing.T
	app      *app.App
	def      *app.Trigger
	scheme   string
	values   app.Map // of the connection, besides those of its scheme
	serve    http.HandlerFunc
	executor *httptool.Executor
	store    platformstore.Triggers
	service  *trigger.Service
	one      *trigger.Trigger
}

// definitions are the apps that are made by hand.
func definitions(t *testing.T) map[string]*app.App {
	t.Helper()
	paths, err := fs.Glob(catalog.Files, "curated/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	apps := map[string]*app.App{}
	for _, path := range paths {
		text, err := fs.ReadFile(catalog.Files, path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := app.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		apps[a.ID] = a
	}
	return apps
}

// at runs test with the engine, for the trigger with an id like github.push.
func at(t *testing.T, id, scheme string, values app.Map, test func(r *rig)) {
	t.Helper()
	appID, event, _ := strings.Cut(id, ".")
	a := definitions(t)[appID]
	if a == nil {
		t.Fatalf("there is no app %s", appID)
	}
	def, known := a.Triggers.Get(event)
	if !known || !def.Offered() {
		t.Fatalf("%s is not offered", id)
	}
	dsn := sqldbtest.Migrated(t, storage.Migrations())
	sealer, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		db, err := sqldb.Open(t.Context(), dsn, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if _, err := db.Light(t.Context(), nil,
			`INSERT INTO account (id, name, created_at, disabled_at) VALUES ($1, $1, 1, 0)`, owner); err != nil {
			t.Fatal(err)
		}
		lanes := jobs.NewLanes(nil)
		r := &rig{
			t: t, app: a, def: def, scheme: scheme, values: values,
			store: platformstore.Triggers{Store: platformstore.New(db, lanes)},
		}
		r.executor = httptool.New(r, nil)
		r.service = trigger.New(trigger.Ports{
			Store: r.store, Apps: r, Caller: r, Connections: r, Clients: r,
			Sender: stdwebhook.NewSender(r, nil), Check: func(string) error { return nil }, Wake: lanes.Wake,
		}, sealer, &trigger.Options{BaseURL: "https://platform.example"})
		time.Sleep(time.Until(moment.Add(-10 * time.Minute)))
		test(r)
	})
}

// App implements trigger.Apps.
func (r *rig) App(context.Context, string, string) (*app.App, error) { return r.app, nil }

// Tool implements trigger.Apps.
func (*rig) Tool(context.Context, string, string) (*app.App, *app.Tool, error) {
	return nil, nil, problem.New(problem.NotFound, "tool_not_found", "No trigger of the catalog reads by a tool.")
}

// Find implements trigger.Clients.
func (*rig) Find(context.Context, string, string) (*connection.Client, error) {
	return &connection.Client{ID: "the-client", Secret: clientSecret}, nil
}

// Choose implements trigger.Connections.
func (r *rig) Choose(ctx context.Context, accountID string, _ *app.App, _, _ string) (*connection.Connection, error) {
	return r.Get(ctx, accountID, "con_a")
}

// Get implements trigger.Connections.
func (r *rig) Get(_ context.Context, accountID, id string) (*connection.Connection, error) {
	return &connection.Connection{
		ID: id, AccountID: accountID, App: r.app.ID, Scheme: r.scheme, Status: connection.Active,
	}, nil
}

// Call implements trigger.Caller with the real executor of tools.
func (r *rig) Call(ctx context.Context, c *tool.AppCall) (*tool.Answer, error) {
	scheme, known := r.app.Scheme(r.scheme)
	if !known {
		r.t.Fatalf("there is no scheme %q", r.scheme)
	}
	values := app.Map{"access_token": credential, "access_secret": credential, "client_id": "the-client"}
	for _, f := range scheme.Fields {
		values[f.Name] = credential
	}
	for name, p := range r.app.Params {
		values[name] = app.Text(p.Default)
	}
	maps.Copy(values, r.values)
	return r.executor.Execute(ctx, &tool.Call{
		App: r.app, Scheme: scheme, Tool: c.Tool, Arguments: c.Arguments,
		Live: &connection.Live{Connection: &connection.Connection{}, Values: app.Join(values, app.Moment())},
	})
}

// Do implements httptool.HTTPClient: the vendor answers.
func (r *rig) Do(request *http.Request) (*http.Response, error) {
	if _, password, _ := request.BasicAuth(); password != credential &&
		!strings.Contains(fmt.Sprint(request.Header, request.URL), credential) {
		r.t.Errorf("%s %s has no credentials", request.Method, request.URL)
	}
	recorder := httptest.NewRecorder()
	r.serve(recorder, request)
	response := recorder.Result()
	response.Request = request
	return response, nil
}

// create creates the trigger.
func (r *rig) create(config map[string]any) {
	r.t.Helper()
	one, err := r.service.Create(r.t.Context(), audit.System(), owner, trigger.Request{
		ID: trigger.NewID(), App: r.app.ID, Event: r.def.Name, WebhookURL: "https://hooks.example/in", Config: config,
	})
	if err != nil {
		r.t.Fatalf("creating the trigger: %v", err)
	}
	r.one = one
}

// tend does what is due next, as a worker does that has claimed it.
func (r *rig) tend() {
	r.t.Helper()
	if err := r.try(); err != nil {
		r.t.Fatalf("tending the trigger: %v", err)
	}
}

func (r *rig) try() error {
	r.t.Helper()
	now := r.now()
	// NextAt is a time of the database, whose clock is not that of the bubble.
	time.Sleep(max(time.Until(now.RenewAt), now.Interval))
	return r.service.Handlers()[trigger.JobTend].Run(r.t.Context(), jobs.Job{
		Kind: trigger.JobTend, Ref: owner + "/" + now.ID, Token: now.NextAt.UnixMilli(),
	})
}

// now returns the trigger as it is stored; nil where it was purged.
func (r *rig) now() *trigger.Trigger {
	r.t.Helper()
	now, err := r.store.AnyTrigger(r.t.Context(), r.one.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	return now
}

// end deletes the trigger, and does what is due then.
func (r *rig) end() {
	r.t.Helper()
	if err := r.service.Delete(r.t.Context(), audit.System(), owner, r.one.ID); err != nil {
		r.t.Fatal(err)
	}
	if r.now() != nil { // a registration has to be ended
		r.tend()
	}
	if now := r.now(); now != nil {
		r.t.Errorf("after its deletion the trigger is %+v", now)
	}
}

// events returns the data of the newest events, oldest first.
func (r *rig) events() []any {
	r.t.Helper()
	history, err := r.service.History(r.t.Context(), owner, r.one.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	var all []any
	for _, e := range slices.Backward(history) {
		var body struct {
			Type string
			Data any
		}
		if err := json.Unmarshal(e.Body, &body); err != nil || body.Type != r.def.ID {
			r.t.Errorf("posted %s: %v", e.Body, err)
		}
		all = append(all, body.Data)
	}
	return all
}

// wantEvents checks how many events there were so far, and returns the newest.
func (r *rig) wantEvents(when string, want int) []any {
	r.t.Helper()
	if now := r.now(); now.Sequence != int64(want) || now.Status != trigger.Active {
		r.t.Fatalf("%s: %d events, want %d; it is %s (%s)", when, now.Sequence, want, now.Status, now.LastError)
	}
	return r.events()
}

// sample is the example of the definition, decoded as JSON.
func (r *rig) sample() any { return decoded(r.t, encoded(r.t, r.def.Sample)) }

// wantSample checks that the newest event is the documented example.
func (r *rig) wantSample(events []any) {
	r.t.Helper()
	if got, want := events[len(events)-1], r.sample(); !reflect.DeepEqual(got, want) {
		r.t.Errorf("the payload is\n%s\nwant the example of the definition\n%s", encoded(r.t, got), encoded(r.t, want))
	}
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decoded(t *testing.T, text []byte) (value any) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

// call is a request as a fake reads it.
type call struct {
	t     *testing.T
	line  string // POST https://api.example.com/hooks
	query url.Values
	body  any // of JSON, or the fields of a form
}

func read(t *testing.T, request *http.Request) *call {
	t.Helper()
	c := &call{
		t: t, line: request.Method + " https://" + request.URL.Host + request.URL.EscapedPath(),
		query: request.URL.Query(),
	}
	if request.Body == nil {
		return c
	}
	text, err := io.ReadAll(request.Body)
	if err != nil {
		t.Fatal(err)
	}
	switch media := request.Header.Get("Content-Type"); {
	case strings.HasPrefix(media, "application/x-www-form-urlencoded"):
		form, err := url.ParseQuery(string(text))
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]any{}
		for name := range form {
			fields[name] = form.Get(name)
		}
		c.body = fields
	case len(bytes.TrimSpace(text)) > 0:
		c.body = decoded(t, text)
	}
	return c
}

// text returns a value: ?name is a parameter, /pointer one in the body.
func (c *call) text(place string) string {
	if name, ok := strings.CutPrefix(place, "?"); ok {
		return c.query.Get(name)
	}
	return app.PickText(c.body, place)
}

// wants checks values; one that begins with ~ has to be contained.
func (c *call) wants(values map[string]string) {
	c.t.Helper()
	for place, want := range values {
		part, contains := strings.CutPrefix(want, "~")
		if got := c.text(place); contains && !strings.Contains(got, part) || !contains && got != want {
			c.t.Errorf("%s: %s is %q, want %q", c.line, place, got, want)
		}
	}
}

// receive is a request of the vendor to the URL that it was given.
func (r *rig) receive(method, address string, header map[string]string, body []byte) (*inbound.Reply, error) {
	r.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		r.t.Fatal(err)
	}
	token := path.Base(u.Path)
	request := &inbound.Request{
		Method: method, URL: address, Query: u.Query(), Header: map[string][]string{}, Body: body,
	}
	for name, value := range header {
		request.Header[http.CanonicalHeaderKey(name)] = []string{value}
	}
	return r.service.Receive(r.t.Context(), path.Base(path.Dir(u.Path)), token, request)
}

// TestEveryTriggerIsTried fails for a definition that is offered without a fake of
// its vendor, and for one that is declared and not offered.
func TestEveryTriggerIsTried(t *testing.T) {
	t.Parallel()
	tried := map[string]int{}
	for _, row := range hooks() {
		tried[row.id]++
	}
	for _, row := range polls() {
		tried[row.id]++
	}
	declared := 0
	for _, a := range definitions(t) {
		for _, def := range a.Triggers.All() {
			declared++
			ways := 1
			if def.Hook != nil && def.Poll != nil {
				ways = 2
			}
			if !def.Offered() || tried[def.ID] != ways {
				t.Errorf("%s: offered %t, tried %d times, want %d", def.ID, def.Offered(), tried[def.ID], ways)
			}
			delete(tried, def.ID)
		}
	}
	if len(tried) > 0 {
		t.Errorf("tried, but not declared: %v", tried)
	}
	t.Logf("%d triggers", declared)
}

func wantCode(t *testing.T, what string, err error, code string) {
	t.Helper()
	if !problem.Is(err, code) {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// shifted returns a time in the form that it had, some time later.
func shifted(t *testing.T, value any, by time.Duration) any {
	t.Helper()
	if number, ok := value.(float64); ok {
		if number > 1e11 {
			return number + float64(by.Milliseconds())
		}
		return number + by.Seconds()
	}
	text, _ := value.(string)
	if seconds, fraction, ok := strings.Cut(text, "."); ok && len(seconds) == 10 {
		if number, err := strconv.ParseInt(seconds, 10, 64); err == nil {
			return fmt.Sprintf("%d.%s", number+int64(by.Seconds()), fraction)
		}
	}
	for _, layout := range []string{
		"2006-01-02T15:04:05.0000000Z", "2006-01-02T15:04:05.000000Z", "2006-01-02T15:04:05.000000-07:00",
		"2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000-0700", "2006-01-02T15:04:05Z", time.RFC1123Z,
		"2006-01-02T15:04:05-07:00",
	} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Add(by).Format(layout)
		}
	}
	t.Fatalf("%v is no time that is known", value)
	return nil
}

// put sets a value inside a document.
func put(t *testing.T, document any, pointer string, change func(any) any) {
	t.Helper()
	parent, ok := app.Pick(document, pointer[:strings.LastIndex(pointer, "/")])
	members, isMap := parent.(map[string]any)
	name := strings.ReplaceAll(pointer[strings.LastIndex(pointer, "/")+1:], "~1", "/")
	if !ok || !isMap {
		t.Fatalf("there is no %s in %s", pointer, encoded(t, document))
	}
	members[name] = change(members[name])
}
