package webbotauth

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/httpsig"
)

// Tag marks the signatures that this package looks at; all others are somebody
// else's.
const Tag = "web-bot-auth"

// AcceptSignature is the value of Accept-Signature (RFC 9421 section 5) that
// tells an agent how to sign.
const AcceptSignature = `sig1=("@authority" "signature-agent";key="sig1");created;expires;keyid;tag="web-bot-auth"`

// How much clocks may differ, and how long a signature may last.
const (
	skew      = time.Minute
	maxWindow = 24 * time.Hour
)

// Status is what a request says about its sender.
type Status string

// The statuses. Only Verified tells anything about who sent a request.
const (
	Unsigned   Status = "unsigned"   // no signature for us
	Unverified Status = "unverified" // a signature that cannot be judged, now or at all
	Invalid    Status = "invalid"    // a signature that is wrong
	Verified   Status = "verified"
)

// Reason says why, for logs.
type Reason string

// The reasons of Invalid.
const (
	Malformed   Reason = "malformed"   // the fields do not parse, or hold too much
	Algorithm   Reason = "algorithm"   // a shared secret, or not the key's
	Parameters  Reason = "parameters"  // created, expires or keyid is missing
	OutsideTime Reason = "time"        // expired, from the future, or meant to last too long
	Coverage    Reason = "coverage"    // the host or Signature-Agent is not signed
	Authority   Reason = "authority"   // for a host that is not ours
	BadValue    Reason = "signature"   // the signature does not verify
	BadDigest   Reason = "digest"      // the body is not the one that was signed
	NoAgent     Reason = "agent"       // Unverified: Signature-Agent leads nowhere
	Pending     Reason = "pending"     // Unverified: the keys are being fetched
	Unreachable Reason = "unreachable" // Unverified: the keys could not be fetched lately
	UnknownKey  Reason = "unknown_key" // Unverified: the directory has no such key
	TestKey     Reason = "test_key"    // Unverified: everybody has the private key
	PlainHTTP   Reason = "plain_http"  // Unsigned: came over http, where all can be replaced
)

// Outcome is what the signatures of one request say.
type Outcome struct {
	Status Status
	Reason Reason
	Agent  string // the address of the keys, which is the identity; Verified only
	KeyID  string // thumbprint of the key that signed; Verified only
}

// Request is what is verified.
type Request struct {
	Message *httpsig.Message
	// Body answers the body, byte for byte. It is called only if a signature
	// that is sound covers the digest. Nil: there is none.
	Body func() ([]byte, error)
	// Client is who pays for a fetch of keys.
	Client netip.Addr
}

// VerifierOptions are the settings of a Verifier that have defaults.
type VerifierOptions struct {
	// TestKeys accepts the keys whose private halves RFC 9421 prints.
	TestKeys bool
}

// Verifier judges requests. It is safe for concurrent use.
type Verifier struct {
	keys        *Keys
	authorities []string
	testKeys    bool
}

// NewVerifier answers a verifier for requests to the authorities, hosts with
// the port where it is not the scheme's own. Nil options are the defaults.
func NewVerifier(keys *Keys, authorities []string, o *VerifierOptions) *Verifier {
	v := &Verifier{keys: keys, testKeys: o != nil && o.TestKeys}
	for _, a := range authorities {
		v.authorities = append(v.authorities, strings.ToLower(a))
	}
	return v
}

// Signed reports whether a request may carry a signature for us, which costs
// nothing to find out.
func Signed(m *httpsig.Message) bool { return len(m.Header.Values(httpsig.HeaderSignatureInput)) > 0 }

// Verify judges the signatures of a request. It never waits for another
// machine. Of several signatures a verified one counts, then an invalid one.
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
		o := v.judge(now, s, r)
		if rank(o.Status) > rank(best.Status) {
			best = o
		}
	}
	return best
}

func rank(s Status) int { return slices.Index([]Status{Unsigned, Unverified, Invalid, Verified}, s) }

func (v *Verifier) judge(now time.Time, s *httpsig.Signature, r Request) Outcome {
	if reason := v.judgeForm(now, s, r.Message); reason != "" {
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
	if reason := judgeValue(s, r, key); reason != "" {
		return Outcome{Status: Invalid, Reason: reason}
	}
	return Outcome{Status: Verified, Agent: source.URL, KeyID: s.Params.KeyID}
}

// judgeForm checks everything that needs no key.
func (v *Verifier) judgeForm(now time.Time, s *httpsig.Signature, m *httpsig.Message) Reason {
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

// coveredSource finds where the keys are: the first member that the signature
// covers and that can be followed.
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

func judgeValue(s *httpsig.Signature, r Request, key httpsig.JWK) Reason {
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
