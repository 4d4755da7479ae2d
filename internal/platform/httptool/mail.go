package httptool

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"

	"ace/internal/platform/app"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
)

// Wire names of inputs that are parts of an e-mail but no header fields.
const (
	mailText = "text"
	mailHTML = "html"
	mailFile = "file" // one or more
)

// letter is an e-mail that is being composed.
type letter struct {
	header     textproto.MIMEHeader
	order      []string
	text, html string
	files      []*file.File
}

// putMail writes the e-mail of a tool into the body, as base64url.
func putMail(ctx context.Context, c *tool.Call, body map[string]any) error {
	if c.Tool.Mail == "" {
		return nil
	}
	l := &letter{header: textproto.MIMEHeader{}}
	for i := range c.Tool.In {
		in := &c.Tool.In[i]
		value, given := c.Arguments[in.Name]
		if in.Where != app.InMail || !given || value == nil {
			continue
		}
		if err := l.add(ctx, c, in, value); err != nil {
			return err
		}
	}
	message, err := l.bytes()
	if err != nil {
		return fmt.Errorf("writing an e-mail: %w", err)
	}
	return app.Put(body, c.Tool.Mail, base64.URLEncoding.EncodeToString(message))
}

// add adds one input to the letter.
func (l *letter) add(ctx context.Context, c *tool.Call, in *app.Input, value any) error {
	switch name := in.WireName(); name {
	case mailText:
		l.text = app.Text(value)
	case mailHTML:
		l.html = app.Text(value)
	case mailFile:
		for _, one := range listOf(value) {
			if c.Open == nil { // a preview
				continue
			}
			file, err := c.Open(ctx, app.Text(one))
			if err != nil {
				return err
			}
			l.files = append(l.files, file)
		}
	case "From", "To", "Cc", "Bcc", "Reply-To":
		return l.people(in, value)
	default:
		text := app.Text(value)
		if !headerValue(text) {
			return badArgument("/arguments/"+in.Name,
				"A field of an e-mail holds no line break and no control character.")
		}
		l.set(name, mime.QEncoding.Encode("utf-8", text))
	}
	return nil
}

func (l *letter) set(name, value string) {
	l.order = append(l.order, name)
	l.header.Set(name, value)
}

// people returns one address or more, with or without names.
func (l *letter) people(in *app.Input, value any) error {
	var all []string
	for i, one := range listOf(value) {
		address, err := mail.ParseAddress(app.Text(one))
		if err != nil {
			return badArgument(fmt.Sprintf("/arguments/%s/%d", in.Name, i),
				"This is no e-mail address. Write ann@example.com, or Ann <ann@example.com>.")
		}
		all = append(all, address.String())
	}
	if len(all) > 0 {
		l.set(in.WireName(), strings.Join(all, ", "))
	}
	return nil
}

func listOf(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	return []any{value}
}

// bytes returns the letter as it is sent (RFC 5322): text and HTML as
// alternatives, then files.
func (l *letter) bytes() ([]byte, error) {
	var out bytes.Buffer
	for _, name := range l.order {
		fmt.Fprintf(&out, "%s: %s\r\n", name, l.header.Get(name))
	}
	out.WriteString("MIME-Version: 1.0\r\n")
	if len(l.files) == 0 {
		header, content, err := l.content()
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"Content-Type", "Content-Transfer-Encoding"} {
			if value := header.Get(name); value != "" {
				fmt.Fprintf(&out, "%s: %s\r\n", name, value)
			}
		}
		out.WriteString("\r\n")
		out.Write(content)
		return out.Bytes(), nil
	}
	w := multipart.NewWriter(&out)
	fmt.Fprintf(&out, "Content-Type: multipart/mixed; boundary=%s\r\n\r\n", w.Boundary())
	header, content, err := l.content()
	if err != nil {
		return nil, err
	}
	if err := writePart(w, header, content); err != nil {
		return nil, err
	}
	for _, file := range l.files {
		if err := attach(w, file); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

// content returns what is read: the text, the HTML, or both as alternatives.
func (l *letter) content() (textproto.MIMEHeader, []byte, error) {
	switch {
	case l.html == "":
		content, err := quoted(l.text)
		return partHeader("text/plain"), content, err
	case l.text == "":
		content, err := quoted(l.html)
		return partHeader("text/html"), content, err
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, part := range [][2]string{{"text/plain", l.text}, {"text/html", l.html}} {
		content, err := quoted(part[1])
		if err != nil {
			return nil, nil, err
		}
		if err := writePart(w, partHeader(part[0]), content); err != nil {
			return nil, nil, err
		}
	}
	err := w.Close()
	return textproto.MIMEHeader{"Content-Type": {"multipart/alternative; boundary=" + w.Boundary()}}, out.Bytes(), err
}

func partHeader(mediaType string) textproto.MIMEHeader {
	return textproto.MIMEHeader{
		"Content-Type":              {mediaType + "; charset=utf-8"},
		"Content-Transfer-Encoding": {"quoted-printable"},
	}
}

func quoted(text string) ([]byte, error) {
	var out bytes.Buffer
	w := quotedprintable.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

const base64Line = 76 // characters (RFC 2045, 6.8)

func attach(w *multipart.Writer, file *file.File) error {
	var lines bytes.Buffer
	for encoded := base64.StdEncoding.EncodeToString(file.Data); encoded != ""; {
		n := min(base64Line, len(encoded))
		lines.WriteString(encoded[:n] + "\r\n")
		encoded = encoded[n:]
	}
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": file.Name})
	if disposition == "" {
		disposition = "attachment"
	}
	return writePart(w, textproto.MIMEHeader{
		"Content-Type": {strings.Map(dropBreaks, file.MediaType)}, "Content-Transfer-Encoding": {"base64"},
		"Content-Disposition": {disposition},
	}, lines.Bytes())
}
