// Package connector is the apps that an account adds itself: its own MCP servers
// and REST APIs, with its own keys.
//
//	Create ── row, slug x-… ── connection with the key that was given, or a link
//	   import: tools/list of an MCP server, or an OpenAPI document
//	      importing ──> ready | failed        (again by a job where it takes long)
//	      needs_auth ── the link was used ──> importing
//	   tools of ready connectors are an app.App of this account alone (OwnApps)
//
//	Refresh ── import again ── diff: added, changed, removed
//	   what changed is withheld, neither found nor run, until Approve:
//	   the operator of a server could otherwise put text before a model, or another
//	   deed behind a name, after somebody looked at it
//
// Secrets are kept by package connection alone.
package connector

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/openapiimport"
)

// Types of connectors.
const (
	TypeMCP  = "mcp"
	TypeREST = "rest"
)

// Status is the state of a connector.
type Status string

// The states; the package comment draws the moves between them.
const (
	Importing Status = "importing"
	Ready     Status = "ready"
	NeedsAuth Status = "needs_auth"
	Failed    Status = "failed"
)

// Kinds of credentials.
const (
	AuthNone   = "none"
	AuthBearer = "bearer"
	AuthHeader = "header" // also api_key in a header
	AuthQuery  = "query"  // api_key in the query
	AuthBasic  = "basic"
	AuthOAuth  = "mcp_oauth" // the MCP server says who authorizes
	AuthOAuth2 = "oauth2"    // by a client of the account's own
)

// Auth is how a connector signs in, without what is secret.
type Auth struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"` // of the header field or the parameter
	// OAuth is set for AuthOAuth2.
	OAuth OAuth `json:"oauth,omitzero"`
}

// Settings are what the account chose.
type Settings struct {
	URL       string   `json:"url,omitempty"`       // of the MCP server
	Transport string   `json:"transport,omitempty"` // streamable_http, sse
	Document  string   `json:"document,omitempty"`  // address of the OpenAPI document
	Uploaded  bool     `json:"uploaded,omitempty"`  // the document was sent
	BaseURL   string   `json:"base_url,omitempty"`
	Auth      Auth     `json:"auth"`
	Include   []string `json:"include,omitempty"` // patterns of tools' names
	Exclude   []string `json:"exclude,omitempty"`
	Tags      []string `json:"tags,omitempty"`
	Methods   []string `json:"methods,omitempty"`
}

// Tool is a tool as it was imported.
type Tool struct {
	Tool   *app.Tool `json:"tool"`
	Digest string    `json:"digest"`
	// Pending is what the tool has become since it was approved; the tool is
	// withheld while there is something.
	Pending       *app.Tool `json:"pending,omitempty"`
	PendingDigest string    `json:"pending_digest,omitempty"`
	// ReadOnly is set once a person has confirmed what an MCP server says of the tool:
	// that it only reads. Until then it needs what tools need that write.
	ReadOnly bool `json:"read_only,omitempty"`
}

// Connector is an app that an account has added.
type Connector struct {
	ID           string // ccn_…
	AccountID    string
	Slug         string // id of its app: x-…
	Type         string
	Name         string
	About        string
	Base         string // of a REST API, as it was found
	Settings     Settings
	Status       Status
	Code, Detail string // of a failure
	Enabled      bool
	ConnectionID string
	Tools        []*Tool
	Skipped      []openapiimport.Skipped
	LastOKAt     time.Time // the last import or test that succeeded
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Revision     int64 // grows with each change
}

// Store keeps connectors. Each method is atomic and safe between replicas.
// Wherever a connector is importing or needs authorization, its job is
// scheduled with it.
type Store interface {
	// InsertConnector returns slug_taken and too_many_connectors (Conflict).
	InsertConnector(ctx context.Context, c *Connector, limit int, e audit.Entry) error
	// Connector returns custom_connector_not_found (NotFound), also for one of
	// another account.
	Connector(ctx context.Context, accountID, id string) (*Connector, error)
	// Connectors returns those of an account, oldest first.
	Connectors(ctx context.Context, accountID string) ([]*Connector, error)
	// ConnectorVersion changes when a connector of the account does; "" means that
	// there are none.
	ConnectorVersion(ctx context.Context, accountID string) (string, error)
	// SaveConnector writes c if its revision is still c.Revision, which it raises;
	// saved reports whether it was. An entry without an action is not kept.
	SaveConnector(ctx context.Context, c *Connector, e audit.Entry) (saved bool, err error)
	// DeleteConnector returns custom_connector_not_found (NotFound).
	DeleteConnector(ctx context.Context, accountID, id string, e audit.Entry) error
}

// Connections makes and uses the connections of connectors.
type Connections interface {
	Open(ctx context.Context, by audit.Actor, accountID string, in connection.Request) (*connection.Session, error)
	Link(sessionID string) string
	Submit(ctx context.Context, token string, v connection.Visitor, form connection.Form) (*connection.Outcome, error)
	Use(ctx context.Context, accountID, id string) (*connection.Live, error)
	List(ctx context.Context, accountID string, q connection.Query) ([]*connection.Connection, error)
	Delete(ctx context.Context, by audit.Actor, accountID, id string, revoke bool) error
	RedirectURI(appID string) string
}

// Lister reads the tools of an MCP server. What the server refuses is a
// connection.Refusal.
type Lister interface {
	List(ctx context.Context, a *app.App, s *app.Scheme, live *connection.Live) (*openapiimport.Result, error)
}

// Fetcher reads addresses through the egress guard.
type Fetcher interface {
	// Allowed returns target_not_allowed (Unprocessable) for an address that will not
	// be called.
	Allowed(address string) error
	// Fetch reads a document of at most limit bytes. Its problems: import_failed
	// for a response that is none, and those of package egress.
	Fetch(ctx context.Context, address string, limit int64) ([]byte, error)
	// Reach reports whether a server responds at a URL.
	Reach(ctx context.Context, address string) error
}

// Scheme is how the connector's app is signed in to.
func (c *Connector) Scheme() app.Scheme {
	auth := c.Settings.Auth
	secret := func(name, title string) []app.Field { return []app.Field{{Name: name, Title: title, Secret: true}} }
	s := app.Scheme{ID: auth.Kind, Type: app.TypeKey, Title: "Key of " + c.Name}
	switch auth.Kind {
	case AuthBearer:
		s.Fields = secret("token", "Token")
		s.Send.Headers = map[string]string{"Authorization": "Bearer {token}"}
	case AuthHeader:
		s.Fields = secret("value", "Value of "+auth.Name)
		s.Send.Headers = map[string]string{auth.Name: "{value}"}
	case AuthQuery:
		s.Fields = secret("value", "Value of "+auth.Name)
		s.Send.Query = map[string]string{auth.Name: "{value}"}
	case AuthBasic:
		s.Type, s.Fields = app.TypeBasic, append([]app.Field{{Name: "username", Title: "User name"}},
			secret("password", "Password")...)
		s.Fields[1].Optional = true
		s.Send.Basic = &app.BasicPair{User: "{username}", Pass: "{password}"}
	case AuthOAuth:
		s.Type, s.URL = app.TypeMCP, escape(c.Settings.URL)
	case AuthOAuth2:
		s.Title = "Sign in to " + c.Name
		auth.scheme(&s)
	default:
		s.Type = app.TypeNone
	}
	return s
}

// escape is a text as a template that means itself.
func escape(text string) string { return strings.NewReplacer("{", "{{", "}", "}}").Replace(text) }

// App is the connector as an app: with the tools that may be found and run.
func (c *Connector) App() (*app.App, error) {
	a := &app.App{
		ID: c.Slug, Name: c.Name, About: c.About, Categories: []string{"custom"}, Tier: app.API, Custom: true,
		Schemes: []app.Scheme{c.Scheme()}, Base: escape(c.Base),
	}
	if c.Type == TypeMCP {
		a.Tier, a.Base = app.MCP, ""
		a.MCP = &app.MCPServer{URL: c.Settings.URL, Transport: c.Settings.Transport}
	} else if len(c.Tools) == 0 {
		a.Tier = app.Request
	}
	var shown []*app.Tool
	for _, t := range c.Tools {
		if t.Pending == nil && c.wants(t.Tool.Name) && c.Status != NeedsAuth {
			copied := *t.Tool
			copied.ID = ""
			if c.claims(t) {
				copied.Effect = app.Writes
			}
			shown = append(shown, &copied)
		} else if t.Pending != nil && c.wants(t.Tool.Name) {
			a.Withheld = append(a.Withheld, t.Tool.Name)
		}
	}
	a.Tools = app.OrderedOf(func(t *app.Tool) string { return t.Name }, shown...)
	if err := a.Complete(); err != nil {
		return nil, fmt.Errorf("connector %s: %w", c.ID, err)
	}
	return a, nil
}

// claims reports whether the word of an MCP server is all that says that a tool
// only reads.
func (c *Connector) claims(t *Tool) bool {
	return c.Type == TypeMCP && t.Tool.Effect == app.Reads && !t.ReadOnly
}

// ReadOnlyTools are the tools of an MCP server that only read by what it says: those
// of which a person has confirmed it, and those that count as writing so far.
func (c *Connector) ReadOnlyTools() (confirmed, claimed []string) {
	for _, t := range c.Tools {
		switch {
		case t.Pending != nil || !c.wants(t.Tool.Name):
		case t.ReadOnly:
			confirmed = append(confirmed, t.Tool.Name)
		case c.claims(t):
			claimed = append(claimed, t.Tool.Name)
		}
	}
	return confirmed, claimed
}

// setReadOnly confirms that the named tools only read, and revokes that for all
// others. It returns names of which the server does not say so.
func (c *Connector) setReadOnly(names []string) (unknown []string) {
	confirmed, claimed := c.ReadOnlyTools()
	for _, name := range names {
		if !slices.Contains(confirmed, name) && !slices.Contains(claimed, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return unknown
	}
	for _, t := range c.Tools {
		t.ReadOnly = slices.Contains(names, t.Tool.Name)
	}
	return nil
}

// wants reports whether the account chose a tool.
func (c *Connector) wants(name string) bool {
	matches := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, err := path.Match(pattern, name)
			return err == nil && ok
		})
	}
	return (len(c.Settings.Include) == 0 || matches(c.Settings.Include)) && !matches(c.Settings.Exclude)
}

// Counts are how many tools are shown, and how many wait for approval.
func (c *Connector) Counts() (shown, pending int) {
	for _, t := range c.Tools {
		switch {
		case t.Pending != nil:
			pending++
		case c.wants(t.Tool.Name):
			shown++
		}
	}
	return shown, pending
}

// digest distinguishes two versions of a tool in all that a model reads and a run
// does.
func digest(t *app.Tool) (string, error) {
	copied := *t
	// the last is an outline without words, and a run does not read it
	copied.ID, copied.App, copied.OutputSchema = "", "", nil
	encoded, err := json.Marshal(copied)
	if err != nil {
		return "", fmt.Errorf("writing tool %s: %w", t.Name, err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:16]), nil
}
