package ucp

import (
	"encoding/json"
	"fmt"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
)

// MaxProfileBytes is the maximum size of a platform's profile.
const MaxProfileBytes = 256 << 10

// Limits of a platform's profile.
const (
	maxCapabilities       = 200
	maxCapabilityVersions = 20
	maxExtends            = 20
	maxName               = 200
)

// PlatformProfile is the relevant part of a platform's profile.
type PlatformProfile struct {
	Version      Version
	Capabilities Capabilities
	// Keys are the public keys that we can verify signatures with.
	Keys []httpsig.JWK
	// ForeignKeys are the ids of published keys of a type, curve or algorithm that we cannot verify
	// signatures with.
	ForeignKeys []string
}

// ParsePlatformProfile parses the profile of a platform. An invalid profile is the problem
// profile_malformed. Capabilities are parsed only in a supported version: older ones had other
// shapes, and Negotiate returns a better error. Unusable keys are skipped.
func ParsePlatformProfile(data []byte) (*PlatformProfile, error) {
	if len(data) > MaxProfileBytes {
		return nil, malformedProfile(fmt.Sprintf("it is larger than %d KiB.", MaxProfileBytes>>10))
	}
	o, err := jsonread.Read(data)
	if err != nil {
		return nil, profileProblem(err)
	}
	o.Need("ucp", "A profile needs the field ucp.")
	meta := o.Object("ucp")
	meta.Need("version", "A profile needs a version.")
	p := &PlatformProfile{Version: Version(meta.Text("version", maxName))}
	if p.Version != "" && !p.Version.wellFormed() {
		meta.Fault("version", "invalid_value", "A version is a date, YYYY-MM-DD.")
	}
	if p.Version.Supported() {
		p.Capabilities = readCapabilities(meta)
	}
	if err := o.Err(); err != nil {
		return nil, profileProblem(err)
	}
	for _, field := range []string{"keys", "signing_keys"} { // 2026-08-25 and 2026-04-08
		var raw []json.RawMessage
		if json.Unmarshal(o.JSON(field), &raw) == nil {
			p.addKeys(raw)
		}
	}
	return p, nil
}

// addKeys sorts published keys by whether we can use them. Faulty ones are skipped.
func (p *PlatformProfile) addKeys(published []json.RawMessage) {
	for _, data := range published[:min(len(published), httpsig.MaxKeys)] {
		key, err := httpsig.ParseJWK(data)
		switch {
		case err == nil:
			p.Keys = append(p.Keys, key)
		case key.KID != "":
			p.ForeignKeys = append(p.ForeignKeys, key.KID)
		}
	}
}

func readCapabilities(meta jsonread.Object) Capabilities {
	declared := meta.Object("capabilities")
	names := declared.Names()
	if len(names) > maxCapabilities {
		meta.Fault("capabilities", "too_many", fmt.Sprintf("At most %d capabilities are allowed.", maxCapabilities))
		return nil
	}
	capabilities := make(Capabilities, len(names))
	for _, name := range names {
		for _, o := range declared.Objects(name, maxCapabilityVersions) {
			o.Need("version", "A capability needs a version.")
			capabilities[name] = append(capabilities[name], Capability{
				Version: Version(o.Text("version", maxName)), Extends: readExtends(o),
			})
		}
	}
	return capabilities
}

func readExtends(o jsonread.Object) Extends {
	if o.IsText("extends") {
		return Extends{o.Text("extends", maxName)}
	}
	return o.Texts("extends", maxExtends, maxName)
}

// profileProblem converts an error in a profile. Its location is in the profile, which the caller
// does not send but references.
func profileProblem(err error) error {
	p, ok := problem.From(err)
	if !ok {
		return err
	}
	where := ""
	if len(p.Items) > 0 {
		where = "at " + jsonread.Path(p.Items[0].Pointer) + ": "
	}
	return malformedProfile(where + p.Detail)
}

func malformedProfile(what string) *problem.Problem {
	return problem.New(problem.Unprocessable, string(ProfileMalformed),
		"The profile that UCP-Agent names cannot be used, "+what)
}
