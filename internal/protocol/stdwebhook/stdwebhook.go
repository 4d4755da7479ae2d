// Package stdwebhook signs and verifies webhooks by Standard Webhooks 1.0.0
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md),
// the symmetric scheme v1.
//
//	sign:    Sign(header, secrets, id, at, payload)
//	             webhook-id, webhook-timestamp, webhook-signature: v1,… v1,…
//	send:    Sender.Send(ctx, message) -> Attempt: status, duration, beginning of the response
//	verify:  Verify(header, secrets, payload, now)
//	             same id on every attempt: the receiver drops what it has seen
//
// While a secret is being replaced, the sender signs with the new and the old
// one, and the receiver accepts either.
//
// # Where we diverge
//
//   - The asymmetric scheme v1a is neither signed nor verified; its signatures
//     are skipped.
//   - Secrets have 24 to 64 bytes, as the specification says; the reference
//     libraries accept any length.
//   - Ids of ours contain no full stop, which separates the signed parts.
package stdwebhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The headers of a webhook.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// Tolerance is how far the timestamp may be from the receiver's clock.
const Tolerance = 300 * time.Second

// Limits.
const (
	MinSecret     = 24 // bytes
	MaxSecret     = 64 // bytes
	MaxID         = 255
	maxSignatures = 16 // signatures in one header that are looked at
	secretPrefix  = "whsec_"
	scheme        = "v1"
)

// What is wrong with a webhook or a secret. The errors of this package wrap one
// of them.
var (
	ErrSecret    = errors.New("unusable webhook secret")
	ErrHeaders   = errors.New("missing or malformed webhook headers")
	ErrTimestamp = errors.New("webhook timestamp out of tolerance")
	ErrSignature = errors.New("no webhook signature matches")
)

// Secret is a shared key. Its text is shown by Reveal alone.
type Secret struct{ key []byte }

// NewSecret returns a random secret of 32 bytes.
func NewSecret() Secret {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return Secret{key: key}
}

// SecretOf is the secret of a key that its owner derives.
func SecretOf(key [32]byte) Secret { return Secret{key: key[:]} }

// ParseSecret reads whsec_ and the base64 of 24 to 64 bytes; the prefix may be
// missing. The error wraps ErrSecret.
func ParseSecret(text string) (Secret, error) {
	key, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(text, secretPrefix))
	if err != nil {
		return Secret{}, fmt.Errorf("%w: it is not %s and base64", ErrSecret, secretPrefix)
	}
	if len(key) < MinSecret || len(key) > MaxSecret {
		return Secret{}, fmt.Errorf("%w: it has %d bytes, not %d to %d", ErrSecret, len(key), MinSecret, MaxSecret)
	}
	return Secret{key: key}, nil
}

// Reveal is the text of the secret: whsec_ and base64.
func (s Secret) Reveal() string { return secretPrefix + base64.StdEncoding.EncodeToString(s.key) }

// String hides the secret.
func (s Secret) String() string { return secretPrefix + "…" }

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return "stdwebhook.Secret(" + s.String() + ")" }

// LogValue hides the secret from logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

func (s Secret) mac(id, timestamp string, payload []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(id + "." + timestamp + "."))
	h.Write(payload)
	return h.Sum(nil)
}

// Sign sets the three headers of a webhook: one signature for each secret, the
// newest first. id is the same on every attempt of one message; at is the time
// of this attempt. The errors wrap ErrSecret or ErrHeaders.
func Sign(h http.Header, secrets []Secret, id string, at time.Time, payload []byte) error {
	if !validID(id) || strings.Contains(id, ".") {
		return fmt.Errorf("%w: an id has 1 to %d visible characters without a full stop", ErrHeaders, MaxID)
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, 0, len(secrets))
	for _, s := range secrets {
		if len(s.key) == 0 {
			return fmt.Errorf("%w: it is empty", ErrSecret)
		}
		signatures = append(signatures, scheme+","+base64.StdEncoding.EncodeToString(s.mac(id, timestamp, payload)))
	}
	if len(signatures) == 0 {
		return fmt.Errorf("%w: there is none", ErrSecret)
	}
	h.Set(HeaderID, id)
	h.Set(HeaderTimestamp, timestamp)
	h.Set(HeaderSignature, strings.Join(signatures, " "))
	return nil
}

// Delivery is what is known of a webhook that has been verified.
type Delivery struct {
	ID string // drop what was seen before
	At time.Time
}

// Verify checks that one of the secrets signed the payload, the bytes as they
// came, within Tolerance of now. The errors wrap ErrHeaders, ErrTimestamp or
// ErrSignature.
func Verify(h http.Header, secrets []Secret, payload []byte, now time.Time) (Delivery, error) {
	id, timestamp, signatures, err := readHeaders(h)
	if err != nil {
		return Delivery{}, err
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return Delivery{}, fmt.Errorf("%w: the timestamp is not Unix seconds", ErrHeaders)
	}
	at := time.Unix(seconds, 0)
	if distance := now.Sub(at); distance > Tolerance || distance < -Tolerance {
		return Delivery{}, ErrTimestamp
	}
	for _, s := range secrets {
		if len(s.key) == 0 {
			continue
		}
		want := s.mac(id, timestamp, payload)
		if slices.ContainsFunc(signatures, func(got []byte) bool { return hmac.Equal(got, want) }) {
			return Delivery{ID: id, At: at}, nil
		}
	}
	return Delivery{}, ErrSignature
}

// readHeaders returns the headers, each of which may be there once, and the
// signatures of scheme v1.
func readHeaders(h http.Header) (id, timestamp string, signatures [][]byte, err error) {
	values := make([]string, 0, 3)
	for _, name := range []string{HeaderID, HeaderTimestamp, HeaderSignature} {
		lines := h.Values(name)
		if len(lines) != 1 || lines[0] == "" {
			return "", "", nil, fmt.Errorf("%w: %s has to be there once", ErrHeaders, strings.ToLower(name))
		}
		values = append(values, lines[0])
	}
	if !validID(values[0]) {
		return "", "", nil, fmt.Errorf("%w: webhook-id", ErrHeaders)
	}
	for i, word := range strings.Fields(values[2]) {
		if i == maxSignatures {
			break
		}
		name, text, _ := strings.Cut(word, ",")
		if name != scheme {
			continue
		}
		if mac, err := base64.StdEncoding.DecodeString(text); err == nil {
			signatures = append(signatures, mac)
		}
	}
	return values[0], values[1], signatures, nil
}

func validID(id string) bool {
	for _, c := range []byte(id) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return id != "" && len(id) <= MaxID
}
