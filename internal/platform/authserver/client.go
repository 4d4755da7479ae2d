package authserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
)

// Limits of what a client says about itself.
const (
	maxRedirects = 10
	maxRedirect  = 500  // bytes of one
	maxClientID  = 2000 // bytes
	maxName      = 80   // characters
)

// Client is a program that wants access.
type Client struct {
	ID           string
	Name         string
	Publisher    string // host whose document says this; empty: the client registered itself
	RedirectURIs []string
}

// Metadata is what a client says about itself when it registers, and in its
// document (RFC 7591, 2). Fields that are not read here are ignored.
type Metadata struct {
	ID            string   `json:"client_id,omitempty"` // of documents
	Name          string   `json:"client_name,omitempty"`
	RedirectURIs  []string `json:"redirect_uris"`
	GrantTypes    []string `json:"grant_types,omitempty"`
	ResponseTypes []string `json:"response_types,omitempty"`
	AuthMethod    string   `json:"token_endpoint_auth_method,omitempty"`
	Secret        string   `json:"client_secret,omitempty"`
}

// registration is what a client id holds.
type registration struct {
	Name         string   `json:"n"`
	RedirectURIs []string `json:"r"`
	IssuedAt     int64    `json:"t"` // seconds
}

// registeredPrefix begins the ids of clients that registered themselves.
const registeredPrefix = "mcp_"

func registrationPlace() seal.Place { return seal.Place{Table: "mcp_client", Column: "registration"} }

// Register returns a client for what it says about itself. Nothing is stored: the id
// holds the registration. The client is public, whatever it asks for. The problems
// are invalid_redirect_uri and invalid_client_metadata (Invalid).
func (s *Service) Register(m *Metadata) (*Client, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	c := &Client{Name: cleanName(m.Name), RedirectURIs: m.RedirectURIs}
	plain, err := json.Marshal(registration{c.Name, c.RedirectURIs, time.Now().Unix()})
	if err != nil {
		return nil, fmt.Errorf("encoding a registration: %w", err)
	}
	sealed, err := s.sealer.Seal(plain, registrationPlace())
	if err != nil {
		return nil, fmt.Errorf("sealing a registration: %w", err)
	}
	c.ID = registeredPrefix + sealed
	if len(c.ID) > maxClientID {
		return nil, badMetadata("The redirect URIs are too long together. Register fewer.")
	}
	return c, nil
}

// check returns what is wrong with a client that describes itself.
func (m *Metadata) check() error {
	switch {
	case len(m.RedirectURIs) == 0 || len(m.RedirectURIs) > maxRedirects:
		return badRedirect("Register 1 to 10 redirect URIs.")
	case len(m.GrantTypes) > 0 && !slices.Contains(m.GrantTypes, "authorization_code"):
		return badMetadata("The grant type is authorization_code; refresh_token goes with it.")
	case len(m.ResponseTypes) > 0 && !slices.Contains(m.ResponseTypes, "code"):
		return badMetadata("The response type is code.")
	}
	for _, one := range m.RedirectURIs {
		if !allowedRedirect(one) {
			return badRedirect(
				"A redirect URI is https, http on 127.0.0.1, [::1] or localhost, or of a scheme of the " +
					"client's own; without a fragment and at most 500 characters long.",
			)
		}
	}
	return nil
}

func badRedirect(detail string) error {
	return problem.New(problem.Invalid, "invalid_redirect_uri", detail)
}

func badMetadata(detail string) error {
	return problem.New(problem.Invalid, "invalid_client_metadata", detail)
}

// Client returns the client of an id. Its problem is invalid_client
// (Unauthenticated).
func (s *Service) Client(ctx context.Context, id string) (*Client, error) {
	unknown := problem.New(problem.Unauthenticated, "invalid_client",
		"This client is not known here. Register it again, or send the URL of its metadata document as client_id.")
	switch {
	case len(id) > maxClientID:
		return nil, unknown
	case strings.HasPrefix(id, "https://"):
		return s.published(ctx, id)
	}
	sealed, ok := strings.CutPrefix(id, registeredPrefix)
	if !ok {
		return nil, unknown
	}
	plain, err := s.sealer.Open(sealed, registrationPlace())
	if err != nil {
		return nil, unknown
	}
	var r registration
	if err := json.Unmarshal(plain, &r); err != nil {
		return nil, fmt.Errorf("reading a registration: %w", err)
	}
	return &Client{ID: id, Name: r.Name, RedirectURIs: r.RedirectURIs}, nil
}

// published reads the document that a client id is the URL of. It is read for each
// consent page; what the person saw there is what is granted.
func (s *Service) published(ctx context.Context, id string) (*Client, error) {
	refuse := func(detail string) error { return problem.New(problem.Unauthenticated, "invalid_client", detail) }
	u, err := url.Parse(id)
	if err != nil || u.Host == "" || u.User != nil || strings.Contains(id, "#") || u.RawQuery != "" ||
		u.Path == "" || u.Path == "/" || dotted(u.Path) {
		return nil, refuse("A client id that is a URL has a path, and neither user, query, fragment nor dot segments.")
	}
	text, err := s.documents.Fetch(ctx, id)
	if err != nil {
		return nil, err
	}
	var m Metadata
	switch err := json.Unmarshal(text, &m); {
	case err != nil:
		return nil, refuse("The metadata document of this client is not JSON of the shape of RFC 7591.")
	case m.ID != id:
		return nil, refuse("The metadata document names another client_id than its own URL.")
	case m.Secret != "" || m.AuthMethod != "" && m.AuthMethod != "none":
		return nil, refuse("Clients with a metadata document are public here: token_endpoint_auth_method is none.")
	}
	if err := m.check(); err != nil {
		return nil, refuse("The redirect URIs or grant types in the metadata document of this client do not fit.")
	}
	return &Client{ID: id, Name: cleanName(m.Name), Publisher: u.Hostname(), RedirectURIs: m.RedirectURIs}, nil
}

func dotted(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return part == "." || part == ".." })
}

// cleanName is a name as it may be shown to people: no control characters, no
// marks that turn or hide text, one line.
func cleanName(name string) string {
	name = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case !unicode.IsPrint(c) || c == utf8.RuneError:
			return -1
		}
		return c
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if letters := []rune(name); len(letters) > maxName {
		name = string(letters[:maxName-1]) + "…"
	}
	return cmp.Or(name, "MCP client")
}

// allowedRedirect reports whether a client may have sign-ins return to a URI.
func allowedRedirect(text string) bool {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxRedirect || strings.Contains(text, "#") || u.User != nil ||
		strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == '\\' || c >= 0x7f }) {
		return false
	}
	switch u.Scheme {
	case "https":
		return u.Hostname() != ""
	case "http":
		return Loopback(text)
	case "", "javascript", "data", "blob", "vbscript", "file", "filesystem", "about", "view-source", "ws", "wss", "ftp",
		"mailto", "tel", "sms", "intent", "chrome":
		return false
	}
	return true // a scheme of the client's own, such as cursor: (RFC 8252, 7.1)
}

// Loopback reports whether a redirect URI leads to a program on the person's own
// computer by http.
func Loopback(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback() && ip.Zone() == ""
}

// redirects reports whether the client has registered a redirect URI: the same
// text, but for the port of a loopback address (RFC 8252, 7.3).
func (c *Client) redirects(to string) bool {
	if !allowedRedirect(to) {
		return false
	}
	return slices.ContainsFunc(c.RedirectURIs, func(registered string) bool {
		return to == registered || Loopback(to) && Loopback(registered) && portless(to) == portless(registered)
	})
}

// portless is a loopback redirect URI without its port.
func portless(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	_, rest, _ := strings.Cut(strings.TrimPrefix(text, "http://"), u.Host)
	return u.Hostname() + rest
}

// Host is where the client's sign-ins return to, as people read it: a host, or the
// scheme of an app.
func redirectHost(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return ""
	case u.Scheme == "http" || u.Scheme == "https":
		return u.Host
	}
	return u.Scheme + ":"
}
