package x402

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"ace/internal/foundation/jcs"
)

// Match answers which of the advertised ways to pay a payer accepted: all core
// members are the same text, so that an address in another case does not match,
// and accepted.extra holds at least what was advertised. ok is false where none
// is.
func Match(accepted PaymentRequirements, advertised []PaymentRequirements) (index int, ok bool) {
	for i, a := range advertised {
		if accepted.Scheme == a.Scheme && accepted.Network == a.Network && accepted.Amount == a.Amount && accepted.Asset == a.Asset &&
			accepted.PayTo == a.PayTo && accepted.MaxTimeoutSeconds == a.MaxTimeoutSeconds && holds(accepted.Extra, a.Extra) {
			return i, true
		}
	}
	return 0, false
}

// holds reports whether every member of want is in have with an equal value.
func holds(have, want map[string]any) bool {
	for name, value := range want {
		got, ok := have[name]
		if !ok || !sameJSON(got, value) {
			return false
		}
	}
	return true
}

func sameJSON(a, b any) bool {
	textA, errA := json.Marshal(a)
	textB, errB := json.Marshal(b)
	return errA == nil && errB == nil && jcs.Equal(textA, textB)
}

// Target is the service that a request asks for, as a payload's resource may
// name it.
type Target struct {
	Paths []string // paths that mean it, or any service: /v1/services/{id}/run and /mcp
	Names []string // its names, of the tool and of the service
}

// Fits reports whether a payload may pay for the target: it names no resource,
// or an address whose path means the target, or mcp://tool/{name}, or
// x402://{name}. Scheme, host and query of an address are not compared: proxies
// and aliases change them, and the signature covers none of it.
func (t Target) Fits(info *ResourceInfo) bool {
	if info == nil || info.URL == "" {
		return true
	}
	u, err := url.Parse(info.URL)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https", "":
		return t.path(u.Path)
	case "mcp":
		return u.Host == "tool" && t.named(strings.TrimPrefix(u.Path, "/"))
	case "x402":
		return t.named(u.Host + u.Path)
	}
	return false
}

func (t Target) path(asked string) bool {
	asked = path.Clean("/" + asked)
	for _, p := range t.Paths {
		if asked == path.Clean("/"+p) {
			return true
		}
	}
	return false
}

func (t Target) named(name string) bool {
	for _, n := range t.Names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// Limits of a quote. The client libraries refuse a whole quote over one of the
// first, and a large facilitator does not settle over the last.
const (
	maxTags        = 5
	maxIconURL     = 2048
	MaxDescription = 500 // characters of ResourceInfo.Description
)

// Check reports what would keep clients and facilitators from using a quote.
func (q PaymentRequired) Check() error {
	if q.X402Version != Version || len(q.Accepts) == 0 {
		return errors.New("a quote is of version 2 and has at least one way to pay")
	}
	if err := q.Resource.check(); err != nil {
		return err
	}
	for i, r := range q.Accepts {
		if err := r.Check(); err != nil {
			return fmt.Errorf("way %d to pay: %w", i+1, err)
		}
	}
	return nil
}

func (i ResourceInfo) check() error {
	switch {
	case i.URL == "":
		return errors.New("the resource has no url")
	case utf8.RuneCountInString(i.Description) > MaxDescription:
		return fmt.Errorf("the description has more than %d characters", MaxDescription)
	case i.ServiceName != "" && !labelShape.MatchString(i.ServiceName):
		return fmt.Errorf("the service name %q is not 1 to 32 printable ASCII characters", i.ServiceName)
	case len(i.Tags) > maxTags || len(i.IconURL) > maxIconURL:
		return fmt.Errorf("there are more than %d tags, or the icon's address is longer than %d", maxTags, maxIconURL)
	}
	for _, tag := range i.Tags {
		if !labelShape.MatchString(tag) {
			return fmt.Errorf("the tag %q is not 1 to 32 printable ASCII characters", tag)
		}
	}
	return nil
}

// Check reports what would keep a payer from paying this way.
func (r PaymentRequirements) Check() error {
	name, version := r.Domain()
	switch {
	case r.Scheme != SchemeExact:
		return fmt.Errorf("the scheme %q is not served", r.Scheme)
	case !networkShape.MatchString(r.Network):
		return fmt.Errorf("the network %q is no CAIP-2 name such as eip155:8453", r.Network)
	case !addressShape.MatchString(r.Asset) || !addressShape.MatchString(r.PayTo):
		return fmt.Errorf("the token %q or the receiver %q is no address", r.Asset, r.PayTo)
	case name == "" || version == "":
		return errors.New("name and version of the token are missing in extra: no wallet can sign without them")
	case r.MaxTimeoutSeconds <= 0:
		return errors.New("maxTimeoutSeconds has to be positive")
	}
	if n, err := ParseAmount(r.Amount); err != nil || n.Sign() == 0 {
		return fmt.Errorf("the amount %q: %w", r.Amount, errAmount)
	}
	return nil
}
