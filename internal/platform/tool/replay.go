package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"ace/internal/foundation/problem"
)

// A request with an Idempotency-Key is deduplicated by its row in tool_run, which
// has a digest of the key: there is one row per run, so that a keyed run needs no
// transaction more than another that is stored before it is sent.
//
//	no row with the digest                   -> prepare, insert (one request wins), perform
//	a row, other fingerprint                 -> idempotency_key_reused (422)
//	a row, its process performs it           -> idempotency_in_progress (409)
//	a row, its process died                  -> interrupted: it may have been sent
//	a row, ended, or in the background     -> the run as it is now
//
// A request that is refused before its run is stored leaves no row: the key may
// be used again.

// digests returns the digests of a request's key and of the request; both are
// empty if it has no key. The arguments may contain secrets, which a plain hash
// would not protect.
func (s *Service) digests(c *Caller, in *Request) (key, fingerprint string) {
	if in.IdempotencyKey == "" {
		return "", ""
	}
	apiKey := ""
	if c.Key != nil {
		apiKey = c.Key.ID
	}
	key = s.sealer.MAC("tool run key", []byte(c.AccountID), []byte(apiKey), []byte(in.Tool), []byte(in.IdempotencyKey))
	var arguments bytes.Buffer
	if json.Compact(&arguments, in.Arguments) != nil { // invalid JSON is refused later
		arguments.Reset()
		_, _ = arguments.Write(in.Arguments)
	}
	parts := [][]byte{
		arguments.Bytes(), []byte(in.ConnectionID), []byte(in.EndUser), []byte(in.Timeout.String()),
		strconv.AppendBool(nil, in.Async), strconv.AppendInt(nil, int64(in.Output.MaxBytes), 10),
	}
	for _, field := range in.Output.Fields {
		parts = append(parts, []byte(field))
	}
	return key, s.sealer.MAC("tool run request", parts...)
}

// replay returns the run that an earlier request with the same key made. A run
// whose process died is ended: whether it was carried out is not known.
func (s *Service) replay(ctx context.Context, c *Caller, r *Run, fingerprint string) (*Result, error) {
	if r.Fingerprint != fingerprint {
		return nil, problem.New(problem.Unprocessable, "idempotency_key_reused",
			"This Idempotency-Key was used for a different request. Use a new key for a new request.").
			Advise("fix_arguments")
	}
	if allowed, err := s.mayRead(ctx, c, r); err != nil || !allowed {
		return nil, orRunNotFound(err)
	}
	if r.Status == Running && !r.Async && !time.Now().Before(r.LeaseUntil) {
		current, taken, err := s.Runs.TakeRun(ctx, r.ID, s.options.Replica, now(), now().Add(holdFor))
		if err != nil || current == nil {
			return nil, orRunNotFound(err)
		}
		r = current
		if taken {
			if _, err := s.finish(ctx, r, Shape{}, interrupted(), true); err != nil {
				return nil, err
			}
		}
	}
	if r.Status == Running && !r.Async {
		return nil, problem.New(problem.Conflict, "idempotency_in_progress",
			"The first request with this Idempotency-Key is still running. Repeat it in a moment.").
			After(time.Second).With("run_id", r.ID).Advise("retry_later")
	}
	if r.Code == CodeRunTimeout && !r.Async {
		return nil, runTimeout(r)
	}
	content, err := s.unseal(r)
	if err != nil {
		return nil, err
	}
	out, err := s.result(ctx, c, r, content, 0)
	if err == nil {
		out.Replayed = true
	}
	return out, err
}

func orRunNotFound(err error) error {
	if err == nil {
		err = runNotFound()
	}
	return err
}
