// Package idempotency gives a repeated request the response of the first one.
//
//	Start(scope, key, body)
//	   | first time            -> Attempt with a fresh resource id
//	   | same key, same body,
//	   |   answered            -> Replay
//	   |   still running       -> idempotency_in_progress (Conflict)
//	   |   its process died    -> Attempt with the SAME resource id, so that
//	   |                          the work continues instead of starting twice
//	   | same key, other body  -> idempotency_key_reused (Unprocessable)
//	Attempt.Finish(answer)      stores the response for Retention
//	Attempt.Release()           lets a repetition go on with the same resource
//	                            (5xx responses are not stored)
//
// The body is kept only as a keyed digest: it may hold a card number, which a
// plain hash would give away. Each protocol chooses the status of a problem,
// since UCP and ACP differ there.
package idempotency

import (
	"context"
	"time"

	"ace/internal/foundation/problem"
)

// Retention is how long a response is replayed. UCP asks for 24 hours at least
// and advises 48.
const Retention = 48 * time.Hour

// lease is how long an attempt may take before another may take it over.
const lease = time.Minute

// Record is what is kept of a request.
type Record struct {
	Scope, Key  string
	Fingerprint string // keyed digest of the canonical body
	ResourceID  string
	LeaseUntil  time.Time // while unanswered
	ExpiresAt   time.Time
	Answer      *Answer // nil while unanswered
}

// Answer is a response as it was sent.
type Answer struct {
	Status int
	Body   []byte
}

// Store keeps records. Each method is atomic and safe between replicas.
type Store interface {
	// Claim inserts rec, or, if scope and key are there with an expired lease,
	// no response and the same fingerprint, extends its lease to rec's. It
	// returns the record that is kept now and whether the caller owns it. A
	// record past its ExpiresAt counts as not there.
	Claim(ctx context.Context, rec Record) (stored Record, owned bool, err error)
	// Answer stores the response of a record that has none.
	Answer(ctx context.Context, scope, key string, answer Answer, expiresAt time.Time) error
	// Release ends the lease of a record that has no response.
	Release(ctx context.Context, scope, key string) error
}

// Keeper applies the rules on top of a store.
type Keeper struct {
	store Store
	mac   func(label string, parts ...[]byte) string
}

// New returns a keeper. mac is a keyed digest, for example seal.Box.MAC.
func New(store Store, mac func(label string, parts ...[]byte) string) *Keeper {
	return &Keeper{store: store, mac: mac}
}

// Attempt is a request that is handled for the first time, or a replay.
type Attempt struct {
	// Replay is the response of the first request; the rest does not apply then.
	Replay *Answer
	// ResourceID names what the request makes, the same in each attempt.
	ResourceID string

	keeper     *Keeper
	scope, key string
}

// Start starts or replays the request with key in scope. Scope distinguishes
// callers and operations; body is the canonical form of the request. newID
// makes the id of what the request would create.
func (k *Keeper) Start(ctx context.Context, scope, key string, body []byte, newID func() string) (*Attempt, error) {
	now := time.Now()
	// The scope may name a client address: only its digest is kept.
	scope = k.mac("idempotency scope", []byte(scope))
	rec := Record{
		Scope: scope, Key: k.mac("idempotency key", []byte(key)), Fingerprint: k.mac("idempotency body", body),
		ResourceID: newID(), LeaseUntil: now.Add(lease), ExpiresAt: now.Add(Retention),
	}
	stored, owned, err := k.store.Claim(ctx, rec)
	switch {
	case err != nil:
		return nil, err
	case stored.Fingerprint != rec.Fingerprint:
		return nil, problem.New(problem.Unprocessable, "idempotency_key_reused",
			"This idempotency key was used for a different request. Use a new key for a new request.")
	case stored.Answer != nil:
		return &Attempt{Replay: stored.Answer}, nil
	case !owned:
		return nil, problem.New(problem.Conflict, "idempotency_in_progress",
			"The first request with this idempotency key is still running. Repeat it in a moment.").After(time.Second)
	}
	return &Attempt{ResourceID: stored.ResourceID, keeper: k, scope: stored.Scope, key: stored.Key}, nil
}

// Finish stores the response of a fresh attempt.
func (a *Attempt) Finish(ctx context.Context, answer Answer) error {
	return a.keeper.store.Answer(context.WithoutCancel(ctx), a.scope, a.key, answer, time.Now().Add(Retention))
}

// Release ends a fresh attempt that has no response worth storing. A repetition
// continues with the same resource id, so that partial work is finished
// and not done twice.
func (a *Attempt) Release(ctx context.Context) error {
	return a.keeper.store.Release(context.WithoutCancel(ctx), a.scope, a.key)
}
