package httpserver

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the proxies in front of a listener. Nil: there are none.
type Proxies struct {
	// Networks are where requests of proxies come from.
	Networks []netip.Prefix
	// Header is the field that they write: HeaderXForwardedFor or HeaderForwarded.
	Header string
}

// Header fields in which a proxy writes whose request it forwards.
const (
	HeaderXForwardedFor = "X-Forwarded-For"
	HeaderForwarded     = "Forwarded" // RFC 7239
)

// ClientAddress finds the address of the client for ClientIP and the access
// line. That is the peer of the connection, unless the peer is a proxy: then the
// proxies' header is walked from right to left to the first hop that is no
// proxy. IPv4-mapped addresses become IPv4.
//
// The address is unknown if the walk meets a malformed or obfuscated hop, and if
// the other header is there and names somebody else: one of the two is then the
// client's own text, and it may be the one that is read. An unknown address
// satisfies no restriction, and all such clients share one limit. A request of a
// proxy without either header is its own, for example a health check.
func ClientAddress(p *Proxies) Middleware {
	if p == nil {
		p = new(Proxies)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			client := p.client(r)
			x, r := ensureExchange(r)
			x.mu.Lock()
			x.client = client
			x.mu.Unlock()
			next.ServeHTTP(w, r)
		})
	}
}

func (p *Proxies) client(r *http.Request) netip.Addr {
	peer, ok := parseHop(r.RemoteAddr)
	if !ok || !within(peer, p.Networks) {
		return peer
	}
	named, isNamed := walkHops(splitList(r.Header.Values(HeaderXForwardedFor)), p.Networks)
	other, isOther := walkHops(forwardedFor(r.Header.Values(HeaderForwarded)), p.Networks)
	if p.Header == HeaderForwarded {
		named, isNamed, other, isOther = other, isOther, named, isNamed
	}
	switch {
	case !isNamed && !isOther:
		return peer
	case isOther && other != named:
		return netip.Addr{}
	}
	return named
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
