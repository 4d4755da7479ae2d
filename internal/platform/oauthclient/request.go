package oauthclient

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient/reply"
	"ace/internal/platform/oauthclient/signature"
)

// Bodies of requests to a token endpoint.
const (
	bodyForm  = "form" // also ""
	bodyJSON  = "json"
	bodyQuery = "query"
	bodyXML   = "xml"
)

// shape is how one request differs from the plain one of RFC 6749.
type shape struct {
	url, method, body              string
	params, rename, query, headers map[string]string
	drop                           []string
	xml, accept, response          string
	sign                           *app.Signature
	bare                           bool // without client authentication
}

// request is one that is being made up.
type request struct {
	url        string
	httpClient HTTPClient
	header     http.Header
	params     map[string]string
	query      url.Values
	body       []byte
}

func (r *request) set(name, value string) {
	if value != "" {
		r.params[name] = value
	}
}

// setFields sets header fields; a line break in one is refused.
func (r *request) setFields(fields map[string]string) error {
	for name, value := range fields {
		if strings.ContainsAny(value, "\r\n\x00") {
			return &connection.RefreshError{Class: connection.GrantOver, Code: "value_refused:" + name}
		}
		r.header.Set(name, value)
	}
	return nil
}

// call makes a request with the standard parameters of its grant and returns
// what came back, whatever it says.
func (d *exchange) call(ctx context.Context, s *shape, standard map[string]string) (*reply.Reply, error) {
	r, err := d.compose(s, standard)
	if err != nil {
		return nil, err
	}
	method := s.method
	if method == "" {
		method = http.MethodPost
	}
	address, err := url.Parse(r.url)
	if err != nil {
		return nil, refusedValue(s.url)
	}
	if err := d.encode(s, r, method); err != nil {
		return nil, err
	}
	if s.sign != nil {
		if err := d.signRequest(s.sign, r); err != nil {
			return nil, err
		}
	}
	fields, err := d.expandAll("the header", s.headers) // last: they may name the signature
	if err != nil {
		return nil, err
	}
	if err := r.setFields(fields); err != nil {
		return nil, err
	}
	if more := r.query.Encode(); more != "" {
		address.RawQuery = strings.TrimPrefix(address.RawQuery+"&"+more, "&")
	}
	out, err := http.NewRequestWithContext(ctx, method, address.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, refusedValue(s.url)
	}
	out.Header = r.header
	if s.sign != nil && s.sign.Alg == "sigv4" {
		if err := d.signV4(s.sign, out, r.body); err != nil {
			return nil, err
		}
	}
	return reply.Fetch(r.httpClient, out, s.response)
}

func (d *exchange) compose(s *shape, standard map[string]string) (*request, error) {
	address, err := d.address(s.url)
	if err != nil {
		return nil, err
	}
	r := &request{
		url:        address,
		httpClient: d.c.httpClientOf(d.app),
		header:     http.Header{},
		params:     map[string]string{},
		query:      url.Values{},
	}
	r.header.Set("Accept", "application/json")
	if s.accept != "" {
		r.header.Set("Accept", s.accept)
	}
	for name, value := range standard {
		r.set(name, value)
	}
	if !s.bare {
		if err := d.authenticate(r); err != nil {
			return nil, err
		}
	}
	own, err := d.expandAll("the parameter", s.params)
	if err != nil {
		return nil, err
	}
	maps.Copy(r.params, own)
	adapt(r.params, s.rename, s.drop)
	query, err := d.expandAll("the parameter", s.query)
	if err != nil {
		return nil, err
	}
	for name, value := range query {
		r.query.Set(name, value)
	}
	return r, nil
}

// adapt renames and drops parameters.
func adapt(params, rename map[string]string, drop []string) {
	renamed := map[string]string{}
	for from, to := range rename {
		if value, ok := params[from]; ok {
			renamed[to] = value
			delete(params, from)
		}
	}
	maps.Copy(params, renamed)
	for _, name := range drop {
		delete(params, name)
	}
}

// encode writes the parameters into the body, or into the query.
func (d *exchange) encode(s *shape, r *request, method string) (err error) {
	kind := s.body
	if method == http.MethodGet || method == http.MethodHead {
		kind = bodyQuery
	}
	switch kind {
	case bodyQuery:
		for name, value := range r.params {
			r.query.Set(name, value)
		}
	case bodyJSON:
		r.header.Set("Content-Type", "application/json")
		if r.body, err = json.Marshal(r.params); err != nil {
			return fmt.Errorf("writing the request to %s: %w", d.app.ID, err)
		}
	case bodyXML:
		r.header.Set("Content-Type", "application/xml")
		text, err := app.Expand(s.xml, d.values, escapeXML)
		if err != nil {
			return fmt.Errorf("the request to %s: %w", d.app.ID, err)
		}
		r.body = []byte(text)
	case bodyForm, "":
		r.header.Set("Content-Type", "application/x-www-form-urlencoded")
		form := url.Values{}
		for name, value := range r.params {
			form.Set(name, value)
		}
		r.body = []byte(form.Encode())
	default:
		return fmt.Errorf("%s has no body %q", d.app.ID, kind)
	}
	return nil
}

func escapeXML(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes everything
	return b.String()
}

// signRequest signs body, query or whatever the definition says. The signature
// is also a value, for header templates with something around it.
func (d *exchange) signRequest(s *app.Signature, r *request) error {
	d.set("body", string(r.body))
	if s.Alg == "sigv4" {
		return nil // at last, over the whole request
	}
	if s.TS != "" {
		r.query.Set(s.TS, d.given["ts"])
	}
	d.set("query", r.query.Encode())
	key, err := d.expand(s.Key)
	if err != nil {
		return fmt.Errorf("the signature of %s: %w", d.app.ID, err)
	}
	over, err := d.expand(s.Over)
	if err != nil {
		return fmt.Errorf("the signature of %s: %w", d.app.ID, err)
	}
	encoding := s.Enc
	if encoding == "" {
		encoding = "hex"
	}
	signed, err := app.Expand("{over|"+s.Alg+":key:"+encoding+"}", app.Map{"over": over, "key": key}, nil)
	if err != nil {
		return fmt.Errorf("the signature of %s: %w", d.app.ID, err)
	}
	d.set("signature", signed)
	if s.Header != "" {
		r.header.Set(s.Header, signed)
	}
	if s.Query != "" {
		r.query.Set(s.Query, signed)
	}
	return nil
}

func (d *exchange) signV4(s *app.Signature, r *http.Request, body []byte) error {
	v, err := d.expandAll("the signature",
		map[string]string{"id": s.ID, "key": s.Key, "region": s.Region, "service": s.Service})
	if err != nil {
		return err
	}
	signature.V4(r, body, signature.Keys{
		ID: v["id"], Secret: v["key"], Session: d.given["session_token"],
		Region: v["region"], Service: v["service"],
	}, time.Now())
	return nil
}
