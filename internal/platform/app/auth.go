package app

import (
	"net/url"
	"slices"
)

// Types of schemes.
const (
	TypeOAuth2   = "oauth2"             // a person consents; authorization code
	TypeClient   = "client_credentials" // the account's own client id and secret
	TypeOAuth1   = "oauth1"
	TypeKey      = "key" // one or more secrets that a person types
	TypeBasic    = "basic"
	TypeJWT      = "jwt"            // a signed assertion, exchanged for a token or sent itself
	TypeExchange = "token_exchange" // calls that turn what a person types into a token
	TypeSigV4    = "sigv4"
	TypeMCP      = "mcp" // the app's MCP server says how
	TypeNone     = "none"
)

// Scheme is one way to connect an app. Which fields apply depends on Type.
type Scheme struct {
	ID    string `yaml:"id"`
	Type  string `yaml:"type"`
	Title string `yaml:"title"`
	About string `yaml:"about"`
	// Base is where calls by this scheme go, if not to the app's.
	Base string `yaml:"base"`

	// Fields are what a user types: keys, user names. Help says where to find
	// them.
	Fields []Field `yaml:"fields"`
	Help   string  `yaml:"help"`
	// Send puts credentials into a call: templates of fields, params and
	// access_token. Several entries are all sent.
	Send Send `yaml:"send"`
	// Let are values derived from others, for templates of this scheme: texts
	// that are hashed or signed as a whole. They may refer to one another.
	Let map[string]string `yaml:"let"`

	OAuth  *OAuth  `yaml:"oauth"`  // oauth2, client_credentials
	OAuth1 *OAuth1 `yaml:"oauth1"` // oauth1
	JWT    *JWTUse `yaml:"jwt"`    // jwt
	Steps  []Step  `yaml:"steps"`  // token_exchange
	SigV4  *SigV4  `yaml:"sigv4"`
	URL    string  `yaml:"url"` // mcp: address of the server
}

// SigV4 is how requests to AWS are signed.
type SigV4 struct {
	Service string `yaml:"service"`
	Region  string `yaml:"region"` // template
}

// Field is one value that a user types to connect.
type Field struct {
	Name     string `yaml:"name"`
	Title    string `yaml:"title"`
	About    string `yaml:"about"`
	Secret   bool   `yaml:"secret"`
	Optional bool   `yaml:"optional"`
	Match    string `yaml:"match"`
	Example  string `yaml:"example"`
	Prefix   string `yaml:"prefix"` // that every right value has, to catch mix-ups
}

// Send is where credentials go.
type Send struct {
	Headers map[string]string `yaml:"headers"`
	Query   map[string]string `yaml:"query"`
	Path    string            `yaml:"path"` // before the path of each call, for tokens that stand there
	Basic   *BasicPair        `yaml:"basic"`
}

// BasicPair is HTTP basic authentication, of templates.
type BasicPair struct {
	User string `yaml:"user"`
	Pass string `yaml:"pass"`
}

// OAuth is the profile of an authorization server: everything in which it
// differs from RFC 6749.
type OAuth struct {
	Authorize Authorize  `yaml:"authorize"`
	Token     Token      `yaml:"token"`
	Refresh   Refresh    `yaml:"refresh"`
	Client    ClientAuth `yaml:"client"`
	PKCE      string     `yaml:"pkce"` // S256 (also ""), plain, off
	Scopes    Scopes     `yaml:"scopes"`
	Callback  Callback   `yaml:"callback"`
	// AfterCode turns the first token into another, by calls.
	AfterCode []Step `yaml:"after_code"`
	// Extra are further tokens of the same answer or of further grants, by name.
	Extra      map[string]ExtraToken `yaml:"extra"`
	Introspect string                `yaml:"introspect"` // address; tells how long a token lives
	Revoke     *Revoke               `yaml:"revoke"`
	// Install is outbound where the app, not we, begins: its webhook brings the
	// code.
	Install *Install `yaml:"install"`
}

// Authorize is the URL that the user is sent to.
type Authorize struct {
	URL      string            `yaml:"url"`
	Params   map[string]string `yaml:"params"`   // further ones: access_type, audience
	Rename   map[string]string `yaml:"rename"`   // client_id: client_key
	Drop     []string          `yaml:"drop"`     // response_type
	Fragment bool              `yaml:"fragment"` // parameters stand behind #
}

// Scopes are what is requested.
type Scopes struct {
	Default   []string            `yaml:"default"`
	Optional  []string            `yaml:"optional"`
	Profiles  map[string][]string `yaml:"profiles"` // read_only: […]
	Separator string              `yaml:"separator"`
	Raw       bool                `yaml:"raw"`        // not percent-encoded
	OmitEmpty bool                `yaml:"omit_empty"` // no parameter where nothing is asked for
	Params    map[string][]string `yaml:"params"`     // second lists: user_scope
}

// Callback is how an authorization server returns.
type Callback struct {
	Code    string            `yaml:"code"`    // parameter; default code
	State   string            `yaml:"state"`   // parameter; default state
	NoCode  bool              `yaml:"no_code"` // consent alone counts (admin consent)
	Capture map[string]string `yaml:"capture"` // param = parameter of the callback
	Hosts   []string          `yaml:"hosts"`   // suffixes that a captured host must have
	Verify  string            `yaml:"verify"`  // shopify_hmac
	Decode  bool              `yaml:"decode"`  // the code is percent-encoded twice
	// Pending are parameters that say that an administrator at the vendor still
	// has to approve: setup_action: request.
	Pending map[string]string `yaml:"pending"`
}

// Token is how a code is exchanged for a token.
type Token struct {
	URL        string              `yaml:"url"`
	Method     string              `yaml:"method"` // POST (also ""), GET
	Body       string              `yaml:"body"`   // form (also ""), json, query, xml
	Params     map[string]string   `yaml:"params"` // further ones; templates
	Rename     map[string]string   `yaml:"rename"`
	Drop       []string            `yaml:"drop"`
	Query      map[string]string   `yaml:"query"` // parameters that go into the address besides the body
	Headers    map[string]string   `yaml:"headers"`
	XML        string              `yaml:"xml"`      // template of the body
	Accept     string              `yaml:"accept"`   // default application/json
	Response   string              `yaml:"response"` // auto (also ""), json, form, xml, text (all of it is the token)
	OK         Expect              `yaml:"ok"`
	Map        map[string][]string `yaml:"map"`        // access_token: [/data/access_token]
	Alternates []string            `yaml:"alternates"` // pointers to objects that hold the token where the top does not
	Capture    map[string]string   `yaml:"capture"`    // param = pointer
	Hosts      []string            `yaml:"hosts"`      // suffixes that a captured host must have
	Expires    Expires             `yaml:"expires"`
	Sign       *Signature          `yaml:"sign"`
}

// Expires is when a token expires.
type Expires struct {
	Path    string `yaml:"path"`    // pointer; default /expires_in
	Kind    string `yaml:"kind"`    // in (also ""), at
	Unit    string `yaml:"unit"`    // s (also ""), ms
	Parse   string `yaml:"parse"`   // number (also ""), iso, dhms
	Default int    `yaml:"default"` // seconds, where the answer says nothing
	JWT     bool   `yaml:"jwt"`     // the token's own exp
	Skew    int    `yaml:"skew"`    // seconds before the end at which it counts as over
	Never   bool   `yaml:"never"`
}

// Kinds of refresh.
const (
	RefreshToken     = "refresh_token"         // also ""
	RefreshExchange  = "exchange_access_token" // a living token buys the next
	RefreshClient    = "client_credentials"
	RefreshExtend    = "extend" // a call makes the same token live longer
	RefreshSigned    = "signed"
	RefreshNot       = "none"
	RotateIfPresent  = "if_present" // also ""
	RotateAlways     = "always"     // a refresh token is good once
	RotateKeep       = "keep"       // what comes back is ignored
	ClientBasic      = "basic"
	ClientPost       = "post" // also ""
	ClientNone       = "none"
	ClientHeader     = "header"
	ClientPrivateKey = "private_key_jwt"
	ClientSecretJWT  = "client_secret_jwt"
)

// Refresh is how a token is renewed.
type Refresh struct {
	Kind     string            `yaml:"kind"`
	URL      string            `yaml:"url"` // where not the token's
	Method   string            `yaml:"method"`
	Body     string            `yaml:"body"`
	Params   map[string]string `yaml:"params"`
	Rename   map[string]string `yaml:"rename"`
	Drop     []string          `yaml:"drop"`
	Headers  map[string]string `yaml:"headers"`
	Query    map[string]string `yaml:"query"`
	XML      string            `yaml:"xml"`
	Rotation string            `yaml:"rotation"`
	MinAge   int               `yaml:"min_age"` // seconds that a token must have lived
	// Gone are error codes that mean that the grant has ended, besides
	// invalid_grant.
	Gone []string   `yaml:"gone"`
	Sign *Signature `yaml:"sign"`
}

// ClientAuth is how we authenticate at a token endpoint.
type ClientAuth struct {
	Method   string            `yaml:"method"`
	User     string            `yaml:"user"`     // template; default {client_id}
	Pass     string            `yaml:"pass"`     // template; default {client_secret}
	Encoding string            `yaml:"encoding"` // form (RFC 6749, also ""), raw
	Headers  map[string]string `yaml:"headers"`  // for header
	JWT      *JWTUse           `yaml:"jwt"`
	MTLS     bool              `yaml:"mtls"`
	Both     bool              `yaml:"both"` // also in the body
	// Needs are further values that the operator stores with the client, for
	// templates: bot_token, signing_secret.
	Needs []string `yaml:"needs"`
}

// JWTUse is an assertion that we sign.
type JWTUse struct {
	Alg      string            `yaml:"alg"`      // RS256, ES256, HS256, EdDSA
	Key      string            `yaml:"key"`      // template of the field that holds it
	Encoding string            `yaml:"encoding"` // pem (also ""), hex, base64, raw
	KeyID    string            `yaml:"kid"`
	Claims   map[string]string `yaml:"claims"`
	Lifetime int               `yaml:"lifetime"` // seconds
	Grant    *Step             `yaml:"grant"`    // exchange for a token; nil: sent itself
}

// OAuth1 is the profile of OAuth 1.0a.
type OAuth1 struct {
	Request   string            `yaml:"request"`
	Authorize string            `yaml:"authorize"`
	Access    string            `yaml:"access"`
	Params    map[string]string `yaml:"params"`
	Signature string            `yaml:"signature"` // HMAC-SHA1 (also ""), HMAC-SHA256, PLAINTEXT, RSA-SHA1
	Realm     string            `yaml:"realm"`
	Capture   map[string]string `yaml:"capture"` // param = member of the last answer
}

// ExtraToken is a second token of a connection.
type ExtraToken struct {
	Path    string            `yaml:"path"`    // object in the token answer
	Refresh string            `yaml:"refresh"` // independent, none (also "")
	Fatal   bool              `yaml:"fatal"`   // without it the connection does not stand
	Grant   map[string]string `yaml:"grant"`   // parameters of a further grant
	URL     string            `yaml:"url"`
}

// Signature is a signed request to a token endpoint.
type Signature struct {
	Alg    string `yaml:"alg"`    // hmac_sha256, hmac_sha1, ed25519, sigv4
	Key    string `yaml:"key"`    // template
	Over   string `yaml:"over"`   // template: {body}{ts}; {ts} is the time in milliseconds
	Header string `yaml:"header"` // or a query parameter
	Query  string `yaml:"query"`
	Enc    string `yaml:"enc"` // hex (also ""), base64
	TS     string `yaml:"ts"`  // query parameter with the time in milliseconds

	// For sigv4: the id of the key and what it is scoped to; templates.
	ID      string `yaml:"id"`
	Service string `yaml:"service"`
	Region  string `yaml:"region"`
}

// Revoke revokes a token at the vendor (RFC 7009).
type Revoke struct {
	URL     string            `yaml:"url"`
	Params  map[string]string `yaml:"params"`
	Method  string            `yaml:"method"`
	Body    string            `yaml:"body"` // as of Token
	Headers map[string]string `yaml:"headers"`
	Drop    []string          `yaml:"drop"`
}

// Install is an installation that begins in the app's own store.
type Install struct {
	Code string `yaml:"code"` // pointer to the code in the webhook
	ID   string `yaml:"id"`   // pointer to the installation
}

// Scheme returns the scheme with an id, or the first for "".
func (a *App) Scheme(id string) (*Scheme, bool) {
	i := slices.IndexFunc(a.Schemes, func(s Scheme) bool { return id == "" || s.ID == id })
	if i < 0 {
		return nil, false
	}
	return &a.Schemes[i], true
}

// ResolveBy returns the steps of Resolve for connections by a scheme.
func (a *App) ResolveBy(scheme string) []Step {
	return slices.DeleteFunc(slices.Clone(a.Resolve), func(s Step) bool { return s.Scheme != "" && s.Scheme != scheme })
}

// CanEnd reports whether a connection by the scheme can be revoked at the
// vendor. Keys that a user created there are revoked by the user.
func (a *App) CanEnd(s *Scheme) bool {
	steps := slices.ContainsFunc(a.Release, func(step Step) bool { return step.Scheme == "" || step.Scheme == s.ID })
	return steps || s.Type == TypeMCP || s.OAuth != nil && s.OAuth.Revoke != nil
}

// NeedsClient reports whether connecting by the scheme needs an OAuth client
// that the operator has registered with the vendor. OAuth 1 without a URL for
// request tokens is typed: the account has created consumer and token itself.
func (s *Scheme) NeedsClient() bool {
	return s.Type == TypeOAuth2 || s.Type == TypeOAuth1 && (s.OAuth1 == nil || s.OAuth1.Request != "")
}

// NeedsClient reports whether every way to connect the app needs an OAuth client
// that the operator has registered with the vendor.
func (a *App) NeedsClient() bool {
	return len(a.Schemes) > 0 && !slices.ContainsFunc(a.Schemes, func(s Scheme) bool { return !s.NeedsClient() })
}

// Credentials returns Send, or what is usual for the type if the definition
// says nothing: a bearer token, a user name and a password.
func (s *Scheme) Credentials() Send {
	send := s.Send
	if len(send.Headers) > 0 || len(send.Query) > 0 || send.Basic != nil || send.Path != "" {
		return send
	}
	switch s.Type {
	case TypeOAuth2, TypeClient, TypeExchange, TypeJWT, TypeMCP:
		send.Headers = map[string]string{"Authorization": "Bearer {access_token}"}
	case TypeBasic:
		send.Basic = &BasicPair{User: "{username}", Pass: "{password}"}
	}
	return send
}

// CallbackState returns the state of a callback, under the name that one of the
// app's schemes gives it.
func (a *App) CallbackState(callback url.Values) string {
	if state := callback.Get("state"); state != "" {
		return state
	}
	for i := range a.Schemes {
		if o := a.Schemes[i].OAuth; o != nil && o.Callback.State != "" && callback.Has(o.Callback.State) {
			return callback.Get(o.Callback.State)
		}
	}
	return ""
}

// Consents reports whether connecting by the scheme sends the user to the
// vendor, with whose consent it ends.
func (s *Scheme) Consents() bool {
	return s.Type == TypeOAuth2 || s.Type == TypeOAuth1 || s.Type == TypeMCP
}

// Renewable reports whether credentials of the scheme can be renewed without
// the user. hasToken says that there is a refresh token.
func (s *Scheme) Renewable(hasToken bool) bool {
	switch s.Type {
	case TypeOAuth2:
		kind := ""
		if s.OAuth != nil {
			kind = s.OAuth.Refresh.Kind
		}
		if kind == "" || kind == RefreshToken {
			return hasToken
		}
		return kind != RefreshNot
	case TypeMCP:
		return hasToken
	case TypeClient, TypeExchange:
		return true
	case TypeJWT:
		return s.JWT != nil && s.JWT.Grant != nil
	}
	return false
}
