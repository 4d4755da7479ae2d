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
	limits, err := s.limits()
	if err != nil {
		return nil, err
	}
	options := &admission.Options{
		Scheme: base.Scheme, MCP: []string{ucphttp.MCPPath, mcphttp.Path},
		Enforce: s.cfg.BotAuth == "enforce",
	}
	if s.cfg.BotAuth != "off" {
		s.bots = webbotauth.NewKeys(s.signedClient(egress.KeyDirectory()), s.log, nil)
		options.Bots = webbotauth.NewVerifier(s.bots, []string{authority(base)}, nil)
	}
	return admission.New(limits, options), nil
}

func (s *Server) limits() (admission.Limits, error) {
	switch {
	case s.cfg.RateLimit == "off":
		return admission.NoLimits(), nil
	case s.cfg.RedisURL == "":
		table := ratelimit.NewTable(nil)
		return admission.NewLimits(func(p ratelimit.Policy) ratelimit.Limiter { return table.Limiter(p) },
			s.cfg.RateBurst), nil
	}
	var err error
	s.shared, err = redislimit.Open(s.cfg.RedisURL, s.log, &redislimit.Options{
		Digest: func(key string) string { return s.sealer.MAC("rate limit", []byte(key)) },
	})
	if err != nil {
		return admission.Limits{}, fmt.Errorf("ACE_REDIS_URL: %w", err)
	}
	return admission.NewLimits(func(p ratelimit.Policy) ratelimit.Limiter { return s.shared.GCRA(p) },
		s.cfg.RateBurst), nil
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
