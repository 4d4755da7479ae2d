// Package sessionhttp is what the checkout sessions of all protocols share over
// HTTP: who asks, what is in the body, whether a request is a repetition, how an
// agent waits for the payment, and words about terms.
//
//	request -> Body, Desk.Agent
//	        -> Desk.Once: first time -> the operation of the protocol -> kept
//	                      repetition -> the kept response
//	GET     -> Desk.Read: now, or as soon as the session is no longer open
package sessionhttp

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/excerpt"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/storefront/checkout"
)

// MaxBody bounds a request to a session, in bytes.
const MaxBody = 256 << 10

// LongPoll is how long an agent may wait for a payment in one request.
const LongPoll = 25 * time.Second

// Sessions serves checkout sessions for the transports of all protocols. Its fields
// are set once.
type Sessions struct {
	Checkout *checkout.Service
	Requests *idempotency.Keeper
	// MAC is a keyed digest: client addresses are kept as nothing else.
	MAC func(label string, parts ...[]byte) string
	Log *slog.Logger
	// DirectContinueURL returns the processor's own URL of the payment
	// page instead of a short one of the store.
	DirectContinueURL bool
}

// Agent returns what a request says about the software that sent it.
func (d *Sessions) Agent(ctx context.Context, h http.Header) checkout.Agent {
	return checkout.Agent{
		UserAgent: strings.ToValidUTF8(excerpt.Prefix(h.Get("User-Agent"), 300), ""),
		ClientKey: d.ClientKey(ctx),
	}
}

// ClientKey is a keyed digest of the network that a client calls from: its
// address, or for IPv6 the 64 bits that one customer has to himself.
func (d *Sessions) ClientKey(ctx context.Context) string {
	ip := httpserver.ClientIP(ctx)
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	network, err := ip.Prefix(bits)
	if err != nil {
		network = netip.Prefix{}
	}
	return d.MAC("client network", []byte(network.String()))
}

// Body reads the body of a request to a session: its bytes, which signatures
// are about, and what they say, nil without a body. A body without a
// Content-Type counts as JSON.
func Body(r *http.Request) ([]byte, *jsonread.Value, error) {
	body, err := httpserver.ReadBody(r, MaxBody)
	if err != nil || len(body) == 0 {
		return nil, nil, err
	}
	if err := httpserver.CheckJSONType(r); err != nil {
		return nil, nil, err
	}
	value, err := jsonread.Parse(body)
	return body, value, err
}

// Outcome is a response on its way out.
type Outcome struct {
	idempotency.Answer
	// Passing marks what may be different in a moment: it is not kept, and a
	// repetition continues where this request stopped.
	Passing bool
}

// guessable is the length below which two callers may come upon the same
// idempotency key by chance; then the network distinguishes them.
const guessable = 16

// Scope distinguishes the operations of a protocol for idempotency keys. more
// names what else a key belongs to.
func Scope(protocol string, r *http.Request, more ...string) string {
	return strings.Join(append([]string{protocol, r.Method, r.URL.Path}, more...), " ")
}

// Once handles a request by do, or, if one with the same key was answered
// already, as that one was. "" for key means that the caller asked for no such
// thing. body is compared with the first request's and kept as a keyed digest
// only. resourceID names what the request makes, the same in each repetition.
// It returns the problems of idempotency.Keeper.Begin, and
// idempotency_unavailable (Unavailable) where it is unknown whether the
// request is a repetition.
func (d *Sessions) Once(ctx context.Context, scope, key string, body []byte,
	do func(resourceID string) Outcome,
) (answer idempotency.Answer, replayed bool, err error) {
	newID := func() string { return typeid.New("chk") }
	if key == "" {
		return do(newID()).Answer, false, nil
	}
	if len(key) < guessable {
		scope += " " + d.ClientKey(ctx)
	}
	attempt, err := d.Requests.Start(ctx, scope, key, body, newID)
	if err != nil {
		return idempotency.Answer{}, false, d.unkept(ctx, err)
	}
	if attempt.Replay != nil {
		return *attempt.Replay, true, nil
	}
	result := do(attempt.ResourceID)
	if result.Passing || result.Status >= http.StatusInternalServerError {
		err = attempt.Release(ctx)
	} else {
		err = attempt.Finish(ctx, result.Answer)
	}
	if err != nil {
		// The request was carried out, and the caller gets its result. A repetition
		// continues with the same resource.
		d.Log.ErrorContext(ctx, "keeping the answer of an idempotency key", "request_id", httpserver.RequestID(ctx),
			"error", err)
	}
	return result.Answer, false, nil
}

// unkept refuses a request where the keys cannot be read: doing it might do it
// twice.
func (d *Sessions) unkept(ctx context.Context, err error) error {
	if _, ok := problem.From(err); ok || ctx.Err() != nil {
		return err
	}
	d.Log.ErrorContext(ctx, "looking for an idempotency key", "request_id", httpserver.RequestID(ctx), "error", err)
	return problem.New(problem.Unavailable, "idempotency_unavailable",
		"Whether this idempotency key was used before is unknown right now. Repeat the request in a moment.").
		After(2 * time.Second)
}

// preferredWait is how long a request asks to wait for news (RFC 7240, 4.3),
// up to LongPoll; 0 if it does not.
func preferredWait(r *http.Request) time.Duration {
	for _, line := range r.Header.Values("Prefer") {
		for preference := range strings.SplitSeq(line, ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
			if err != nil {
				return 0
			}
			return min(time.Duration(seconds)*time.Second, LongPoll)
		}
	}
	return 0
}

// Read returns a session: now, or if the request asks to wait, as soon
// as it is no longer open. A server that stops returns what it has.
func (d *Sessions) Read(w http.ResponseWriter, r *http.Request, id string) (*checkout.Session, error) {
	wait := preferredWait(r)
	if wait == 0 {
		return d.Checkout.Get(r.Context(), id)
	}
	w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait.Seconds())))
	return d.Wait(r.Context(), id, wait)
}

// Wait returns a session as soon as it is no longer open, or after wait, at
// most LongPoll, as it is then; at once with 0. It returns the problems of
// checkout.Service.Get.
func (d *Sessions) Wait(ctx context.Context, id string, wait time.Duration) (*checkout.Session, error) {
	if wait <= 0 {
		return d.Checkout.Get(ctx, id)
	}
	wait = min(wait, LongPoll)
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-httpserver.Draining(ctx):
			stop()
		case <-waiting.Done():
		}
	}()
	session, err := d.Checkout.Wait(waiting, id, wait)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return d.Checkout.Get(ctx, id)
	}
	return session, err
}

// ContinueURL is where to send the buyer of an open session.
func (d *Sessions) ContinueURL(session *checkout.Session) string {
	if d.DirectContinueURL {
		return session.Page().URL
	}
	return d.Checkout.ContinueURL(session)
}
