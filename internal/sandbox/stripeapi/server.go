// Package stripeapi is the HTTP transport of the sandbox's payment processor: the
// used subset of Stripe's REST API (https://docs.stripe.com/api).
//
//	request
//	  | headers (Request-Id, Ace-Sandbox), key (401), faults that a test set
//	  | form or query -> stripeform.Reader; an unknown parameter is refused
//	  | POST: one transaction holds the change, its events and the response that
//	  |       its Idempotency-Key stands for
//	  v payments -> JSON, expanded on request; errors in Stripe's shape
//
// Beside it, for clients on the same machine only, /_sandbox moves the clock
// and sets faults (control.go).
package stripeapi

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"ace/internal/foundation/typeid"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payments"
	"ace/internal/sandbox/stripeform"
)

// Options tunes the handler; the zero value suits development.
type Options struct {
	// Logger takes reports of internal faults. Nil: nothing is logged.
	Logger *slog.Logger
	// Keys are the accepted secret keys. Empty: every key that looks like a
	// secret test key.
	Keys []string
	// PageURL returns the address of a session's pay page. Required.
	PageURL func(r *http.Request, sessionID string) string
}

// maxBody bounds a request: one megabyte.
const maxBody = 1 << 20

type server struct {
	p    *payments.Processor
	log  *slog.Logger
	opts Options

	mu   sync.Mutex
	busy map[string]bool // idempotency keys that are being worked on
}

// New returns the handler. It serves /v1/… and /_sandbox/….
func New(p *payments.Processor, opts *Options) http.Handler {
	s := &server{p: p, log: opts.Logger, opts: *opts, busy: map[string]bool{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	mux := http.NewServeMux()
	s.routes(mux)
	s.controlRoutes(mux)
	return s.identify(mux)
}

// identify marks every response, so that the sandbox is never mistaken for real.
func (s *server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Request-Id", typeid.New("req"))
		h.Set("Ace-Sandbox", "true")
		h.Set("Cache-Control", "no-cache, no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// call is one request on its way to a handler.
type call struct {
	r      *http.Request
	form   *stripeform.Reader
	raw    string // the form as it was sent
	expand []string
}

// id is the {id} of the path.
func (c *call) id() string { return c.r.PathValue("id") }

// The two kinds of handlers. The response is made into JSON.
type (
	readFunc  func(ctx context.Context, v payments.View, c *call) (any, error)
	writeFunc func(ctx context.Context, tx *payments.Tx, c *call) (any, error)
)

func (s *server) read(h readFunc) http.HandlerFunc {
	return s.guarded(func(w http.ResponseWriter, r *http.Request, f *payments.APIFault) error {
		c, err := decode(r, r.URL.RawQuery)
		if err != nil {
			return err
		}
		// Sessions that are past their time must not read as open.
		if err := s.p.Sweep(r.Context()); err != nil {
			return err
		}
		v := s.p.View()
		out, err := h(r.Context(), v, c)
		if err != nil {
			return err
		}
		body, err := render(r.Context(), v, out, c.expand)
		if err != nil {
			return err
		}
		return s.answer(w, r, f, http.StatusOK, body)
	})
}

// guarded runs h for callers with a key and outside of faults.
func (s *server) guarded(h func(http.ResponseWriter, *http.Request, *payments.APIFault) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if v := r.Header.Get("Stripe-Version"); v != "" {
			w.Header().Set("Stripe-Version", payments.APIVersion)
		}
		if err := s.authenticate(r); err != nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="sandbox"`)
			s.fail(w, r, err)
			return
		}
		f, err := s.p.TakeFault(r.Context(), r.Method, r.URL.Path)
		if err == nil {
			err = s.before(w, r, f)
		}
		if err == nil {
			err = h(w, r, f)
		}
		if err != nil {
			s.fail(w, r, err)
		}
	}
}

var keyShape = regexp.MustCompile(`^sk_test_[A-Za-z0-9_-]{1,240}$`)

// authenticate takes the key as a bearer token or as the user of HTTP Basic.
func (s *server) authenticate(r *http.Request) error {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		key, _, ok = r.BasicAuth()
	}
	switch {
	case !ok || key == "":
		return unauthorized(
			"You did not provide an API key. Send it in the Authorization header: Authorization: Bearer sk_test_….")
	case strings.HasPrefix(key, "sk_live_"), strings.HasPrefix(key, "rk_live_"):
		return unauthorized(
			"This is a sandbox, and a live key was sent to it. Use a key that starts with sk_test_, and consider to " +
				"roll the live key.")
	case !keyShape.MatchString(key):
		return unauthorized("Invalid API Key provided. The sandbox takes keys that start with sk_test_.")
	case len(s.opts.Keys) > 0 && !s.configured(key):
		return unauthorized("Invalid API Key provided. The sandbox was started with another key.")
	}
	return nil
}

func (s *server) configured(key string) bool {
	found := 0
	for _, k := range s.opts.Keys {
		found |= subtle.ConstantTimeCompare([]byte(k), []byte(key))
	}
	return found == 1
}

func unauthorized(message string) error {
	return &object.Error{
		Status: http.StatusUnauthorized, Type: object.TypeInvalidRequest, Message: message,
		Refused: true,
	}
}

// decode reads the parameters and, among them, what is to be expanded.
func decode(r *http.Request, raw string) (*call, error) {
	form, err := stripeform.Parse(raw)
	if err != nil {
		return nil, err
	}
	c := &call{r: r, form: form, raw: raw}
	c.expand, _ = form.Strings("expand")
	return c, nil
}

// fail returns an error in Stripe's shape. The text of an internal one stays
// here.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := asError(err)
	if e.Status >= http.StatusInternalServerError && !errors.Is(err, errInjected) && r.Context().Err() == nil {
		s.log.ErrorContext(r.Context(), "sandbox request failed", slog.String("path", r.URL.Path),
			slog.Any("error", err))
	}
	writeBody(w, e.Status, errorBody(e))
}

// asError returns the error for the caller.
func asError(err error) *object.Error {
	var e *object.Error
	var form *stripeform.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &form):
		return object.Invalid(form.Param, form.Code, "%s", form.Message)
	case errors.As(err, &tooLarge):
		e := object.Invalid("", "", "The request is larger than one megabyte.")
		e.Status = http.StatusRequestEntityTooLarge
		return e
	default:
		return &object.Error{
			Status: http.StatusInternalServerError, Type: object.TypeAPI,
			Message: "An error occurred inside the sandbox. It has been logged.",
		}
	}
}

func errorBody(e *object.Error) string {
	type inner struct {
		Type        string `json:"type"`
		Code        string `json:"code,omitempty"`
		DeclineCode string `json:"decline_code,omitempty"`
		DocURL      string `json:"doc_url,omitempty"`
		Message     string `json:"message"`
		Param       string `json:"param,omitempty"`
	}
	out := inner{Type: e.Type, Code: e.Code, DeclineCode: e.DeclineCode, Message: e.Message, Param: e.Param}
	if e.Code != "" {
		out.DocURL = "https://docs.stripe.com/error-codes#" + strings.ReplaceAll(e.Code, "_", "-")
	}
	body, err := json.MarshalIndent(map[string]inner{"error": out}, "", "  ")
	if err != nil {
		return `{"error":{"type":"api_error"}}` // strings always marshal
	}
	return string(body)
}

func writeBody(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that went away is no fault of this process.
	_, _ = w.Write([]byte(body))
}
