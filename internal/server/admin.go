package server

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"os"
	"strings"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/server/metrics"
	"ace/internal/storage"
)

// leastToken is how long the token of profiles is at least, in bytes.
const leastToken = 16

// admin serves what only operators may see, on a listener of its own. Health
// checks are for everybody who reaches it. Profiles hold parts of the memory:
// they need the token where there is one, and it is needed where the listener is
// not on loopback. Without a token the Host must be an address: a web page that
// lets its own name lead to this machine reads nothing.
func (s *Server) admin() (http.Handler, error) {
	token, err := s.adminToken()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", s.metrics.Handler(s.metricSources()))
	for path, h := range map[string]http.HandlerFunc{
		"": pprof.Index, "profile": pprof.Profile, "trace": pprof.Trace, "symbol": pprof.Symbol,
	} {
		mux.HandleFunc("GET /debug/pprof/"+path, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case token == "" && !byAddress(r.Host):
				plain(w, http.StatusMisdirectedRequest, "use the address of this machine as the host")
			case token != "" && !sameSecret(r.Header.Get("Authorization"), "Bearer "+token):
				w.Header().Set("WWW-Authenticate", "Bearer")
				plain(w, http.StatusUnauthorized, "send the token of ACE_ADMIN_TOKEN_FILE as a bearer token")
			default:
				h(w, r)
			}
		})
	}
	return mux, nil
}

// sameSecret compares two secrets in constant time.
func sameSecret(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// adminToken returns the token of profiles, or "" if they need none.
func (s *Server) adminToken() (string, error) {
	if s.cfg.AdminToken == "" {
		return "", nil
	}
	text, err := os.ReadFile(s.cfg.AdminToken)
	if err != nil {
		return "", fmt.Errorf("reading ACE_ADMIN_TOKEN_FILE: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < leastToken {
		return "", fmt.Errorf(
			"ACE_ADMIN_TOKEN_FILE holds a token of %d characters: write %d or more, for example from "+
				"openssl rand -hex 32",
			len(token),
			leastToken,
		)
	}
	return token, nil
}

// byAddress reports whether a Host is an address or localhost, which no web page
// has as its name.
func byAddress(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || host == "localhost"
}

// ready responds with 200 while the process should get requests.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := s.unready(ctx); err != nil {
		plain(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	plain(w, http.StatusOK, "ready")
}

// unready returns why the process should get no requests: it does not serve yet
// or no longer, its database does not respond, or it cannot open what others
// seal.
func (s *Server) unready(ctx context.Context) error {
	switch {
	case !s.front.Ready():
		return errors.New("stopping")
	case s.db.Ping(ctx) != nil:
		return errors.New("the database does not respond")
	case s.vault.Trouble() != "":
		return errors.New("the vault: " + s.vault.Trouble())
	}
	return nil
}

// metricSources are what the metrics read at each scrape.
func (s *Server) metricSources() metrics.Sources {
	return metrics.Sources{
		Ready: s.unready, Vault: func() string { return s.vault.Trouble() },
		Pools: func() map[string]sqldb.Pool { return s.db.Pools() }, Levels: storage.New(s.db, s.lanes).Levels,
		Relaxed: map[string]bool{
			"rate_limit": s.cfg.RateLimit == "off", "egress": len(s.cfg.EgressAllow) > 0, "dev_tls": s.tls != nil,
		},
	}
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}
