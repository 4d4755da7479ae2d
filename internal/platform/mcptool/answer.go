package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"ace/internal/foundation/excerpt"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
)

// result is the result of a call.
type result struct {
	Type       string          `json:"resultType"`
	Content    []block         `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
}

// block is one piece of content.
type block struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Data      []byte `json:"data"`
	MediaType string `json:"mimeType"`
	URI       string `json:"uri"`
	Name      string `json:"name"`
	Resource  *struct {
		URI       string `json:"uri"`
		MediaType string `json:"mimeType"`
		Text      string `json:"text"`
		Blob      []byte `json:"blob"`
	} `json:"resource"`
}

// needsInput is the type of a result that asks for input.
const needsInput = "input_required"

func parseResult(text []byte) (*result, error) {
	r := &result{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("reading a result: %w", err)
	}
	return r, nil
}

// answer returns what the tool returns for a result.
func answer(c *tool.Call, result *result, secrets []string) (*tool.Answer, error) {
	if result.Type == needsInput {
		return nil, &tool.Failure{
			Code: tool.CodeConflict, NextAction: "none",
			Detail: c.App.Name +
				" wants to ask a person something before it goes on. A connector cannot hand such questions on.",
		}
	}
	if result.IsError {
		said := mask(texts(result.Content), secrets)
		detail := excerpt.Bytes(said, 500)
		if detail == "" {
			detail = c.App.Name + " refused the call without a word."
		}
		return nil, &tool.Failure{
			Code: tool.CodeBadRequest, Detail: detail, AppBody: excerpt.Bytes(said, 4<<10),
			NextAction: "fix_arguments",
		}
	}
	out := &tool.Answer{Status: 200}
	var value any
	switch parts := blocks(out, c.Tool, result.Content); {
	case len(result.Structured) > 0 && string(result.Structured) != "null":
		value = result.Structured
	case len(parts) == 1 && parts[0].Text != "":
		value = textValue(parts[0].Text)
	case len(parts) > 0:
		value = parts
	}
	plain, size, err := plainValue(value, secrets)
	if err != nil {
		return nil, err
	}
	out.Output = plain
	if out.File != nil {
		size += len(out.File.Data)
	}
	out.Bytes = size
	return out, nil
}

// part is one block of content in an output.
type part struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	URI  string `json:"uri,omitempty"`
	Name string `json:"name,omitempty"`
	// MediaType and Bytes describe a file that was omitted, since a response has
	// one.
	MediaType string `json:"mime_type,omitempty"`
	Bytes     int    `json:"bytes,omitempty"`
}

// blocks reads content; the first block that is no text becomes the file of the response.
func blocks(out *tool.Answer, t *app.Tool, content []block) (parts []part) {
	file := func(one part, data []byte) {
		if out.File == nil {
			out.File = &file.File{Name: t.Name, MediaType: one.MediaType, Data: data}
			return
		}
		one.Bytes = len(data)
		parts = append(parts, one)
	}
	for _, b := range content {
		switch r := b.Resource; {
		case b.Type == "text":
			parts = append(parts, part{Type: b.Type, Text: b.Text})
		case b.Type == "image", b.Type == "audio":
			file(part{Type: b.Type, MediaType: b.MediaType}, b.Data)
		case b.Type == "resource_link":
			parts = append(parts, part{Type: b.Type, URI: b.URI, Name: b.Name, MediaType: b.MediaType})
		case b.Type != "resource" || r == nil:
		case len(r.Blob) > 0:
			file(part{Type: b.Type, URI: r.URI, MediaType: r.MediaType}, r.Blob)
		default:
			parts = append(parts, part{Type: b.Type, URI: r.URI, Text: r.Text, MediaType: r.MediaType})
		}
	}
	return parts
}

// textValue returns a text, or the object or list that it contains.
func textValue(text string) any {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if json.Valid([]byte(trimmed)) {
			return json.RawMessage(trimmed)
		}
	}
	return text
}

func texts(content []block) string {
	var all []string
	for _, b := range content {
		if b.Type == "text" {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n")
}

// Codes of JSON-RPC.
const (
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
)

// failure returns what went wrong between us and a server.
func (e *Executor) failure(ctx context.Context, a *app.App, err error) error {
	var status *refused
	switch {
	case errors.As(err, &status):
		return refusedBy(a, status)
	case errors.Is(err, errOrigin):
		return problem.New(problem.Forbidden, "target_not_allowed", "This call would leave the hosts of "+a.Name+".")
	}
	if p, ok := problem.From(err); ok {
		switch p.Code {
		case "target_not_allowed":
			return p
		case "response_too_large":
			return &tool.Failure{
				Code:   tool.CodeResponseInvalid,
				Detail: "The answer of " + a.Name + " is too large. Ask for less.", NextAction: "fix_arguments",
			}
		case "target_unreachable":
			return &tool.Failure{
				Code: tool.CodeUnavailable, Detail: a.Name + " cannot be reached right now.",
				Retryable: true, NextAction: "retry_later", Unsent: true, Unanswered: true,
			}
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil || problem.Is(err, "target_timeout") {
		return &tool.Failure{
			Code:   tool.CodeTimeout,
			Detail: a.Name + " did not answer in time. The call may have been carried out.", Retryable: true,
			NextAction: "retry_later", Unanswered: true,
		}
	}
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok { // last: what could not be sent comes as one of these too
		f := &tool.Failure{
			Code:   tool.CodeBadRequest,
			Detail: excerpt.Bytes(a.Name+" refused the call: "+rpc.Message, 500), NextAction: "fix_arguments",
		}
		switch rpc.Code {
		case codeMethodNotFound:
			f.Code, f.NextAction = tool.CodeNotFound, "none"
		case codeInvalidParams:
		default:
			if rpc.Code <= -32603 && rpc.Code >= -32700 || rpc.Code >= 0 {
				f.NextAction = "none"
			}
		}
		return f
	}
	return &tool.Failure{
		Code: tool.CodeResponseInvalid, Detail: a.Name + " did not answer as an MCP server does.",
		NextAction: "none",
	}
}

func refusedBy(a *app.App, r *refused) *tool.Failure {
	f := &tool.Failure{AppStatus: r.status, RetryAfter: r.after}
	switch {
	case r.status == 401:
		f.Code, f.NextAction, f.Unsent, f.Detail = tool.CodeUnauthorized, "reconnect_app", true, a.Name+
			" does not accept the credentials."
	case r.status == 403:
		f.Code, f.NextAction, f.Detail = tool.CodeForbidden, "ask_owner_for_permission", a.Name+
			" does not allow this with these credentials."
	case r.status == 429:
		f.Code, f.NextAction, f.Unsent, f.Retryable, f.Detail = tool.CodeRateLimited, "retry_later", true, true, a.Name+
			" was called too often."
	default:
		f.Code, f.NextAction, f.Retryable, f.Detail = tool.CodeUnavailable, "retry_later", true, a.Name+
			" cannot answer right now."
	}
	return f
}
