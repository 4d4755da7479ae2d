package x402

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"
)

// Version is the version of the protocol that is spoken.
const Version = 2

// SchemeExact is the scheme whose payer pays exactly what is asked.
const SchemeExact = "exact"

// PaymentRequired is a quote: what has to be paid, and how.
type PaymentRequired struct {
	X402Version int                   `json:"x402Version"`
	Error       string                `json:"error,omitempty"` // why the payment is asked for, or refused
	Resource    ResourceInfo          `json:"resource"`
	Accepts     []PaymentRequirements `json:"accepts"` // in order of preference
	Extensions  map[string]Extension  `json:"extensions,omitempty"`
}

// ResourceInfo says what is paid for.
type ResourceInfo struct {
	URL         string   `json:"url"`
	Description string   `json:"description,omitempty"` // at most 500 characters
	MimeType    string   `json:"mimeType,omitempty"`
	ServiceName string   `json:"serviceName,omitempty"` // at most 32 printable ASCII characters
	Tags        []string `json:"tags,omitempty"`        // at most 5, each like a service name
	IconURL     string   `json:"iconUrl,omitempty"`     // at most 2,048 characters
}

// PaymentRequirements is one way to pay.
type PaymentRequirements struct {
	Scheme            string         `json:"scheme"`
	Network           string         `json:"network"` // CAIP-2, for example eip155:8453
	Amount            string         `json:"amount"`  // atomic units, decimal digits
	Asset             string         `json:"asset"`   // address of the token
	PayTo             string         `json:"payTo"`   // address of the receiver
	MaxTimeoutSeconds int            `json:"maxTimeoutSeconds"`
	Extra             map[string]any `json:"extra,omitempty"` // name and version of the token's EIP-712 domain
}

// Domain answers name and version of the token, which its signatures cover.
func (r PaymentRequirements) Domain() (name, version string) {
	name, _ = r.Extra["name"].(string)
	version, _ = r.Extra["version"].(string)
	return name, version
}

// Extension is an optional part of a quote, which clients echo and fill.
type Extension struct {
	Info   json.RawMessage `json:"info"`
	Schema json.RawMessage `json:"schema,omitempty"`
}

// PaymentPayload is a payer's answer to a quote: one of the ways to pay, and
// the signed authorization. Read it with ReadPayload; its JSON is then the one
// that was read, so that a facilitator sees what the payer sent.
type PaymentPayload struct {
	Resource      *ResourceInfo // what the payer thinks to pay for; nil if it did not say
	Accepted      PaymentRequirements
	Authorization Authorization
	Signature     string // 0x and hex: 65 bytes of an account, or what a contract wallet made
	Extensions    map[string]json.RawMessage

	raw json.RawMessage
}

// Authorization is a transfer that the payer has signed (EIP-3009). Numbers
// are decimal digits of at most 256 bits.
type Authorization struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Value       string `json:"value"`
	ValidAfter  string `json:"validAfter"`  // Unix seconds, exclusive
	ValidBefore string `json:"validBefore"` // Unix seconds, exclusive
	Nonce       string `json:"nonce"`       // 0x and 64 hex digits
}

// Deadline is the moment from which the authorization is void. One that lies
// beyond the year 9999 counts as its last second.
func (a Authorization) Deadline() time.Time {
	const last = 253402300799
	seconds, err := strconv.ParseInt(a.ValidBefore, 10, 64)
	if err != nil {
		seconds = math.MaxInt64
	}
	return time.Unix(min(seconds, last), 0).UTC()
}

// Key names an authorization: the token contract takes each only once. All
// members are lower case.
type Key struct{ Network, Asset, Payer, Nonce string }

// Key names the authorization of the payload.
func (p PaymentPayload) Key() Key {
	return Key{
		Network: strings.ToLower(p.Accepted.Network), Asset: strings.ToLower(p.Accepted.Asset),
		Payer: strings.ToLower(p.Authorization.From), Nonce: strings.ToLower(p.Authorization.Nonce),
	}
}

// Same reports whether both payloads hold the same signed authorization for
// the same token.
func (p PaymentPayload) Same(other *PaymentPayload) bool {
	return p.Key() == other.Key() && strings.EqualFold(p.Authorization.To, other.Authorization.To) &&
		p.Authorization.Value == other.Authorization.Value && p.Authorization.ValidAfter == other.Authorization.ValidAfter &&
		p.Authorization.ValidBefore == other.Authorization.ValidBefore && strings.EqualFold(p.Signature, other.Signature)
}

// MarshalJSON answers the text that was read, or writes a payload of our own.
func (p PaymentPayload) MarshalJSON() ([]byte, error) {
	if p.raw != nil {
		return p.raw, nil
	}
	type payload struct {
		Authorization Authorization `json:"authorization"`
		Signature     string        `json:"signature"`
	}
	return compact(struct {
		X402Version int                        `json:"x402Version"`
		Payload     payload                    `json:"payload"`
		Resource    *ResourceInfo              `json:"resource,omitempty"`
		Accepted    PaymentRequirements        `json:"accepted"`
		Extensions  map[string]json.RawMessage `json:"extensions,omitempty"`
	}{Version, payload{p.Authorization, p.Signature}, p.Resource, p.Accepted, p.Extensions})
}

// UnmarshalJSON is ReadPayload.
func (p *PaymentPayload) UnmarshalJSON(data []byte) error {
	read, err := ReadPayload(data)
	if err == nil {
		*p = *read
	}
	return err
}

// String names the payload without its signature.
func (p PaymentPayload) String() string {
	k := p.Key()
	return fmt.Sprintf("payment of %s on %s, nonce %s", k.Payer, k.Network, k.Nonce)
}

// Format prints String whatever the verb, so that no verb shows the signature.
func (p PaymentPayload) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(p.String())) }

// LogValue keeps the signature out of logs.
func (p PaymentPayload) LogValue() slog.Value { return slog.StringValue(p.String()) }

// FacilitatorRequest is the body of a facilitator's /verify and /settle.
type FacilitatorRequest struct {
	X402Version  int                 `json:"x402Version"`
	Payload      *PaymentPayload     `json:"paymentPayload"`
	Requirements PaymentRequirements `json:"paymentRequirements"`
}

// VerifyResponse is what a facilitator says about a payload before the work is
// done.
type VerifyResponse struct {
	IsValid        bool            `json:"isValid"`
	InvalidReason  Reason          `json:"invalidReason,omitempty"`
	InvalidMessage string          `json:"invalidMessage,omitempty"` // a facilitator's own words; may hold internals
	Payer          string          `json:"payer,omitempty"`
	Extensions     json.RawMessage `json:"extensions,omitempty"`
	Extra          json.RawMessage `json:"extra,omitempty"`
}

// SettleResponse is what a facilitator says about the transfer. Success alone
// proves nothing: see Class.
type SettleResponse struct {
	Success      bool            `json:"success"`
	Transaction  string          `json:"transaction"` // hash; "" when none was sent
	Network      string          `json:"network"`
	Payer        string          `json:"payer,omitempty"`
	ErrorReason  Reason          `json:"errorReason,omitempty"`
	ErrorMessage string          `json:"errorMessage,omitempty"` // a facilitator's own words; may hold internals
	Amount       string          `json:"amount,omitempty"`
	Extensions   json.RawMessage `json:"extensions,omitempty"`
	Extra        json.RawMessage `json:"extra,omitempty"`
}

// SupportedResponse is what a facilitator can settle.
type SupportedResponse struct {
	Kinds      []SupportedKind     `json:"kinds"`
	Extensions []string            `json:"extensions"`
	Signers    map[string][]string `json:"signers"` // by pattern of network, such as eip155:*
}

// SupportedKind is one combination of version, scheme and network.
type SupportedKind struct {
	X402Version int             `json:"x402Version"`
	Scheme      string          `json:"scheme"`
	Network     string          `json:"network"`
	Extra       json.RawMessage `json:"extra,omitempty"`
}

// Supports reports whether payments of this scheme on this network, in the
// version that is spoken here, can be settled.
func (s SupportedResponse) Supports(scheme, network string) bool {
	for _, k := range s.Kinds {
		if k.X402Version == Version && k.Scheme == scheme && k.Network == network {
			return true
		}
	}
	return false
}
