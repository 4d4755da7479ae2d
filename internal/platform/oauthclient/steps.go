package oauthclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient/reply"
)

// Names that a step can keep besides credentials and params: when its token
// ends.
const (
	keepExpiresIn = "expires_in" // seconds
	keepExpiresAt = "expires_at" // a time, or seconds or milliseconds since 1970
)

// trade makes a token of what was typed, by the scheme's steps.
func (d *exchange) trade(ctx context.Context) error {
	if err := d.steps(ctx, d.scheme.Steps, false); err != nil {
		return err
	}
	if d.grant.Credentials[accessToken] == "" && len(d.scheme.Steps) > 0 &&
		d.scheme.Credentials().Headers["Authorization"] == "Bearer {access_token}" {
		return &connection.RefreshError{Class: connection.Unknown, Code: codeNoToken}
	}
	return nil
}

// steps makes calls in order; each can name what those before it kept.
func (d *exchange) steps(ctx context.Context, steps []app.Step, withCredentials bool) error {
	for i := range steps {
		a, err := d.step(ctx, &steps[i], withCredentials)
		if err != nil {
			return err
		}
		if err := d.storeValues(&steps[i], a); err != nil {
			return err
		}
	}
	return nil
}

// step makes one call; a response that is no success is a failure.
func (d *exchange) step(ctx context.Context, step *app.Step, withCredentials bool) (*reply.Reply, error) {
	r, err := d.stepRequest(ctx, step)
	if err != nil {
		return nil, err
	}
	if withCredentials {
		if err := d.putCredentials(r); err != nil {
			return nil, err
		}
	}
	a, err := reply.Fetch(d.c.httpClientOf(d.app), r, "")
	if err != nil {
		return nil, err
	}
	if !step.OK.Met(a.Status, a.Document) {
		failed := d.failed(a)
		if (a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden) &&
			failed.Class == connection.Unknown {
			failed.Class = connection.GrantOver
		}
		return nil, failed
	}
	return a, nil
}

func (d *exchange) stepRequest(ctx context.Context, step *app.Step) (*http.Request, error) {
	method, target, _ := strings.Cut(step.Call, " ")
	if !strings.Contains(target, "://") && !strings.HasPrefix(target, "{") {
		base := step.Base
		if base == "" {
			base = d.app.Base
		}
		target = strings.TrimRight(base, "/") + target
	}
	address, err := d.address(target)
	if err != nil {
		return nil, err
	}
	query, err := d.expandAll("the parameter", step.Query)
	if err != nil {
		return nil, err
	}
	body, contentType, err := d.stepBody(step)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, join(address, encodeQuery(query)), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("a step of %s is no call", d.app.ID)
	}
	r.Header.Set("Accept", "application/json")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	fields, err := d.expandAll("the header", step.Headers)
	if err != nil {
		return nil, err
	}
	return r, (&request{header: r.Header}).setFields(fields)
}

func (d *exchange) stepBody(step *app.Step) (body []byte, contentType string, err error) {
	switch {
	case step.XML != "":
		text, err := app.Expand(step.XML, d.values, escapeXML)
		if err != nil {
			return nil, "", fmt.Errorf("a step of %s: %w", d.app.ID, err)
		}
		return []byte(text), "text/xml; charset=utf-8", nil
	case step.Form != nil:
		fields, err := d.expandAll("the parameter", step.Form)
		if err != nil {
			return nil, "", err
		}
		form := url.Values{}
		for name, value := range fields {
			form.Set(name, value)
		}
		return []byte(form.Encode()), "application/x-www-form-urlencoded", nil
	case step.Body != nil:
		filled, err := d.fill(step.Body)
		if err != nil {
			return nil, "", err
		}
		body, err := json.Marshal(filled)
		if err != nil {
			return nil, "", fmt.Errorf("a step of %s: %w", d.app.ID, err)
		}
		return body, "application/json", nil
	}
	return nil, "", nil
}

// fill fills the templates inside a value.
func (d *exchange) fill(value any) (any, error) {
	switch v := value.(type) {
	case string:
		text, err := d.expand(v)
		if err != nil {
			return nil, fmt.Errorf("a step of %s: %w", d.app.ID, err)
		}
		return text, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, one := range v {
			filled, err := d.fill(one)
			if err != nil {
				return nil, err
			}
			out[name] = filled
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			filled, err := d.fill(one)
			if err != nil {
				return nil, err
			}
			out[i] = filled
		}
		return out, nil
	}
	return value, nil
}

// storeValues stores what a step returned.
func (d *exchange) storeValues(step *app.Step, a *reply.Reply) error {
	for name, place := range step.Keep {
		name, optional := strings.CutSuffix(name, "?")
		text := a.At(place)
		switch {
		case text == "" && optional:
			continue
		case text == "":
			return &connection.RefreshError{Class: connection.Unknown, Status: a.Status, Code: "value_missing:" + name}
		}
		if err := d.storeValue(name, text); err != nil {
			return err
		}
	}
	if step.Keep[accessToken] != "" && d.grant.ExpiresAt.IsZero() {
		d.grant.ExpiresAt = reply.Ends(app.PickText(reply.Claims(d.given[accessToken]), "/exp"),
			&app.Expires{Kind: "at"}, time.Now())
		if life := d.oauth.Token.Expires.Default; d.grant.ExpiresAt.IsZero() && life > 0 {
			d.grant.ExpiresAt = time.Now().Add(time.Duration(life) * time.Second).Truncate(time.Second)
		}
	}
	return nil
}

func (d *exchange) storeValue(name, text string) error {
	switch name {
	case accessToken, refreshToken:
		return d.storeToken(name, text)
	case keepExpiresIn:
		d.grant.ExpiresAt = reply.Ends(text, &app.Expires{}, time.Now())
		return nil
	case keepExpiresAt:
		d.grant.ExpiresAt = reply.Moment(text)
		return nil
	}
	return d.setParam(name, text)
}

// putCredentials adds the connection's credentials as calls carry them.
func (d *exchange) putCredentials(r *http.Request) error {
	send := d.scheme.Credentials()
	fields, err := d.expandAll("the header", send.Headers)
	if err != nil {
		return err
	}
	if err := (&request{header: r.Header}).setFields(fields); err != nil {
		return err
	}
	query, err := d.expandAll("the parameter", send.Query)
	if err != nil {
		return err
	}
	if len(query) > 0 {
		r.URL.RawQuery = strings.TrimPrefix(r.URL.RawQuery+"&"+encodeQuery(query), "&")
	}
	if send.Basic != nil {
		halves, err := d.expandAll("the half", map[string]string{"user": send.Basic.User, "pass": send.Basic.Pass})
		if err != nil {
			return err
		}
		r.SetBasicAuth(halves["user"], halves["pass"])
	}
	return Sign(r, d.scheme, d.values)
}

// Steps implements connection.Stepper with the credentials of live put into each
// call. Its problems are app_unauthorized, app_forbidden, app_unavailable and
// app_bad_request.
func (c *Client) Steps(ctx context.Context, a *app.App, s *app.Scheme, live *connection.Live,
	steps []app.Step,
) (map[string]string, error) {
	d, err := c.newExchange(a, s, nil, live.Connection.Params, nil)
	if err != nil {
		return nil, err
	}
	d.values = app.Join(d.values, live.Values)
	if err := d.steps(ctx, steps, true); err != nil {
		return nil, stepProblem(a, err)
	}
	credentials := map[string]string{}
	for name := range d.received {
		credentials[name] = d.given[name]
	}
	return credentials, nil
}

func stepProblem(a *app.App, err error) error {
	e := asFailed(err)
	switch {
	case e == nil:
		return err
	case e.Class == connection.Temporary:
		return problem.New(problem.Unavailable, "app_unavailable", a.Name+" does not answer just now.").After(e.After)
	case e.Status == http.StatusForbidden:
		return problem.New(problem.Forbidden, "app_forbidden",
			a.Name+" does not let this account read what connecting needs.")
	case e.Class == connection.GrantOver, slices.Contains(overCodes, e.Code):
		return problem.New(problem.Unprocessable, "app_unauthorized", a.Name+" does not accept these credentials.")
	}
	return problem.New(problem.Unprocessable, "app_bad_request",
		a.Name+" did not tell what connecting needs ("+e.Code+").")
}
