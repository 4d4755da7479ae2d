package trigger

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/jsonschema"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool"
	"ace/internal/platform/trigger/filter"
	"ace/internal/protocol/stdwebhook"
)

// Ports are what a Service calls.
type Ports struct {
	Store       Store
	Apps        Apps
	Caller      Caller
	Connections Connections
	Clients     Clients
	Sender      Sender
	Filters     *filter.Language
	// Check returns a problem for a URL that will not be called.
	Check func(address string) error
	// Wake makes the lane of a kind of jobs look for work now.
	Wake func(kind string)
}

// Options tunes a Service.
type Options struct {
	BaseURL string       // of the platform host, without a slash at the end
	Log     *slog.Logger // nil: nothing is logged
	// Observer, if set, is notified of every attempt to deliver an event.
	Observer Observer
	// Step, if set, is called between two durable steps; tests end the process
	// there.
	Step func(name string)
}

// Observer counts deliveries. It is called by many goroutines at the same time
// and must not block. attempt counts from 1 within a series; state is what
// became of the event.
type Observer interface {
	Attempted(attempt int, state State, elapsed time.Duration)
}

// Service watches triggers. It is safe for concurrent use, by any number of
// processes on one store.
type Service struct {
	Ports
	options Options
	sealer  *seal.Sealer
	hosts   hosts
}

// New returns a service that seals with sealer.
func New(p Ports, sealer *seal.Sealer, o *Options) *Service {
	s := &Service{Ports: p, sealer: sealer}
	if o != nil {
		s.options = *o
	}
	if s.options.Log == nil {
		s.options.Log = slog.New(slog.DiscardHandler)
	}
	if s.options.Step == nil {
		s.options.Step = func(string) {}
	}
	return s
}

// Handlers returns what does the jobs.
func (s *Service) Handlers() map[string]jobs.Handler {
	return map[string]jobs.Handler{
		JobTend:    {Run: s.tend, Backoff: []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute}},
		JobDeliver: {Run: s.deliver},
		JobPrune: {Interruptible: true, Run: func(ctx context.Context, _ jobs.Job) error {
			more, err := s.Store.ForgetKeys(ctx, time.Now().Add(-DedupRetention))
			switch {
			case err != nil:
				return err
			case more:
				return jobs.Later(time.Now())
			}
			return jobs.Later(time.Now().Add(time.Hour))
		}},
	}
}

// Sources returns where the work is found that has no job rows.
func (s *Service) Sources() map[string]jobs.Source {
	return map[string]jobs.Source{
		JobTend: s.Store.Tending(), JobDeliver: s.Store.Deliveries(func() []string { return s.hosts.busy(time.Now()) }),
	}
}

// Secret returns the signing secret of a trigger. It follows from the trigger and
// the key of digests, so that it is stored nowhere.
func (s *Service) Secret(t *Trigger) stdwebhook.Secret { return s.secret(t, t.Generation) }

func (s *Service) secret(t *Trigger, generation int64) stdwebhook.Secret {
	return stdwebhook.SecretOf(s.derive("trigger secret", t.ID, fmt.Sprint(generation)))
}

// secrets returns what deliveries are signed with now, the newest first.
func (s *Service) secrets(t *Trigger, now time.Time) []stdwebhook.Secret {
	all := []stdwebhook.Secret{s.Secret(t)}
	if now.Before(t.PreviousUntil) {
		all = append(all, s.secret(t, t.Generation-1))
	}
	return all
}

// definition returns the app of a trigger and its definition. It returns
// trigger_type_not_found (NotFound).
func (s *Service) definition(ctx context.Context, accountID, appID, event string) (*app.App, *app.Trigger, error) {
	a, err := s.Apps.App(ctx, accountID, appID)
	if err != nil {
		return nil, nil, err
	}
	t, known := a.Triggers.Get(event)
	if !known && event == app.NewItem {
		t = a.NewItem()
		known = t != nil
	}
	if !known || !t.Offered() {
		names := make([]string, 0, a.Triggers.Len())
		for _, one := range offers(a) {
			names = append(names, one.Name)
		}
		return nil, nil, problem.New(problem.NotFound, "trigger_type_not_found",
			a.Name+" has no event "+event+" that can be watched.").With("app", appID).With("events", names).
			Advise("fix_arguments")
	}
	return a, t, nil
}

// offers returns what can be watched of an app.
func offers(a *app.App) []*app.Trigger {
	list := a.Offers()
	if _, own := a.Triggers.Get(app.NewItem); !own {
		if one := a.NewItem(); one != nil {
			list = append(list, one)
		}
	}
	return list
}

// definitionOf is definition of a trigger, as its config completes it.
func (s *Service) definitionOf(ctx context.Context, t *Trigger) (*app.App, *app.Trigger, error) {
	a, def, err := s.definition(ctx, t.AccountID, t.App, t.Event)
	if err == nil && def.Generic {
		def = def.ItemsOf(t.Config)
	}
	return a, def, err
}

// Request is a trigger to create.
type Request struct {
	ID           string
	App, Event   string
	ConnectionID string
	EndUser      string
	Description  string
	Config       map[string]any
	Filter       string // empty: all events are posted
	WebhookURL   string
	Interval     time.Duration // 0: as the definition says
}

// Create starts to watch an event. The app is asked to send it, or is polled for
// the first time, before Create returns. It may be called again with the same id.
// Its problems: app_not_found, trigger_type_not_found (NotFound),
// invalid_arguments, filter_invalid, webhook_url_not_allowed, trigger_setup_failed
// (Unprocessable), and those of Connections.Choose.
func (s *Service) Create(ctx context.Context, by audit.Actor, accountID string, in Request) (*Trigger, error) {
	a, def, err := s.definition(ctx, accountID, in.App, in.Event)
	if err != nil {
		return nil, err
	}
	config, err := s.config(def, in.Config)
	if err != nil {
		return nil, err
	}
	if _, err := s.filter(in.Filter); err != nil {
		return nil, err
	}
	destination, err := s.destination(in.WebhookURL)
	if err != nil {
		return nil, err
	}
	chosen, err := s.Connections.Choose(ctx, accountID, a, in.ConnectionID, in.EndUser)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	t := &Trigger{
		ID:           in.ID,
		AccountID:    accountID,
		App:          a.ID,
		Event:        def.Name,
		ConnectionID: chosen.ID,
		EndUser:      chosen.EndUser,
		Description:  in.Description,
		Config:       config,
		Filter:       in.Filter,
		WebhookURL:   in.WebhookURL,
		Destination:  destination,
		Mode:         ModePoll,
		Status:       Registering,
		Generation:   1,
		Revision:     1,
		CreatedAt:    now,
		UpdatedAt:    now,
		// A process that dies meanwhile leaves a row that Tend removes.
		NextAt: now.Add(setupPatience),
	}
	byHook, err := s.byHook(ctx, a, def, chosen)
	if err != nil {
		return nil, err
	}
	if byHook {
		t.Mode = ModeHook
	} else {
		t.Interval = interval(def.Poll, in.Interval)
	}
	stored, inserted, err := s.Store.InsertTrigger(ctx, t, audit.Entry{})
	if err != nil {
		return nil, err
	}
	if !inserted && stored.Status != Registering {
		return stored, nil // a repetition
	}
	s.options.Step("trigger inserted")
	started, err := s.start(ctx, by, a, def, stored)
	if err != nil {
		if purged := s.Store.PurgeTrigger(context.WithoutCancel(ctx), t.ID); purged != nil {
			s.options.Log.ErrorContext(
				ctx,
				"trigger that could not be set up not removed",
				slog.String("trigger_id", t.ID),
				slog.Any("error", purged),
			)
		}
		return nil, setupFailed(a, err)
	}
	return started, nil
}

// byHook reports whether events of a trigger come by its hook. Some apps sign with
// the secret of the OAuth client, which is known only of connections that were made
// with one; for others the app is polled.
func (s *Service) byHook(ctx context.Context, a *app.App, def *app.Trigger, c *connection.Connection) (bool, error) {
	if def.Hook == nil || def.Poll == nil {
		return def.Hook != nil, nil
	}
	scheme, known := a.Scheme(c.Scheme)
	if !known || scheme.Type != app.TypeOAuth2 && scheme.Type != app.TypeOAuth1 || s.Clients == nil {
		return false, nil
	}
	client, err := s.Clients.Find(ctx, c.AccountID, a.ID)
	return client != nil, err
}

// setupPatience is how long a trigger may take to be created.
const setupPatience = 2 * time.Minute

// start registers a new trigger, or polls for it, and makes it active.
func (s *Service) start(ctx context.Context, by audit.Actor, a *app.App, def *app.Trigger, t *Trigger) (*Trigger,
	error,
) {
	entry := audit.New(t.AccountID, by, "trigger.created", t.ID, map[string]string{"app": t.App, "event": t.Event})
	if t.Mode == ModeHook {
		registration, renewAt, err := s.subscribe(ctx, a, def, t)
		if err != nil {
			return nil, err
		}
		s.options.Step("trigger registered")
		return s.Store.ChangeTrigger(ctx, t.ID, func(t *Trigger) error {
			t.registered(registration, renewAt)
			return nil
		}, entry)
	}
	if def.Generic {
		def = def.ItemsOf(t.Config)
	}
	found, err := s.look(ctx, a, def, t)
	if err != nil {
		return nil, err
	}
	// What is there already is no event.
	if _, err := s.Store.Ingest(ctx, &Batch{TriggerID: t.ID, Seen: found.all()}); err != nil {
		return nil, err
	}
	return s.Store.ChangeTrigger(ctx, t.ID, func(t *Trigger) error {
		now := time.Now()
		t.Status, t.Cursor, t.LastPollAt, t.NextAt = Active, found.cursor, now, now.Add(phase(t))
		if def.Generic {
			t.Config["items"] = found.list
		}
		return nil
	}, entry)
}

// registered makes the trigger active after the app has accepted it.
func (t *Trigger) registered(registration string, renewAt time.Time) {
	t.Status, t.Reason, t.Detail, t.LastError, t.Failures = Active, "", "", "", 0
	t.Registration, t.RenewAt, t.NextAt = registration, renewAt, renewAt
}

// config checks the inputs of a trigger and fills in defaults.
func (s *Service) config(def *app.Trigger, in map[string]any) (map[string]any, error) {
	schema, err := jsonschema.Compile(def.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", def.ID, err)
	}
	config := maps.Clone(in)
	if config == nil {
		config = map[string]any{}
	}
	schema.Fill(config)
	if err := schema.CheckValue(config); err != nil {
		p, ok := problem.From(err)
		if !ok {
			return nil, err
		}
		items := p.Items
		for i := range items {
			items[i].Pointer = "/config" + items[i].Pointer
		}
		return nil, problem.New(problem.Unprocessable, "invalid_arguments",
			"The config does not match the input schema of "+def.ID+".").WithItems(items...).Advise("fix_arguments")
	}
	return config, nil
}

// maxURL is the longest webhook URL.
const maxURL = 2048

// destination returns the host and port of a webhook URL that may be called.
func (s *Service) destination(address string) (string, error) {
	u, err := url.Parse(address)
	if err == nil && len(address) <= maxURL {
		err = s.Check(address)
	}
	if err == nil && u.Host != "" && len(address) <= maxURL {
		return strings.ToLower(u.Host), nil
	}
	detail := "This webhook URL is not called: it has to be an https URL of a public host, of at most 2,048 characters."
	if p, ok := problem.From(err); ok {
		detail = p.Detail
	}
	return "", problem.New(problem.Unprocessable, "webhook_url_not_allowed", detail).At("/webhook_url").
		Advise("fix_arguments")
}

// setupFailed says why a trigger could not be created.
func setupFailed(a *app.App, err error) error {
	if p, ok := problem.From(err); ok {
		return p
	}
	detail, code := failureText(err)
	if detail == "" {
		return err
	}
	return problem.New(problem.Unprocessable, "trigger_setup_failed",
		a.Name+" did not accept the trigger: "+detail).With("app", a.ID).With("app_code", code).Advise("fix_arguments")
}

// failureText returns what an app said when it refused a call, and the code;
// empty for other errors.
func failureText(err error) (detail, code string) {
	failure, ok := errorsAsFailure(err)
	if !ok {
		return "", ""
	}
	return failure.Detail, failure.Code
}

// interval returns the time between two polls.
func interval(p *app.Poll, wanted time.Duration) time.Duration {
	if wanted == 0 {
		wanted = time.Duration(p.Every)
	}
	if wanted == 0 {
		wanted = DefaultInterval
	}
	return min(max(wanted, app.MinPoll), MaxInterval)
}

// values are what templates of a trigger may name: its inputs, and what else is
// known of it.
func values(t *Trigger, more map[string]any) map[string]any {
	all := maps.Clone(t.Config)
	if all == nil {
		all = map[string]any{}
	}
	all["trigger_id"] = t.ID
	maps.Copy(all, more)
	return all
}

// call makes a call of the definition.
func (s *Service) call(ctx context.Context, a *app.App, t *Trigger, name string, c *app.TriggerCall,
	arguments map[string]any,
) (*tool.Answer, error) {
	return s.Caller.Call(ctx, &tool.AppCall{
		AccountID: t.AccountID, App: a, Tool: c.Tool(a.ID, t.Event+"_"+name), ConnectionID: t.ConnectionID,
		Arguments: arguments,
	})
}

// render returns what is posted for an event, whatever number it gets.
func render(t *Trigger, def *app.Trigger, key string, at time.Time, data any) func(sequence int64) []byte {
	encoded, err := json.Marshal(data)
	if err != nil { // it came from JSON
		encoded = []byte("null")
	}
	b := body{
		Type: def.ID, Timestamp: at.UTC().Truncate(time.Millisecond), EventID: EventID(t.ID, key), TriggerID: t.ID,
		ConnectionID: t.ConnectionID, App: t.App, Data: encoded,
	}
	if len(encoded) > MaxBody {
		b.Truncated, b.Data = true, []byte("null")
	}
	return func(sequence int64) []byte {
		b.Sequence = sequence
		text, err := json.Marshal(b)
		if err != nil {
			return []byte("{}")
		}
		return text
	}
}

// connectionState returns why the triggers of a connection cannot work; empty:
// they can.
func connectionState(c *connection.Connection, err error) (reason string, other error) {
	switch {
	case problem.Is(err, "connection_not_found"):
		return ConnectionDeleted, nil
	case err != nil:
		return "", err
	}
	switch c.Status {
	case connection.Revoked:
		return ConnectionDeleted, nil
	case connection.NeedsReconnect, connection.Disabled:
		return NeedsReconnect, nil
	case connection.Active, connection.Failing:
	}
	return "", nil
}
