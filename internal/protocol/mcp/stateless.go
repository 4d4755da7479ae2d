package mcp

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/foundation/jsonread"
	"ace/internal/protocol/jsonrpc"
)

// Names in _meta of version 2026-07-28, in which every request says what initialize said before.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
)

// Codes that version 2026-07-28 defines.
const (
	codeHeaderMismatch     = -32020
	codeUnsupportedVersion = -32022
)

// listLifetime is how long clients may cache tools/list and server/discover, in milliseconds.
const listLifetime = 3_600_000

// stateless reports whether the server serves version 2026-07-28.
func (s *Server) stateless() bool { return slices.Contains(s.options.Versions, Version20260728) }

// stateless reports whether the request is of version 2026-07-28.
func (x *exchange) stateless() bool { return x.version >= Version20260728 }

// checkStateless finds the version of a request to a server that serves clients of both eras. A
// request that names no version in _meta, and not 2026-07-28 in the header, is of the older one:
// ok is then false.
func (s *Server) checkStateless(x *exchange, m jsonrpc.Message) (refused *jsonrpc.Error, ok bool) {
	header := x.request.Header.Get("MCP-Protocol-Version")
	meta := m.Params.Field("_meta")
	named := meta.Field(metaVersion)
	if named.Kind() == jsonread.Absent && (header != Version20260728 || m.Method == "initialize") {
		return nil, false
	}
	version := named.Text()
	switch {
	case m.Kind != jsonrpc.Request:
	case header == "":
		refused = mismatch("send the header MCP-Protocol-Version with the version that _meta names.")
	case named.Kind() == jsonread.Absent:
		refused = lacking(metaVersion)
	case header != version:
		refused = mismatch("MCP-Protocol-Version and " + metaVersion + " name different versions.")
	case !slices.Contains(s.options.Versions, version):
		refused = s.unsupported(version)
	case version != Version20260728:
		return nil, false
	case meta.Field(metaCapabilities).Kind() != jsonread.Map:
		refused = lacking(metaCapabilities)
	case x.request.Header.Get("Mcp-Method") != m.Method:
		refused = mismatch("the header Mcp-Method must name the method of the message.")
	case m.Method == "tools/call" && decodeName(x.request.Header.Get("Mcp-Name")) != m.Params.Field("name").Text():
		refused = mismatch("the header Mcp-Name must name the tool that is called.")
	}
	x.version = Version20260728
	return refused, true
}

func (s *Server) unsupported(version string) *jsonrpc.Error {
	return &jsonrpc.Error{
		Code: codeUnsupportedVersion, Message: "Unsupported protocol version", Status: http.StatusBadRequest,
		Data: versionErrorData{s.options.Versions, excerpt.Bytes(version, maxQuoted)},
	}
}

func mismatch(detail string) *jsonrpc.Error {
	return &jsonrpc.Error{
		Code: codeHeaderMismatch, Message: "Header mismatch: " + detail, Status: http.StatusBadRequest,
	}
}

func lacking(name string) *jsonrpc.Error {
	e := invalidParams("_meta must hold " + name + ".")
	e.Status = http.StatusBadRequest
	return e
}

// decodeName decodes a header value that may be wrapped as =?base64?…?=.
func decodeName(value string) string {
	inner, wrapped := strings.CutPrefix(value, "=?base64?")
	if inner, ok := strings.CutSuffix(inner, "?="); ok && wrapped {
		if text, err := base64.StdEncoding.DecodeString(inner); err == nil {
			return string(text)
		}
		return ""
	}
	return value
}

// discover is the result of server/discover.
func (s *Server) discover(info Implementation) json.RawMessage {
	return mustMarshal(struct {
		ResultType   string                    `json:"resultType"`
		Meta         map[string]Implementation `json:"_meta"`
		TTL          int                       `json:"ttlMs"`
		Scope        string                    `json:"cacheScope"`
		Versions     []string                  `json:"supportedVersions"`
		Capabilities json.RawMessage           `json:"capabilities"`
		Instructions string                    `json:"instructions,omitempty"`
	}{
		"complete",
		map[string]Implementation{metaServer: info},
		listLifetime, "private", s.options.Versions,
		json.RawMessage(`{"tools":{}}`), s.options.Instructions,
	})
}

// Question asks the user of a client to open a URL before a call continues. Only clients of
// version 2026-07-28 that declare it are asked; see Call.Opens. They repeat the call with the
// outcome and with State.
type Question struct {
	Name    string // the outcome is Call.Responses.Field(Name)
	URL     string
	Message string // for the user
	State   string // given back unchanged: protect it
}

// render encodes the question as a result.
func (q *Question) render() json.RawMessage {
	type params struct {
		Mode    string `json:"mode"`
		URL     string `json:"url"`
		Message string `json:"message"`
	}
	type request struct {
		Method string `json:"method"`
		Params params `json:"params"`
	}
	return mustMarshal(struct {
		ResultType string             `json:"resultType"`
		Requests   map[string]request `json:"inputRequests"`
		State      string             `json:"requestState"`
	}{
		"input_required",
		map[string]request{q.Name: {"elicitation/create", params{"url", q.URL, q.Message}}},
		q.State,
	})
}

// Action returns what the user did with the question of a name: accept, decline or cancel, or ""
// where the client does not say.
func (c *Call) Action(name string) string { return c.Responses.Field(name).Field("action").Text() }

// continuation reads what a client adds to a call that it repeats.
func (c *Call) continuation(params *jsonread.Value) {
	elicitation := c.Meta.Field(metaCapabilities).Field("elicitation")
	c.Opens = elicitation.Field("url").Kind() == jsonread.Map
	c.Responses, c.State = params.Field("inputResponses"), params.Field("requestState").Text()
}
