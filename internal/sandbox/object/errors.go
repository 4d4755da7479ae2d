package object

import (
	"errors"
	"fmt"
	"net/http"
)

// Error types of the API (https://docs.stripe.com/api/errors).
const (
	TypeInvalidRequest = "invalid_request_error"
	TypeIdempotency    = "idempotency_error"
	TypeCard           = "card_error"
	TypeAPI            = "api_error"
)

// Error is a failure as the API reports it. Its text is safe to show.
type Error struct {
	Status      int    // HTTP status
	Type        string // one of the Type constants
	Code        string // stable; may be empty
	Message     string
	Param       string // the parameter at fault, as it was sent; may be empty
	DeclineCode string // only with TypeCard

	// Refused says that the request was refused before anything was tried, so
	// that no idempotency key remembers it.
	Refused bool
}

// Error makes an Error an error.
func (e *Error) Error() string { return e.Type + ": " + e.Message }

// Invalid is a parameter that breaks a rule (400).
func Invalid(param, code, format string, args ...any) *Error {
	return &Error{
		Status: http.StatusBadRequest, Type: TypeInvalidRequest, Code: code,
		Message: fmt.Sprintf(format, args...), Param: param, Refused: true,
	}
}

// Missing is a required parameter that was not sent (400).
func Missing(param string) *Error {
	return Invalid(param, "parameter_missing", "Missing required param: %s.", param)
}

// NoSuch is an id that names nothing (404). Noun is the thing in words.
func NoSuch(noun, id, param string) *Error {
	return &Error{
		Status: http.StatusNotFound, Type: TypeInvalidRequest, Code: "resource_missing",
		Message: fmt.Sprintf("No such %s: '%s'", noun, id), Param: param, Refused: true,
	}
}

// RefusedByState is a request that the state of an object forbids (400).
func RefusedByState(param, code, format string, args ...any) *Error {
	e := Invalid(param, code, format, args...)
	e.Refused = false
	return e
}

// IsMissing reports whether err says that an id names nothing.
func IsMissing(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == "resource_missing"
}
