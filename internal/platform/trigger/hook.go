package trigger

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/tool"
	"ace/internal/platform/trigger/inbound"
)

// HookURL returns where the app sends events of a trigger. Its last part is a
// secret that follows from the trigger: a request without it costs nothing.
func (s *Service) HookURL(id string) string {
	return s.options.BaseURL + "/hooks/t/" + id + "/" + s.hookToken(id)
}

func (s *Service) hookToken(id string) string { return s.sealer.MAC("trigger hook", []byte(id)) }

// hookSecret is what the app signs events of a trigger with, where it lets us
// choose.
func (s *Service) hookSecret(id string) string {
	return s.sealer.MAC("trigger hook secret", []byte(id))
}

func (s *Service) derive(label string, parts ...string) (key [32]byte) {
	var joined [][]byte
	for _, part := range parts {
		joined = append(joined, []byte(part))
	}
	sum, err := base64.RawURLEncoding.DecodeString(s.sealer.MAC(label, joined...))
	if err != nil || len(sum) < len(key) { // a MAC has 32 bytes
		panic("a keyed digest has less than 32 bytes")
	}
	copy(key[:], sum)
	return key
}

// errorsAsFailure returns the failure inside an error.
func errorsAsFailure(err error) (*tool.Failure, bool) { return errors.AsType[*tool.Failure](err) }

func registrationPlace(t *Trigger) seal.Place {
	return seal.Place{Table: "app_trigger", Column: "registration", Row: t.ID, Account: t.AccountID}
}

// sealRegistration seals what subscribing has stored.
func (s *Service) sealRegistration(t *Trigger, stored map[string]string) (string, error) {
	text, err := json.Marshal(stored)
	if err != nil {
		return "", fmt.Errorf("encoding a registration: %w", err)
	}
	return s.sealer.Seal(text, registrationPlace(t))
}

// openRegistration returns what subscribing has stored.
func (s *Service) openRegistration(t *Trigger) (map[string]string, error) {
	stored := map[string]string{}
	if t.Registration == "" {
		return stored, nil
	}
	text, err := s.sealer.Open(t.Registration, registrationPlace(t))
	if err != nil {
		return nil, fmt.Errorf("opening the registration of %s: %w", t.ID, err)
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, fmt.Errorf("decoding the registration of %s: %w", t.ID, err)
	}
	return stored, nil
}

// hookValues are what the calls of a hook may name.
func (s *Service) hookValues(t *Trigger, h *app.Hook, stored map[string]string) map[string]any {
	more := map[string]any{"hook_url": s.HookURL(t.ID), "hook_secret": s.hookSecret(t.ID)}
	if h.Renew != nil {
		// Half of the life of a registration is left when it is renewed.
		more["expires"] = time.Now().Add(2 * time.Duration(h.Renew.Every)).UTC().Format(time.RFC3339)
	}
	for name, value := range stored {
		more[name] = value
	}
	return values(t, more)
}

// subscribe asks the app to send events, and returns what it keeps of the
// response, sealed, and when the registration is renewed.
func (s *Service) subscribe(ctx context.Context, a *app.App, def *app.Trigger, t *Trigger) (registration string,
	renewAt time.Time, err error,
) {
	if def.Hook.Handshake.Type == app.EchoHeader {
		if err := s.expectHandshake(ctx, t); err != nil {
			return "", time.Time{}, err
		}
	}
	answer, err := s.call(ctx, a, t, "subscribe", &def.Hook.Subscribe, s.hookValues(t, def.Hook, nil))
	if err != nil {
		return "", time.Time{}, err
	}
	stored, err := s.retain(a, &def.Hook.Subscribe, answer)
	if err != nil {
		return "", time.Time{}, err
	}
	// What the handshake has brought meanwhile stays.
	if current, err := s.Store.AnyTrigger(
		ctx,
		t.ID,
	); err == nil && current != nil &&
		def.Hook.Handshake.Type == app.EchoHeader {
		before, err := s.openRegistration(current)
		if err != nil {
			return "", time.Time{}, err
		}
		delete(before, handshakeExpected)
		maps.Copy(before, stored)
		stored = before
	}
	registration, err = s.sealRegistration(t, stored)
	return registration, renewal(def.Hook), err
}

// Values of a registration that a handshake uses: the key that it has set, and
// that another one is expected, because the app is being asked now.
const (
	handshakeKey      = "handshake"
	handshakeExpected = "handshake_expected"
)

// expectHandshake lets the next handshake set the key of signatures. At any other
// time nobody can.
func (s *Service) expectHandshake(ctx context.Context, t *Trigger) error {
	stored, err := s.openRegistration(t)
	if err != nil {
		return err
	}
	stored[handshakeExpected] = "true"
	registration, err := s.sealRegistration(t, stored)
	if err != nil {
		return err
	}
	_, err = s.Store.ChangeTrigger(ctx, t.ID, func(t *Trigger) error { t.Registration = registration; return nil },
		audit.Entry{})
	return err
}

// retain returns the values of a response that later calls name.
func (s *Service) retain(a *app.App, c *app.TriggerCall, answer *tool.Answer) (map[string]string, error) {
	stored := map[string]string{}
	for name, pointer := range c.Keep {
		stored[name] = app.PickText(answer.Output, pointer)
		if stored[name] == "" {
			return nil, &tool.Failure{
				Code: tool.CodeResponseInvalid, AppStatus: answer.Status,
				Detail: a.Name + " did not return the " + name + " of the registration.",
			}
		}
	}
	return stored, nil
}

// renewal returns when a registration of now is renewed; zero: never.
func renewal(h *app.Hook) time.Time {
	if h.Renew == nil {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(h.Renew.Every)).UTC().Truncate(time.Millisecond)
}

// unsubscribe ends the registration at the app. One that is not there any more
// has ended.
func (s *Service) unsubscribe(ctx context.Context, a *app.App, def *app.Trigger, t *Trigger) error {
	stored, err := s.openRegistration(t)
	if err != nil || len(stored) == 0 && len(def.Hook.Subscribe.Keep) > 0 {
		return err // it was never registered
	}
	_, err = s.call(ctx, a, t, "unsubscribe", &def.Hook.Unsubscribe, s.hookValues(t, def.Hook, stored))
	if failure, refused := errorsAsFailure(err); refused && failure.Code == tool.CodeNotFound {
		return nil
	}
	return err
}

// renew extends the registration at the app, and returns what it has to remember.
func (s *Service) renew(ctx context.Context, a *app.App, def *app.Trigger, t *Trigger) (registration string,
	renewAt time.Time, err error,
) {
	if def.Hook.Renew.Again {
		registration, renewAt, err := s.subscribe(ctx, a, def, t)
		if err != nil {
			return "", time.Time{}, err
		}
		if err := s.unsubscribe(ctx, a, def, t); err != nil { // the old one ends by itself
			s.options.Log.WarnContext(
				ctx,
				"replaced registration of a trigger not ended",
				slog.String("trigger_id", t.ID),
				slog.Any("error", err),
			)
		}
		return registration, renewAt, nil
	}
	stored, err := s.openRegistration(t)
	if err != nil {
		return "", time.Time{}, err
	}
	_, err = s.call(ctx, a, t, "renew", &def.Hook.Renew.TriggerCall, s.hookValues(t, def.Hook, stored))
	if failure, refused := errorsAsFailure(err); refused && failure.Code == tool.CodeNotFound {
		return s.subscribe(ctx, a, def, t) // it has ended meanwhile
	}
	return t.Registration, renewal(def.Hook), err
}

// disconnectFor bounds how long the end of a connection waits for its app.
const disconnectFor = 10 * time.Second

// Disconnect ends the registrations of a connection that is about to be deleted,
// as far as its app can be reached. Its triggers pause when it is deleted.
func (s *Service) Disconnect(ctx context.Context, accountID, connectionID string) {
	ctx, cancel := context.WithTimeout(ctx, disconnectFor)
	defer cancel()
	list, err := s.Store.ListTriggers(ctx, accountID, Query{ConnectionID: connectionID})
	for _, t := range list {
		if t.Mode != ModeHook {
			continue
		}
		a, def, unknown := s.definitionOf(ctx, t)
		if unknown == nil && def.Hook != nil {
			err = errors.Join(err, s.unsubscribe(ctx, a, def, t))
		}
	}
	if err != nil {
		s.options.Log.WarnContext(ctx, "registrations of a connection not ended",
			slog.String("connection_id", connectionID), slog.Any("error", err))
	}
}

// hookNotFound is what a request to no trigger gets.
func hookNotFound() error {
	return problem.New(problem.NotFound, "hook_not_found", "There is no webhook here.")
}

// Receive takes what an app has sent to the URL of a trigger, and stores the
// events in it before it returns. The reply is nil where none in particular is
// expected. Its problems: hook_not_found (NotFound), hook_gone (Gone),
// signature_invalid (Unauthenticated), backlog_full (Unavailable). A request
// without the secret of the URL is refused before anything is read, one without a
// signature before anything is written.
func (s *Service) Receive(ctx context.Context, id, token string, r *inbound.Request) (*inbound.Reply, error) {
	if !equal(token, s.hookToken(id)) {
		return nil, hookNotFound()
	}
	t, err := s.Store.AnyTrigger(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case t == nil || !t.DeletedAt.IsZero() || t.Mode != ModeHook:
		return nil, problem.New(problem.Gone, "hook_gone", "This trigger was deleted.")
	}
	a, def, err := s.definitionOf(ctx, t)
	if err != nil || def.Hook == nil {
		return nil, hookNotFound()
	}
	r.URL = s.HookURL(id) // as the app knows it, whatever proxy is before us
	stored, err := s.openRegistration(t)
	if err != nil {
		return nil, err
	}
	if reply := inbound.Handshake(def.Hook.Handshake, r); reply != nil {
		return reply, s.acceptHandshake(ctx, t, stored, reply)
	}
	return nil, s.accept(ctx, a, def, t, stored, r)
}

// acceptHandshake stores the key that a handshake has set, once for each
// registration.
func (s *Service) acceptHandshake(
	ctx context.Context,
	t *Trigger,
	stored map[string]string,
	reply *inbound.Reply,
) error {
	if reply.Key == "" || stored[handshakeExpected] == "" {
		return nil
	}
	delete(stored, handshakeExpected)
	stored[handshakeKey] = reply.Key
	registration, err := s.sealRegistration(t, stored)
	if err != nil {
		return err
	}
	_, err = s.Store.ChangeTrigger(ctx, t.ID, func(t *Trigger) error { t.Registration = registration; return nil },
		audit.Entry{})
	return err
}

// accept verifies a request and stores its events.
func (s *Service) accept(ctx context.Context, a *app.App, def *app.Trigger, t *Trigger, stored map[string]string,
	r *inbound.Request,
) error {
	known := app.Join(app.Map(stored), app.Map{"hook_secret": s.hookSecret(t.ID)}, arguments(t.Config))
	if s.Clients != nil {
		client, err := s.Clients.Find(ctx, t.AccountID, t.App)
		if err != nil {
			return err
		}
		if client != nil {
			known = app.Join(known, app.Map{"client_id": client.ID, "client_secret": client.Secret})
		}
	}
	err := inbound.Verify(&def.Hook.Verify, r, known, time.Now())
	if errors.Is(err, inbound.ErrSignature) {
		return problem.New(problem.Unauthenticated, "signature_invalid", "The signature of "+a.Name+" does not match.")
	}
	if err != nil {
		return err
	}
	if t.Status != Active || inbound.Ignored(def.Hook.Handshake, r) {
		return nil
	}
	events, err := inbound.Events(def.Hook, r, known)
	if err != nil || len(events) == 0 {
		return err
	}
	now := time.Now()
	batch := &Batch{TriggerID: t.ID}
	meant, err := s.filter(t.Filter)
	if err != nil {
		return err
	}
	for _, e := range events {
		s.addNew(ctx, batch, t, def, meant, e.Key, now, e.Data)
	}
	_, err = s.Store.Ingest(ctx, batch)
	return err
}

// item returns an event for a batch.
func (s *Service) item(t *Trigger, def *app.Trigger, key string, at time.Time, data any) Item {
	return Item{Key: key, Type: def.ID, Body: render(t, def, key, at, data)}
}

// arguments are the inputs of a trigger as values of a template.
type arguments map[string]any

// Value implements app.Values.
func (a arguments) Value(name string) (string, bool) {
	v, ok := a[name]
	return app.Text(v), ok
}
