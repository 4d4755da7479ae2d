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

// The versions served. Newest is used where a caller names none.
const (
	Version20260417 Version = "2026-04-17"
	Version20260130 Version = "2026-01-30"
	Newest                  = Version20260417
)

// Versions lists the versions served, newest first, as errors do. Discovery
// lists them oldest first.
func Versions() []Version { return []Version{Version20260417, Version20260130} }

// Supported reports whether v is served.
func (v Version) Supported() bool { return slices.Contains(Versions(), v) }

// Exchange says by which rules a request is read and answered.
type Exchange struct {
	Version Version
	// Plain is set where the caller named no version: the bare forms are read
	// and no idempotency key is asked for.
	Plain bool
}

// Negotiate reads the values of the header API-Version. Without the header the
// exchange is plain, unless require is set. The problems are
// missing_api_version and unsupported_api_version.
func Negotiate(values []string, require bool) (Exchange, error) {
	if len(values) == 0 && !require {
		return Exchange{Version: Newest, Plain: true}, nil
	}
	named := strings.TrimSpace(strings.Join(values, ","))
	if named == "" {
		return Exchange{}, problem.New(problem.Invalid, MissingAPIVersion, "Send the header API-Version: "+string(Newest)+".").Advise("fix_arguments")
	}
	if v := Version(named); v.Supported() {
		return Exchange{Version: v}, nil
	}
	return Exchange{}, problem.New(problem.Invalid, UnsupportedAPIVersion,
		fmt.Sprintf("This store speaks ACP %s and %s. Name one of them in API-Version, or leave the header out.", Version20260417, Version20260130)).
		Advise("change_version")
}
