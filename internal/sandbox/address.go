package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// ErrPublic says that a sandbox would be reachable by everyone.
var ErrPublic = errors.New("the sandbox accepts test payments and must not be mistaken for a real processor")

// CheckAddress refuses a base URL that other people could reach, unless
// allowed. Local are loopback addresses, localhost and names below it; an
// empty address is local.
func CheckAddress(baseURL string, allowed bool) error {
	if baseURL == "" {
		return nil
	}
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return errors.New(
			"the sandbox's base URL must look like http://127.0.0.1:8082; set ACE_SANDBOX_URL to such an address or " +
				"leave it out")
	}
	if allowed || local(u.Hostname()) {
		return nil
	}
	return fmt.Errorf(
		"%w: %s is a public address; give ACE_STRIPE_API_KEY to use a real processor, or set ACE_SANDBOX=on to serve "+
			"the sandbox there on purpose",
		ErrPublic, u.Hostname())
}

func local(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
