package httptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ace/internal/foundation/excerpt"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
)

// answer is the response of an app.
type answer struct {
	status    int
	header    http.Header
	mediaType string
	body      []byte
	value     any // decoded JSON; nil where it is none
}

const shownBody = 4 << 10 // bytes of a response that a failure shows

func (e *Executor) read(ctx context.Context, a *app.App, d *draft, res *http.Response) (*answer, error) {
	body, err := io.ReadAll(io.LimitReader(res.Body, e.options.MaxAnswer+1))
	if p, ok := problem.From(err); err != nil && (!ok || p.Code != "response_too_large") {
		return nil, unreachable(ctx, a, err, true)
	}
	if err != nil || int64(len(body)) > e.options.MaxAnswer {
		return nil, &tool.Failure{
			Code: tool.CodeResponseInvalid, AppStatus: res.StatusCode, NextAction: "fix_arguments",
			Detail: "The answer of " + a.Name + " is larger than " + strconv.FormatInt(e.options.MaxAnswer>>20,
				10) + " MiB. Ask for less, with a filter or a smaller page.",
		}
	}
	got := &answer{status: res.StatusCode, header: d.maskHeader(res.Header), body: d.mask(body)}
	got.mediaType, _, _ = mime.ParseMediaType(res.Header.Get("Content-Type"))
	if looksLikeJSON(got) {
		decoder := json.NewDecoder(bytes.NewReader(got.body))
		decoder.UseNumber()
		if err := decoder.Decode(&got.value); err != nil && !errors.Is(err, io.EOF) {
			got.value = nil
		}
	}
	return got, nil
}

// maskHeader is mask for a header field of a response.
func (d *draft) maskHeader(h http.Header) http.Header {
	for _, values := range h {
		for i := range values {
			values[i] = string(d.mask([]byte(values[i])))
		}
	}
	return h
}

// isText reports whether the body can be shown as text.
func (a *answer) isText() bool {
	return len(a.body) > 0 && (strings.HasPrefix(a.mediaType, "text/") || utf8.Valid(a.body))
}

func looksLikeJSON(a *answer) bool {
	trimmed := bytes.TrimLeft(a.body, " \t\r\n")
	return strings.HasSuffix(a.mediaType, "json") || len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[')
}

// checkResponse returns nil for a success, otherwise what the app refused.
func checkResponse(a *app.App, own app.Expect, got *answer) *tool.Failure {
	if own.Met(got.status, got.value) && (got.status >= 400 || a.Errors.OK.Met(got.status, got.value)) {
		return nil
	}
	f := &tool.Failure{AppStatus: got.status, AppBody: excerpt.Bytes(string(got.body), shownBody), Code: codeOf(a, got)}
	f.Detail = firstText(got.value, a.Errors.Message, "/error/message", "/message", "/error_description", "/error",
		"/errors/0/message", "/errors/0", "/detail", "/title")
	if f.Detail == "" {
		f.Detail = a.Name + " answered " + strconv.Itoa(got.status) + " " + http.StatusText(got.status) + "."
	}
	f.Detail = excerpt.Bytes(f.Detail, 500)
	switch f.Code {
	case tool.CodeRateLimited, tool.CodeUnavailable:
		f.Retryable, f.NextAction, f.RetryAfter = true, "retry_later", wait(a, got.header)
		f.Unsent = f.Code == tool.CodeRateLimited
	case tool.CodeUnauthorized:
		f.NextAction, f.Unsent = "reconnect_app", true
	case tool.CodeForbidden:
		f.NextAction = "ask_owner_for_permission"
	case tool.CodeTimeout:
		f.Retryable, f.NextAction = true, "retry_later"
	default:
		f.NextAction = "fix_arguments"
	}
	return f
}

func firstText(value any, own []string, usual ...string) string {
	for _, pointer := range append(append([]string{}, own...), usual...) {
		if text := app.PickText(value, pointer); text != "" {
			return text
		}
	}
	return ""
}

// codeOf returns the code of a failure: by the app's own code if the definition
// maps it, else by the status.
func codeOf(a *app.App, got *answer) string {
	for _, pointer := range a.Errors.Code {
		if code, ok := a.Errors.Codes[app.PickText(got.value, pointer)]; ok {
			return code
		}
	}
	if slices.Contains(a.Rate.Status, got.status) {
		return tool.CodeRateLimited
	}
	if a.Rate.Remaining != "" && got.status == http.StatusForbidden && got.header.Get(a.Rate.Remaining) == "0" {
		return tool.CodeRateLimited
	}
	switch got.status {
	case http.StatusUnauthorized:
		return tool.CodeUnauthorized
	case http.StatusForbidden:
		return tool.CodeForbidden
	case http.StatusNotFound, http.StatusGone:
		return tool.CodeNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return tool.CodeConflict
	case http.StatusTooManyRequests:
		return tool.CodeRateLimited
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return tool.CodeTimeout
	}
	if got.status >= 500 {
		return tool.CodeUnavailable
	}
	return tool.CodeBadRequest
}

const maxWait = 15 * time.Minute

// wait returns how long the app asks to wait; 0 if it does not say.
func wait(a *app.App, h http.Header) time.Duration {
	name := a.Rate.After
	if name == "" {
		name = "Retry-After"
	}
	text := h.Get(name)
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 {
		return min(time.Duration(seconds*float64(time.Second)), maxWait)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, time.Until(at)), maxWait)
	}
	if a.Rate.At != "" {
		if at, err := strconv.ParseInt(h.Get(a.Rate.At), 10, 64); err == nil {
			return min(max(0, time.Until(time.Unix(at, 0))), maxWait)
		}
	}
	return 0
}

// result returns what the tool returns for a success.
func result(c *tool.Call, got *answer) (*tool.Answer, error) {
	out := &tool.Answer{Status: got.status, Bytes: len(got.body)}
	if c.Tool.Binary || got.value == nil && len(got.body) > 0 && !got.isText() {
		out.File = &file.File{Name: fileName(got.header, c.Tool), MediaType: got.mediaType, Data: got.body}
		return out, nil
	}
	if strings.HasSuffix(got.mediaType, "json") && got.value == nil && len(bytes.TrimSpace(got.body)) > 0 {
		return nil, &tool.Failure{
			Code: tool.CodeResponseInvalid, AppStatus: got.status, AppBody: excerpt.Bytes(string(got.body), shownBody),
			NextAction: "none",
			Detail:     c.App.Name + " answered JSON that cannot be read. The call was carried out.",
		}
	}
	switch {
	case got.value == nil && len(got.body) > 0:
		out.Output = strings.ToValidUTF8(string(got.body), "\uFFFD")
	case len(c.Tool.Out) == 0:
		out.Output = got.value
	default:
		picked := map[string]any{}
		for name, pointer := range c.Tool.Out {
			if value, ok := app.Pick(got.value, pointer); ok {
				picked[name] = value
			}
		}
		out.Output = picked
	}
	out.Next = next(c, got)
	return out, nil
}

func fileName(h http.Header, t *app.Tool) string {
	if _, params, err := mime.ParseMediaType(h.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		return path.Base(strings.ReplaceAll(params["filename"], `\`, "/"))
	}
	return t.Name
}
