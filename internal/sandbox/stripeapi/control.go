package stripeapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"ace/internal/sandbox/control"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payments"
)

// controlRoutes is what tests move the sandbox with. It is open to clients on
// the same machine only, and a page of another site cannot reach it.
func (s *server) controlRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /_sandbox/advance", s.control(s.advance))
	mux.HandleFunc("POST /_sandbox/faults", s.control(s.setFaults))
	mux.HandleFunc("DELETE /_sandbox/faults", s.control(s.clearFaults))
	mux.HandleFunc("POST /_sandbox/events/{id}/resend", s.control(s.resend))
	mux.HandleFunc("GET /_sandbox/state", s.control(s.state))
}

func (s *server) control(h func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		out, err := any(nil), local(r)
		if err == nil {
			out, err = h(r)
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		body, err := json.MarshalIndent(out, "", "  ")
		if err != nil {
			s.fail(w, r, err)
			return
		}
		writeBody(w, http.StatusOK, string(body))
	}
}

// local refuses everyone who may not move the sandbox.
func local(r *http.Request) error {
	if why := control.Refusal(r); why != "" {
		return &object.Error{Status: http.StatusForbidden, Type: object.TypeInvalidRequest, Message: why, Refused: true}
	}
	return nil
}

// jsonBody reads the JSON of a call into v; an empty body leaves v as it is.
func jsonBody(r *http.Request, v any) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return object.Invalid("", "", "Send a JSON object, with Content-Type: application/json.")
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return err
		}
		return object.Invalid("",
			"", "The JSON of the body cannot be read: a field is unknown, has the wrong type, or the text is cut off.")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return object.Invalid("", "", "The body holds more than one JSON value.")
	}
	return nil
}

func (s *server) advance(r *http.Request) (any, error) {
	var in struct {
		Seconds int64 `json:"seconds"`
	}
	if err := jsonBody(r, &in); err != nil {
		return nil, err
	}
	if in.Seconds > int64(time.Duration(1<<62)/time.Second) {
		in.Seconds = 0 // out of every range; Advance says so
	}
	now, err := s.p.Advance(r.Context(), time.Duration(in.Seconds)*time.Second)
	if err != nil {
		return nil, err
	}
	return map[string]any{"now": now.UTC(), "unix": now.Unix()}, nil
}

func (s *server) setFaults(r *http.Request) (any, error) {
	var in payments.Faults
	if err := jsonBody(r, &in); err != nil {
		return nil, err
	}
	return s.p.SetFaults(r.Context(), in)
}

func (s *server) clearFaults(r *http.Request) (any, error) {
	return payments.Faults{API: []payments.APIFault{}}, s.p.ClearFaults(r.Context())
}

func (s *server) resend(r *http.Request) (any, error) {
	id := r.PathValue("id")
	err := s.p.Write(r.Context(), payments.Origin{},
		func(ctx context.Context, tx *payments.Tx) error { return tx.Resend(ctx, id) })
	return map[string]any{"id": id, "resent": err == nil}, err
}

func (s *server) state(r *http.Request) (any, error) { return s.p.State(r.Context()) }
