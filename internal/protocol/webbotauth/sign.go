package webbotauth

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ace/internal/foundation/httpsig"
)

// TagDirectory marks the signatures of a key directory.
const TagDirectory = "http-message-signatures-directory"

// How long our own signatures are valid. A directory's signature outlasts every cache; it changes
// once an hour, so that the responses of an hour are equal.
const (
	requestLife   = 5 * time.Minute
	directoryLife = 7 * 24 * time.Hour
	directoryAge  = 24 * time.Hour
	directoryStep = time.Hour
)

// OwnKey is a current, previous or future signing key of ours.
type OwnKey struct {
	Signer *httpsig.Signer
	// NotBefore and Expires are published in the directory. Zero: no limit.
	NotBefore, Expires time.Time
}

// Identity is our own identity as an agent: an origin and its keys.
type Identity struct {
	*OwnDirectory

	origin string
}

// NewIdentity returns the identity of an https origin. The first key signs requests; the others are
// published as well, for rotation.
func NewIdentity(origin string, keys ...OwnKey) (*Identity, error) {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("the identity %q is not an https origin", origin)
	}
	authority := strings.TrimSuffix(strings.ToLower(u.Host), ":443")
	directory, err := NewDirectory(authority, keys...)
	if err != nil {
		return nil, err
	}
	return &Identity{directory, "https://" + authority}, nil
}

// OwnDirectory is the signed directory of our own keys.
type OwnDirectory struct {
	authority string
	keys      []OwnKey
	body      []byte
	digest    string
}

// NewDirectory returns the directory of 1 to 4 keys for a host as in requests: without the default
// port of its scheme.
func NewDirectory(authority string, keys ...OwnKey) (*OwnDirectory, error) {
	if len(keys) == 0 || len(keys) > httpsig.MaxLabels {
		return nil, fmt.Errorf("an identity has from 1 to %d keys", httpsig.MaxLabels)
	}
	d := &OwnDirectory{authority: authority, keys: keys}
	var set struct {
		Keys []ownKey `json:"keys"`
	}
	for _, k := range keys {
		if k.Signer == nil {
			return nil, errors.New("an identity needs signers")
		}
		jwk := k.Signer.JWK()
		set.Keys = append(set.Keys,
			ownKey{jwk.Kty, jwk.Crv, jwk.KID, jwk.X, jwk.Y, "sig", unix(k.NotBefore), unix(k.Expires)})
	}
	var err error
	if d.body, err = json.Marshal(set); err != nil {
		return nil, fmt.Errorf("writing the key directory: %w", err)
	}
	d.digest = httpsig.ContentDigest(d.body)
	return d, nil
}

// ownKey is a key with its fields in the order that the draft prints.
type ownKey struct {
	Kty       string `json:"kty"`
	Crv       string `json:"crv"`
	KID       string `json:"kid"`
	X         string `json:"x"`
	Y         string `json:"y,omitempty"`
	Use       string `json:"use"`
	NotBefore int64  `json:"nbf,omitempty"`
	Expires   int64  `json:"exp,omitempty"`
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// Sign signs an outbound request: it sets Signature-Agent, Signature-Input and Signature, for five
// minutes. Existing values are replaced.
func (id *Identity) Sign(r *http.Request, now time.Time) error {
	nonce := make([]byte, 64)
	_, _ = rand.Read(nonce) // never fails
	for _, name := range []string{HeaderSignatureAgent, httpsig.HeaderSignatureInput, httpsig.HeaderSignature} {
		r.Header.Del(name)
	}
	r.Header.Set(HeaderSignatureAgent, `sig1="`+id.origin+`"`)
	components := []httpsig.Component{httpsig.Field("@authority"), {Name: "signature-agent", Key: "sig1"}}
	return id.keys[0].Signer.Sign(httpsig.RequestMessage(r, r.URL.Scheme), "sig1", components, httpsig.Params{
		Created: now, Expires: now.Add(requestLife), Nonce: base64.StdEncoding.EncodeToString(nonce), Tag: Tag,
	})
}

// Directory returns our key directory, signed with each key, for the request GET DirectoryPath. The
// body never changes; the signatures change once an hour.
func (d *OwnDirectory) Directory(now time.Time) (http.Header, []byte, error) {
	h := http.Header{}
	h.Set("Content-Type", MediaType)
	h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(directoryAge.Seconds())))
	h.Set(httpsig.HeaderContentDigest, d.digest)
	created := now.Truncate(directoryStep)
	for i, k := range d.keys {
		if err := SignDirectory(k.Signer, h, d.authority, fmt.Sprintf("sig%d", i+1), created,
			created.Add(directoryLife)); err != nil {
			return nil, nil, err
		}
	}
	return h, d.body, nil
}

// SignDirectory signs the header of a key directory response, which already has its Content-Digest,
// and binds it to its authority: a copy on another host does not verify.
func SignDirectory(s *httpsig.Signer, h http.Header, authority, label string, created, expires time.Time) error {
	answer := httpsig.ResponseMessage(http.StatusOK,
		h, &httpsig.Message{Method: http.MethodGet, Scheme: "https", Authority: authority, Path: DirectoryPath})
	components := []httpsig.Component{{Name: "@authority", Req: true}, httpsig.Field(httpsig.HeaderContentDigest)}
	if err := s.Sign(answer, label, components,
		httpsig.Params{Created: created, Expires: expires, Tag: TagDirectory}); err != nil {
		return fmt.Errorf("signing the key directory: %w", err)
	}
	return nil
}
