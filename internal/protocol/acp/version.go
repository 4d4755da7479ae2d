package acp

import (
	"fmt"
	"slices"
	"strings"

	"ace/internal/foundation/problem"
)

// The headers of the protocol.
const (
	HeaderAPIVersion         = "API-Version"
	HeaderIdempotencyKey     = "Idempotency-Key"     // echoed
	HeaderIdempotentReplayed = "Idempotent-Replayed" // "true" on a replay
	HeaderRequestID          = "Request-Id"          // echoed
)

// Version is a release of the protocol, a date.
type Version string

// The supported versions. Newest is used if a caller names none.
const (
	Version20260417 Version = "2026-04-17"
	Version20260130 Version = "2026-01-30"
	Newest                  = Version20260417
)

// Versions lists the supported versions, newest first, as errors do. Discovery lists them oldest
// first.
func Versions() []Version { return []Version{Version20260417, Version20260130} }

// Supported reports whether v is supported.
func (v Version) Supported() bool { return slices.Contains(Versions(), v) }

// Exchange holds the protocol rules of one request and its response.
type Exchange struct {
	Version Version
	// Plain is set if the caller named no version: the bare forms are accepted and no idempotency
	// key is required.
	Plain bool
}

// Negotiate parses the values of the header API-Version. Without the header the exchange is plain,
// unless require is set. The problems are missing_api_version and unsupported_api_version.
func Negotiate(values []string, require bool) (Exchange, error) {
	if len(values) == 0 && !require {
		return Exchange{Version: Newest, Plain: true}, nil
	}
	named := strings.TrimSpace(strings.Join(values, ","))
	if named == "" {
		return Exchange{}, problem.New(problem.Invalid, MissingAPIVersion,
			"Send the header API-Version: "+string(Newest)+".").Advise("fix_arguments")
	}
	if v := Version(named); v.Supported() {
		return Exchange{Version: v}, nil
	}
	return Exchange{}, problem.New(problem.Invalid, UnsupportedAPIVersion,
		fmt.Sprintf("This store supports ACP %s and %s. Send one of them in API-Version, or omit the header.",
			Version20260417, Version20260130)).
		Advise("change_version")
}
