package stripeapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sort"
	"strings"
	"time"

	"ace/internal/sandbox/control"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payments"
)

// maxKey is the longest idempotency key.
const maxKey = 255

// errInjected marks failures that a test asked for.
var errInjected = errors.New("fault set by a test")

func (s *server) write(h writeFunc) http.HandlerFunc {
	return s.guarded(func(w http.ResponseWriter, r *http.Request, f *payments.APIFault) error {
		raw, err := body(r)
		if err != nil {
			return err
		}
		c, err := decode(r, raw)
		if err != nil {
			return err
		}
		key := r.Header.Get("Idempotency-Key")
		if len(key) > maxKey {
			return object.Invalid("", "", "An Idempotency-Key has at most %d characters.", maxKey)
		}
		if key == "" || r.Method != http.MethodPost {
			return s.execute(w, c, h, f, "", "")
		}
		if !s.lockKey(key) {
			return &object.Error{
				Status: http.StatusConflict, Type: object.TypeIdempotency, Code: "idempotency_key_in_use",
				Message: "There is currently another in-progress request using this Idempotency-Key. Wait for it, " +
					"then send the same request again.",
			}
		}
		defer s.end(key)
		print := fingerprint(r, raw)
		known, err := s.p.View().Recall(r.Context(), key, print)
		if err != nil {
			return err
		}
		if known != nil {
			w.Header().Set("Idempotent-Replayed", "true")
			w.Header().Set("Original-Request", known.RequestID)
			return s.answer(w, r, f, known.Status, known.Body)
		}
		return s.execute(w, c, h, f, key, print)
	})
}

func (s *server) lockKey(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[key] {
		return false
	}
	s.busy[key] = true
	return true
}

func (s *server) end(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, key)
}

// execute runs the handler and stores its response under the key in the same
// transaction: a crash leaves both or none.
func (s *server) execute(w http.ResponseWriter, c *call, h writeFunc, f *payments.APIFault, key, print string) error {
	ctx := c.r.Context()
	requestID := w.Header().Get("Request-Id")
	var answer payments.Remembered
	err := s.p.Write(ctx, payments.Origin{RequestID: requestID, IdempotencyKey: key},
		func(ctx context.Context, tx *payments.Tx) error {
			again, err := decode(c.r, c.raw) // a repeated transaction parses the form again
			if err != nil {
				return err
			}
			out, err := h(ctx, tx, again)
			if err != nil {
				return err
			}
			text, err := render(ctx, tx.View, out, c.expand)
			if err != nil {
				return err
			}
			answer = payments.Remembered{Status: http.StatusOK, Body: text, RequestID: requestID}
			if f != nil && f.Mode == payments.Fault500AfterCommit {
				e := asError(errInjected)
				answer.Status, answer.Body = e.Status, errorBody(e)
			}
			if key == "" {
				return nil
			}
			return tx.Remember(ctx, key, print, answer)
		})
	if err == nil {
		return s.answer(w, c.r, f, answer.Status, answer.Body)
	}
	if e := asError(err); key != "" && !e.Refused && ctx.Err() == nil {
		response := payments.Remembered{Status: e.Status, Body: errorBody(e), RequestID: requestID}
		storeErr := s.p.Write(ctx, payments.Origin{},
			func(ctx context.Context, tx *payments.Tx) error { return tx.Remember(ctx, key, print, response) })
		err = errors.Join(err, storeErr)
	}
	return err
}

// answer writes the response, unless an injected fault prevents it.
func (s *server) answer(w http.ResponseWriter, r *http.Request, f *payments.APIFault, status int, text string) error {
	if f != nil {
		switch f.Mode {
		case payments.Fault500AfterCommit:
			e := asError(errInjected)
			status, text = e.Status, errorBody(e)
		case payments.FaultTimeoutAfterCommit:
			hang(w, r, f)
		}
	}
	writeBody(w, status, text)
	return nil
}

// before plays the faults that strike before anything is done.
func (s *server) before(w http.ResponseWriter, r *http.Request, f *payments.APIFault) error {
	if f == nil {
		return nil
	}
	switch f.Mode {
	case payments.Fault500:
		return fmt.Errorf("refusing the call: %w", errInjected)
	case payments.Fault429:
		return &object.Error{
			Status: http.StatusTooManyRequests, Type: object.TypeInvalidRequest, Code: "rate_limit", Refused: true,
			Message: "Too many requests. Wait a moment, then try again.",
		}
	case payments.FaultTimeout:
		hang(w, r, f)
	case payments.FaultLatency:
		control.Pause(r.Context(), time.Duration(f.LatencyMS)*time.Millisecond)
	}
	return nil
}

// hang keeps the caller waiting, at most for the fault's latency.
func hang(w http.ResponseWriter, r *http.Request, f *payments.APIFault) {
	control.Hang(w, r, time.Duration(f.LatencyMS)*time.Millisecond)
}

// body reads the form of a call. DELETE may carry one too.
func body(r *http.Request) (string, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return "", err
		}
		return "", object.Invalid("", "", "The body of the request ended too early.")
	}
	if len(raw) == 0 {
		return r.URL.RawQuery, nil
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		return "", object.Invalid("", "",
			"Invalid request: the content type of a POST is application/x-www-form-urlencoded.")
	}
	if r.URL.RawQuery != "" {
		return r.URL.RawQuery + "&" + string(raw), nil
	}
	return string(raw), nil
}

// fingerprint stands for a call: the same values in another order are the same.
func fingerprint(r *http.Request, raw string) string {
	pairs := strings.Split(raw, "&")
	sort.Strings(pairs)
	sum := sha256.Sum256([]byte(r.Method + " " + r.URL.Path + "\n" + strings.Join(pairs, "&")))
	return hex.EncodeToString(sum[:])
}
