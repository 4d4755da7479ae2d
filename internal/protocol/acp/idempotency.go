package acp

import (
	"strings"

	"ace/internal/foundation/jcs"
	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
)

// MaxIdempotencyKey is the maximum length of an idempotency key, in characters.
const MaxIdempotencyKey = 255

// CheckIdempotencyKey checks the header of a POST. The problems are idempotency_key_required, never
// in a plain exchange, and invalid_idempotency_key. "" counts as absent.
func CheckIdempotencyKey(key string, x Exchange) error {
	if key == "" {
		if x.Plain {
			return nil
		}
		return problem.New(problem.Invalid, IdempotencyKeyRequired,
			"Send the header Idempotency-Key with every POST, a new one for each new request, for example a UUID.").
			Advise("fix_arguments")
	}
	ok := len(key) <= MaxIdempotencyKey
	for _, c := range []byte(key) {
		ok = ok && c >= ' ' && c < 0x7f
	}
	if !ok {
		return problem.New(problem.Invalid, InvalidIdempotencyKey,
			"The header Idempotency-Key has at most 255 printable characters, for example a UUID.").Advise(
			"fix_arguments")
	}
	return nil
}

// Canonical returns the form of a body that is compared for requests with the same idempotency key:
// equal if their JSON values are equal. The order of fields and 1.0 versus 1 do not matter; null
// differs from absent, and the order of arrays matters. An empty body has its own form. The result
// may contain payment data: store only a keyed digest.
func Canonical(body *jsonread.Value) ([]byte, error) {
	if body.Kind() == jsonread.Absent {
		return nil, nil
	}
	text, err := jcs.Encode(body)
	if err != nil {
		return nil, problem.New(problem.Malformed, "invalid_json",
			"The body is ambiguous: "+strings.TrimPrefix(err.Error(),
				jcs.ErrInvalid.Error()+": ")+".").Advise("fix_arguments")
	}
	return text, nil
}
