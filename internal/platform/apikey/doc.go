// Package apikey is what lets programs in: keys that act as an account, within
// permissions and restrictions, until they are revoked.
//
//	Create -> "ace_" + 30 random characters + 6 of CRC-32   shown once
//	          kept: a keyed digest, the first 8 and last 4 characters
//	Authenticate(presented)
//	   shape and checksum, without the store  -> invalid_key
//	   row by digest, as it is committed now  -> invalid_key, key_revoked, key_expired
//	   network of the caller                  -> ip_not_allowed
//	   -> Key, which the caller holds for one request
//
// A key with a Client is the grant of a person to an MCP client that signed in:
// its secret is an access token, which the client replaces every hour, for one URL.
//
// Because every request asks the store for what is committed, a revocation takes
// effect at once on every replica; what the store keeps in memory ends with any
// write. The time of last use is written at most once a minute per key, and what
// an ending process still holds, by Flush.
package apikey

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/problem"
)

// Permissions are what a key may do; a set of bits.
type Permissions uint8

// The permissions. None implies another.
const (
	Read    Permissions = 1 << iota // see apps, connections, tools, runs
	Connect                         // connect apps, change connections and connectors
	Run                             // run tools, set triggers
)

// All is every permission.
const All = Read | Connect | Run

// names are the permissions as they are written, in this order.
func names() []string { return []string{"read", "connect", "run"} }

// Has reports whether every permission of need is there.
func (p Permissions) Has(need Permissions) bool { return p&need == need }

// Names are the permissions as they are written: read, connect, run.
func (p Permissions) Names() []string {
	list := []string{}
	for i, name := range names() {
		if p.Has(1 << i) {
			list = append(list, name)
		}
	}
	return list
}

// String is the permissions with commas between.
func (p Permissions) String() string { return strings.Join(p.Names(), ",") }

// ParsePermissions reads names of permissions. It returns invalid_permissions
// (Invalid) for an unknown name and for none at all.
func ParsePermissions(list []string) (Permissions, error) {
	var p Permissions
	for _, name := range list {
		i := slices.Index(names(), strings.ToLower(strings.TrimSpace(name)))
		if i < 0 {
			return 0, problem.New(problem.Invalid, "invalid_permissions",
				"Permissions are read, connect and run.").At("/permissions")
		}
		p |= 1 << i
	}
	if p == 0 {
		return 0, problem.New(problem.Invalid, "invalid_permissions",
			"Name at least one of the permissions read, connect and run.").At("/permissions")
	}
	return p, nil
}

// Approval says which runs wait for a person.
type Approval string

// The approvals.
const (
	ApproveNone        Approval = "none"
	ApproveDestructive Approval = "destructive" // tools that may delete or overwrite
	ApproveWrites      Approval = "writes"      // every tool that changes something
)

// Restrictions narrow a key further. Empty members restrict nothing.
type Restrictions struct {
	Apps          []string       `json:"apps,omitempty"`            // ids of apps
	Tools         []string       `json:"tools,omitempty"`           // ids of tools
	ReadOnlyTools bool           `json:"read_only_tools,omitempty"` // only tools that change nothing
	RawRequests   bool           `json:"raw_requests,omitempty"`    // also requests of the caller's own making
	Networks      []netip.Prefix `json:"ip_cidrs,omitempty"`        // where the key may be used from
	EndUser       string         `json:"end_user,omitempty"`        // only connections of this user of the account's
}

// ParseNetworks reads networks as callers write them. Its problem is
// invalid_network (Invalid), at pointer.
func ParseNetworks(texts []string, pointer string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, problem.New(problem.Invalid, "invalid_network",
				"Networks are written like 192.0.2.0/24 or 2001:db8::/32.").At(pointer)
		}
		networks = append(networks, network.Masked())
	}
	return networks, nil
}

// NetworkTexts is what ParseNetworks reads.
func (r Restrictions) NetworkTexts() []string {
	var texts []string
	for _, network := range r.Networks {
		texts = append(texts, network.String())
	}
	return texts
}

// AllowsApp reports whether the key may touch an app.
func (r Restrictions) AllowsApp(app string) bool {
	return len(r.Apps) == 0 || slices.Contains(r.Apps, app)
}

// AllowsTool reports whether the key may run a tool of an app, which goes by any
// of ids.
func (r Restrictions) AllowsTool(app string, ids ...string) bool {
	return r.AllowsApp(app) &&
		(len(r.Tools) == 0 || slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(r.Tools, id) }))
}

// AllowsAddress reports whether the key may be used from an address.
func (r Restrictions) AllowsAddress(ip netip.Addr) bool {
	return len(r.Networks) == 0 || slices.ContainsFunc(r.Networks,
		func(p netip.Prefix) bool { return p.Contains(ip.Unmap()) })
}

// Key is a key as it is kept: everything but the key itself.
type Key struct {
	ID          string
	AccountID   string
	Name        string
	Prefix      string // the first characters, to recognize it by
	Last4       string
	Permissions Permissions
	Restrict    Restrictions
	Approval    Approval
	Client      *Client   // nil: a key that somebody copies; never changed
	CreatedBy   string    // id of the user who made it; empty: the operator
	ExpiresAt   time.Time // zero: never
	CreatedAt   time.Time
	LastUsedAt  time.Time // zero: not yet; to the minute
	RevokedAt   time.Time // zero: it works
}

// Client is the MCP client that a key belongs to.
type Client struct {
	Name         string    // as the client calls itself
	Host         string    // that sign-ins of the client return to, or that publishes its name
	Audience     string    // URL that the access token is for
	TokenExpires time.Time // of the access token
}

// Live reports whether the key opens anything at a time.
func (k *Key) Live(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}

// Require returns permission_required (Forbidden) unless the key has what is
// needed; the problem names both sets.
func (k *Key) Require(need Permissions) error {
	if k.Permissions.Has(need) {
		return nil
	}
	return problem.New(problem.Forbidden, "permission_required",
		"This key lacks the permission "+(need&^k.Permissions).String()+
			". Ask the owner of the account for a key that has it.").
		Advise("ask_owner_for_permission").With("required", need.Names()).With("has", k.Permissions.Names())
}
