package httptool

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ace/internal/platform/app"
	"ace/internal/platform/tool"
)

// sendOf returns where the credentials of a scheme go: as it says, or as is
// usual for its type.
func sendOf(s *app.Scheme) app.Send {
	send := s.Send
	if len(send.Headers) > 0 || len(send.Query) > 0 || send.Basic != nil || send.Path != "" {
		return send
	}
	switch s.Type {
	case app.TypeOAuth2, app.TypeClient, app.TypeExchange, app.TypeJWT, app.TypeMCP:
		send.Headers = map[string]string{"Authorization": "Bearer {access_token}"}
	case app.TypeBasic:
		send.Basic = &app.BasicPair{User: "{username}", Pass: "{password}"}
	}
	return send
}

// authorize adds credentials as the scheme says. They replace whatever a caller
// or a definition has set there.
func (d *draft) authorize(c *tool.Call, query url.Values) error {
	if c.Scheme == nil {
		return nil
	}
	send := sendOf(c.Scheme)
	for name, template := range send.Headers {
		text, err := app.Expand(template, c.Live.Values, nil)
		if err != nil {
			return fmt.Errorf("the credentials of %s: %w", c.App.ID, err)
		}
		text = strings.Map(dropBreaks, text)
		d.header.Set(name, text)
		d.remember(c, template, text)
	}
	for name, template := range send.Query {
		text, err := app.Expand(template, c.Live.Values, nil)
		if err != nil {
			return fmt.Errorf("the credentials of %s: %w", c.App.ID, err)
		}
		query.Set(name, text)
		d.remember(c, template, text)
	}
	if send.Basic == nil {
		return nil
	}
	user, errUser := app.Expand(send.Basic.User, c.Live.Values, nil)
	pass, errPass := app.Expand(send.Basic.Pass, c.Live.Values, nil)
	if errUser != nil || errPass != nil {
		return fmt.Errorf("the credentials of %s are not complete", c.App.ID)
	}
	r := http.Request{Header: d.header}
	r.SetBasicAuth(user, pass)
	d.remember(c, send.Basic.Pass, base64.StdEncoding.EncodeToString([]byte(user+":"+pass)))
	return nil
}

// dropBreaks removes what would end a header field.
func dropBreaks(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}

// minSecret is the shortest text that is masked: shorter ones occur in
// responses by chance.
const minSecret = 6

// remember records what a template has put into the request, so that it is
// masked in the response: the values of the template that are no params, and
// what was made of them.
func (d *draft) remember(c *tool.Call, template, made string) {
	add := func(text string) {
		if len(text) >= minSecret && text != stars {
			d.secrets = append(d.secrets, text)
		}
	}
	secret := false
	for _, name := range app.Names(template) {
		if _, param := c.Live.Connection.Params[name]; param {
			continue
		}
		secret = true
		if text, ok := c.Live.Values.Value(name); ok {
			add(text)
		}
	}
	if secret {
		add(made)
	}
}

// mask removes the secrets of a request from a response, in the spellings that
// URLs and JSON give them.
func (d *draft) mask(text []byte) []byte {
	for _, secret := range d.secrets {
		for _, spelling := range spellings(secret) {
			if bytes.Contains(text, []byte(spelling)) {
				text = bytes.ReplaceAll(text, []byte(spelling), []byte(stars))
			}
		}
	}
	return text
}

func spellings(secret string) []string {
	all := []string{secret}
	for _, escaped := range []string{url.QueryEscape(secret), url.PathEscape(secret)} {
		if !slices.Contains(all, escaped) {
			all = append(all, escaped)
		}
	}
	if encoded, err := json.Marshal(secret); err == nil && string(encoded[1:len(encoded)-1]) != secret {
		all = append(all, string(encoded[1:len(encoded)-1]))
	}
	return all
}
