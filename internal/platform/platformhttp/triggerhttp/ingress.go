package triggerhttp

import (
	"errors"
	"io"
	"net/http"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/platform/trigger/inbound"
)

// maxInbound is the largest request of an app, in bytes.
const maxInbound = 1 << 20

// ingress takes what an app sends. Events are stored before it responds with 200;
// any other status makes the app send them again.
func (h *Handler) ingress(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxInbound))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		httpserver.WriteProblem(w, r, problem.New(problem.TooLarge, "request_too_large",
			"An app sends at most 1 MiB at once."))
		return
	}
	if err != nil {
		return // the app broke its request off
	}
	reply, err := h.Operations.Triggers.Receive(r.Context(), r.PathValue("trigger"), r.PathValue("token"),
		&inbound.Request{Method: r.Method, Header: r.Header, Query: r.URL.Query(), Body: body})
	switch {
	case err != nil:
		httpserver.WriteProblem(w, r, err)
		return
	case reply == nil:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
		return
	}
	for name, value := range reply.Header {
		w.Header().Set(name, value)
	}
	if reply.MediaType != "" {
		w.Header().Set("Content-Type", reply.MediaType)
		w.Header().Set("X-Content-Type-Options", "nosniff")
	}
	w.WriteHeader(reply.Status)
	_, _ = w.Write(reply.Body)
}
