package server

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ace/internal/config"
	"ace/internal/foundation/egress"
)

// egressOptions says what the process may reach. Without any configuration
// that is the sandbox alone. What the settings name in private networks is not
// here: trusting gives it to the purpose that needs it.
func (s *Server) egressOptions() *egress.Options {
	opts := &egress.Options{
		Allow: config.Prefixes(s.cfg.EgressAllow), UserAgent: "ace (+" + s.cfg.BaseURL() + ")",
		Called: s.metrics.Called, Denied: s.metrics.Denied,
		Lookup: s.lookup, OnlyTrusted: s.isolated() && (s.cfg.OIDCIssuer == "" || config.Local(s.cfg.OIDCIssuer)),
		OwnHosts: []string{ownHost(s.cfg.BaseURL()), ownHost(s.cfg.PlatformBaseURL())},
	}
	for _, address := range []string{s.cfg.StoreAddr, s.cfg.PlatformAddr, s.cfg.AdminAddr} {
		opts.OwnListeners = append(opts.OwnListeners, listeners(address)...)
	}
	if s.tls != nil {
		opts.TLS = s.trust()
	}
	return opts
}

// isolated reports whether this is the environment without configuration, whose
// only outside world is the sandbox.
func (s *Server) isolated() bool {
	return s.sandbox != nil && s.cfg.StripeKey == "" && len(s.cfg.EgressAllow) == 0 && s.cfg.ServesLocally()
}

// trusting returns a purpose that may call what the operator's settings name for
// it, in any network.
func trusting(p egress.Purpose, addresses ...string) egress.Purpose {
	for _, address := range addresses {
		if origin := egress.Origin(address); origin != "" {
			p.Trusted = append(p.Trusted, origin)
		}
	}
	return p
}

// practicing returns a purpose that may call parts of the sandbox where there is
// no other world: its website is there to be audited, its app to be connected.
// Payments and the ledger are never among them.
func (s *Server) practicing(p egress.Purpose, paths ...string) egress.Purpose {
	if origin := egress.Origin(s.cfg.SandboxBaseURL()); s.isolated() && origin != "" {
		for _, path := range paths {
			p.Trusted = append(p.Trusted, origin+path)
		}
	}
	return p
}

// ownHost spells the host of one of our URLs for egress.Options: a public name
// is ours with every port, an address of a machine with this port only.
func ownHost(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil && !config.Local(base) {
		return strings.ToLower(u.Hostname())
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// listeners returns the addresses that a setting HOST:PORT listens on. A port
// that the system chooses is not known here, and neither is where a name leads.
func listeners(setting string) []netip.AddrPort {
	host, port, err := net.SplitHostPort(setting)
	number, errPort := strconv.ParseUint(port, 10, 16)
	if err != nil || errPort != nil || number == 0 {
		return nil
	}
	hosts := []string{host}
	switch host {
	case "":
		hosts = []string{"0.0.0.0"}
	case "localhost":
		hosts = []string{"127.0.0.1", "::1"}
	}
	var all []netip.AddrPort
	for _, h := range hosts {
		if ip, err := netip.ParseAddr(h); err == nil {
			all = append(all, netip.AddrPortFrom(ip.Unmap(), uint16(number)))
		}
	}
	return all
}

// paymentHosts are the hosts of the payment processor.
func paymentHosts(cfg *config.Settings) []string {
	if u, err := url.Parse(cfg.StripeURL); err == nil && u.Hostname() != "" {
		return []string{u.Hostname()}
	}
	return []string{"api.stripe.com"}
}

func isTestKey(key string) bool {
	return strings.HasPrefix(key, "sk_test_") || strings.HasPrefix(key, "rk_test_")
}

// letters makes base64url fit into the alphabet of keys.
func letters(s string) string { return strings.NewReplacer("-", "0", "_", "1").Replace(s) }

// trustingClient posts the sandbox's messages to this process, whose
// certificate is its own in development.
func (s *Server) trustingClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	if s.tls != nil {
		transport.TLSClientConfig = s.trust()
	}
	return &http.Client{
		Transport: transport, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
