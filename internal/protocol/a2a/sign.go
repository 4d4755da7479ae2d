package a2a

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/jcs"
	"ace/internal/foundation/jws"
)

// ErrSignature is wrapped by errors about the signatures of a card.
var ErrSignature = errors.New("the agent card is not signed by a known key")

// protectedHeader is the JOSE header of a signature.
type protectedHeader struct {
	Alg  string          `json:"alg"`
	Typ  string          `json:"typ"`
	KID  string          `json:"kid"`
	JKU  string          `json:"jku,omitempty"`
	Crit json.RawMessage `json:"crit,omitempty"`
}

// Sign returns the card with an added signature. jku is the URL of a JWK Set that contains the key;
// it may be "".
func (c Card) Sign(signer *httpsig.Signer, jku string) (Card, error) {
	text, err := encode(c)
	if err != nil {
		return c, err
	}
	payload, err := CanonicalCard(text)
	if err != nil {
		return c, err
	}
	key := signer.JWK()
	header := map[string]any{"typ": "JOSE", "kid": key.KID}
	if jku != "" {
		header["jku"] = jku
	}
	signed, err := jws.Sign(key.Alg, signer, header, payload)
	if err != nil {
		return c, fmt.Errorf("signing the agent card: %w", err)
	}
	c.Signatures = append(slices.Clip(c.Signatures),
		CardSignature{Protected: signed.Protected, Signature: signed.Value})
	return c, nil
}

// signingInput is the input of a JSON Web Signature (RFC 7515 section 5.1).
func signingInput(protected string, payload []byte) []byte {
	return []byte(protected + "." + base64.RawURLEncoding.EncodeToString(payload))
}

// VerifyCard checks that one of the signatures of a card is valid and by a known key. key returns
// the key with that id, and decides whether the URL jku is trusted. The key must be Ed25519 or
// P-256. The errors wrap ErrSignature.
func VerifyCard(card []byte, key func(kid, jku string) (crypto.PublicKey, error)) error {
	var signed struct {
		Signatures []CardSignature `json:"signatures"`
	}
	if err := json.Unmarshal(card, &signed); err != nil {
		return fmt.Errorf("%w: it is not a card", ErrSignature)
	}
	payload, err := CanonicalCard(card)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSignature, err)
	}
	failed := fmt.Errorf("%w: there is no signature", ErrSignature)
	for i, s := range signed.Signatures {
		if i == httpsig.MaxKeys {
			break
		}
		if failed = verify(s, payload, key); failed == nil {
			return nil
		}
	}
	return failed
}

func verify(s CardSignature, payload []byte, key func(kid, jku string) (crypto.PublicKey, error)) error {
	header, err := readHeader(s.Protected)
	if err != nil {
		return err
	}
	value, err := base64.RawURLEncoding.Strict().DecodeString(s.Signature)
	if err != nil {
		return fmt.Errorf("%w: the signature is not base64url", ErrSignature)
	}
	public, err := key(header.KID, header.JKU)
	if err != nil {
		return fmt.Errorf("%w: finding its key: %w", ErrSignature, err)
	}
	if algorithm(public) != header.Alg {
		return fmt.Errorf("%w: alg does not match the key", ErrSignature)
	}
	if err := httpsig.VerifyBytes(public, signingInput(s.Protected, payload), value); err != nil {
		return fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return nil
}

func readHeader(protected string) (protectedHeader, error) {
	var header protectedHeader
	text, err := base64.RawURLEncoding.Strict().DecodeString(protected)
	if err != nil || json.Unmarshal(text, &header) != nil {
		return header, fmt.Errorf("%w: the protected header cannot be read", ErrSignature)
	}
	if header.KID == "" || header.Typ == "" || header.Crit != nil {
		return header, fmt.Errorf("%w: the protected header needs kid and typ, and may have no crit", ErrSignature)
	}
	return header, nil
}

// algorithm returns the only alg that a key may be used with, or "" for other keys.
func algorithm(public crypto.PublicKey) string {
	switch public.(type) {
	case ed25519.PublicKey:
		return "EdDSA"
	case *ecdsa.PublicKey:
		return "ES256"
	}
	return ""
}

// CanonicalCard returns the text of a card that signatures cover: RFC 8785, without the signatures
// and without empty fields.
func CanonicalCard(card []byte) ([]byte, error) {
	if _, err := jcs.Canonical(card); err != nil { // valid, and each field once
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(card))
	dec.UseNumber()
	var tree map[string]any
	if err := dec.Decode(&tree); err != nil || tree == nil {
		return nil, fmt.Errorf("%w: a card is an object", jcs.ErrInvalid)
	}
	delete(tree, "signatures")
	if capabilities, ok := tree["capabilities"].(map[string]any); ok {
		extensions, _ := capabilities["extensions"].([]any)
		for _, e := range extensions {
			// The other flags of a card distinguish absent from false; this one does not.
			if extension, ok := e.(map[string]any); ok && extension["required"] == false {
				delete(extension, "required")
			}
		}
	}
	said, _ := meaningful(tree).(map[string]any)
	if said == nil {
		said = map[string]any{}
	}
	text, err := json.Marshal(said)
	if err != nil {
		return nil, fmt.Errorf("writing the card: %w", err)
	}
	return jcs.Canonical(text)
}

// meaningful removes null, empty strings, arrays and objects, at every depth; it returns nil if
// nothing is left.
func meaningful(value any) any {
	switch v := value.(type) {
	case string:
		if v == "" {
			return nil
		}
	case []any:
		rest := make([]any, 0, len(v))
		for _, inner := range v {
			if inner = meaningful(inner); inner != nil {
				rest = append(rest, inner)
			}
		}
		if len(rest) == 0 {
			return nil
		}
		return rest
	case map[string]any:
		rest := make(map[string]any, len(v))
		for name, inner := range v {
			if inner = meaningful(inner); inner != nil {
				rest[name] = inner
			}
		}
		if len(rest) == 0 {
			return nil
		}
		return rest
	}
	return value
}
