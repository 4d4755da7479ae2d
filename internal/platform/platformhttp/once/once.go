// Package once makes a repeated POST answer what the first one made.
//
//	Idempotency-Key  -> Make(scope, key, body)
//	   first          -> make(id), the id is kept
//	   repetition     -> the same id, Replayed; the face shows what it is now
//	   other body     -> idempotency_key_reused (422)
//	   still running  -> idempotency_in_progress (409)
//	   first one died -> make(id) again with the SAME id
//
// Ids alone are kept, never answers: they may hold links that are secret.
package once

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/problem"
)

// ReplayedHeader tells that an answer is a repetition's.
const ReplayedHeader = "Idempotency-Replayed"

// Desk makes things once.
type Desk struct{ requests *idempotency.Keeper }

// New answers a desk over kept requests.
func New(requests *idempotency.Keeper) *Desk { return &Desk{requests} }

// Made is what a request made.
type Made struct {
	ID       string
	Replayed string // "true" for a repetition; the value of ReplayedHeader
}

// Make makes something by make, or answers the id of what a request with the
// same key made. scope tells accounts and operations apart; key "" makes it
// anyway. body is the request, whose JSON is compared with the first one's. make
// must bear being called again with an id that it was called with before. The
// problems are idempotency_key_reused (Unprocessable), idempotency_in_progress
// (Conflict) and those of make, after which the key is free again.
func (d *Desk) Make(ctx context.Context, scope, key string, body any, newID func() string, make func(id string) error) (Made, error) {
	if key == "" || d == nil {
		id := newID()
		return Made{ID: id}, make(id)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return Made{}, fmt.Errorf("encoding a request: %w", err)
	}
	attempt, err := d.requests.Begin(ctx, scope, key, text, newID)
	switch {
	case problem.Is(err, "idempotency_conflict"):
		return Made{}, problem.New(problem.Unprocessable, "idempotency_key_reused", "This Idempotency-Key was used for a different request. Use a new key for a new request.").Advise("fix_arguments")
	case problem.Is(err, "idempotency_in_flight"):
		return Made{}, problem.New(problem.Conflict, "idempotency_in_progress", "The first request with this Idempotency-Key is still running. Repeat it in a moment.").After(time.Second).Advise("retry_later")
	case err != nil:
		return Made{}, err
	case attempt.Replay != nil:
		return Made{ID: string(attempt.Replay.Body), Replayed: "true"}, nil
	}
	if err := make(attempt.ResourceID); err != nil {
		if freed := attempt.Release(ctx); freed != nil {
			return Made{}, fmt.Errorf("freeing an idempotency key after %w: %w", err, freed)
		}
		return Made{}, err
	}
	made := Made{ID: attempt.ResourceID}
	// What was asked for is made: where the key is not kept, a repetition within
	// the lease waits and one after it goes on with the same id.
	if err := attempt.Finish(ctx, idempotency.Answer{Status: 201, Body: []byte(made.ID)}); err != nil {
		return made, nil //nolint:nilerr // see above
	}
	return made, nil
}
