package httptool

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"ace/internal/platform/app"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
)

// fileFormat marks inputs that reference a file.
const fileFormat = "ace-file"

// encode writes the body.
func (d *draft) encode(ctx context.Context, c *tool.Call, body map[string]any) error {
	var value any = body
	if c.Tool.Wrap != "" {
		value = map[string]any{c.Tool.Wrap: body}
	}
	switch {
	case c.Tool.Fixed.Raw != "":
		d.setBody([]byte(c.Tool.Fixed.Raw), "application/json")
		return nil
	case c.Tool.Body == app.BodyNone:
		return nil
	case c.Tool.Body == app.BodyRelated:
		return d.related(ctx, c, body)
	case c.Tool.Body == app.BodyMultipart:
		return d.multipart(ctx, c, body)
	case c.Tool.Body == app.BodyRaw:
		return d.raw(ctx, c, body)
	}
	if err := putMail(ctx, c, body); err != nil {
		return err
	}
	switch c.Tool.Body {
	case app.BodyGraphQL:
		value = map[string]any{"query": c.Tool.GraphQL, "variables": body}
	case app.BodyForm, app.BodyBrackets:
		form := url.Values{}
		flatten(form, "", value, c.Tool.Body == app.BodyBrackets)
		d.setBody([]byte(form.Encode()), "application/x-www-form-urlencoded")
		return nil
	}
	if len(body) == 0 && c.Tool.Wrap == "" && !takesBody(c.Tool) {
		return nil
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing the body of %s: %w", c.Tool.ID, err)
	}
	d.setBody(encoded, "application/json")
	return nil
}

// takesBody reports whether a call has a body even if it has no members: any
// POST, and a change whose members are all optional.
func takesBody(t *app.Tool) bool {
	switch t.Method() {
	case http.MethodPost:
		return true
	case http.MethodPut, http.MethodPatch:
		return slices.ContainsFunc(t.In, func(in app.Input) bool { return t.Place(&in) == app.InBody })
	}
	return false
}

// setBody sets the body, and its media type if none is set.
func (d *draft) setBody(body []byte, mediaType string) {
	d.body = body
	if d.header.Get("Content-Type") == "" {
		d.header.Set("Content-Type", mediaType)
	}
}

// isFile reports whether an input references a file that can be opened.
func isFile(c *tool.Call, in *app.Input) bool {
	return in.Schema["format"] == fileFormat && c.Open != nil
}

// raw sends one input as the body: the bytes of a file, or a text.
func (d *draft) raw(ctx context.Context, c *tool.Call, body map[string]any) error {
	for i := range c.Tool.In {
		in := &c.Tool.In[i]
		value, ok := body[in.WireName()]
		if !ok {
			continue
		}
		if !isFile(c, in) {
			text := plain(value)
			if isJSON(d.header.Get("Content-Type")) {
				text = jsonText(in, text, value)
			}
			d.setBody([]byte(text), "text/plain; charset=utf-8")
			return nil
		}
		file, err := c.Open(ctx, app.Text(value))
		if err != nil {
			return err
		}
		d.setBody(file.Data, file.MediaType)
		return nil
	}
	return nil
}

// isJSON reports whether a media type is JSON.
func isJSON(mediaType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	kind = strings.TrimSpace(kind)
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

// jsonText returns the JSON of an argument that is the whole body. A text stays
// as it is if it is JSON already: one that a template has made, or one that
// stands for a value of any type.
func jsonText(in *app.Input, text string, value any) string {
	if _, isText := value.(string); !isText {
		return text // plain has written it as JSON
	}
	if json.Valid([]byte(text)) && (in.As != nil || in.Schema["type"] != "string") {
		return text
	}
	encoded, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(encoded)
}

// inlineFiles returns a call whose files are in the arguments themselves, as
// base64, if its body is text.
func inlineFiles(ctx context.Context, c *tool.Call) (*tool.Call, error) {
	switch c.Tool.Body {
	case app.BodyMultipart, app.BodyRaw, app.BodyRelated, app.BodyNone:
		return c, nil
	}
	made := *c
	for i := range c.Tool.In {
		in := &c.Tool.In[i]
		value, given := c.Arguments[in.Name]
		if !given || !isFile(c, in) || c.Tool.Place(in) != app.InBody {
			continue
		}
		file, err := c.Open(ctx, app.Text(value))
		if err != nil {
			return nil, err
		}
		made.Arguments = maps.Clone(made.Arguments)
		made.Arguments[in.Name] = base64.StdEncoding.EncodeToString(file.Data)
	}
	return &made, nil
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

// multipart writes a multipart form: the fields of the body by name, objects as
// JSON, then the files.
func (d *draft) multipart(ctx context.Context, c *tool.Call, body map[string]any) error {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	var files []*app.Input
	for i := range c.Tool.In {
		if in := &c.Tool.In[i]; isFile(c, in) && body[in.WireName()] != nil {
			files = append(files, in)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(body)) {
		if slices.ContainsFunc(files, func(in *app.Input) bool { return in.WireName() == name }) {
			continue
		}
		if err := w.WriteField(name, plain(body[name])); err != nil {
			return fmt.Errorf("writing a form: %w", err)
		}
	}
	for _, in := range files {
		file, err := c.Open(ctx, app.Text(body[in.WireName()]))
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
	d.setBody(out.Bytes(), w.FormDataContentType())
	return nil
}

// related writes the body as JSON, followed by the input that is media.
func (d *draft) related(ctx context.Context, c *tool.Call, body map[string]any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing the body of %s: %w", c.Tool.ID, err)
	}
	media := &file.File{MediaType: "text/plain; charset=utf-8"}
	for i := range c.Tool.In {
		in := &c.Tool.In[i]
		value, given := c.Arguments[in.Name]
		switch {
		case in.Where != app.InMedia || !given:
		case !isFile(c, in):
			media.Data = []byte(plain(value))
		default:
			if media, err = c.Open(ctx, app.Text(value)); err != nil {
				return err
			}
		}
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, part := range []file.File{{MediaType: "application/json; charset=utf-8", Data: encoded}, *media} {
		if err := writePart(w, textproto.MIMEHeader{"Content-Type": {strings.Map(dropBreaks, part.MediaType)}},
			part.Data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("writing the parts: %w", err)
	}
	d.setBody(out.Bytes(), "multipart/related; boundary="+w.Boundary())
	return nil
}

func writeFile(w *multipart.Writer, field string, file *file.File) error {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", "").Replace(file.Name)
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", `form-data; name="`+field+`"; filename="`+quoted+`"`)
	h.Set("Content-Type", strings.Map(dropBreaks, file.MediaType))
	return writePart(w, h, file.Data)
}

func writePart(w *multipart.Writer, header textproto.MIMEHeader, data []byte) error {
	part, err := w.CreatePart(header)
	if err != nil {
		return fmt.Errorf("writing a part: %w", err)
	}
	if _, err := part.Write(data); err != nil {
		return fmt.Errorf("writing a part: %w", err)
	}
	return nil
}
