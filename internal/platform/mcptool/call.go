package mcptool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// We send calls ourselves over the session that the SDK has opened: a run of a
// tool is one request and one response.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports

// stateless is the first version without sessions.
const stateless = "2026-07-28"

// firstCall is the first id of a call; lower ids are used by the SDK, which has
// opened the session.
const firstCall = 1000

// cancelTime bounds the notification that a call was canceled.
const cancelTime = 5 * time.Second

// wire sends calls over a session of streamable HTTP.
type wire struct {
	sender   *sender
	url      string
	session  string // "": the server keeps none
	version  string
	identity mcp.Implementation
	calls    atomic.Int64
}

type request struct {
	JSONRPC string `json:"jsonrpc"`
	ID      any    `json:"id,omitempty"`
	Method  string `json:"method,omitempty"`
	Params  any    `json:"params,omitempty"`
	Result  any    `json:"result,omitempty"`
	Error   any    `json:"error,omitempty"`
}

type callParams struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
	Meta      map[string]any `json:"_meta,omitempty"`
}

// message is what a server sends: the response, or something before it.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *jsonrpc.Error  `json:"error"`
}

// respondsTo reports whether m is the response to a call. A call that the
// server could not read is refused without an id.
func (m *message) respondsTo(id int64) bool {
	said := string(m.ID)
	return m.Method == "" && (said == strconv.FormatInt(id, 10) || m.Error != nil && (said == "" || said == "null"))
}

// call calls a tool.
func (w *wire) call(ctx context.Context, name string, arguments map[string]any) (*result, error) {
	id, params := firstCall+w.calls.Add(1), callParams{Name: name, Arguments: arguments}
	header := http.Header{}
	if w.version >= stateless {
		params.Meta = map[string]any{
			mcp.MetaKeyProtocolVersion: w.version, mcp.MetaKeyClientInfo: w.identity,
			mcp.MetaKeyClientCapabilities: map[string]any{},
		}
		header.Set("Mcp-Method", strings.TrimSpace(method))
		header.Set("Mcp-Name", headerValue(name))
	}
	answer, err := w.exchange(ctx, request{JSONRPC: "2.0", ID: id, Method: strings.TrimSpace(method), Params: params},
		header, id)
	if err != nil {
		if ctx.Err() != nil {
			w.cancel(context.WithoutCancel(ctx), id)
		}
		return nil, err
	}
	if answer.Error != nil {
		return nil, answer.Error
	}
	return parseResult(answer.Result)
}

// exchange sends a request and waits for its response.
func (w *wire) exchange(ctx context.Context, body request, header http.Header, id int64) (*message, error) {
	res, err := w.post(ctx, body, header)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	return w.read(ctx, res, id)
}

// post sends one message.
func (w *wire) post(ctx context.Context, body request, header http.Header) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("writing a call: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("writing a call: %w", err)
	}
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	header.Set("MCP-Protocol-Version", w.version)
	if w.session != "" {
		header.Set("Mcp-Session-Id", w.session)
	}
	req.Header = header
	return w.sender.RoundTrip(req)
}

var errAnswer = errors.New("the server did not answer the call")

// read finds the response in what a server sends back.
func (w *wire) read(ctx context.Context, res *http.Response, id int64) (*message, error) {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode == http.StatusOK && kind == "text/event-stream" {
		return w.follow(ctx, res.Body, id)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("reading an answer: %w", err)
	}
	answer := &message{}
	switch malformed := json.Unmarshal(text, answer); {
	case malformed == nil && answer.respondsTo(id):
		return answer, nil
	case res.StatusCode == http.StatusNotFound && w.session != "":
		return nil, mcp.ErrSessionMissing
	}
	return nil, fmt.Errorf("%w: %s", errAnswer, res.Status)
}

// follow reads events until the response is among them. Requests of the server
// are declined.
func (w *wire) follow(ctx context.Context, stream io.Reader, id int64) (*message, error) {
	for lines := (&events{bufio.NewReader(stream)}); ; {
		data, err := lines.next()
		if err != nil {
			return nil, fmt.Errorf("reading an answer: %w", err)
		}
		var one message
		switch {
		case json.Unmarshal(data, &one) != nil:
			return nil, errAnswer
		case one.respondsTo(id):
			return &one, nil
		case one.Method != "" && len(one.ID) > 0:
			if err := w.decline(ctx, &one); err != nil {
				return nil, err
			}
		}
	}
}

// decline responds to a request of the server: only a ping is accepted.
func (w *wire) decline(ctx context.Context, asked *message) error {
	said := request{
		JSONRPC: "2.0", ID: asked.ID,
		Error: jsonrpc.Error{Code: codeMethodNotFound, Message: "this client answers no questions"},
	}
	if asked.Method == "ping" {
		said.Error, said.Result = nil, struct{}{}
	}
	return w.notify(ctx, said)
}

// cancel notifies the server that the call was canceled. Stateless servers see
// it by the closed connection.
func (w *wire) cancel(ctx context.Context, id int64) {
	if w.version >= stateless {
		return
	}
	ctx, end := context.WithTimeout(ctx, cancelTime)
	go func() {
		defer end()
		_ = w.notify(ctx,
			request{JSONRPC: "2.0", Method: "notifications/cancelled", Params: map[string]any{"requestId": id}})
	}()
}

// notify sends a message that has no response.
func (w *wire) notify(ctx context.Context, said request) error {
	res, err := w.post(ctx, said, http.Header{})
	if err != nil {
		return err
	}
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10)
	return res.Body.Close()
}

// headerValue returns a name as header fields carry it.
func headerValue(name string) string {
	plain := func(r rune) bool { return r > 0x20 && r < 0x7f }
	if strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0 && !strings.HasPrefix(name, "=?base64?") {
		return name
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
}

// events reads a stream of server-sent events.
type events struct{ lines *bufio.Reader }

// maxEvent bounds one event, as in the SDK.
const maxEvent = 10 << 20

var errEvent = errors.New("an event of the server is larger than 10 MB")

// next returns the data of the next event that has some.
func (e *events) next() ([]byte, error) {
	var data []byte
	for {
		line, err := e.line()
		switch value, isData := bytes.CutPrefix(line, []byte("data:")); {
		case isData:
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		case len(line) == 0 && len(data) > 0:
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) > maxEvent {
			return nil, errEvent
		}
	}
}

// line reads one line, without its end.
func (e *events) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := e.lines.ReadSlice('\n')
		whole = append(whole, part...)
		switch {
		case len(whole) > maxEvent:
			return nil, errEvent
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			err = io.ErrUnexpectedEOF // before the response
		}
		return bytes.TrimRight(whole, "\r\n"), err
	}
}
