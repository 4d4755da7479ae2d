package acp

import (
	"net/http"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
)

// ErrorType is the class of an error.
type ErrorType string

// The classes of errors, a closed list.
const (
	TypeInvalidRequest     ErrorType = "invalid_request"
	TypeProcessingError    ErrorType = "processing_error"
	TypeServiceUnavailable ErrorType = "service_unavailable"
)

// The codes that the protocol defines. Others are allowed.
const (
	MissingAPIVersion      = "missing_api_version"
	UnsupportedAPIVersion  = "unsupported_api_version"
	IdempotencyKeyRequired = "idempotency_key_required"
	InvalidIdempotencyKey  = "invalid_idempotency_key"
	IdempotencyConflict    = "idempotency_conflict"
	IdempotencyInFlight    = "idempotency_in_flight"
	InvalidItemID          = "invalid_item_id"
	MissingRequiredField   = "missing_required_field"
	CodeOutOfStock         = "out_of_stock"
	SessionNotFound        = "checkout_session_not_found"
	SessionNotCancelable   = "checkout_session_not_cancelable"
	CodeRateLimited        = "rate_limited"
	CodeUnavailable        = "service_unavailable"
)

type rule struct {
	kind   ErrorType
	status int
}

var rules = map[string]rule{
	MissingAPIVersion:      {TypeInvalidRequest, http.StatusBadRequest},
	UnsupportedAPIVersion:  {TypeInvalidRequest, http.StatusBadRequest},
	IdempotencyKeyRequired: {TypeInvalidRequest, http.StatusBadRequest},
	InvalidIdempotencyKey:  {TypeInvalidRequest, http.StatusBadRequest},
	IdempotencyConflict:    {TypeInvalidRequest, http.StatusUnprocessableEntity},
	IdempotencyInFlight:    {TypeInvalidRequest, http.StatusConflict},
	InvalidItemID:          {TypeInvalidRequest, http.StatusBadRequest},
	MissingRequiredField:   {TypeInvalidRequest, http.StatusBadRequest},
	CodeOutOfStock:         {TypeInvalidRequest, http.StatusConflict},
	SessionNotFound:        {TypeInvalidRequest, http.StatusNotFound},
	SessionNotCancelable:   {TypeInvalidRequest, http.StatusMethodNotAllowed},
	CodeRateLimited:        {TypeServiceUnavailable, http.StatusTooManyRequests},
	CodeUnavailable:        {TypeServiceUnavailable, http.StatusServiceUnavailable},
}

// Error is the body of an error response without a session.
type Error struct {
	Type    ErrorType `json:"type"`
	Code    string    `json:"code"`
	Message string    `json:"message"`
	Param   string    `json:"param,omitempty"` // JSONPath, RFC 9535
	// SupportedVersions, newest first, is set in errors about the version.
	SupportedVersions []Version `json:"supported_versions,omitempty"`

	status int
}

// NewError returns an error body with one of the codes above. param may be "".
func NewError(code, param, message string) *Error {
	e := FromProblem(problem.New(problem.Invalid, code, message))
	e.Param = param
	return e
}

// FromProblem converts a problem: type and status are the protocol's if it defines the code,
// otherwise those of the kind. Param is the location of the first error.
func FromProblem(p *problem.Problem) *Error {
	e := &Error{Type: typeOf(p.Kind), Code: p.Code, Message: p.Detail, status: p.Kind.Status()}
	switch {
	case p.Code == "missing_field":
		e.Code = MissingRequiredField
	case p.Kind == problem.Timeout:
		e.status = http.StatusServiceUnavailable
	}
	if r, known := rules[e.Code]; known {
		e.Type, e.status = r.kind, r.status
	}
	if len(p.Items) > 0 {
		e.Param = jsonread.Path(p.Items[0].Pointer)
	}
	if e.Code == MissingAPIVersion || e.Code == UnsupportedAPIVersion {
		e.SupportedVersions = Versions()
	}
	return e
}

func typeOf(k problem.Kind) ErrorType {
	switch {
	case k.Temporary():
		return TypeServiceUnavailable
	case k == problem.Internal:
		return TypeProcessingError
	}
	return TypeInvalidRequest
}

// Status returns the HTTP status of the error.
func (e *Error) Status() int { return e.status }
