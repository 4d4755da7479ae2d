package server

import (
	"fmt"
	"net/url"
	"strings"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/ratelimit"
	"ace/internal/foundation/ratelimit/redislimit"
	"ace/internal/protocol/webbotauth"
	"ace/internal/storefront/storehttp/admission"
	"ace/internal/storefront/storehttp/mcphttp"
	"ace/internal/storefront/storehttp/ucphttp"
)

// buildGate wires what is in front of the store's routes: the limits, in
// this process or in Redis, and the verification of signed agents.
func (s *Server) buildGate() (*admission.Gate, error) {
	base, err := url.Parse(s.cfg.BaseURL())
	if err != nil {
		return nil, fmt.Errorf("reading the address of the store: %w", err)
	}
	options := &admission.Options{
		Scheme: base.Scheme, MCP: []string{ucphttp.MCPPath, mcphttp.Path},
		Enforce: s.cfg.BotAuth == "enforce",
	}
	if s.cfg.BotAuth != "off" {
		s.bots = webbotauth.NewKeys(s.signedClient(egress.KeyDirectory()), s.log, nil)
		options.Bots = webbotauth.NewVerifier(s.bots, []string{authority(base)}, nil)
	}
	return admission.New(s.limits(), options), nil
}

// openShared opens the counters that replicas share, if there are any.
func (s *Server) openShared() (err error) {
	if s.cfg.RedisURL == "" || s.cfg.RateLimit == "off" {
		return nil
	}
	s.shared, err = redislimit.Open(s.cfg.RedisURL, s.log, &redislimit.Options{
		Digest: func(key string) string { return s.sealer.MAC("rate limit", []byte(key)) },
	})
	if err != nil {
		return fmt.Errorf("ACE_REDIS_URL: %w", err)
	}
	return nil
}

func (s *Server) limits() admission.Limits {
	switch {
	case s.cfg.RateLimit == "off":
		return admission.NoLimits()
	case s.shared == nil:
		table := ratelimit.NewTable(nil)
		return admission.NewLimits(func(p ratelimit.Policy) ratelimit.Limiter {
			return s.metrics.Limiter(p.Name, table.Limiter(p))
		}, s.cfg.RateBurst)
	}
	return admission.NewLimits(func(p ratelimit.Policy) ratelimit.Limiter {
		return s.metrics.Limiter(p.Name, s.shared.GCRA(p))
	}, s.cfg.RateBurst)
}

// authority is the host of a URL as signatures name it: without the
// scheme's own port.
func authority(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if u.Scheme == "https" {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}
