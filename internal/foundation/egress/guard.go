package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"ace/internal/foundation/problem"

	"code.dny.dev/ssrf"
)

// Options are the settings of a Guard. The zero value is the strict one.
type Options struct {
	// Allow lifts the rules of address, scheme, port and private host names for
	// these networks and nothing else. Link-local and metadata addresses stay
	// refused.
	Allow []netip.Prefix
	// OnlyTrusted refuses everything that a purpose does not trust, the public
	// internet included: the mode without configuration.
	OnlyTrusted bool
	// OwnHosts are the hosts of this service, refused as loops: "store.example"
	// with every port, "127.0.0.1:8080" with this one.
	OwnHosts []string
	// OwnListeners are the addresses that this service listens on. No name leads
	// there, in no network. An unspecified address is every address of this machine.
	OwnListeners []netip.AddrPort
	// Denied is called with every refusal, for an audit. It must not block.
	Denied func(ctx context.Context, d Denial)
	// Called, if set, is notified of every call that ended, up to the header of its
	// response. It must not block.
	Called func(c Call)
	// Lookup replaces the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// UserAgent is sent where a request has none. Empty: "ace".
	UserAgent string
	// TLS replaces the configuration of TLS, for example its roots. Version 1.2
	// stays the least.
	TLS *tls.Config
}

// Denial is one refused call. It holds no path, query or resolved address.
type Denial struct{ Purpose, Host, Reason string }

// Call is one call that ended. It holds no address.
type Call struct {
	Purpose string
	Status  int   // of the response; 0: there was none
	Err     error // why there was none: a problem of Client, or the end of the caller's context
	Elapsed time.Duration
}

// Guard makes the clients of all outbound calls. It is safe for concurrent use.
type Guard struct {
	options Options
	table   *ssrf.Guardian
}

// New returns a guard. Nil options are the strict ones.
func New(o *Options) *Guard {
	if o == nil {
		o = new(Options)
	}
	options := *o
	options.Allow = slices.Clone(o.Allow)
	options.OwnHosts = slices.Clone(o.OwnHosts)
	options.OwnListeners = slices.Clone(o.OwnListeners)
	if options.UserAgent == "" {
		options.UserAgent = "ace"
	}
	return &Guard{options: options, table: ssrf.New()}
}

// Check judges an address without calling it: for input that will be called
// later. A name is judged as a name; where it leads is judged at each call. It
// returns the problem target_not_allowed.
func (g *Guard) Check(p Purpose, rawURL string) error {
	u, err := url.Parse(rawURL)
	if err != nil || rawURL != strings.TrimSpace(rawURL) {
		return refuse(ReasonURL, "It cannot be read as an address such as https://example.com/path.")
	}
	_, err = g.evaluate(&p, u)
	return err
}

// Client returns a client for one purpose, with connections of its own: keep
// it. It sets no cookies. Its errors hold problems: target_not_allowed,
// target_unreachable, target_timeout, target_bad_answer and, while the body is
// read, response_too_large.
func (g *Guard) Client(p Purpose) *http.Client {
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12}
	if g.options.TLS != nil {
		tlsConfig = g.options.TLS.Clone()
		tlsConfig.MinVersion = max(tlsConfig.MinVersion, tls.VersionTLS12)
	}
	transport := &http.Transport{
		Proxy:                  nil, // a proxy of the environment would hide the address from the hook
		DialContext:            g.dial,
		TLSClientConfig:        tlsConfig,
		TLSHandshakeTimeout:    5 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // the transport's own decoding knows no limit
		MaxResponseHeaderBytes: 64 * kib,
		ResponseHeaderTimeout:  p.Deadline,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        60 * time.Second,
	}
	return &http.Client{
		Transport:     &gate{guard: g, purpose: p, transport: transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type verdictKey struct{}

// dial connects, judging every address on the way.
func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 5 * time.Second, ControlContext: g.control}
	host, port, err := net.SplitHostPort(address)
	if err != nil || g.options.Lookup == nil {
		return dialer.DialContext(ctx, network, address)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return dialer.DialContext(ctx, network, address)
	}
	addrs, err := g.options.Lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	err = &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	for _, a := range addrs {
		var conn net.Conn
		if conn, err = dialer.DialContext(ctx, network, net.JoinHostPort(a.String(), port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// control is called with each address before the socket connects to it.
func (g *Guard) control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return refuse(ReasonAddress, privateText)
	}
	ip := ap.Addr().Unmap().WithZone("")
	v, judged := ctx.Value(verdictKey{}).(verdict)
	switch {
	case !judged, alwaysDenied(ip):
		return refuse(ReasonAddress, privateText)
	case v.trusted:
		return nil
	case !v.own && g.listens(netip.AddrPortFrom(ip, ap.Port())):
		return refuse(ReasonLoop, loopText)
	case g.allowed(ip):
		return nil
	case v.only != nil:
		return v.only
	case g.denied(ip):
		return refuse(ReasonAddress, privateText)
	}
	return nil
}

func (g *Guard) allowed(ip netip.Addr) bool {
	for _, p := range g.options.Allow {
		if p.Contains(ip) {
			return !alwaysDenied(ip)
		}
	}
	return false
}

// listens reports whether this service listens on an address.
func (g *Guard) listens(at netip.AddrPort) bool {
	for _, own := range g.options.OwnListeners {
		if own.Port() != at.Port() {
			continue
		}
		if own.Addr().Unmap() == at.Addr() || own.Addr().IsUnspecified() && ofThisMachine(at.Addr()) {
			return true
		}
	}
	return false
}

// ofThisMachine reports whether an address belongs to this machine. If its
// addresses cannot be read, every address may be one of them.
func ofThisMachine(ip netip.Addr) bool {
	if ip.IsLoopback() {
		return true
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(all, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().Unmap() == ip
	})
}

func (g *Guard) denied(ip netip.Addr) bool { return alwaysDenied(ip) || g.table.SafeAddr(ip) != nil }

// alwaysDenied holds the addresses where clouds answer with credentials, and
// those that name no single machine. No setting opens them.
func alwaysDenied(ip netip.Addr) bool {
	if !ip.IsValid() {
		return false
	}
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return true
	}
	switch ip {
	case netip.AddrFrom4([4]byte{100, 100, 100, 200}), // Alibaba
		netip.AddrFrom4([4]byte{192, 0, 0, 192}),                                  // Oracle
		netip.AddrFrom4([4]byte{168, 63, 129, 16}),                                // Azure
		netip.AddrFrom16([16]byte{0: 0xfd, 2: 0x0e, 3: 0xc2, 14: 0x02, 15: 0x54}), // AWS fd00:ec2::254
		netip.AddrFrom16([16]byte{0: 0xfd, 1: 0x20, 3: 0xce, 14: 0x02, 15: 0x54}), // Google fd20:ce::254
		netip.AddrFrom16([16]byte{0: 0xfd, 3: 0x42, 15: 0x42}):                    // Scaleway fd00:42::42
		return true
	}
	return false
}

// Reason is the reason class of a refusal inside err, or "".
func Reason(err error) string {
	var p *problem.Problem
	if errors.As(err, &p) && p.Code == "target_not_allowed" && len(p.Items) == 1 {
		return p.Items[0].Code
	}
	return ""
}

// Cause takes the address that net/http puts into its errors off err: addresses
// of webhooks hold secrets and do not belong into logs.
func Cause(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
