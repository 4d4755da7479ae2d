package server

import (
	"context"
	"net/http"
	"net/http/pprof"
	"time"
)

// admin serves what only operators may see, on a listener of its own.
func (s *Server) admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	return mux
}

// ready responds with 200 while the process should get requests: it serves, is
// not stopping, its database responds, and it can open what others seal.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	switch {
	case !s.front.Ready():
		plain(w, http.StatusServiceUnavailable, "stopping")
	case s.db.Ping(ctx) != nil:
		plain(w, http.StatusServiceUnavailable, "the database does not respond")
	case s.vault.Trouble() != "":
		plain(w, http.StatusServiceUnavailable, "the vault: "+s.vault.Trouble())
	default:
		plain(w, http.StatusOK, "ready")
	}
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}
