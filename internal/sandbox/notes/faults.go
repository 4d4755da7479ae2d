package notes

import (
	"net/http"
	"slices"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/sandbox/control"
)

// Fault makes the next calls of a part go wrong.
type Fault struct {
	On     string `json:"on"`     // token, revoke or api
	Times  int    `json:"times"`  // how many calls; 0: one
	Status int    `json:"status"` // sent instead, before anything is done
	Code   string `json:"code"`   // error in that response
	After  bool   `json:"after"`  // do the work first, then respond with Status
	Slow   int    `json:"slow"`   // milliseconds to wait before anything else
	Hang   bool   `json:"hang"`   // do the work, and never respond
	Retry  string `json:"retry_after"`
}

func (f *handler) setFaults(w http.ResponseWriter, r *http.Request) {
	if why := control.Refusal(r); why != "" {
		write(w, http.StatusForbidden, map[string]string{"error": why})
		return
	}
	var in struct {
		Faults []Fault `json:"faults"`
	}
	if err := httpserver.DecodeJSON(r, &in, maxBody); err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	f.n.mu.Lock()
	defer f.n.mu.Unlock()
	f.n.faults = append(f.n.faults, in.Faults...)
	w.WriteHeader(http.StatusNoContent)
}

func (f *handler) clearFaults(w http.ResponseWriter, r *http.Request) {
	if why := control.Refusal(r); why != "" {
		write(w, http.StatusForbidden, map[string]string{"error": why})
		return
	}
	f.n.mu.Lock()
	defer f.n.mu.Unlock()
	f.n.faults = nil
	w.WriteHeader(http.StatusNoContent)
}

// nextFault returns the fault of the next call of a part, or nil.
func (n *Notes) nextFault(part string) *Fault {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := slices.IndexFunc(n.faults, func(f Fault) bool { return f.On == part })
	if i < 0 {
		return nil
	}
	fault := n.faults[i]
	if n.faults[i].Times--; n.faults[i].Times <= 0 {
		n.faults = slices.Delete(n.faults, i, i+1)
	}
	return &fault
}

// faulty runs a call with the fault that a test asked for.
func (f *handler) faulty(part string, call http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fault := f.n.nextFault(part)
		if fault == nil {
			call(w, r)
			return
		}
		control.Pause(r.Context(), time.Duration(fault.Slow)*time.Millisecond)
		if fault.After || fault.Hang {
			call(silent{http.Header{}}, r)
		}
		switch {
		case fault.Hang:
			control.Hang(w, r, 0)
		case fault.Status != 0:
			if fault.Retry != "" {
				w.Header().Set("Retry-After", fault.Retry)
			}
			write(w, fault.Status, map[string]string{"error": fault.Code})
		case !fault.After:
			call(w, r)
		}
	}
}

// silent is a writer that discards the response.
type silent struct{ header http.Header }

func (s silent) Header() http.Header         { return s.header }
func (s silent) Write(b []byte) (int, error) { return len(b), nil }
func (s silent) WriteHeader(int)             {}
