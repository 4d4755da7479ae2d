package ucphttp

import (
	"context"
	"net/url"
	"strings"
	"time"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
)

// Platforms reads what UCP platforms publish about themselves.
type Platforms interface {
	// Profile returns the profile at an https URL, which may be cached for a
	// while. It returns profile_unreachable or profile_malformed
	// (Unprocessable), or profile_busy (Unavailable).
	Profile(ctx context.Context, address string) (*ucp.PlatformProfile, error)
	// Newer is Profile where something is missing in what is kept: that is
	// fetched again unless it is new.
	Newer(ctx context.Context, address string) (*ucp.PlatformProfile, error)
}

// How platform profiles are treated.
const (
	negotiationOff    = "off"    // not read
	negotiationStrict = "strict" // required; anything else: read if possible
)

// exchange is what store and platform agreed on for one call.
type exchange struct {
	platform ucp.Agent // zero: plain mode
	version  ucp.Version
	signer   string        // thumbprint of the key that signed the request; "" if none did
	notes    []ucp.Message // about the exchange, for the response
}

// signedRequest is a request as its signature sees it.
type signedRequest struct {
	message *httpsig.Message
	body    []byte
}

// negotiate settles version and capabilities with a platform, and verifies
// its signature if there is one. The version is set also with an error. A
// caller that names no profile is served in plain mode, by the newest version.
// capability is what the operation belongs to.
func (f *Handler) negotiate(ctx context.Context, capability string, platform ucp.Agent,
	sent *signedRequest,
) (exchange, error) {
	x := exchange{platform: platform, version: ucp.Newest}
	if err := f.checkAgent(platform); err != nil {
		return x, err
	}
	declared, err := ucp.Negotiate(platform.Version)
	if err != nil || platform.Plain() || f.Site.Negotiation == negotiationOff || f.Platforms == nil {
		x.version = orNewest(declared)
		return x, err
	}
	profile, err := f.Platforms.Profile(ctx, platform.Profile)
	if err != nil {
		x.version = declared
		return x, f.withoutProfile(ctx, &x, err)
	}
	if platform.Version == "" || f.Site.Negotiation == negotiationStrict {
		if _, err := ucp.Negotiate(profile.Version); err != nil {
			return x, err
		}
	}
	if platform.Version == "" {
		declared = profile.Version
	}
	x.version = declared
	if profile.Version.Supported() && !f.compatible(x.version, capability, profile.Capabilities) {
		return x, problem.New(problem.Invalid, string(ucp.CapabilitiesIncompatible),
			"Your profile does not share the capability "+capability+" of version "+string(x.version)+
				" with this store. Declare it, or leave UCP-Agent out.")
	}
	if sent != nil {
		x.signer, err = f.verifySigner(ctx, platform.Profile, profile, sent)
	}
	return x, err
}

// checkAgent refuses callers without a profile in strict mode, and profiles over
// plain http anywhere but in development.
func (f *Handler) checkAgent(platform ucp.Agent) error {
	if platform.Plain() && f.Site.Negotiation == negotiationStrict {
		return problem.New(problem.Invalid, string(ucp.InvalidProfileURL),
			`This store serves only platforms that name their profile. Send UCP-Agent: `+
				`profile="https://your-host/your-profile".`)
	}
	base, err := url.Parse(f.Site.BaseURL)
	if platform.Loopback() && (err != nil || !ucp.IsLoopback(base.Hostname())) {
		return ucp.InvalidProfile("The URL of the profile is one of the caller's own machine.")
	}
	return nil
}

// compatible reports whether both sides share a capability; in strict mode it
// must be the one that is used.
func (f *Handler) compatible(v ucp.Version, capability string, theirs ucp.Capabilities) bool {
	shared := ucp.Intersect(ucp.Declared(v), theirs)
	return len(shared) > 0 && (f.Site.Negotiation != negotiationStrict || shared[capability] != nil)
}

// withoutProfile continues without a profile that cannot be read, unless the
// store insists on profiles.
func (f *Handler) withoutProfile(ctx context.Context, x *exchange, err error) error {
	p, ok := problem.From(err)
	if !ok || ctx.Err() != nil || f.Site.Negotiation == negotiationStrict {
		return err
	}
	x.notes = append(x.notes, ucp.Info(ucp.Code(p.Code), p.Detail+" The store's own capabilities apply."))
	return nil
}

// verifySigner returns the thumbprint of the key that signed the request. A key
// that is missing may have been published since the profile was read.
func (f *Handler) verifySigner(ctx context.Context, address string, profile *ucp.PlatformProfile,
	sent *signedRequest,
) (string, error) {
	signer, err := sent.signer(profile)
	if !problem.Is(err, string(ucp.KeyNotFound)) {
		return signer, err
	}
	newer, readErr := f.Platforms.Newer(ctx, address)
	if readErr != nil {
		return "", err // the key is missing in what we know
	}
	return sent.signer(newer)
}

// signer returns the thumbprint of the key that signed the request, which
// names it for what it is: two platforms may use the same id. It is "" where
// nothing authenticates the request.
func (q *signedRequest) signer(platform *ucp.PlatformProfile) (string, error) {
	id, err := ucp.VerifyRequest(q.message, q.body, platform, time.Now())
	if err != nil || id == "" {
		return "", err
	}
	key, _ := httpsig.FindKey(platform.Keys, id) // it has just verified the signature
	return key.Thumbprint()
}

func orNewest(v ucp.Version) ucp.Version {
	if v == "" {
		return ucp.Newest
	}
	return v
}

// scheme is the one that clients use, which a proxy may hide from us.
func (f *Handler) scheme() string {
	scheme, _, _ := strings.Cut(f.Site.BaseURL, "://")
	return scheme
}
