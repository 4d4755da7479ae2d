package egress

import (
	"net/http"
	"slices"
	"time"
)

// Scope says how far a redirect may lead.
type Scope int

// The scopes, from narrow to wide.
const (
	SameOrigin Scope = iota // scheme, host and port stay; http may become https
	SameSite                // the host stays, give or take a leading "www."
	AnyHost                 // every public host
)

// Purpose is what one kind of outbound call may do. The zero value of a limit
// is the safe choice, not "unlimited".
type Purpose struct {
	Name      string
	PlainHTTP bool     // http besides https
	Ports     []uint16 // empty: every port but those of mail, databases and the like
	Hosts     []string // empty: every public host; otherwise these alone
	// Trusted are the URLs that the operator's settings name for this purpose, and
	// that it may call whatever their address: an origin as Origin spells it, or an
	// origin and a path, for this path and all below. What callers may name, such
	// as connectors, webhooks, files and profiles, has none.
	Trusted []string
	// OwnHosts are those of Options.OwnHosts that this purpose may call.
	OwnHosts  []string
	Redirects int   // hops followed; 0 returns a redirect as the response
	Scope     Scope // where a hop may lead
	// WireLimit and DecodedLimit bound the body before and after decompression,
	// in bytes. Gzip is asked for and decoded only when DecodedLimit is larger.
	WireLimit, DecodedLimit int64
	// Deadline bounds the whole call, redirects and reading of the body
	// included. With Idle set, an event stream is bounded by the time between
	// two reads instead, once its header is here.
	Deadline, Idle time.Duration
	// Sign, if set, adds what proves who calls to the request of each hop, as it
	// goes out: a signature that names the host of the hop.
	Sign func(*http.Request) error
}

const (
	kib = 1 << 10
	mib = 1 << 20
)

// SiteAudit reads pages of a website that a customer wants judged.
func SiteAudit() Purpose {
	return Purpose{
		Name: "site_audit", PlainHTTP: true, Ports: []uint16{80, 443}, Redirects: 5, Scope: SameSite,
		WireLimit: 2 * mib, DecodedLimit: 8 * mib, Deadline: 10 * time.Second,
	}
}

// SiteUpstream reads the website whose pages the store shows: its pages and its
// sitemaps, which may be large.
func SiteUpstream() Purpose {
	return Purpose{
		Name: "site_upstream", PlainHTTP: true, Redirects: 5, Scope: SameSite, WireLimit: 32 * mib,
		DecodedLimit: 64 * mib, Deadline: 20 * time.Second,
	}
}

// Webhook delivers an event to an address that a caller gave.
func Webhook() Purpose {
	return Purpose{Name: "webhook", WireLimit: 16 * kib, Deadline: 15 * time.Second}
}

// Connector calls a caller's own MCP server or REST API.
func Connector() Purpose {
	return Purpose{
		Name: "connector", Redirects: 3, Scope: SameOrigin, WireLimit: 10 * mib, DecodedLimit: 20 * mib,
		Deadline: 60 * time.Second, Idle: 60 * time.Second,
	}
}

// AppAPI calls the API of a third-party app whose host comes from the catalog.
func AppAPI() Purpose {
	return Purpose{
		Name: "app_api", Ports: []uint16{443}, Redirects: 3, Scope: SameSite, WireLimit: 10 * mib,
		DecodedLimit: 20 * mib, Deadline: 30 * time.Second,
	}
}

// FileFetch reads a file that a caller names by its address.
func FileFetch() Purpose {
	return Purpose{
		Name: "file_fetch", Ports: []uint16{443}, Redirects: 3, Scope: AnyHost, WireLimit: 26 * mib,
		Deadline: 60 * time.Second,
	}
}

// OAuth calls the token and profile endpoints of a third-party app.
func OAuth() Purpose {
	return Purpose{Name: "oauth", Ports: []uint16{443}, WireLimit: mib, Deadline: 30 * time.Second}
}

// KeyDirectory fetches the keys of an agent that signs its requests.
func KeyDirectory() Purpose {
	return Purpose{Name: "key_dir", Ports: []uint16{443}, WireLimit: 64 * kib, Deadline: 3 * time.Second}
}

// ClientDocument fetches the document in which an OAuth client describes itself.
func ClientDocument() Purpose {
	return Purpose{Name: "client_doc", Ports: []uint16{443}, WireLimit: 64 * kib, Deadline: 5 * time.Second}
}

// UCPProfile fetches the profile that a commerce agent names.
func UCPProfile() Purpose {
	return Purpose{Name: "ucp_profile", Ports: []uint16{443}, WireLimit: 256 * kib, Deadline: 3 * time.Second}
}

// Payments calls the payment processor, on its hosts alone.
func Payments(hosts ...string) Purpose {
	return Purpose{
		Name: "payments", Hosts: hosts, Ports: []uint16{443}, WireLimit: 4 * mib, DecodedLimit: 8 * mib,
		Deadline: 30 * time.Second,
	}
}

// Facilitator calls an x402 facilitator or a chain's RPC, on its hosts alone.
func Facilitator(hosts ...string) Purpose {
	return Purpose{Name: "facilitator", Hosts: hosts, WireLimit: mib, Deadline: 30 * time.Second}
}

// KMS calls a key management service, on its hosts alone.
func KMS(hosts ...string) Purpose {
	return Purpose{Name: "kms", Hosts: hosts, Ports: []uint16{443}, WireLimit: mib, Deadline: 10 * time.Second}
}

func (p *Purpose) takesPort(port uint16) bool {
	if len(p.Ports) > 0 {
		return slices.Contains(p.Ports, port)
	}
	return !foreignPort(port)
}

// foreignPort reports whether a port belongs to a service that an HTTP request
// could be made to speak to by accident: mail, shells, databases, caches.
func foreignPort(port uint16) bool {
	switch port {
	case 22, 23, 25, 53, 110, 135, 136, 137, 138, 139, 143, 445, 465, 587, 993, 995,
		1433, 2379, 3306, 3389, 5432, 6379, 9200, 11211, 27017:
		return true
	}
	return false
}

func (p *Purpose) decodes() bool { return p.DecodedLimit > p.WireLimit }
