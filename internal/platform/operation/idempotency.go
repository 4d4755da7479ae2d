package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/problem"
)

// Idempotency makes a repeated request create nothing a second time.
//
//	key -> Create(scope, key, request)
//	   first           -> create(id), the id is stored
//	   repetition      -> the same id, replayed; the operation returns what it is now
//	   other request   -> idempotency_key_reused (Unprocessable)
//	   still running   -> idempotency_in_progress (Conflict)
//	   first one died  -> create(id) again with the SAME id
//
// Only ids are stored, never results: they may hold links that are secret.
type Idempotency struct{ requests *idempotency.Keeper }

// NewIdempotency returns an Idempotency over stored requests.
func NewIdempotency(requests *idempotency.Keeper) *Idempotency { return &Idempotency{requests} }

// Created is what a request created.
type Created struct {
	ID       string
	Replayed bool // by an earlier request with the same key
}

// Create calls create with a new id, or returns the id of what a request with
// the same key created. scope separates accounts and operations. Without a key,
// or with a nil receiver, it always creates. request is compared with the first
// one's by its JSON. create must be safe to call again with an id that it was
// called with before. The problems are idempotency_key_reused (Unprocessable),
// idempotency_in_progress (Conflict) and those of create, after which the key is
// free again.
func (i *Idempotency) Create(ctx context.Context, scope, key string, request any, newID func() string,
	create func(id string) error,
) (Created, error) {
	if key == "" || i == nil {
		id := newID()
		return Created{ID: id}, create(id)
	}
	text, err := json.Marshal(request)
	if err != nil {
		return Created{}, fmt.Errorf("encoding a request: %w", err)
	}
	attempt, err := i.requests.Start(ctx, scope, key, text, newID)
	switch {
	case err != nil:
		return Created{}, refusedKey(err)
	case attempt.Replay != nil:
		return Created{ID: string(attempt.Replay.Body), Replayed: true}, nil
	}
	if err := create(attempt.ResourceID); err != nil {
		if released := attempt.Release(ctx); released != nil {
			return Created{}, fmt.Errorf("releasing an idempotency key after %w: %w", err, released)
		}
		return Created{}, err
	}
	created := Created{ID: attempt.ResourceID}
	// The thing exists. Where this is not stored, a repetition within the lease
	// waits, and one after it continues with the same id.
	if err := attempt.Finish(ctx, idempotency.Answer{Status: 201, Body: []byte(created.ID)}); err != nil {
		return created, nil //nolint:nilerr // see above
	}
	return created, nil
}

// refusedKey turns what package idempotency refuses into the platform's codes.
func refusedKey(err error) error {
	switch {
	case problem.Is(err, "idempotency_conflict"):
		return problem.New(problem.Unprocessable, "idempotency_key_reused",
			"This Idempotency-Key was used for a different request. Use a new key for a new request.").Advise(
			"fix_arguments")
	case problem.Is(err, "idempotency_in_flight"):
		return problem.New(problem.Conflict, "idempotency_in_progress",
			"The first request with this Idempotency-Key is still running. Repeat it in a moment.").After(
			time.Second).Advise("retry_later")
	}
	return err
}
