package storehttp

import (
	"context"
	"net/http"
	"strconv"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/idempotency"
	"ace/internal/protocol/acp"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// acpBase is where the protocol is served; the rest of a path is the
// protocol's own.
const acpBase = "/agent/commerce/acp"

// acpOperation is one of the operations that change something.
type acpOperation func(context.Context, *acpCall) (*acp.CheckoutSession, error)

// acpPost serves an operation.
//
//	headers -> exchange -> key -> body -> first time: the operation -> answer
//	                                  \-> repetition: the kept answer /
func (s *server) acpPost(success int, do acpOperation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		call, canonical, err := s.acpRead(w, r)
		if err != nil {
			s.writeACPError(w, r, err)
			return
		}
		answer, replayed, err := s.sessions.Once(r.Context(), sessionhttp.Scope("acp", r), r.Header.Get(acp.HeaderIdempotencyKey), canonical, func(resourceID string) sessionhttp.Outcome {
			call.resourceID = resourceID
			return s.acpDo(w, r, call, success, do)
		})
		if err != nil {
			s.writeACPError(w, r, err)
			return
		}
		if replayed {
			w.Header().Set(acp.HeaderIdempotentReplayed, "true")
		}
		s.writeACP(w, r, answer)
	}
}

// acpRead reads what a POST says about itself, and its body. canonical is what
// repetitions are compared by: the version is part of it, since it decides how
// the body is read and answered.
func (s *server) acpRead(w http.ResponseWriter, r *http.Request) (call *acpCall, canonical []byte, err error) {
	exchange, err := acpExchange(w, r)
	if err != nil {
		return nil, nil, err
	}
	if err := acp.CheckIdempotencyKey(r.Header.Get(acp.HeaderIdempotencyKey), exchange); err != nil {
		return nil, nil, err
	}
	body, err := sessionhttp.Body(r)
	if err != nil {
		return nil, nil, err
	}
	form, err := acp.Canonical(body)
	if err != nil {
		return nil, nil, err
	}
	call = &acpCall{exchange: exchange, sessionID: r.PathValue("id"), body: body, agent: s.sessions.Agent(r.Context(), r.Header)}
	return call, append([]byte(exchange.Version+"\n"), form...), nil
}

// acpExchange says by which rules a request is served.
func acpExchange(w http.ResponseWriter, r *http.Request) (acp.Exchange, error) {
	exchange, err := acp.Negotiate(r.Header.Values(acp.HeaderAPIVersion), false)
	if err == nil {
		w.Header().Set(acp.HeaderAPIVersion, string(exchange.Version))
	}
	return exchange, err
}

func (s *server) acpDo(w http.ResponseWriter, r *http.Request, call *acpCall, success int, do acpOperation) sessionhttp.Outcome {
	session, err := do(r.Context(), call)
	var body []byte
	if err == nil {
		body, err = encode(session)
	}
	if err == nil {
		return sessionhttp.Outcome{Answer: idempotency.Answer{Status: success, Body: body}}
	}
	p := httpserver.ProblemOf(r.Context(), err)
	retryAfter(w, p)
	status, body := acpFailure(p, paramOf(err))
	return sessionhttp.Outcome{Answer: idempotency.Answer{Status: status, Body: body}, Passing: p.Kind.Temporary() || p.RetryAfter > 0}
}

// acpGet answers where a session stands.
func (s *server) acpGet(w http.ResponseWriter, r *http.Request) {
	exchange, err := acpExchange(w, r)
	if err != nil {
		s.writeACPError(w, r, err)
		return
	}
	session, err := s.sessions.Read(w, r, r.PathValue("id"))
	if err != nil {
		s.writeACPError(w, r, err)
		return
	}
	answer, err := s.acpSession(r.Context(), session, exchange.Version)
	if err != nil {
		s.writeACPError(w, r, err)
		return
	}
	body, err := encode(answer)
	if err != nil {
		s.writeACPError(w, r, err)
		return
	}
	s.writeACP(w, r, idempotency.Answer{Status: http.StatusOK, Body: body})
}

// writeACP writes an answer with the headers of the protocol.
func (s *server) writeACP(w http.ResponseWriter, r *http.Request, answer idempotency.Answer) {
	h := w.Header()
	acpHeaders(h, r)
	if answer.Status == http.StatusMethodNotAllowed && h.Get("Allow") == "" {
		h["Allow"] = []string{""} // the session takes no such request any more
	}
	h.Set("Content-Length", strconv.Itoa(len(answer.Body)))
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body) // the client has gone if this fails
}
