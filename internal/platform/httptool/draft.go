package httptool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/tool"
)

// draft is a request before it is sent.
type draft struct {
	method  string
	url     *url.URL
	header  http.Header
	body    []byte
	secrets []string // what must not come back
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
	body := map[string]any{}
	var err error
	if c.Tool.Free {
		err = d.free(c, query)
	} else if c, err = inlineFiles(ctx, c); err == nil {
		err = d.defined(c, query, body)
	}
	if err != nil {
		return nil, err
	}
	if err := d.authorize(c, query); err != nil {
		return nil, err
	}
	if more := query.Encode(); more != "" {
		d.url.RawQuery = joinQuery(d.url.RawQuery, more)
	}
	if !c.Tool.Free {
		if err := d.encode(ctx, c, body); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// defined fills the request of a tool of the definition.
func (d *draft) defined(c *tool.Call, query url.Values, body map[string]any) error {
	for i := range c.Tool.In {
		if err := onePlace(c, &c.Tool.In[i]); err != nil {
			return err
		}
	}
	path, err := app.Expand(c.Tool.Path(), app.Join(arguments(c.Arguments), c.Live.Values), escapeSegment)
	if err != nil {
		return fmt.Errorf("the path of %s: %w", c.Tool.ID, err)
	}
	path, inline, _ := strings.Cut(path, "?")
	if err := d.address(c, path); err != nil {
		return err
	}
	if values, err := url.ParseQuery(inline); err == nil {
		maps.Copy(query, values)
	}
	if err := fixBody(c, body); err != nil {
		return err
	}
	for i := range c.Tool.In {
		if err := d.place(c, &c.Tool.In[i], query, body); err != nil {
			return err
		}
	}
	app.Compact(body)
	return d.fix(c, query)
}

func joinQuery(a, b string) string {
	if a == "" {
		return b
	}
	return a + "&" + b
}

// address joins base and path. What goes into a path is escaped, so that an
// argument can name nothing but one thing; "." and ".." stay text.
func (d *draft) address(c *tool.Call, path string) error {
	template := c.App.Base
	if c.Scheme != nil && c.Scheme.Base != "" {
		template = c.Scheme.Base
	}
	if c.Tool.Base != "" {
		template = c.Tool.Base
	}
	base, err := expandBase(template, c.Live.Values)
	if err != nil {
		return fmt.Errorf("the base address of %s: %w", c.App.ID, err)
	}
	prefix := ""
	if c.Scheme != nil && c.Scheme.Send.Path != "" {
		if prefix, err = app.Expand(c.Scheme.Send.Path, c.Live.Values, escapeSegment); err != nil {
			return fmt.Errorf("the path of %s: %w", c.App.ID, err)
		}
		d.remember(c, c.Scheme.Send.Path, "")
	}
	target, err := url.Parse(strings.TrimRight(base.String(), "/") + prefix + path)
	if err != nil {
		return fmt.Errorf("the address of %s is no address", c.Tool.ID)
	}
	d.url = target
	if !allowed(c.App, base, target, c.Live.Values) {
		return problem.New(problem.Forbidden, "target_not_allowed",
			"This call would leave the hosts of "+c.App.Name+".")
	}
	return nil
}

// authorityShape allows stars: a preview has them where a secret determines the
// host, and no host has such a name.
var authorityShape = regexp.MustCompile(`^[A-Za-z0-9_*]([A-Za-z0-9._*-]*[A-Za-z0-9_])?(:[0-9]{1,5})?$`)

// expandBase expands the base URL of an API. A value can name a host or a part
// of one, and pieces of the path, and nothing else: what follows it in the
// template remains the end of the host.
func expandBase(template string, values app.Values) (*url.URL, error) {
	scheme, rest, _ := strings.Cut(template, "://")
	if strings.Contains(scheme, "{") { // a whole URL that the app provided
		text, err := app.Expand(template, values, nil)
		if err != nil {
			return nil, err
		}
		return baseURL(text)
	}
	authority, path, _ := strings.Cut(rest, "/")
	host, err := app.Expand(authority, values, nil)
	if err != nil {
		return nil, err
	}
	if strings.Contains(authority, "{") && !authorityShape.MatchString(host) {
		return nil, fmt.Errorf("the host of %q would be none", template)
	}
	if path, err = app.Expand(path, values, escapeSegment); err != nil {
		return nil, err
	}
	return baseURL(scheme + "://" + host + "/" + path)
}

func baseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("it is no address of an API")
	}
	return u, nil
}

// allowed reports whether a request may go to a host: that of the expanded
// base, or one that the definition lists.
func allowed(a *app.App, base *url.URL, target *url.URL, values app.Values) bool {
	if target.User != nil {
		return false
	}
	if target.Scheme == base.Scheme && strings.EqualFold(target.Host, base.Host) {
		return true
	}
	return target.Scheme == "https" && slices.ContainsFunc(a.Hosts, func(host string) bool {
		expanded, err := app.Expand(host, values, nil)
		return err == nil && strings.EqualFold(expanded, target.Host)
	})
}

// onePlace refuses an argument in the path that would not name one thing there:
// an empty one, or one that leads up.
func onePlace(c *tool.Call, in *app.Input) error {
	if c.Tool.Place(in) != app.InPath {
		return nil
	}
	text := app.Text(c.Arguments[in.Name])
	up := func(part string) bool { return part == "." || part == ".." }
	switch {
	case text == "":
		return badArgument("/arguments/"+in.Name, "An argument in the path must not be empty.")
	case slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' }), up),
		!headerValue(text):
		return badArgument("/arguments/"+in.Name,
			`An argument in the path must not hold ".", ".." or control characters.`)
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

// arguments are the scalar arguments of a call as values of a template.
type arguments map[string]any

// Value implements app.Values.
func (a arguments) Value(name string) (string, bool) {
	v, ok := a[name]
	if !ok {
		return "", false
	}
	return app.Text(v), true
}

// place adds one input where it belongs.
func (d *draft) place(c *tool.Call, in *app.Input, query url.Values, body map[string]any) error {
	value, given := c.Arguments[in.Name]
	if !given || value == nil {
		return nil
	}
	switch c.Tool.Place(in) {
	case app.InPath:
		return nil // address has it
	case app.InMedia, app.InMail, app.InFixed:
		return nil // encode has them, or fix
	}
	value, err := in.Sent(value)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Tool.ID, err)
	}
	switch c.Tool.Place(in) {
	case app.InQuery:
		addQuery(query, in, value)
	case app.InHeader:
		text := plain(value)
		if !headerValue(text) {
			return badArgument("/arguments/"+in.Name,
				"An argument that goes into a header holds a line break or another control character.")
		}
		d.header.Set(in.WireName(), text)
	default:
		if members, ok := value.(map[string]any); ok && in.Style == app.StyleMembers {
			maps.Copy(body, members)
			return nil
		}
		if err := app.Put(body, in.WireName(), value); err != nil {
			return fmt.Errorf("%s of %s: %w", in.Name, c.Tool.ID, err)
		}
	}
	return nil
}

func badArgument(pointer, detail string) error {
	return problem.New(problem.Unprocessable, "invalid_arguments", detail).At(pointer).Advise("fix_arguments")
}

// headerValue reports whether a text may be the value of a header field.
func headerValue(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// addQuery writes lists and objects in the style of the input.
func addQuery(query url.Values, in *app.Input, value any) {
	name := in.WireName()
	switch v := value.(type) {
	case []any:
		texts := make([]string, len(v))
		for i, one := range v {
			texts[i] = plain(one)
		}
		switch separator, joined := separators(in.Style); {
		case joined:
			query.Set(name, strings.Join(texts, separator))
		case in.Style == app.StyleEmpty:
			query[name+"[]"] = append(query[name+"[]"], texts...)
		default:
			query[name] = append(query[name], texts...)
		}
	case map[string]any:
		switch in.Style {
		case app.StyleDeep:
			flatten(query, name, v, true)
		case app.StyleMembers:
			for key, one := range v {
				query.Set(key, plain(one))
			}
		default:
			query.Set(name, plain(v))
		}
	default:
		query.Set(name, plain(v))
	}
}

// separators are between the entries of a list that is one parameter.
func separators(style string) (separator string, joined bool) {
	switch style {
	case app.StyleComma:
		return ",", true
	case app.StyleSpace:
		return " ", true
	case app.StylePipe:
		return "|", true
	case app.StyleTab:
		return "\t", true
	}
	return "", false
}

// plain returns a value as text; arrays and objects as JSON.
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
func (d *draft) fix(c *tool.Call, query url.Values) error {
	values := app.Join(arguments(c.Arguments), c.Live.Values, app.Moment())
	if err := d.fixHeaders(c); err != nil {
		return err
	}
	for name, template := range c.Tool.Fixed.Query {
		text, err := app.Expand(template, values, nil)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", name, c.Tool.ID, err)
		}
		query.Set(name, text)
	}
	return nil
}

// fixBody adds the fixed values of the definition to the body, before the
// inputs, which may replace them.
func fixBody(c *tool.Call, body map[string]any) error {
	values := app.Join(arguments(c.Arguments), c.Live.Values, app.Moment())
	for _, name := range slices.Sorted(maps.Keys(c.Tool.Fixed.Body)) {
		filled, err := app.Fill(c.Tool.Fixed.Body[name], values)
		if err == nil {
			err = app.Put(body, name, filled)
		}
		if err != nil {
			return fmt.Errorf("%s of %s: %w", name, c.Tool.ID, err)
		}
	}
	return nil
}

// fixHeaders sets the headers of the app and of the tool.
func (d *draft) fixHeaders(c *tool.Call) error {
	values := app.Join(arguments(c.Arguments), c.Live.Values, app.Moment())
	if c.Tool.Free { // its arguments are no values of templates
		values = app.Join(c.Live.Values, app.Moment())
	}
	for _, set := range []map[string]string{c.App.Headers, c.Tool.Fixed.Headers} {
		for name, template := range set {
			text, err := app.Expand(template, values, nil)
			if err != nil {
				return fmt.Errorf("%s of %s: %w", name, c.App.ID, err)
			}
			d.header.Set(name, strings.Map(dropBreaks, text))
			d.remember(c, template, "")
		}
	}
	return nil
}
