package oauthclient

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// Names of credentials.
const (
	accessToken   = "access_token"
	refreshToken  = "refresh_token"
	previousToken = "previous_refresh_token"
	tokenSecret   = "access_token_secret" // of OAuth 1
	issuedAt      = "access_token_at"     // Unix seconds; where a token has to age before it is renewed
)

// exchange is one conversation with a vendor, on behalf of one connection.
type exchange struct {
	c      *Client
	app    *app.App
	scheme *app.Scheme
	oauth  *app.OAuth // the scheme's, or an empty one
	client *connection.Client

	values        app.Values // all that templates may name: made and given values
	given         app.Map    // those that are given; learned ones are added
	received      map[string]bool
	unknownIssuer map[string]bool // hosts that the client is not of, by the name of their param
	secrets       []string        // must not come back inside the code of an error
	grant         connection.Grant
	last          any // decoded response that the main token came with
}

func (c *Client) newExchange(a *app.App, s *app.Scheme, client *connection.Client, params map[string]string,
	old connection.Credentials,
) (*exchange, error) {
	d := &exchange{
		c: c, app: a, scheme: s, oauth: s.OAuth, client: client, received: map[string]bool{},
		grant: connection.Grant{Credentials: connection.Credentials{}, Params: map[string]string{}},
	}
	if d.oauth == nil {
		d.oauth = &app.OAuth{}
	}
	d.given = moment()
	for name, p := range a.Params {
		if p.Default != "" {
			d.given[name] = p.Default
		}
	}
	maps.Copy(d.given, params)
	if client != nil {
		if name, host := a.BoundTo(s, client.Extra); name != "" && d.given[name] != host {
			d.unknownIssuer = map[string]bool{name: true}
		}
		maps.Copy(d.given, client.Extra)
		d.given["client_id"], d.given["client_secret"] = client.ID, client.Secret
		d.addSecret(client.Secret)
		for _, value := range client.Extra {
			d.addSecret(value)
		}
	}
	for name, value := range old {
		d.given[name] = value
		d.addSecret(value)
	}
	d.values = app.Let(d.given, s.Let)
	if s.OAuth == nil && s.Type == app.TypeOAuth2 || s.OAuth1 == nil && s.Type == app.TypeOAuth1 || s.JWT == nil &&
		s.Type == app.TypeJWT {
		return nil, fmt.Errorf("scheme %s of %s lacks its part %s", s.ID, a.ID, s.Type)
	}
	return d, nil
}

// moment are values that are new with each conversation.
func moment() app.Map {
	now := time.Now()
	id := uuid()
	return app.Map{
		"now": strconv.FormatInt(now.Unix(), 10), "now_ms": strconv.FormatInt(now.UnixMilli(), 10),
		"ts":      strconv.FormatInt(now.UnixMilli(), 10),
		"now_iso": now.UTC().Format(time.RFC3339), "uuid": id, "nonce": strings.ReplaceAll(id, "-", ""),
	}
}

// uuid is a random one (RFC 9562, version 4).
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// keepSecret records values that a vendor may not return as an error's code.
func (d *exchange) addSecret(values ...string) {
	for _, v := range values {
		if len(v) >= 6 {
			d.secrets = append(d.secrets, v)
		}
	}
}

// set makes a value known to templates.
func (d *exchange) set(name, value string) { d.given[name] = value }

// redirect makes our callback known to templates, whole and by its host.
func (d *exchange) redirect(address string) {
	d.set("redirect_uri", address)
	if u, err := url.Parse(address); err == nil {
		d.set("redirect_host", u.Hostname())
	}
}

func (d *exchange) expand(template string) (string, error) {
	return app.Expand(template, d.values, nil)
}

// expandAll fills the templates of a map. What is about is for the error.
func (d *exchange) expandAll(about string, templates map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(templates))
	for name, template := range templates {
		text, err := d.expand(template)
		if err != nil {
			return nil, fmt.Errorf("%s %s of %s: %w", about, name, d.app.ID, err)
		}
		out[name] = text
	}
	return out, nil
}
