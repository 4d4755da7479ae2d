package ucp

import (
	"fmt"
	"slices"
	"strings"

	"ace/internal/foundation/problem"
)

// Version is a release of the protocol, a date.
type Version string

// The supported versions. Newest is used if a caller declares none.
const (
	Version20260825 Version = "2026-08-25"
	Version20260408 Version = "2026-04-08"
	Newest                  = Version20260825
)

// Versions lists the supported versions, newest first.
func Versions() []Version { return []Version{Version20260825, Version20260408} }

// Supported reports whether v is supported.
func (v Version) Supported() bool { return slices.Contains(Versions(), v) }

// wellFormed reports whether v looks like YYYY-MM-DD.
func (v Version) wellFormed() bool {
	if len(v) != len("2026-08-25") {
		return false
	}
	for i, c := range []byte(v) {
		if dash := i == 4 || i == 7; dash != (c == '-') || !dash && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// Negotiate selects the version of an exchange from the platform's declaration: in UCP-Agent, in
// meta or in its profile. "" selects the newest; an unsupported version is the problem
// version_unsupported.
func Negotiate(declared Version) (Version, error) {
	switch {
	case declared == "":
		return Newest, nil
	case declared.Supported():
		return declared, nil
	}
	var served []string
	for _, v := range Versions() {
		served = append(served, string(v))
	}
	return "", problem.New(problem.Unprocessable, string(VersionUnsupported), fmt.Sprintf(
		"This store supports UCP %s. Declare one of these versions, or none for the newest.", strings.Join(served,
			" and "))).
		Advise("change_version")
}
