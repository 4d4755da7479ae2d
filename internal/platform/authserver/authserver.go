// Package authserver lets MCP clients in without a pasted key: it is the OAuth 2.1
// authorization server of the platform, for its MCP server alone.
//
//	client id: the URL of a document (client id metadata document), or what Register
//	           returned, which holds the registration sealed: nothing is stored
//	Read(request)     -> client, exact redirect URI, PKCE S256, resource     invalid_client, …
//	consent page      -> Approve: a code, for one minute and one use
//	Exchange(code)    -> an API key with an expiry and an audience, and a refresh token
//	Refresh(token)    -> both are replaced; an older refresh token ends the grant
//	Revoke(token)     -> the key is revoked
//
// A grant is an API key (package apikey): permissions, restrictions, limits, audit
// and revocation are those of keys. One row beside it holds the digests of the
// current refresh token and of the one before. A successor follows from the
// token that it replaces, so that two processes of a client, or a client whose
// answer was lost, get the same one within RepeatWithin.
//
// Rules: OAuth 2.1 (draft-ietf-oauth-v2-1-13), RFC 7591, 7636, 8252, 8707, 9207,
// draft-ietf-oauth-client-id-metadata-document-00, and the chapter Authorization of
// the Model Context Protocol, 2025-11-25.
package authserver

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
)

// Lifetimes.
const (
	CodeLifetime    = time.Minute
	TokenLifetime   = time.Hour           // of an access token
	RefreshLifetime = 60 * 24 * time.Hour // of a refresh token that is not used
	ConsentLifetime = 15 * time.Minute    // of a consent page
	// RepeatWithin is how long a refresh token that was used returns the same
	// successor again.
	RepeatWithin = 30 * time.Second
	// noticeFor is how long a code that was used ends its grant when it is
	// presented again.
	noticeFor = 10 * time.Minute
)

// Consent is what a person approved, and for whom.
type Consent struct {
	ClientID    string             `json:"client_id"`
	ClientName  string             `json:"client_name"`
	ClientHost  string             `json:"client_host"`
	RedirectURI string             `json:"redirect_uri"`
	Challenge   string             `json:"challenge"`
	AccountID   string             `json:"account_id"`
	User        audit.Actor        `json:"user"`
	Permissions apikey.Permissions `json:"permissions"`
	Approval    apikey.Approval    `json:"approval"`
	ExpiresAt   time.Time          `json:"expires_at,omitzero"` // of the grant; zero: never
}

// Grant is what a client holds, beside its key.
type Grant struct {
	Key       *apikey.Key
	ClientID  string
	Refresh   string // digest of the refresh token
	Previous  string // digest of the one before; empty: none
	RotatedAt time.Time
	ExpiresAt time.Time // of the refresh token
}

// Rotation replaces the tokens of a grant.
type Rotation struct {
	KeyID        string
	From, To     string // digests of refresh tokens
	Access       string // digest of the access token
	Prefix       string // of the access token
	Last4        string
	At           time.Time
	TokenExpires time.Time
	ExpiresAt    time.Time // of the refresh token
}

// Store stores codes and grants.
type Store interface {
	// InsertCode stores what a code stands for, and deletes some expired codes.
	InsertCode(ctx context.Context, digest string, c *Consent, now, expires time.Time) error
	// TakeCode uses a code up for a key of an id, and returns nil where there is no
	// such code. Of a code that was used before, it returns the earlier key id, and
	// forgets the code, so that InsertGrant no longer succeeds. The code is noticed
	// until notice.
	TakeCode(ctx context.Context, digest, keyID string, now, notice time.Time) (c *Consent, usedFor string, err error)
	// InsertGrant stores the key and the grant that a code became, in one
	// transaction. Returns false where the code was presented again meanwhile.
	InsertGrant(ctx context.Context, code string, g *Grant, access string, e audit.Entry) (bool, error)
	// Grant returns the grant of a key; nil where there is none, or where the
	// account is disabled.
	Grant(ctx context.Context, keyID string) (*Grant, error)
	// GrantByAccess returns the grant whose key has the digest of an access token.
	GrantByAccess(ctx context.Context, digest string) (*Grant, error)
	// Rotate replaces the tokens of a grant of a key that works, if its refresh
	// token is still r.From, and reports whether it did: of two callers one does.
	Rotate(ctx context.Context, r *Rotation) (bool, error)
}

// Documents fetches client id metadata documents.
type Documents interface {
	// Fetch returns the document at a URL, without following redirects. Its problem
	// is invalid_client.
	Fetch(ctx context.Context, url string) ([]byte, error)
}

// Sealer encrypts registrations, and makes keyed digests.
type Sealer interface {
	Seal(plain []byte, at seal.Place) (string, error)
	Open(text string, at seal.Place) ([]byte, error)
	MAC(label string, parts ...[]byte) string
}

// Service is the authorization server. It is safe for concurrent use.
type Service struct {
	store     Store
	keys      *apikey.Service
	documents Documents
	sealer    Sealer
	resource  string
}

// New returns the authorization server of the MCP server at resource, a URL.
func New(store Store, keys *apikey.Service, documents Documents, sealer Sealer, resource string) *Service {
	return &Service{store: store, keys: keys, documents: documents, sealer: sealer, resource: resource}
}

// checkResource returns invalid_target for a resource that is not ours. Clients
// name the URL that they were set up with, which may select tools by its query.
func (s *Service) checkResource(resource string) error {
	if resource == "" { // clients of 2025-03-26 and before name none; the token is bound all the same
		return nil
	}
	u, err := url.Parse(resource)
	if err == nil && u.Fragment == "" && u.User == nil {
		u.RawQuery, u.ForceQuery = "", false
		if u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host); strings.TrimSuffix(u.String(),
			"/") == s.resource {
			return nil
		}
	}
	return problem.New(problem.Invalid, "invalid_target",
		"This server gives access to its own MCP endpoint only. Name that URL as resource.")
}

// token returns a token of a kind, with what shows that it comes from here: of
// tokens that are no longer stored it is known, too.
func (s *Service) token(prefix, secret, keyID string) string {
	body := prefix + secret + "." + strings.TrimPrefix(keyID, "key_")
	return body + "." + s.sealer.MAC("refresh token tag", []byte(body))[:22]
}

// keyOf returns the key id of a refresh token; ok reports whether it was issued
// here at some time.
func (s *Service) keyOf(refresh string) (keyID string, ok bool) {
	cut := strings.LastIndexByte(refresh, '.')
	if cut < 0 || !strings.HasPrefix(refresh, refreshPrefix) || len(refresh) > 200 {
		return "", false
	}
	body := refresh[:cut]
	tag := s.sealer.MAC("refresh token tag", []byte(body))[:22]
	if subtle.ConstantTimeCompare([]byte(tag), []byte(refresh[cut+1:])) != 1 {
		return "", false
	}
	return "key_" + body[strings.LastIndexByte(body, '.')+1:], true
}

func (s *Service) refreshDigest(refresh string) string {
	return s.sealer.MAC("refresh token", []byte(refresh))
}

func (s *Service) codeDigest(code string) string {
	return s.sealer.MAC("authorization code", []byte(code))
}

// Beginnings of what clients hold, for scanners for lost secrets.
const (
	codePrefix    = "acec_"
	refreshPrefix = "acer_"
)

// s256 reports whether text has the shape of a SHA-256 in base64url.
func s256(text string) bool {
	sum, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(sum) == 32
}
