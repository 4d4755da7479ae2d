package trigger_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path"
	"strings"
	"sync"
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
	"ace/internal/platform/library"
	"ace/internal/platform/tool"
	"ace/internal/platform/trigger"
	"ace/internal/platform/trigger/filter"
	"ace/internal/platform/trigger/inbound"
	"ace/internal/protocol/stdwebhook"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

const owner = "acc_a"

// vendor is the demo app: it accepts every registration and lists its notes. It
// implements trigger.Apps, trigger.Caller and trigger.Connections.
type vendor struct {
	app *app.App

	mu    sync.Mutex
	notes []any // newest first
	fails error // of the next calls
	calls []string
	// respond, if set, responds instead of the list of notes.
	respond    func(c *tool.AppCall) (*tool.Answer, error)
	connection connection.Status // of the only connection; empty: active
}

func (v *vendor) App(context.Context, string, string) (*app.App, error) { return v.app, nil }

func (v *vendor) Tool(_ context.Context, _, id string) (*app.App, *app.Tool, error) {
	for _, one := range v.app.Tools.All() {
		if one.ID == id {
			return v.app, one, nil
		}
	}
	return nil, nil, problem.New(problem.NotFound, "tool_not_found", "There is no tool "+id+".")
}

func (v *vendor) Call(_ context.Context, c *tool.AppCall) (*tool.Answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls = append(v.calls, c.Tool.Call)
	if v.fails != nil {
		return nil, v.fails
	}
	if v.respond != nil {
		return v.respond(c)
	}
	return &tool.Answer{Status: 200, Output: map[string]any{"id": "hook_1", "secret": "nws_1", "notes": v.notes}}, nil
}

func (v *vendor) Choose(context.Context, string, *app.App, string, string) (*connection.Connection, error) {
	return v.Get(context.Background(), owner, "con_a")
}

func (v *vendor) Get(_ context.Context, accountID, id string) (*connection.Connection, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.connection == connection.Revoked {
		return nil, problem.New(problem.NotFound, "connection_not_found", "There is no connection with this id.")
	}
	return &connection.Connection{
		ID: id, AccountID: accountID, Status: cmp.Or(v.connection, connection.Active),
	}, nil
}

// reconnect changes the state of the connection, as the store does: its triggers
// are tended.
func (w *world) reconnect(status connection.Status) {
	w.t.Helper()
	w.vendor.mu.Lock()
	w.vendor.connection = status
	w.vendor.mu.Unlock()
	if _, err := w.db.Light(w.t.Context(), nil, `UPDATE app_trigger SET next_at = `+sqldb.Now); err != nil {
		w.t.Fatal(err)
	}
	if status != connection.Active && status != connection.Revoked {
		return
	}
	// Its credentials are others, or gone.
	if _, err := w.db.Light(w.t.Context(), nil, `UPDATE app_trigger SET renew_at = $1 WHERE mode = 'webhook'`,
		time.Now().UnixMilli()); err != nil {
		w.t.Fatal(err)
	}
}

// called returns the calls since the last time, and forgets them.
func (v *vendor) called() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	calls := v.calls
	v.calls = nil
	return calls
}

// fail makes all calls fail; nil: none.
func (v *vendor) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fails = err
}

// world is an engine on a database, inside a bubble of synctest.
type world struct {
	t      *testing.T
	vendor *vendor
	sealer *seal.Sealer
	db     *sqldb.DB
	random *rand.Rand
	clock  int64 // of SQLite, when times were last moved
	look   time.Duration

	mu      sync.Mutex
	secrets []stdwebhook.Secret
	posts   []post
	respond func(n int, r *http.Request) (int, error) // n: posts so far
	lose    func() bool                               // whether a record is lost, as in a crash
	service *trigger.Service
}

type post struct {
	id     string
	at     time.Time
	status int
}

// forgetful is a store whose records are lost now and then, as if the process had
// died after it had posted.
type forgetful struct {
	platformstore.Triggers
	w *world
}

var errDied = errors.New("the process died")

func (f forgetful) Record(ctx context.Context, o *trigger.Outcome) (bool, error) {
	if f.w.lose() {
		return false, errDied
	}
	return f.Triggers.Record(ctx, o)
}

// Do receives what is posted, and verifies it.
func (w *world) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	if _, err := stdwebhook.Verify(r.Header, w.secrets, body, time.Now()); err != nil {
		w.t.Errorf("a delivery that does not verify: %v", err)
	}
	n := len(w.posts)
	w.posts = append(w.posts, post{id: r.Header.Get(stdwebhook.HeaderID), at: time.Now()})
	respond := w.respond
	w.mu.Unlock()
	status, err := respond(n, r)
	w.mu.Lock()
	w.posts[n].status = status
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(bytes.NewReader(nil)), Header: http.Header{}}, nil
}

// engine runs test inside a bubble, with a worker that does all jobs.
func engine(t *testing.T, seed uint64, test func(w *world)) {
	t.Helper()
	apps, err := library.Read(catalog.Files, "demo", strings.NewReplacer("${sandbox}", "http://127.0.0.1:8082"))
	if err != nil {
		t.Fatal(err)
	}
	engineOf(t, apps[0], seed, test)
}

// engineOf is engine with another app.
func engineOf(t *testing.T, watched *app.App, seed uint64, test func(w *world)) {
	t.Helper()
	dsn := sqldbtest.Migrated(t, storage.Migrations())
	sealer, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	filters, err := filter.New()
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
		w := &world{
			t:       t,
			vendor:  &vendor{app: watched},
			sealer:  sealer,
			db:      db,
			look:    lookEvery,
			random:  rand.New(rand.NewPCG(seed, seed)),
			respond: func(int, *http.Request) (int, error) { return 200, nil },
			lose:    func() bool { return false },
		}
		store := forgetful{platformstore.Triggers{Store: platformstore.New(db, lanes)}, w}
		w.service = trigger.New(trigger.Ports{
			Store: store, Filters: filters, Apps: w.vendor, Caller: w.vendor, Connections: w.vendor,
			Sender: stdwebhook.NewSender(w, nil), Check: func(string) error { return nil }, Wake: lanes.Wake,
		}, sealer, &trigger.Options{BaseURL: "https://platform.example"})
		test(w)
	})
}

// lookEvery is how long a worker waits at most where no source names a time.
const lookEvery = time.Minute

// pass lets time pass, and does what falls due. The clock of SQLite is not that of
// the bubble: the times in the database are moved instead.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	end := time.Now().Add(d)
	for w.work(); time.Now().Before(end); w.work() {
		// A worker looks now and then although nothing is due: a source does not
		// count what waits for a destination that is down.
		step := min(time.Until(end), w.look)
		for _, source := range w.service.Sources() {
			next, found, err := source.Next(w.t.Context())
			if err != nil {
				w.t.Fatal(err)
			}
			if found {
				step = min(step, max(next, 100*time.Millisecond))
			}
		}
		time.Sleep(step)
		w.shift(step)
	}
}

// shift makes everything due earlier, in the database. By what the clock of SQLite
// went on by itself, while the test worked, it is due later.
func (w *world) shift(d time.Duration) {
	w.t.Helper()
	var clock int64 // milliseconds
	if _, err := w.db.Light(w.t.Context(), func(rows *sql.Rows) error { return rows.Scan(&clock) },
		`SELECT `+sqldb.Now); err != nil {
		w.t.Fatal(err)
	}
	if w.clock != 0 {
		d -= time.Duration(clock-w.clock) * time.Millisecond
	}
	w.clock = clock
	for _, statement := range []string{
		`UPDATE trigger_event SET deliver_at = deliver_at - $1 WHERE deliver_at > 0`,
		`UPDATE app_trigger SET next_at = next_at - $1 WHERE next_at > 0`,
	} {
		if _, err := w.db.Light(w.t.Context(), nil, statement, d.Milliseconds()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// work does everything that is due, as a worker does: each batch together.
func (w *world) work() {
	w.t.Helper()
	handlers := w.service.Handlers()
	for again := true; again; {
		again = false
		for kind, source := range w.service.Sources() {
			w.shift(0)
			claimed, err := source.Claim(w.t.Context(), 128, 45*time.Second)
			if err != nil {
				w.t.Fatal(err)
			}
			var group sync.WaitGroup
			ends := make([]jobs.End, len(claimed))
			for i, job := range claimed {
				group.Go(func() {
					ends[i] = jobs.End{Job: job, Done: true}
					if err := handlers[kind].Run(w.t.Context(), job); err != nil {
						ends[i].Done, ends[i].RunAt = false, time.Now().Add(time.Minute)
					}
				})
			}
			group.Wait()
			if len(ends) > 0 {
				again = true
				if _, err := source.End(w.t.Context(), ends); err != nil {
					w.t.Fatal(err)
				}
			}
		}
	}
}

func (w *world) create(event, address string) *trigger.Trigger {
	w.t.Helper()
	one, err := w.service.Create(w.t.Context(), audit.System(), owner, trigger.Request{
		ID: trigger.NewID(), App: w.vendor.app.ID, Event: event, WebhookURL: address,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.secrets = append(w.secrets, w.service.Secret(one))
	w.mu.Unlock()
	return one
}

// signed returns the signature of an app.
func signed(key string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = mac.Write(body) // a hash accepts everything
	return hex.EncodeToString(mac.Sum(nil))
}

// send is the demo app that sends an event.
func (w *world) send(t *trigger.Trigger, id string) {
	w.t.Helper()
	body := fmt.Appendf(nil, `{"id":%q,"event":"new_note","note":{"id":%q}}`, id, id)
	if _, err := w.service.Receive(w.t.Context(), t.ID, path.Base(w.service.HookURL(t.ID)), &inbound.Request{
		Method: "POST", Body: body,
		Header: map[string][]string{"X-Notes-Signature": {"sha256=" + signed("nws_1", body)}},
	}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) history(t *trigger.Trigger) []*trigger.Event {
	w.t.Helper()
	events, err := w.service.History(w.t.Context(), owner, t.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return events
}

func (w *world) get(t *trigger.Trigger) *trigger.Trigger {
	w.t.Helper()
	now, err := w.service.Get(w.t.Context(), owner, t.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return now
}

// TestAttempts is the schedule of a receiver that never accepts.
func TestAttempts(t *testing.T) {
	t.Parallel()
	engine(t, 1, func(w *world) {
		w.respond = func(int, *http.Request) (int, error) { return 500, nil }
		one := w.create("new_note", "https://hooks.example/in")
		w.send(one, "a")
		w.pass(time.Second)
		if _, err := w.service.Replay(w.t.Context(), owner, one.ID, w.history(one)[0].ID); !problem.Is(err,
			"event_pending") {
			w.t.Errorf("Replay between two attempts = %v, want event_pending", err)
		}
		w.pass(10 * time.Minute)
		if len(w.posts) != trigger.MaxAttempts {
			w.t.Fatalf("%d posts, want %d", len(w.posts), trigger.MaxAttempts)
		}
		for i, want := range []time.Duration{30 * time.Second, 5 * time.Minute} {
			if gap := w.posts[i+1].at.Sub(w.posts[i].at); gap < want*4/5 || gap > want*6/5+time.Second {
				w.t.Errorf("attempt %d came after %v, want %v and a fifth", i+2, gap, want)
			}
		}
		event := w.history(one)[0]
		if event.State != trigger.Failed || len(event.Attempts) != 3 || event.Attempts[2].Status != 500 {
			w.t.Errorf("the event is %+v", event)
		}
		w.respond = func(int, *http.Request) (int, error) { return 200, nil }
		if n, err := w.service.ReplayFailed(w.t.Context(), owner, one.ID); err != nil || n != 1 {
			w.t.Errorf("ReplayFailed = %d, %v", n, err)
		}
		w.pass(10 * time.Second)
		if event := w.history(one)[0]; event.State != trigger.Delivered || w.posts[3].id != w.posts[0].id {
			w.t.Errorf("after the replay: %+v", event)
		}
	})
}

func TestReceiverThatIsGone(t *testing.T) {
	t.Parallel()
	engine(t, 1, func(w *world) {
		w.respond = func(int, *http.Request) (int, error) { return 410, nil }
		one := w.create("new_note", "https://hooks.example/in")
		w.send(one, "a")
		w.pass(time.Minute)
		if now := w.get(one); now.Status != trigger.Paused || now.Reason != trigger.WebhookGone || len(w.posts) != 1 {
			w.t.Errorf("%s, %s after %d posts", now.Status, now.Reason, len(w.posts))
		}
		w.send(one, "b")
		w.pass(time.Hour)
		if len(w.posts) != 1 || len(w.history(one)) != 1 {
			w.t.Errorf("%d posts, %d events after the pause", len(w.posts), len(w.history(one)))
		}
	})
}

func TestTooManyFailures(t *testing.T) {
	t.Parallel()
	engine(t, 1, func(w *world) {
		w.respond = func(int, *http.Request) (int, error) { return 500, nil }
		one := w.create("new_note", "https://hooks.example/in")
		for i := range 25 {
			w.send(one, fmt.Sprint(i))
		}
		w.pass(15 * time.Minute)
		if now := w.get(one); now.Status != trigger.Paused || now.Reason != trigger.TooManyFailures {
			w.t.Errorf("%s, %s", now.Status, now.Reason)
		}
	})
}

// TestDeadReceiver delays no other, and uses up no attempts while nothing is sent
// to it.
func TestDeadReceiver(t *testing.T) {
	t.Parallel()
	engine(t, 1, func(w *world) {
		w.respond = func(_ int, r *http.Request) (int, error) {
			if r.URL.Host == "dead.example" {
				<-r.Context().Done()
				return 0, r.Context().Err()
			}
			return 200, nil
		}
		dead, alive := w.create("new_note", "https://dead.example/in"), w.create("new_note", "https://alive.example/in")
		for i := range 45 {
			w.send(dead, fmt.Sprint("d", i))
		}
		w.send(alive, "a")
		w.pass(3 * time.Second)
		if event := w.history(alive)[0]; event.State != trigger.Delivered {
			w.t.Errorf("behind a dead receiver: %+v", event)
		}
		w.pass(50 * time.Second)
		if n := len(w.posts) - 1; n > 2*trigger.PerDestination {
			w.t.Errorf("%d posts to a receiver that responds to none", n)
		}
	})
}

func TestPolls(t *testing.T) {
	t.Parallel()
	engine(t, 1, func(w *world) {
		note := func(id string) any { return map[string]any{"id": id} }
		w.vendor.notes = []any{note("b"), note("a")}
		one := w.create("note_listed", "https://hooks.example/in")
		w.pass(3 * time.Minute)
		if len(w.posts) != 0 {
			w.t.Errorf("what was there before is %d events", len(w.posts))
		}
		w.vendor.mu.Lock()
		w.vendor.notes = []any{note("d"), note("c"), note("b"), note("a")}
		w.vendor.mu.Unlock()
		w.pass(5 * time.Minute)
		events := w.history(one)
		if len(events) != 2 || events[0].ID != trigger.EventID(one.ID, "d") ||
			events[1].ID != trigger.EventID(one.ID, "c") {
			w.t.Errorf("%d events, want c and then d", len(events))
		}
		// The app is down: the trigger is in error, and goes on when it is back.
		w.vendor.mu.Lock()
		w.vendor.fails = &tool.Failure{Code: tool.CodeUnavailable, Detail: "Notes is down.", Retryable: true}
		w.vendor.notes = append([]any{note("e")}, w.vendor.notes...)
		w.vendor.mu.Unlock()
		w.pass(time.Hour)
		if now := w.get(one); now.Status != trigger.Failing || now.LastError != "Notes is down." {
			w.t.Errorf("while the app is down: %s, %q", now.Status, now.LastError)
		}
		w.vendor.mu.Lock()
		w.vendor.fails = nil
		w.vendor.mu.Unlock()
		w.pass(2 * time.Hour)
		if now, events := w.get(one), w.history(one); now.Status != trigger.Active || len(events) != 3 {
			w.t.Errorf("when it is back: %s, %d events", now.Status, len(events))
		}
	})
}

// TestDelivery is random: receivers that fail in every way, processes that die
// after they have posted, apps that send events twice. The oracle compares what was
// accepted, what the receivers got, and what the history says.
func TestDelivery(t *testing.T) {
	t.Parallel()
	for range 4 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			engine(t, seed, func(w *world) { w.shake() })
		})
	}
}

func (w *world) shake() {
	var dice sync.Mutex
	roll := func(n int) int { dice.Lock(); defer dice.Unlock(); return w.random.IntN(n) }
	w.respond = func(_ int, r *http.Request) (int, error) {
		switch roll(6) {
		case 0:
			return 503, nil
		case 1:
			return 0, errors.New("connection reset by peer")
		case 2:
			<-r.Context().Done()
			return 0, r.Context().Err()
		case 3:
			time.Sleep(time.Duration(roll(12)) * time.Second)
		}
		return 204, nil
	}
	w.lose = func() bool { return roll(5) == 0 }
	var watched []*trigger.Trigger
	for i := range 3 {
		watched = append(watched, w.create("new_note", fmt.Sprintf("https://r%d.example/in", i)))
	}
	accepted := map[string]bool{}
	for i := range 40 {
		one := watched[roll(len(watched))]
		key := fmt.Sprint(i)
		for range 1 + roll(2) {
			w.send(one, key)
		}
		accepted[trigger.EventID(one.ID, key)] = true
		w.pass(time.Duration(roll(4)) * time.Second)
	}
	w.pass(24 * time.Hour)
	w.judge(watched, accepted)
}

// judge checks the invariants.
func (w *world) judge(watched []*trigger.Trigger, accepted map[string]bool) {
	w.t.Helper()
	good := map[string]bool{}
	for _, p := range w.posts {
		if !accepted[p.id] {
			w.t.Errorf("posted %s, which was never accepted", p.id)
		}
		good[p.id] = good[p.id] || p.status == 204
	}
	seen := 0
	for _, one := range watched {
		events := w.history(one)
		for i, e := range events {
			seen++
			if e.Sequence != int64(len(events)-i) || !accepted[e.ID] {
				w.t.Errorf("event %s has the number %d", e.ID, e.Sequence)
			}
			w.judgeEvent(e, good[e.ID])
		}
	}
	if seen != len(accepted) {
		w.t.Errorf("%d events are shown, %d were accepted", seen, len(accepted))
	}
}

func (w *world) judgeEvent(e *trigger.Event, arrived bool) {
	w.t.Helper()
	if !e.State.Ended() || e.State == trigger.Delivered && !arrived {
		w.t.Errorf("event %s is %s; it arrived: %t; attempts %+v", e.ID, e.State, arrived, e.Attempts)
	}
	var ended []trigger.Attempt
	for _, a := range e.Attempts {
		if !a.Interrupted {
			ended = append(ended, a)
		}
	}
	if len(ended) > trigger.MaxAttempts || e.State == trigger.Failed && e.Attempt != trigger.MaxAttempts {
		w.t.Errorf("event %s is %s after %d attempts: %+v", e.ID, e.State, len(ended), e.Attempts)
	}
	for i := 1; i < len(ended); i++ {
		// The clocks differ by what passes between moving the times and a claim.
		least := []time.Duration{24 * time.Second, 4 * time.Minute}[ended[i-1].Number-1] - 100*time.Millisecond
		before := ended[i-1].At.Add(time.Duration(ended[i-1].Duration) * time.Millisecond)
		if gap := ended[i].At.Sub(before); ended[i].Number == ended[i-1].Number+1 && gap < least {
			w.t.Errorf("attempt %d of %s came %v after the one before", ended[i].Number, e.ID, gap)
		}
	}
}
