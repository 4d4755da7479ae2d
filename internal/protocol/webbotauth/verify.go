package webbotauth

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/httpsig"
)

// Tag is the tag of the signatures that this package verifies; it ignores all others.
const Tag = "web-bot-auth"

// AcceptSignature is the value of Accept-Signature (RFC 9421 section 5) that requests a signature
// from an agent.
const AcceptSignature = `sig1=("@authority" "signature-agent";key="sig1");created;expires;keyid;tag="web-bot-auth"`

// The allowed clock difference and the maximum lifetime of a signature.
const (
	skew      = time.Minute
	maxWindow = 24 * time.Hour
)

// Status is the result of the verification of a request.
type Status string

// The statuses. Only Verified identifies the sender of a request.
const (
	Unsigned   Status = "unsigned"   // no signature with our tag
	Unverified Status = "unverified" // a signature that cannot be judged, now or at all
	Invalid    Status = "invalid"    // an invalid signature
	Verified   Status = "verified"
)

// Reason is the reason of a status, for logs.
type Reason string

// The reasons of Invalid.
const (
	Malformed   Reason = "malformed"   // the fields do not parse, or are too large
	Algorithm   Reason = "algorithm"   // a shared secret, or not the key's algorithm
	Parameters  Reason = "parameters"  // created, expires or keyid is missing
	OutsideTime Reason = "time"        // expired, from the future, or a lifetime that is too long
	Coverage    Reason = "coverage"    // the host or Signature-Agent is not signed
	Authority   Reason = "authority"   // for another host
	BadValue    Reason = "signature"   // the signature does not verify
	BadDigest   Reason = "digest"      // the body is not the one that was signed
	NoAgent     Reason = "agent"       // Unverified: Signature-Agent has no allowed URL
	Pending     Reason = "pending"     // Unverified: the keys are being fetched
	Unreachable Reason = "unreachable" // Unverified: the keys could not be fetched recently
	UnknownKey  Reason = "unknown_key" // Unverified: the directory has no such key
	TestKey     Reason = "test_key"    // Unverified: the private key is public
	PlainHTTP   Reason = "plain_http"  // Unsigned: sent over http, where everything can be replaced
)

// Outcome is the result of verifying the signatures of one request.
type Outcome struct {
	Status Status
	Reason Reason
	Agent  string // the URL of the keys, which is the identity; Verified only
	KeyID  string // thumbprint of the key that signed; Verified only
}

// Request is the request to verify.
type Request struct {
	Message *httpsig.Message
	// Body returns the body, byte for byte. It is called only if a valid signature covers the
	// digest. Nil: there is no body.
	Body func() ([]byte, error)
	// Client is the client that a fetch of keys is charged to.
	Client netip.Addr
}

// VerifierOptions are the settings of a Verifier that have defaults.
type VerifierOptions struct {
	// TestKeys accepts the keys whose private keys RFC 9421 prints.
	TestKeys bool
}

// Verifier verifies requests. It is safe for concurrent use.
type Verifier struct {
	keys        *Keys
	authorities []string
	testKeys    bool
}

// NewVerifier returns a verifier for requests to the authorities: hosts, with the port if it is not
// the default of the scheme. Nil options are the defaults.
func NewVerifier(keys *Keys, authorities []string, o *VerifierOptions) *Verifier {
	v := &Verifier{keys: keys, testKeys: o != nil && o.TestKeys}
	for _, a := range authorities {
		v.authorities = append(v.authorities, strings.ToLower(a))
	}
	return v
}

// Signed reports whether a request may carry a signature with our tag. It is cheap.
func Signed(m *httpsig.Message) bool { return len(m.Header.Values(httpsig.HeaderSignatureInput)) > 0 }

// Verify verifies the signatures of a request. It never waits for the network. Of several
// signatures a verified one takes precedence, then an invalid one.
func (v *Verifier) Verify(now time.Time, r Request) Outcome {
	if !Signed(r.Message) {
		return Outcome{Status: Unsigned}
	}
	signatures, err := httpsig.Parse(r.Message.Header)
	if err != nil {
		return Outcome{Status: Invalid, Reason: Malformed}
	}
	best := Outcome{Status: Unsigned}
	for i := range signatures {
		s := &signatures[i]
		if s.Params.Tag != Tag {
			continue
		}
		o := v.verifyOne(now, s, r)
		if rank(o.Status) > rank(best.Status) {
			best = o
		}
	}
	return best
}

func rank(s Status) int { return slices.Index([]Status{Unsigned, Unverified, Invalid, Verified}, s) }

func (v *Verifier) verifyOne(now time.Time, s *httpsig.Signature, r Request) Outcome {
	if reason := v.checkForm(now, s, r.Message); reason != "" {
		return Outcome{Status: Invalid, Reason: reason}
	}
	agents, err := ParseAgents(r.Message.Header)
	if err != nil {
		return Outcome{Status: Invalid, Reason: Malformed}
	}
	source, reason := coveredSource(s, agents)
	if reason == Coverage {
		return Outcome{Status: Invalid, Reason: reason}
	}
	if reason != "" {
		return Outcome{Status: Unverified, Reason: reason}
	}
	if !v.testKeys && published(s.Params.KeyID) {
		return Outcome{Status: Unverified, Reason: TestKey}
	}
	key, reason := v.keys.find(now, source, s.Params.KeyID, r.Client)
	if reason != "" {
		return Outcome{Status: Unverified, Reason: reason}
	}
	if reason := checkValue(s, r, key); reason != "" {
		return Outcome{Status: Invalid, Reason: reason}
	}
	return Outcome{Status: Verified, Agent: source.URL, KeyID: s.Params.KeyID}
}

// checkForm checks everything that needs no key.
func (v *Verifier) checkForm(now time.Time, s *httpsig.Signature, m *httpsig.Message) Reason {
	p := &s.Params
	rule := httpsig.TimeRule{Skew: skew, MaxWindow: maxWindow}
	switch {
	case strings.HasPrefix(strings.ToLower(p.Alg), "hmac"):
		return Algorithm
	case p.Created.IsZero() || p.Expires.IsZero() || p.KeyID == "":
		return Parameters
	case s.CheckTime(now, rule) != nil:
		return OutsideTime
	case !s.Covers(httpsig.Field("@authority")) && !s.Covers(httpsig.Field("@target-uri")):
		return Coverage
	case !slices.Contains(v.authorities, m.Authority):
		return Authority
	}
	return ""
}

// coveredSource returns the URL of the keys: the first entry that the signature covers and that is
// allowed.
func coveredSource(s *httpsig.Signature, agents []Agent) (Source, Reason) {
	if len(agents) == 0 {
		return Source{}, NoAgent
	}
	covered := false
	for _, a := range agents {
		whole := len(agents) == 1 && s.Covers(httpsig.Field(HeaderSignatureAgent))
		if !whole && !s.Covers(httpsig.Component{Name: "signature-agent", Key: a.Member}) {
			continue
		}
		covered = true
		if source, ok := a.Source(); ok {
			return source, ""
		}
	}
	if covered {
		return Source{}, NoAgent
	}
	return Source{}, Coverage
}

func checkValue(s *httpsig.Signature, r Request, key httpsig.JWK) Reason {
	err := s.VerifyJWK(r.Message, key)
	switch {
	case errors.Is(err, httpsig.ErrAlgorithm):
		return Algorithm
	case err != nil:
		return BadValue
	case !s.Covers(httpsig.Field(httpsig.HeaderContentDigest)):
		return ""
	}
	var body []byte
	if r.Body != nil {
		if body, err = r.Body(); err != nil {
			return BadDigest
		}
	}
	if httpsig.VerifyContentDigest(r.Message.Header, body) != nil {
		return BadDigest
	}
	return ""
}

// published reports whether a key is one of RFC 9421 appendix B.1.
func published(keyID string) bool {
	switch keyID {
	case "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U", // test-key-ed25519
		"oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA": // test-key-rsa-pss
		return true
	}
	return false
}
