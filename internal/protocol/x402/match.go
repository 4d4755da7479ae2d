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

// Match returns the advertised requirements that a payer accepted: all core fields are equal
// strings, so an address in another case does not match, and accepted.extra contains at least the
// advertised values. ok is false if none matches.
func Match(accepted PaymentRequirements, advertised []PaymentRequirements) (index int, ok bool) {
	for i, a := range advertised {
		if accepted.Scheme == a.Scheme && accepted.Network == a.Network && accepted.Amount == a.Amount &&
			accepted.Asset == a.Asset &&
			accepted.PayTo == a.PayTo && accepted.MaxTimeoutSeconds == a.MaxTimeoutSeconds && contains(accepted.Extra,
			a.Extra) {
			return i, true
		}
	}
	return 0, false
}

// contains reports whether have contains every field of want with an equal value.
func contains(have, want map[string]any) bool {
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

// Target is the requested service, as the resource of a payload may name it.
type Target struct {
	Paths []string // paths of the service, or of all services: /v1/services/{id}/run and /mcp
	Names []string // names of the tool and of the service
}

// Fits reports whether a payload may pay for the target: it names no resource, or a URL with a path
// of the target, or mcp://tool/{name}, or x402://{name}. Scheme, host and query of a URL are not
// compared: proxies and aliases change them, and the signature does not cover them.
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

// Limits of a quote. The client libraries refuse a quote that exceeds one of the first, and a large
// facilitator does not settle above the last.
const (
	maxTags        = 5
	maxIconURL     = 2048
	MaxDescription = 500 // characters of ResourceInfo.Description
)

// Check returns an error if clients or facilitators could not use the quote.
func (q PaymentRequired) Check() error {
	if q.X402Version != Version || len(q.Accepts) == 0 {
		return errors.New("a quote needs version 2 and at least one entry in accepts")
	}
	if err := q.Resource.check(); err != nil {
		return err
	}
	for i, r := range q.Accepts {
		if err := r.Check(); err != nil {
			return fmt.Errorf("accepts[%d]: %w", i+1, err)
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
		return fmt.Errorf("there are more than %d tags, or the icon URL is longer than %d", maxTags, maxIconURL)
	}
	for _, tag := range i.Tags {
		if !labelShape.MatchString(tag) {
			return fmt.Errorf("the tag %q is not 1 to 32 printable ASCII characters", tag)
		}
	}
	return nil
}

// Check returns an error if a payer could not pay by these requirements.
func (r PaymentRequirements) Check() error {
	name, version := r.Domain()
	switch {
	case r.Scheme != SchemeExact:
		return fmt.Errorf("the scheme %q is not supported", r.Scheme)
	case !networkShape.MatchString(r.Network):
		return fmt.Errorf("the network %q is not a CAIP-2 name such as eip155:8453", r.Network)
	case !addressShape.MatchString(r.Asset) || !addressShape.MatchString(r.PayTo):
		return fmt.Errorf("the token %q or the receiver %q is not an address", r.Asset, r.PayTo)
	case name == "" || version == "":
		return errors.New("name and version of the token are missing in extra: wallets need them to sign")
	case r.MaxTimeoutSeconds <= 0:
		return errors.New("maxTimeoutSeconds has to be positive")
	}
	if n, err := ParseAmount(r.Amount); err != nil || n.Sign() == 0 {
		return fmt.Errorf("the amount %q: %w", r.Amount, errAmount)
	}
	return nil
}
