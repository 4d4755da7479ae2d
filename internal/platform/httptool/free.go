package httptool

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"ace/internal/platform/app"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
)

// free fills a raw request. Whatever it says, it goes to the app's base URL and
// carries the credentials of the connection and no others.
func (d *draft) free(c *tool.Call, query url.Values) error {
	path, inline, _ := strings.Cut(c.Tool.Path(), "?")
	if !plainPath(c.Tool.Path()) {
		return badArgument("/arguments/path",
			`A path begins with one slash, and holds no "..", "//", "\", "#" or control character.`)
	}
	if err := d.address(c, escapePath(path)); err != nil {
		return err
	}
	values, err := url.ParseQuery(inline)
	if err != nil {
		return badArgument("/arguments/path", "The query of the path cannot be read. Use the argument query.")
	}
	maps.Copy(query, values)
	given, _ := c.Arguments["query"].(map[string]any)
	for name, value := range given {
		query.Del(name)
		addQuery(query, &app.Input{Name: name}, value)
	}
	if err := d.fixHeaders(c); err != nil {
		return err
	}
	if err := d.freeHeaders(c); err != nil {
		return err
	}
	return d.freeBody(c.Arguments["body"])
}

// plainPath reports whether a path names something below the app's base URL and
// nothing else, however it is spelled.
func plainPath(path string) bool {
	path, query, _ := strings.Cut(path, "?")
	if !strings.HasPrefix(path, "/") || strings.Contains(path, "//") || strings.ContainsAny(path+query, `\#`) ||
		!headerValue(path+query) {
		return false
	}
	decoded, err := url.PathUnescape(path)
	if err != nil || !headerValue(decoded) {
		return false
	}
	return !slices.ContainsFunc(strings.FieldsFunc(decoded, func(r rune) bool { return r == '/' || r == '\\' }),
		func(part string) bool {
			part, _, _ = strings.Cut(part, ";") // some servers take parameters off first
			return part == ".." || part == "."
		})
}

// escapePath escapes what is not valid in a path, and leaves what is escaped
// already.
func escapePath(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c == '%' || c == '/' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' ||
			strings.IndexByte("-._~!$&'()*+,;=:@", c) >= 0 {
			_ = b.WriteByte(c)
			continue
		}
		_, _ = fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

var tokenShape = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$")

// withheld are the header fields that a caller may not set: hop-by-hop fields
// (RFC 9110, 7.6.1), credentials, and those that make a server treat the
// request as another one.
func withheld(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect",
		"Host", "Content-Length", "Accept-Encoding",
		"Authorization", "Proxy-Authorization", "Cookie", "Cookie2", "Forwarded", "Via", "Http2-Settings",
		"X-Http-Method", "X-Http-Method-Override", "X-Method-Override", "X-Original-Url", "X-Rewrite-Url", "X-Real-Ip":
		return true
	}
	return strings.HasPrefix(name, "X-Forwarded-") || strings.HasPrefix(name, "Proxy-") || strings.HasPrefix(name,
		"Sec-")
}

func (d *draft) freeHeaders(c *tool.Call) error {
	given, _ := c.Arguments["headers"].(map[string]any)
	for name, value := range given {
		text, _ := value.(string)
		pointer := "/arguments/headers/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		switch {
		case !tokenShape.MatchString(name):
			return badArgument(pointer, "This is not the name of a header field.")
		case !headerValue(text):
			return badArgument(pointer,
				"The value of a header field holds no line break and no other control character.")
		case !withheld(http.CanonicalHeaderKey(name)):
			d.header.Set(name, text)
		}
	}
	return nil
}

// freeBody writes an object or a list as JSON, or as a form if the headers say
// so, and a text unchanged.
func (d *draft) freeBody(value any) error {
	kind := d.header.Get("Content-Type")
	switch v := value.(type) {
	case nil:
	case string:
		d.setBody([]byte(v), "text/plain; charset=utf-8")
	case map[string]any:
		if strings.HasPrefix(kind, "application/x-www-form-urlencoded") {
			form := url.Values{}
			flatten(form, "", v, true)
			d.setBody([]byte(form.Encode()), kind)
			return nil
		}
		return d.freeJSON(v)
	default:
		return d.freeJSON(v)
	}
	return nil
}

func (d *draft) freeJSON(value any) error {
	encoded, err := json.Marshal(value)
	if err != nil {
		return badArgument("/arguments/body", "The body cannot be written as JSON.")
	}
	d.setBody(encoded, "application/json")
	return nil
}

// freely returns the response to a raw request. If the app refuses, the error
// is a Failure with that response.
func freely(c *tool.Call, got *answer) (*tool.Answer, error) {
	headers := map[string]any{}
	for name, values := range got.header {
		if name == "Set-Cookie" || withheld(name) && name != "Content-Length" {
			continue
		}
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	output := map[string]any{"status": got.status, "headers": headers, "body": nil}
	out := &tool.Answer{Status: got.status, Output: output, Bytes: len(got.body)}
	switch {
	case got.value != nil:
		output["body"] = got.value
	case got.isText():
		output["body"] = strings.ToValidUTF8(string(got.body), "\uFFFD")
	case len(got.body) > 0:
		out.File = &file.File{Name: fileName(got.header, c.Tool), MediaType: got.mediaType, Data: got.body}
	}
	if got.status < http.StatusBadRequest {
		return out, nil
	}
	failure := checkResponse(c.App, app.Expect{}, got)
	failure.Answer = out
	return nil, failure
}
