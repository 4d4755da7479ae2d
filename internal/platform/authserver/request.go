package authserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
)

// Request is a client's request for access that was checked.
type Request struct {
	ClientID    string             `json:"client_id"`
	ClientName  string             `json:"client_name"`
	Publisher   string             `json:"publisher"` // as Client.Publisher
	RedirectURI string             `json:"redirect_uri"`
	State       string             `json:"state"`
	Challenge   string             `json:"challenge"`
	Asked       apikey.Permissions `json:"asked"` // 0: the client does not say
	Query       string             `json:"query"` // as it came, to begin again
	Until       time.Time          `json:"until"`
}

// ReturnsTo is the host of the redirect URI, or the scheme of an app.
func (r *Request) ReturnsTo() string { return redirectHost(r.RedirectURI) }

// Read checks an authorization request. Where the client or its redirect URI is
// wrong, it returns no request: nobody may be sent there. Other problems come with a
// request that has RedirectURI and State, for the answer to the client:
// invalid_request, unsupported_response_type and invalid_target.
func (s *Service) Read(ctx context.Context, rawQuery string) (*Request, error) {
	refuse := func(detail string) error { return problem.New(problem.Invalid, "invalid_request", detail) }
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return nil, refuse("The query of this URL cannot be read.")
	}
	for _, name := range []string{"client_id", "redirect_uri"} {
		if len(query[name]) != 1 || query.Get(name) == "" {
			return nil, refuse("The request needs client_id and redirect_uri, each once.")
		}
	}
	client, err := s.Client(ctx, query.Get("client_id"))
	if err != nil {
		return nil, err
	}
	r := &Request{
		ClientID: client.ID, ClientName: client.Name, Publisher: client.Publisher,
		RedirectURI: query.Get("redirect_uri"), Query: rawQuery, Until: time.Now().Add(ConsentLifetime),
	}
	if !client.redirects(r.RedirectURI) {
		return nil, refuse("The client has not registered this redirect_uri.")
	}
	if len(query["state"]) == 1 {
		r.State = query.Get("state")
	}
	for name, values := range query {
		if len(values) > 1 {
			return r, refuse("A parameter is there twice: " + shownName(name) + ".")
		}
	}
	r.Challenge = query.Get("code_challenge")
	switch {
	case query.Get("response_type") != "code":
		return r, problem.New(problem.Invalid, "unsupported_response_type", "The response_type is code.")
	case len(query.Get("response_mode")) > 0 && query.Get("response_mode") != "query":
		return r, refuse("The response_mode is query.")
	case query.Get("code_challenge_method") != "S256" || !s256(r.Challenge):
		return r, refuse("PKCE is required: code_challenge with code_challenge_method=S256.")
	case query.Has("request") || query.Has("request_uri"):
		return r, refuse("Request objects are not read here. Send the parameters themselves.")
	}
	for name := range strings.FieldsSeq(query.Get("scope")) {
		if p, err := apikey.ParsePermissions([]string{name}); err == nil {
			r.Asked |= p // names that are not known here are ignored (RFC 6749, 3.3)
		}
	}
	return r, s.checkResource(query.Get("resource"))
}

func shownName(name string) string {
	return cleanName(strings.Trim(name, `"`))
}

// Seal returns the request for the form of a consent page: what the person sees is
// what is granted, whatever becomes of the client's document meanwhile.
func (s *Service) Seal(r *Request, sessionID string) (string, error) {
	plain, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encoding a request: %w", err)
	}
	return s.sealer.Seal(plain, requestPlace(sessionID))
}

// Unseal returns the request of a consent page that the same session was shown. Its
// problem is consent_expired (Gone).
func (s *Service) Unseal(text, sessionID string) (*Request, error) {
	expired := problem.New(problem.Gone, "consent_expired",
		"This page is too old, or it was shown to somebody else. Start again in your MCP client.")
	plain, err := s.sealer.Open(text, requestPlace(sessionID))
	if err != nil {
		return nil, expired
	}
	r := &Request{}
	if err := json.Unmarshal(plain, r); err != nil {
		return nil, fmt.Errorf("reading a request: %w", err)
	}
	if time.Now().After(r.Until) {
		return nil, expired
	}
	return r, nil
}

func requestPlace(sessionID string) seal.Place {
	return seal.Place{Table: "console_session", Column: "consent", Row: sessionID}
}

// Choice is what a person chose on the consent page.
type Choice struct {
	Permissions apikey.Permissions
	Approval    apikey.Approval
	Days        int // that the access lasts; 0: until it is revoked
}

// Approve returns the code of a request that a person approved, for CodeLifetime and
// one use. The problems are those of the settings of a key.
func (s *Service) Approve(
	ctx context.Context,
	r *Request,
	accountID string,
	by audit.Actor,
	in Choice,
) (string, error) {
	if in.Days != 0 && !slices.Contains([]int{7, 30, 90, 365}, in.Days) {
		return "", problem.New(problem.Invalid, "invalid_expiry", "Choose how long the access lasts.").At("/expires_at")
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	c := &Consent{
		ClientID: r.ClientID, ClientName: r.ClientName, ClientHost: r.Publisher, RedirectURI: r.RedirectURI,
		Challenge: r.Challenge, AccountID: accountID, User: by, Permissions: in.Permissions, Approval: in.Approval,
	}
	if c.ClientHost == "" {
		c.ClientHost = r.ReturnsTo()
	}
	if in.Days > 0 {
		c.ExpiresAt = now.AddDate(0, 0, in.Days)
	}
	code := codePrefix + rand.Text() + rand.Text()
	if _, _, err := apikey.Prepare(by, accountID, s.settings(c, "", now), apikey.Derive([]byte(code))); err != nil {
		return "", err // before the client gets a code that becomes nothing
	}
	return code, s.store.InsertCode(ctx, s.codeDigest(code), c, now, now.Add(CodeLifetime))
}

// settings are those of the key that a consent becomes.
func (s *Service) settings(c *Consent, keyID string, now time.Time) apikey.Settings {
	return apikey.Settings{
		ID: keyID, Name: c.ClientName, Permissions: c.Permissions, Approval: c.Approval, ExpiresAt: c.ExpiresAt,
		Client: &apikey.Client{
			Name: c.ClientName, Host: c.ClientHost, Audience: s.resource,
			TokenExpires: tokenEnd(now, c.ExpiresAt),
		},
	}
}

// tokenEnd is when an access token of now expires.
func tokenEnd(now, grantEnd time.Time) time.Time {
	return earlier(now.Add(TokenLifetime), grantEnd)
}

// earlier is the earlier of two times, of which the second may be zero: never.
func earlier(a, b time.Time) time.Time {
	if !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
