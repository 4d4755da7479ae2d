package authserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
)

// Tokens are what a client gets.
type Tokens struct {
	Access    string
	Refresh   string
	ExpiresIn time.Duration // of the access token
	Scope     string        // the permissions, with spaces between
}

// badGrant is the problem of codes and refresh tokens that do not work: all alike, so
// that nothing can be learned from it.
func badGrant() error {
	return problem.New(
		problem.Invalid,
		"invalid_grant",
		"This code or refresh token does not work: it was used, has expired, was revoked or belongs to another "+
			"client. Sign in again.",
	)
}

// Code is a request for the first tokens.
type Code struct {
	ClientID, Code, Verifier string
	RedirectURI              string // empty: not sent, as OAuth 2.1 has it
	Resource                 string // empty: not sent
}

// Exchange returns the tokens of a code. A code that is presented a second time ends
// what it became; one that is presented wrongly is used up. The problems are
// invalid_grant, invalid_target and invalid_request (Invalid).
func (s *Service) Exchange(ctx context.Context, in Code, from string) (*Tokens, error) {
	if in.Code == "" || in.Verifier == "" {
		return nil, problem.New(problem.Invalid, "invalid_request", "Send code and code_verifier.")
	}
	if err := s.checkResource(in.Resource); err != nil {
		return nil, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	digest, keyID := s.codeDigest(in.Code), apikey.NewID()
	c, usedFor, err := s.store.TakeCode(ctx, digest, keyID, now, now.Add(noticeFor))
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, badGrant()
	case usedFor != "":
		return nil, s.end(ctx, c.AccountID, usedFor, from, "authorization code used twice")
	}
	sum := sha256.Sum256([]byte(in.Verifier))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	if subtle.ConstantTimeCompare([]byte(challenge), []byte(c.Challenge)) != 1 || in.ClientID != c.ClientID ||
		in.RedirectURI != "" && in.RedirectURI != c.RedirectURI {
		return nil, badGrant()
	}
	by := c.User
	by.IP = from
	access := apikey.Derive([]byte(rand.Text() + rand.Text()))
	key, entry, err := apikey.Prepare(by, c.AccountID, s.settings(c, keyID, now), access)
	if err != nil {
		return nil, err
	}
	refresh := s.token(refreshPrefix, rand.Text()+rand.Text(), keyID)
	stored, err := s.store.InsertGrant(ctx, digest, &Grant{
		Key: key, ClientID: c.ClientID, Refresh: s.refreshDigest(refresh), RotatedAt: now,
		ExpiresAt: earlier(now.Add(RefreshLifetime), key.ExpiresAt),
	}, apikey.Digest(s.sealer.MAC, access), entry)
	switch {
	case err != nil:
		return nil, err
	case !stored:
		return nil, badGrant()
	}
	return tokens(access, refresh, key.Permissions, key.Client.TokenExpires.Sub(now)), nil
}

func tokens(access, refresh string, permissions apikey.Permissions, expires time.Duration) *Tokens {
	return &Tokens{
		Access: access, Refresh: refresh, ExpiresIn: expires,
		Scope: strings.Join(permissions.Names(), " "),
	}
}

// end revokes the key of a grant that somebody else may hold, and returns
// invalid_grant.
func (s *Service) end(ctx context.Context, accountID, keyID, from, reason string) error {
	by := audit.System()
	by.IP = from
	err := s.keys.RevokeBecause(ctx, by, accountID, keyID, reason)
	if err != nil && !problem.Is(err, "api_key_not_found") { // not stored yet: TakeCode has seen to it
		return err
	}
	return badGrant()
}

// Renewal is a request for further tokens.
type Renewal struct {
	ClientID, Refresh string
	Scope, Resource   string // empty: not sent
}

// Refresh replaces the tokens of a grant. Within RepeatWithin, and as long as the
// successor was not used, the same token returns the same successor; after that
// it ends the grant. The problems are invalid_grant, invalid_scope, invalid_target and
// invalid_request (Invalid).
func (s *Service) Refresh(ctx context.Context, in Renewal, from string) (*Tokens, error) {
	if in.Refresh == "" {
		return nil, problem.New(problem.Invalid, "invalid_request", "Send refresh_token.")
	}
	if err := s.checkResource(in.Resource); err != nil {
		return nil, err
	}
	keyID, issued := s.keyOf(in.Refresh)
	if !issued {
		return nil, badGrant()
	}
	presented := s.refreshDigest(in.Refresh)
	// The second turn sees what another caller has stored since the first.
	for range 2 {
		now := time.Now().UTC().Truncate(time.Millisecond)
		g, err := s.store.Grant(ctx, keyID)
		switch {
		case err != nil:
			return nil, err
		case g == nil || g.ClientID != in.ClientID || !g.Key.Live(now) || !now.Before(g.ExpiresAt):
			return nil, badGrant()
		}
		for name := range strings.FieldsSeq(in.Scope) {
			if p, err := apikey.ParsePermissions([]string{name}); err == nil && !g.Key.Permissions.Has(p) {
				return nil, problem.New(problem.Invalid, "invalid_scope",
					"The person did not grant this permission. Sign in again to ask for it.")
			}
		}
		next, access := s.successor(in.Refresh, keyID)
		if presented == g.Previous && now.Sub(g.RotatedAt) < RepeatWithin && s.refreshDigest(next) == g.Refresh {
			return tokens(access, next, g.Key.Permissions, g.Key.Client.TokenExpires.Sub(now)), nil
		}
		if presented != g.Refresh {
			return nil, s.end(ctx, g.Key.AccountID, keyID, from, "refresh token used twice")
		}
		prefix, last4 := apikey.Shown(access)
		rotation := &Rotation{
			KeyID: keyID, From: presented, To: s.refreshDigest(next), Access: apikey.Digest(s.sealer.MAC, access),
			Prefix: prefix, Last4: last4, At: now, TokenExpires: tokenEnd(now, g.Key.ExpiresAt),
			ExpiresAt: earlier(now.Add(RefreshLifetime), g.Key.ExpiresAt),
		}
		rotated, err := s.store.Rotate(ctx, rotation)
		if err != nil {
			return nil, err
		}
		if rotated {
			return tokens(access, next, g.Key.Permissions, rotation.TokenExpires.Sub(now)), nil
		}
	}
	return nil, badGrant() // the key was revoked in between
}

// successor returns the tokens that follow a refresh token.
func (s *Service) successor(refresh, keyID string) (next, access string) {
	secret := s.sealer.MAC("next refresh token", []byte(refresh))
	return s.token(
			refreshPrefix,
			secret,
			keyID,
		), apikey.Derive(
			[]byte(s.sealer.MAC("next access token", []byte(refresh))),
		)
}

// Revoke ends the grant that an access or refresh token belongs to. A token that is
// not known, or that does not work any more, is no problem (RFC 7009, 2.2);
// invalid_grant is, for a token of another client.
func (s *Service) Revoke(ctx context.Context, clientID, token, from string) error {
	var g *Grant
	var err error
	if keyID, issued := s.keyOf(token); issued {
		g, err = s.store.Grant(ctx, keyID)
	} else if apikey.WellFormed(token) {
		g, err = s.store.GrantByAccess(ctx, apikey.Digest(s.sealer.MAC, token))
	}
	switch {
	case err != nil || g == nil:
		return err
	case g.ClientID != clientID:
		return badGrant()
	}
	by := audit.Actor{Kind: audit.ByKey, ID: g.Key.ID, Name: g.Key.Name, IP: from}
	return s.keys.RevokeBecause(ctx, by, g.Key.AccountID, g.Key.ID, "by the client")
}
