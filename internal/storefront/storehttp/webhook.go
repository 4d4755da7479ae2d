package storehttp

import (
	"net/http"

	"ace/internal/foundation/httpserver"
)

// maxEvent bounds a message of the processor, in bytes.
const maxEvent = 512 << 10

// receiveEvent responds with 200 once the message is on record; what follows from it
// is done later. Any other response makes the processor send it again.
func (s *server) receiveEvent(w http.ResponseWriter, r *http.Request) {
	payload, err := httpserver.ReadBody(r, maxEvent)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	event, err := s.Events.ParseEvent(payload, r.Header.Get("Stripe-Signature"))
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	httpserver.NoteOperation(r.Context(), event.Type)
	if err := s.Checkout.Receive(r.Context(), event); err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"received":true}` + "\n"))
}
