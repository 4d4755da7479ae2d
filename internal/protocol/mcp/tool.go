package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
)

// Tool describes a tool to a model.
type Tool struct {
	Name        string // A-Z a-z 0-9 _ . -, at most 128
	Title       string // for display
	Description string // for models; required
	Annotations Annotations
	// InputSchema and OutputSchema are JSON Schemas (draft 2020-12) of type
	// object. AddTool fills them from its types when they are nil.
	InputSchema, OutputSchema json.RawMessage
	// NoOutputSchema keeps AddTool from declaring one, so that errors may carry
	// structured content of another shape.
	NoOutputSchema bool
	// Meta is _meta in tools/list, a JSON object, or nil.
	Meta json.RawMessage
}

// Annotations are hints about the behavior of a tool. All four are always sent, because the
// defaults of the protocol are pessimistic.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`    // changes nothing
	Destructive bool `json:"destructiveHint"` // may delete or overwrite
	Idempotent  bool `json:"idempotentHint"`  // repeating a call has no further effect
	OpenWorld   bool `json:"openWorldHint"`   // calls other systems
}

// Call is the context of one call besides its arguments.
type Call struct {
	Tool      string
	Version   string          // negotiated protocol version
	RequestID string          // of the HTTP request
	ClientIP  netip.Addr      // zero when unknown
	Header    http.Header     // of the HTTP request
	Arguments *jsonread.Value // an object as it was sent, or nil
	Meta      *jsonread.Value // params._meta, or nil

	// Of clients of version 2026-07-28: whether they can ask their user to open a URL, and what a
	// repeated call says about an earlier Question.
	Opens     bool
	Responses *jsonread.Value // outcomes by name, or nil
	State     string          // of the Question; anybody may have made it up
}

// Result is the result of a raw handler.
type Result struct {
	Content    []Content
	Structured json.RawMessage // a JSON object; nil: none
	IsError    bool
	Meta       json.RawMessage // a JSON object; nil: none
	Links      []Link          // files; clients before 2025-06-18 do not get them
	Question   *Question       // the call has to be repeated with an answer; replaces all else
}

// Link is a file that a client can fetch.
type Link struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
	Size        int64  `json:"size,omitempty"` // bytes; 0: unknown
}

type typedLink struct {
	Type string `json:"type"`
	Link
}

// Toolset replaces the tools that a server lists for one request; see ServeTools. Registered tools
// can still be called.
type Toolset interface {
	// List returns the tools in their order. Their schemas are sent as they are.
	List(ctx context.Context) ([]Tool, error)
	// Call calls a tool that is not registered; it validates name and arguments itself.
	Call(ctx context.Context, call *Call, arguments json.RawMessage) (*Result, error)
}

// Content is one block of a result. Only text is supported.
type Content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Text returns a block of text.
func Text(s string) Content { return Content{Type: "text", Text: s} }

// RawHandler handles one call. The arguments are a JSON object that matches the input schema.
// Problems become results with isError, a *jsonrpc.Error becomes a protocol error, other errors are
// internal errors.
type RawHandler func(ctx context.Context, call *Call, arguments json.RawMessage) (*Result, error)

type tool struct {
	Tool
	input, output *Schema
	handler       RawHandler
}

// AddTool registers a tool whose arguments and results are Go structs: the schemas are derived from
// them (tags as in package openapi), defaults are filled in, and the result is sent both as
// structured content and as text. It panics on an invalid tool.
func AddTool[In, Out any](s *Server, t Tool, handler func(ctx context.Context, call *Call, in *In) (*Out, error)) {
	s.AddRawTool(Typed(t, handler))
}

// Typed returns what AddTool registers: the tool with its schemas, and a handler of arguments that
// match them.
func Typed[In, Out any](t Tool, handler func(ctx context.Context, call *Call, in *In) (*Out, error)) (Tool,
	RawHandler,
) {
	if t.InputSchema == nil {
		t.InputSchema = openapi.InputSchemaOf[In]()
	}
	if t.OutputSchema == nil && !t.NoOutputSchema {
		t.OutputSchema = openapi.SchemaOf[Out]()
	}
	defaults := defaultsOf(t.InputSchema)
	return t, func(ctx context.Context, call *Call, arguments json.RawMessage) (*Result, error) {
		in := new(In)
		if defaults != nil {
			if err := json.Unmarshal(defaults, in); err != nil {
				return nil, fmt.Errorf("filling in defaults of tool %s: %w", call.Tool, err)
			}
		}
		if err := decodeArguments(arguments, in); err != nil {
			return nil, err
		}
		out, err := handler(ctx, call, in)
		if err != nil {
			return nil, err
		}
		structured, err := encode(out)
		if err != nil {
			return nil, fmt.Errorf("encoding the result of tool %s: %w", call.Tool, err)
		}
		return &Result{Structured: structured}, nil
	}
}

// decodeArguments decodes arguments that match the schema. JSON Schema accepts 1.0 as an integer
// and models write it, but Go does not, so a second attempt removes the fraction of whole numbers.
func decodeArguments(arguments json.RawMessage, in any) error {
	err := json.Unmarshal(arguments, in)
	var wrongType *json.UnmarshalTypeError
	if err == nil || !errors.As(err, &wrongType) {
		return err
	}
	if plain, ok := plainIntegers(arguments); ok && json.Unmarshal(plain, in) == nil {
		return nil
	}
	return problem.New(problem.Invalid, "invalid_arguments", "Some arguments are invalid.").WithItems(problem.Item{
		Pointer: "/" + strings.ReplaceAll(wrongType.Field, ".", "/"), Code: "out_of_range",
		Detail: "is too large or does not have the documented form",
	}).Advise("fix_arguments")
}

// plainIntegers rewrites the whole numbers of a JSON text without fraction and exponent.
func plainIntegers(data json.RawMessage) (json.RawMessage, bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, false
	}
	plain, err := json.Marshal(removeFractions(tree))
	return plain, err == nil
}

func removeFractions(node any) any {
	switch n := node.(type) {
	case map[string]any:
		for k, v := range n {
			n[k] = removeFractions(v)
		}
	case []any:
		for i, v := range n {
			n[i] = removeFractions(v)
		}
	case json.Number:
		if f, err := n.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return json.Number(strconv.FormatInt(int64(f), 10))
		}
	}
	return node
}

// AddRawTool registers a tool with its own schemas. It panics on an invalid tool: an invalid or
// duplicate name, no description, or a schema that does not compile or does not describe an object.
func (s *Server) AddRawTool(t Tool, handler RawHandler) {
	switch {
	case !toolName.MatchString(t.Name):
		panic(fmt.Sprintf("mcp: tool name %q", t.Name))
	case t.Description == "":
		panic(fmt.Sprintf("mcp: tool %s has no description", t.Name))
	case s.tools[t.Name] != nil:
		panic(fmt.Sprintf("mcp: tool %s is registered twice", t.Name))
	}
	added := &tool{Tool: t, handler: handler}
	var err error
	if added.input, err = CompileSchema(t.InputSchema); err != nil {
		panic(fmt.Sprintf("mcp: input schema of tool %s: %v", t.Name, err))
	}
	if t.OutputSchema != nil {
		if added.output, err = CompileSchema(t.OutputSchema); err != nil {
			panic(fmt.Sprintf("mcp: output schema of tool %s: %v", t.Name, err))
		}
	}
	s.tools[t.Name] = added
	s.order = append(s.order, added)
	s.render()
}

// listedTool is a tool in the response of tools/list.
type listedTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  listedHints     `json:"annotations"`
	Meta         json.RawMessage `json:"_meta,omitempty"`
}

type listedHints struct {
	Title string `json:"title,omitempty"`
	Annotations
}

// render prepares the responses of tools/list, in the order of registration.
func (s *Server) render() {
	tools := make([]Tool, len(s.order))
	for i, t := range s.order {
		tools[i] = t.Tool
	}
	result := renderList(tools, nil)
	sum := sha256.Sum256(result)
	s.listHash = hex.EncodeToString(sum[:8])
	s.list = append(result, '}')
	s.finalList = append(renderList(tools, &s.info), '}')
}

// renderList encodes the result of tools/list; with by as version 2026-07-28 has it.
func renderList(tools []Tool, by *Implementation) json.RawMessage {
	listed := make([]listedTool, len(tools))
	for i := range tools {
		t := &tools[i]
		listed[i] = listedTool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema,
			OutputSchema: t.OutputSchema,
			Annotations:  listedHints{Title: t.Title, Annotations: t.Annotations}, Meta: t.Meta,
		}
	}
	if by == nil {
		return mustMarshal(struct {
			Tools []listedTool `json:"tools"`
		}{listed})
	}
	return mustMarshal(struct {
		ResultType string                    `json:"resultType"`
		Meta       map[string]Implementation `json:"_meta"`
		TTL        int                       `json:"ttlMs"`
		Scope      string                    `json:"cacheScope"`
		Tools      []listedTool              `json:"tools"`
	}{"complete", map[string]Implementation{metaServer: *by}, listLifetime, "private", listed})
}

// defaultsOf collects the defaults of the fields of a schema into one object.
func defaultsOf(schema json.RawMessage) json.RawMessage {
	var s struct {
		Properties map[string]struct {
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil // CompileSchema reports it
	}
	defaults := map[string]json.RawMessage{}
	for name, p := range s.Properties {
		if p.Default != nil {
			defaults[name] = p.Default
		}
	}
	if len(defaults) == 0 {
		return nil
	}
	return mustMarshal(defaults)
}
