package acp

import (
	"bytes"
	"strings"

	"ace/internal/foundation/jcs"
	"ace/internal/foundation/problem"
)

// MaxIdempotencyKey is the length of an idempotency key, in characters.
const MaxIdempotencyKey = 255

// CheckIdempotencyKey checks the header of a POST. The problems are
// idempotency_key_required, never in a plain exchange, and
// invalid_idempotency_key. "" counts as absent.
func CheckIdempotencyKey(key string, x Exchange) error {
	if key == "" {
		if x.Plain {
			return nil
		}
		return problem.New(problem.Invalid, IdempotencyKeyRequired,
			"Send the header Idempotency-Key with every POST, a new one for each new request, for example a UUID.").Advise("fix_arguments")
	}
	ok := len(key) <= MaxIdempotencyKey
	for _, c := range []byte(key) {
		ok = ok && c >= ' ' && c < 0x7f
	}
	if !ok {
		return problem.New(problem.Invalid, InvalidIdempotencyKey,
			"The header Idempotency-Key has at most 255 printable characters, for example a UUID.").Advise("fix_arguments")
	}
	return nil
}

// Canonical answers the form of a body by which requests with one idempotency
// key are compared: equal if their JSON means the same. The order of members
// and 1.0 or 1 do not count; null is not absent, and the order of arrays
// counts. An empty body is a form of its own. The result may hold payment data:
// keep only a keyed digest.
func Canonical(body []byte) ([]byte, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	text, err := jcs.Canonical(body)
	if err != nil {
		return nil, problem.New(problem.Malformed, "invalid_json",
			"The body cannot be read in one way only: "+strings.TrimPrefix(err.Error(), jcs.ErrInvalid.Error()+": ")+".").Advise("fix_arguments")
	}
	return text, nil
}
