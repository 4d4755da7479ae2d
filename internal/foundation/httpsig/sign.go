package httpsig

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/asn1"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"time"

	"github.com/dunglas/httpsfv"
)

// Signer signs with one private key.
type Signer struct {
	key crypto.Signer
	jwk JWK
	alg string
}

// NewSigner returns a signer for an Ed25519 key or an ECDSA key on P-256; the
// key may live in a key service. The error wraps ErrAlgorithm or ErrKey.
func NewSigner(key crypto.Signer) (*Signer, error) {
	alg, err := Algorithm(key.Public())
	if err != nil {
		return nil, err
	}
	if alg == AlgRSAPSS {
		return nil, fmt.Errorf("%w: RSA keys only verify here", ErrAlgorithm)
	}
	jwk, err := NewJWK(key.Public())
	if err != nil {
		return nil, err
	}
	return &Signer{key: key, jwk: jwk, alg: alg}, nil
}

// JWK is the public key to publish. Its KID is what signatures name.
func (s *Signer) JWK() JWK { return s.jwk }

// Alg is the name of the signer's algorithm in RFC 9421.
func (s *Signer) Alg() string { return s.alg }

// LogValue keeps the private key out of logs.
func (s *Signer) LogValue() slog.Value { return slog.StringValue("httpsig.Signer(" + s.jwk.KID + ")") }

// Sign signs components of a message and adds the fields Signature-Input and
// Signature to its header under label, beside those that are there. A message
// with a body needs its Content-Digest before. KeyID is the signer's where it
// is ""; Alg is written where it is given. The errors wrap ErrComponent,
// ErrAlgorithm or ErrMalformed.
func (s *Signer) Sign(m *Message, label string, components []Component, p Params) error {
	if p.KeyID == "" {
		p.KeyID = s.jwk.KID
	}
	if p.Alg != "" && p.Alg != s.alg {
		return fmt.Errorf("%w: the key signs with %s", ErrAlgorithm, s.alg)
	}
	signature := Signature{Components: components, list: httpsfv.InnerList{Params: p.sfv()}}
	for _, c := range components {
		signature.list.Items = append(signature.list.Items, c.item())
	}
	base, err := signature.Base(m)
	if err != nil {
		return err
	}
	value, err := s.sign(rand.Reader, []byte(base))
	if err != nil {
		return fmt.Errorf("signing a message: %w", err)
	}
	return attach(m, label, signature.list, value)
}

// SignBytes signs data that is no message, as a JSON Web Signature with the
// alg of the signer's JWK writes it (RFC 7518 section 3.4, RFC 8037). The same
// key and data give the same signature where the key is in this process, so
// that replicas publish the same bytes.
func (s *Signer) SignBytes(data []byte) ([]byte, error) {
	random := rand.Reader
	if _, ok := s.key.(*ecdsa.PrivateKey); ok {
		random = nil // as RFC 6979 says
	}
	value, err := s.sign(random, data)
	if err != nil {
		return nil, fmt.Errorf("signing data: %w", err)
	}
	return value, nil
}

func (s *Signer) sign(random io.Reader, data []byte) ([]byte, error) {
	if s.alg == AlgEd25519 {
		return s.key.Sign(random, data, crypto.Hash(0))
	}
	sum := sha256.Sum256(data)
	der, err := s.key.Sign(random, sum[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	var pair struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &pair); err != nil || len(rest) > 0 || pair.R.BitLen() > 256 ||
		pair.S.BitLen() > 256 {
		return nil, fmt.Errorf("%w: the key made an unreadable signature", ErrAlgorithm)
	}
	value := make([]byte, 64)
	pair.R.FillBytes(value[:32])
	pair.S.FillBytes(value[32:])
	return value, nil
}

// sfv writes the parameters in the order that is usual.
func (p Params) sfv() *httpsfv.Params {
	params := httpsfv.NewParams()
	for _, moment := range []struct {
		name string
		at   time.Time
	}{{"created", p.Created}, {"expires", p.Expires}} {
		if !moment.at.IsZero() {
			params.Add(moment.name, moment.at.Unix())
		}
	}
	for _, text := range []struct{ name, value string }{
		{"keyid", p.KeyID},
		{"alg", p.Alg},
		{"nonce", p.Nonce},
		{"tag", p.Tag},
	} {
		if text.value != "" {
			params.Add(text.name, text.value)
		}
	}
	return params
}

func attach(m *Message, label string, list httpsfv.InnerList, value []byte) error {
	input, signature := httpsfv.NewDictionary(), httpsfv.NewDictionary()
	input.Add(label, list)
	signature.Add(label, httpsfv.NewItem(value))
	inputText, err := httpsfv.Marshal(input)
	if err != nil {
		return fmt.Errorf("%w: label %q or a parameter cannot be written", ErrMalformed, label)
	}
	signatureText, err := httpsfv.Marshal(signature)
	if err != nil {
		return fmt.Errorf("%w: label %q cannot be written", ErrMalformed, label)
	}
	m.Header.Add(HeaderSignatureInput, inputText)
	m.Header.Add(HeaderSignature, signatureText)
	return nil
}
