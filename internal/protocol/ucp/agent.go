package ucp

import (
	"net/netip"
	"net/url"
	"strings"

	"ace/internal/foundation/problem"

	"github.com/dunglas/httpsfv"
)

// HeaderAgent is the header that identifies the calling platform.
const HeaderAgent = "UCP-Agent"

// Limits of the platform's declarations, in bytes.
const (
	maxAgentHeader = 4096
	maxProfileURL  = 2048
)

// Agent is the calling platform as it identifies itself. The zero Agent is an anonymous caller:
// plain mode.
type Agent struct {
	// Profile is the absolute https URL of the platform's profile; http on a loopback host.
	Profile string
	// Version is the declared protocol version, or "".
	Version Version
}

// Plain reports whether the caller does not use UCP.
func (a Agent) Plain() bool { return a.Profile == "" }

// Loopback reports whether the profile is on the caller's own machine, which is for development.
func (a Agent) Loopback() bool {
	u, err := url.Parse(a.Profile)
	return err == nil && IsLoopback(u.Hostname())
}

// ParseAgent parses the values of the header UCP-Agent, a dictionary of RFC 8941
// (https://www.rfc-editor.org/rfc/rfc8941):
//
//	UCP-Agent: profile="https://platform.example/ucp"; version="2026-08-25"
//
// The version may be a parameter of profile or its own entry. Without the header it returns the
// zero Agent. Anything that is not such a dictionary, or whose profile is not an https URL, is the
// problem invalid_profile_url; Negotiate checks whether the version is supported.
func ParseAgent(values []string) (Agent, error) {
	if len(values) == 0 {
		return Agent{}, nil
	}
	if size := len(strings.Join(values, ",")); size > maxAgentHeader {
		return Agent{}, InvalidProfile("The header UCP-Agent is too long.")
	}
	dictionary, err := httpsfv.UnmarshalDictionary(values)
	if err != nil {
		return Agent{}, InvalidProfile("The header UCP-Agent is not a dictionary of RFC 8941.")
	}
	member, _ := dictionary.Get("profile")
	item, ok := member.(httpsfv.Item)
	if !ok {
		return Agent{}, InvalidProfile("The header UCP-Agent names no profile.")
	}
	profile, ok := item.Value.(string)
	if !ok {
		return Agent{}, InvalidProfile("The profile in UCP-Agent is not a quoted string.")
	}
	declared, present := item.Params.Get("version")
	if other, found := dictionary.Get("version"); found {
		inner, isItem := other.(httpsfv.Item)
		if !isItem {
			return Agent{}, InvalidProfile("The version in UCP-Agent is not a quoted string.")
		}
		declared, present = inner.Value, true
	}
	version, isText := declared.(string)
	if present && !isText {
		return Agent{}, InvalidProfile("The version in UCP-Agent is not a quoted string.")
	}
	return newAgent(profile, version)
}

func newAgent(profile, version string) (Agent, error) {
	if err := checkProfileURL(profile); err != nil {
		return Agent{}, err
	}
	return Agent{Profile: profile, Version: Version(version)}, nil
}

// checkProfileURL accepts absolute https URLs with a host, and http ones on a loopback host, without
// credentials and fragment.
func checkProfileURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case len(address) > maxProfileURL:
		return InvalidProfile("The URL of the profile is too long.")
	case err != nil || !u.IsAbs() || u.Opaque != "" || u.Hostname() == "":
		return InvalidProfile("The URL of the profile is not an absolute URL.")
	case u.Scheme != "https" && (u.Scheme != "http" || !IsLoopback(u.Hostname())):
		return InvalidProfile("The URL of the profile does not start with https://.")
	case u.User != nil || u.Fragment != "":
		return InvalidProfile("The URL of the profile contains credentials or a fragment.")
	}
	return nil
}

// InvalidProfile returns the problem invalid_profile_url about the header UCP-Agent. what is a sentence.
func InvalidProfile(what string) *problem.Problem {
	return problem.New(problem.Invalid, string(InvalidProfileURL),
		what+` Send UCP-Agent: profile="https://your-host/your-profile"; version="`+string(Newest)+
			`", or leave the header out.`).
		Advise("fix_arguments")
}

// IsLoopback reports whether a host name is a loopback name.
func IsLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
