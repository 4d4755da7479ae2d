package egress

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ace/internal/foundation/problem"
)

// MaxURLLength is the longest address that is called, in bytes.
const MaxURLLength = 2048

// Reasons of a refusal. They are the Code of the problem's only item.
const (
	ReasonURL      = "url"             // not an address, or one with user name, zone, fragmentary host
	ReasonScheme   = "scheme"          // http where https is needed, or neither
	ReasonPort     = "port"            // a port that the purpose does not use
	ReasonHost     = "host"            // not one of the hosts that the purpose may call
	ReasonAddress  = "private_address" // a private, local or reserved network
	ReasonLoop     = "loop"            // one of our own hosts
	ReasonRedirect = "redirect"        // a redirect that leads too far or too often
)

// target is a parsed address.
type target struct {
	scheme string
	host   string // lower case, without brackets
	port   uint16
	ip     netip.Addr // valid when the host is an address, unmapped
}

// origin spells the target as browsers spell origins, port left out when it is
// the scheme's own.
func (t target) origin() string {
	host := t.host
	if t.ip.Is6() {
		host = "[" + host + "]"
	}
	if t.port == defaultPort(t.scheme) {
		return t.scheme + "://" + host
	}
	return t.scheme + "://" + host + ":" + strconv.Itoa(int(t.port))
}

func defaultPort(scheme string) uint16 {
	if scheme == "http" {
		return 80
	}
	return 443
}

// parseTarget reads an address strictly: what two parsers might understand
// differently is refused. It applies no policy.
func parseTarget(u *url.URL) (target, error) {
	var t target
	if len(u.String()) > MaxURLLength {
		return t, refuse(ReasonURL, "The address is longer than 2048 bytes.")
	}
	t.scheme = u.Scheme
	if t.scheme != "http" && t.scheme != "https" {
		return t, refuse(ReasonScheme, "The address must begin with https://.")
	}
	if u.Opaque != "" || u.User != nil {
		return t, refuse(ReasonURL, "The address must not hold a user name or password.")
	}
	t.host = strings.ToLower(u.Hostname())
	t.port = defaultPort(t.scheme)
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return t, refuse(ReasonPort, "The port must be a number from 1 to 65535.")
		}
		t.port = uint16(n)
	}
	return t, t.parseHost(strings.HasPrefix(u.Host, "["))
}

func (t *target) parseHost(bracketed bool) error {
	if ip, err := netip.ParseAddr(t.host); err == nil {
		if ip.Zone() != "" || ip.Is6() != bracketed {
			return refuse(ReasonURL, "The address must not hold a zone.")
		}
		t.ip = ip.Unmap()
		return nil
	}
	if bracketed || !validName(t.host) {
		return refuse(ReasonURL,
			"The host must be a plain name such as example.com; write other scripts in their xn-- form.")
	}
	return nil
}

// validName takes names of letters, digits, hyphens and underscores in two or
// more labels or one, whose last label is not a number: 127.1, 0x7f.1 and
// 2130706433 are addresses to some resolvers.
func validName(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	last := ""
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
		last = label
	}
	return last[0] < '0' || last[0] > '9'
}

// privateName reports whether a name can only mean something inside a network.
func privateName(host string) bool {
	if host == "localhost" || !strings.Contains(host, ".") {
		return true
	}
	for _, suffix := range []string{
		".localhost", ".local", ".internal", ".intranet", ".lan", ".home.arpa", ".corp",
		".private",
	} {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}

// verdict is what the rules say before a socket is opened.
type verdict struct {
	target  target
	trusted bool  // the purpose may call it whatever its address
	own     bool  // a host of this service that the purpose may call
	only    error // non-nil: refused with this, unless the address dialled is in Options.Allow
}

// evaluate applies the rules of the guard and the purpose to one hop.
func (g *Guard) evaluate(p *Purpose, u *url.URL) (verdict, error) {
	t, err := parseTarget(u)
	if err != nil {
		return verdict{}, err
	}
	v := verdict{target: t}
	if p.trusts(t, u.Path) {
		v.trusted = true
		return v, nil
	}
	own := g.ownHost(p, t)
	v.own = own == callable
	switch {
	case g.options.OnlyTrusted:
		return v, refuse(ReasonHost, "In this mode only the sandbox may be called.")
	case len(p.Hosts) > 0 && !slices.Contains(p.Hosts, t.host):
		return v, refuse(ReasonHost, "This host is not configured for the purpose.")
	case own == refused:
		return v, refuse(ReasonLoop, loopText)
	case alwaysDenied(t.ip) || t.host == "metadata.google.internal":
		return v, refuse(ReasonAddress, privateText)
	case t.scheme == "http" && !p.PlainHTTP:
		v.only = refuse(ReasonScheme, "The address must begin with https://.")
	case !p.takesPort(t.port):
		v.only = refuse(ReasonPort, "This port may not be called.")
	case t.ip.IsValid() && g.denied(t.ip), !t.ip.IsValid() && privateName(t.host):
		v.only = refuse(ReasonAddress, privateText)
	}
	// Where the address is known, or nothing is opened, there is nothing to
	// wait for.
	if v.only != nil && (len(g.options.Allow) == 0 || t.ip.IsValid() && !g.allowed(t.ip)) {
		return v, v.only
	}
	return v, nil
}

const (
	privateText = "The address is not on the public internet."
	loopText    = "The address leads back to this service."
)

// trusts reports whether the operator has named the target for this purpose. A
// path is compared as servers read it, without dot segments.
func (p *Purpose) trusts(t target, path string) bool {
	for _, entry := range p.Trusted {
		below, ok := strings.CutPrefix(entry, t.origin())
		if !ok {
			continue
		}
		below = strings.TrimSuffix(below, "/")
		if below == "" {
			return true
		}
		if below[0] == '/' && (path == below || strings.HasPrefix(path, below+"/")) && !dotted(path) {
			return true
		}
	}
	return false
}

// dotted reports whether a path has a segment that servers resolve.
func dotted(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// Origin returns the origin of a URL as Purpose.Trusted spells it, or "" for
// what may not be called by any purpose.
func Origin(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	t, err := parseTarget(u)
	if err != nil {
		return ""
	}
	return t.origin()
}

// What a target is of this service's own hosts.
const (
	foreign = iota
	callable
	refused
)

func (g *Guard) ownHost(p *Purpose, t target) int {
	spellings := []string{t.host, net.JoinHostPort(t.host, strconv.Itoa(int(t.port)))}
	named := func(list []string) bool {
		return slices.ContainsFunc(spellings, func(s string) bool { return slices.Contains(list, s) })
	}
	switch {
	case !named(g.options.OwnHosts):
		return foreign
	case named(p.OwnHosts):
		return callable
	}
	return refused
}

func refuse(reason, detail string) error {
	return problem.New(problem.Unprocessable, "target_not_allowed", "This address may not be called. "+detail).
		WithItems(problem.Item{Code: reason, Detail: detail})
}
