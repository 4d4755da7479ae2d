package httpserver

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientAddress finds the address of the client for ClientIP and the access
// line. That is the peer of the connection, unless the peer is in trusted:
// then X-Forwarded-For or Forwarded (RFC 7239) is walked from right to left to
// the first hop that is not trusted. A malformed hop, an obfuscated one, or two
// headers that disagree (a client may have sent the one the proxy does not
// write) leave the peer's own address. IPv4-mapped addresses become IPv4.
func ClientAddress(trusted []netip.Prefix) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			client := resolveClient(r, trusted)
			x, r := ensureExchange(r)
			x.mu.Lock()
			x.client = client
			x.mu.Unlock()
			next.ServeHTTP(w, r)
		})
	}
}

func resolveClient(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, ok := parseHop(r.RemoteAddr)
	if !ok || !within(peer, trusted) {
		return peer
	}
	byXFF, hasXFF := walkHops(splitList(r.Header.Values("X-Forwarded-For")), trusted)
	byForwarded, hasForwarded := walkHops(forwardedFor(r.Header.Values("Forwarded")), trusted)
	switch {
	case hasXFF && hasForwarded && byXFF != byForwarded:
		return peer
	case hasXFF && byXFF.IsValid():
		return byXFF
	case hasForwarded && byForwarded.IsValid():
		return byForwarded
	}
	return peer
}

// walkHops returns the first hop from the right that is not trusted, or the
// leftmost when all are. The address is invalid when a hop on the way is
// malformed; ok is false when there are no hops.
func walkHops(hops []string, trusted []netip.Prefix) (client netip.Addr, ok bool) {
	for _, hop := range slices.Backward(hops) {
		hop, parsed := parseHop(hop)
		if !parsed {
			return netip.Addr{}, true
		}
		client = hop
		if !within(hop, trusted) {
			break
		}
	}
	return client, len(hops) > 0
}

func within(a netip.Addr, prefixes []netip.Prefix) bool {
	for _, p := range prefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// parseHop reads an address with or without brackets and port.
func parseHop(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	if err != nil {
		ap, err := netip.ParseAddrPort(s)
		if err != nil {
			return netip.Addr{}, false
		}
		a = ap.Addr()
	}
	return a.Unmap().WithZone(""), true
}

func splitList(values []string) []string {
	if len(values) == 0 {
		return nil
	}
	return strings.Split(strings.Join(values, ","), ",")
}

// forwardedFor returns the for= parameter of each hop of Forwarded fields, ""
// for a hop without one.
func forwardedFor(values []string) []string {
	var hops []string
	for _, element := range splitList(values) {
		hop := ""
		for pair := range strings.SplitSeq(element, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if strings.EqualFold(strings.TrimSpace(name), "for") {
				hop = strings.Trim(strings.TrimSpace(value), `"`)
			}
		}
		hops = append(hops, hop)
	}
	return hops
}
