package httptool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/tool"
)

// draft is a request before it is sent.
type draft struct {
	method string
	url    *url.URL
	header http.Header
	body   []byte
}

func (d *draft) reader() io.Reader {
	if d.body == nil {
		return nil
	}
	return bytes.NewReader(d.body)
}

// draft builds the request of a call.
func (e *Executor) draft(ctx context.Context, c *tool.Call) (*draft, error) {
	d := &draft{method: c.Tool.Method(), header: http.Header{}}
	d.header.Set("Accept", "application/json")
	query := url.Values{}
	if err := d.address(c, query); err != nil {
		return nil, err
	}
	body := map[string]any{}
	for i := range c.Tool.In {
		if err := d.place(c, &c.Tool.In[i], query, body); err != nil {
			return nil, err
		}
	}
	if err := d.fix(c, query, body); err != nil {
		return nil, err
	}
	if err := d.authorize(c, query); err != nil {
		return nil, err
	}
	if more := query.Encode(); more != "" {
		d.url.RawQuery = joinQuery(d.url.RawQuery, more)
	}
	return d, d.encode(ctx, c, body)
}

func joinQuery(a, b string) string {
	if a == "" {
		return b
	}
	return a + "&" + b
}

// address expands base and path. What goes into a path is escaped, so that an
// argument can name nothing but what it stands for; "." and ".." stay text.
func (d *draft) address(c *tool.Call, query url.Values) error {
	baseTemplate := c.App.Base
	if c.Tool.Base != "" {
		baseTemplate = c.Tool.Base
	}
	base, err := app.Expand(baseTemplate, c.Live.Values, nil)
	if err != nil {
		return fmt.Errorf("the base address of %s: %w", c.App.ID, err)
	}
	baseURL, err := url.Parse(base)
	if err != nil || baseURL.Host == "" || baseURL.User != nil {
		return fmt.Errorf("the base address of %s is no address", c.App.ID)
	}
	path, err := app.Expand(c.Tool.Path(), app.Join(arguments(c.Arguments), c.Live.Values), escapeSegment)
	if err != nil {
		return fmt.Errorf("the path of %s: %w", c.Tool.ID, err)
	}
	prefix := ""
	if c.Scheme != nil && c.Scheme.Send.Path != "" {
		if prefix, err = app.Expand(c.Scheme.Send.Path, c.Live.Values, escapeSegment); err != nil {
			return fmt.Errorf("the path of %s: %w", c.App.ID, err)
		}
	}
	path, inline, _ := strings.Cut(path, "?")
	d.url, err = url.Parse(strings.TrimRight(base, "/") + prefix + path)
	if err != nil {
		return fmt.Errorf("the address of %s is no address", c.Tool.ID)
	}
	if !allowed(c.App, baseURL, d.url, c.Live.Values) {
		return problem.New(problem.Forbidden, "target_not_allowed", "This call would leave the hosts of "+c.App.Name+".")
	}
	if values, err := url.ParseQuery(inline); err == nil {
		for name, all := range values {
			query[name] = all
		}
	}
	return nil
}

// escapeSegment escapes a value for one segment of a path.
func escapeSegment(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
}

// arguments are the plain ones of a call as values of a template.
type arguments map[string]any

// Value implements app.Values.
func (a arguments) Value(name string) (string, bool) {
	v, ok := a[name]
	if !ok {
		return "", false
	}
	return app.Text(v), true
}

// place puts one input where it belongs.
func (d *draft) place(c *tool.Call, in *app.Input, query url.Values, body map[string]any) error {
	value, given := c.Arguments[in.Name]
	if !given || value == nil {
		return nil
	}
	switch c.Tool.Place(in) {
	case app.InPath:
		return nil // address has it
	case app.InQuery:
		addQuery(query, in, value)
	case app.InHeader:
		text := app.Text(value)
		if strings.ContainsAny(text, "\r\n\x00") {
			return problem.New(problem.Unprocessable, "invalid_arguments", "An argument that goes into a header holds a line break.").At("/arguments/" + in.Name).Advise("fix_arguments")
		}
		d.header.Set(in.WireName(), text)
	default:
		body[in.WireName()] = value
	}
	return nil
}

// addQuery writes lists as repeated parameters, with commas where the schema
// says "style: comma", and objects as their JSON.
func addQuery(query url.Values, in *app.Input, value any) {
	name := in.WireName()
	switch v := value.(type) {
	case []any:
		texts := make([]string, len(v))
		for i, one := range v {
			texts[i] = plain(one)
		}
		if in.Schema["style"] == "comma" {
			query.Set(name, strings.Join(texts, ","))
			return
		}
		query[name] = append(query[name], texts...)
	default:
		query.Set(name, plain(v))
	}
}

// plain is a value as text; arrays and objects as JSON.
func plain(v any) string {
	if text := app.Text(v); text != "" || v == "" {
		return text
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(encoded)
}

// fix adds what the caller does not choose.
func (d *draft) fix(c *tool.Call, query url.Values, body map[string]any) error {
	values := app.Join(arguments(c.Arguments), c.Live.Values)
	for _, set := range []struct {
		from map[string]string
		to   func(name, value string)
	}{
		{c.App.Headers, func(name, value string) { d.header.Set(name, value) }},
		{c.Tool.Fixed.Headers, func(name, value string) { d.header.Set(name, value) }},
		{c.Tool.Fixed.Query, func(name, value string) { query.Set(name, value) }},
	} {
		for name, template := range set.from {
			text, err := app.Expand(template, values, nil)
			if err != nil {
				return fmt.Errorf("%s of %s: %w", name, c.App.ID, err)
			}
			set.to(name, text)
		}
	}
	for name, value := range c.Tool.Fixed.Body {
		if template, ok := value.(string); ok {
			text, err := app.Expand(template, values, nil)
			if err != nil {
				return fmt.Errorf("%s of %s: %w", name, c.Tool.ID, err)
			}
			value = text
		}
		body[name] = value
	}
	return nil
}

// authorize adds credentials as the scheme says.
func (d *draft) authorize(c *tool.Call, query url.Values) error {
	if c.Scheme == nil {
		return nil
	}
	send := c.Scheme.Send
	if len(send.Headers) == 0 && len(send.Query) == 0 && send.Basic == nil && send.Path == "" {
		switch c.Scheme.Type {
		case app.TypeOAuth2, app.TypeClient, app.TypeExchange, app.TypeJWT, app.TypeMCP:
			send.Headers = map[string]string{"Authorization": "Bearer {access_token}"}
		case app.TypeBasic:
			send.Basic = &app.BasicPair{User: "{username}", Pass: "{password}"}
		}
	}
	for name, template := range send.Headers {
		text, err := app.Expand(template, c.Live.Values, nil)
		if err != nil {
			return fmt.Errorf("the credentials of %s: %w", c.App.ID, err)
		}
		d.header.Set(name, strings.Map(dropBreaks, text))
	}
	for name, template := range send.Query {
		text, err := app.Expand(template, c.Live.Values, nil)
		if err != nil {
			return fmt.Errorf("the credentials of %s: %w", c.App.ID, err)
		}
		query.Set(name, text)
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
	return nil
}

// dropBreaks takes what would end a header field out of it.
func dropBreaks(r rune) rune {
	if r == '\r' || r == '\n' || r == 0 {
		return -1
	}
	return r
}

// encode writes the body.
func (d *draft) encode(ctx context.Context, c *tool.Call, body map[string]any) error {
	var value any = body
	if c.Tool.Wrap != "" {
		value = map[string]any{c.Tool.Wrap: body}
	}
	switch c.Tool.Body {
	case app.BodyNone:
		return nil
	case app.BodyGraphQL:
		value = map[string]any{"query": c.Tool.GraphQL, "variables": body}
	case app.BodyForm, app.BodyBrackets:
		form := url.Values{}
		flatten(form, "", body, c.Tool.Body == app.BodyBrackets)
		d.body = []byte(form.Encode())
		d.header.Set("Content-Type", "application/x-www-form-urlencoded")
		return nil
	case app.BodyMultipart:
		return d.multipart(ctx, c, body)
	case app.BodyRaw:
		for _, one := range body {
			d.body = []byte(plain(one))
		}
		return nil
	}
	if len(body) == 0 && c.Tool.Wrap == "" && d.method != http.MethodPost {
		return nil
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing the body of %s: %w", c.Tool.ID, err)
	}
	d.body = encoded
	d.header.Set("Content-Type", "application/json")
	return nil
}

// flatten writes a body as a form: lists repeat, and with brackets objects and
// lists nest as a[b][0].
func flatten(form url.Values, prefix string, value any, brackets bool) {
	name := func(key string) string {
		if prefix == "" {
			return key
		}
		return prefix + "[" + key + "]"
	}
	switch v := value.(type) {
	case map[string]any:
		if prefix != "" && !brackets {
			form.Set(prefix, plain(v))
			return
		}
		for key, one := range v {
			flatten(form, name(key), one, brackets)
		}
	case []any:
		for i, one := range v {
			if brackets {
				flatten(form, name(fmt.Sprint(i)), one, brackets)
				continue
			}
			form.Add(prefix, plain(one))
		}
	case nil:
	default:
		form.Set(prefix, plain(v))
	}
}

// fileFormat marks inputs that name a file.
const fileFormat = "ace-file"

func (d *draft) multipart(ctx context.Context, c *tool.Call, body map[string]any) error {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for i := range c.Tool.In {
		in := &c.Tool.In[i]
		value, ok := body[in.WireName()]
		if !ok {
			continue
		}
		if in.Schema["format"] != fileFormat || c.Open == nil {
			if err := w.WriteField(in.WireName(), plain(value)); err != nil {
				return fmt.Errorf("writing a form: %w", err)
			}
			continue
		}
		file, err := c.Open(ctx, app.Text(value))
		if err != nil {
			return err
		}
		if err := writeFile(w, in.WireName(), file); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("writing a form: %w", err)
	}
	d.body = out.Bytes()
	d.header.Set("Content-Type", w.FormDataContentType())
	return nil
}

func writeFile(w *multipart.Writer, field string, file *tool.File) error {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", "").Replace(file.Name)
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", `form-data; name="`+field+`"; filename="`+quoted+`"`)
	h.Set("Content-Type", file.MediaType)
	part, err := w.CreatePart(h)
	if err != nil {
		return fmt.Errorf("writing a form: %w", err)
	}
	if _, err := part.Write(file.Data); err != nil {
		return fmt.Errorf("writing a form: %w", err)
	}
	return nil
}
