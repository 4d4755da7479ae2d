package x402facilitator

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ace/internal/foundation/jws"
)

// Auth adds credentials to a request of a facilitator. Nil: none are needed.
type Auth interface {
	// Authorize sets the headers of a request that is ready to be sent.
	Authorize(r *http.Request) error
}

// bearer is a token that never changes.
type bearer struct{ token string }

// Bearer sends a token with every request.
func Bearer(token string) Auth { return bearer{token} }

// Authorize implements Auth.
func (b bearer) Authorize(r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+b.token)
	return nil
}

// Format hides the token.
func (b bearer) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("bearer token")) }

// tokenLife is how long a token of CDP is good, as its own clients choose.
const tokenLife = 2 * time.Minute

// cdp signs a token for each request, for Coinbase's facilitator.
type cdp struct {
	id  string
	key crypto.Signer
}

// CDP returns the credentials of a key of the Coinbase Developer Platform
// (https://docs.cdp.coinbase.com/api-reference/v2/authentication): secret is
// base64 of an Ed25519 key, or PEM of a P-256 key, whose line breaks may be
// written as \n. Each request gets a token of its own that is valid for two
// minutes and for this one address.
func CDP(keyID, secret string) (Auth, error) {
	secret = strings.TrimSpace(strings.ReplaceAll(secret, `\n`, "\n"))
	if keyID == "" {
		return nil, errors.New("the id of the CDP key is missing")
	}
	if !strings.HasPrefix(secret, "-----BEGIN") {
		data, err := base64.StdEncoding.DecodeString(secret)
		if err != nil || len(data) != ed25519.PrivateKeySize {
			return nil, errors.New("the secret of the CDP key is neither base64 of 64 bytes nor PEM")
		}
		key := ed25519.NewKeyFromSeed(data[:ed25519.SeedSize])
		if string(key) != string(data) {
			return nil, errors.New("the secret of the CDP key is damaged: its halves do not belong together")
		}
		return cdp{keyID, key}, nil
	}
	block, _ := pem.Decode([]byte(secret))
	if block == nil {
		return nil, errors.New("the PEM of the CDP key cannot be read")
	}
	key, err := parsePEM(block)
	if err != nil {
		// the cause may quote the key
		return nil, errors.New("the PEM of the CDP key holds no private key of P-256 or Ed25519")
	}
	return cdp{keyID, key}, nil
}

func parsePEM(block *pem.Block) (crypto.Signer, error) {
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return onP256(key)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	switch key := parsed.(type) {
	case *ecdsa.PrivateKey:
		return onP256(key)
	case ed25519.PrivateKey:
		return key, nil
	}
	return nil, errors.New("another kind of key")
}

func onP256(key *ecdsa.PrivateKey) (crypto.Signer, error) {
	if key.Curve != elliptic.P256() {
		return nil, errors.New("another curve")
	}
	return key, nil
}

// Format hides the key.
func (c cdp) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("CDP key " + c.id)) }

// Authorize implements Auth.
func (c cdp) Authorize(r *http.Request) error {
	token, err := c.token(r.Method+" "+r.URL.Host+r.URL.Path, time.Now())
	if err != nil {
		return fmt.Errorf("signing a token of CDP: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return nil
}

func (c cdp) token(use string, now time.Time) (string, error) {
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // never fails
	alg := jws.EdDSA
	if _, ok := c.key.(*ecdsa.PrivateKey); ok {
		alg = jws.ES256
	}
	return jws.Token(alg, c.key, map[string]any{"kid": c.id, "nonce": hex.EncodeToString(nonce[:])}, map[string]any{
		"sub": c.id, "iss": "cdp", "nbf": now.Unix(), "iat": now.Unix(), "exp": now.Add(tokenLife).Unix(),
		"uris": []string{use},
	})
}
