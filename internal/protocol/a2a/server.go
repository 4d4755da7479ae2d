package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/jsonrpc"
)

// Agent implements the methods. Its tasks have their full history and artifacts; the server removes
// what was not requested. A *jsonrpc.Error is sent unchanged, a problem is converted by
// FromProblem, other errors are internal errors.
type Agent interface {
	Send(ctx context.Context, call *Call, req *SendRequest) (*Task, error)
	Get(ctx context.Context, call *Call, req *GetRequest) (*Task, error)
	List(ctx context.Context, call *Call, req *ListRequest) (*TaskPage, error)
	Cancel(ctx context.Context, call *Call, req *CancelRequest) (*Task, error)
}

// Call is the context of one call besides its parameters.
type Call struct {
	Header http.Header // of the HTTP request
	// Extensions are those of Options that the client activated.
	Extensions []string
}

// Options are the settings of a Server that have defaults.
type Options struct {
	// MaxBody bounds a request, in bytes. Default MaxBody.
	MaxBody int64
	// Extensions are the URIs of extensions that clients may activate.
	Extensions []string
}

// Server is the endpoint of an agent. It is safe for concurrent use.
type Server struct {
	agent   Agent
	options Options
	methods map[string]method
}

// method handles one method. It returns the result or an error.
type method func(ctx context.Context, call *Call, params *jsonread.Value) (any, error)

// New returns an endpoint. Nil options are the defaults.
func New(agent Agent, o *Options) *Server {
	s := &Server{agent: agent}
	if o != nil {
		s.options = *o
	}
	if s.options.MaxBody == 0 {
		s.options.MaxBody = MaxBody
	}
	noStreams := unsupported(
		"This agent does not stream. Send the message with SendMessage and read the task with GetTask.")
	noPush := refusing(NewError(CodePushNotSupported,
		"This agent sends no push notifications. Read the task with GetTask."))
	s.methods = map[string]method{
		"SendMessage": s.send, "GetTask": s.get, "ListTasks": s.list, "CancelTask": s.cancel,
		"SendStreamingMessage": noStreams, "SubscribeToTask": noStreams,
		"CreateTaskPushNotificationConfig": noPush, "GetTaskPushNotificationConfig": noPush,
		"ListTaskPushNotificationConfigs": noPush, "ListTaskPushNotificationConfig": noPush,
		"DeleteTaskPushNotificationConfig": noPush,
		"GetExtendedAgentCard": unsupported(
			"There is no extended agent card. The public card is complete."),
	}
	return s
}

func unsupported(message string) method {
	return refusing(NewError(CodeUnsupportedOperation, message))
}

// maxQuoted is how many bytes of an unknown name an error quotes.
const maxQuoted = 64

func refusing(e *jsonrpc.Error) method {
	return func(context.Context, *Call, *jsonread.Value) (any, error) { return nil, e }
}

const (
	allowMethods = "POST, OPTIONS"
	allowHeaders = "Content-Type, Accept, A2A-Version, A2A-Extensions, Signature, Signature-Input, Signature-Agent, " +
		"Content-Digest"
	exposeHeaders = "Retry-After, RateLimit, RateLimit-Policy, A2A-Extensions"
)

// ServeHTTP serves the endpoint. Mount it with and without a trailing slash, for all methods.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*") // safe: the endpoint uses no credentials
	h.Set("Access-Control-Allow-Methods", allowMethods)
	h.Set("Access-Control-Allow-Headers", allowHeaders)
	h.Set("Access-Control-Expose-Headers", exposeHeaders)
	h.Set("Access-Control-Max-Age", "86400")
	switch r.Method {
	case http.MethodPost:
		s.post(w, r)
	case http.MethodOptions:
		w.WriteHeader(http.StatusNoContent)
	default:
		h.Set("Allow", allowMethods)
		WriteProblem(w, r,
			problem.New(problem.MethodNotAllowed, "method_not_allowed", "Send JSON-RPC with POST."))
	}
}

func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != MediaJSON {
		s.fail(w, r, nil,
			NewError(CodeContentTypeNotSupport, "Send the request with the header Content-Type: application/json.",
				"supported", MediaJSON))
		return
	}
	data, err := httpserver.ReadBody(r, s.options.MaxBody)
	if err != nil {
		WriteProblem(w, r, err)
		return
	}
	m, fault := parse(data)
	if fault != nil {
		s.fail(w, r, m.ID, fault)
		return
	}
	httpserver.NoteOperation(r.Context(), s.known(m.Method))
	if fault := checkVersion(r); fault != nil {
		s.fail(w, r, m.ID, fault)
		return
	}
	call := &Call{Header: r.Header, Extensions: s.activated(r.Header)}
	if len(call.Extensions) > 0 {
		w.Header().Set(HeaderExtensions, strings.Join(call.Extensions, ", "))
	}
	result, err := s.dispatch(r.Context(), call, m)
	var encoded json.RawMessage
	if err == nil {
		encoded, err = encode(result)
	}
	if err != nil {
		s.fail(w, r, m.ID, s.errorOf(r.Context(), err))
		return
	}
	write(w, jsonrpc.AppendResult(make([]byte, 0, 64+len(encoded)), m.ID, encoded), nil)
}

// parse parses the envelope. The message has its id even with an error, if it could be read.
func parse(data []byte) (jsonrpc.Message, *jsonrpc.Error) {
	body, fault := jsonrpc.Parse(data)
	switch {
	case fault != nil:
		return jsonrpc.Message{}, NewError(fault.Code, fault.Message)
	case body.Batch:
		return jsonrpc.Message{}, NewError(jsonrpc.CodeInvalidRequest,
			"Invalid request: there are no batches in A2A; send one object.")
	}
	m := body.Messages[0]
	switch m.Kind {
	case jsonrpc.Request:
		return m, nil
	case jsonrpc.Invalid:
		return m, NewError(m.Err.Code, m.Err.Message)
	default:
		return m, NewError(jsonrpc.CodeInvalidRequest,
			"Invalid request: send a method and an id.")
	}
}

// checkVersion checks the protocol version. Without the header it is 0.3.
func checkVersion(r *http.Request) *jsonrpc.Error {
	requested := strings.TrimSpace(r.Header.Get(HeaderVersion))
	if requested == "" {
		requested = strings.TrimSpace(r.URL.Query().Get(HeaderVersion))
	}
	switch requested {
	case Version:
		return nil
	case "":
		return versionError(
			"The request names no A2A version, which means 0.3. That version is not supported; "+
				"send the header A2A-Version: "+
				Version,
			"0.3",
		)
	}
	requested = excerpt.Bytes(requested, maxQuoted)
	return versionError("A2A version "+requested+" is not supported; use "+Version, requested)
}

func versionError(message, requested string) *jsonrpc.Error {
	return NewError(CodeVersionNotSupported, message, "supportedVersions", Version, "requested", requested)
}

// activated returns the extensions that the client names and the agent supports.
func (s *Server) activated(h http.Header) []string {
	var all []string
	for _, line := range h.Values(HeaderExtensions) {
		for uri := range strings.SplitSeq(line, ",") {
			if uri = strings.TrimSpace(uri); slices.Contains(s.options.Extensions, uri) && !slices.Contains(all, uri) {
				all = append(all, uri)
			}
		}
	}
	return all
}

// dispatch runs a method and turns a panic into an error.
func (s *Server) dispatch(ctx context.Context, call *Call, m jsonrpc.Message) (result any, err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if abort, ok := cause.(error); ok && errors.Is(abort, http.ErrAbortHandler) {
			panic(http.ErrAbortHandler)
		}
		result, err = nil, fmt.Errorf("method %s panicked: %v\n%s", m.Method, cause, debug.Stack())
	}()
	if do := s.methods[m.Method]; do != nil {
		return do(ctx, call, m.Params)
	}
	if strings.Contains(m.Method, "/") {
		return nil, NewError(
			jsonrpc.CodeMethodNotFound,
			"Method not found: "+excerpt.Bytes(
				m.Method,
				maxQuoted,
			)+". In A2A 1.0 methods have names such as SendMessage and GetTask.",
		)
	}
	return nil, NewError(jsonrpc.CodeMethodNotFound, "Method not found: "+excerpt.Bytes(m.Method, maxQuoted))
}

// sent is the result of SendMessage.
type sent struct {
	Task Task `json:"task"`
}

func (s *Server) send(ctx context.Context, call *Call, params *jsonread.Value) (any, error) {
	req, fault := ReadSend(params)
	switch {
	case fault != nil:
		return nil, fault
	case req.Push:
		return nil, NewError(CodePushNotSupported,
			"This agent sends no push notifications. Omit the configuration and read the task with GetTask.")
	}
	task, err := s.agent.Send(ctx, call, req)
	if err != nil {
		return nil, err
	}
	return sent{task.view(req.HistoryLength, true)}, nil
}

func (s *Server) get(ctx context.Context, call *Call, params *jsonread.Value) (any, error) {
	req, fault := ReadGet(params)
	if fault != nil {
		return nil, fault
	}
	task, err := s.agent.Get(ctx, call, req)
	if err != nil {
		return nil, err
	}
	return task.view(req.HistoryLength, true), nil
}

func (s *Server) list(ctx context.Context, call *Call, params *jsonread.Value) (any, error) {
	req, fault := ReadList(params)
	if fault != nil {
		return nil, fault
	}
	page, err := s.agent.List(ctx, call, req)
	if err != nil {
		return nil, err
	}
	shown := make([]Task, len(page.Tasks))
	for i := range page.Tasks {
		shown[i] = page.Tasks[i].view(req.HistoryLength, req.IncludeArtifacts)
	}
	answer := *page
	answer.Tasks = shown
	return answer, nil
}

func (s *Server) cancel(ctx context.Context, call *Call, params *jsonread.Value) (any, error) {
	req, fault := ReadCancel(params)
	if fault != nil {
		return nil, fault
	}
	task, err := s.agent.Cancel(ctx, call, req)
	if err != nil {
		return nil, err
	}
	return *task, nil
}

// errorOf converts an error to an error of the protocol.
func (s *Server) errorOf(ctx context.Context, err error) *jsonrpc.Error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e
	}
	return FromProblem(ctx, httpserver.ProblemOf(ctx, err))
}

// known returns the method if it is known, so that logs contain no text of the client.
func (s *Server) known(name string) string {
	if s.methods[name] != nil {
		return name
	}
	return "other"
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, id json.RawMessage, e *jsonrpc.Error) {
	name := reasons[e.Code]
	if name == "" {
		name = strconv.Itoa(e.Code)
	}
	httpserver.NoteProblem(r.Context(), "a2a_"+strings.ToLower(name))
	write(w, jsonrpc.AppendError(nil, id, e), e)
}

// write sends one response. A nil body is the error without an id.
func write(w http.ResponseWriter, body []byte, e *jsonrpc.Error) {
	status := http.StatusOK
	h := w.Header()
	if e != nil && e.Status != 0 {
		status = e.Status
	}
	if e != nil && e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	if body == nil {
		body = jsonrpc.AppendError(nil, nil, e)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", MediaJSON)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client has disconnected
}
