package server

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"ace/internal/config"
	"ace/internal/foundation/egress"
)

// egressOptions says what the process may reach. Without any configuration
// that is the sandbox alone.
func (s *Server) egressOptions() *egress.Options {
	opts := &egress.Options{
		Allow: config.Prefixes(s.cfg.EgressAllow), UserAgent: "ace (+" + s.cfg.BaseURL() + ")",
		Lookup: s.lookup,
	}
	if s.tls != nil {
		opts.TLS = s.trust()
	}
	if s.sandbox != nil {
		opts.AllowOrigins = append(opts.AllowOrigins, s.cfg.SandboxBaseURL())
		opts.OnlyOrigins = s.cfg.StripeKey == "" && len(s.cfg.EgressAllow) == 0 && config.Local(s.cfg.BaseURL())
	}
	opts.AllowOrigins = append(opts.AllowOrigins, s.paymentOrigins()...)
	if s.cfg.SiteUpstream != "" { // the operator's own website, in any network
		opts.AllowOrigins = append(opts.AllowOrigins, s.cfg.SiteUpstream)
	}
	// the operator's own choice, in any network
	if u, err := url.Parse(s.cfg.OIDCIssuer); err == nil && s.cfg.OIDCIssuer != "" {
		opts.AllowOrigins = append(opts.AllowOrigins, u.Scheme+"://"+u.Host)
		opts.OnlyOrigins = opts.OnlyOrigins && config.Local(s.cfg.OIDCIssuer)
	}
	if s.cfg.StripeURL != "" {
		if u, err := url.Parse(s.cfg.StripeURL); err == nil {
			opts.AllowOrigins = append(opts.AllowOrigins, u.Scheme+"://"+u.Host)
		}
	}
	if s.cfg.OrderWebhookURL != "" && config.Local(s.cfg.OrderWebhookURL) {
		// The operator's own setting, not a caller's: a receiver on this machine.
		if u, err := url.Parse(s.cfg.OrderWebhookURL); err == nil {
			opts.AllowOrigins = append(opts.AllowOrigins, u.Scheme+"://"+u.Host)
		}
	}
	return opts
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
