// Package control is what the transports of the sandbox share for tests: who may
// move the sandbox, and how a call goes wrong on request.
//
//	Refusal      unless the caller is on this machine and no page of another site
//	Pause, Hang  respond late, or never
package control

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Refusal says, in a sentence for the caller, why a request may not move the
// sandbox: it does not come from this machine, or came through a proxy that
// is here, or from a page of another site. "": it may.
func Refusal(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return "The controls of the sandbox answer to this machine only."
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip"} {
		if r.Header.Get(name) != "" {
			return "The controls of the sandbox answer to direct calls only, not through a proxy."
		}
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return "The controls of the sandbox do not answer to pages of other sites."
	}
	return ""
}

// Pause waits for d, or until the caller has gone.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Hang keeps the caller waiting until it gives up, at most for d (30 seconds
// where d is zero), and breaks the response off. It begins one first: a client
// whose connection closes without a byte may send a call again by itself, and
// no test would see the fault. It does not return.
func Hang(w http.ResponseWriter, r *http.Request, d time.Duration) {
	if d == 0 {
		d = 30 * time.Second
	}
	Pause(r.Context(), d)
	w.Header().Set("Content-Length", "2")
	w.WriteHeader(http.StatusGatewayTimeout)
	// The connection ends here, whether this reaches the caller or not.
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
