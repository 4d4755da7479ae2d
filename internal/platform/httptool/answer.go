package httptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/tool"
)

// answer is what came back.
type answer struct {
	status    int
	header    http.Header
	mediaType string
	body      []byte
	value     any // decoded JSON; nil where it is none
}

const shownBody = 4 << 10 // bytes of an answer that a failure shows

func (e *Executor) read(ctx context.Context, a *app.App, res *http.Response) (*answer, error) {
	body, err := io.ReadAll(io.LimitReader(res.Body, e.options.MaxAnswer+1))
	if p, ok := problem.From(err); err != nil && (!ok || p.Code != "response_too_large") {
		return nil, unreachable(ctx, a, err)
	}
	if err != nil || int64(len(body)) > e.options.MaxAnswer {
		return nil, &tool.Failure{Code: tool.CodeResponseInvalid, AppStatus: res.StatusCode, NextAction: "fix_arguments",
			Detail: "The answer of " + a.Name + " is larger than " + strconv.FormatInt(e.options.MaxAnswer>>20, 10) + " MiB. Ask for less, with a filter or a smaller page."}
	}
	got := &answer{status: res.StatusCode, header: res.Header, body: body}
	got.mediaType, _, _ = mime.ParseMediaType(res.Header.Get("Content-Type"))
	if looksLikeJSON(got) {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(&got.value); err != nil && !errors.Is(err, io.EOF) {
			got.value = nil
		}
	}
	return got, nil
}

func looksLikeJSON(a *answer) bool {
	trimmed := bytes.TrimLeft(a.body, " \t\r\n")
	return strings.HasSuffix(a.mediaType, "json") || len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[')
}

// judge answers nil for a success and otherwise what the app refused.
func judge(a *app.App, own app.Expect, got *answer) *tool.Failure {
	if own.Met(got.status, got.value) && (got.status >= 400 || a.Errors.OK.Met(got.status, got.value)) {
		return nil
	}
	f := &tool.Failure{AppStatus: got.status, AppBody: cut(string(got.body), shownBody), Code: codeOf(a, got)}
	f.Detail = firstText(got.value, a.Errors.Message, "/error/message", "/message", "/error_description", "/error", "/errors/0/message", "/errors/0", "/detail", "/title")
	if f.Detail == "" {
		f.Detail = a.Name + " answered " + strconv.Itoa(got.status) + " " + http.StatusText(got.status) + "."
	}
	f.Detail = cut(f.Detail, 500)
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

// codeOf sorts a refusal: by the app's own code where the definition knows it,
// else by the status.
func codeOf(a *app.App, got *answer) string {
	for _, pointer := range a.Errors.Code {
		if code, ok := a.Errors.Codes[app.PickText(got.value, pointer)]; ok {
			return code
		}
	}
	for _, status := range a.Rate.Status {
		if status == got.status {
			return tool.CodeRateLimited
		}
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

// wait is how long the app asks to wait; 0 where it does not say.
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

// cut shortens text to n bytes, on the border of a character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// result turns a success into what the tool answers.
func result(c *tool.Call, got *answer) (*tool.Answer, error) {
	out := &tool.Answer{Status: got.status, Bytes: len(got.body)}
	if c.Tool.Binary || got.value == nil && len(got.body) > 0 && !strings.HasPrefix(got.mediaType, "text/") && !utf8.Valid(got.body) {
		out.File = &tool.File{Name: fileName(got.header, c.Tool), MediaType: got.mediaType, Data: got.body}
		return out, nil
	}
	if strings.HasSuffix(got.mediaType, "json") && got.value == nil && len(bytes.TrimSpace(got.body)) > 0 {
		return nil, &tool.Failure{Code: tool.CodeResponseInvalid, AppStatus: got.status, AppBody: cut(string(got.body), shownBody), NextAction: "none",
			Detail: c.App.Name + " answered JSON that cannot be read. The call was carried out."}
	}
	switch {
	case got.value == nil && len(got.body) > 0:
		out.Output = string(got.body)
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

// next answers the arguments that read the next page, or nil.
func next(c *tool.Call, got *answer) map[string]any {
	p := c.Tool.Paging
	if p == nil {
		p = c.App.Paging
	}
	if p == nil || c.Tool.Items == "" || c.Tool.Effect != app.Reads {
		return nil
	}
	if p.More != "" {
		if more, ok := app.Pick(got.value, p.More); !ok || app.Text(more) != "true" {
			return nil
		}
	}
	with := func(name string, value any) map[string]any {
		arguments := map[string]any{}
		for k, v := range c.Arguments {
			arguments[k] = v
		}
		arguments[name] = value
		return arguments
	}
	switch p.Type {
	case app.PagingCursor, app.PagingGraphQL:
		if cursor := app.PickText(got.value, orNone(p.Out)); cursor != "" {
			return with(p.In, cursor)
		}
	case app.PagingPage, app.PagingOffset:
		return counted(c, p, got, with)
	case app.PagingLink:
		return fromAddress(c, linkNext(got.header.Get("Link")), with)
	case app.PagingNextURL:
		return fromAddress(c, app.PickText(got.value, orNone(p.Out)), with)
	}
	return nil
}

// counted goes on by number or offset while pages are full.
func counted(c *tool.Call, p *app.Paging, got *answer, with func(string, any) map[string]any) map[string]any {
	items, _ := app.Pick(got.value, c.Tool.Items)
	list, _ := items.([]any)
	size := number(c.Arguments[p.Size.Name], p.Size.Max)
	if len(list) == 0 || p.More == "" && len(list) < size {
		return nil
	}
	if p.Type == app.PagingPage {
		return with(p.In, number(c.Arguments[p.In], p.First)+1)
	}
	return with(p.In, number(c.Arguments[p.In], 0)+len(list))
}

func number(v any, otherwise int) int {
	n, err := strconv.Atoi(app.Text(v))
	if err != nil {
		return otherwise
	}
	return n
}

// fromAddress takes the inputs that the address of the next page names: the
// address itself is not handed out, since it may go anywhere.
func fromAddress(c *tool.Call, address string, with func(string, any) map[string]any) map[string]any {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return nil
	}
	arguments := with("", nil)
	delete(arguments, "")
	changed := false
	for i := range c.Tool.In {
		in := &c.Tool.In[i]
		values, ok := u.Query()[in.WireName()]
		if !ok || c.Tool.Place(in) != app.InQuery || len(values) != 1 || values[0] == app.Text(arguments[in.Name]) {
			continue
		}
		var value any = values[0]
		if in.Schema["type"] == "integer" {
			value = number(values[0], 0)
		}
		arguments[in.Name], changed = value, true
	}
	if !changed {
		return nil
	}
	return arguments
}

// linkNext is the address with rel="next" of a Link header (RFC 8288).
func linkNext(header string) string {
	for part := range strings.SplitSeq(header, ",") {
		address, params, ok := strings.Cut(strings.TrimSpace(part), ">")
		if !ok || !strings.HasPrefix(address, "<") {
			continue
		}
		for param := range strings.SplitSeq(params, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
			if strings.EqualFold(name, "rel") && strings.EqualFold(strings.Trim(value, `"`), "next") {
				return address[1:]
			}
		}
	}
	return ""
}
