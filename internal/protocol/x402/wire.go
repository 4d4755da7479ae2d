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

// Version is the supported version of the protocol.
const Version = 2

// SchemeExact is the scheme of a payment of the exact amount.
const SchemeExact = "exact"

// PaymentRequired is a quote: the price and the accepted payments.
type PaymentRequired struct {
	X402Version int                   `json:"x402Version"`
	Error       string                `json:"error,omitempty"` // why the payment is required, or refused
	Resource    ResourceInfo          `json:"resource"`
	Accepts     []PaymentRequirements `json:"accepts"` // in order of preference
	Extensions  map[string]Extension  `json:"extensions,omitempty"`
}

// ResourceInfo describes the resource to pay for.
type ResourceInfo struct {
	URL         string   `json:"url"`
	Description string   `json:"description,omitempty"` // at most 500 characters
	MimeType    string   `json:"mimeType,omitempty"`
	ServiceName string   `json:"serviceName,omitempty"` // at most 32 printable ASCII characters
	Tags        []string `json:"tags,omitempty"`        // at most 5, each like a service name
	IconURL     string   `json:"iconUrl,omitempty"`     // at most 2,048 characters
}

// PaymentRequirements is one accepted kind of payment.
type PaymentRequirements struct {
	Scheme            string         `json:"scheme"`
	Network           string         `json:"network"` // CAIP-2, for example eip155:8453
	Amount            string         `json:"amount"`  // atomic units, decimal digits
	Asset             string         `json:"asset"`   // address of the token
	PayTo             string         `json:"payTo"`   // address of the receiver
	MaxTimeoutSeconds int            `json:"maxTimeoutSeconds"`
	Extra             map[string]any `json:"extra,omitempty"` // name and version of the token's EIP-712 domain
}

// Domain returns name and version of the token, which its signatures cover.
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

// PaymentPayload is a payer's payment for a quote: the accepted requirements and the signed
// authorization. Parse it with ReadPayload; its JSON is then the original text, so that a
// facilitator sees exactly what the payer sent.
type PaymentPayload struct {
	Resource      *ResourceInfo // the resource that the payer intends to pay for, or nil
	Accepted      PaymentRequirements
	Authorization Authorization
	Signature     string // 0x and hex: 65 bytes of an account, or the signature of a contract wallet
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

// Deadline returns the time from which the authorization is void. A time after the year 9999 is its
// last second.
func (a Authorization) Deadline() time.Time {
	const last = 253402300799
	seconds, err := strconv.ParseInt(a.ValidBefore, 10, 64)
	if err != nil {
		seconds = math.MaxInt64
	}
	return time.Unix(min(seconds, last), 0).UTC()
}

// Key identifies an authorization: the token contract accepts each only once. All fields are lower
// case.
type Key struct{ Network, Asset, Payer, Nonce string }

// Key returns the key of the payload's authorization.
func (p PaymentPayload) Key() Key {
	return Key{
		Network: strings.ToLower(p.Accepted.Network), Asset: strings.ToLower(p.Accepted.Asset),
		Payer: strings.ToLower(p.Authorization.From), Nonce: strings.ToLower(p.Authorization.Nonce),
	}
}

// Same reports whether both payloads contain the same signed authorization for the same token.
func (p PaymentPayload) Same(other *PaymentPayload) bool {
	return p.Key() == other.Key() && strings.EqualFold(p.Authorization.To, other.Authorization.To) &&
		p.Authorization.Value == other.Authorization.Value &&
		p.Authorization.ValidAfter == other.Authorization.ValidAfter &&
		p.Authorization.ValidBefore == other.Authorization.ValidBefore && strings.EqualFold(p.Signature,
		other.Signature)
}

// MarshalJSON returns the parsed text, or encodes a payload that we created.
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

// UnmarshalJSON calls ReadPayload.
func (p *PaymentPayload) UnmarshalJSON(data []byte) error {
	read, err := ReadPayload(data)
	if err == nil {
		*p = *read
	}
	return err
}

// String describes the payload without its signature.
func (p PaymentPayload) String() string {
	k := p.Key()
	return fmt.Sprintf("payment of %s on %s, nonce %s", k.Payer, k.Network, k.Nonce)
}

// Format prints String for every verb, so that none shows the signature.
func (p PaymentPayload) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(p.String())) }

// LogValue keeps the signature out of logs.
func (p PaymentPayload) LogValue() slog.Value { return slog.StringValue(p.String()) }

// FacilitatorRequest is the body of a facilitator's /verify and /settle.
type FacilitatorRequest struct {
	X402Version  int                 `json:"x402Version"`
	Payload      *PaymentPayload     `json:"paymentPayload"`
	Requirements PaymentRequirements `json:"paymentRequirements"`
}

// VerifyResponse is a facilitator's response about a payload before the work is done.
type VerifyResponse struct {
	IsValid        bool            `json:"isValid"`
	InvalidReason  Reason          `json:"invalidReason,omitempty"`
	InvalidMessage string          `json:"invalidMessage,omitempty"` // a facilitator's message; may contain internals
	Payer          string          `json:"payer,omitempty"`
	Extensions     json.RawMessage `json:"extensions,omitempty"`
	Extra          json.RawMessage `json:"extra,omitempty"`
}

// SettleResponse is a facilitator's response about the transfer. Success alone proves nothing: see
// Class.
type SettleResponse struct {
	Success      bool            `json:"success"`
	Transaction  string          `json:"transaction"` // hash; "" when none was sent
	Network      string          `json:"network"`
	Payer        string          `json:"payer,omitempty"`
	ErrorReason  Reason          `json:"errorReason,omitempty"`
	ErrorMessage string          `json:"errorMessage,omitempty"` // a facilitator's message; may contain internals
	Amount       string          `json:"amount,omitempty"`
	Extensions   json.RawMessage `json:"extensions,omitempty"`
	Extra        json.RawMessage `json:"extra,omitempty"`
}

// SupportedResponse lists what a facilitator can settle.
type SupportedResponse struct {
	Kinds      []SupportedKind     `json:"kinds"`
	Extensions []string            `json:"extensions"`
	Signers    map[string][]string `json:"signers"` // by network pattern, such as eip155:*
}

// SupportedKind is one combination of version, scheme and network.
type SupportedKind struct {
	X402Version int             `json:"x402Version"`
	Scheme      string          `json:"scheme"`
	Network     string          `json:"network"`
	Extra       json.RawMessage `json:"extra,omitempty"`
}

// Supports reports whether payments of this scheme on this network, in the supported version, can
// be settled.
func (s SupportedResponse) Supports(scheme, network string) bool {
	for _, k := range s.Kinds {
		if k.X402Version == Version && k.Scheme == scheme && k.Network == network {
			return true
		}
	}
	return false
}
